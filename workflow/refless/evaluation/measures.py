"""How well estimates agree with ratings, with the same bootstrap draws for every method.

Correlations are among the texts of a fold (where systems are left out: of a system): its own means
of estimates and ratings are taken off, since a training mean falls as the ratings that are left out
rise.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np
from scipy.sparse import csr_array

from refless.evaluation.read import CvSplit, Rated
from refless.statistics.bootstrap import (
    bootstrap,
    draw_blocks,
    spread_draws,
    spread_scale,
    t_draws,
    training_factor,
)
from refless.statistics.correlation import NOISE, centred, weighted_spearman
from refless.statistics.pairwise_accuracy import system_measures

Array = np.ndarray

ENOUGH_OF_A_FOLD = 5
"""Texts, in the mean, with which the mean of a fold is about the same in each draw: ranks keep
those of all texts, and have no interval where folds have fewer."""
FEWEST_SYSTEMS = 4
"""Systems without which nothing is said of the next one."""
WITHIN_SYSTEMS = "within_systems"
"""r of texts of one system."""
WITHIN_CONTEXTS = "within_contexts"
"""r of texts of one context."""
CORRELATIONS = ("pearson", "spearman", WITHIN_SYSTEMS, WITHIN_CONTEXTS)

FIXED = "fixed"
"""The correlation that decides a split, with the estimates held fixed, (1 + draws,)."""
MOVED = "moved"
"""What `refless.evaluation.differences.FixedDraws` calls ``moved``, (draws,)."""
Draws = dict[str, Array]
"""Measure -> its value on the texts themselves, and then on each draw: shape (1 + draws,), or (1,)
where there are no draws; ``of_systems`` -> Pearson's r of each system, (systems,)."""


def measure(
    estimates: Array,
    rated: Rated,
    split: CvSplit,
    draws: int,
    seed: int,
    score: Array | None = None,
) -> Draws:
    """``pearson``, ``spearman``, ``mse`` and ``mse_of_mean`` in the user's unit, squared,
    ``coverage``, ``pearson_covered`` of texts with an estimate alone, those of `system_measures`
    and `r_within` or, where systems are left out, ``of_systems``; the draws hold the estimates
    fixed. Where a method abstains, the mean of its training part counts. ``score`` is what ranks
    texts if it is not the estimate, float64 (n,), in the direction of `score_direction`."""
    quality = rated.quality
    group = _groups(rated, split)
    # rounded as means of neighbors are, since equal means tie
    training_means = np.round(training_mean(quality, split.fold), 12)
    filled = np.where(np.isnan(estimates), training_means, estimates)
    ranked = filled
    if score is not None:
        directed = score * score_direction(score, quality)
        ranked = np.where(np.isnan(score), training_mean(directed, split.fold), directed)
    x = centred(ranked, group)
    y = centred(quality, group)
    covered = ~np.isnan(estimates)
    unit, blocks = _weights(rated, draws, seed)
    pearson = pearson_within(x, y, unit, group)
    within = {} if split.name == "systems" else r_within(estimates, rated, split, score)

    def correlations(weights: Array) -> Array:
        of_all = pearson(weights), weighted_spearman(x, y, weights, unit)
        return np.stack([*of_all, *(r(weights) for r in within.values())])

    r, rho, *rs_within = bootstrap(correlations, blocks)
    square = (rated.scale[1] - rated.scale[0]) ** 2
    values = {
        "pearson": r,
        "spearman": rho[:1] if len(x) < ENOUGH_OF_A_FOLD * len(np.unique(group)) else rho,
        "mse": square * ((filled - quality) ** 2).mean(keepdims=True),
        "mse_of_mean": square * ((training_means - quality) ** 2).mean(keepdims=True),
        "coverage": covered.mean(keepdims=True),
        "pearson_covered": _pearson_of(ranked[covered], quality[covered], group[covered]),
        **dict(zip(within, rs_within, strict=True)),
    }
    grid, _ = rated.system_grid
    if grid is not None and split.name != "systems":
        # a training mean differs between folds, and says nothing of systems
        level = training_means if score is None else 0
        scores = grid.means(ranked - level if x.any() else np.zeros(len(x)))
        number = draws if rated.has_intervals else 0
        values |= system_measures(grid.means(quality), scores, number, seed)
    if split.name == "systems":
        # no candidate is weighted, and each system is drawn alone: its own r
        alone = np.eye(int(group.max()) + 1, dtype=np.uint16)
        of_systems = pearson_within(x, y, group, group)(alone)
        values["of_systems"] = np.nan_to_num(of_systems) if x.any() else of_systems * np.nan
    return values


