"""What any estimate of quality should be compared with: baselines without a kernel.

Stage: prediction. In: training examples, and their systems where a baseline asks for them. Out: one
estimate of quality a text; NaN where a baseline has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Self

import numpy as np
import pandas as pd

from refless.errors import SettingError
from refless.models.neighbors import listed_texts, training_examples

Array = np.ndarray

MANY = 5000
"""Training examples from which on one fold is enough to choose a penalty."""
EXACT, NEAR = 1e-12, 1e-5
"""The solver's tolerance for estimates, which shall not depend on the machine, and for choosing."""


class Baseline:
    """What the baselines have in common; ``mean_`` is the mean quality of the training examples."""

    def fit(
        self,
        texts: Sequence[str],
        quality: Sequence[float] | Array,
        *,
        systems: Sequence[str] | None = None,
        groups: Sequence[object] | None = None,
    ) -> Self:
        """Learn from training examples.

        Parameters
        ----------
        texts, quality : one a training example
        systems : who wrote each text, for `SystemMean` and `SystemRidge`
        groups : examples of one group stay together where a penalty is chosen; each by itself
            unless given

        Raises
        ------
        SettingError : lengths differ, there is no example, or a quality is not a finite number.
        """
        listed, self.quality_ = training_examples(texts, quality)
        self.mean_ = float(self.quality_.mean())
        self._fit(listed, _beside(listed, systems), _beside(listed, groups))
        return self

    def predict(self, texts: Sequence[str], *, systems: Sequence[str] | None = None) -> Array:
        """Estimated quality, float64, shape (len(texts),)."""
        listed = listed_texts(texts)
        return self._predict(listed, _beside(listed, systems))

    def _fit(
        self, texts: list[str], systems: list[Any] | None, groups: list[Any] | None
    ) -> None: ...

    def _predict(self, texts: list[str], systems: list[Any] | None) -> Array:
        raise NotImplementedError


class Constant(Baseline):
    """The mean quality of the training examples, or a value that is given."""

    def __init__(self, value: float | None = None) -> None:
        self.value = value

    def _predict(self, texts: list[str], systems: list[Any] | None) -> Array:
        return np.full(len(texts), self.mean_ if self.value is None else self.value)


class Length(Baseline):
    """A least squares line from the length of a text to its quality.

    Parameters
    ----------
    unit : ``characters``, or ``tokens`` (separated by blanks)
    """

    def __init__(self, unit: str = "characters") -> None:
        self.unit = unit

    def _length(self, texts: list[str]) -> Array:
        parts = texts if self.unit == "characters" else [text.split() for text in texts]
        return np.array([len(part) for part in parts], np.float64)

    def _fit(self, texts: list[str], systems: list[Any] | None, groups: list[Any] | None) -> None:
        length = self._length(texts)
        self.middle_ = float(length.mean())
        away = length - self.middle_
        spread = float(away @ away)
        self.slope_ = float(away @ (self.quality_ - self.mean_)) / spread if spread else 0.0

    def _predict(self, texts: list[str], systems: list[Any] | None) -> Array:
        return self.mean_ + self.slope_ * (self._length(texts) - self.middle_)


class Lookup(Baseline):
    """The mean quality of the training examples with an equal text.

    Parameters
    ----------
    key : what is compared; the text itself unless given
    unseen : the estimate for a text that no training example equals: ``mean`` (of all training
        examples), or ``nan``
    """

    def __init__(self, key: Callable[[str], object] = str, unseen: str = "mean") -> None:
        self.key, self.unseen = key, unseen

    def leave_one_out(self) -> Array:
        """Predict each training example from the others of its key, NaN where there is none."""
        return self._mean(self._sum[self._rows] - self.quality_, self._size[self._rows] - 1)

    def _keys(self, texts: list[str], systems: list[Any] | None) -> list[Any]:
        return [self.key(text) for text in texts]

    def _fit(self, texts: list[str], systems: list[Any] | None, groups: list[Any] | None) -> None:
        self._place: dict[Any, int] = {}
        keys = self._keys(texts, systems)
        self._rows = [self._place.setdefault(key, len(self._place)) for key in keys]
        # the last one is that of an unknown key
        self._sum = np.append(np.bincount(self._rows, self.quality_), 0)
        self._size = np.append(np.bincount(self._rows), 0)

    def _predict(self, texts: list[str], systems: list[Any] | None) -> Array:
        rows = [self._place.get(key, -1) for key in self._keys(texts, systems)]
        mean = self._mean(self._sum[rows], self._size[rows])
        return mean if self.unseen == "nan" else np.where(np.isnan(mean), self.mean_, mean)

    def _mean(self, total: Array, size: Array) -> Array:
        """To twelve digits of the largest quality: equal means tie, however they were added up."""
        mean = np.where(size > 0, total / np.maximum(size, 1), np.nan)
        largest = np.abs(self.quality_).max()
        return np.round(mean, 12 - int(np.ceil(np.log10(largest)))) if largest else mean


