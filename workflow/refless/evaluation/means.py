"""Means of systems from few ratings and many predictions: prediction-powered inference.

Source: Angelopoulos, Duchi and Zrnic (2023), "PPI++: Efficient Prediction-Powered Inference",
sections 2 and 6; here with errors that are robust to clusters.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit
from scipy.stats import chi2_contingency

from refless.data.rows import shorten
from refless.data.text_ids import label_ids, merge_key, text_ids
from refless.errors import FormatError
from refless.evaluation.answer import Answer
from refless.evaluation.evaluate import LEVEL
from refless.evaluation.group_pairs import (
    MOST_GROUPS,
    Mean,
    group_pairs,
    small_sample_factor,
    with_ranks,
)
from refless.evaluation.rate import check_columns, cross_predict, missing_scores_of
from refless.evaluation.read import same_unit
from refless.methods.estimators import TableEstimator
from refless.methods.table import prompts_of, with_keys
from refless.statistics.bootstrap import TAIL, IntervalEstimate
from refless.statistics.measure import Measure

Array = np.ndarray

ALL = "all"
"""Of the row of all texts."""
MOST_RATINGS = 1_000_000
"""Up to which a plan is made."""
MEAN_COLUMNS = [
    *("system", "rated", "unrated"),
    *(*Measure("rated_mean").interval, "rated_standard_error"),
    *(*Measure("mean").interval, "standard_error", "weight", "rank_low", "rank_high"),
]
"""``rated_mean`` is of ratings alone, ``mean`` also of predictions, which count ``weight``; the
ranks are those that the tests of all pairs leave open, 1 for the greatest mean."""
UNEVEN = 0.01
"""p of the shares of ratings below which the mean of all texts is that of the systems."""
FEWEST_UNRATED_CLUSTERS = 10
"""Clusters of unrated texts without which predictions do not count: of one text, the variance
between clusters would be 0, and its prediction as good as the mean of very many."""
FEWEST_RATED_TEXTS = 10
"""Different rated texts without which there is no mean."""


def powered_mean(
    quality: Array,
    predicted: Array,
    unrated: Array,
    cluster: Array | None = None,
) -> Mean:
    """The mean of quality from rated texts and predictions of others.

    quality, predicted : of the rated texts, float64 (n,); nobody's rating predicts itself
    unrated : predictions of the other texts, float64 (N,), made in the same way
    cluster : of the rated texts and then of the others, int64 (n + N,); None: each text is its own

    Without clusters, value, error and weight are those of ``ppi_py``; the weight takes a degree of
    freedom. Ratings that are all alike say nothing of their error: there is no interval.
    """
    n, others = len(quality), len(unrated)
    cluster = np.arange(n + others) if cluster is None else cluster
    clusters, place = np.unique(cluster, return_inverse=True)
    with_ratings = len(np.unique(place[:n]))
    alone = np.bincount(place[:n], (quality - quality.mean()) / n, len(clusters))
    alike = np.ptp(quality) <= 1e-12 * max(1.0, np.abs(quality).max())
    freedom = 0 if alike else with_ratings - 1
    if not others:
        return Mean(float(quality.mean()), alone, clusters, freedom)
    away = [-(predicted - predicted.mean()) / n, (unrated - unrated.mean()) / others]
    moved = np.bincount(place, np.concatenate(away), len(clusters))
    spread = (moved**2).sum()
    if len(clusters) == len(cluster):
        spread = np.append(predicted, unrated).var(ddof=1) * (1 / n + 1 / others)
    elif len(np.unique(cluster[n:])) < FEWEST_UNRATED_CLUSTERS:
        spread = 0.0
    weight = float(np.clip(-(alone @ moved) / spread, 0, 1)) if spread > 0 else 0.0
    if freedom < 2 or weight < 1e-9:  # rounding is no weight
        weight = 0.0
    value = quality.mean() + weight * (unrated.mean() - predicted.mean())
    return Mean(float(value), alone + weight * moved, clusters, freedom - (weight > 0), weight)


def mean_of_systems(means: Mapping[str, Mean], texts: Mapping[str, int]) -> Mean:
    """The mean of all texts from those of the systems, each by its number of texts, so that a
    system counts as it writes and not as it was rated."""
    total = sum(texts.values())
    shares = {name: texts[name] / total for name in means}
    moving = [mean.clusters[mean.influence != 0] for mean in means.values()]
    clusters = len(np.unique(np.concatenate(moving)))
    weight = sum(share * means[name].weight for name, share in shares.items())
    freedom = max(0, min(sum(mean.freedom for mean in means.values()), clusters - 1 - (weight > 0)))
    parts = []
    for name, mean in means.items():
        factor = small_sample_factor(mean.freedom, 1 + (mean.weight > 0))
        parts.append(shares[name] * np.nan_to_num(factor, nan=1.0) * mean.influence)
    everywhere = np.concatenate([mean.clusters for mean in means.values()])
    numbers, place = np.unique(everywhere, return_inverse=True)
    factor = np.nan_to_num(small_sample_factor(freedom, 1 + (weight > 0)), nan=1.0)
    influence = np.bincount(place, np.concatenate(parts), len(numbers)) / factor
    value = sum(share * means[name].value for name, share in shares.items())
    return Mean(float(value), influence, numbers, freedom, float(weight))


def mean_tables(
    rated: pd.DataFrame,
    unrated: pd.DataFrame,
    plan: float | None = None,
    all_pairs: bool = False,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`MEAN_COLUMNS` of each system and of `ALL`, and `group_pairs` of the systems. The mean of all
    texts is that of the systems by their texts, where these were `rated_unevenly`.

    rated, unrated : ``predicted``, ``system`` and ``cluster``, int64; rated also ``quality``
    plan : width of an interval; ``ratings_needed`` is how many rated ones of these texts, with the
        predictions of the rest, would give it
    all_pairs : make pairs and ranks of more than `MOST_GROUPS` systems, too
    """
    tables_by_system = [
        {str(name): rows for name, rows in table.groupby("system", sort=False)}
        for table in (rated, unrated)
    ]
    systems = sorted({name for tables in tables_by_system for name in tables})
    alone, means, counts = {}, {}, {ALL: (len(rated), len(unrated))}
    for name in [*(systems if len(systems) > 1 else []), ALL]:
        if name == ALL:
            parts = [rated, unrated]
        else:
            of_rated, of_unrated = tables_by_system
            parts = [of_rated.get(name, rated[:0]), of_unrated.get(name, unrated[:0])]
        n, others = counts[name] = len(parts[0]), len(parts[1])
        if n:
            quality, predicted = (parts[0][c].to_numpy(float) for c in ("quality", "predicted"))
            cluster = np.concatenate([part["cluster"] for part in parts])
            rest = parts[1]["predicted"].to_numpy(float)
            alone[name] = powered_mean(quality, predicted, np.zeros(0), cluster[:n])
            means[name] = powered_mean(quality, predicted, rest, cluster)
    by_system = {name: mean for name, mean in means.items() if name != ALL}
    if by_system and rated_unevenly(np.array([counts[name] for name in systems])):
        texts = {name: sum(counts[name]) for name in systems}
        means[ALL] = mean_of_systems(by_system, texts)
        alone[ALL] = mean_of_systems({name: alone[name] for name in systems}, texts)
    rows = []
    for name in [ALL, *(systems if len(systems) > 1 else [])]:
        n, others = counts[name]
        cells: dict[str, Any] = {"system": name, "rated": n, "unrated": others}
        if name in means:
            mean, of_ratings = means[name], alone[name]
            cells |= _cells("rated_mean", of_ratings) | _cells("mean", mean)
            cells |= {"weight": mean.weight, "standard_error": mean.error}
            cells["rated_standard_error"] = of_ratings.error
            if plan:
                cells["ratings_needed"] = ratings_needed(of_ratings, mean, n, others, plan)
        rows.append(cells)
    pairs = group_pairs(by_system if all_pairs or len(by_system) <= MOST_GROUPS else {})
    table = pd.DataFrame(rows, columns=[*MEAN_COLUMNS, *(["ratings_needed"] if plan else [])])
    return with_ranks(table, pairs), pairs