def r_within(
    estimates: Array, rated: Rated, split: CvSplit, score: Array | None = None
) -> dict[str, Callable[[Array], Array]]:
    """`pearson_within` systems and within contexts, as far as there are any, of the texts that have
    an estimate or a ``score``. Estimates are compared within the folds of a system or context: what
    is learned of it falls as its ratings that are left out rise. NaN where no two texts are left to
    compare."""
    values = estimates if score is None else score * score_direction(score, rated.quality)
    scored = ~np.isnan(values)
    _, unit = rated.distinct_units
    within = {}
    for name, groups in ((WITHIN_SYSTEMS, rated.system), (WITHIN_CONTEXTS, rated.context)):
        if groups is None:
            continue
        cell = groups if score is not None else groups * split.folds + split.fold
        # one that has none is a group of its own, which says nothing
        alone = int(cell.max()) + 1 + np.arange(len(cell))
        group = np.unique(np.where(scored, cell, alone), return_inverse=True)[1]
        x = centred(np.where(scored, values, 0), group)
        within[name] = pearson_within(x, centred(rated.quality, group), unit, group)
    return within


def pearson_draws(estimates: Array, rated: Rated, split: CvSplit, draws: int, seed: int) -> Array:
    """``pearson`` of `measure` alone, (1 + draws,), of estimates of all texts."""
    group = _groups(rated, split)
    unit, blocks = _weights(rated, draws, seed)
    x = centred(estimates, group)
    y = centred(rated.quality, group)
    return bootstrap(pearson_within(x, y, unit, group), blocks)


def _groups(rated: Rated, split: CvSplit) -> Array:
    """Within which texts are compared: their system, or their fold."""
    return rated.system if split.name == "systems" and rated.system is not None else split.fold


def _weights(rated: Rated, draws: int, seed: int) -> tuple[Array, Iterator[Array]]:
    """Number of the unit of each text, (n,), and blocks of weights (draws, units): first, all count
    once."""
    units, unit = rated.distinct_units
    blocks = draw_blocks(units, draws, seed) if rated.has_intervals else iter(())
    return unit, chain([np.ones((1, len(units.primary)), np.uint16)], blocks)


def mean_with_spread(
    repeats: Sequence[Draws], rated: Rated, folds: int, seed: int, learned: bool
) -> Draws:
    """The mean over repeats of a split, with draws that a 95% interval can be taken from.

    Draws of correlations spread as far as other training texts would have moved the estimates
    (``learned``; otherwise these are held fixed), and as few units need. ``pearson_by_system`` is
    the mean of the systems' own r, an undefined one as 0, with draws of a t distribution over
    systems and, of a learned method, of what all systems have in common, its training texts;
    without draws where there are fewer than `FEWEST_SYSTEMS`.
    """
    values = averaged(repeats)
    share = 1 - 1 / folds if learned else None
    fixed = values["pearson"]
    of_texts = fixed[1:]
    values[FIXED] = fixed.copy()  # not spread, as those below are
    values[MOVED] = np.zeros(len(of_texts))
    scale = spread_scale(rated.resampling_units.number, share, len(of_texts), seed)
    for name in [name for name in CORRELATIONS if name in values]:
        value = values[name][0]
        draws = values[name][1:]
        if len(draws):
            values[name] = np.append(value, spread_draws(value, draws, scale, -1, 1))
    grid, _ = rated.system_grid
    if grid is not None and len(accuracy := values.get("pairwise_accuracy", of_texts[:0])) > 1:
        scale = spread_scale(grid.contexts, share, len(accuracy) - 1, seed)
        accuracy[1:] = spread_draws(accuracy[0], accuracy[1:], scale, 0, 1)
    if (of_systems := values.pop("of_systems", None)) is not None:
        number = len(values["pearson"]) - 1
        enough = len(of_systems) >= FEWEST_SYSTEMS and number > 0 and np.isfinite(of_systems).all()
        draws = t_draws(of_systems, number, seed) if enough else np.empty(0)
        moved = np.nan_to_num(of_texts - np.nanmean(of_texts)) if enough else np.empty(0)
        values[FIXED] = np.append(of_systems.mean(), draws)
        values[MOVED] = moved
        if enough and share:  # systems share training texts, so their own r move together
            draws = draws + (training_factor(share) ** 2 - 1) ** 0.5 * moved
        values["pearson_by_system"] = np.append(of_systems.mean(), draws)
    return values


