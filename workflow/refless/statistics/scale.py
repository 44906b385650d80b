"""Statistics of ratings on a scale of few values, from counts of the pairs of values.

Stage: cell. In: predictions and truth on one scale, and weights of a bootstrap. Out: Pearson,
Spearman, MAE and RMSE of each draw. All draws come out of small tables of counts.
"""

from __future__ import annotations

import numpy as np

from refless.errors import SettingError
from refless.statistics.correlation import weighted_mean, weighted_pearson, weighted_spearman

Array = np.ndarray


def scale_counts(prediction: Array, truth: Array, scale: Array, weights: Array) -> Array:
    """How often each pair of values of a scale occurs, under each row of weights.

    Parameters
    ----------
    prediction, truth : shape (n,), values of ``scale``
    scale : the values there are, ascending, shape (k,)
    weights : whole numbers, shape (draws, n)

    Returns
    -------
    shape (draws, k, k), float64: predictions down, truth across

    Raises
    ------
    SettingError : a value that is not on the scale.
    """
    from scipy.sparse import csr_array

    k, n = len(scale), len(truth)
    down, across = (np.searchsorted(scale, one).clip(max=k - 1) for one in (prediction, truth))
    if (scale[down] != prediction).any() or (scale[across] != truth).any():
        raise SettingError(f"there are values other than {', '.join(map(str, scale.tolist()))}")
    cells = csr_array((np.ones(n), (down * k + across, np.arange(n))), (k * k, n))
    return np.asarray(cells @ np.transpose(weights)).T.reshape(-1, k, k)


def scale_statistics(counts: Array, scale: Array) -> dict[str, Array]:
    """Pearson, Spearman (midranks), MAE and RMSE from `scale_counts`, shape (draws,) each.

    Correlations are NaN where a side is constant.
    """
    # a pair of values is a candidate that is there as often as it was counted
    weights = np.ascontiguousarray(counts.reshape(len(counts), -1))
    x, y = np.repeat(scale, len(scale)), np.tile(scale, len(scale))
    return {
        "pearson": weighted_pearson(x[None], y[None], weights),
        "spearman": weighted_spearman(x, y, weights),
        "mae": weighted_mean(np.abs(x - y), weights),
        "rmse": np.sqrt(weighted_mean((x - y) ** 2, weights)),
    }
