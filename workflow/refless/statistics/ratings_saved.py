"""What predictions are worth in ratings. Stage: cell. In: Pearson's r. Out: a share of ratings."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def ratings_saved(pearson: Array | float) -> Array:
    """The share of ratings that predictions save: with it fewer ratings, the interval of the mean
    quality of very many texts is as long as without predictions. In [0, 1]; NaN where r is.

    The mean is estimated from n ratings y and predictions f of all texts, as  mean(y) + t (mean of
    f over all - mean of f over the n).  At the best t its variance is  var(y) (1 - r^2) / n.

    ``pearson`` is the correlation of quality and prediction, any shape; below 0 it saves nothing.

    Source: Angelopoulos, Duchi & Zrnic (2023), "PPI++: Efficient prediction-powered inference",
    example 1 and section 6.
    """
    return np.maximum(np.asarray(pearson, np.float64), 0.0) ** 2
