"""BLEU Neighbors: a text's quality is the mean rating of its nearest rated neighbors.

Stage: prediction. In: a kernel and the quality of the training examples. Out: for each candidate
the mean quality of its neighbors and their number; whether that number is enough evidence
(thresholds a and b) is decided afterwards, so that a sweep over a and b costs nothing.

Source: Ethayarajh & Sadigh (2020), definitions 3.1 to 3.3, equation 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from refless.data.wording import numbered
from refless.errors import SettingError

Array = np.ndarray
Progress = Callable[[int], None]
TAUS = 32
"""Values of tau that ``auto`` chooses from."""
TRIED = 5000
"""Training examples on which it tries them, at most."""


def neighbor_means(
    matrix: Array,
    quality: Array,
    tau: float,
    *,
    leave_one_out: bool = False,
) -> tuple[Array, Array]:
    """Mean quality and number of the neighbors ``{s : k(x, s) >= tau}`` of each candidate.

    Parameters
    ----------
    matrix : kernel, shape (candidates, training)
    quality : of the training examples, shape (training,)
    tau : similarity threshold; a tie counts as a neighbor
    leave_one_out : candidates are the training examples themselves, and each leaves out its own
        row. The row, not its value: an equal text elsewhere stays a neighbor.

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
        means[row] = np.mean(quality[near[row]])
    return means, counts


def means_of_sums(sums: Array, counts: Array) -> Array:
    """Mean quality of the neighbors from sum and number, NaN without any."""
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


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
    for name, value, fits, what in (
        ("tau", tau, lambda v: 0 < v < math.inf, "a positive number, or 'auto'"),
        ("min_neighbors", min_neighbors, lambda v: v >= 1 and float(v).is_integer(), "1, 2, ..."),
        ("max_share", max_share, lambda v: 0 <= v <= 1, "a number in [0, 1]"),
    ):
        if not (isinstance(value, Real) and fits(value)):
            raise SettingError(f"{name} is {value!r}; it must be {what}")


def listed_texts(texts: Sequence[str]) -> list[str]:
    """Texts as a list, be they a column of a table or an array."""
    if isinstance(texts, str | Set) or getattr(texts, "ndim", 1) != 1:
        raise SettingError(
            f"texts is a {type(texts).__name__}, and no row of texts",
            remedy="give a list of texts, or one column: table['text']",
        )
    return list(texts)


def training_examples(
    texts: Sequence[str], quality: Sequence[float] | Array
) -> tuple[list[str], Array]:
    """Copies of texts and quality (float64), or SettingError unless each text has a finite one."""
    listed, values = listed_texts(texts), np.array(quality, np.float64)
    if not listed or values.shape != (len(listed),):
        raise SettingError(
            f"{len(listed)} texts with quality of shape {values.shape}: give one each"
        )
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise SettingError(f"the quality of text {row} (from 0) is {values[row]}")
    return listed, values