def score_direction(score: Array, quality: Array) -> float:
    """-1.0 of a score that is lower for better texts, else 1.0: of all texts, so that all splits,
    folds and repeats have one direction, and that of the line by which new texts are scored. The
    direction of each training part would let a useless score be shown too often."""
    scored = ~np.isnan(score)
    x = score[scored]
    y = quality[scored]
    return -1.0 if len(x) and (x - x.mean()) @ (y - y.mean()) < 0 else 1.0


def training_mean(values: Array, fold: Array) -> Array:
    """The mean of each text's training part, without NaN; 0 where nothing is left."""
    means = []
    for k in range(int(fold.max()) + 1):
        part = values[(fold != k) & ~np.isnan(values)]
        means.append(part.mean() if len(part) else 0.0)
    return np.array(means)[fold]


def averaged(repeats: Sequence[Draws]) -> Draws:
    """The mean over repeats, draw by draw; a correlation of one that ranks nothing is 0 there,
    unless none ranks."""
    means = {}
    for name in repeats[0]:
        values = np.stack([repeat[name] for repeat in repeats])
        defined = ~np.isnan(values)
        ranks = name in (*CORRELATIONS, "of_systems")
        number = len(values) if ranks else np.maximum(defined.sum(axis=0), 1)
        mean = np.where(defined, values, 0).sum(axis=0) / number
        means[name] = np.where(defined.any(axis=0), mean, np.nan)
    return means


def _pearson_of(x: Array, y: Array, group: Array) -> Array:
    """`pearson_within` of texts that count once, shape (1,)."""
    if len(x) < 2:
        return np.array([np.nan])
    once = np.zeros(len(x), np.int64)
    pearson = pearson_within(centred(x, group), centred(y, group), once, group)
    return pearson(np.ones((1, 1)))


def pearson_within(x: Array, y: Array, unit: Array, group: Array) -> Callable[[Array], Array]:
    """Return a function that computes Pearson's r without the means of groups under many weights.

    x, y : the two numbers of each text, float64 (n,)
    unit, group : what each text is resampled with, and the group whose mean is taken off, int64
        (n,), from 0

    The function takes the weights of the units, (draws, units), and returns r under each draw,
    float64 (draws,), NaN where nothing is left that varies. It needs sums over units alone, which
    are made once.
    """
    shape = int(unit.max()) + 1, int(group.max()) + 1
    by_group = [csr_array((values, (unit, group)), shape) for values in (np.ones(len(x)), x, y)]
    products = np.zeros((shape[0], 3))
    np.add.at(products, unit, np.stack([x * x, y * y, x * y], axis=1))

    def r(weights: Array) -> Array:
        copies = weights.astype(np.float64)
        size, of_x, of_y = (copies @ sums for sums in by_group)
        xx, yy, xy = (copies @ products).T
        size = np.maximum(size, 1)
        left_x = xx - (of_x * of_x / size).sum(axis=1)
        left_y = yy - (of_y * of_y / size).sum(axis=1)
        both = xy - (of_x * of_y / size).sum(axis=1)
        varies = (left_x > NOISE * xx) & (left_y > NOISE * yy)
        product = np.where(varies, left_x * left_y, 1)
        return np.where(varies, both / np.sqrt(product), np.nan)

    return r
