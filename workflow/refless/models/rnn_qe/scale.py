"""The scale of ratings: networks learn on 1..6, to which any other is stretched.

Stage: prediction (RNN-QE). In: ratings on any scale. Out: the same on 1..6, and back.
"""

from typing import NamedTuple

import numpy as np

Array = np.ndarray

LOWEST, HIGHEST = 1.0, 6.0


def within(ratings: Array) -> Array:
    """Ratings cut to 1..6."""
    return np.clip(ratings, LOWEST, HIGHEST)


def half_points(ratings: Array) -> Array:
    """Ratings in steps of 0.5, within 1..6 (the paper, section 2)."""
    return within(np.round(2 * ratings) / 2)


class Scale(NamedTuple):
    """The ends of a scale of ratings."""

    low: float
    high: float

    def stretched(self, ratings: Array) -> Array:
        """Ratings on 1..6."""
        return LOWEST + (ratings - self.low) / (self.high - self.low) * (HIGHEST - LOWEST)

    def given_back(self, stretched: Array) -> Array:
        """What is on 1..6, on this scale; not cut to its ends."""
        return self.low + (stretched - LOWEST) / (HIGHEST - LOWEST) * (self.high - self.low)
