"""What predictions are worth in ratings: prediction-powered inference with power tuning.

Stage: cell. In: ratings, predictions of the same texts, and how many texts are only predicted. Out:
the tuning, and the share of the ratings that the predictions save.

The mean quality of many texts is estimated from n ratings y, the predictions f of the same n texts
and the predictions of N more,

    mean = mean(y) + t (mean of f over the N - mean of f over the n)

with variance  var(y - t f) / n + t^2 var(f) / N.  Least at  t = cov(y, f) / ((1 + n/N) var f),
that is  var(y) / n * (1 - r^2 / (1 + n/N)),  r Pearson's correlation of y and f: as small as with
n / (1 - r^2 / (1 + n/N))  ratings alone. Predictions that go against the ratings get t = 0.

Source: Angelopoulos, Duchi & Zrnic (2023), "PPI++: Efficient prediction-powered inference", example
1 and section 6; here t may be above 1, since scores have scales of their own.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def power_tuning(quality: Array, prediction: Array, predicted: float = np.inf) -> float:
    """The weight t of the predictions, from texts that have both, shape (n,) each.

    ``predicted`` is N, the number of texts that are only predicted. 0 where either side is
    constant or they go against each other.
    """
    spread = float(np.var(prediction))
    if spread == 0:
        return 0.0
    both = float(np.mean((quality - quality.mean()) * (prediction - prediction.mean())))
    return max(both / ((1 + len(quality) / predicted) * spread), 0.0)


def ratings_saved(pearson: Array | float, rated: float = 1, predicted: float = np.inf) -> Array:
    """The share of ratings that predictions save: with it fewer ratings, the interval of the mean
    is as long as without predictions. In [0, 1); NaN where Pearson's r is.

    Parameters
    ----------
    pearson : correlation of quality and prediction, any shape; below 0 it saves nothing
    rated, predicted : n ratings, and N texts that are only predicted; by default so many that
        their own chance does not matter
    """
    r = np.asarray(pearson, np.float64)
    return np.where(np.isnan(r), np.nan, np.maximum(r, 0.0) ** 2 / (1 + rated / predicted))
