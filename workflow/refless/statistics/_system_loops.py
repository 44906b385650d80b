"""The part of a rank correlation that lies between systems, in a compiled loop.

Stage: cell (helper). In: arrays of numbers. Out: two numbers a draw of the bootstrap. Apart from
`systems`, so that who does without does not wait for the compiler's import.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from refless.kernels._compiled import compiled
from refless.statistics._rank_loops import WEIGHTS


@compiled(
    void(
        *(int64[::1], int64[::1], int64[::1]),
        *(int64[::1], int64[::1], float64[::1], int64),
        *(WEIGHTS, float64[::1], float64[::1]),
    )
)
def between_loop(
    x_group: np.ndarray,
    y_group: np.ndarray,
    column: np.ndarray,
    member: np.ndarray,
    system: np.ndarray,
    part: np.ndarray,
    systems: int,
    weights: np.ndarray,
    between: np.ndarray,
    rho: np.ndarray,
) -> None:
    """Write Spearman's rho, and the part of it that lies between systems, under each draw.

    ``x_group``, ``y_group``, ``column``, ``weights`` as in `spearman_loop`. Membership k says that
    pair ``member[k]`` belongs to ``system[k]`` (below ``systems``) with the share ``part[k]``; the
    shares of a pair sum to 1. NaN where a side is constant.
    """
    n = column.size
    x_rank, y_rank = np.empty(n), np.empty(n)
    number, x_sum, y_sum = np.empty(systems), np.empty(systems), np.empty(systems)
    for draw in range(weights.shape[0]):
        x_rank[:] = 0.0
        y_rank[:] = 0.0
        total = 0.0
        for i in range(n):
            weight = float(weights[draw, column[i]])
            x_rank[x_group[i]] += weight
            y_rank[y_group[i]] += weight
            total += weight
        middle = (total + 1.0) / 2.0
        below_x = below_y = spread_x = spread_y = 0.0
        for group in range(n):
            # sizes become midranks, from their middle
            size = x_rank[group]
            x_rank[group] = below_x + (size + 1.0) / 2.0 - middle
            spread_x += size * x_rank[group] ** 2
            below_x += size
            size = y_rank[group]
            y_rank[group] = below_y + (size + 1.0) / 2.0 - middle
            spread_y += size * y_rank[group] ** 2
            below_y += size
        if spread_x <= 0.0 or spread_y <= 0.0:
            between[draw] = np.nan
            rho[draw] = np.nan
            continue
        shared = 0.0
        for i in range(n):
            weight = float(weights[draw, column[i]])
            shared += weight * x_rank[x_group[i]] * y_rank[y_group[i]]
        number[:] = 0.0
        x_sum[:] = 0.0
        y_sum[:] = 0.0
        for k in range(member.size):
            i = member[k]
            weight = part[k] * weights[draw, column[i]]
            number[system[k]] += weight
            x_sum[system[k]] += weight * x_rank[x_group[i]]
            y_sum[system[k]] += weight * y_rank[y_group[i]]
        apart = 0.0
        for s in range(systems):
            if number[s] > 0.0:
                apart += x_sum[s] * y_sum[s] / number[s]
        scale = np.sqrt(spread_x * spread_y)
        between[draw] = apart / scale
        rho[draw] = shared / scale
