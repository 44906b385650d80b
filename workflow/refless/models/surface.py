"""What a text's surface says of its quality: a rival that reads no word and is no sum.

`Surface` is `Additive` plus gradient boosting on what that leaves. Trees find what no sum has, such
as a length that is good in one system and bad in another. Where there is nothing of the kind, they
learn noise: so what they say is weighted by how much of it held on inner folds.

Stage: prediction. In: training texts with their system and context. Out: one estimate a text.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import Any, NamedTuple, Self

import numpy as np

from refless.models.additive import TEXT_PENALTIES, Additive, RatedText
from refless.models.baselines import Ngrams, RidgeBeside, group_numbers
from refless.models.folds import in_folds

Array = np.ndarray

FOLDS = 5
"""The number of inner folds, at most."""
FEWEST_FOLDS = 3
"""The number of inner folds without which boosting has no weight, since a model that leaves out two
of them must have something to learn from."""
# Gradient boosting: these settings were chosen on simulated texts alone (`benchmarks.surface`).
TREES = 50
"""The number of trees."""
LEAVES = 8
"""The number of leaves of a tree, at most."""
RATE = 0.1
"""The learning rate."""
TEXTS_OF_A_LEAF = 20
"""The number of training texts of a leaf, at least."""
MOST_SYSTEMS = 200
"""Boosting can tell apart so many systems, those with the most training texts. Scikit-learn's limit
is 255."""


class Surface:
    """`Additive` plus gradient boosting on its cross-fitted residuals, on the system, the number of
    characters and words, the mean length of a word, and the shares of punctuation, capitals and
    digits (`surface_features`). Context is for `Additive` alone.

    What boosting says is multiplied by a weight from 0 to 1, the least squares coefficient of the
    residuals on boosting's own estimates of them. To make these, each inner fold k is left out of
    everything: of boosting, and of every `Additive` whose residuals boosting learns from. Without
    this care the weight is too small: a residual y_j - a_j of another fold falls with the quality
    of a text in k that `Additive` has learned from.

    Parameters
    ----------
    seed : of the inner folds

    Attributes
    ----------
    weight_ : of what boosting says, in [0, 1]; 0 with fewer than `FEWEST_FOLDS` groups
    cross_fitted_ : estimates of the training texts, float64 (texts,), each by models that have not
        seen its inner fold; with one group by the model itself

    Examples
    --------
    A long text is good in system "a", and bad in system "b": a sum cannot say this.

    >>> texts = [RatedText("a " * n, system, "") for n in range(1, 61) for system in "ab"]
    >>> sign = {"a": 1, "b": -1}
    >>> quality = [sign[text.system] * len(text.text) / 100 for text in texts]
    >>> model = Surface().fit(texts, quality)
    >>> asked = [RatedText("a " * n, system, "") for system in "ab" for n in (10, 50)]
    >>> model.predict(asked).round(1), Additive().fit(texts, quality).predict(asked).round(1)
    (array([ 0.2,  1. , -0.1, -1. ]), array([ 0.6,  0.6, -0.6, -0.6]))
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, texts: Sequence[RatedText], quality: Any, groups: Any = None) -> Self:
        """Fit to ``quality``, float64 (texts,). Texts of one of the ``groups`` stay together in
        the inner folds (default: none)."""
        values = np.asarray(quality, np.float64)
        group = group_numbers(groups, len(texts))
        # compared methods that build on this one are fitted to the same texts one after the other
        parts = _fitted(tuple(texts), values.tobytes(), group.tobytes(), self.seed)
        self._additive = parts.additive
        self._systems = parts.systems
        self._boosting = parts.boosting
        self.weight_ = parts.weight
        self.cross_fitted_ = parts.cross_fitted
        return self

    def predict(self, texts: Sequence[RatedText]) -> Array:
        from threadpoolctl import threadpool_limits

        estimates = self._additive.predict(texts)
        if not texts or self.weight_ == 0:
            return estimates
        with threadpool_limits(1):
            boosted = self._boosting.predict(surface_features(texts, self._systems))
        return self._additive.rounded(estimates + self.weight_ * boosted)


