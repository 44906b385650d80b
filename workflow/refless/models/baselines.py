"""What any estimate of quality should be compared with: baselines without a kernel.

Stage: prediction. In: training texts. Out: one estimate of quality a text; NaN where a baseline
has none. Each looks at one thing of a text, ``X``, such as the text itself or its system. The
``groups`` of training texts say which stay together where a penalty is chosen (default: none).
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Self

import numpy as np
import pandas as pd

from refless.compute.words import number_words

Array = np.ndarray

_PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""The penalties of ridge regression on texts, among which one is chosen."""
FOLDS = 3
"""The number of folds on which a penalty is chosen."""
MANY = 5000
"""The number of training texts above which one of these folds is enough."""
EXACT = 1e-12
"""The solver's tolerance for estimates, which shall not depend on the machine."""
NEAR = 1e-5
"""The solver's tolerance for choosing a penalty."""
STEPS = 5
"""After so many steps a solver looks whether it is near enough."""


class Constant:
    """The mean quality of the training texts, or a value that is given.

    Parameters
    ----------
    value : the estimate; None for the mean

    Attributes
    ----------
    value_ : the estimate

    Examples
    --------
    >>> Constant().fit(["a", "b"], [1.0, 2.0]).predict(["c"])
    array([1.5])
    """

    def __init__(self, value: float | None = None) -> None:
        self.value = value

    def fit(self, X: Any, quality: Any, groups: Any = None) -> Self:
        self.value_ = float(np.mean(quality)) if self.value is None else self.value
        return self

    def predict(self, X: Sequence[object]) -> Array:
        return np.full(len(X), self.value_)


class Line:
    """A least squares line from a number of a text, such as its length, to its quality: the mean
    quality where there is no slope to fit, NaN for a text whose number is NaN.

    Attributes
    ----------
    slope_, start_ : of the line

    Examples
    --------
    >>> Line().fit([10, 20, np.nan], [1.0, 2.0, 5.0]).predict([30, np.nan])
    array([ 3., nan])
    """

    def fit(self, X: Any, quality: Any, groups: Any = None) -> Self:
        x = np.asarray(X, np.float64)
        y = np.asarray(quality, np.float64)
        self.slope_ = 0.0
        self.start_ = float(y.mean())
        x, y = x[~np.isnan(x)], y[~np.isnan(x)]
        if len(x) > 1 and np.ptp(x) > 0:
            dx = x - x.mean()
            self.slope_ = float((dx * (y - y.mean())).sum() / (dx**2).sum())
            self.start_ = float(y.mean() - self.slope_ * x.mean())
        return self

    def predict(self, X: Any) -> Array:
        return self.start_ + self.slope_ * np.asarray(X, np.float64)


class Lookup:
    """The mean quality of the training texts with the same X, such as text or system; NaN where
    there is none.

    Attributes
    ----------
    mean_ : pandas Series, the mean of each

    Examples
    --------
    >>> Lookup().fit(["a", "a", "b"], [1.0, 2.0, 5.0]).predict(["a", "c"])
    array([1.5, nan])
    """

    def fit(self, X: Sequence[object], quality: Any, groups: Any = None) -> Self:
        mean = pd.Series(np.asarray(quality, np.float64)).groupby(np.array(X, object)).mean()
        self.mean_ = mean.round(12)  # equal means tie, however they were added up
        return self

    def predict(self, X: Sequence[object]) -> Array:
        return self.mean_.reindex(np.array(X, object)).to_numpy()


class Ngrams:
    """Character n-grams within words, counted once for all texts that will be asked for; another
    text is counted when it is asked for, by the n-grams of these alone.

    >>> Ngrams(["b", "ab"]).of(["ab", "b"]).toarray().sum(axis=1)  # " ", "a", "b", " a", ...
    array([9., 6.])
    """

    def __init__(self, texts: Sequence[str]) -> None:
        # imported only here: it takes longer than most jobs
        from scipy.sparse import csr_matrix
        from sklearn.feature_extraction.text import CountVectorizer

        self._row = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        self._count = CountVectorizer(analyzer="char_wb", ngram_range=(1, 3), dtype=np.float64)
        # blank texts alone have no n-gram, which it refuses
        split = [text.lower().split() for text in [*self._row, "."]]
        vocabulary: dict[str, int] = {}
        words, starts = number_words(split, vocabulary)
        in_texts = csr_matrix((np.ones(len(words)), words, starts), (len(split), len(vocabulary)))
        self._counts = in_texts @ self._count.fit_transform(vocabulary)
        self._counts.sort_indices()

    def of(self, texts: Sequence[str]) -> Any:
        """Counts of each text, sparse float64 of shape (len(texts), n-grams)."""
        if all(text in self._row for text in texts):
            return self._counts[[self._row[text] for text in texts]]
        return self._count.transform(texts)


