"""The learning curve: ridge regression with fewer ratings.

Stage: cell. In: rated texts, a split. Out: Pearson's r by the number of ratings.
"""

import numpy as np
import pandas as pd

from refless.compare.measures import measured
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


def learning_curve(rated: Rated, split: Split, whole: Array, draws: int, seed: int) -> pd.DataFrame:
    """`COLUMNS` for 25, 50, 100, ... ratings in training, in the mean of the folds; and as the last
    point r from all of them, with its draws, which is ``whole``."""
    generator = np.random.default_rng(seed + 1)
    sizes, found, size = np.bincount(split.fold), {}, FIRST
    while size < NEAR * (len(rated) - sizes.max()):
        share = size / len(rated) / (1 - 1 / split.folds)
        parts = []
        for _ in range(PARTS):
            place = pd.Series(generator.random(len(rated))).groupby(split.fold).rank()
            used = place.to_numpy() <= np.maximum(1, share * sizes)[split.fold]
            made = baseline("ridge", rated, split, used)
            parts.append(measured(made, rated, split, draws, seed)["pearson"])
        # where nothing is ranked, r is 0
        found[size] = np.nan_to_num(parts).mean(axis=0)
        size *= 2
    found[round(len(rated) * (1 - 1 / split.folds))] = whole
    rows = [(size, float(drawn[0]), *interval(drawn[1:])) for size, drawn in found.items()]
    return pd.DataFrame(rows, columns=COLUMNS)
