"""BLEU Neighbors as an estimator: a text's quality is the mean rating of its rated neighbors.

Stage: prediction. In: rated texts. Out: for each candidate a prediction, NaN without evidence.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from refless.data.text_ids import label_ids, text_ids
from refless.errors import SettingError
from refless.kernels import entry, group_sums, indexed, nearest, neighbor_sums
from refless.models.neighbor_means import apply_thresholds, means_of_sums

Array = np.ndarray
Progress = Callable[[int], None]

AUTO = "auto"
"""The tau of a model that chooses it in training."""
TAUS = (
    *(0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.22, 0.26, 0.3, 0.35),
    *(0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98),
)
"""Values of tau that `AUTO` chooses from, ascending."""
AUTO_CANDIDATES = 5000
"""Training texts that are estimated to choose tau, at most."""


class TooFewNeighborsError(SettingError):
    """No tau gives any training text enough neighbors."""


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
        groups: Sequence[object] | Array | None = None,
    ) -> "NeighborsRegressor":
        """Index the training texts, and choose tau if it is to be chosen.

        ``progress`` is called with the number of texts estimated, where tau is chosen. Texts of one
        of the ``groups`` do not estimate each other there (None: equal texts are a group).

        Raises
        ------
        SettingError : a setting makes no sense; lengths differ, there is no example, or a quality
            is not a finite number; no tau gives any example enough neighbors.
        KernelError : unknown kernel or option, or a missing resource.
        """
        auto = self.tau == AUTO
        highest = entry(self.kernel).highest
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
        self.texts_ = list(texts)
        self.quality_ = np.array(quality, np.float64)
        fits = self.texts_ and self.quality_.shape == (len(self.texts_),)
        if not fits or isinstance(texts, str) or not np.isfinite(self.quality_).all():
            raise SettingError(
                f"{len(self.texts_)} texts do not fit quality of shape {self.quality_.shape}",
                remedy="give a list of texts, and one finite number for each",
            )
        self.index_ = indexed(self.kernel, self.texts_, **dict(self.options or {}))
        clusters = text_ids(self.texts_) if groups is None else label_ids(groups)
        self.tau_ = self._chosen_tau(clusters, progress) if auto else float(self.tau)
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

    def _chosen_tau(self, clusters: Array, progress: Progress | None) -> float:
        """The tau of `best_tau` for training texts in clusters, int64 (texts,)."""
        n = len(self.texts_)
        rows = spaced(n, AUTO_CANDIDATES)
        [(counts, sums)] = group_sums(
            self.kernel,
            [self.texts_[row] for row in rows],
            self.index_,
            self.quality_,
            TAUS,
            groups=[np.zeros(n, np.int64)],
            clusters=[(clusters[rows], clusters)],
            threads=self.threads,
            progress=progress,
        )
        tau = best_tau(
            counts[:, 0],
            sums[:, 0],
            Others.of(clusters, self.quality_).take(rows),
            self.min_neighbors,
            self.max_share,
        )
        if tau is None:
            raise TooFewNeighborsError(
                f"no tau gives any of the {n} training texts {self.min_neighbors} neighbors, and at"
                f" most {100 * self.max_share:g}% of the texts as neighbors",
                remedy="rate more texts; or ask for fewer neighbors (--min-neighbors), and let more"
                " of the texts be neighbors (--max-share)",
            )
        return tau


class Others(NamedTuple):
    """What the training texts of other clusters come to, for each training text."""

    quality: Array  # of the text itself, float64 (n,)
    number: Array  # of the others, int64 (n,)
    mean: Array  # of their quality, float64 (n,); 0 where there are none

    @classmethod
    def of(cls, clusters: Array, quality: Array) -> "Others":
        """Return what the texts of other clusters come to.

        clusters : of each training text, int64 (n,), such as the number of a text, which equal
            texts share
        quality : of each training text, float64 (n,)

        >>> Others.of(np.array([0, 0, 1]), np.array([1.0, 2.0, 5.0])).mean
        array([5. , 5. , 1.5])
        """
        number = len(quality) - np.bincount(clusters)[clusters]
        total = quality.sum() - np.bincount(clusters, quality)[clusters]
        mean = total / np.maximum(number, 1)
        return cls(quality, number, np.where(number > 0, mean, 0.0))

    def take(self, rows: Array) -> "Others":
        """Return the same for some of the texts alone, by their numbers, int64 (rows,)."""
        return Others(*(values[rows] for values in self))


def best_tau(
    counts: Array, sums: Array, others: Others, min_neighbors: int, max_share: float
) -> float | None:
    """The tau of `TAUS` with the least squared error on training texts, each estimated from those
    of other clusters; None if no tau gives any of them enough neighbors.

    counts, sums : number and summed quality of each text's neighbors among these, (texts, taus)

    Where the evidence does not suffice, the mean of the other texts counts as the estimate, so that
    a tau gains nothing by estimating little. The first of equally good ones is taken.

    Below a tau of 0.15 all texts are neighbors, from there on the one with the same rating:

    >>> quality = np.array([1.0, 1.0, 5.0, 5.0])
    >>> counts = np.tile(np.where(np.array(TAUS) < 0.15, 3, 1), (4, 1))
    >>> sums = np.where(counts == 3, quality.sum() - quality[:, None], quality[:, None])
    >>> best_tau(counts, sums, Others.of(np.arange(4), quality), min_neighbors=1, max_share=1.0)
    0.15
    """
    means = means_of_sums(sums, counts)
    estimates = apply_thresholds(means, counts, others.number[:, None], min_neighbors, max_share)
    if np.isnan(estimates).all():
        return None
    filled = np.where(np.isnan(estimates), others.mean[:, None], estimates)
    errors = np.mean((filled - others.quality[:, None]) ** 2, axis=0)
    errors[np.isnan(estimates).all(axis=0)] = np.inf
    # a difference that is rounding decides nothing, however little of the scale is used
    unit = max(errors[np.isfinite(errors)].max(), np.finfo(float).tiny)
    return TAUS[int(np.argmin(np.round(errors / unit, 9)))]


def spaced(n: int, most: int) -> Array:
    """Return at most ``most`` whole numbers from 0 to n - 1, evenly spaced, int64."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
