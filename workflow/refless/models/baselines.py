"""What any estimate of quality should be compared with: baselines without a kernel.

Stage: prediction. In: training examples, and their systems where a baseline asks for them. Out: one
estimate of quality a text; NaN where a baseline has none.

===========  ====================================================================================
Constant     the mean quality of the training examples, or a value that is given
Length       a least squares line on the number of characters (or of tokens between blanks)
Lookup       the mean quality of the training examples with an equal text
SystemMean   the mean quality of the training examples of the text's own system
RidgeTfidf   ridge regression on TF-IDF weights of character n-grams (scikit-learn)
SystemRidge  the mean of the system, and ridge regression on what it leaves of the quality
===========  ====================================================================================

All are used alike, ``fit(texts, quality, systems=..., groups=...)`` and ``predict(texts,
systems=...)``; who needs no systems or groups does not look at them. ``leave_one_out()`` predicts
each training example from all the others.

Mind a trap of leave-one-out: a mean without one's own quality is the lower, the higher that is. So
a constant has rho -1 by construction, and a mean over a large system is upside down within it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from refless.errors import SettingError
from refless.models.neighbors import listed_texts, training_examples

Array = np.ndarray


class Baseline:
    """What the baselines have in common: checks, and what stands where nothing is known.

    ``mean_`` is the mean quality of the training examples, after `fit`.
    """

    def fit(
        self,
        texts: Sequence[str],
        quality: Sequence[float] | Array,
        *,
        systems: Sequence[str] | None = None,
        groups: Sequence[object] | None = None,
    ) -> Baseline:
        """Learn from training examples.

        Parameters
        ----------
        texts, quality : one a training example
        systems : who wrote each text; only `SystemMean` uses them
        groups : examples of equal group stay together where a setting is chosen within the
            training examples; only `RidgeTfidf` uses them

        Raises
        ------
        SettingError : lengths differ, there is no example, or a quality is not a finite number.
        """
        self.texts_, self.quality_ = training_examples(texts, quality)
        self.mean_ = float(self.quality_.mean())
        for name, beside in (("systems", systems), ("groups", groups)):
            _as_many(name, beside, len(self.texts_))
        self.systems_ = None if systems is None else list(systems)
        self.groups_ = None if groups is None else list(groups)
        self._fit()
        return self

    def predict(self, texts: Sequence[str], *, systems: Sequence[str] | None = None) -> Array:
        """Estimated quality, float64, shape (len(texts),).

        Raises
        ------
        SettingError : nothing was learned yet, or there are not as many systems as texts.
        """
        listed = listed_texts(texts)
        self._fitted()
        _as_many("systems", systems, len(listed))
        return self._predict(listed, None if systems is None else list(systems))

    def leave_one_out(self) -> Array:
        """Predict each training example from all the others, shape (training,).

        NaN where there is no other.
        """
        self._fitted()
        return self._leave_one_out()

    def _fitted(self) -> None:
        if not hasattr(self, "mean_"):
            raise SettingError("the model has no training examples yet", remedy="call fit first")

    def _mean_of_others(self) -> Array:
        """The training mean without the example itself; NaN where there is no other."""
        return _mean(self.quality_.sum() - self.quality_, len(self.quality_) - 1)

    def _fit(self) -> None:
        raise NotImplementedError

    def _predict(self, texts: list[str], systems: list[str] | None) -> Array:
        raise NotImplementedError

    def _leave_one_out(self) -> Array:
        raise NotImplementedError


class Constant(Baseline):
    """One value, whatever the text.

    Parameters
    ----------
    value : it; None: the mean quality of the training examples
    """

    def __init__(self, value: float | None = None) -> None:
        self.value = value

    def _fit(self) -> None:
        pass

    def _predict(self, texts: list[str], systems: list[str] | None) -> Array:
        return np.full(len(texts), self.mean_ if self.value is None else self.value)

    def _leave_one_out(self) -> Array:
        if self.value is None:
            return self._mean_of_others()
        return np.full(len(self.quality_), float(self.value))


class Length(Baseline):
    """A least squares line from the length of a text to its quality.

    Parameters
    ----------
    unit : ``characters``, or ``tokens`` (what stands between blanks)

    Where all training examples are equally long, it is their mean quality.
    """

    def __init__(self, unit: str = "characters") -> None:
        if unit not in ("characters", "tokens"):
            raise SettingError(f"unit is {unit!r}; it must be characters or tokens")
        self.unit = unit

    def _length(self, texts: Iterable[str]) -> Array:
        return np.array(
            [len(text if self.unit == "characters" else text.split()) for text in texts], np.float64
        )

    def _fit(self) -> None:
        self._own = self._length(self.texts_)
        self._middle = float(self._own.mean())
        away = self._own - self._middle
        self._spread = float(away @ away)
        self._both = float(away @ (self.quality_ - self.mean_))
        self.slope_ = float(_slope(np.array(self._both), np.array(self._spread)))

    def _predict(self, texts: list[str], systems: list[str] | None) -> Array:
        return self.mean_ + self.slope_ * (self._length(texts) - self._middle)

    def _leave_one_out(self) -> Array:
        n = len(self.quality_)
        if n < 2:
            return np.full(n, np.nan)
        # the moments without one example: it takes n / (n - 1) of its own product with it
        x, y = self._own - self._middle, self.quality_ - self.mean_
        share = n / (n - 1)
        slope = _slope(self._both - share * x * y, self._spread - share * x * x)
        return self._mean_of_others() + slope * share * x


class _MeansByName(Baseline):
    """The mean quality of the training examples of a text's own name."""

    def __init__(self, unseen: str) -> None:
        if unseen not in ("mean", "nan"):
            raise SettingError(f"unseen is {unseen!r}; it must be mean or nan")
        self.unseen = unseen

    def _names(self, texts: list[str], systems: list[str] | None) -> list[object]:
        raise NotImplementedError

    def _fit(self) -> None:
        self._sums = _Sums(self._names(self.texts_, self.systems_), self.quality_)

    def _predict(self, texts: list[str], systems: list[str] | None) -> Array:
        return self._filled(self._sums.means(self._names(texts, systems)), self.mean_)

    def _leave_one_out(self) -> Array:
        return self._filled(self._sums.means_of_others(), self._mean_of_others())

    def _filled(self, found: Array, mean: Array | float) -> Array:
        return found if self.unseen == "nan" else np.where(np.isnan(found), mean, found)


