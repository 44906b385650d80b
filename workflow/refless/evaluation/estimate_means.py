"""Means of systems from a user's ratings and outputs: what `refless estimate` answers.

Texts are matched and put into clusters, predicted, and summed up; then the answer is put into
words. `refless.evaluation.means` has the statistics.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.data.rows import shorten
from refless.data.text_ids import label_ids, merge_key, text_ids
from refless.errors import FormatError
from refless.evaluation import OTHER_UNIT, RATING
from refless.evaluation.answer import Answer
from refless.evaluation.evaluate import LEVEL
from refless.evaluation.group_pairs import MOST_GROUPS
from refless.evaluation.means import ALL, MeanOptions, mean_tables, plan_of
from refless.evaluation.rate import (
    check_columns,
    cross_predict,
    missing_scores_of,
    unread_notes,
)
from refless.methods import DEFAULT_KERNEL, NEIGHBORS, SCORE_PREFIX
from refless.methods.estimators import TableEstimator
from refless.methods.table import (
    CONTEXT_GROUP,
    TEXT_KEY,
    key_numbers,
    prompt_kind,
    prompts_of,
    with_keys,
)
from refless.statistics.bootstrap import FEWEST_EFFECTIVE
from refless.statistics.measure import Measure
from refless.statistics.variance_components import Needed

Array = np.ndarray

FEWEST_RATED_TEXTS = 10
"""Different rated texts without which there is no mean."""
NAMED = 8
"""Systems that the answer names."""
FEW_CONTEXTS = 2 / 3
"""Texts drawn at random would be of a number of contexts that can be expected. If the rated texts
are of less than this share of it, they were not drawn at random."""


@dataclass(frozen=True)
class EstimateSettings:
    """What decides an estimate besides the texts.

    method : by which texts are predicted
    kernel : of neighbors
    make : gives a new estimator of it, for texts of new contexts or not
    by : the column whose values have a mean each
    score_unit : `RATING` where a score is a prediction as it is
    plan : the width of an interval that is planned for
    these_outputs : whether the means are those of these very texts, else of more of the kind
    all_pairs : whether each two groups are tested, however many there are
    seed : of the folds
    """

    method: str
    make: Callable[[bool], TableEstimator]
    by: str = "system"
    kernel: str = DEFAULT_KERNEL
    score_unit: str = OTHER_UNIT
    plan: float | None = None
    these_outputs: bool = False
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
    a group is called `ALL`; as `check_columns`.
    Raises KernelError: as `unread_notes`."""
    _check_rated(rated)
    check_columns(settings.method, rated, outputs, path)
    unrated = outputs
    missing = 0
    if outputs_have_rated:
        rows, missing = unrated_rows(rated, outputs)
        unrated = outputs.iloc[rows]
    both = pd.concat([rated, unrated], ignore_index=True)
    notes = []
    if settings.method == NEIGHBORS:
        notes = unread_notes(settings.kernel, both["text"].tolist())
    groups = group_names(both, settings.by, path)
    both = with_keys(both, prompt_kind(rated))
    clusters = clusters_of_texts(both, len(rated), settings.by)
    both = both.assign(cluster=clusters.number, group=groups)
    both["text_number"] = label_ids(both[TEXT_KEY])
    both["predicted"], abstained = predictions(both, len(rated), clusters, settings)
    rated, unrated = both.iloc[: len(rated)], both.iloc[len(rated) :]
    options = MeanOptions(
        plan=settings.plan,
        these_outputs=settings.these_outputs,
        all_pairs=settings.all_pairs,
        one_context=clusters.one_rated and not settings.these_outputs,
        seed=settings.seed,
    )
    table, pairs = mean_tables(rated, unrated, options)
    counts = f"{len(rated):,} rated texts, {len(unrated):,} others"
    if clusters.contexts:
        counts += f", {clusters.contexts:,} contexts"
    line = f"{counts}; predictions: {settings.method}, {_origin(settings)}"
    warnings = [
        *notes,
        *_matching_notes(missing, len(rated), len(unrated)),
        *_abstention_notes(abstained, len(both), settings.method),
        *_context_notes(rated, unrated, clusters, settings),
        *missing_scores_of(settings.method, rated, both),
        *_oddities(table, rated, settings.by),
        *_without_interval(table, clusters, settings),
    ]
    lines = [line, _holds_for(clusters, settings, missing), *_mean_lines(table, pairs, settings)]
    if settings.plan:
        lines.append(_plan_line(table.iloc[0], clusters, settings))
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

    left = Counter(keys(rated))
    rows = []
    for row, key in enumerate(keys(outputs)):
        if left[key] > 0:
            left[key] -= 1
        else:
            rows.append(row)
    return rows, sum(left.values())


