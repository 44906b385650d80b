"""How well estimates agree with ratings: texts and systems, with the same draws for every method.

Stage: cell. In: a method's estimates in a split. Out: each measure with its bootstrap draws, so
that two methods can be compared draw by draw.

=================  ==============================================================================
spearman, pearson  among the texts of each fold, all folds together: the fold's own means of
                   estimates and of ratings are taken off; where a method abstains, the mean of its
                   training part stands in. Where systems are left out, among those of each system,
                   as many as may share a fold. Each draw of Pearson's r has means of its own; ranks
                   keep those of all texts, so that they have no interval where folds, or systems
                   that are left out, have fewer than `ENOUGH_OF_A_FOLD` texts in the mean
mse                with the same stand-in, on the ratings' scale brought to 0 to 1
coverage           share of the candidates for which the method has an estimate of its own
..._covered        over these alone, and so are the means of folds; no interval of a correlation
                   where they are fewer than `ENOUGH_OF_A_FOLD` a fold
pearson_within     among the texts of one system and fold: what is left when systems are known
..._contexts       among the texts of one context, where contexts are left out
spearman_systems   of the systems' estimates and mean ratings; a system's estimate is its part of
                   the estimates beside the part of the fold, by least squares, which is its mean
                   estimate where all systems are dealt alike
pairwise_accuracy  share of pairs of systems that these estimates order as the mean rating does;
                   a tie of the estimates is half right, pairs that people tie do not count; of
                   two systems there is one pair, and no share
=================  ==============================================================================

Why within folds: the training mean knows the ratings that are left out. It falls as they rise, so
that across folds an estimate that leans on it is ordered upside down, and one that is taken less it
is given the answer. So too the means of systems are compared only where systems with texts in
several folds tie all folds together, and not for a method that has one value for all texts of a
fold, nor for the mean of the context: where each system has a text in each context, that is the
mean of the other systems.

What is drawn are whole contexts where there are enough, else whole groups of equal texts: texts of
one context are no independent evidence. Where a text stands in several contexts, both are drawn;
but all that a system ever says stays with it, as systems do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from refless.compare.predicted import Prediction
from refless.compare.rated import Rated
from refless.compare.splits import Split
from refless.statistics import (
    ENOUGH_UNITS,
    NOISE,
    centred,
    draw_blocks,
    midranks,
    pearson_rows,
    weighted_spearman,
)

Array = np.ndarray

ALL = ("spearman", "pearson", "mse", "coverage")
COVERED = ("spearman_covered", "pearson_covered", "mse_covered")
WITHIN = {"systems": "pearson_within", "contexts": "pearson_within_contexts"}
ORDERS = ("spearman", "pearson", *WITHIN.values())
SYSTEMS = (*WITHIN.values(), "spearman_systems", "pairwise_accuracy")
ENOUGH_OF_A_FOLD = 5
"""Texts, in the mean, with which the mean of a fold is about the same in each draw."""

Draws = dict[str, Array]
"""Measure -> its value on the candidates themselves, and then on each draw: shape (1 + draws,)."""


@dataclass(frozen=True)
class Truth:
    """What the estimates of a split are measured against, of the candidates in the split.

    quality : (n,); fold : int64 (n,), or the number of the system where systems are left out;
        unit : int64 (n,), what is drawn alike; drawn : of each unit, by `draw_blocks`
    wrote : bool (n, systems), or None
    home : int64 (n,), number of the fold together with the system, or the set of systems, that
        wrote a text, or None
    enough : whether there are `ENOUGH_UNITS` different texts, so that draws say anything
    beside : int64 (n,), number of the context, or None where they are not left out, or have less
        than two texts in the mean
    """

    rows: Array
    quality: Array
    fold: Array
    unit: Array
    drawn: Array
    wrote: Array | None
    home: Array | None
    enough: bool = True
    beside: Array | None = None


def truth_of(rated: Rated, split: Split) -> Truth:
    """Of the candidates that take part in a split."""
    rows = np.flatnonzero(split.inside)
    drawn, unit = rated.drawn
    told = (rows, rated.quality[rows], split.fold[rows], unit[rows], drawn)
    enough, beside = rated.different >= ENOUGH_UNITS, None
    # elsewhere a method that is told the others' ratings of a context falls as the own one rises
    if rated.several is not None and split.name == "contexts":
        number = np.unique(rated.several[rows], return_inverse=True)[1].astype(np.int64)
        beside = number if 2 * (number.max(initial=0) + 1) <= len(rows) else None
    if rated.systems is None:
        return Truth(*told, None, None, enough, beside)
    wrote = rated.memberships()[1][rows]
    wrote = wrote[:, wrote.any(axis=0)]
    cells = np.column_stack([wrote, split.fold[rows]])
    home = np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    if split.name == "systems":
        told = (*told[:2], home, *told[3:])
    return Truth(*told, wrote, home, enough, beside)


def measured(found: Prediction, truth: Truth, draws: int, seed: int) -> Draws:
    """Every measure that is defined for a prediction; NaN for draws of too few different texts."""
    sums = _Sums(found, truth)
    blocks = [np.ones((1, len(truth.drawn)), np.uint16)]
    lost = np.full(0 if truth.enough else draws, np.nan)
    if truth.enough:
        blocks += draw_blocks(truth.drawn, draws, seed)
    parts = [sums.measures(weights) for weights in blocks]
    drawn = {name: np.concatenate([*(part[name] for part in parts), lost]) for name in parts[0]}
    for name in sums.unsteady:
        drawn[name] = np.append(drawn[name][0], np.full(draws, np.nan))
    return drawn


def averaged(parts: Sequence[Draws]) -> Draws:
    """The mean over the deals, draw by draw, of those where there is a number.

    An order of all texts that is not there says nothing: its correlation is 0, unless no deal has
    one. Correlations of covered texts are over the deals that have them. A number of a deal without
    draws leaves the mean without draws.
    """
    return {name: _averaged([part[name] for part in parts], name) for name in parts[0]}


def _averaged(own: Sequence[Array], name: str) -> Array:
    there = ~np.isnan(own)
    often = there.sum(axis=0)
    over = len(own) if name in ORDERS else np.maximum(often, 1)
    found: Array = np.where(often > 0, np.where(there, own, 0).sum(axis=0) / over, np.nan)
    if any(one[0] and not one[1:].any() for one in there):
        found[1:] = np.nan
    return found


class _Within:
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


class _Sums:
    """Sums over the texts of each unit. All measures but the rank correlations are made of weighted
    sums of them, so that a block of draws is one product of matrices."""

    def __init__(self, found: Prediction, truth: Truth) -> None:
        unit, units = truth.unit, len(truth.drawn)
        ranked, quality, fold = found.ranked[truth.rows], truth.quality, truth.fold
        x, y = centred(ranked, fold), centred(quality, fold)
        self.ranks_systems = found.orders_systems and bool(x.any())
        self.covered = ~np.isnan(found.estimate[truth.rows])
        near = np.flatnonzero(self.covered)
        self.all = x, y, unit
        x_near, y_near = (centred(v[near], fold[near]) for v in (ranked, quality))
        self.near = x_near, y_near, unit[near]
        enough = ENOUGH_OF_A_FOLD * len(np.unique(fold))
        self.unsteady = ["spearman"] if len(x) < enough else []
        if len(near) < enough:
            self.unsteady += ["spearman_covered", "pearson_covered"]
        groups = {"pearson": fold, "pearson_within": truth.home}
        groups[WITHIN["contexts"]] = truth.beside
        self.within = {
            name: _Within(x, y, unit, group, units)
            for name, group in groups.items()
            if group is not None
        }
        if not self.covered.all():
            self.within["pearson_covered"] = _Within(x_near, y_near, unit[near], fold[near], units)
        columns = [np.ones(len(x)), self.covered * 1.0]
        self.scaled = found.filled is not None
        if found.filled is not None:
            gap = (found.filled[truth.rows] - quality) ** 2
            columns += [gap, gap * self.covered]
        self.total = np.zeros((units, len(columns)))
        np.add.at(self.total, unit, np.stack(columns, axis=1))
        self.homes: list[csr_array] = []
        if truth.wrote is not None and truth.home is not None:
            _, first = np.unique(truth.home, return_index=True)
            self.wrote = truth.wrote[first].astype(np.float64)
            self.fold_of = fold[first]
            self.set = np.unique(self.wrote, axis=0, return_inverse=True)[1].reshape(-1)
            place, shape = (unit, truth.home), (units, len(first))
            self.homes = [
                csr_array((values, place), shape) for values in (np.ones(len(x)), x, quality)
            ]

    def measures(self, weights: Array) -> Draws:
        """Under each row of weights (draws, units)."""
        drawn = weights.astype(np.float64)
        nothing = np.full(len(weights), np.nan)
        one, one_covered, *gaps = (drawn @ self.total).T
        gap, gap_covered = gaps if self.scaled else (nothing, nothing)
        x, y, unit = self.all
        out = {
            "spearman": weighted_spearman(x, y, weights, unit),
            "coverage": _ratio(one_covered, one),
            "mse": _ratio(gap, one),
            "mse_covered": _ratio(gap_covered, one_covered),
        }
        out |= {name: own.pearson(drawn) for name, own in self.within.items()}
        if self.covered.all():
            out |= {f"{name}_covered": out[name] for name in ("spearman", "pearson")}
        else:
            x, y, unit = self.near
            some = len(x) > 2
            out["spearman_covered"] = weighted_spearman(x, y, weights, unit) if some else nothing
        if self.homes:
            size, x, quality = (drawn @ total for total in self.homes)
            out["spearman_systems"] = out["pairwise_accuracy"] = nothing
            if self.ranks_systems:
                x = x - size * fold_effects(size, x, self.fold_of, self.set)[:, self.fold_of]
                # equal means tie
                number = size @ self.wrote
                means = [np.round(_ratio(sums @ self.wrote, number), 12) for sums in (x, quality)]
                out["spearman_systems"] = _system_spearman(*means)
                out["pairwise_accuracy"] = pairwise_accuracy(*means)
        return out


def fold_effects(size: Array, total: Array, fold: Array, group: Array) -> Array:
    """The folds' parts of values that are a part of the fold and one of the group, by least
    squares; they are known but for what is added to all.

    NaN where groups do not tie all folds together: between two parts nothing is known.

    Parameters
    ----------
    size, total : number and sum of the values of each cell, shape (draws, cells)
    fold, group : int64 (cells,), of each cell; no two cells have both in common

    Returns
    -------
    Array : (draws, folds)
    """
    counts = np.zeros((len(size), fold.max() + 1, group.max() + 1))
    sums = np.zeros(counts.shape)
    counts[:, fold, group], sums[:, fold, group] = size, total
    # the normal equations, without the groups
    of_group = np.maximum(counts.sum(axis=1), 1)
    share = counts / of_group[:, None]
    left = np.eye(counts.shape[1]) * counts.sum(axis=2)[:, None]
    left = left - share @ counts.transpose(0, 2, 1)
    right = sums.sum(axis=2) - (share @ sums.sum(axis=1)[:, :, None])[:, :, 0]
    values, vectors = np.linalg.eigh(left)
    some = values > 1e-10 * size.sum(axis=1, keepdims=True)
    inverse = np.where(some, 1 / np.where(some, values, 1), 0)
    found: Array = np.einsum("dij,dj,dkj,dk->di", vectors, inverse, vectors, right, optimize=True)
    tied = some.sum(axis=1) == (counts.sum(axis=2) > 0).sum(axis=1) - 1
    found[~tied] = np.nan
    return found


def _ratio(top: Array, bottom: Array) -> Array:
    """NaN where nothing is drawn."""
    return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1), np.nan)


def _system_spearman(estimate: Array, rating: Array) -> Array:
    """Of the systems' means; NaN for a draw that misses one, or where fewer than 3 are there."""
    if estimate.shape[1] < 3:
        return np.full(len(estimate), np.nan)
    whole = ~(np.isnan(estimate) | np.isnan(rating)).any(axis=1)
    rho = np.full(len(estimate), np.nan)
    if whole.any():
        rho[whole] = pearson_rows(midranks(estimate[whole]), midranks(rating[whole]))
    return rho


def pairwise_accuracy(estimate: Array, rating: Array) -> Array:
    """Share of pairs of systems in the order of the ratings, shape (draws,); see the module.

    Parameters
    ----------
    estimate, rating : mean of each system, shape (draws, systems), NaN where there is none

    NaN where a system is missing, where no pair is left, or of two systems: one pair is no share.
    Source: Kocmi et al. (2021), "To ship or not to ship", section 4.
    """
    if estimate.shape[1] < 3:
        return np.full(len(estimate), np.nan)
    i, j = np.triu_indices(estimate.shape[1], 1)
    ours, theirs = (np.sign(means[:, i] - means[:, j]) for means in (estimate, rating))
    counts = np.abs(theirs) == 1
    right = np.where(ours == theirs, 1.0, np.where(ours == 0, 0.5, 0.0))
    number = counts.sum(axis=1)
    share = (right * counts).sum(axis=1) / np.maximum(number, 1)
    whole = ~(np.isnan(estimate) | np.isnan(rating)).any(axis=1)
    return np.where(whole & (number > 0), share, np.nan)
