"""Tables of means from few ratings and many predictions, and how many ratings a width takes."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from refless.evaluation.group_pairs import MOST_GROUPS, group_pairs, with_ranks
from refless.statistics.bootstrap import TAIL, IntervalEstimate
from refless.statistics.measure import Measure
from refless.statistics.prediction_powered import Mean, mean_of_systems, powered_mean

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


def mean_tables(
    rated: pd.DataFrame,
    unrated: pd.DataFrame,
    plan: float | None = None,
    all_pairs: bool = False,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`MEAN_COLUMNS` of each system and of `ALL`, and `group_pairs` of the systems. The mean of all
    texts is that of the systems, each by its number of texts, where each has two ratings or more
    (post-stratification); else systems count as they were rated.

    rated, unrated : ``predicted``, ``group`` and ``cluster``, int64; rated also ``quality``
    plan : width of an interval; ``ratings_needed`` is how many rated ones of these texts, with the
        predictions of the rest, would give it
    all_pairs : make pairs and ranks of more than `MOST_GROUPS` systems, too
    """
    tables_by_system = [
        {str(name): rows for name, rows in table.groupby("group", sort=False)}
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
    if by_system and min(counts[name][0] for name in systems) >= 2:
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
