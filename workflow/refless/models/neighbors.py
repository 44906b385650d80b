"""BLEU Neighbors: a text's quality is the mean rating of its nearest rated neighbors.

Stage: prediction. In: a kernel and the quality of the training examples. Out: for each candidate
the mean quality of its neighbors and their number; whether that number is enough evidence
(thresholds a and b) is decided afterwards, so that a sweep over a and b costs nothing.

Source: Ethayarajh & Sadigh (2020), definitions 3.1 to 3.3, equation 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from refless.errors import SettingError

Array = np.ndarray


def neighbor_means(
    matrix: Array,
    quality: Array,
    tau: float,
    *,
    leave_one_out: bool = False,
    most: float = 1.0,
) -> tuple[Array, Array]:
    """Mean quality and number of the neighbors ``{s : k(x, s) >= tau}`` of each candidate.

    Parameters
    ----------
    matrix : kernel, shape (candidates, training)
    quality : of the training examples, shape (training,)
    tau : similarity threshold; a tie counts as a neighbor
    leave_one_out : candidates are the training examples themselves, and each leaves out its own
        row. The row, not its value: an equal text elsewhere stays a neighbor.
    most : the ``quality`` that counts as 1. With whole numbers for ``quality``, sums are exact
        and the mean is rounded once.

    Returns
    -------
    means : shape (candidates,), NaN without a neighbor. Summed as by `numpy.mean` over the
        neighbors in their order: where estimates tie but for rounding noise, as in table 3 of the
        paper, the published ranks hang on that order.
    counts : shape (candidates,), int64
    """
    near = matrix >= tau
    if leave_one_out:
        if near.shape[0] != near.shape[1]:
            raise SettingError(f"leave-one-out needs a square kernel, not {near.shape}")
        np.fill_diagonal(near, False)
    counts = near.sum(axis=1).astype(np.int64)
    means = np.full(len(near), np.nan)
    for row in np.flatnonzero(counts):
        means[row] = np.sum(quality[near[row]]) / (counts[row] * most)
    return means, counts


def means_of_sums(sums: Array, counts: Array, most: float = 1.0) -> Array:
    """Mean quality of the neighbors from sum and number, NaN without any; ``most`` as above."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(counts > 0, sums / (np.maximum(counts, 1) * most), np.nan))


def most_neighbors(max_share: float, training: int) -> int:
    """The largest number of neighbors that ``|N| <= b |S|`` admits.

    A hair above the product, so that b = 0.29 of 100 examples is 29 and not 28.
    """
    return math.floor(max_share * training + 1e-9)


def enough_evidence(
    means: Array, counts: Array, training: int, min_neighbors: int, max_share: float
) -> Array:
    """The predictions: ``means`` where ``a <= |N| <= b |S|``, NaN elsewhere (equation 3)."""
    check_settings(min_neighbors=min_neighbors, max_share=max_share)
    inside = (counts >= min_neighbors) & (counts <= most_neighbors(max_share, training))
    return np.where(inside, means, np.nan)


def check_settings(*, tau: float = 1.0, min_neighbors: int = 1, max_share: float = 1.0) -> None:
    """Raise SettingError for a threshold that makes no sense."""
    if not (math.isfinite(tau) and tau > 0):
        raise SettingError(f"tau is {tau}; it must be a positive number")
    if not (float(min_neighbors).is_integer() and min_neighbors >= 1):
        raise SettingError(f"min_neighbors is {min_neighbors}; it must be a whole number from 1")
    if not 0 <= max_share <= 1:
        raise SettingError(f"max_share is {max_share}; it must lie in [0, 1]")


def _no_bare_string(texts: Sequence[str]) -> None:
    if isinstance(texts, str):
        raise SettingError(
            "texts is one string, which would be read letter by letter",
            remedy="give a list of texts",
        )


class NeighborsRegressor:
    """Predict quality as the mean rating of the nearest rated neighbors.

    Parameters
    ----------
    kernel : name of a kernel, e.g. ``bleu.char`` (see `refless.kernels`)
    tau : similarity from which on a training example is a neighbor
    min_neighbors : a, the fewest neighbors that carry a prediction
    max_share : b, the largest share of the training examples that may be neighbors
    options : handed to the kernel

    The kernel is walked in blocks and never held whole: memory grows with candidates plus
    training examples.

    Source: Ethayarajh & Sadigh (2020), equation 3; defaults from section 4.
    """

    def __init__(
        self,
        kernel: str = "bleu.char",
        tau: float = 0.08,
        min_neighbors: int = 5,
        max_share: float = 0.66,
        **options: Any,
    ) -> None:
        check_settings(tau=tau, min_neighbors=min_neighbors, max_share=max_share)
        self.kernel = kernel
        self.tau = tau
        self.min_neighbors = min_neighbors
        self.max_share = max_share
        self.options = options

    def fit(self, texts: Sequence[str], quality: Sequence[float] | Array) -> NeighborsRegressor:
        """Remember the training examples.

        Raises
        ------
        SettingError : lengths differ, there is no example, or a quality is not a finite number.
        """
        # a copy: the caller may change theirs, and a column of a table is read-only
        _no_bare_string(texts)
        values = np.array(quality, dtype=np.float64)
        if values.ndim != 1:
            raise SettingError(f"quality must be one number a text, not {values.ndim}-dimensional")
        if len(texts) != len(values):
            raise SettingError(f"{len(texts)} texts but {len(values)} qualities")
        if len(texts) == 0:
            raise SettingError("there is no training example")
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise SettingError(f"the quality of training example {row} is {values[row]}")
        self.texts_ = list(texts)
        self.quality_ = values
        return self

    def predict(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Array:
        """Estimated quality, shape (len(texts),); NaN where the evidence does not suffice.

        The number of neighbors stays in ``neighbors_``, shape (len(texts),).
        """
        _no_bare_string(texts)
        return self._predict(list(texts), None, len(self._fitted()), progress)

    def leave_one_out(self, progress: Callable[[int], None] | None = None) -> Array:
        """Predict each training example from all the others (its own row left out)."""
        texts = self._fitted()
        return self._predict(texts, np.arange(len(texts)), len(texts) - 1, progress)

    def _fitted(self) -> list[str]:
        if not hasattr(self, "texts_"):
            raise SettingError("the model has no training examples yet", remedy="call fit first")
        return self.texts_

    def _predict(
        self,
        texts: list[str],
        exclude: Array | None,
        training: int,
        progress: Callable[[int], None] | None,
    ) -> Array:
        from refless.kernels import neighbor_sums

        counts, sums = neighbor_sums(
            self.kernel,
            texts,
            self.texts_,
            self.quality_,
            [self.tau],
            exclude=exclude,
            progress=progress,
            **self.options,
        )
        self.neighbors_ = counts[:, 0]
        means = means_of_sums(sums[:, 0], self.neighbors_)
        return enough_evidence(means, self.neighbors_, training, self.min_neighbors, self.max_share)
