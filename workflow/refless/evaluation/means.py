"""Means of systems from few ratings and many predictions: prediction-powered inference.

Source: Angelopoulos, Duchi and Zrnic (2023), "PPI++: Efficient Prediction-Powered Inference",
sections 2 and 6; here with errors that are robust to clusters.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from refless.evaluation.group_pairs import (
    MOST_GROUPS,
    Mean,
    group_pairs,
    small_sample_factor,
    with_ranks,
)
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
    *(*Measure("mean").interval, "standard_error", "weight", "correction"),
    *("rank_low", "rank_high"),
]
"""``rated_mean`` is of ratings alone, ``mean`` also of predictions, which count ``weight``;
``correction`` is ``mean`` less the mean prediction of all texts of the system; the
ranks are those that the tests of all pairs leave open, 1 for the greatest mean."""
FEWEST_UNRATED_CLUSTERS = 10
"""Clusters of unrated texts without which predictions do not count: of one text, the variance
between clusters would be 0, and its prediction as good as the mean of very many."""


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
    texts is that of the systems, each by its number of texts, where each has ratings that differ
    (post-stratification); else systems count as they were rated.

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
    alone, means, predicted_mean = {}, {}, {}
    counts = {ALL: (len(rated), len(unrated))}
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
            predicted_mean[name] = float(np.concatenate([predicted, rest]).mean())
    by_system = {name: mean for name, mean in means.items() if name != ALL}
    if by_system and all(name in means and means[name].freedom > 0 for name in systems):
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
            cells["correction"] = mean.value - predicted_mean[name]
            cells["rated_standard_error"] = of_ratings.error
            if plan:
                cells["ratings_needed"] = ratings_needed(of_ratings, mean, n, others, plan)
        rows.append(cells)
    pairs = group_pairs(by_system if all_pairs or len(by_system) <= MOST_GROUPS else {})
    table = pd.DataFrame(rows, columns=[*MEAN_COLUMNS, *(["ratings_needed"] if plan else [])])
    return with_ranks(table, pairs), pairs


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
