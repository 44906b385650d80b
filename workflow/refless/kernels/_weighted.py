"""BLEU* with a weight for every n-gram, read off the index of `_ngrams`.

Stage: kernels (helper of ``bleu_idf``). In: n-grams as units, their weights, an index from units
to training texts. Out: the values of candidates against a block of training texts.
"""

from __future__ import annotations

import math

import numpy as np

from refless.kernels._compiled import compiled


@compiled(
    "void(int32[::1], int64[::1], int64[::1], float64[::1], float64[:, ::1], int32[:, ::1],"
    " uint16[::1], uint8[:, ::1], int64[::1], float64[:, ::1], int64, int64, float64[:, ::1],"
    " int64)"
)
def fill_weighted(
    units: np.ndarray,
    bounds: np.ndarray,
    lengths: np.ndarray,
    weights: np.ndarray,
    totals: np.ndarray,
    where: np.ndarray,
    posts: np.ndarray,
    rows: np.ndarray,
    training_lengths: np.ndarray,
    shared: np.ndarray,
    first: int,
    last: int,
    out: np.ndarray,
    column: int,
) -> None:
    """Values of candidates ``first`` to ``last - 1`` against one block of training texts.

    Parameters
    ----------
    units, bounds : of the candidates, as by `_ngrams.Numbers.look_up`, renumbered
    lengths : of the candidates; training_lengths : of the block's texts
    weights : of each unit, float64 (units,)
    totals : weight of all n-grams of a candidate, float64 (candidates, 3), by order
    where, posts, rows : of a block and `_ngrams.in_block`
    shared : room for (3, texts of the block) numbers
    out : values go to ``out[candidate - first, column + text]``

    The weights of a pair are added in the order of the candidate's n-grams, however the index
    keeps them, so a value does not depend on the block.
    """
    n = shared.shape[1]
    for candidate in range(first, last):
        row = candidate - first
        some = True
        for order in range(2, -1, -1):  # 4-grams first: where none is shared, the value is 0
            begin, end = bounds[3 * candidate + order], bounds[3 * candidate + order + 1]
            if begin == end or totals[candidate, order] <= 0.0:
                some = False
                break
            for text in range(n):
                shared[order, text] = 0.0
            for i in range(begin, end):
                weight = weights[units[i]]
                low, high = where[units[i], 0], where[units[i], 1]
                if low < 0:
                    has = rows[-1 - low]
                    for text in range(n):
                        shared[order, text] += weight * has[text]
                else:
                    for p in range(low, high):
                        shared[order, posts[p]] += weight
        for text in range(n):
            out[row, column + text] = 0.0
        if not some:
            continue
        for text in range(n):
            if shared[2, text] > 0.0 and shared[1, text] > 0.0 and shared[0, text] > 0.0:
                product = (
                    (shared[0, text] / totals[candidate, 0])
                    * (shared[1, text] / totals[candidate, 1])
                    * (shared[2, text] / totals[candidate, 2])
                )
                brevity = math.exp(min(0.0, 1.0 - training_lengths[text] / lengths[candidate]))
                out[row, column + text] = brevity * product ** (1.0 / 3.0)