def group_names(texts: pd.DataFrame, by: str, path: str) -> pd.Series:
    """The group of each text, by one spelling; `ALL` where there is no such column. Raises
    FormatError: a group is called so, or a text has no group."""
    if by not in texts:
        return pd.Series(ALL, texts.index)
    groups = texts[by].fillna("").astype(str)
    if blank := int((groups.str.strip() == "").sum()):
        message = f"{blank} texts have no {by}, whose means are asked for"
        raise FormatError(message, path=path, remedy="fill the column, or leave these texts out")
    if by != "system":
        groups = groups.groupby(label_ids(map(merge_key, groups))).transform("first")
    if (groups == ALL).any():
        message = f"a {by} is called {ALL}, as the row of all texts is"
        raise FormatError(message, path=path, remedy="give it another name")
    return groups


class TextClusters(NamedTuple):
    """What texts are clusters by.

    number : the cluster of each text, int64 (texts,)
    contexts : the number of contexts, where these are the clusters; 0 where equal texts are
    one_rated : all ratings are of one context, of several; equal texts are clusters
    """

    number: Array
    contexts: int
    one_rated: bool = False


def clusters_of_texts(texts: pd.DataFrame, n_rated: int, by: str) -> TextClusters:
    """The clusters of texts, with their keys, of which the first ``n_rated`` have ratings:
    contexts, if there are several. The groups that are asked for are fixed, and so no clusters."""
    column, _ = prompts_of(texts)
    equal_texts = label_ids(texts[TEXT_KEY])
    if not column or column == by:
        return TextClusters(equal_texts, 0)
    contexts = key_numbers(texts[CONTEXT_GROUP].tolist())
    number = len(np.unique(contexts))
    if number == 1:
        return TextClusters(equal_texts, 0)
    if len(np.unique(contexts[:n_rated])) == 1:
        return TextClusters(equal_texts, 0, one_rated=True)
    return TextClusters(contexts, number)


def predictions(
    texts: pd.DataFrame, n_rated: int, clusters: TextClusters, settings: EstimateSettings
) -> tuple[Array, int]:
    """The prediction of each text, float64, of which the first ``n_rated`` have ratings; and how
    many have none, so that a mean stands in."""
    if settings.score_unit == RATING:
        score = texts[settings.method].to_numpy(np.float64)
        # how many scores are missing is said elsewhere
        return np.where(np.isnan(score), np.nanmean(score), score), 0
    predicted = cross_predict(
        settings.make,
        texts.iloc[:n_rated],
        texts.iloc[n_rated:],
        settings.seed,
        new_contexts=clusters.contexts > 0,
    )
    return np.concatenate([predicted.rated, predicted.unrated]), predicted.abstained


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


def _abstention_notes(abstained: int, texts: int, method: str) -> Iterator[str]:
    """What to know where a method has no prediction of some texts. Scores that are missing are
    named elsewhere."""
    if abstained and not method.startswith(SCORE_PREFIX):
        yield (
            f"{method} has no prediction for {abstained:,} of {texts:,} texts: the mean of the"
            " ratings counts in its place"
        )


def _context_notes(
    rated: pd.DataFrame, unrated: pd.DataFrame, clusters: TextClusters, settings: EstimateSettings
) -> Iterator[str]:
    """What to know where these outputs are asked about, and ratings are of fewer contexts than
    texts drawn at random would be."""
    if not settings.these_outputs or not (clusters.contexts or clusters.one_rated):
        return
    keys = pd.concat([rated[CONTEXT_GROUP], unrated[CONTEXT_GROUP]])
    context = key_numbers(keys.tolist())
    size = np.bincount(context)
    number = len(np.unique(context[: len(rated)]))
    expected = (1 - (1 - size / size.sum()) ** len(rated)).sum()
    if number < FEW_CONTEXTS * expected:
        yield (
            f"ratings are of {number} contexts, and texts drawn at random would be of about"
            f" {expected:.0f}: intervals for these outputs take texts drawn at random"
        )


def _oddities(table: pd.DataFrame, rated: pd.DataFrame, by: str) -> Iterator[str]:
    """What to know of the means of each system, a sentence each."""
    systems = table[table["system"] != ALL]
    alike = rated.groupby("group")["quality"].agg(["nunique", "size"])
    alike = alike[(alike["nunique"] == 1) & (alike["size"] > 1)]
    same = systems.loc[systems["mean_low"].isna() & systems["system"].isin(alike.index), "system"]
    if len(same):
        yield f"no interval, for all ratings are alike: {_listed(list(same))}"
    few = systems.loc[systems["rated"] < 2, "system"]
    if len(few):
        yield (
            f"{len(few)} {by}s have fewer than two ratings: {_listed(list(few))}; in the mean of"
            f" all texts, {by}s count as they were rated"
        )
    if len(table) == 1:
        yield f"one {by}, or no column {by}: a mean of all texts alone"