class Lookup(_MeansByName):
    """The mean quality of the training examples with an equal text.

    Parameters
    ----------
    key : what is compared; the text itself unless given. With a function that leaves out names,
        texts that differ in values alone are equal.
    unseen : what a text has that no training example equals: ``mean`` (of all training
        examples), or ``nan``
    """

    def __init__(self, key: Callable[[str], object] = str, unseen: str = "mean") -> None:
        super().__init__(unseen)
        self.key = key

    def _names(self, texts: list[str], systems: list[str] | None) -> list[object]:
        return [self.key(text) for text in texts]


class SystemMean(_MeansByName):
    """The mean quality of the training examples of the text's own system.

    Parameters
    ----------
    unseen : what a text of a system without training examples has: ``mean`` (of all training
        examples), or ``nan``
    """

    def __init__(self, unseen: str = "mean") -> None:
        super().__init__(unseen)

    def _names(self, texts: list[str], systems: list[str] | None) -> list[object]:
        if systems is None:
            raise SettingError(
                "the mean of a text's system needs the systems", remedy="give them as systems="
            )
        return list(systems)


class Ngrams:
    """Character n-grams within words, counted once for all texts that will be asked for.

    Parameters
    ----------
    texts : those that are counted now; another text is counted when it is asked for, by the
        n-grams of these alone
    lengths : shortest and longest n-gram
    """

    def __init__(self, texts: Sequence[str], lengths: tuple[int, int] = (1, 3)) -> None:
        # imported only here: it takes longer than most jobs
        from sklearn.feature_extraction.text import CountVectorizer

        self.lengths = lengths
        self._row = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        self._count = CountVectorizer(analyzer="char_wb", ngram_range=lengths, dtype=np.float64)
        blank = not any(text.strip() for text in self._row)
        self._counts = None if blank else self._count.fit_transform(self._row)

    def of(self, texts: Sequence[str]) -> Any:
        """Counts of each text, sparse float64 of shape (len(texts), n-grams), in alphabetical
        order; None where no text has had any n-gram."""
        if self._counts is None:
            return None
        if all(text in self._row for text in texts):
            return self._counts[[self._row[text] for text in texts]]
        return self._count.transform(texts)


