"""BLEU Neighbors as an estimator: a text's quality is the mean rating of its rated neighbors.

Stage: prediction. In: rated texts. Out: for each candidate a prediction, NaN without evidence.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from refless.data.text_ids import text_ids
from refless.errors import SettingError
from refless.kernels import entry, indexed, kernel, nearest, neighbor_sums
from refless.models.neighbor_means import apply_thresholds, means_of_sums

Array = np.ndarray
Progress = Callable[[int], None]
TAUS = 32
"""Values of tau that ``auto`` chooses from."""
TRIED = 5000
"""Training examples on which it tries them, at most."""


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
    ) -> "NeighborsRegressor":
        """Index the training examples, and choose tau if it is to be chosen.

        ``progress`` is called with the number of examples tried, where tau is chosen.

        Raises
        ------
        SettingError : a setting makes no sense; lengths differ, there is no example, or a quality
            is not a finite number; no tau gives any example enough neighbors.
        KernelError : unknown kernel or option, or a missing resource.
        """
        auto, most = self.tau == "auto", entry(self.kernel).highest
        if not (auto or (not isinstance(self.tau, str) and 0 < self.tau <= most)):
            raise SettingError(
                f"tau is {self.tau}; values of {self.kernel} go up to {most:g}",
                remedy="give a positive number that is no greater, or let it be chosen: auto",
            )
        if not (self.min_neighbors >= 1 and 0 <= self.max_share <= 1):
            raise SettingError(
                f"min_neighbors is {self.min_neighbors}, max_share {self.max_share}",
                remedy="give 1, 2, ... and a number in [0, 1]",
            )
        self.texts_, self.quality_ = list(texts), np.array(quality, np.float64)
        fits = self.texts_ and self.quality_.shape == (len(self.texts_),)
        if not fits or isinstance(texts, str) or not np.isfinite(self.quality_).all():
            raise SettingError(
                f"{len(self.texts_)} texts do not fit quality of shape {self.quality_.shape}",
                remedy="give a list of texts, and one finite number for each",
            )
        self.index_ = indexed(self.kernel, self.texts_, **dict(self.options or {}))
        self.tau_ = self._chosen_tau(progress) if auto else float(self.tau)
        return self

    def predict(self, texts: Sequence[str], progress: Progress | None = None) -> Array:
        """Estimated quality, shape (len(texts),); NaN where the evidence does not suffice.

        ``neighbors_`` is then the number of neighbors of each text.
        """
        check_is_fitted(self)
        return self._predict(list(texts), None, progress)

    def leave_one_out(self, progress: Progress | None = None) -> Array:
        """Predict each training example from all the others (its own row left out); with
        ``tau="auto"``, tau was chosen among all of them."""
        check_is_fitted(self)
        return self._predict(self.texts_, np.arange(len(self.texts_)), progress)

    def score(self, texts: Sequence[str], quality: Sequence[float] | Array) -> float:
        """R squared over all candidates. Where the evidence does not suffice, the mean quality of
        the training examples counts, so that predicting little gains nothing."""
        from sklearn.metrics import r2_score

        found = self.predict(texts)
        return float(r2_score(quality, np.where(np.isnan(found), self.quality_.mean(), found)))

    def nearest(self, texts: Sequence[str] | None = None, number: int = 5) -> tuple[Array, Array]:
        """The most similar training examples of each candidate, whether neighbors or not.

        Parameters
        ----------
        texts : candidates; None for the training examples themselves, each left out in turn

        Returns
        -------
        rows, similarity : shape (candidates, number), most similar first; rows of the training
            examples, -1 where there are fewer
        """
        check_is_fitted(self)
        own = self.texts_ if texts is None else list(texts)
        exclude = np.arange(len(own)) if texts is None else None
        told = self.kernel, own, self.index_, number
        return nearest(*told, exclude=exclude, threads=self.threads)

    def _predict(self, texts: list[str], exclude: Array | None, progress: Progress | None) -> Array:
        training = len(self.texts_) - (exclude is not None)
        told = self.kernel, texts, self.index_, self.quality_, [self.tau_]
        how: Any = {"exclude": exclude, "threads": self.threads, "progress": progress}
        counts, sums = (found[:, 0] for found in neighbor_sums(*told, **how))
        self.neighbors_ = counts
        means, evidence = means_of_sums(sums, counts), (self.min_neighbors, self.max_share)
        return apply_thresholds(means, counts, training, *evidence)

    def _chosen_tau(self, progress: Progress | None) -> float:
        """The tau of the least squared error on the training examples, each left out in turn.

        Where the evidence does not suffice the mean quality counts as the prediction, so that a
        tau gains nothing by predicting little. There are `TAUS` to choose from: the kernel's
        values that pairs of training examples exceed with shares spread evenly, by ratio, from
        that of a up to b. Of many examples `TRIED`, evenly spaced, are left out.
        """
        # equal texts would be each other's neighbors, so they count once
        group = text_ids(self.texts_)
        texts = [self.texts_[row] for row in np.unique(group, return_index=True)[1]]
        quality = np.bincount(group, self.quality_) / np.bincount(group)
        n, few, most = len(texts), self.min_neighbors, self.max_share
        index = self.index_
        if n < len(self.texts_):
            index = indexed(self.kernel, texts, **dict(self.options or {}))
        some = _spaced(n, max(1, min(200, 4_000_000 // n)))
        asked = [texts[row] for row in some]
        values = kernel(self.kernel, asked, index, threads=self.threads)
        values[np.arange(len(some)), some] = 0  # itself
        shares = np.geomspace(min(few, n) / n, max(most, 1 / n), TAUS)
        taus = np.unique(np.quantile(values, np.clip(1 - shares, 0, 1), method="higher"))
        taus = taus[taus > 0]
        rows = _spaced(n, TRIED)
        told = self.kernel, [texts[row] for row in rows], index, quality, taus
        how: Any = {"exclude": rows, "threads": self.threads, "progress": progress}
        counts, sums = neighbor_sums(*told, **how)
        found = apply_thresholds(means_of_sums(sums, counts), counts, n - 1, few, most)
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