class SystemMean(Lookup):
    """The mean quality of the training examples of the text's own system; ``unseen`` is as for
    `Lookup`."""

    def __init__(self, unseen: str = "mean") -> None:
        super().__init__(unseen=unseen)

    def _keys(self, texts: list[str], systems: list[Any] | None) -> list[Any]:
        if systems is None:
            raise SettingError(
                "the mean of a text's system needs the systems", remedy="give them as systems="
            )
        return systems


class Ngrams:
    """Character n-grams within words, counted once for all texts that will be asked for.

    Parameters
    ----------
    texts : those that are counted now; another text is counted when it is asked for, by the
        n-grams of these alone
    """

    def __init__(self, texts: Sequence[str]) -> None:
        # imported only here: it takes longer than most jobs
        from sklearn.feature_extraction.text import CountVectorizer

        self._row = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        self._count = CountVectorizer(analyzer="char_wb", ngram_range=(1, 3), dtype=np.float64)
        # blank texts alone have no n-gram, which it refuses
        self._counts = self._count.fit_transform([*self._row, "."])

    def of(self, texts: Sequence[str]) -> Any:
        """Counts of each text, sparse float64 of shape (len(texts), n-grams)."""
        if all(text in self._row for text in texts):
            return self._counts[[self._row[text] for text in texts]]
        return self._count.transform(texts)


class RidgeTfidf(Baseline):
    """Ridge regression on TF-IDF weights of character n-grams within words, by scikit-learn.

    Parameters
    ----------
    ngrams : of all texts that will be asked for, so that several fits count them once; without it,
        those of the training examples
    alphas : penalties to choose from, by the squared error on folds of the training examples; the
        strongest where there are fewer than two groups of them. ``alpha_`` is the one chosen
    folds : how many; of more than `MANY` examples one decides
    """

    def __init__(
        self,
        ngrams: Ngrams | None = None,
        alphas: Sequence[float] = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
        folds: int = 3,
    ) -> None:
        self.ngrams, self.alphas, self.folds = ngrams, sorted(alphas), folds

    def _fit(self, texts: list[str], systems: list[Any] | None, groups: list[Any] | None) -> None:
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.pipeline import make_pipeline
        from threadpoolctl import threadpool_limits

        self._ngrams = self.ngrams or Ngrams(texts)
        counts = self._ngrams.of(texts)
        self._known = np.unique(counts.indices)  # n-grams that a training example has
        self._model, self.alpha_ = None, self.alphas[-1]
        if len(self._known) == 0:
            return  # the mean is all there is
        counts = counts[:, self._known]
        # rows are short: several threads would only wait for each other
        with threadpool_limits(1):
            weights = TfidfTransformer().fit_transform(counts)
            self.alpha_ = self._chosen_alpha(weights, groups or list(range(len(texts))))
            model = make_pipeline(TfidfTransformer(), _regression(self.alpha_, EXACT))
            self._model = model.fit(counts, self.quality_)

    def _chosen_alpha(self, weights: Any, groups: list[Any]) -> float:
        from sklearn.model_selection import GroupKFold

        group, names = pd.factorize(np.array([*map(str, groups)], object), sort=True)
        if min(self.folds, len(names)) < 2 or len(self.alphas) == 1:
            return self.alphas[-1]
        folds = GroupKFold(min(self.folds, len(names))).split(weights, groups=group)
        error, each = np.zeros(len(self.alphas)), _regression(self.alphas, NEAR)
        for training, rest in islice(folds, 1 if len(groups) > MANY else None):
            columns = np.tile(self.quality_[training, None], len(self.alphas))
            found = each.fit(weights[training], columns).predict(weights[rest])
            error += ((found - self.quality_[rest, None]) ** 2).sum(axis=0)
        return self.alphas[int(np.argmin(error))]

    def _predict(self, texts: list[str], systems: list[Any] | None) -> Array:
        if self._model is None or not texts:
            return np.full(len(texts), self.mean_)
        return np.asarray(self._model.predict(self._ngrams.of(texts)[:, self._known]), np.float64)


class SystemRidge(RidgeTfidf):
    """The mean of the text's own system, and ridge regression on what that leaves of the quality;
    parameters are those of `RidgeTfidf`. A new system has the mean of all."""

    def _fit(self, texts: list[str], systems: list[Any] | None, groups: list[Any] | None) -> None:
        self._system = SystemMean().fit(texts, self.quality_, systems=systems)
        left = self.quality_ - self._system.predict(texts, systems=systems)
        self._rest = RidgeTfidf(self.ngrams, self.alphas, self.folds)
        self.alpha_ = self._rest.fit(texts, left, groups=groups).alpha_

    def _predict(self, texts: list[str], systems: list[Any] | None) -> Array:
        return self._system.predict(texts, systems=systems) + self._rest.predict(texts)


def _regression(alpha: float | list[float], tolerance: float) -> Any:
    """With one penalty, or one for each column of qualities."""
    from sklearn.linear_model import Ridge

    return Ridge(alpha=alpha, solver="sparse_cg", tol=tolerance)


def _beside(texts: list[str], values: Sequence[Any] | None) -> list[Any] | None:
    if values is not None and len(values) != len(texts):
        raise SettingError(f"{len(texts)} texts, but {len(values)} systems or groups")
    return None if values is None else list(values)
