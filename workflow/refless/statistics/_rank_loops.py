"""Rank correlations in compiled loops: many draws of a bootstrap, or every pair.

Stage: cell (helper). In: arrays of numbers. Out: one correlation a row. Apart from `correlation`,
so that who needs no more than one rho does not wait for the compiler's import.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint16, void

from refless.kernels._compiled import compiled

WEIGHTS = types.Array(uint16, 2, "C", readonly=True)
"""The draws of a bootstrap, which are kept and not written to."""


@compiled(void(float64[::1], int64[::1], WEIGHTS, float64[::1]))
def mean_loop(
    values: np.ndarray, column: np.ndarray, weights: np.ndarray, mean: np.ndarray
) -> None:
    """Write the mean of ``values`` (n,) under each row of ``weights``; NaN where nothing is drawn.

    ``column`` (n,) says which column of ``weights`` (draws, candidates) is whose.
    """
    for draw in range(weights.shape[0]):
        total = 0.0
        number = 0
        for i in range(values.size):
            weight = weights[draw, column[i]]
            total += weight * values[i]
            number += weight
        mean[draw] = total / number if number else np.nan


@compiled(void(int64[::1], int64[::1], int64[::1], WEIGHTS, float64[::1]))
def spearman_loop(
    x_group: np.ndarray,
    y_group: np.ndarray,
    column: np.ndarray,
    weights: np.ndarray,
    rho: np.ndarray,
) -> None:
    """Write Spearman's rho under each row of ``weights``; NaN where a side is constant.

    ``x_group`` and ``y_group`` number each value among the distinct ones, ascending, shape (n,);
    ``column`` as in `mean_loop`.
    """
    n = column.size
    x_size, y_size = np.empty(n), np.empty(n)
    for draw in range(weights.shape[0]):
        x_size[:] = 0.0
        y_size[:] = 0.0
        for i in range(n):
            weight = float(weights[draw, column[i]])
            x_size[x_group[i]] += weight
            y_size[y_group[i]] += weight
        # sizes become midranks, and their spread is summed on the way
        total_x = total_y = spread_x = spread_y = 0.0
        there_x = there_y = 0
        for group in range(n):
            size = x_size[group]
            rank = total_x + (size + 1.0) / 2.0
            total_x += size
            spread_x += size * rank * rank
            there_x += size > 0.0
            x_size[group] = rank
            size = y_size[group]
            rank = total_y + (size + 1.0) / 2.0
            total_y += size
            spread_y += size * rank * rank
            there_y += size > 0.0
            y_size[group] = rank
        if there_x < 2 or there_y < 2:
            rho[draw] = np.nan
            continue
        shared = 0.0
        for i in range(n):
            shared += weights[draw, column[i]] * x_size[x_group[i]] * y_size[y_group[i]]
        middle = (total_x + 1.0) / 2.0
        middle = total_x * middle * middle  # the mean rank is the same on both sides
        rho[draw] = (shared - middle) / np.sqrt((spread_x - middle) * (spread_y - middle))


_SIDE = (float64[:, ::1], int64[:, ::1])
"""Rows, and what sorts each."""


@compiled(void(*_SIDE, *_SIDE, float64[::1]))
def spearman_rows_loop(
    x: np.ndarray, x_order: np.ndarray, y: np.ndarray, y_order: np.ndarray, rho: np.ndarray
) -> None:
    """Write Spearman's rho of each row of ``x`` and ``y`` (rows, n); NaN where a side is constant.

    ``x_order`` and ``y_order`` sort each row.
    """
    n = x.shape[1]
    ranks = np.empty((2, n))
    middle = (n + 1.0) / 2.0
    for row in range(x.shape[0]):
        defined = True
        for side in range(2):
            values = x[row] if side == 0 else y[row]
            order = x_order[row] if side == 0 else y_order[row]
            start = 0
            while start < n:
                end = start
                while end < n and values[order[end]] == values[order[start]]:
                    end += 1
                for i in range(start, end):
                    ranks[side, order[i]] = (start + end + 1.0) / 2.0
                defined = defined and end - start < n
                start = end
        xx = yy = xy = 0.0
        for i in range(n):
            dx, dy = ranks[0, i] - middle, ranks[1, i] - middle
            xx += dx * dx
            yy += dy * dy
            xy += dx * dy
        rho[row] = xy / np.sqrt(xx * yy) if defined else np.nan


@compiled(void(*_SIDE, *_SIDE, float64[::1]))
def kendall_loop(
    x: np.ndarray, x_order: np.ndarray, y: np.ndarray, y_order: np.ndarray, tau: np.ndarray
) -> None:
    """Write tau-b of each row of ``x`` and ``y``, shape (rows, n); NaN where a side is constant.

    ``x_order`` and ``y_order`` sort each row. Going up in x, a Fenwick tree tells how many of the
    smaller ones are smaller in y, and how many are greater.
    """
    n = x.shape[1]
    group = np.empty(n, np.int64)  # number of a value of y among the distinct ones, from 1
    tree = np.empty(n + 1, np.int64)
    for row in range(x.shape[0]):
        groups = 0
        tied_y = 0
        start = 0
        while start < n:
            end = start
            groups += 1
            while end < n and y[row, y_order[row, end]] == y[row, y_order[row, start]]:
                group[y_order[row, end]] = groups
                end += 1
            tied_y += (end - start) * (end - start - 1) // 2
            start = end
        tree[: groups + 1] = 0
        score = 0
        tied_x = 0
        start = 0
        while start < n:
            end = start
            while end < n and x[row, x_order[row, end]] == x[row, x_order[row, start]]:
                own = group[x_order[row, end]]
                smaller = 0
                k = own - 1
                while k > 0:
                    smaller += tree[k]
                    k -= k & -k
                not_greater = 0
                k = own
                while k > 0:
                    not_greater += tree[k]
                    k -= k & -k
                score += smaller - (start - not_greater)
                end += 1
            for i in range(start, end):
                k = group[x_order[row, i]]
                while k <= groups:
                    tree[k] += 1
                    k += k & -k
            tied_x += (end - start) * (end - start - 1) // 2
            start = end
        pairs = n * (n - 1) // 2
        if tied_x == pairs or tied_y == pairs:
            tau[row] = np.nan
        else:
            tau[row] = score / np.sqrt(float(pairs - tied_x) * float(pairs - tied_y))
