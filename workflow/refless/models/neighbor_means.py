"""BLEU Neighbors: mean ratings of neighbors, and whether they are enough evidence.

Stage: prediction. In: a kernel and the quality of the training texts. Out: for each candidate
the mean quality of its neighbors and their number, and the prediction. Source: Ethayarajh & Sadigh
(2020), definitions 3.1 to 3.3, equation 3. `refless.models.neighbors` has the estimator.
"""

import numpy as np

Array = np.ndarray


def neighbor_means(
    matrix: Array,
    quality: Array,
    tau: float,
    *,
    leave_one_out: bool = False,
    in_order: bool = False,
) -> tuple[Array, Array]:
    """Mean quality and number of the neighbors ``{s : k(x, s) >= tau}`` of each candidate.

    matrix : kernel, shape (candidates, training)
    quality : of the training texts, shape (training,)
    leave_one_out : candidates are the training texts, and each leaves out its own row. The row,
        not its value: an equal text elsewhere stays a neighbor.
    in_order : ratings are added one after the other, as by `refless.kernels.neighbor_sums`, and not
        as by `numpy.mean`, whose rounding breaks ties in tables 1 and 3 of the paper
    Returns means : shape (candidates,), NaN without a neighbor
    counts : shape (candidates,), int64

    >>> neighbor_means(np.array([[0.9, 0.2, 0.4], [0.1, 0.0, 0.2]]), np.array([1.0, 0.5, 0.0]), 0.3)
    (array([0.5, nan]), array([2, 0]))
    """
    neighbors = matrix >= tau
    if leave_one_out:
        np.fill_diagonal(neighbors, False)
    counts = neighbors.sum(axis=1).astype(np.int64)
    means = np.full(len(neighbors), np.nan)
    for row in np.flatnonzero(counts):
        of_row = quality[neighbors[row]]
        means[row] = np.cumsum(of_row)[-1] / len(of_row) if in_order else np.mean(of_row)
    return means, counts


def means_of_sums(sums: Array, counts: Array) -> Array:
    """Mean quality of the neighbors from sum and number, NaN without any.

    >>> means_of_sums(np.array([1.5, 0.0]), np.array([2, 0]))
    array([0.75,  nan])
    """
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def apply_thresholds(
    means: Array, counts: Array, training: int | Array, min_neighbors: int, max_share: float
) -> Array:
    """The predictions: ``means`` where ``a <= |N| <= b |S|``, NaN elsewhere (equation 3);
    ``training``, |S|, is one number, or one for each row.

    >>> apply_thresholds(np.array([0.5, 0.5, 0.5]), np.array([4, 5, 70]), 100, 5, 0.66)
    array([nan, 0.5, nan])
    """
    # a hair above the product, so that b = 0.29 of 100 examples is 29 and not 28
    most = max_share * training + 1e-9
    return np.where((counts >= min_neighbors) & (counts <= most), means, np.nan)