class _Parts(NamedTuple):
    """What a `Surface` learns."""

    additive: Additive
    systems: list[str]
    boosting: Any  # None without a weight
    weight: float
    cross_fitted: Array


@lru_cache(maxsize=1024)
def _fitted(texts: tuple[RatedText, ...], quality: bytes, group: bytes, seed: int) -> _Parts:
    """The parts of `Surface`, from float64 and int64 arrays as bytes."""
    values = np.frombuffer(quality)
    groups = np.frombuffer(group, np.int64)
    fold = in_folds(groups, FOLDS, np.random.default_rng(seed))
    additive = Additive().fit(texts, values, groups.tolist())
    systems = _most_frequent([text.system for text in texts], MOST_SYSTEMS)
    if fold.max() == 0:
        return _Parts(additive, systems, None, 0.0, additive.predict(texts))
    left_out = additive_without_two_folds(texts, values, fold, additive.penalty_)
    base = left_out[fold, np.arange(len(texts))]
    features = surface_features(texts, systems)
    boosted = np.zeros(len(texts))
    if fold.max() + 1 >= FEWEST_FOLDS:
        for k in range(int(fold.max()) + 1):
            rest = fold != k
            candidates = fold == k
            model = _boosting(features[rest], (values - left_out[k])[rest])
            boosted[candidates] = model.predict(features[candidates])
    weight = _weight(boosted, values - base)
    boosting = _boosting(features, values - base) if weight > 0 else None
    return _Parts(additive, systems, boosting, weight, base + weight * boosted)


class SurfaceRidge(RidgeBeside):
    """`Surface`, and `RidgeTfidf` on what its cross-fitted estimates leave of the quality: whether
    reading adds to what the surface says. X has pairs of a `RatedText` and its text.

    Parameters
    ----------
    ngrams : as of `RidgeTfidf`
    seed : as of `Surface`

    Examples
    --------
    >>> texts = [f"{word} {noun}" for noun in "abcdefgh" for word in ("good", "poor")]
    >>> pairs = [(RatedText(text, "", ""), text) for text in texts]
    >>> model = SurfaceRidge().fit(pairs, [4.0 if "good" in text else 1.0 for text in texts])
    >>> good, poor = model.predict([(RatedText(text, "", ""), text) for text in ("good", "poor")])
    >>> bool(good > poor)
    True
    """

    def __init__(self, ngrams: Ngrams | None = None, seed: int = 0) -> None:
        super().__init__(Surface(seed), ngrams, TEXT_PENALTIES)

    def _beside_training(self, X: Any) -> Array:
        return np.asarray(self.baseline.cross_fitted_)


class SurfaceScore:
    """Least squares on `Surface` and somebody's score of a text: whether the score adds to what
    the surface says. X has pairs of a `RatedText` and the score; a missing one counts as the mean
    of the training texts' scores.

    Examples
    --------
    >>> pairs = [(RatedText("a " * (k % 3), "", ""), float(k)) for k in range(12)]
    >>> model = SurfaceScore().fit(pairs, [2.0 * score for _, score in pairs])
    >>> model.predict([(RatedText("a", "", ""), 20.0)]).round(3)
    array([40.])
    """

    def __init__(self, seed: int = 0) -> None:
        self.surface = Surface(seed)

    def fit(self, X: Any, quality: Any, groups: Any = None) -> Self:
        values = np.asarray(quality, np.float64)
        self.surface.fit([text for text, _ in X], values, groups)
        score = np.array([score for _, score in X], np.float64)
        known = score[~np.isnan(score)]
        self._mean_score = known.mean() if len(known) else 0.0
        design = self._design(self.surface.cross_fitted_, score)
        self._coefficients = np.linalg.lstsq(design, values, rcond=None)[0]
        return self

    def predict(self, X: Any) -> Array:
        if not X:
            return np.zeros(0)
        estimates = self.surface.predict([text for text, _ in X])
        score = np.array([score for _, score in X], np.float64)
        return np.asarray(self._design(estimates, score) @ self._coefficients)

    def _design(self, estimates: Array, score: Array) -> Array:
        """A column of ones, the estimates of `Surface`, and the score."""
        filled = np.where(np.isnan(score), self._mean_score, score)
        return np.column_stack([np.ones(len(filled)), estimates, filled])


