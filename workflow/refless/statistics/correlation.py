"""Pearson's r, Spearman's rho (midranks for ties) and Kendall's tau-b, one or many at a time.

Stage: cell. In: arrays of numbers, and weights of a bootstrap. Out: correlations; their p-value and
interval. NaN where one side is constant.

A weight of k is exactly k copies, midranks included, so that many draws are one pass of array
arithmetic.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def spearman(prediction: Array, truth: Array) -> tuple[float, float]:
    """Spearman's rho (midranks for ties) and its two-sided p-value (t approximation).

    Both are NaN with fewer than 3 pairs or where one side is constant.
    """
    n = len(truth)
    if n < 3 or np.ptp(prediction) == 0 or np.ptp(truth) == 0:
        return float("nan"), float("nan")
    once = np.ones((1, n))
    rho = float(weighted_spearman(prediction, truth, once)[0])
    return rho, correlation_p_value(rho, n)


def correlation_p_value(r: float, n: int) -> float:
    """Two-sided p-value of a correlation of n pairs: t with n - 2 degrees of freedom."""
    # scipy.stats would do, but importing it takes longer than most of what uses this
    from scipy.special import stdtr

    if n < 3 or np.isnan(r):
        return float("nan")
    if abs(r) >= 1:
        return 0.0
    t = abs(r) * np.sqrt((n - 2) / ((1 - r) * (1 + r)))
    return float(2 * stdtr(n - 2, -t))


def fisher_interval(r: float, n: int) -> tuple[float, float]:
    """95% interval of a correlation of n pairs by Fisher's z; NaN for n < 4 or without r."""
    if n < 4 or np.isnan(r) or abs(r) >= 1:
        return float("nan"), float("nan")
    half = 1.959963984540054 / np.sqrt(n - 3)
    low, high = np.tanh([np.arctanh(r) - half, np.arctanh(r) + half])
    return float(low), float(high)


def weighted_midranks(values: Array, weights: Array) -> Array:
    """Midranks of ``values`` (n,) when candidate i is there ``weights[d, i]`` times.

    Returns shape (draws, n), float64. Ranks start at 1; entries of weight 0 carry the rank that
    they would have between their neighbors and are to be ignored.
    """
    _, group = np.unique(values, return_inverse=True)
    _, rank = _group_ranks(group, weights)
    return np.take(rank, group, axis=1)


def _group_ranks(group: Array, weights: Array) -> tuple[Array, Array]:
    """Size and midrank of each group of equal values, both (draws, groups), float64.

    ``group`` is the number of each candidate's group in ascending order of the values, (n,).
    """
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    # `take`, since indexing would give columns that lie together, and sums over rows that then
    # hang on how many rows there are
    size = np.add.reduceat(np.take(weights, order, axis=1).astype(np.float64), starts, axis=1)
    return size, midranks_of_sizes(size)


def midranks_of_sizes(sizes: Array) -> Array:
    """Midranks of ascending values that occur ``sizes`` times, shape (draws, values)."""
    return np.cumsum(sizes, axis=1) - (sizes - 1) / 2


def weighted_pearson(x: Array, y: Array, weights: Array) -> Array:
    """Pearson's r of each row, all of shape (draws, n); NaN where a side is constant."""
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        dx = x - (weights * x).sum(axis=1, keepdims=True) / total
        dy = y - (weights * y).sum(axis=1, keepdims=True) / total
        xx = (weights * dx * dx).sum(axis=1)
        yy = (weights * dy * dy).sum(axis=1)
        r = (weights * dx * dy).sum(axis=1) / np.sqrt(xx * yy)
        # Beside the size of the numbers themselves, a spread this small is rounding noise.
        noise = 1e-24
        still = (xx <= noise * (weights * x * x).sum(axis=1)) | (
            yy <= noise * (weights * y * y).sum(axis=1)
        )
    r[still] = np.nan
    return r


def weighted_spearman(x: Array, y: Array, weights: Array) -> Array:
    """Spearman's rho of ``x`` and ``y``, shape (n,), under each row of weights (draws, n).

    NaN where a side is constant. Weights are whole numbers, so ranks are halves and their moments
    exact as long as 4 n^3 is below 2^53: no order of summing shows in the result.
    """
    total = weights.sum(axis=1)
    middle = total * ((total + 1) / 2) ** 2  # the mean rank is the same on both sides
    spread, ranks = [], []
    still = np.zeros(len(weights), bool)
    for values in (x, y):
        _, group = np.unique(values, return_inverse=True)
        size, rank = _group_ranks(group, weights)
        still |= (size > 0).sum(axis=1) < 2
        spread.append(np.einsum("dg,dg,dg->d", size, rank, rank) - middle)
        ranks.append(np.take(rank, group, axis=1))
    shared = np.einsum("dn,dn,dn->d", weights, *ranks) - middle
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = shared / np.sqrt(spread[0] * spread[1])
    rho[still] = np.nan
    return np.asarray(rho)


def midranks(values: Array) -> Array:
    """Ranks within each row of ``values`` (rows, n), from 1, ties sharing their mean."""
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    position = np.arange(values.shape[1])
    new = np.ones(values.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(new, position, 0), axis=1)
    last = np.ones(values.shape, bool)
    last[:, :-1] = new[:, 1:]
    end = np.where(last, position, values.shape[1])
    end = np.minimum.accumulate(end[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + end) / 2 + 1, axis=1)
    return ranks


def pearson_rows(x: Array, y: Array) -> Array:
    """Pearson's r of each row of ``x`` and ``y`` (rows, n); of `midranks` it is Spearman's rho."""
    return weighted_pearson(x, y, np.ones((1, x.shape[1])))


def kendall_rows(x: Array, y: Array) -> Array:
    """Kendall's tau-b of each row of ``x`` and ``y`` (rows, n); NaN where a side is constant."""
    from refless.statistics._rank_pairs import kendall_loop

    tau = np.empty(len(x))
    kendall_loop(np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.float64), tau)
    return tau