@lru_cache(maxsize=1)
def counted_ngrams(texts: tuple[str, ...]) -> Ngrams:
    """`Ngrams` of the same texts as last time are not counted again."""
    return Ngrams(texts)


class RidgeTfidf:
    """Ridge regression on TF-IDF weights of character n-grams within words, by scikit-learn.

    Parameters
    ----------
    ngrams : of all texts that will be asked for, so that several fits count them once; without it,
        those of the training texts
    alphas : penalties to choose from, by the squared error on `FOLDS` of the training texts; the
        strongest where there are fewer than two groups of them

    Attributes
    ----------
    alpha_ : the penalty that was chosen

    Examples
    --------
    >>> texts = ["good food", "good place", "bad food", "bad place"]
    >>> good, bad = RidgeTfidf().fit(texts, [4.0, 4.5, 1.0, 1.5]).predict(["good", "bad"])
    >>> bool(good > bad)
    True
    """

    def __init__(self, ngrams: Ngrams | None = None, alphas: Sequence[float] = _PENALTIES) -> None:
        self.ngrams = ngrams
        self.alphas = sorted(alphas)

    def fit(self, texts: Any, quality: Any, groups: Any = None) -> Self:
        from sklearn.feature_extraction.text import TfidfTransformer
        from threadpoolctl import threadpool_limits

        values = np.asarray(quality, np.float64)
        self._ngrams = self.ngrams or Ngrams(texts)
        counts = self._ngrams.of(texts)
        # n-grams that a training text has
        self._known = np.flatnonzero(np.bincount(counts.indices))
        counts = counts[:, self._known]
        # rows are short: several threads would only wait for each other
        with threadpool_limits(1):
            self._tfidf = TfidfTransformer().fit(counts)
            weights = self._tfidf.transform(counts)
            self.alpha_ = chosen_penalty(weights, values, groups, self.alphas)
            self._model = ridge_regression(self.alpha_).fit(weights, values)
        return self

    def predict(self, texts: Any) -> Array:
        if not texts:
            return np.zeros(0)
        counts = self._ngrams.of(texts)[:, self._known]
        return np.asarray(self._model.predict(self._tfidf.transform(counts)), np.float64)


def chosen_penalty(
    design: Any, quality: Array, groups: Sequence[object] | None, penalties: Sequence[float]
) -> float:
    """The penalty of ridge regression with the least squared error on `FOLDS` of the training
    texts, of whole groups (None: of single texts), on one of them from `MANY` texts on;
    the strongest where there are fewer than two groups.

    >>> from scipy.sparse import csr_array
    >>> x = np.arange(30.0)
    >>> chosen_penalty(csr_array(x[:, None]), 2 * x, groups=None, penalties=[0.1, 1e3, 1e6])
    0.1
    """
    from sklearn.model_selection import GroupKFold

    group = group_numbers(groups, len(quality))
    number = group.max() + 1
    if number < 2 or len(penalties) == 1:
        return penalties[-1]
    folds = GroupKFold(min(FOLDS, number)).split(group, groups=group)
    errors = np.zeros(len(penalties))
    for training, rest in islice(folds, 1 if len(quality) > MANY else None):
        estimates = ridge_path(design[training], quality[training], design[rest], penalties)
        errors += ((estimates - quality[rest, None]) ** 2).sum(axis=0)
    return penalties[int(np.argmin(errors))]


def group_numbers(groups: Sequence[object] | None, texts: int) -> Array:
    """The number of each text's group, int64 (texts,), in the order of the groups' names as words;
    None: each text is a group.

    >>> group_numbers(["b", "a", "b"], texts=3)
    array([1, 0, 1])
    """
    labels = range(texts) if groups is None else groups
    return np.asarray(pd.factorize(np.array([*map(str, labels)], object), sort=True)[0])


