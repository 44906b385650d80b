"""The scale of ratings: networks learn on 1..6, to which any other is stretched.

Stage: prediction (RNN-QE). In: ratings on any scale. Out: the same on 1..6, and back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from refless.errors import FormatError
from refless.models.rnn_qe.batches import HIGHEST, LOWEST, STEP

MOST_LEVELS = 21
"""A scale with more has no levels to round to."""


@dataclass(frozen=True)
class Scale:
    """A scale of ratings; ``step`` is the distance of its levels from ``low`` on, None where there
    are too many to round to."""

    low: float = LOWEST
    high: float = HIGHEST
    step: float | None = STEP

    def __post_init__(self) -> None:
        if not self.high - self.low > 1e-100:
            raise FormatError(
                f"a scale from {self.low:g} to {self.high:g} tells nothing apart",
                remedy="hand in ratings that differ, or say --scale LOW HIGH",
            )

    @classmethod
    def of(cls, ratings: np.ndarray, low: float | None = None, high: float | None = None) -> Scale:
        """From the ratings: their ends, unless given, and the levels that they stand on, if any.

        Raises
        ------
        FormatError : a rating outside the ends; all ratings are alike.
        """
        low = float(ratings.min()) if low is None else low
        high = float(ratings.max()) if high is None else high
        outside = ratings[(ratings < low) | (ratings > high)]
        if len(outside):
            raise FormatError(
                f"a rating of {outside[0]:g} is outside {low:g} to {high:g}",
                remedy="mend it, or say another --scale",
            )
        scale = cls(low, high, None)
        step = float(np.diff(np.unique(np.append(ratings, [low, high]))).min())
        levels = np.append(ratings - low, high - low) / step
        on_levels = bool(np.allclose(levels, np.round(levels), atol=1e-6))
        if on_levels and (high - low) / step < MOST_LEVELS - 0.5:
            # the least gap has lost its last digits: 0.1 may be 0.09999999999999998
            return cls(low, high, (high - low) / round((high - low) / step))
        return scale

    def stretched(self, ratings: np.ndarray) -> np.ndarray:
        """Ratings on 1..6."""
        shares = (np.asarray(ratings) - self.low) / (self.high - self.low)
        return np.clip(LOWEST + shares * (HIGHEST - LOWEST), LOWEST, HIGHEST)

    def given_back(self, stretched: np.ndarray) -> np.ndarray:
        """What is on 1..6, on this scale; not cut to its ends."""
        return self.low + (stretched - LOWEST) / (HIGHEST - LOWEST) * (self.high - self.low)

    def rounded(self, ratings: np.ndarray) -> np.ndarray:
        """Ratings within the scale, on its levels if it has any."""
        if self.step is not None:
            ratings = self.low + np.round((ratings - self.low) / self.step) * self.step
        return np.clip(self.to_digits(ratings, 10), self.low, self.high)

    def to_digits(self, ratings: np.ndarray, digits: int = 6) -> np.ndarray:
        """Ratings to so many digits of the scale's width, wherever the scale lies."""
        digits -= math.floor(math.log10(self.high - self.low))
        # exact, as numpy's is not far from 0; and no -0
        found = [round(value, digits) + 0.0 for value in ratings.ravel().tolist()]
        return np.reshape(found, ratings.shape)
