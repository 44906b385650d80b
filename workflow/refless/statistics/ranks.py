"""Rank correlations of many draws. Stage: cell. Compiled: numpy takes several times as long."""

import numpy as np

from refless.compute.compiled import compiled
from refless.errors import SettingError

Array = np.ndarray


def kendall_rows(x: Array, y: Array) -> Array:
    """Kendall's tau-b of each row of ``x``, (..., rows, n), and ``y``, (rows, n): (..., rows); NaN
    of a constant side. Raises SettingError: shapes do not fit.

    >>> kendall_rows(np.array([[1.0, 2, 3]]), np.array([[1.0, 3, 2]])).round(3)
    array([0.333])
    """
    if y.ndim != 2 or x.shape[-2:] != y.shape:
        raise SettingError(f"x has the shape {x.shape}, y {y.shape}: rows of numbers do not fit")
    x = np.ascontiguousarray(x, np.float64)
    y = np.ascontiguousarray(y, np.float64)
    tau = np.empty(x.shape[:-1])
    for index in np.ndindex(tau.shape):
        score, untied_x, untied_y = _pairs(x[index], y[index[-1]])
        product = float(untied_x) * float(untied_y)
        tau[index] = score / np.sqrt(product) if product else np.nan
    return tau


@compiled("UniTuple(int64, 3)(float64[::1], float64[::1])")
def _pairs(x: Array, y: Array) -> tuple[int, int, int]:
    """Concordant less discordant pairs, and the pairs that are no tie, of each side."""
    score = untied_x = untied_y = 0
    for i in range(len(x)):
        for j in range(i):
            dx = (x[i] > x[j]) - (x[i] < x[j])
            dy = (y[i] > y[j]) - (y[i] < y[j])
            score += dx * dy
            untied_x += dx * dx
            untied_y += dy * dy
    return score, untied_x, untied_y


@compiled("void(int32[:, ::1], uint32[::1], uint32[:, ::1], float64[:, ::1])")
def add_moments(weights: Array, column: Array, groups: Array, out: Array) -> None:
    """Write of each draw, (4, draws), the sum of weights, that of products of midranks, and of each
    side that of squares of midranks around their mean.

    weights, column : see `refless.statistics.weighted_spearman`
    groups : number of each pair's value on either side, in ascending order (2, n)
    """
    n = groups.shape[1]
    ranks = np.empty((2, n), np.int64)
    for draw in range(len(weights)):
        ranks[:] = 0
        for i in range(n):
            ranks[0, groups[0, i]] += weights[draw, column[i]]
            ranks[1, groups[1, i]] += weights[draw, column[i]]
        for xy in range(2):
            below, cubes = 0, 0.0  # cubes of many are no int64
            for group in range(n):
                size = ranks[xy, group]
                ranks[xy, group] = 2 * below + size + 1  # twice the midrank
                below += size
                cubes += float(size) * size * size
            out[0, draw] = below
            out[2 + xy, draw] = (float(below) * below * below - cubes) / 12
        product = 0.0
        for i in range(n):
            weight = float(weights[draw, column[i]])
            product += weight * ranks[0, groups[0, i]] * ranks[1, groups[1, i]]
        out[1, draw] = product / 4
