"""How well estimates agree with ratings, with the same draws for every method.

Correlations are among the texts of a fold (where systems are left out: of a system): its own means
of estimates and ratings are taken off, since a training mean falls as the ratings that are left out
rise.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from refless.evaluation.read import Rated, Split
from refless.statistics.bootstrap import ENOUGH_UNITS, bootstrap, draw_blocks
from refless.statistics.correlation import NOISE, centred, weighted_spearman

Array = np.ndarray

ENOUGH_OF_A_FOLD = 5
"""Texts, in the mean, with which the mean of a fold is about the same in each draw: ranks keep
those of all texts, and have no interval where folds have fewer."""

Draws = dict[str, Array]
"""Measure -> its value on the texts themselves, and then on each draw: shape (1 + draws,), or (1,)
where there are no draws."""


def measured(
    estimate: Array, rated: Rated, split: Split, draws: int, seed: int, score: Array | None = None
) -> Draws:
    """``pearson``, ``spearman``, ``mse`` and ``mse_of_mean`` in the user's unit, squared,
    ``coverage``, ``pairwise_accuracy``; where a method abstains, the mean of its training part
    counts. ``score`` is what ranks texts if it is not the estimate, float64 (n,)."""
    quality, (drawn, unit) = rated.quality, rated.drawn
    fold = split.fold if rated.system is None or split.name != "systems" else rated.system
    # rounded as means of neighbors are, since equal means tie
    of_mean = np.round(training_mean(quality, split.fold), 12)
    filled = np.where(np.isnan(estimate), of_mean, estimate)
    ranked = filled
    if score is not None:
        ranked = np.where(np.isnan(score), training_mean(score, split.fold), score)
    x, y = centred(ranked, fold), centred(quality, fold)

    def correlations(weights: Array) -> Array:
        rho = weighted_spearman(x, y, weights, unit)
        return np.stack([_pearson(x, y, unit, fold, weights), rho])

    once = np.ones((1, len(drawn)), np.uint16)
    blocks = draw_blocks(drawn, draws, seed) if rated.same.max() + 1 >= ENOUGH_UNITS else []
    r, rho = bootstrap(correlations, [once, *blocks])
    square = (rated.scale[1] - rated.scale[0]) ** 2
    return {
        "pearson": r,
        "spearman": rho[:1] if len(x) < ENOUGH_OF_A_FOLD * len(np.unique(fold)) else rho,
        "mse": square * ((filled - quality) ** 2).mean(keepdims=True),
        "mse_of_mean": square * ((of_mean - quality) ** 2).mean(keepdims=True),
        "coverage": 1 - np.isnan(estimate).mean(keepdims=True),
        "pairwise_accuracy": np.array([_pairs(ranked, rated, split) if x.any() else np.nan]),
    }


def training_mean(values: Array, fold: Array) -> Array:
    """The mean of each text's training part, without NaN; 0 where nothing is left."""
    means = []
    for k in range(int(fold.max()) + 1):
        part = values[(fold != k) & ~np.isnan(values)]
        means.append(part.mean() if len(part) else 0.0)
    return np.array(means)[fold]


def averaged(parts: Sequence[Draws]) -> Draws:
    """The mean over repeats, draw by draw; a correlation of one that ranks nothing is 0 there,
    unless none ranks."""
    found = {}
    for name in parts[0]:
        own = np.stack([part[name] for part in parts])
        there = ~np.isnan(own)
        number = len(own) if name in ("pearson", "spearman") else np.maximum(there.sum(axis=0), 1)
        mean = np.where(there, own, 0).sum(axis=0) / number
        found[name] = np.where(there.any(axis=0), mean, np.nan)
    return found


def _pearson(x: Array, y: Array, unit: Array, group: Array, weights: Array) -> Array:
    """Pearson's r without the means of groups under weights (draws, units), shape (draws,), by sums
    over units; NaN where nothing is left that varies."""
    shape = int(unit.max()) + 1, int(group.max()) + 1
    by_group = [csr_array((values, (unit, group)), shape) for values in (np.ones(len(x)), x, y)]
    products = np.zeros((shape[0], 3))
    np.add.at(products, unit, np.stack([x * x, y * y, x * y], axis=1))
    drawn = weights.astype(np.float64)
    size, of_x, of_y = (drawn @ sums for sums in by_group)
    xx, yy, xy = (drawn @ products).T
    size = np.maximum(size, 1)
    left_x = xx - (of_x * of_x / size).sum(axis=1)
    left_y = yy - (of_y * of_y / size).sum(axis=1)
    both = xy - (of_x * of_y / size).sum(axis=1)
    there = (left_x > NOISE * xx) & (left_y > NOISE * yy)
    product = np.where(there, left_x * left_y, 1)
    return np.where(there, both / np.sqrt(product), np.nan)


def _pairs(ranked: Array, rated: Rated, split: Split) -> float:
    """Share of pairs of systems that the estimates order as the mean rating does (Kocmi et al.
    2021, section 4); a tie of the estimates is half right, pairs that people tie do not count.

    A system's estimate is its part beside the part of the fold, by least squares. NaN with fewer
    than three systems, or where they do not tie all folds together.
    """
    if rated.system is None or rated.system.max() < 2 or split.name == "systems":
        return float("nan")
    systems = np.eye(int(rated.system.max()) + 1)[rated.system]
    parts = np.hstack([systems, np.eye(split.folds)[split.fold][:, 1:]])
    effects, _, rank, _ = np.linalg.lstsq(parts, ranked, rcond=1e-10)
    if rank < parts.shape[1]:
        return float("nan")
    ours = effects[: systems.shape[1]]
    people = np.bincount(rated.system, rated.quality) / np.bincount(rated.system)
    i, j = np.triu_indices(len(people), 1)
    own, theirs = (np.sign(np.round(values[i] - values[j], 12)) for values in (ours, people))
    right = np.where(own == 0, 0.5, own == theirs)[theirs != 0]
    return float(right.mean()) if len(right) else float("nan")
