"""The learning curve: neighbors and ridge regression with fewer ratings.

Stage: cell. In: rated texts, a split. Out: Pearson's r of each method by the number of ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from refless.compare.measures import Truth, measured, truth_of
from refless.compare.predict import Estimates, Key, baseline, fold_sums, neighbors
from refless.compare.read import Rated
from refless.compare.splits import Split
from refless.statistics import interval

Array = np.ndarray

FIRST = 25
PARTS = 3
"""Random parts of each size, of which a point is the mean."""
NEAR = 0.95
"""A number of ratings that is this share of all is no point of its own."""
COLUMNS = ["method", "kernel", "ratings", "pearson", "pearson_low", "pearson_high"]


def training_parts(split: Split) -> Array:
    """How many ratings the training part of each fold has, int64 (folds,)."""
    return len(split.fold) - np.bincount(split.fold)


def sizes(split: Split) -> list[int]:
    """25, 50, 100, ... below the least training part, as far as all folds can give alike."""
    least, found = np.bincount(split.fold).min(), [FIRST]
    while found[-1] < NEAR * training_parts(split).min() and max(shares(found[-1], split)) <= least:
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
    kernel: str | None,
    whole: Mapping[Key, Array],
    draws: int,
    seed: int,
    step: Callable[[str], None] = lambda what: None,
    **more: Any,
) -> pd.DataFrame:
    """`COLUMNS`: of random parts of the ratings, and as the last point of all.

    Parameters
    ----------
    kernel : of neighbors, if any; ``more`` are its options and ``threads``
    whole : method and kernel -> r from all ratings, and on each draw
    step : called before each part
    """

    def near(used: Array) -> Estimates:
        assert kernel is not None
        (sums,) = fold_sums(kernel, rated, [split.fold], used, **more)
        return neighbors(rated, split, sums, used)

    makers: dict[Key, Callable[[Array], Estimates]] = (
        {} if kernel is None else {("neighbors", kernel): near}
    )
    makers["ridge", ""] = lambda used: baseline("ridge", rated, split, used)
    generator, truth = np.random.default_rng(seed + 1), truth_of(rated, split)
    rows = []
    for size in sizes(split):
        parts = [_part(split, size, generator) for _ in range(PARTS)]
        for key, make in makers.items():
            step(f"{key[0]} with {size} ratings")
            drawn = [
                _ordered(measured(make(p), truth, draws, seed)["pearson"], truth) for p in parts
            ]
            rows.append((*key, size, *_point(np.mean(drawn, axis=0))))
    for key in makers:
        if key in whole:
            mean = round(float(training_parts(split).mean()))
            rows.append((*key, mean, *_point(_ordered(whole[key], truth))))
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.sort_values(["method", "ratings"], kind="stable", ignore_index=True)


def _part(split: Split, ratings: int, generator: np.random.Generator) -> Array:
    used = np.zeros(len(split.fold), bool)
    for k, share in enumerate(shares(ratings, split)):
        used[generator.permutation(np.flatnonzero(split.fold == k))[:share]] = True
    return used


def _ordered(drawn: Array, truth: Truth) -> Array:
    """r of 0 where there is no order; no draws of too few different texts."""
    found: Array = np.nan_to_num(drawn)
    if not truth.enough:
        found[1:] = np.nan
    return found


def _point(drawn: Array) -> tuple[float, float, float]:
    return (float(drawn[0]), *interval(drawn[1:]))
