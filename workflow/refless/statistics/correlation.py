"""Pearson's r, Spearman's rho (midranks for ties) and Kendall's tau-b, one or many at a time.

Stage: cell. In: arrays of numbers, and weights of a bootstrap. Out: correlations and their
p-value. NaN where one side is constant.

A weight of k is exactly k copies, midranks included, so that many draws are one pass of array
arithmetic.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def spearman(prediction: Array, truth: Array) -> tuple[float, float]:
    """Spearman's rho (midranks for ties) and its two-sided p-value (t approximation).

    Both are NaN with fewer than 3 pairs, where one side is constant, or has a NaN.
    """
    n = len(truth)
    lost = np.isnan(prediction).any() or np.isnan(truth).any()
    if lost or n < 3 or np.ptp(prediction) == 0 or np.ptp(truth) == 0:
        return float("nan"), float("nan")
    ranks = midranks(np.array([prediction, truth], np.float64))
    x, y = ranks - (n + 1) / 2  # halves, so that their moments are exact
    rho = float((x @ y) / np.sqrt((x @ x) * (y @ y)))
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


def weighted_spearman(x: Array, y: Array, weights: Array, column: Array | None = None) -> Array:
    """Spearman's rho of ``x`` and ``y``, shape (n,), under each row of ``weights``.

    Parameters
    ----------
    weights : whole numbers, shape (draws, candidates)
    column : which candidate each of the n pairs is, shape (n,); None if pair i is candidate i

    Returns shape (draws,), NaN where a side is constant. Ranks are halves and their moments exact
    as long as 4 n^3 is below 2^53: no order of summing shows in the result.
    """
    from refless.statistics._rank_loops import spearman_loop

    x_group, y_group = (
        np.unique(values, return_inverse=True)[1].astype(np.int64) for values in (x, y)
    )
    rho = np.empty(len(weights))
    spearman_loop(x_group, y_group, _columns(column, len(x)), as_weights(weights), rho)
    return rho


def weighted_mean(values: Array, weights: Array, column: Array | None = None) -> Array:
    """Mean of ``values`` (n,), NaN where none is drawn; weights, column as `weighted_spearman`."""
    from refless.statistics._rank_loops import mean_loop

    mean = np.empty(len(weights))
    given = np.ascontiguousarray(values, np.float64)
    mean_loop(given, _columns(column, len(given)), as_weights(weights), mean)
    return mean


def _columns(column: Array | None, n: int) -> Array:
    return np.arange(n) if column is None else np.ascontiguousarray(column, np.int64)


def as_weights(weights: Array) -> Array:
    """Whole numbers below 65,536 in the form that the loops take."""
    given = np.asarray(weights)
    if given.dtype != np.uint16:
        if given.size and not (given.min() >= 0 and given.max() < 1 << 16):
            raise ValueError("weights are whole numbers from 0 to 65,535")
        given = given.astype(np.uint16)
    return np.ascontiguousarray(given)


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


def ordered(values: Array) -> tuple[Array, Array]:
    """Rows (rows, n) with what sorts each, as the functions of rows below take them."""
    values = np.ascontiguousarray(values, np.float64)
    return values, np.argsort(values, axis=1)


def spearman_rows(x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
    """Spearman's rho of each row of ``x`` and ``y``, by `ordered`; NaN where a side is constant."""
    from refless.statistics._rank_loops import spearman_rows_loop

    rho = np.empty(len(x[0]))
    spearman_rows_loop(*x, *y, rho)
    return rho


def kendall_rows(x: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
    """Kendall's tau-b of each row of ``x`` and ``y``, by `ordered`; NaN as `spearman_rows`."""
    from refless.statistics._rank_loops import kendall_loop

    tau = np.empty(len(x[0]))
    kendall_loop(*x, *y, tau)
    return tau


NOISE = 1e-12
"""The share of a sum of squares below which what is left of it is rounding."""


def centred(values: Array, group: Array) -> Array:
    """Values less the mean of their group, on a scale of their own; equal ones tie, however they
    were summed (but for one in many thousands, at the edge of the last digit that is kept).

    Parameters
    ----------
    values : shape (n,), finite
    group : number of each one's group, such as its fold, int64 (n,)
    """
    counts = np.bincount(group)
    away = values - (np.bincount(group, values) / np.maximum(counts, 1))[group]
    # what is left of equal values is rounding
    away[np.abs(away) <= NOISE * np.abs(values)] = 0
    most = np.abs(away).max(initial=0)
    if most <= NOISE * np.abs(values).max(initial=0):
        return np.zeros(len(values))
    # beside one that is far away, and moves the mean, the others must not tie
    order = np.lexsort((values, group))
    middle = np.minimum(np.cumsum(counts) - counts + counts // 2, len(values) - 1)
    apart = np.abs(values - values[order][middle][group])
    real = apart[apart > NOISE * np.abs(values)]
    unit = min(most, 1e6 * float(np.median(real))) if len(real) else most
    found: Array = np.round(away / unit, 12)
    return found
