"""How well ratings in half points agree, on many draws at once.

Stage: cell (RNN-QE). In: ratings on the scale, weights of a bootstrap. Out: statistics.
"""

import numpy as np
from scipy.sparse import csr_array

from refless.models.rnn_qe.scale import HIGHEST, LOWEST
from refless.statistics.correlation import NOISE, weighted_mean, weighted_spearman

Array = np.ndarray

SCALE = np.arange(LOWEST, HIGHEST + 0.25, 0.5)
"""All ratings in half points."""


def scale_statistics(prediction: Array, truth: Array, weights: Array) -> dict[str, Array]:
    """Pearson, Spearman, MAE and RMSE, shape (draws,) each, of ratings (n,) of `SCALE`, under
    ``weights``, whole numbers (draws, n).

    >>> truth = np.array([1.0, 3.0, 6.0])
    >>> scale_statistics(truth, truth, np.ones((1, 3)))["pearson"]
    array([1.])
    """
    k = len(SCALE)
    n = len(truth)
    pair = np.searchsorted(SCALE, prediction) * k + np.searchsorted(SCALE, truth)
    cells = csr_array((np.ones(n, np.int64), (pair, np.arange(n))), (k * k, n))
    # a pair of values is a candidate that is there as often as it was counted
    counts = np.ascontiguousarray((cells @ weights.T).T)
    x = np.repeat(SCALE, k)
    y = np.tile(SCALE, k)
    return {
        "pearson": weighted_pearson(x, y, counts),
        "spearman": weighted_spearman(x, y, counts),
        "mae": weighted_mean(np.abs(x - y), counts),
        "rmse": np.sqrt(weighted_mean((x - y) ** 2, counts)),
    }


def weighted_pearson(x: Array, y: Array, weights: Array) -> Array:
    """Pearson's r of ``x`` and ``y`` (n,) under each row of ``weights`` (draws, n).

    >>> weighted_pearson(np.array([1.0, 2, 4]), np.array([3.0, 2, 0]), np.array([[1, 1, 1]]))
    array([-1.])
    """
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        dx = x - (weights * x).sum(axis=1, keepdims=True) / total
        dy = y - (weights * y).sum(axis=1, keepdims=True) / total
        xx = (weights * dx * dx).sum(axis=1)
        yy = (weights * dy * dy).sum(axis=1)
        r = (weights * dx * dy).sum(axis=1) / np.sqrt(xx * yy)
    # beside the size of the numbers themselves, a spread this small is rounding
    still = xx <= NOISE**2 * (weights * x * x).sum(axis=1)
    still |= yy <= NOISE**2 * (weights * y * y).sum(axis=1)
    return np.where(still, np.nan, r)
