"""Statistics of ratings on a scale of few values, from counts of the pairs of values.

Stage: cell. In: predictions and truth on one scale, and weights of a bootstrap. Out: Pearson,
Spearman, MAE and RMSE of each draw.
"""

from __future__ import annotations

import numpy as np

from refless.errors import SettingError
from refless.statistics.correlation import as_weights

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
    from refless.statistics._scale_loops import count_loop

    k = len(scale)
    rows, columns = (
        np.searchsorted(scale, values).clip(max=k - 1) for values in (prediction, truth)
    )
    if (scale[rows] != prediction).any() or (scale[columns] != truth).any():
        raise SettingError(f"there are values other than {', '.join(map(str, scale.tolist()))}")
    counts = np.zeros((len(weights), k * k))
    count_loop(rows * k + columns, as_weights(weights), counts)
    return counts.reshape(-1, k, k)


def scale_statistics(counts: Array, scale: Array) -> dict[str, Array]:
    """Pearson, Spearman (midranks), MAE and RMSE from `scale_counts`, shape (draws,) each.

    The same as from the pairs themselves; with ratings on a scale of few values, all draws of a
    bootstrap come out of small tables of counts. Correlations are NaN where a side is constant.
    """
    from refless.statistics._scale_loops import statistics_loop

    found = np.empty((len(counts), 4))
    statistics_loop(np.ascontiguousarray(counts), np.asarray(scale, np.float64), found)
    return dict(zip(("pearson", "spearman", "mae", "rmse"), found.T, strict=True))