class NeighborsRegressor(RegressorMixin, BaseEstimator):
    """Predict quality as the mean rating of the nearest rated neighbors.

    A scikit-learn estimator, whose X is a row of texts. The kernel is never held whole: memory
    grows with candidates plus training examples.

    Parameters
    ----------
    kernel : name of a kernel, e.g. ``bleu.char`` (see `refless.kernels`)
    tau : similarity from which on a training example is a neighbor; or ``"auto"``: chosen by `fit`
        among the training examples alone. ``tau_`` is the one that is used
    min_neighbors : a, the fewest neighbors that carry a prediction
    max_share : b, the largest share of the training examples that may be neighbors
    threads : None for as many as the process may use
    options : of the kernel, by name

    Source: Ethayarajh & Sadigh (2020), equation 3; defaults from section 4.
    """

    def __init__(
        self,
        kernel: str = "bleu.char",
        tau: float | str = 0.08,
        min_neighbors: int = 5,
        max_share: float = 0.66,
        threads: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.tau = tau
        self.min_neighbors = min_neighbors
        self.max_share = max_share
        self.threads = threads
        self.options = options

    def fit(
        self,
        texts: Sequence[str],
        quality: Sequence[float] | Array,
        progress: Progress | None = None,
    ) -> NeighborsRegressor:
        """Index the training examples, and choose tau if it is to be chosen.

        ``progress`` is called with the number of examples tried, where tau is chosen.

        Raises
        ------
        SettingError : a setting makes no sense; lengths differ, there is no example, or a quality
            is not a finite number; no tau gives any example enough neighbors.
        KernelError : unknown kernel or option, or a missing resource.
        """
        from refless.kernels import entry, indexed

        tau: Any = 1.0 if self.tau == "auto" else self.tau
        check_settings(tau=tau, min_neighbors=self.min_neighbors, max_share=self.max_share)
        if tau > (most := entry(self.kernel).highest):
            raise SettingError(
                f"tau is {tau}, but no value of {self.kernel} is above {most:g}",
                remedy="give a smaller one, or let it be chosen: auto",
            )
        self.texts_, self.quality_ = training_examples(texts, quality)
        self.index_ = indexed(self.kernel, self.texts_, **dict(self.options or {}))
        self.kernel_ = self.kernel, dict(self.options or {})
        self.tau_ = self._chosen_tau(progress) if self.tau == "auto" else float(tau)
        return self

    def predict(self, texts: Sequence[str], progress: Progress | None = None) -> Array:
        """Estimated quality, shape (len(texts),); NaN where the evidence does not suffice.

        ``neighbors_`` is then the number of neighbors of each text.
        """
        return self._predict(listed_texts(texts), None, progress)

    def leave_one_out(self, progress: Progress | None = None) -> Array:
        """Predict each training example from all the others (its own row left out).

        With ``tau="auto"``, tau was chosen among all of them.
        """
        return self._predict(self.training_texts(), np.arange(len(self.texts_)), progress)

    def score(self, texts: Sequence[str], quality: Sequence[float] | Array) -> float:
        """R squared over all candidates.

        Where the evidence does not suffice the mean quality of the training examples counts as
        the prediction, so that predicting little gains nothing.
        """
        from sklearn.metrics import r2_score

        found = self.predict(texts)
        return float(r2_score(quality, np.where(np.isnan(found), self.quality_.mean(), found)))

    def nearest(
        self,
        texts: Sequence[str] | None = None,
        number: int = 5,
        progress: Progress | None = None,
    ) -> tuple[Array, Array]:
        """The most similar training examples of each candidate, whether neighbors or not.

        Parameters
        ----------
        texts : candidates; None for the training examples themselves, each left out in turn

        Returns
        -------
        rows, similarity : shape (candidates, number), most similar first; rows of the training
            examples, -1 where there are fewer
        """
        from refless.kernels import nearest

        own = self.training_texts() if texts is None else listed_texts(texts)
        exclude = np.arange(len(own)) if texts is None else None
        return nearest(
            *(self.kernel, own, self.index_, number),
            exclude=exclude,
            threads=self.threads,
            progress=progress,
        )

    def training_texts(self) -> list[str]:
        """The training texts of a fitted model whose kernel is still the one it was fitted with."""
        check_is_fitted(self)
        if self.kernel_ != (self.kernel, dict(self.options or {})):
            raise SettingError("the kernel was set after fit", remedy="call fit again")
        return self.texts_

    def _predict(self, texts: list[str], exclude: Array | None, progress: Progress | None) -> Array:
        from refless.kernels import neighbor_sums

        training = len(self.training_texts()) - (exclude is not None)
        counts, sums = neighbor_sums(
            *(self.kernel, texts, self.index_, self.quality_, [self.tau_]),
            exclude=exclude,
            threads=self.threads,
            progress=progress,
        )
        self.neighbors_ = counts[:, 0]
        means = means_of_sums(sums[:, 0], self.neighbors_)
        evidence = self.min_neighbors, self.max_share
        return enough_evidence(means, self.neighbors_, training, *evidence)

    def _chosen_tau(self, progress: Progress | None) -> float:
        """The tau of the least squared error on the training examples, each left out in turn.

        Where the evidence does not suffice the mean quality counts as the prediction, so that a
        tau gains nothing by predicting little. There are `TAUS` to choose from: the kernel's
        values that pairs of training examples exceed with shares spread evenly, by ratio, from
        that of a up to b. Of many examples `TRIED`, evenly spaced, are left out.
        """
        from refless import kernels

        # equal texts would be each other's neighbors, so they count once
        group = numbered(self.texts_)
        texts = [self.texts_[row] for row in np.unique(group, return_index=True)[1]]
        quality = np.bincount(group, self.quality_) / np.bincount(group)
        n, few, most = len(texts), self.min_neighbors, self.max_share
        index = self.index_
        if n < len(self.texts_):
            index = kernels.indexed(self.kernel, texts, **dict(self.options or {}))
        some = _spaced(n, max(1, min(200, 4_000_000 // n)))
        asked = [texts[row] for row in some]
        values = kernels.kernel(self.kernel, asked, index, threads=self.threads)
        values[np.arange(len(some)), some] = 0  # itself
        shares = np.geomspace(min(few, n) / n, max(most, 1 / n), TAUS)
        taus = np.unique(np.quantile(values, np.clip(1 - shares, 0, 1), method="higher"))
        taus = taus[taus > 0]
        rows = _spaced(n, TRIED)
        counts, sums = kernels.neighbor_sums(
            *(self.kernel, [texts[row] for row in rows], index, quality, taus),
            exclude=rows,
            threads=self.threads,
            progress=progress,
        )
        found = enough_evidence(means_of_sums(sums, counts), counts, n - 1, few, most)
        others = (quality.sum() - quality[rows]) / max(n - 1, 1)
        predicted = np.where(np.isnan(found), others[:, None], found)
        errors = np.mean((predicted - quality[rows, None]) ** 2, axis=0)
        errors[np.isnan(found).all(axis=0)] = np.inf
        if not np.isfinite(errors).any():
            raise SettingError(
                f"no tau gives any of the {n} training texts {few} neighbors, and no more than"
                f" {most:g} of them",
                remedy="rate more texts; or ask for fewer neighbors (--min-neighbors), and let more"
                " of the texts be neighbors (--max-share)",
            )
        return float(taus[np.argmin(errors)])


def _spaced(n: int, most: int) -> Array:
    """At most so many of 0 to n - 1, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