def rated_unevenly(counts: Array) -> bool:
    """Whether each of two systems or more, by its numbers of rated and other texts, int64 (systems,
    2), has two ratings or more, but another share of them than of the texts, by a chi-square test:
    then ratings were not drawn from all texts alike."""
    rated, others = counts.T
    if len(rated) < 2 or rated.min() < 2 or not others.any():
        return False
    return bool(chi2_contingency(counts).pvalue < UNEVEN)


def _cells(name: str, mean: Mean) -> dict[str, float]:
    low, high = mean.interval
    return Measure(name).cells(IntervalEstimate(mean.value, low, high))


def ratings_needed(alone: Mean, mean: Mean, n: int, others: int, width: float) -> float:
    """How many ratings give an interval of a width: of clusters of the same size, with predictions
    that are worth as much, of the texts that remain. NaN beyond `MOST_RATINGS`, or without an
    interval."""
    if not alone.error > 0:
        return float("nan")
    # the share of a variance that very many predictions would save
    saved = 1 - (mean.error / alone.error) ** 2
    limit = np.clip(saved * (n + others) / others, 0, 1) if others else 0.0
    number = np.unique(np.geomspace(2, MOST_RATINGS, 20_000).astype(int))
    rest = np.maximum(n + others - number, 0) / (n + others)
    error = alone.error * np.sqrt(n / number * (1 - limit * rest))
    clusters = np.maximum(number * (alone.freedom + 1) // n, 2)
    half = stdtrit(clusters - 1, 1 - TAIL) * np.sqrt(clusters / (clusters - 1)) * error
    enough = np.flatnonzero(2 * half <= width)
    return float(number[enough[0]]) if len(enough) else float("nan")


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


def means_answer(
    rated: pd.DataFrame,
    outputs: pd.DataFrame,
    method: str,
    make: Callable[[], TableEstimator],
    *,
    by: str,
    with_rated: bool,
    scale: Sequence[float],
    plan: float | None,
    all_pairs: bool,
    seed: int,
    path: str,
) -> Answer:
    """`MEAN_COLUMNS` and `group_pairs` of rated texts and ``outputs``, which have the rated
    ones, too (``with_rated``), with predictions by a method that ``make`` makes; a score in the
    unit of the ratings is a prediction as it is. Raises FormatError: fewer different rated texts
    than `FEWEST_RATED_TEXTS`; a system is called `ALL`; as `check_columns`."""
    if (different := len(np.unique(text_ids(rated["text"])))) < FEWEST_RATED_TEXTS:
        message = f"{different} different rated texts are too few for a mean with an interval"
        raise FormatError(message, path=path, remedy=f"rate {FEWEST_RATED_TEXTS} or more")
    check_columns(method, rated, outputs, path)
    rows, missing = unrated_rows(rated, outputs) if with_rated else ([*range(len(outputs))], 0)
    unrated, warnings = outputs.iloc[rows].reset_index(drop=True), []
    rated = rated.reset_index(drop=True)
    if missing:
        warnings.append(
            f"{missing} of {len(rated)} rated texts are not among the outputs: they count beside"
            " them, as texts of the same kind"
        )
    if not rows:
        warnings.append("no output is unrated: predictions cannot help")
    both = pd.concat([rated, unrated], ignore_index=True)
    cluster, clustered = text_ids(both["text"]), False
    column, prompts = prompts_of(both)
    if column and column != by:  # the groups that are asked for are fixed
        contexts = text_ids(prompts, separate_blank=True)
        of_rated = len(np.unique(contexts[: len(rated)]))
        clustered = of_rated > 1
        cluster = contexts if clustered else cluster
        if of_rated == 1 and len(np.unique(contexts)) > 1:
            warnings.append(f"all ratings are of one {column}: intervals hold for it alone")
    system = both[by].astype(str) if by in both else pd.Series(ALL, both.index)
    if by != "system":  # one, however it is spelled
        system = system.groupby(label_ids(map(merge_key, system))).transform("first")
    if by in both and (system == ALL).any():
        message = f"a {by} is called {ALL}, as the row of all texts is"
        raise FormatError(message, path=path, remedy="give it another name")
    both = with_keys(both).assign(cluster=cluster, system=system)
    rated, unrated = both.iloc[: len(rated)], both.iloc[len(rated) :]
    origin = "cross-fitted"
    score = both[method].to_numpy(float) if method.startswith("score_") else np.zeros(0)
    if len(score) and same_unit(score[: len(rated)], rated["quality"].to_numpy(), scale):
        origin, filled = "as they are", np.where(np.isnan(score), np.nanmean(score), score)
        predicted = filled[: len(rated)], filled[len(rated) :]
    else:
        predicted = cross_predict(make, rated, unrated, seed)
        if len(score):
            origin = "by a line to ratings, for their unit is another one, cross-fitted"
    warnings += missing_scores_of(method, rated, both)
    rated, unrated = rated.assign(predicted=predicted[0]), unrated.assign(predicted=predicted[1])
    table, pairs = mean_tables(rated, unrated, plan, all_pairs)
    warnings += _oddities(table, rated, by)
    counts = f"{len(rated):,} rated texts, {len(unrated):,} others"
    if clustered:
        counts += f", {len(np.unique(cluster)):,} contexts, which are resampled whole"
    lines = [f"{counts}; predictions: {method}, {origin}", *_mean_lines(table, pairs, by, plan)]
    return Answer(table=table, pairs=pairs, answer="\n".join(lines), warnings=warnings)


def _oddities(table: pd.DataFrame, rated: pd.DataFrame, by: str) -> Iterator[str]:
    """What to know of the means of each system, a sentence each."""
    systems = table[table["system"] != ALL]
    if len(systems) and rated_unevenly(systems[["rated", "unrated"]].to_numpy()):
        yield (
            f"some {by}s were rated more often than others: the mean of all texts counts each by"
            " its number of texts"
        )
    alike = rated.groupby("system")["quality"].agg(["nunique", "size"])
    if len(same := alike.index[(alike["nunique"] == 1) & (alike["size"] > 1)]):
        yield f"no interval, for all ratings are alike: {_listed(list(same))}"
    few = systems.loc[systems["rated"] < 2, "system"]
    if len(few):
        yield f"{len(few)} {by}s have fewer than two ratings: {_listed(list(few))}"
    if len(table) == 1:
        yield f"one {by}, or no column {by}: a mean of all texts alone"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shorten, names[:5])) + ", ..." * (len(names) > 5)


NAMED = 8
"""Systems that the answer names."""


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
