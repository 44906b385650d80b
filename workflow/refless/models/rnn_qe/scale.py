"""The scale that networks learn on, 1..6 as in the paper.

Stage: prediction (RNN-QE). In: ratings from 0 to 1. Out: the same on 1..6, and back.
"""

import numpy as np

Array = np.ndarray

LOWEST, HIGHEST = 1.0, 6.0


def within(ratings: Array) -> Array:
    """Ratings cut to 1..6."""
    return np.clip(ratings, LOWEST, HIGHEST)


def half_points(ratings: Array) -> Array:
    """Ratings in steps of 0.5, within 1..6 (the paper, section 2)."""
    return within(np.round(2 * ratings) / 2)


def stretched(quality: Array) -> Array:
    """What is from 0 to 1, on 1..6."""
    return LOWEST + quality * (HIGHEST - LOWEST)


def in_unit(ratings: Array) -> Array:
    """What is on 1..6, from 0 to 1; not cut."""
    return (ratings - LOWEST) / (HIGHEST - LOWEST)
