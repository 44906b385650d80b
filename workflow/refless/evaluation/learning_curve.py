"""How well ridge regression predicts by the number of ratings that it learns from."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from refless.evaluation.evaluate import Comparison, ComparisonSettings
from refless.evaluation.measures import pearson_draws
from refless.evaluation.read import CvSplit, Rated
from refless.methods import RIDGE, Making, method
from refless.methods.estimators import cross_fit_split
from refless.statistics import interval
from refless.statistics.bootstrap import spread_draws, spread_scale, t_draws
from refless.statistics.measure import Measure

Array = np.ndarray

FIRST_SIZE = 25
"""Rated texts at the first point of the learning curve."""
MOST_SUBSETS = 8
"""A point is the mean over so many random subsets of the training texts, at most."""
LAST_DOUBLING = 0.95
"""Share of the smallest training part up to which there are points."""


def learning_curve(
    rated: Rated,
    comparison: Comparison,
    settings: ComparisonSettings,
    step: Callable[[int, int, str], None] = lambda done, number, label: None,
) -> pd.DataFrame:
    """Pearson's r of ridge regression on 25, 50, 100, ... rated texts (the column ``ratings``) with
    its interval, within the folds, or systems, of the first repeat of the main split; the last
    point is of all training texts, and the mean over repeats. ``step`` is called before each fit
    with how many are done, how many there are, and what is fitted.

    Training texts are put into disjoint subsets of that size, of which at most `MOST_SUBSETS` train
    a model each; a point is their mean. Fewer of them count, together, as one training set
    (`spread_scale`); of so many, what training texts do is seen from one to the other (`t_draws`).
    With 400 texts in five folds, 320 train: at 25 ratings there are 8 subsets, at 100 there are 3,
    and at 200 there is 1.
    """
    main = comparison.order[0]
    split = comparison.splits[main][0]
    n = len(rated)
    making = Making(all_texts=rated.texts, new_contexts=main == "contexts")
    ridge = method(RIDGE).make(making)
    generator = np.random.default_rng(settings.seed + 1)
    rank_in_fold = pd.Series(generator.random(n)).groupby(split.fold).rank().to_numpy() - 1
    subsets = _subsets_of_sizes(split)
    done = 0
    number_of_fits = sum(subsets.values())
    points: dict[int, Array] = {}
    for size, number in subsets.items():
        texts_of_fold = _share_of_fold(size, split) * np.bincount(split.fold)
        subset = rank_in_fold // np.maximum(1, texts_of_fold)[split.fold]
        r_of_subsets = []
        for k in range(number):
            step(done, number_of_fits, f"learning curve, {size} ratings")
            estimates = cross_fit_split(ridge, rated.table, rated.quality, split.fold, subset == k)
            r = pearson_draws(estimates, rated, split, settings.draws, settings.seed)
            r_of_subsets.append(np.nan_to_num(r))  # where nothing is ranked, r is 0
            done += 1
        points[size] = _curve_point(
            np.array(r_of_subsets), rated.resampling_units.number, size / n, settings.seed
        )
    points[round(n * (1 - 1 / split.folds))] = comparison.draws[main, RIDGE, ""]["pearson"]
    rows = [(size, float(values[0]), *interval(values[1:])) for size, values in points.items()]
    return pd.DataFrame(rows, columns=["ratings", *Measure("pearson").interval])


def _subsets_of_sizes(split: CvSplit) -> dict[int, int]:
    """Number of training texts of a point -> number of subsets of that size."""
    fold_sizes = np.bincount(split.fold)
    smallest_training = len(split.fold) - fold_sizes.max()
    subsets = {}
    size = FIRST_SIZE
    while size < LAST_DOUBLING * smallest_training:
        most = min(1 / _share_of_fold(size, split), fold_sizes.min(), MOST_SUBSETS)
        subsets[size] = int(most)
        size *= 2
    return subsets


def _share_of_fold(size: int, split: CvSplit) -> float:
    """The share of each fold that is in a subset with ``size`` texts in all folds but one."""
    return size / len(split.fold) / (1 - 1 / split.folds)


def _curve_point(r: Array, n_units: int, share_of_texts: float, seed: int) -> Array:
    """The mean of ``r`` (subsets, 1 + draws), with draws that also vary with the training texts, of
    which a subset has this share of all texts."""
    value, *draws = r.mean(axis=0)
    n_draws = r.shape[1] - 1
    if len(r) < MOST_SUBSETS:
        scale = spread_scale(n_units, len(r) * share_of_texts, n_draws, seed)
        return np.append(value, spread_draws(value, np.array(draws), scale, -1, 1))
    scale = spread_scale(n_units, None, n_draws, seed)
    of_texts = spread_draws(value, np.array(draws), scale, -1, 1)
    of_subsets = t_draws(r[:, 0], n_draws, seed) - value
    return np.append(value, np.clip(of_texts + of_subsets, -1, 1))
