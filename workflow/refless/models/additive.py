"""What trivia can do together: ridge regression on system, context and length, with or without the
words of a text.

Stage: prediction. In: training examples with their system and context. Out: one estimate a text.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from refless.models.baselines import Ngrams, RidgeTfidf, chosen_penalty, ridge_regression

Array = np.ndarray

PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Of the trivial features."""
TEXT_PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e6)
"""Of TF-IDF beside them; with the last one the text counts for nothing."""
BINS = 10
"""Of length, with as many training examples in each."""


class RatedText(NamedTuple):
    """A text and where it comes from; a number below 0: nobody says."""

    text: str
    system: int
    context: int


class TrivialFeatures:
    """What is known of a text without reading it: its system and its context, a column for each
    that the training examples have; its length in characters, the logarithm of it and its number of
    words, standardised; and which tenth of the training examples is about as long."""

    def fit(self, texts: Sequence[RatedText]) -> Self:
        lengths, numbers = self._numbers(texts)
        self._systems = np.unique([text.system for text in texts if text.system >= 0])
        self._contexts = np.unique([text.context for text in texts if text.context >= 0])
        self._edges = np.unique(np.quantile(lengths, np.arange(1, BINS) / BINS))
        self._mean, deviation = numbers.mean(axis=0), numbers.std(axis=0)
        self._deviation = np.where(deviation > 0, deviation, 1)
        return self

    def transform(self, texts: Sequence[RatedText]) -> Any:
        """Sparse float64, shape (texts, features)."""
        from scipy.sparse import csr_array, hstack

        lengths, numbers = self._numbers(texts)
        columns = [
            (np.array([text.system for text in texts]), self._systems),
            (np.array([text.context for text in texts]), self._contexts),
            (np.searchsorted(self._edges, lengths), np.arange(len(self._edges) + 1)),
        ]
        standardised = csr_array((numbers - self._mean) / self._deviation)
        indicators = [_indicators(values, levels) for values, levels in columns]
        return hstack([standardised, *indicators], format="csr")

    @staticmethod
    def _numbers(texts: Sequence[RatedText]) -> tuple[Array, Array]:
        lengths = np.array([len(text.text) for text in texts], np.float64)
        words = [len(text.text.split()) for text in texts]
        return lengths, np.column_stack([lengths, np.log1p(lengths), words])


def _indicators(values: Array, levels: Array) -> Any:
    """A column for each level, 1 where the value is this level."""
    from scipy.sparse import csr_array

    column = pd.Index(levels).get_indexer(values)
    rows = np.flatnonzero(column >= 0)
    return csr_array((np.ones(len(rows)), (rows, column[rows])), (len(values), len(levels)))


class Additive:
    """Ridge regression on `TrivialFeatures`; its penalty is chosen as that of `RidgeTfidf`.

    Attributes
    ----------
    alpha_ : the penalty that was chosen

    Examples
    --------
    >>> texts = [RatedText("a " * n, system, -1) for n in (3, 5, 8) for system in (0, 1)] * 4
    >>> model = Additive().fit(texts, [text.system for text in texts])
    >>> (model.predict(texts) > 0.5).tolist() == [text.system == 1 for text in texts]
    True
    """

    def fit(self, texts: Sequence[RatedText], quality: Any, groups: Any = None) -> Self:
        """Fit to ``quality``, float64 (texts,). Texts of one of the ``groups`` stay together where
        the penalty is chosen (default: none)."""
        values = np.asarray(quality, np.float64)
        self._features = TrivialFeatures().fit(texts)
        design = self._features.transform(texts)
        self.alpha_ = chosen_penalty(design, values, groups, PENALTIES)
        self._model = ridge_regression(self.alpha_).fit(design, values)
        return self

    def predict(self, texts: Sequence[RatedText]) -> Array:
        if not texts:
            return np.zeros(0)
        estimates = self._model.predict(self._features.transform(texts))
        # equal estimates tie, whatever the solver leaves in the last digits
        return np.round(np.asarray(estimates, np.float64), 9)


class AdditiveRidge:
    """`Additive`, and `RidgeTfidf` on what that leaves of the quality, where the text may also
    count for nothing.

    Parameters
    ----------
    ngrams : as of `RidgeTfidf`

    Attributes
    ----------
    additive_, ridge_ : both models, fitted

    Examples
    --------
    >>> texts = [RatedText(text, system, -1) for text in ("good", "bad") for system in (0, 1)] * 4
    >>> model = AdditiveRidge().fit(texts, [3.0, 2.0, 2.0, 1.0] * 4)
    >>> model.predict(texts[:4]).round(1)
    array([3., 2., 2., 1.])
    """

    def __init__(self, ngrams: Ngrams | None = None) -> None:
        self.ngrams = ngrams

    def fit(self, texts: Sequence[RatedText], quality: Any, groups: Any = None) -> Self:
        """As `Additive.fit`."""
        self.additive_ = Additive().fit(texts, quality, groups)
        residuals = np.asarray(quality, np.float64) - self.additive_.predict(texts)
        self.ridge_ = RidgeTfidf(self.ngrams, TEXT_PENALTIES)
        self.ridge_.fit([text.text for text in texts], residuals, groups)
        return self

    def predict(self, texts: Sequence[RatedText]) -> Array:
        of_text = self.ridge_.predict([text.text for text in texts])
        return self.additive_.predict(texts) + of_text