class RidgeTfidf(Baseline):
    """Ridge regression on TF-IDF weights of character n-grams within words, by scikit-learn.

    Parameters
    ----------
    ngrams : of all texts that will be asked for, so that several fits count them once; without it,
        those of 1 to 3 characters of the training examples
    alphas : strengths of the penalty to choose from
    folds : into which the training examples are dealt to choose one: the one of the least squared
        error. With ``groups`` at `fit`, whole groups are dealt. Fewer than two examples (groups)
        leave no choice: then it is the strongest. Of more than `MANY` examples one fold decides.
    seed : of the deal; with groups there is no chance

    ``alpha_`` is the one chosen. Weights of n-grams are those of all training examples, also while
    alpha is chosen: they look at texts and at no quality.
    """

    def __init__(
        self,
        ngrams: Ngrams | None = None,
        alphas: Sequence[float] = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
        folds: int = 3,
        seed: int = 0,
    ) -> None:
        if not len(alphas) or min(alphas) <= 0:
            raise SettingError("alphas must be one or more positive numbers")
        if folds < 2:
            raise SettingError(f"folds is {folds}; it must be 2 or more")
        self.ngrams, self.alphas = ngrams, sorted(alphas)
        self.folds, self.seed = folds, seed

    def _fit(self) -> None:
        from sklearn.feature_extraction.text import TfidfTransformer
        from threadpoolctl import threadpool_limits

        self._counts = self.ngrams or Ngrams(self.texts_)
        self._ridge = None
        counts = self._counts.of(self.texts_)
        if counts is None or not counts.nnz:
            return  # no n-gram at all: the mean is all there is
        # n-grams that no training example has are not known
        self._known = np.unique(counts.indices)
        self._weigh = TfidfTransformer()
        own = self._weigh.fit_transform(counts[:, self._known])
        # rows are short: several threads would only wait for each other
        with threadpool_limits(1):
            self.alpha_ = self._choose(own)
            self._ridge = _regression(self.alpha_, EXACT).fit(own, self.quality_)

    def _choose(self, weights: Any) -> float:
        """The alpha with the least squared error on folds of the training examples."""
        from sklearn.model_selection import GroupKFold, KFold

        number = len(self.texts_) if self.groups_ is None else len(set(self.groups_))
        folds = min(self.folds, number)
        if folds < 2 or len(self.alphas) == 1:
            return self.alphas[-1]
        if self.groups_ is None:
            split = KFold(folds, shuffle=True, random_state=self.seed).split(weights)
        else:
            # no array of strings: each would be as long as the longest
            number_of = {name: k for k, name in enumerate(sorted(set(map(str, self.groups_))))}
            names = [number_of[str(name)] for name in self.groups_]
            split = GroupKFold(folds).split(weights, groups=names)
        error = np.zeros(len(self.alphas))
        if len(self.texts_) > MANY:
            split = [next(iter(split))]
        every = _regression(self.alphas, NEAR)
        for training, rest in split:
            sides = np.tile(self.quality_[training, None], len(self.alphas))
            found = every.fit(weights[training], sides).predict(weights[rest])
            error += ((found - self.quality_[rest, None]) ** 2).sum(axis=0)
        return self.alphas[int(np.argmin(error))]

    def _predict(self, texts: list[str], systems: list[str] | None) -> Array:
        if self._ridge is None or not texts:
            return np.full(len(texts), self.mean_)
        own = self._weigh.transform(self._counts.of(texts)[:, self._known])
        return np.asarray(self._ridge.predict(own), np.float64)

    def _leave_one_out(self) -> Array:
        raise SettingError(
            "ridge regression is not fitted anew for each training example",
            remedy="predict the folds of `out_of_fold`",
        )


MANY = 5000
"""Training examples of which a third is enough to tell penalties apart."""
EXACT, NEAR = 1e-12, 1e-5
"""Of a solution's residual. The solver goes step by step: what it leaves hangs on the machine, so
estimates leave nothing to see. Which penalty is best is told from less."""


def _regression(alpha: float | list[float], tolerance: float) -> Any:
    """With one penalty, or one for each column of ratings."""
    from sklearn.linear_model import Ridge

    return Ridge(alpha=alpha, solver="sparse_cg", tol=tolerance)


