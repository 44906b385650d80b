"""BLEU Neighbors as an estimator: a text's quality is the mean rating of its rated neighbors.

Stage: prediction. In: rated texts. Out: for each candidate a prediction, NaN without evidence.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from refless.data.text_ids import text_ids
from refless.errors import SettingError
from refless.kernels import entry, indexed, kernel, nearest, neighbor_sums
from refless.models.neighbor_means import apply_thresholds, means_of_sums

Array = np.ndarray
Progress = Callable[[int], None]

AUTO_TAUS = 32
"""Values of tau that ``auto`` chooses from."""
AUTO_CANDIDATES = 5000
"""Training texts that it estimates to choose one, at most."""
GRID_CANDIDATES, GRID_VALUES = 200, 4_000_000
"""Training texts whose similarities to all others it chooses these values from, and similarities,
at most."""


class NeighborsRegressor(RegressorMixin, BaseEstimator):
    """Predict quality as the mean rating of the rated neighbors.

    A scikit-learn estimator whose X is a list of texts. The kernel matrix is never held whole:
    memory grows with candidates plus training texts.

    Parameters
    ----------
    kernel : name of a kernel, e.g. ``bleu.char`` (see `refless.kernels.names`)
    tau : similarity from which on a training text is a neighbor; or ``"auto"``: chosen by `fit`
        among the training texts alone
    min_neighbors : a, the fewest neighbors that carry a prediction
    max_share : b, the largest share of the training texts that may be neighbors
    threads : None for as many as the process may use
    options : of the kernel, by name

    Attributes
    ----------
    texts_, quality_ : the training texts, list of str and ndarray of shape (n_training,)
    tau_ : the tau that is used

    Source: Ethayarajh & Sadigh (2020), equation 3; defaults from section 4.

    Examples
    --------
    >>> from refless.models.neighbors import NeighborsRegressor
    >>> texts = ["the food is good", "the food was good", "awful", "the service is slow"]
    >>> model = NeighborsRegressor("rouge_l.plain", tau=0.6, min_neighbors=2)
    >>> model.fit(texts, [5, 4, 1, 2]).predict(["the food is very good", "hello"])
    array([4.5, nan])
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
        """Index the training texts, and choose tau if it is to be chosen.

        ``progress`` is called with the number of texts estimated, where tau is chosen.

        Raises
        ------
        SettingError : a setting makes no sense; lengths differ, there is no example, or a quality
            is not a finite number; no tau gives any example enough neighbors.
        KernelError : unknown kernel or option, or a missing resource.
        """
        auto, highest = self.tau == "auto", entry(self.kernel).highest
        if not (auto or (not isinstance(self.tau, str) and 0 < self.tau <= highest)):
            raise SettingError(
                f"tau is {self.tau}; values of {self.kernel} go up to {highest:g}",
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
        """Estimated quality, shape (len(texts),); NaN where the evidence does not suffice."""
        return self.predict_with_counts(texts, progress)[0]

    def leave_one_out(self, progress: Progress | None = None) -> Array:
        """Predict each training text from all the others (its own row left out); with
        ``tau="auto"``, tau was chosen among all of them."""
        return self.predict_with_counts(None, progress)[0]

    def predict_with_counts(
        self, texts: Sequence[str] | None, progress: Progress | None = None
    ) -> tuple[Array, Array]:
        """Estimated quality, and the number of neighbors that it is from.

        Parameters
        ----------
        texts : candidates; None for the training texts themselves, each left out in turn

        Returns
        -------
        prediction : float64 (candidates,), NaN where the evidence does not suffice
        counts : int64 (candidates,)
        """
        check_is_fitted(self)
        candidates, exclude = self._candidates(texts)
        prediction, counts = self._estimates(candidates, exclude, [self.tau_], progress)
        return prediction[:, 0], counts[:, 0]

    def score(self, texts: Sequence[str], quality: Sequence[float] | Array) -> float:
        """R squared over all candidates. Where the evidence does not suffice, the mean quality of
        the training texts counts, so that predicting little gains nothing."""
        from sklearn.metrics import r2_score

        prediction = self.predict(texts)
        filled = np.where(np.isnan(prediction), self.quality_.mean(), prediction)
        return float(r2_score(quality, filled))

    def nearest(self, texts: Sequence[str] | None = None, number: int = 5) -> tuple[Array, Array]:
        """The most similar training texts of each candidate, whether neighbors or not.

        Parameters
        ----------
        texts : candidates; None for the training texts themselves, each left out in turn
        number : how many of them

        Returns
        -------
        rows, similarity : shape (candidates, number), most similar first; rows of the training
            texts, -1 where there are fewer
        """
        check_is_fitted(self)
        candidates, exclude = self._candidates(texts)
        return nearest(
            self.kernel, candidates, self.index_, number, exclude=exclude, threads=self.threads
        )

    def _candidates(self, texts: Sequence[str] | None) -> tuple[list[str], Array | None]:
        """Candidates, and the training row that each leaves out."""
        if texts is None:
            return self.texts_, np.arange(len(self.texts_))
        return list(texts), None

    def _estimates(
        self, candidates: list[str], exclude: Array | None, taus: Any, progress: Progress | None
    ) -> tuple[Array, Array]:
        """Predictions and numbers of neighbors at each tau, (candidates, taus)."""
        counts, sums = neighbor_sums(
            self.kernel,
            candidates,
            self.index_,
            self.quality_,
            taus,
            exclude=exclude,
            threads=self.threads,
            progress=progress,
        )
        training = len(self.texts_) - (exclude is not None)
        means = means_of_sums(sums, counts)
        return apply_thresholds(means, counts, training, self.min_neighbors, self.max_share), counts

    def _chosen_tau(self, progress: Progress | None) -> float:
        """The tau of the least squared error on the training texts, each left out in turn.

        Where the evidence does not suffice the mean quality counts as the prediction, so that a
        tau gains nothing by predicting little. Of more than `AUTO_CANDIDATES` texts, the error
        is that of so many, evenly spaced, each estimated from all others.
        """
        distinct = self._with_distinct_texts()
        texts, quality, n = distinct.texts_, distinct.quality_, len(distinct.texts_)
        taus, rows = distinct._tau_grid(), _spaced(n, AUTO_CANDIDATES)
        estimates, _ = distinct._estimates([texts[row] for row in rows], rows, taus, progress)
        mean_of_others = (quality.sum() - quality[rows]) / max(n - 1, 1)
        filled = np.where(np.isnan(estimates), mean_of_others[:, None], estimates)
        errors = np.mean((filled - quality[rows, None]) ** 2, axis=0)
        errors[np.isnan(estimates).all(axis=0)] = np.inf
        if not np.isfinite(errors).any():
            raise SettingError(
                f"no tau gives any of the {n} training texts {self.min_neighbors} neighbors, and at"
                f" most {100 * self.max_share:g}% of the texts as neighbors",
                remedy="rate more texts; or ask for fewer neighbors (--min-neighbors), and let more"
                " of the texts be neighbors (--max-share)",
            )
        return float(taus[np.argmin(errors)])

    def _with_distinct_texts(self) -> "NeighborsRegressor":
        """Each text once, with its mean quality: equal texts would be each other's neighbors."""
        text_id = text_ids(self.texts_)
        first = np.unique(text_id, return_index=True)[1]
        if len(first) == len(self.texts_):
            return self
        distinct = clone(self)
        distinct.texts_ = [self.texts_[row] for row in first]
        distinct.quality_ = np.bincount(text_id, self.quality_) / np.bincount(text_id)
        distinct.index_ = indexed(self.kernel, distinct.texts_, **dict(self.options or {}))
        return distinct

    def _tau_grid(self) -> Array:
        """At most `AUTO_TAUS` values of the kernel, ascending: those that a share of the pairs of
        training texts, of some with all, reaches, for shares in a geometric row from a / n to b."""
        n = len(self.texts_)
        rows = _spaced(n, max(1, min(GRID_CANDIDATES, GRID_VALUES // n)))
        candidates = [self.texts_[row] for row in rows]
        values = kernel(self.kernel, candidates, self.index_, threads=self.threads)
        values[np.arange(len(rows)), rows] = 0  # itself
        shares = np.geomspace(min(self.min_neighbors, n) / n, max(self.max_share, 1 / n), AUTO_TAUS)
        taus = np.unique(np.quantile(values, np.clip(1 - shares, 0, 1), method="higher"))
        return taus[taus > 0]


def _spaced(n: int, most: int) -> Array:
    """At most so many of 0 to n - 1, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
