"""What any estimate of quality should be compared with: baselines without a kernel.

Stage: prediction. In: training examples, and their systems where a baseline asks for them. Out: one
estimate of quality a text; NaN where a baseline has none.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Self

import numpy as np
import pandas as pd

Array = np.ndarray

MANY = 5000
"""Training examples from which on one fold is enough to choose a penalty."""
EXACT, NEAR = 1e-12, 1e-5
"""The solver's tolerance for estimates, which shall not depend on the machine, and for choosing."""


class Baseline:
    """What the baselines have in common."""

    def fit(
        self,
        texts: Sequence[str],
        quality: Sequence[float] | Array,
        *,
        systems: Sequence[str] | None = None,
        groups: Sequence[object] | None = None,
    ) -> Self:
        """Learn from training examples.

        texts, quality : one a training example
        systems : who wrote each text, for `SystemMean` and `SystemRidge`
        groups : examples of one group stay together where a penalty is chosen; each by itself
            unless given
        """
        raise NotImplementedError

    def predict(self, texts: Sequence[str], *, systems: Sequence[str] | None = None) -> Array:
        """Estimated quality, float64, shape (len(texts),)."""
        raise NotImplementedError


class Constant(Baseline):
    """The mean quality of the training examples, or a value that is given."""

    def __init__(self, value: float | None = None) -> None:
        self.value = value

    def fit(self, texts: Any, quality: Any, *, systems: Any = None, groups: Any = None) -> Self:
        self.value_ = float(np.mean(quality)) if self.value is None else self.value
        return self

    def predict(self, texts: Sequence[str], *, systems: Any = None) -> Array:
        return np.full(len(texts), self.value_)


class Length(Baseline):
    """A least squares line from the length of a text to its quality.

    unit : ``characters``, or ``tokens`` (separated by blanks)
    """

    def __init__(self, unit: str = "characters") -> None:
        self.unit = unit

    def fit(self, texts: Any, quality: Any, *, systems: Any = None, groups: Any = None) -> Self:
        self.slope_, self.start_ = line(self._lengths(texts), np.asarray(quality, np.float64))
        return self

    def predict(self, texts: Sequence[str], *, systems: Any = None) -> Array:
        return self.start_ + self.slope_ * self._lengths(texts)

    def _lengths(self, texts: Sequence[str]) -> Array:
        parts = texts if self.unit == "characters" else [text.split() for text in texts]
        return np.array([len(part) for part in parts], np.float64)


def line(x: Array, y: Array) -> tuple[float, float]:
    """Slope and intercept of the least squares line from ``x`` to ``y``, (n,), where x is no NaN.

    The mean of y where there is no slope to fit: fewer than two, or all the same.
    """
    there = ~np.isnan(x)
    own, other = x[there], y[there]
    if len(own) < 2 or np.ptp(own) == 0:
        return 0.0, float(y.mean())
    away = own - own.mean()
    slope = float((away * (other - other.mean())).sum() / (away**2).sum())
    return slope, float(other.mean() - slope * own.mean())


class Lookup(Baseline):
    """The mean quality of the training examples with an equal text, NaN where there is none.

    key : what is compared; the text itself unless given
    """

    def __init__(self, key: Callable[[str], object] = str) -> None:
        self.key = key

    def fit(self, texts: Any, quality: Any, *, systems: Any = None, groups: Any = None) -> Self:
        mean = pd.Series(np.asarray(quality, np.float64)).groupby(self._keys(texts, systems)).mean()
        self.mean_ = mean.round(12)  # equal means tie, however they were added up
        return self

    def predict(self, texts: Sequence[str], *, systems: Any = None) -> Array:
        return self.mean_.reindex(self._keys(texts, systems)).to_numpy()

    def _keys(self, texts: Sequence[str], systems: Sequence[str] | None) -> Array:
        return np.array([*map(self.key, texts)], object)


class SystemMean(Lookup):
    """The mean quality of the training examples of the text's own system, NaN for a new one."""

    def _keys(self, texts: Sequence[str], systems: Sequence[str] | None) -> Array:
        return np.array(systems, object)


class Ngrams:
    """Character n-grams within words, counted once for all texts that will be asked for; another
    text is counted when it is asked for, by the n-grams of these alone."""

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

    def fit(self, texts: Any, quality: Any, *, systems: Any = None, groups: Any = None) -> Self:
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.pipeline import make_pipeline
        from threadpoolctl import threadpool_limits

        values = np.asarray(quality, np.float64)
        self._ngrams = self.ngrams or Ngrams(texts)
        counts = self._ngrams.of(texts)
        self._known = np.unique(counts.indices)  # n-grams that a training example has
        counts = counts[:, self._known]
        # rows are short: several threads would only wait for each other
        with threadpool_limits(1):
            weights = TfidfTransformer().fit_transform(counts)
            self.alpha_ = self._chosen_alpha(weights, values, groups or list(range(len(texts))))
            model = make_pipeline(TfidfTransformer(), _regression(self.alpha_, EXACT))
            self._model = model.fit(counts, values)
        return self

    def predict(self, texts: Sequence[str], *, systems: Any = None) -> Array:
        if not texts:
            return np.zeros(0)
        return np.asarray(self._model.predict(self._ngrams.of(texts)[:, self._known]), np.float64)

    def _chosen_alpha(self, weights: Any, quality: Array, groups: Sequence[object]) -> float:
        from sklearn.model_selection import GroupKFold

        group, names = pd.factorize(np.array([*map(str, groups)], object), sort=True)
        if min(self.folds, len(names)) < 2 or len(self.alphas) == 1:
            return self.alphas[-1]
        folds = GroupKFold(min(self.folds, len(names))).split(weights, groups=group)
        error, each = np.zeros(len(self.alphas)), _regression(self.alphas, NEAR)
        for training, rest in islice(folds, 1 if len(groups) > MANY else None):
            columns = np.tile(quality[training, None], len(self.alphas))
            found = each.fit(weights[training], columns).predict(weights[rest])
            error += ((found - quality[rest, None]) ** 2).sum(axis=0)
        return self.alphas[int(np.argmin(error))]


def _regression(alpha: float | list[float], tolerance: float) -> Any:
    """With one penalty, or one for each column of qualities."""
    from sklearn.linear_model import Ridge

    return Ridge(alpha=alpha, solver="sparse_cg", tol=tolerance)


class SystemRidge(RidgeTfidf):
    """The mean of the text's own system, and ridge regression on what that leaves of the quality;
    parameters are those of `RidgeTfidf`. A new system has the mean of all."""

    def fit(self, texts: Any, quality: Any, *, systems: Any = None, groups: Any = None) -> Self:
        values = np.asarray(quality, np.float64)
        self._system, self._mean = SystemMean().fit(texts, values, systems=systems), values.mean()
        left = values - self._of_system(texts, systems)
        return super().fit(texts, left, groups=groups)

    def predict(self, texts: Sequence[str], *, systems: Any = None) -> Array:
        return self._of_system(texts, systems) + super().predict(texts)

    def _of_system(self, texts: Sequence[str], systems: Any) -> Array:
        found = self._system.predict(texts, systems=systems)
        return np.where(np.isnan(found), self._mean, found)