class SystemRidge(RidgeTfidf):
    """The mean of the text's own system, and ridge regression on what that leaves of the quality.

    Parameters are those of `RidgeTfidf`. A text of a system without training examples has the mean
    of all in its place.
    """

    def _fit(self) -> None:
        self._means = SystemMean().fit(self.texts_, self.quality_, systems=self.systems_)
        whole = self.quality_
        self.quality_ = whole - self._means.predict(self.texts_, systems=self.systems_)
        super()._fit()
        self.quality_ = whole

    def _predict(self, texts: list[str], systems: list[str] | None) -> Array:
        means = self._means.predict(texts, systems=systems)
        if self._ridge is None or not texts:
            return means
        return means + super()._predict(texts, systems)


def out_of_fold(
    make: Callable[[], Baseline],
    texts: Sequence[str],
    quality: Sequence[float] | Array,
    fold: Sequence[int] | Array,
    *,
    systems: Sequence[str] | None = None,
    groups: Sequence[object] | None = None,
) -> Array:
    """Predict each example by a new baseline, fitted on the examples of all other folds.

    Parameters
    ----------
    make : makes a new baseline, e.g. the class
    fold : number of each example's fold, shape (examples,)
    others : as at `Baseline.fit`

    Returns
    -------
    Array : float64, shape (examples,)

    Raises
    ------
    SettingError : lengths differ, or all examples are in one fold.
    """
    texts = listed_texts(texts)
    dealt, values = np.asarray(fold), np.asarray(quality, np.float64)
    _as_many("folds", dealt, len(texts))
    _as_many("qualities", values, len(texts))
    if len(np.unique(dealt)) < 2:
        raise SettingError("all examples are in one fold", remedy="deal two folds or more")

    def part(of: Sequence[Any] | None, rows: Array) -> Any:
        return None if of is None else [of[int(row)] for row in rows]

    out = np.empty(len(texts))
    for number in np.unique(dealt):
        own, rest = np.flatnonzero(dealt == number), np.flatnonzero(dealt != number)
        fitted = make().fit(
            part(texts, rest),
            values[rest],
            systems=part(systems, rest),
            groups=part(groups, rest),
        )
        out[own] = fitted.predict(part(texts, own), systems=part(systems, own))
    return out


class _Sums:
    """Sums of quality by name."""

    def __init__(self, names: Sequence[object], quality: Array) -> None:
        self._quality = quality
        self._place: dict[object, int] = {}
        self._row = [self._place.setdefault(name, len(self._place)) for name in names]
        # the last place is that of an unknown name
        self._total = np.append(np.bincount(self._row, quality), 0)
        self._number = np.append(np.bincount(self._row), 0)

    def means(self, names: Sequence[object]) -> Array:
        """Mean quality of the rows of each name, NaN without any."""
        found = [self._place.get(name, -1) for name in names]
        return _mean(self._total[found], self._number[found].astype(np.float64))

    def means_of_others(self) -> Array:
        """The same for the rows themselves, each without its own quality."""
        number = self._number[self._row].astype(np.float64)
        return _mean(self._total[self._row] - self._quality, number - 1)


def _mean(total: Array, number: Array | int) -> Array:
    """``total / number``, NaN where the number is 0.

    To twelve digits of the largest: a sum from which one's own was taken away is off by a rounding,
    which would break ties.
    """
    number = np.broadcast_to(np.asarray(number, np.float64), total.shape)
    mean = total / np.maximum(number, 1)
    largest = np.abs(mean).max(initial=0)
    size = int(np.floor(np.log10(largest))) if 0 < largest < np.inf else 0
    # of a scale of about 1, digits behind the point
    unit = 10.0 ** (size if size > 0 else min(0, size + 1))
    return np.where(number > 0, np.round(mean / unit, 12) * unit, np.nan)


def _slope(both: Array, spread: Array) -> Array:
    """Slope of a line from the sums of products; 0 where all lengths are the same.

    Lengths are whole numbers: a spread below a thousandth is rounding.
    """
    return np.where(spread > 1e-3, both / np.where(spread > 1e-3, spread, 1.0), 0.0)


def _as_many(name: str, beside: Sequence[object] | Array | None, n: int) -> None:
    if beside is not None and len(beside) != n:
        raise SettingError(f"{n} texts but {len(beside)} {name}")
