"""Sums over units, compiled. Stage: cell (helper of ``delta_bleu``).

In: one row of statistics a context, and which contexts make up which unit. Out: sums by column.
"""

from __future__ import annotations

import numpy as np

from refless.kernels._compiled import compiled

BLOCK = 8
"""Columns that are summed together, in registers: of a thousand contexts, 64 KB."""


@compiled("void(float64[:, :, ::1], int32[:, :, ::1], float64[:, :, ::1])")
def add_rows(rows: np.ndarray, units: np.ndarray, out: np.ndarray) -> None:
    """Write ``out[column, a, u]``, the sum over the contexts ``units[a, u]``, in their order.

    ``rows`` (blocks, contexts, `BLOCK`) has the columns of all blocks, the last one filled up;
    so has ``out``. The sums are named one by one, since an array would stay in memory.
    """
    for block in range(rows.shape[0]):
        first = block * BLOCK
        for a in range(units.shape[0]):
            for u in range(units.shape[1]):
                s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
                for k in range(units.shape[2]):
                    row = np.uint32(units[a, u, k])
                    s0 += rows[block, row, 0]
                    s1 += rows[block, row, 1]
                    s2 += rows[block, row, 2]
                    s3 += rows[block, row, 3]
                    s4 += rows[block, row, 4]
                    s5 += rows[block, row, 5]
                    s6 += rows[block, row, 6]
                    s7 += rows[block, row, 7]
                out[first, a, u] = s0
                out[first + 1, a, u] = s1
                out[first + 2, a, u] = s2
                out[first + 3, a, u] = s3
                out[first + 4, a, u] = s4
                out[first + 5, a, u] = s5
                out[first + 6, a, u] = s6
                out[first + 7, a, u] = s7


def in_blocks(columns: np.ndarray) -> np.ndarray:
    """Columns (columns, contexts) in the form that `add_rows` takes."""
    blocks = -(-len(columns) // BLOCK)
    filled = np.zeros((blocks * BLOCK, columns.shape[1]))
    filled[: len(columns)] = columns
    return np.ascontiguousarray(filled.reshape(blocks, BLOCK, -1).transpose(0, 2, 1))


def sum_units(columns: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Sums of columns (columns, contexts) over units (assignments, units, M): (columns, ...)."""
    rows = in_blocks(columns)
    out = np.empty((len(rows) * BLOCK, *units.shape[:2]))
    add_rows(rows, units, out)
    return out[: len(columns)]
