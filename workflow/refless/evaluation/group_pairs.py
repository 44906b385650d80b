"""Means of groups, such as systems or contexts, and the differences of each two, all at once."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from refless.evaluation.evaluate import LEVEL
from refless.evaluation.pairs import rank_ranges
from refless.statistics.bootstrap import TAIL
from refless.statistics.cluster_robust import ClusterProducts, cluster_products
from refless.statistics.measure import Measure
from refless.statistics.multiple_tests import holm
from refless.statistics.prediction_powered import PoweredMean

Array = np.ndarray

DIFFERENCE_COLUMNS = ["a", "b", *Measure("difference").interval, "p", "p_holm"]
MOST_GROUPS = 200
"""Groups up to which each two are tested without being asked: 19,900 pairs."""
_ROUNDING = 1e-12
"""What rounding leaves of a variance that is 0, as a share of the variances that it is made of."""


def group_pairs(means: Mapping[str, PoweredMean]) -> pd.DataFrame:
    """`DIFFERENCE_COLUMNS` of each two groups, the greater mean first: a 95% interval by Student's
    t with Bell and McCaffrey's degrees of freedom, less one where predictions count, and p,
    two-sided, also corrected for all pairs by Holm. NaN where a mean has no interval, or the
    difference has no error. Two means that are known differ by what they differ by: p is 0, or 1 of
    equal ones."""
    if not means:
        return pd.DataFrame(columns=DIFFERENCE_COLUMNS)
    order = sorted(means, key=lambda name: -means[name].value)
    ordered = [means[name] for name in order]
    first, second = np.triu_indices(len(ordered), 1)
    value = np.array([mean.value for mean in ordered])
    weighted = np.array([mean.weight > 0 for mean in ordered])
    known = np.array([mean.known for mean in ordered])
    usable = np.array([mean.has_interval for mean in ordered])
    gap = value[first] - value[second]
    products = cluster_products([(mean.estimate, mean.clusters) for mean in ordered])
    variance, freedom = _of_differences(products, first, second)
    # an estimated weight of predictions costs a degree of freedom
    left = freedom - (weighted[first] | weighted[second])
    tested = usable[first] & usable[second] & (left > 0) & (variance > 0)
    left = np.where(tested, left, np.nan)
    error = np.sqrt(variance * freedom / left)
    half = stdtrit(left, 1 - TAIL) * error
    p = 2 * stdtr(left, -np.abs(gap) / np.where(tested, error, 1))
    certain = known[first] & known[second]
    half = np.where(certain, 0, half)
    p = np.where(certain, gap == 0, p)
    names = np.array(order, object)
    columns = (names[first], names[second], gap, gap - half, gap + half, p, holm(p))
    return pd.DataFrame(dict(zip(DIFFERENCE_COLUMNS, columns, strict=True)))


def _of_differences(products: ClusterProducts, first: Array, second: Array) -> tuple[Array, Array]:
    """The variance of ``first - second`` of each pair of means, 0 where rounding alone leaves some,
    and Bell and McCaffrey's degrees of freedom, NaN without any; float64 (pairs,) each."""
    shared = products.covariance.toarray()
    squares = products.squares.toarray()
    both = np.diag(shared)[first] + np.diag(shared)[second]
    variance = both - 2 * shared[first, second]
    variance = np.where(variance > _ROUNDING * both, variance, 0)
    square = np.diag(squares)[first] + np.diag(squares)[second] + 2 * squares[first, second]
    trace = products.trace[first] + products.trace[second]
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(square > 0, trace**2 / square, np.nan)
    return variance, freedom


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
