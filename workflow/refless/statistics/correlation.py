"""Means, Pearson's r and Spearman's rho (midranks for ties), on all draws of a bootstrap at once.

Stage: cell. In: arrays of numbers, and weights of a bootstrap. Out: correlations and their
p-value. NaN where one side is constant. A weight of k is exactly k copies, midranks included.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr  # scipy.stats takes longer to import than most of what is done here

Array = np.ndarray

AT_ONCE = 1 << 17
"""Weights that are ranked together: 1 MB of float64, which stays in a core's cache."""
NOISE = 1e-12
"""The share of a sum of squares below which what is left of it is rounding."""


def spearman(prediction: Array, truth: Array) -> tuple[float, float]:
    """Spearman's rho (midranks for ties) and its two-sided p-value (t approximation).

    Both are NaN with fewer than 3 pairs, where one side is constant, or has a NaN.
    """
    n = len(truth)
    lost = np.isnan(prediction).any() or np.isnan(truth).any()
    if lost or n < 3 or np.ptp(prediction) == 0 or np.ptp(truth) == 0:
        return float("nan"), float("nan")
    rho = float(spearman_rows(prediction[None], truth[None])[0])
    if abs(rho) >= 1:
        return rho, 0.0
    t = abs(rho) * np.sqrt((n - 2) / ((1 - rho) * (1 + rho)))
    return rho, float(2 * stdtr(n - 2, -t))


def weighted_mean(values: Array, weights: Array) -> Array:
    """Mean of ``values`` (n,) under each row of ``weights`` (draws, n); NaN where none is drawn."""
    with np.errstate(invalid="ignore"):
        found: Array = (weights * values).sum(axis=1) / weights.sum(axis=1)
    return found


def weighted_pearson(x: Array, y: Array, weights: Array) -> Array:
    """Pearson's r of each row, all of shape (draws, n); NaN where a side is constant."""
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        dx = x - (weights * x).sum(axis=1, keepdims=True) / total
        dy = y - (weights * y).sum(axis=1, keepdims=True) / total
        xx = (weights * dx * dx).sum(axis=1)
        yy = (weights * dy * dy).sum(axis=1)
        r = (weights * dx * dy).sum(axis=1) / np.sqrt(xx * yy)
        # beside the size of the numbers themselves, a spread this small is rounding
        still = xx <= NOISE**2 * (weights * x * x).sum(axis=1)
        still |= yy <= NOISE**2 * (weights * y * y).sum(axis=1)
    return np.where(still, np.nan, r)


def weighted_spearman(x: Array, y: Array, weights: Array, column: Array | None = None) -> Array:
    """Spearman's rho of ``x`` and ``y`` (n,) under each row of ``weights``, whole numbers (draws,
    candidates), shape (draws,); ``column`` (n,) says which candidate each pair is, by default i.

    Ranks are halves and their moments exact as long as 4 n^3 is below 2^53: no order of summing
    shows in the result.
    """
    if len(x) == 0:
        return np.full(len(weights), np.nan)
    x_order, x_starts, _ = _ties(x)
    y_order, y_starts, y_group = _ties(y)
    step = max(1, AT_ONCE // len(x))
    found = np.empty(len(weights))
    for start in range(0, len(weights), step):
        block = weights[start : start + step]
        block = (block if column is None else block[:, column]).astype(np.float64)
        drawn = np.take(block, x_order, axis=1)
        x_size = _sums(drawn, x_starts)
        y_size = _sums(np.take(block, y_order, axis=1), y_starts)
        # the midrank of a group: those below it, and half of its own
        x_rank = np.cumsum(x_size, axis=1) - (x_size - 1) / 2
        y_rank = np.cumsum(y_size, axis=1) - (y_size - 1) / 2
        of_group = _sums(drawn * np.take(y_rank, y_group[x_order], axis=1), x_starts)
        total = x_size.sum(axis=1)
        middle = total * ((total + 1) / 2) ** 2  # the mean rank is the same on both sides
        shared, *spread = (
            np.einsum("ij,ij->i", one, rank) - middle
            for one, rank in (
                (of_group, x_rank),
                (x_size * x_rank, x_rank),
                (y_size * y_rank, y_rank),
            )
        )
        still = ((x_size > 0).sum(axis=1) < 2) | ((y_size > 0).sum(axis=1) < 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = shared / np.sqrt(spread[0] * spread[1])
        found[start : start + step] = np.where(still, np.nan, rho)
    return found


def _sums(values: Array, starts: Array) -> Array:
    """Sums of groups of columns that begin at ``starts``, (rows, groups)."""
    every = len(starts) == values.shape[1]
    return values if every else np.add.reduceat(values, starts, axis=1)


def _ties(values: Array) -> tuple[Array, Array, Array]:
    """What sorts values (n,); where groups of equal ones begin in that order; each one's group."""
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    return order, np.flatnonzero(np.diff(group[order], prepend=-1)), group


def midranks(values: Array) -> Array:
    """Ranks within each row of ``values`` (rows, n), from 1, ties sharing their mean."""
    n = values.shape[1]
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    new = np.ones((len(values), n + 1), bool)
    new[:, 1:-1] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(new[:, :-1], np.arange(n), 0), axis=1)
    end = np.where(new[:, 1:], np.arange(1, n + 1), n)
    end = np.minimum.accumulate(end[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + 1 + end) / 2, axis=1)
    return ranks


def spearman_rows(x: Array, y: Array) -> Array:
    """Spearman's rho of each row of ``x`` and ``y``, (..., rows, n); of ``y`` ranks are taken once.

    NaN where a side is constant.
    """
    middle = (x.shape[-1] + 1) / 2
    truth = midranks(y) - middle  # halves, so that their moments are exact
    yy = (truth * truth).sum(axis=1)
    found = np.empty(x.shape[:-1])
    for place in np.ndindex(x.shape[:-2]):
        own = midranks(x[place]) - middle
        with np.errstate(invalid="ignore"):
            found[place] = (own * truth).sum(axis=1) / np.sqrt((own * own).sum(axis=1) * yy)
    return found


def centred(values: Array, group: Array) -> Array:
    """Values (n,) less the mean of their group, such as their fold, int64 (n,), on a scale of their
    own; equal ones tie, however they were summed."""
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
