"""Kendall's tau-b of many rows. Stage: cell. Compiled, since numpy takes many times as long."""

import numpy as np

from refless.kernels._compiled import compiled

Array = np.ndarray


def kendall_rows(x: Array, y: Array) -> Array:
    """Kendall's tau-b of each row of ``x`` and ``y``, (..., rows, n); NaN where a side is
    constant."""
    found = np.empty(x.shape[:-1])
    for place in np.ndindex(found.shape):
        score, untied_x, untied_y = _pairs(x[place], y[place[-1]])
        product = float(untied_x) * float(untied_y)
        found[place] = score / np.sqrt(product) if product else np.nan
    return found


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
