"""The scale that networks learn on, 1..6 as in the paper.

Stage: prediction (RNN-QE). In: ratings from 0 to 1. Out: the same on 1..6, and back.
"""

import numpy as np

Array = np.ndarray

LOWEST, HIGHEST = 1.0, 6.0


def clip_to_scale(ratings: Array) -> Array:
    """Ratings cut to 1..6.

    >>> clip_to_scale(np.array([0.5, 4.3, 7.0]))
    array([1. , 4.3, 6. ])
    """
    return np.clip(ratings, LOWEST, HIGHEST)


def half_points(ratings: Array) -> Array:
    """Ratings in steps of 0.5, within 1..6 (Dušek et al. 2017, section 2).

    >>> half_points(np.array([0.2, 2.25, 4.3, 9.0]))  # of two as near the even number
    array([1. , 2. , 4.5, 6. ])
    """
    return clip_to_scale(np.round(2 * ratings) / 2)


def from_unit_interval(quality: Array) -> Array:
    """Quality from 0 to 1 on the scale 1..6.

    >>> from_unit_interval(np.array([0.0, 0.1, 1.0]))
    array([1. , 1.5, 6. ])
    """
    return LOWEST + quality * (HIGHEST - LOWEST)


def to_unit_interval(ratings: Array) -> Array:
    """Ratings on 1..6 as quality from 0 to 1; not cut.

    >>> to_unit_interval(np.array([1.0, 3.5, 6.5]))
    array([0. , 0.5, 1.1])
    """
    return (ratings - LOWEST) / (HIGHEST - LOWEST)
