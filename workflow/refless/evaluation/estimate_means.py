"""Means of systems from a user's ratings and outputs: what `refless estimate` answers.

Texts are matched and put into clusters, predicted, and summed up; then the answer is put into
words. `refless.evaluation.means` has the statistics.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from refless.data.rows import shorten
from refless.data.text_ids import label_ids, merge_key, text_ids
from refless.errors import FormatError
from refless.evaluation import OTHER_UNIT, RATING
from refless.evaluation.answer import Answer
from refless.evaluation.evaluate import LEVEL
from refless.evaluation.group_pairs import MOST_GROUPS
from refless.evaluation.means import ALL, MOST_RATINGS, mean_tables
from refless.evaluation.rate import check_columns, cross_predict, missing_scores_of
from refless.methods import SCORE_PREFIX
from refless.methods.estimators import TableEstimator
from refless.methods.table import prompt_kind, prompts_of, with_keys
from refless.statistics.measure import Measure

Array = np.ndarray

FEWEST_RATED_TEXTS = 10
"""Different rated texts without which there is no mean."""
NAMED = 8
"""Systems that the answer names."""


@dataclass(frozen=True)
class EstimateSettings:
    """What decides an estimate besides the texts.

    method : by which texts are predicted
    make : gives a new estimator of it
    by : the column whose values have a mean each
    score_unit : `RATING` where a score is a prediction as it is
    plan : the width of an interval that is planned for
    all_pairs : whether each two groups are tested, however many there are
    seed : of the folds
    """

    method: str
    make: Callable[[], TableEstimator]
    by: str = "system"
    score_unit: str = OTHER_UNIT
    plan: float | None = None
    all_pairs: bool = False
    seed: int = 0


def estimate_means(
    rated: pd.DataFrame,
    outputs: pd.DataFrame,
    settings: EstimateSettings,
    outputs_have_rated: bool,
    path: str,
) -> Answer:
    """The means of the groups of rated texts and ``outputs``, which have the rated ones, too
    (``outputs_have_rated``). ``table`` has `refless.evaluation.means.MEAN_COLUMNS`, ``pairs`` each
    two groups. Raises FormatError, with the ``path`` of the outputs: too few different rated texts;
    a group is called `ALL`; as `check_columns`."""
    _check_rated(rated)
    check_columns(settings.method, rated, outputs, path)
    unrated, missing = outputs, 0
    if outputs_have_rated:
        rows, missing = unrated_rows(rated, outputs)
        unrated = outputs.iloc[rows]
    both = pd.concat([rated, unrated], ignore_index=True)
    groups = group_names(both, settings.by, path)
    clusters, contexts, note = clusters_of_texts(both, len(rated), settings.by)
    both = with_keys(both, prompt_kind(rated)).assign(cluster=clusters, group=groups)
    both["predicted"] = predictions(both, len(rated), settings)
    rated, unrated = both.iloc[: len(rated)], both.iloc[len(rated) :]
    table, pairs = mean_tables(rated, unrated, settings.plan, settings.all_pairs)
    counts = f"{len(rated):,} rated texts, {len(unrated):,} others"
    if contexts:
        counts += f", {contexts:,} contexts, which are resampled whole"
    line = f"{counts}; predictions: {settings.method}, {_origin(settings)}"
    warnings = [
        *_matching_notes(missing, len(rated), len(unrated)),
        *note,
        *missing_scores_of(settings.method, rated, both),
        *_oddities(table, rated, settings.by),
    ]
    lines = [line, *_mean_lines(table, pairs, settings.by, settings.plan)]
    return Answer(table=table, pairs=pairs, answer="\n".join(lines), warnings=warnings)


def _check_rated(rated: pd.DataFrame) -> None:
    """Raises FormatError: fewer different texts than `FEWEST_RATED_TEXTS`."""
    different = len(np.unique(text_ids(rated["text"])))
    if different < FEWEST_RATED_TEXTS:
        message = f"{different} different rated texts are too few for a mean with an interval"
        raise FormatError(message, remedy=f"rate {FEWEST_RATED_TEXTS} or more")


def unrated_rows(rated: pd.DataFrame, outputs: pd.DataFrame) -> tuple[list[int], int]:
    """Which outputs nobody rated, and how many rated texts are not among the outputs. A text is one
    by its system, and by `merge_key` of text and context or MR."""
    names = [name for name in ("system", "context", "mr") if name in rated and name in outputs]

    def keys(table: pd.DataFrame) -> list[tuple[str, ...]]:
        columns = [table["text"], *(table[name].fillna("").astype(str) for name in names)]
        words = [column.map(str if column.name == "system" else merge_key) for column in columns]
        return list(zip(*words, strict=True))

    left, rows = Counter(keys(rated)), []
    for row, key in enumerate(keys(outputs)):
        if left[key] > 0:
            left[key] -= 1
        else:
            rows.append(row)
    return rows, sum(left.values())


def group_names(texts: pd.DataFrame, by: str, path: str) -> pd.Series:
    """The group of each text, by one spelling; `ALL` where there is no such column. Raises
    FormatError: a group is called so."""
    if by not in texts:
        return pd.Series(ALL, texts.index)
    groups = texts[by].astype(str)
    if by != "system":
        groups = groups.groupby(label_ids(map(merge_key, groups))).transform("first")
    if (groups == ALL).any():
        message = f"a {by} is called {ALL}, as the row of all texts is"
        raise FormatError(message, path=path, remedy="give it another name")
    return groups


def clusters_of_texts(texts: pd.DataFrame, rated: int, by: str) -> tuple[Array, int, list[str]]:
    """The cluster of each text, int64, of which the first ``rated`` have ratings; the number of
    contexts, 0 where equal texts are clusters; and a sentence where contexts say nothing. The
    groups that are asked for are fixed, so they are no clusters."""
    column, prompts = prompts_of(texts)
    equal_texts = text_ids(texts["text"])
    if not column or column == by:
        return equal_texts, 0, []
    contexts = text_ids(prompts, separate_blank=True)
    number = len(np.unique(contexts))
    if len(np.unique(contexts[:rated])) > 1:
        return contexts, number, []
    alone = [f"all ratings are of one {column}: intervals hold for it alone"]
    return equal_texts, 0, alone if number > 1 else []


def predictions(texts: pd.DataFrame, rated: int, settings: EstimateSettings) -> Array:
    """The prediction of each text, float64, of which the first ``rated`` have ratings."""
    if settings.score_unit == RATING:
        score = texts[settings.method].to_numpy(np.float64)
        return np.where(np.isnan(score), np.nanmean(score), score)
    parts = texts.iloc[:rated], texts.iloc[rated:]
    return np.concatenate(cross_predict(settings.make, *parts, settings.seed))


def _origin(settings: EstimateSettings) -> str:
    """How predictions were made, in words."""
    if settings.score_unit == RATING:
        return "as they are"
    if settings.method.startswith(SCORE_PREFIX):
        return "by a line to ratings, cross-fitted"
    return "cross-fitted"


def _matching_notes(missing: int, rated: int, unrated: int) -> Iterator[str]:
    """What to know of outputs and rated texts."""
    if missing:
        yield (
            f"{missing} of {rated} rated texts are not among the outputs: they count beside them,"
            " as texts of the same kind"
        )
    if not unrated:
        yield "no output is unrated: predictions cannot help"


def _oddities(table: pd.DataFrame, rated: pd.DataFrame, by: str) -> Iterator[str]:
    """What to know of the means of each system, a sentence each."""
    systems = table[table["system"] != ALL]
    alike = rated.groupby("group")["quality"].agg(["nunique", "size"])
    if len(same := alike.index[(alike["nunique"] == 1) & (alike["size"] > 1)]):
        yield f"no interval, for all ratings are alike: {_listed(list(same))}"
    few = systems.loc[systems["rated"] < 2, "system"]
    if len(few):
        yield (
            f"{len(few)} {by}s have fewer than two ratings: {_listed(list(few))}; in the mean of"
            f" all texts, {by}s count as they were rated"
        )
    if len(table) == 1:
        yield f"one {by}, or no column {by}: a mean of all texts alone"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shorten, names[:5])) + ", ..." * (len(names) > 5)


def _mean_lines(table: pd.DataFrame, pairs: pd.DataFrame, by: str, plan: float | None) -> list[str]:
    """The greatest means, with the ranks that are left open; how many pairs differ; the plan."""
    lines = []
    rows = table[table["mean"].notna()].sort_values("mean", ascending=False, kind="stable")
    systems, every = rows[rows["system"] != ALL], table[table["system"] == ALL].iloc[0]
    for _, row in systems.head(NAMED).iterrows():
        line = f"{row['system']}: {_interval(row, 'mean')}"
        if not np.isnan(row["rank_low"]):
            line += f", rank {row['rank_low']:.0f}"
        if row["rank_high"] > row["rank_low"]:
            line += f" to {row['rank_high']:.0f}"
        lines.append(line)
    if len(systems) > NAMED:
        lines[-1] += f"; {len(systems) - NAMED} more in the table"
    line = f"all: {_interval(every, 'mean')}; of ratings alone {_interval(every, 'rated_mean')}"
    width, width_alone = (
        every[high] - every[low]
        for low, high in (Measure("mean").interval[1:], Measure("rated_mean").interval[1:])
    )
    if width > 0:
        saved = 1 - (width / width_alone) ** 2
        line += f"; predictions save {max(saved, 0):.0%} of the ratings"
    lines.append(line)
    if len(pairs):
        number, tested = int((pairs["p_holm"] < LEVEL).sum()), int(pairs["p"].notna().sum())
        line = f"{number} of {tested} pairs of {by}s differ significantly (Holm)"
        if tested < len(pairs):
            line += f"; {len(pairs) - tested} could not be tested"
        lines.append(line)
    elif len(systems) > MOST_GROUPS:
        number = len(systems) * (len(systems) - 1) // 2
        lines.append(
            f"no two {by}s were tested, so there are no ranks: above {MOST_GROUPS} {by}s,"
            f" --all-pairs makes the pairs ({number:,})"
        )
    if plan:
        needed = every["ratings_needed"]
        texts = f"more than {MOST_RATINGS:,}" if np.isnan(needed) else f"about {needed:,.0f}"
        lines.append(f"an interval of width {plan:g} for all takes {texts} rated texts")
    return lines


def _interval(row: Any, name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    value = f"{row[name]:.4g}"
    return value if np.isnan(low) else f"{value} ({low:.4g}, {high:.4g})"
