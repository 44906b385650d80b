"""BLEU Neighbors: a text's quality is the mean rating of its nearest rated neighbors.

Stage: prediction. In: a kernel and the quality of the training examples. Out: for each candidate
the mean quality of its neighbors and their number; whether that number is enough evidence
(thresholds a and b) is decided afterwards, so that a sweep over a and b costs nothing.

Source: Ethayarajh & Sadigh (2020), definitions 3.1 to 3.3, equation 3.
"""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from refless.data.wording import numbered
from refless.errors import SettingError

if TYPE_CHECKING:
    from refless.kernels._plan import Index

Array = np.ndarray
TAUS = 32
"""Values of tau that `choose_tau` chooses from."""
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
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))


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
    given = {"tau": tau, "min_neighbors": min_neighbors, "max_share": max_share}
    for name, value in given.items():
        if not isinstance(value, numbers.Real):
            raise SettingError(f"{name} is {value!r}; it must be a number")
    if not (math.isfinite(tau) and tau > 0):
        raise SettingError(f"tau is {tau}; it must be a positive number")
    if not (float(min_neighbors).is_integer() and min_neighbors >= 1):
        raise SettingError(f"min_neighbors is {min_neighbors}; it must be a whole number from 1")
    if not 0 <= max_share <= 1:
        raise SettingError(f"max_share is {max_share}; it must lie in [0, 1]")


