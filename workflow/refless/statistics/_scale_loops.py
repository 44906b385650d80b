"""Ratings on a scale of few values in compiled loops: many draws of a bootstrap.

Stage: cell (helper of `scale`). In: the cell of the table of pairs that each pair falls in. Out:
counts of the cells, and the statistics of counts.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from refless.kernels._compiled import compiled
from refless.statistics._rank_loops import WEIGHTS


@compiled(void(int64[::1], WEIGHTS, float64[:, ::1]))
def count_loop(cell: np.ndarray, weights: np.ndarray, counts: np.ndarray) -> None:
    """Add to ``counts`` (draws, cells) how often each ``cell`` (n,) occurs under each draw."""
    for draw in range(weights.shape[0]):
        for i in range(cell.size):
            counts[draw, cell[i]] += weights[draw, i]


@compiled(void(float64[:, :, ::1], float64[::1], float64[:, ::1]))
def statistics_loop(counts: np.ndarray, scale: np.ndarray, found: np.ndarray) -> None:
    """Write Pearson, Spearman, MAE and RMSE of each of ``counts`` (draws, k, k) to ``found``
    (draws, 4); correlations are NaN where a side is constant."""
    k = scale.size
    sizes = np.empty((2, k))  # how often each value occurs, by side
    place = np.empty((2, k))  # its distance from the mean: of values, then of midranks
    for draw in range(counts.shape[0]):
        sizes[:] = 0.0
        absolute = squared = 0.0
        for i in range(k):
            for j in range(k):
                count = counts[draw, i, j]
                sizes[0, i] += count
                sizes[1, j] += count
                gap = scale[i] - scale[j]
                absolute += count * abs(gap)
                squared += count * gap * gap
        total = sizes[0].sum()
        found[draw, 2] = absolute / total if total else np.nan
        found[draw, 3] = np.sqrt(squared / total) if total else np.nan
        there = min((sizes[0] > 0).sum(), (sizes[1] > 0).sum())
        for ranked in range(2):
            if there < 2:
                found[draw, ranked] = np.nan
                continue
            for side in range(2):
                mean = below = 0.0
                for i in range(k):
                    below += sizes[side, i]
                    place[side, i] = below - (sizes[side, i] - 1.0) / 2.0 if ranked else scale[i]
                    mean += sizes[side, i] * place[side, i]
                place[side] -= mean / total
            both = of_x = of_y = 0.0
            for i in range(k):
                of_x += sizes[0, i] * place[0, i] ** 2
                of_y += sizes[1, i] * place[1, i] ** 2
                for j in range(k):
                    both += counts[draw, i, j] * place[0, i] * place[1, j]
            found[draw, ranked] = both / np.sqrt(of_x * of_y)
