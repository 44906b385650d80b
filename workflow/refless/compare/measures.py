"""How well estimates agree with ratings, with the same draws for every method.

Stage: cell. In: a method's estimates in a split. Out: measures, correlations with their draws.

spearman, pearson   among the texts of each fold, all folds together: the fold's own means of
                    estimates and ratings are taken off, since a training mean falls as the ratings
                    that are left out rise. Where systems are left out: of each system. Each draw of
                    Pearson's r has means of its own; ranks keep those of all texts, so that they
                    have no interval where folds have few texts
pearson_within      among the texts of one system and fold
mse, coverage       where a method abstains, the mean of its training part counts
pairwise_accuracy   share of pairs of systems that the estimates order as the mean rating does
                    (Kocmi et al. 2021, section 4); a tie of the estimates is half right, pairs that
                    people tie do not count
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from refless.compare.predict import Estimates, filled_in
from refless.compare.read import Rated
from refless.compare.splits import Split
from refless.statistics import ENOUGH_UNITS, NOISE, centred, draw_blocks, weighted_spearman

Array = np.ndarray

ENOUGH_OF_A_FOLD = 5
"""Texts, in the mean, with which the mean of a fold is about the same in each draw."""

Draws = dict[str, Array]
"""Measure -> its value on the texts themselves, and then on each draw: shape (1 + draws,). Those
that are not drawn have NaN there."""


@dataclass(frozen=True)
class Truth:
    """What the estimates of a split are measured against; one entry a text.

    fold : int64 (n,), where systems are left out their number
    unit, drawn : what is drawn, as `Rated.drawn`; enough : whether draws say anything
    system, home : number of the system, and of the system together with the fold, or None
    of_mean : squared error of the mean of the training part
    """

    quality: Array
    fold: Array
    unit: Array
    drawn: Array
    enough: bool
    system: Array | None
    home: Array | None
    of_mean: float


def truth_of(rated: Rated, split: Split) -> Truth:
    """Of a split."""
    drawn, unit = rated.drawn
    fold, home = split.fold, None
    if rated.system is not None:
        home = np.unique(rated.system * split.folds + fold, return_inverse=True)[1]
    if split.name == "systems" and home is not None:
        fold = home
    mean = filled_in(np.full(len(rated), np.nan), rated.quality, split.fold).filled
    enough = rated.different >= ENOUGH_UNITS
    of_mean = float(((mean - rated.quality) ** 2).mean())
    return Truth(rated.quality, fold, unit, drawn, enough, rated.system, home, of_mean)


def measured(found: Estimates, truth: Truth, draws: int, seed: int) -> Draws:
    """Every measure that is defined for a method."""
    fold, unit = truth.fold, truth.unit
    x, y = centred(found.ranked, fold), centred(truth.quality, fold)
    groups = {"pearson": fold} | ({} if truth.home is None else {"pearson_within": truth.home})
    sums = {name: _Sums(x, y, unit, group, len(truth.drawn)) for name, group in groups.items()}
    parts: dict[str, list[Array]] = {name: [] for name in (*sums, "spearman")}
    once = np.ones((1, len(truth.drawn)), np.uint16)
    for weights in [once, *(draw_blocks(truth.drawn, draws, seed) if truth.enough else [])]:
        drawn = weights.astype(np.float64)
        for name, own in sums.items():
            parts[name].append(own.pearson(drawn))
        parts["spearman"].append(weighted_spearman(x, y, weights, unit))
    out = {name: np.concatenate(own) for name, own in parts.items()}
    if len(x) < ENOUGH_OF_A_FOLD * len(np.unique(fold)):
        out["spearman"] = out["spearman"][:1]
    orders = found.orders_systems and bool(x.any())
    out |= {
        "mse": np.array([((found.filled - truth.quality) ** 2).mean()]),
        "mse_of_mean": np.array([truth.of_mean]),
        "coverage": np.array([1 - np.isnan(found.own).mean()]),
        "pairwise_accuracy": np.array([_pairs(found.ranked, truth) if orders else np.nan]),
    }
    return {
        name: np.append(own, np.full(1 + draws - len(own), np.nan)) for name, own in out.items()
    }


def averaged(parts: Sequence[Draws]) -> Draws:
    """The mean over repeats, draw by draw; a correlation of one that ranks nothing is 0 there,
    unless none ranks."""
    found = {}
    for name in parts[0]:
        own = np.stack([part[name] for part in parts])
        there = ~np.isnan(own)
        often = there.sum(axis=0)
        over = len(own) if name in ("pearson", "spearman", "pearson_within") else often
        total = np.where(there, own, 0).sum(axis=0)
        mean = np.where(often > 0, total / np.maximum(over, 1), np.nan)
        # one without draws leaves the mean without
        if any(one[0] and not one[1:].any() for one in there):
            mean[1:] = np.nan
        found[name] = mean
    return found


class _Sums:
    """Pearson's r of what is left without the means of groups, by sums over units.

    x, y, unit, group : of each text, shape (n,); there are ``units``
    """

    def __init__(self, x: Array, y: Array, unit: Array, group: Array, units: int) -> None:
        shape = units, int(group.max(initial=0)) + 1
        self.by_group = [
            csr_array((values, (unit, group)), shape) for values in (np.ones(len(x)), x, y)
        ]
        self.products = np.zeros((units, 3))
        np.add.at(self.products, unit, np.stack([x * x, y * y, x * y], axis=1))

    def pearson(self, drawn: Array) -> Array:
        """Under each row of weights (draws, units); NaN where nothing is left that varies."""
        size, x, y = (drawn @ sums for sums in self.by_group)
        xx, yy, xy = (drawn @ self.products).T
        number = np.where(size > 0, size, 1)
        left = [
            whole - (one * other / number).sum(axis=1)
            for whole, one, other in ((xx, x, x), (yy, y, y), (xy, x, y))
        ]
        there = (left[0] > NOISE * xx) & (left[1] > NOISE * yy)
        product = np.where(there, left[0] * left[1], 1)
        return np.where(there, left[2] / np.sqrt(product), np.nan)


def _pairs(ranked: Array, truth: Truth) -> float:
    """Pairwise accuracy; NaN with fewer than three systems, or where they do not tie all folds
    together.

    A system's estimate is its part beside the part of the fold, by least squares; the normal
    equations are those of the folds, without the systems.
    """
    if truth.system is None or truth.system.max() < 2:
        return float("nan")
    shape = int(truth.fold.max()) + 1, int(truth.system.max()) + 1
    place, cells = truth.fold * shape[1] + truth.system, shape[0] * shape[1]
    counts = np.bincount(place, minlength=cells).reshape(shape)
    sums = np.bincount(place, ranked, cells).reshape(shape)
    size = counts.sum(axis=0)
    left = np.diag(counts.sum(axis=1)) - counts / size @ counts.T
    right = sums.sum(axis=1) - counts / size @ sums.sum(axis=0)
    effects, _, rank, _ = np.linalg.lstsq(left, right, rcond=1e-10)
    if rank < shape[0] - 1:
        return float("nan")
    ours = (sums.sum(axis=0) - effects @ counts) / size
    people = np.bincount(truth.system, truth.quality) / size
    i, j = np.triu_indices(shape[1], 1)
    own, theirs = (np.sign(np.round(means[i] - means[j], 12)) for means in (ours, people))
    own, theirs = own[theirs != 0], theirs[theirs != 0]
    right_ones = np.where(own == theirs, 1.0, np.where(own == 0, 0.5, 0.0))
    return float(right_ones.mean()) if len(theirs) else float("nan")