def additive_without_two_folds(
    texts: Sequence[RatedText], quality: Array, fold: Array, penalty: float
) -> Array:
    """Estimates by `Additive` of each text in fold j without folds j and k, float64 (folds, texts).

    In row k, texts of fold k itself are estimated without k alone, the others without k and their
    own fold: whatever learns from the residuals of the others in row k has not seen fold k, and nor
    has its training. NaN where two folds are all there is.

    texts, quality : to learn from and to estimate, (texts,)
    fold : of each text, int64 (texts,), from 0
    penalty : of `Additive`

    With three folds, row 0 has the estimates of fold 0 from folds 1 and 2, of fold 1 from fold 2,
    and of fold 2 from fold 1. A text whose length and place say nothing has the mean of these:

    >>> texts, quality = [RatedText("a", "", "")] * 3, np.array([1.0, 2.0, 4.0])
    >>> additive_without_two_folds(texts, quality, np.array([0, 1, 2]), penalty=1.0)
    array([[3. , 4. , 2. ],
           [4. , 2.5, 1. ],
           [2. , 1. , 1.5]])
    """
    folds = int(fold.max()) + 1
    estimates = np.full((folds, len(texts)), np.nan)
    for k in range(folds):
        for j in range(k + 1):
            training = (fold != k) & (fold != j)
            if not training.any():
                continue
            model = Additive([penalty]).fit([*compress(texts, training)], quality[training])
            for left_out, row in ((k, j), (j, k)):
                candidates = fold == left_out
                estimates[row, candidates] = model.predict([*compress(texts, candidates)])
    return estimates


def surface_features(texts: Sequence[RatedText], systems: Sequence[str]) -> Array:
    """What is seen of a text without reading it, float64 (texts, 7): the number of its system among
    ``systems`` (NaN of another one), its characters, its words, the mean characters of a word, and
    the shares of its characters that are punctuation, capitals and digits. Punctuation is whatever
    is neither a letter, a digit nor a blank.

    >>> surface_features([RatedText("Ab, 12!", "y", "")], systems=["x", "y"]).round(2)
    array([[1.  , 7.  , 2.  , 3.  , 0.29, 0.14, 0.29]])
    """
    number_of = {system: number for number, system in enumerate(systems)}
    numbers = [float(number_of.get(text.system, np.nan)) for text in texts]
    rows = [_surface(text.text) for text in texts]
    return np.column_stack([numbers, np.reshape(rows, (-1, 6))])


def _surface(text: str) -> tuple[float, ...]:
    words = text.split()
    length = max(len(text), 1)
    letters = sum(map(len, words))
    punctuation = letters - sum(map(str.isalnum, text))
    capitals = sum(map(str.isupper, text))
    digits = sum(map(str.isdigit, text))
    return (
        len(text),
        len(words),
        letters / max(len(words), 1),
        punctuation / length,
        capitals / length,
        digits / length,
    )


def _most_frequent(systems: Sequence[str], most: int) -> list[str]:
    """The systems with the most texts; of equally many, that which is met first."""
    return [system for system, _ in Counter(filter(None, systems)).most_common(most)]


def _boosting(features: Array, residuals: Array) -> Any:
    """Gradient boosting by scikit-learn on one thread, the system as a category."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingRegressor(
        max_iter=TREES,
        max_leaf_nodes=LEAVES,
        learning_rate=RATE,
        min_samples_leaf=TEXTS_OF_A_LEAF,
        categorical_features=[0],
        early_stopping=False,
    )
    # a tree is small: several threads would only wait for each other
    with threadpool_limits(1):
        return model.fit(features, residuals)


def _weight(boosted: Array, residuals: Array) -> float:
    """Return the weight of boosting's estimates: the coefficient of least squares without an
    intercept, clipped to [0, 1]; 0 where all estimates are 0.

    boosted, residuals : boosting's estimates, and the residuals that they are of, float64 (n,)
    """
    square = boosted @ boosted
    return float(np.clip(boosted @ residuals / square, 0, 1)) if square > 0 else 0.0