def _without_interval(
    table: pd.DataFrame, clusters: TextClusters, settings: EstimateSettings
) -> Iterator[str]:
    """Why means have no interval, if their ratings are worth too few contexts or texts."""
    of_contexts = bool(clusters.contexts) and not settings.these_outputs
    if clusters.one_rated and not settings.these_outputs:
        yield "no interval, for all ratings are of one context, which says nothing of others"
        return
    lost = table["mean_low"].isna() & (table["effective_clusters"] < FEWEST_EFFECTIVE)
    if not lost.any():
        return
    names = [] if lost.iloc[0] else list(table.loc[lost, "system"])
    of_what = f"ratings of {_listed(names)}" if names else "ratings"
    unit = "contexts" if of_contexts else "texts"
    effective = table.loc[lost, "effective_clusters"].max()
    line = f"no interval, for {of_what} are worth fewer than {FEWEST_EFFECTIVE:.0f} {unit}"
    if of_contexts:
        line += f" ({effective:.1f} at most, since one with many texts counts for most of them)"
    yield line


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shorten, names[:5])) + ", ..." * (len(names) > 5)


def _holds_for(clusters: TextClusters, settings: EstimateSettings, missing: int) -> str:
    """For what the means and their intervals hold, where so many rated texts are ``missing`` among
    the outputs."""
    if settings.these_outputs:
        beside = " and of the rated texts that are not among them" if missing else ""
        return f"means and intervals are of these outputs{beside}"
    if clusters.contexts or clusters.one_rated:
        kind = "more texts from contexts like these"
    elif settings.by != "system":
        kind = f"more texts of each {settings.by}"
    else:
        kind = "more texts like these"
    return f"intervals are for {kind}; for these very outputs: --these-outputs"


def _mean_lines(
    table: pd.DataFrame, pairs: pd.DataFrame, settings: EstimateSettings
) -> Iterator[str]:
    """The greatest means, with the ranks that are left open; how many pairs differ."""
    by = settings.by
    rows = table[table["mean"].notna()].sort_values("mean", ascending=False, kind="stable")
    systems = rows[rows["system"] != ALL]
    for number, (_, row) in enumerate(systems.head(NAMED).iterrows(), start=1):
        line = f"{row['system']}: {_interval(row, 'mean')}"
        if not np.isnan(row["rank_low"]):
            line += f", rank {row['rank_low']:.0f}"
        if row["rank_high"] > row["rank_low"]:
            line += f" to {row['rank_high']:.0f}"
        if number == NAMED < len(systems):
            line += f"; {len(systems) - NAMED} more in the table"
        yield line
    yield _line_of_all(table.iloc[0], settings)
    if len(pairs):
        number = int((pairs["p_holm"] < LEVEL).sum())
        tested = int(pairs["p"].notna().sum())
        line = f"{number} of {tested} pairs of {by}s differ significantly (Holm)"
        if tested < len(pairs):
            line += f"; {len(pairs) - tested} could not be tested"
        yield line
    elif len(table) - 1 > MOST_GROUPS and not settings.all_pairs:
        number = len(systems) * (len(systems) - 1) // 2
        yield (
            f"no two {by}s were tested, so there are no ranks: above {MOST_GROUPS} {by}s,"
            f" --all-pairs makes the pairs ({number:,})"
        )


def _line_of_all(every: Any, settings: EstimateSettings) -> str:
    """The mean of all texts, beside that of ratings alone."""
    line = f"all: {_interval(every, 'mean')}; of ratings alone {_interval(every, 'rated_mean')}"
    width, width_alone = (
        every[high] - every[low]
        for low, high in (Measure("mean").interval[1:], Measure("rated_mean").interval[1:])
    )
    if not (width > 0 and width_alone > 0):
        return line
    saved = 1 - (width / width_alone) ** 2
    if settings.these_outputs:  # more ratings would leave fewer of these texts unrated
        saved *= every["unrated"] / (every["rated"] + every["unrated"])
    return f"{line}; predictions save {max(saved, 0):.0%} of the ratings"


def _plan_line(every: Any, clusters: TextClusters, settings: EstimateSettings) -> str:
    """What an interval of the width that was asked for takes. A number is named only where the
    whole range has an end, and it is said to be out of reach only where none has."""
    start = f"an interval of width {settings.plan:g} for all"
    plan = plan_of(every)
    if np.isnan(plan.texts.number):
        return f"{start}: these ratings cannot tell how many it takes"
    if np.isfinite(plan.texts.high):
        return f"{start} takes {_needed(plan.texts)} rated texts"
    total = every["rated"] + every["unrated"]
    unit = "contexts like these" if clusters.contexts else "texts like these"
    if np.isfinite(plan.texts.low):
        start += f" may or may not be had with these {total:,.0f} texts"
    else:
        start += f" cannot be had with these {total:,.0f} texts, all rated"
    if not np.isfinite(plan.contexts.high):
        return start
    rated = ", each text rated" if clusters.contexts else ", all rated"
    return f"{start}; it takes {_needed(plan.contexts)} {unit}{rated}"


def _needed(needed: Needed) -> str:
    return f"{needed.number:,.0f} ({needed.low:,.0f} to {needed.high:,.0f}, in 80%)"


def _interval(row: Any, name: str) -> str:
    low = row[f"{name}_low"]
    high = row[f"{name}_high"]
    value = f"{row[name]:.4g}"
    return value if np.isnan(low) else f"{value} ({low:.4g}, {high:.4g})"
