"""The learning curve: the same methods with fewer ratings.

Stage: cell. In: rated texts, a split. Out: Pearson's r of each method by the number of ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from refless.compare.measures import Truth, measured, truth_of
from refless.compare.predicted import Prediction, baseline, baselines, fold_sums, neighbors
from refless.compare.rated import Rated
from refless.compare.splits import Split
from refless.statistics import interval

Array = np.ndarray

FIRST = 25
REPEATS = 3
NEAR = 0.95
"""A number of ratings that is this share of all is no point of its own."""
EVEN = 0.8
"""The share of the mean training part that the least one must have, to be told by that mean."""
COLUMNS = ["method", "kernel", "ratings", "pearson", "pearson_low", "pearson_high"]


def training_parts(split: Split) -> Array:
    """How many ratings the training part of each fold has, int64 (folds,)."""
    own = np.bincount(split.fold[split.inside], minlength=split.folds)
    parts: Array = own.sum() - own
    return parts


def even(deals: Sequence[Split]) -> bool:
    """Whether the training parts of a split are about equally large in all its deals, so that their
    mean tells of each."""
    parts = [training_parts(split) for split in deals]
    return all(own.min() >= EVEN * own.mean() for own in parts)


def whole(split: Split) -> int:
    """How many ratings the last point stands at: the mean training part, of the first deal (where
    texts of several systems sit out, others may have a few more or less)."""
    return round(float(training_parts(split).mean()))


def sizes(split: Split) -> list[int]:
    """25, 50, 100, ... below the least training part, as far as all folds can give alike."""
    parts = training_parts(split)
    smallest = parts.sum() // (split.folds - 1) - parts.max()
    found, size = [], FIRST
    while size < NEAR * parts.min() and max(_shares(size, split.folds)) <= smallest:
        found.append(size)
        size *= 2
    return found


def cut_short(split: Split) -> bool:
    """Whether `sizes` ends early, since a fold has too few texts to give as many as the others."""
    following = FIRST * 2 ** len(sizes(split))
    return bool(following < NEAR * training_parts(split).min())


def _shares(ratings: int, folds: int) -> list[int]:
    """How many texts of each fold may be trained on: alike, so that each training part has that
    many ratings (one more or less, where they cannot be divided)."""
    each, more = divmod(round(ratings * folds / (folds - 1)), folds)
    return [each + (k < more) for k in range(folds)]


def subset(split: Split, ratings: int, generator: np.random.Generator) -> Array:
    """Texts that may be trained on, bool (n,), so that each training part has that many ratings;
    see `sizes` and `_shares`."""
    used = np.zeros(len(split.fold), bool)
    for k, share in enumerate(_shares(ratings, split.folds)):
        used[generator.permutation(np.flatnonzero(split.fold == k))[:share]] = True
    return used


def learning_curve(
    rated: Rated,
    deals: Sequence[Split],
    kernel: str,
    found: Mapping[tuple[str, str], Array],
    *,
    draws: int,
    seed: int,
    threads: int | None = None,
    options: Mapping[str, Any] | None = None,
    step: Callable[[str], None] = lambda what: None,
) -> tuple[pd.DataFrame, dict[tuple[str, int], Array]]:
    """Neighbors with one kernel, and ridge regression, on random parts of the ratings.

    Parameters
    ----------
    deals : of one split; random parts are of the first one
    found : (method, kernel) -> r from all ratings, on the candidates and on each draw
    options : of the kernel
    step : called before each part

    Returns
    -------
    table : `COLUMNS`; the mean over `REPEATS` parts, with the interval over candidates. All ratings
        are its last point, at the mean training part, where these are `even`; what ranks nothing
        has r = 0
    draws : (method, ratings) -> r on the candidates and on each draw, shape (1 + draws,)
    """
    generator = np.random.default_rng(seed + 1)
    split, training = deals[0], whole(deals[0])
    truth = truth_of(rated, split)

    def near(used: Array) -> Prediction:
        told = kernel, rated.texts, rated.quality, [split.fold], used
        (sums,) = fold_sums(*told, threads=threads, **(options or {}))
        return neighbors(kernel, rated, split, sums, used)

    ridge = baselines(rated, split)["ridge"]
    assert callable(ridge)
    makers: dict[tuple[str, str], Callable[[Array], Prediction]] = {
        ("neighbors", kernel): near,
        ("ridge", ""): lambda used: baseline("ridge", ridge, rated, split, used),
    }
    rows, kept = [], {}
    for size in sizes(split):
        parts = [subset(split, size, generator) for _ in range(REPEATS)]
        for (method, name), make in makers.items():
            step(f"{method} with {size} ratings")
            drawn = [_pearson(make(part), truth, draws, seed) for part in parts]
            kept[method, size] = np.mean([_ordered(own, truth) for own in drawn], axis=0)
            rows.append(_row(method, name, size, kept[method, size]))
    for method, name in makers:
        if (method, name) in found and even(deals):
            kept[method, training] = _ordered(found[method, name], truth)
            rows.append(_row(method, name, training, kept[method, training]))
    order = list(dict.fromkeys(key[0] for key in makers))
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.sort_values(
        "method", key=lambda column: column.map(order.index), kind="stable", ignore_index=True
    ), kept


def _pearson(found: Prediction, truth: Truth, draws: int, seed: int) -> Array:
    bare = replace(truth, wrote=None, home=None, beside=None)
    return measured(found, bare, draws, seed)["pearson"]


def _ordered(drawn: Array, truth: Truth) -> Array:
    """r on the candidates and on each draw, 0 where there is no order, which says nothing; no draws
    of too few different texts."""
    found: Array = np.nan_to_num(drawn)
    if not truth.enough:
        found[1:] = np.nan
    return found


def _row(method: str, kernel: str, size: int, drawn: Array) -> tuple[object, ...]:
    return (method, kernel, size, float(drawn[0]), *interval(drawn[1:]))
