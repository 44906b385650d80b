"""Sums over units, compiled. Stage: cell (helper of ``delta_bleu``).

In: one row of statistics a context, and which contexts make up which unit. Out: a row a unit.
"""

from __future__ import annotations

import numpy as np

from refless.kernels._compiled import compiled


@compiled("void(float64[:, ::1], int32[:, :, ::1], float64[:, :, ::1])")
def add_rows(rows: np.ndarray, units: np.ndarray, out: np.ndarray) -> None:
    """Write ``out[a, u]``, the sum of the rows ``units[a, u]``, in their order."""
    for a in range(units.shape[0]):
        for u in range(units.shape[1]):
            out[a, u, :] = 0.0
            for k in range(units.shape[2]):
                row = units[a, u, k]
                for column in range(rows.shape[1]):
                    out[a, u, column] += rows[row, column]


def sum_units(rows: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Sums of rows (contexts, columns) over units (assignments, units, M): (..., columns)."""
    out = np.empty((*units.shape[:2], rows.shape[1]))
    add_rows(np.ascontiguousarray(rows, np.float64), units, out)
    return out