def ridge_path(X: Any, quality: Array, new: Any, penalties: Sequence[float]) -> Array:
    """Ridge regression with each of the penalties, as near as a choice needs.

    X, new : sparse float64, (training texts, features) and (texts, features)
    quality : of the training texts, float64
    Returns the estimates, float64 (texts, penalties). A penalty only shifts the matrix that is
        inverted, so one Krylov space of conjugate gradients, that of the weakest, has them all.

    Source: Frommer and Maass (1999), "Fast CG-based methods for Tikhonov-Phillips regularization".

    >>> from scipy.sparse import csr_array
    >>> X = csr_array(np.array([[-1.0], [0.0], [1.0]]))
    >>> ridge_path(X, np.array([0.0, 1.0, 2.0]), X, penalties=[2.0, 1e6]).round(2)
    array([[0.5, 1. ],
           [1. , 1. ],
           [1.5, 1. ]])
    """
    from scipy.linalg import solve_banded

    mean = np.asarray(X.mean(axis=0)).ravel()
    transposed = X.T.tocsr()
    level = quality.mean()
    length = np.linalg.norm(quality - level)
    if np.ptp(quality) == 0:
        return np.full((new.shape[0], len(penalties)), level)

    def solution(penalty: float) -> Array:
        above = [0.0, *off_diagonal[:-1]]
        below = [*off_diagonal[:-1], 0.0]
        bands = np.array([above, np.add(diagonal, penalty), below])
        return np.asarray(solve_banded((1, 1), bands, np.eye(len(diagonal))[0]))

    def error() -> float:
        return off_diagonal[-1] * abs(float(solution(min(penalties))[-1]))

    basis = [(quality - level) / length]
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    while True:
        weights = transposed @ basis[-1] - mean * basis[-1].sum()
        vector = X @ weights - mean @ weights
        if off_diagonal:
            vector -= off_diagonal[-1] * basis[-2]
        diagonal.append(float(vector @ basis[-1]))
        vector -= diagonal[-1] * basis[-1]
        off_diagonal.append(float(np.linalg.norm(vector)))
        complete = off_diagonal[-1] <= NEAR * min(penalties) or len(basis) == len(quality)
        if complete or (len(basis) % STEPS == 0 and error() <= NEAR):
            break
        basis.append(vector / off_diagonal[-1])
    solutions = np.stack([solution(penalty) for penalty in penalties], axis=1)
    dual = length * (np.stack(basis, axis=1) @ solutions)
    weights = transposed @ dual - np.outer(mean, dual.sum(axis=0))
    return np.asarray(new @ weights - mean @ weights + level)


def ridge_regression(alpha: float) -> Any:
    """Return scikit-learn's ridge regression, which solves as exactly as a double allows."""
    from sklearn.linear_model import Ridge

    return Ridge(alpha=alpha, solver="sparse_cg", tol=EXACT)


class RidgeBeside:
    """A baseline that does not read texts, and `RidgeTfidf` on what that leaves of the quality. X
    has pairs of what the baseline looks at, such as the system, and the text. Where the baseline
    has no estimate, the mean quality counts.

    Parameters
    ----------
    baseline : such as `Lookup` or `refless.models.additive.Additive`
    ngrams, alphas : as of `RidgeTfidf`

    Examples
    --------
    >>> pairs = [("a", "good food"), ("a", "bad food"), ("b", "good"), ("b", "bad")]
    >>> model = RidgeBeside(Lookup()).fit(pairs, [5.0, 4.0, 3.0, 2.0])
    >>> model.predict([("a", ""), ("b", ""), ("new", "")]).round(1)
    array([4.5, 2.5, 3.5])
    """

    def __init__(
        self, baseline: Any, ngrams: Ngrams | None = None, alphas: Sequence[float] = _PENALTIES
    ) -> None:
        self.baseline = baseline
        self.ridge = RidgeTfidf(ngrams, alphas)

    def fit(self, X: Any, quality: Any, groups: Any = None) -> Self:
        values = np.asarray(quality, np.float64)
        self._mean = values.mean()
        self.baseline.fit([features for features, _ in X], values, groups)
        self.ridge.fit([text for _, text in X], values - self._beside_training(X), groups)
        return self

    def predict(self, X: Any) -> Array:
        return self._beside(X) + self.ridge.predict([text for _, text in X])

    def _beside_training(self, X: Any) -> Array:
        """The baseline's estimates of the texts that it was fitted to."""
        return self._beside(X)

    def _beside(self, X: Any) -> Array:
        estimates = self.baseline.predict([features for features, _ in X])
        return np.where(np.isnan(estimates), self._mean, estimates)


class RidgeScores:
    """Ridge regression over several scores of a text, standardised; its strength is chosen by
    leave-one-out. NaN for a text that has no score.

    Examples
    --------
    >>> model = RidgeScores().fit([[1, 2], [2, 1], [3, 4], [4, 3]], [1.0, 2.0, 3.0, 4.0])
    >>> model.predict([[2.5, 2.5], [np.nan, np.nan]]).round(1)
    array([2.5, nan])
    """

    def fit(self, X: Any, quality: Any, groups: Any = None) -> Self:
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import RidgeCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        filled = SimpleImputer(keep_empty_features=True)
        model = make_pipeline(filled, StandardScaler(), RidgeCV(np.logspace(-2, 4, 13)))
        self._model = model.fit(np.array(X), quality)
        return self

    def predict(self, X: Any) -> Array:
        scores = np.array(X)
        if not len(scores):
            return np.zeros(0)
        return np.where(np.isnan(scores).all(axis=1), np.nan, self._model.predict(scores))
