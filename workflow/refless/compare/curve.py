"""The learning curve: ridge regression with fewer ratings.

Stage: cell. In: rated texts, a split. Out: Pearson's r by the number of ratings.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from refless.compare.measures import measured, truth_of
from refless.compare.predict import baseline
from refless.compare.read import Rated
from refless.compare.splits import Split
from refless.statistics import interval

Array = np.ndarray

FIRST = 25
PARTS = 3
"""Random parts of each size, of which a point is the mean."""
NEAR = 0.95
"""A number of ratings that is this share of all is no point of its own."""
COLUMNS = ["ratings", "pearson", "pearson_low", "pearson_high"]


def sizes(split: Split) -> list[int]:
    """25, 50, 100, ... below the least training part, as far as all folds can give alike."""
    folds, found = np.bincount(split.fold), [FIRST]
    most = NEAR * (len(split.fold) - folds.max())
    while found[-1] < most and max(shares(found[-1], split)) <= folds.min():
        found.append(2 * found[-1])
    return found[:-1]


def shares(ratings: int, split: Split) -> list[int]:
    """How many texts of each fold may be trained on, so that each training part has that many
    ratings (one more or less, where they cannot be divided)."""
    each, more = divmod(round(ratings * split.folds / (split.folds - 1)), split.folds)
    return [each + (k < more) for k in range(split.folds)]


def learning_curve(
    rated: Rated,
    split: Split,
    whole: Array,
    draws: int,
    seed: int,
    step: Callable[[str], None] = lambda what: None,
) -> pd.DataFrame:
    """`COLUMNS`: of random parts of the ratings, and as the last point r from all of them, with its
    draws, which is ``whole``; ``step`` is called before each part."""
    generator, truth = np.random.default_rng(seed + 1), truth_of(rated, split)
    found = {}
    for size in sizes(split):
        step(f"ridge with {size} ratings")
        parts = []
        for _ in range(PARTS):
            used = np.zeros(len(rated), bool)
            for k, share in enumerate(shares(size, split)):
                used[generator.permutation(np.flatnonzero(split.fold == k))[:share]] = True
            made = baseline("ridge", rated, split, used)
            parts.append(measured(made, truth, draws, seed)["pearson"])
        # where nothing is ranked, r is 0
        found[size] = np.mean(np.nan_to_num(parts) if truth.enough else parts, axis=0)
    found[round(len(rated) * (1 - 1 / split.folds))] = whole
    rows = [(size, float(drawn[0]), *interval(drawn[1:])) for size, drawn in found.items()]
    return pd.DataFrame(rows, columns=COLUMNS)