def choose_tau(
    kernel: str,
    index: Index,
    texts: Sequence[str],
    quality: Array,
    *,
    min_neighbors: int = 5,
    max_share: float = 0.66,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> float:
    """The tau of the least squared error on the training examples, each left out in turn.

    Where the evidence does not suffice the mean quality counts as the prediction, so that a tau
    gains nothing by predicting little. There are `TAUS` to choose from: the kernel's values that
    pairs of training examples exceed with shares spread evenly, by ratio, from that of
    ``min_neighbors`` up to ``max_share``. Of many examples `TRIED`, evenly spaced, are left out.

    Parameters
    ----------
    index : of the training examples, see `refless.kernels.indexed`
    texts, quality : of the training examples
    Others : as for `NeighborsRegressor`

    Raises
    ------
    SettingError : no tau gives any training example enough neighbors.
    """
    from refless.kernels import kernel as matrix_of
    from refless.kernels import neighbor_sums

    n = len(texts)
    some = _spaced(n, max(1, min(200, 4_000_000 // n)))
    values = matrix_of(kernel, [texts[i] for i in some], index, threads=threads)
    values[np.arange(len(some)), some] = 0  # itself
    shares = np.geomspace(min(min_neighbors, n) / n, max(max_share, 1 / n), TAUS)
    taus = np.unique(np.quantile(values, np.clip(1 - shares, 0, 1), method="higher"))
    taus = taus[taus > 0]
    rows = _spaced(n, TRIED)
    counts, sums = neighbor_sums(
        kernel,
        [texts[i] for i in rows],
        index,
        quality,
        taus,
        exclude=rows,
        threads=threads,
        progress=progress,
    )
    instead = (quality.sum() - quality[rows]) / max(n - 1, 1)
    errors = np.full(len(taus), np.inf)
    for t in range(len(taus)):
        means = means_of_sums(sums[:, t], counts[:, t])
        found = enough_evidence(means, counts[:, t], n - 1, min_neighbors, max_share)
        if (known := ~np.isnan(found)).any():
            errors[t] = np.mean((np.where(known, found, instead) - quality[rows]) ** 2)
    if not np.isfinite(errors).any():
        raise SettingError(
            f"no tau gives any of the {n} training texts {min_neighbors} neighbors, and no more"
            f" than {max_share:g} of them",
            remedy="rate more texts; or ask for fewer neighbors (--min-neighbors), and let more of"
            " the texts be neighbors (--max-share)",
        )
    return float(taus[np.argmin(errors)])


def _spaced(n: int, most: int) -> Array:
    """At most so many of 0 to n - 1, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def listed_texts(texts: Sequence[str]) -> list[str]:
    """Texts as a list, be they a column of a table or an array."""
    if isinstance(texts, str):
        raise SettingError(
            "texts is one string, which would be read letter by letter",
            remedy="give a list of texts",
        )
    if isinstance(texts, Set):
        raise SettingError("texts is a set, which has no order", remedy="give a list of texts")
    if getattr(texts, "ndim", 1) != 1:
        raise SettingError("texts is no row of texts", remedy="give one column: table['text']")
    return list(texts)


def training_examples(
    texts: Sequence[str], quality: Sequence[float] | Array
) -> tuple[list[str], Array]:
    """Copies of texts and quality, checked; quality as float64 (n,).

    Raises
    ------
    SettingError : lengths differ, there is no example, or a quality is not a finite number.
    """
    # a copy: the caller may change theirs, and a column of a table is read-only
    listed = listed_texts(texts)
    values = np.array(quality, dtype=np.float64)
    if values.ndim != 1:
        raise SettingError(f"quality must be one number a text, not {values.ndim}-dimensional")
    if len(listed) != len(values):
        raise SettingError(f"{len(listed)} texts but {len(values)} qualities")
    if len(listed) == 0:
        raise SettingError("there is no text with a quality")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise SettingError(f"the quality of text {row} (from 0) is {values[row]}")
    return listed, values


class NeighborsRegressor:
    """Predict quality as the mean rating of the nearest rated neighbors.

    Parameters
    ----------
    kernel : name of a kernel, e.g. ``bleu.char`` (see `refless.kernels`)
    tau : similarity from which on a training example is a neighbor; or ``"auto"``: chosen by `fit`
        among the training examples alone, see `choose_tau`
    min_neighbors : a, the fewest neighbors that carry a prediction
    max_share : b, the largest share of the training examples that may be neighbors
    abstention : what stands where the evidence does not suffice: ``"nan"`` (NaN), or ``"mean"``,
        the mean quality of the training examples, for tools that cannot do with NaN
    threads : None for as many as the process may use
    options : of the kernel, by name

    It is a scikit-learn estimator without needing scikit-learn: it can be cloned, searched over
    and put into pipelines, whose X is a row of texts. Settings are checked by `fit`. Most metrics
    of scikit-learn refuse NaN: either set ``abstention="mean"``, or use `score`, which counts the
    mean where the evidence does not suffice. A search that is scored on covered texts alone would
    choose to predict little.

    `fit` makes the training examples ready once; kernels of ``bleu`` and those built on it then
    need milliseconds a candidate. The kernel is walked in blocks and never held whole: memory
    grows with candidates plus training examples.

    Source: Ethayarajh & Sadigh (2020), equation 3; defaults from section 4.
    """

    _estimator_type = "regressor"

    def __init__(
        self,
        kernel: str = "bleu.char",
        tau: float | str = 0.08,
        min_neighbors: int = 5,
        max_share: float = 0.66,
        abstention: str = "nan",
        threads: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.tau = tau
        self.min_neighbors = min_neighbors
        self.max_share = max_share
        self.abstention = abstention
        self.threads = threads
        self.options = options

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name, as scikit-learn asks for them."""
        names = inspect.signature(type(self).__init__).parameters
        return {name: getattr(self, name) for name in names if name != "self"}

    def set_params(self, **settings: Any) -> NeighborsRegressor:
        """Change settings; they are checked by the next `fit`, without which a fitted model with
        another kernel predicts nothing."""
        unknown = set(settings) - set(self.get_params())
        if unknown:
            raise ValueError(  # what scikit-learn expects
                f"NeighborsRegressor has no setting {min(unknown)!r}; it has"
                f" {', '.join(self.get_params())}"
            )
        for name, value in settings.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"NeighborsRegressor({given})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True),
            regressor_tags=RegressorTags(poor_score=True),
            input_tags=InputTags(one_d_array=True, two_d_array=False, string=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "texts_")

    def fit(
        self,
        texts: Sequence[str],
        quality: Sequence[float] | Array,
        progress: Callable[[int], None] | None = None,
    ) -> NeighborsRegressor:
        """Make the training examples ready.

        ``progress`` is called with the number of examples tried, where tau is chosen.

        Raises
        ------
        SettingError : a setting makes no sense; lengths differ, there is no example, or a quality
            is not a finite number.
        KernelError : unknown kernel or option, or a missing resource.
        """
        from refless.kernels import indexed

        self._check()
        listed, values = training_examples(texts, quality)
        self.index_ = indexed(self.kernel, listed, **dict(self.options or {}))
        self.kernel_ = self._kernel()
        self.texts_: Sequence[str] = listed
        self.quality_ = values
        self.stored_: dict[str, Any] = {}  # what a file has besides, see neighbors_file
        self.tau_ = float(self.tau) if self.tau != "auto" else self._chosen_tau(progress)
        return self

    def predict(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Array:
        """Estimated quality, shape (len(texts),); NaN where the evidence does not suffice.

        The number of neighbors stays in ``neighbors_``, shape (len(texts),).
        """
        return self._predict(listed_texts(texts), None, len(self._fitted()), progress)

    def leave_one_out(self, progress: Callable[[int], None] | None = None) -> Array:
        """Predict each training example from all the others (its own row left out).

        With ``tau="auto"``, tau was chosen among all of them.
        """
        texts = list(self._fitted())
        return self._predict(texts, np.arange(len(texts)), len(texts) - 1, progress)

    def score(self, texts: Sequence[str], quality: Sequence[float] | Array) -> float:
        """R squared (1 minus squared error over variance) over all candidates.

        Where the evidence does not suffice the mean quality of the training examples counts as
        the prediction, so that predicting little gains nothing. NaN where qualities are all alike.

        Raises
        ------
        SettingError : lengths differ, there is no candidate, or a quality is not a finite number.
        """
        listed, truth = training_examples(texts, quality)
        predicted = self._instead(self.predict(listed), self.quality_.mean())
        if np.ptp(truth) == 0:
            return math.nan
        return float(1 - np.sum((predicted - truth) ** 2) / np.sum((truth - truth.mean()) ** 2))

    def nearest(
        self,
        texts: Sequence[str] | None = None,
        number: int = 5,
        progress: Callable[[int], None] | None = None,
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

        own = list(self._fitted()) if texts is None else listed_texts(texts)
        exclude = np.arange(len(own)) if texts is None else None
        return nearest(
            *(self.kernel, own, self.index_, number),
            exclude=exclude,
            threads=self.threads,
            progress=progress,
        )

    def _check(self) -> None:
        if isinstance(self.tau, str) and self.tau != "auto":
            raise SettingError(f"tau is {self.tau!r}; it must be a positive number, or 'auto'")
        if self.abstention not in ("nan", "mean"):
            raise SettingError(f"abstention is {self.abstention!r}; it must be 'nan' or 'mean'")
        check_settings(
            tau=1.0 if isinstance(self.tau, str) else self.tau,
            min_neighbors=self.min_neighbors,
            max_share=self.max_share,
        )
        from refless.kernels import highest

        if not isinstance(self.tau, str) and self.tau > (most := highest(self.kernel)):
            raise SettingError(
                f"tau is {self.tau}, but no value of {self.kernel} is above {most:g}",
                remedy="give a smaller one, or let it be chosen: auto",
            )

    def _chosen_tau(self, progress: Callable[[int], None] | None) -> float:
        index, texts, quality = self.index_, self.texts_, self.quality_
        # equal texts would speak for each other, and not for new ones
        group = numbered(texts)
        if (different := int(group.max()) + 1) < len(texts):
            from refless.kernels import indexed

            first = np.unique(group, return_index=True)[1]
            texts, quality = (
                [texts[i] for i in first],
                np.bincount(group, quality, different) / np.bincount(group),
            )
            index = indexed(self.kernel, texts, **dict(self.options or {}))
        return choose_tau(
            *(self.kernel, index, texts, quality),
            min_neighbors=self.min_neighbors,
            max_share=self.max_share,
            threads=self.threads,
            progress=progress,
        )

    def _fitted(self) -> Sequence[str]:
        if not hasattr(self, "texts_"):
            raise SettingError("the model has no training examples yet", remedy="call fit first")
        if self.kernel_ != self._kernel():
            raise SettingError("the kernel was set after fit", remedy="call fit again")
        return self.texts_

    def _kernel(self) -> tuple[str, dict[str, Any]]:
        return self.kernel, dict(self.options or {})

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
            self.index_,
            self.quality_,
            [self.tau_],
            exclude=exclude,
            threads=self.threads,
            progress=progress,
        )
        self.neighbors_ = counts[:, 0]
        means = means_of_sums(sums[:, 0], self.neighbors_)
        found = enough_evidence(
            means, self.neighbors_, training, self.min_neighbors, self.max_share
        )
        if self.abstention == "nan":
            return found
        if exclude is None:
            return self._instead(found, self.quality_.mean())
        return self._instead(found, (self.quality_.sum() - self.quality_) / max(training, 1))

    def _instead(self, prediction: Array, mean: Array | float) -> Array:
        return np.where(np.isnan(prediction), mean, prediction)
