"""Means of groups, such as systems or contexts, and the differences of each two, all at once."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import stdtr, stdtrit

from refless.evaluation.evaluate import LEVEL
from refless.evaluation.pairs import rank_ranges
from refless.statistics.bootstrap import TAIL
from refless.statistics.measure import Measure
from refless.statistics.multiple_tests import holm
from refless.statistics.prediction_powered import Mean, small_sample_factor

Array = np.ndarray

DIFFERENCE_COLUMNS = ["a", "b", *Measure("difference").interval, "p", "p_holm"]
MOST_GROUPS = 200
"""Groups up to which each two are tested without being asked: 19,900 pairs."""
_ROUNDING = 1e-12
"""What rounding leaves of a variance that is 0, as a share of the variances that it is made of."""


def group_pairs(means: Mapping[str, Mean]) -> pd.DataFrame:
    """`DIFFERENCE_COLUMNS` of each two groups, the greater mean first: a 95% interval by Student's
    t, and p, two-sided, also corrected for all pairs by Holm. NaN where a mean has no error, or the
    difference has none, as where all ratings are alike."""
    order = sorted(means, key=lambda name: -means[name].value)
    ordered = [means[name] for name in order]
    first, second = np.triu_indices(len(ordered), 1)
    value, freedom, weight = (
        np.array([getattr(mean, name) for mean in ordered], float)
        for name in ("value", "freedom", "weight")
    )
    gap = value[first] - value[second]
    few = np.minimum(freedom[first], freedom[second])
    error = _errors_of_differences(ordered, first, second)
    error *= small_sample_factor(few, 1 + (np.maximum(weight[first], weight[second]) > 0))
    half = stdtrit(np.where(few > 0, few, np.nan), 1 - TAIL) * error
    tested = error > 0
    statistic = -np.abs(gap) / np.where(tested, error, 1)
    p = np.where(tested, 2 * stdtr(np.where(tested, few, 1), statistic), np.nan)
    names = np.array(order, object)
    columns = (names[first], names[second], gap, gap - half, gap + half, p, holm(p))
    return pd.DataFrame(dict(zip(DIFFERENCE_COLUMNS, columns, strict=True)))


def _errors_of_differences(means: list[Mean], first: Array, second: Array) -> Array:
    """Standard errors of ``means[first] - means[second]``, of clusters that both may share; float64
    (pairs,)."""
    if not means:
        return np.zeros(0)
    starts = np.cumsum([0, *(len(mean.clusters) for mean in means)])
    columns = np.concatenate([mean.clusters for mean in means])
    influence = np.concatenate([mean.influence for mean in means])
    moved = csr_array((influence, columns, starts), shape=(len(means), int(columns.max()) + 1))
    shared = (moved @ moved.T).toarray()
    both = np.diag(shared)[first] + np.diag(shared)[second]
    variance = both - 2 * shared[first, second]
    return np.sqrt(np.where(variance > _ROUNDING * both, variance, 0))


def with_ranks(table: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """A table of groups, named in ``system``, with the ranks that significant differences leave
    open (`rank_ranges`), 1 for the greatest mean; NaN for a group without pairs."""
    significant = pairs[pairs["p_holm"] < LEVEL]
    names = list(dict.fromkeys([*pairs["a"], *pairs["b"]]))
    open_ranks = rank_ranges(names, significant["a"], significant["b"])
    first, last = (
        table["system"].map({name: ends[end] for name, ends in open_ranks.items()}).astype(float)
        for end in (0, 1)
    )
    return table.assign(rank_low=first, rank_high=last)
