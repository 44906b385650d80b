"""Statistics of ratings on a scale of few values, from counts of the pairs of values.

Stage: cell. In: predictions and truth on one scale, and weights of a bootstrap. Out: Pearson,
Spearman, MAE and RMSE of each draw.
"""

from __future__ import annotations

import numpy as np

from refless.errors import SettingError
from refless.statistics.correlation import midranks_of_sizes

Array = np.ndarray


def scale_counts(prediction: Array, truth: Array, scale: Array, weights: Array) -> Array:
    """How often each pair of values of a scale occurs, under each row of weights.

    Parameters
    ----------
    prediction, truth : shape (n,), values of ``scale``
    scale : the values there are, ascending, shape (k,)
    weights : shape (draws, n)

    Returns
    -------
    shape (draws, k, k), float64: predictions down, truth across

    Raises
    ------
    SettingError : a value that is not on the scale.
    """
    k = len(scale)
    rows, columns = (
        np.searchsorted(scale, values).clip(max=k - 1) for values in (prediction, truth)
    )
    if (scale[rows] != prediction).any() or (scale[columns] != truth).any():
        raise SettingError(f"there are values other than {', '.join(map(str, scale.tolist()))}")
    cells = np.zeros((len(truth), k * k))
    cells[np.arange(len(truth)), rows * k + columns] = 1
    return (weights.astype(np.float64) @ cells).reshape(-1, k, k)


def scale_statistics(counts: Array, scale: Array) -> dict[str, Array]:
    """Pearson, Spearman (midranks), MAE and RMSE from `scale_counts`, shape (draws,) each.

    The same as from the pairs themselves; with ratings on a scale of few values, all draws of a
    bootstrap come out of one product of matrices. Correlations are NaN where a side is constant.
    """
    ranks = [midranks_of_sizes(counts.sum(axis=axis)) for axis in (2, 1)]
    values = [np.broadcast_to(scale, ranks[0].shape)] * 2
    gap = np.abs(scale[:, None] - scale[None, :])
    total = counts.sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "pearson": _counted_correlation(counts, *values),
            "spearman": _counted_correlation(counts, *ranks),
            "mae": (counts * gap).sum(axis=(1, 2)) / total,
            "rmse": np.sqrt((counts * gap**2).sum(axis=(1, 2)) / total),
        }


def _counted_correlation(counts: Array, x: Array, y: Array) -> Array:
    """Correlation of row values x and column values y, shape (draws, k), as often as counted."""
    total = counts.sum(axis=(1, 2))
    over_x, over_y = counts.sum(axis=2), counts.sum(axis=1)
    dx = x - ((over_x * x).sum(axis=1) / total)[:, None]
    dy = y - ((over_y * y).sum(axis=1) / total)[:, None]
    both = np.einsum("dij,di,dj->d", counts, dx, dy, optimize=True)
    r = both / np.sqrt((over_x * dx**2).sum(axis=1) * (over_y * dy**2).sum(axis=1))
    r[((over_x > 0).sum(axis=1) < 2) | ((over_y > 0).sum(axis=1) < 2)] = np.nan
    return np.asarray(r)
