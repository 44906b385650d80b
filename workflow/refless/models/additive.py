"""What trivia can do together: ridge regression on system, context and length.

Stage: prediction. In: training texts with their system and context. Out: one estimate a text.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from refless.models.baselines import chosen_penalty, ridge_regression

Array = np.ndarray

PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
TEXT_PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e6)
"""The penalties of a text beside system, context and length (`RidgeBeside`). With the last one the
text counts for nothing."""
BINS = 10
"""The number of classes of length, each of which has as many training texts."""


class RatedText(NamedTuple):
    """A text and where it comes from: the name of its system and of its context, empty where nobody
    says."""

    text: str
    system: str
    context: str


class Additive:
    """Ridge regression on what is known of a text without reading it: its system and its context, a
    column for each that the training texts have; its length in characters, the logarithm of it
    and its number of words, standardised; and which tenth of the training texts is about as
    long. The penalty is chosen as that of `RidgeTfidf`.

    Parameters
    ----------
    penalties : to choose from

    Attributes
    ----------
    penalty_ : the one that was chosen

    Examples
    --------
    >>> texts = [RatedText("a " * n, system, "") for n in (3, 5, 8) for system in "ab"] * 4
    >>> model = Additive().fit(texts, [text.system == "b" for text in texts])
    >>> (model.predict(texts) > 0.5).tolist() == [text.system == "b" for text in texts]
    True
    """

    def __init__(self, penalties: Sequence[float] = PENALTIES) -> None:
        self.penalties = penalties

    def fit(self, texts: Sequence[RatedText], quality: Any, groups: Any = None) -> Self:
        """Fit to ``quality``, float64 (texts,). Texts of one of the ``groups`` stay together where
        the penalty is chosen (default: none)."""
        values = np.asarray(quality, np.float64)
        numbers = _numbers(texts)
        self._systems = sorted({text.system for text in texts} - {""})
        self._contexts = sorted({text.context for text in texts} - {""})
        self._edges = np.unique(np.quantile(numbers[:, 0], np.arange(1, BINS) / BINS))
        self._mean = numbers.mean(axis=0)
        deviation = numbers.std(axis=0)
        self._deviation = np.where(deviation > 0, deviation, 1)
        self._range = float(np.ptp(values)) or 1.0
        features = self._features(texts)
        self.penalty_ = chosen_penalty(features, values, groups, self.penalties)
        self._model = ridge_regression(self.penalty_).fit(features, values)
        return self

    def predict(self, texts: Sequence[RatedText]) -> Array:
        if not texts:
            return np.zeros(0)
        return self.rounded(np.asarray(self._model.predict(self._features(texts)), np.float64))

    def rounded(self, estimates: Array) -> Array:
        """Estimates to a billionth of the range of the training ratings, so that equal ones tie,
        whatever the solver leaves in the last digits."""
        return np.round(estimates / self._range, 9) * self._range

    def _features(self, texts: Sequence[RatedText]) -> Any:
        """Sparse float64, shape (texts, features)."""
        from scipy.sparse import csr_array, hstack

        numbers = _numbers(texts)
        standardised = csr_array((numbers - self._mean) / self._deviation)
        tenth = np.searchsorted(self._edges, numbers[:, 0])
        indicators = [
            _indicators([text.system for text in texts], self._systems),
            _indicators([text.context for text in texts], self._contexts),
            _indicators(tenth, range(len(self._edges) + 1)),
        ]
        return hstack([standardised, *indicators], format="csr")


def _numbers(texts: Sequence[RatedText]) -> Array:
    """Characters, the logarithm of one more, and words, float64 (texts, 3)."""
    lengths = np.array([len(text.text) for text in texts], np.float64)
    return np.column_stack([lengths, np.log1p(lengths), [len(t.text.split()) for t in texts]])


def _indicators(values: Any, levels: Sequence[object]) -> Any:
    """A column for each level, 1 where the value is this level."""
    from scipy.sparse import csr_array

    column = pd.Index(list(levels), dtype=object).get_indexer(pd.Index(list(values), dtype=object))
    rows = np.flatnonzero(column >= 0)
    return csr_array((np.ones(len(rows)), (rows, column[rows])), (len(values), len(levels)))
