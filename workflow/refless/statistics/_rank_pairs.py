"""Kendall's tau-b by looking at every pair: exact, and compiled. Stage: cell (helper).

In: two arrays of rows. Out: one tau a row. Apart from `correlation`, so that who needs no tau does
not wait for the compiler's import.
"""

from __future__ import annotations

import numpy as np

from refless.kernels._compiled import compiled


@compiled("void(float64[:, ::1], float64[:, ::1], float64[::1])")
def kendall_loop(x: np.ndarray, y: np.ndarray, tau: np.ndarray) -> None:
    """Write tau-b of each row of ``x`` and ``y``, shape (rows, n); NaN where a side is constant."""
    n = x.shape[1]
    for row in range(x.shape[0]):
        score = 0
        in_x = 0  # pairs that are not tied in x, in y
        in_y = 0
        for i in range(n):
            for j in range(i):
                a = (x[row, i] > x[row, j]) - (x[row, i] < x[row, j])
                b = (y[row, i] > y[row, j]) - (y[row, i] < y[row, j])
                score += a * b
                in_x += a * a
                in_y += b * b
        if in_x == 0 or in_y == 0:
            tau[row] = np.nan
        else:
            tau[row] = score / np.sqrt(float(in_x) * float(in_y))
