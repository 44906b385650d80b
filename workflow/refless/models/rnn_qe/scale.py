"""The scale of ratings: networks learn on 1..6, to which any other is stretched.

Stage: prediction (RNN-QE). In: ratings on any scale. Out: the same on 1..6, and back.
"""

from dataclasses import dataclass

import numpy as np

from refless.errors import FormatError

Array = np.ndarray

LOWEST, HIGHEST = 1.0, 6.0
MOST_LEVELS = 21
"""A scale with more has no levels to round to."""


@dataclass(frozen=True)
class Scale:
    """A scale of ratings, by default the paper's, with levels in steps from ``low`` on, or too many
    to round to (None)."""

    low: float = LOWEST
    high: float = HIGHEST
    step: float | None = 0.5

    @classmethod
    def of(cls, ratings: Array, low: float, high: float) -> "Scale":
        """With the levels that the ratings stand on, if there are few. Raises FormatError: the ends
        are the same."""
        if low == high:
            remedy = "hand in ratings that differ, or say --scale LOW HIGH"
            raise FormatError(f"all ratings are {low:g}", remedy=remedy)
        levels = np.unique([*ratings, low, high]) - low
        count = round((high - low) / np.diff(levels).min())
        step = (high - low) / count
        few = count < MOST_LEVELS and np.allclose(levels / step, np.round(levels / step), atol=1e-6)
        return cls(low, high, step if few else None)

    def stretched(self, ratings: Array) -> Array:
        """Ratings on 1..6."""
        return LOWEST + (ratings - self.low) / (self.high - self.low) * (HIGHEST - LOWEST)

    def given_back(self, stretched: Array) -> Array:
        """What is on 1..6, on this scale; not cut to its ends."""
        return self.low + (stretched - LOWEST) / (HIGHEST - LOWEST) * (self.high - self.low)

    def rounded(self, ratings: Array) -> Array:
        """Ratings within the scale, on its levels if it has any."""
        if self.step is not None:
            levels = self.low + np.round((ratings - self.low) / self.step) * self.step
            ratings = np.round(levels, 10)
        return np.clip(ratings, self.low, self.high)


HALF_POINTS = Scale()
"""Ratings in steps of 0.5, within 1..6 (the paper, section 2)."""
