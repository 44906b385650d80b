"""How well estimates agree with ratings: texts and systems, with the same draws for every method.

Stage: cell. In: a method's estimates in a split. Out: each measure with its bootstrap draws, so
that two methods can be compared draw by draw.

=================  ==============================================================================
spearman, pearson  among the texts of each fold, all folds together: the fold's own means of
                   estimates and of ratings are taken off; where a method abstains, the mean of its
                   training part stands in. Where systems are left out, among those of each system,
                   as many as may share a fold
mse                with the same stand-in, on the ratings' scale brought to 0 to 1
coverage           share of the candidates for which the method has an estimate of its own
..._covered        over these alone
pearson_within     among the texts of one system and fold: what is left when systems are known
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
    draw_blocks,
    midranks,
    pearson_rows,
    weighted_spearman,
)

Array = np.ndarray

ALL = ("spearman", "pearson", "mse", "coverage")
COVERED = ("spearman_covered", "pearson_covered", "mse_covered")
ORDERS = ("spearman", "pearson", "pearson_within")
SYSTEMS = ("pearson_within", "spearman_systems", "pairwise_accuracy")

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
    """

    rows: Array
    quality: Array
    fold: Array
    unit: Array
    drawn: Array
    wrote: Array | None
    home: Array | None
    enough: bool = True

    def centred(self, values: Array) -> Array:
        """Values less the mean of their fold, on a scale of their own; equal ones tie, however they
        were summed."""
        means = np.bincount(self.fold, values) / np.maximum(np.bincount(self.fold), 1)
        away = values - means[self.fold]
        # what is left of equal values is rounding
        away[np.abs(away) <= NOISE * np.abs(values)] = 0
        most = np.abs(away).max(initial=0)
        if most <= NOISE * np.abs(values).max(initial=0):
            return np.zeros(len(values))
        # beside one that is far away, and moves the mean, the others must not tie
        order = np.lexsort((values, self.fold))
        counts = np.bincount(self.fold)
        middle = np.minimum(np.cumsum(counts) - counts + counts // 2, len(values) - 1)
        apart = np.abs(values - values[order][middle][self.fold])
        real = apart[apart > NOISE * np.abs(values)]
        unit = min(most, 1e6 * float(np.median(real))) if len(real) else most
        found: Array = np.round(away / unit, 12)
        return found


def truth_of(rated: Rated, split: Split) -> Truth:
    """Of the candidates that take part in a split."""
    rows = np.flatnonzero(split.inside)
    drawn, unit = rated.drawn
    told = (rows, rated.quality[rows], split.fold[rows], unit[rows], drawn)
    enough = rated.different >= ENOUGH_UNITS
    if rated.systems is None:
        return Truth(*told, None, None, enough)
    wrote = rated.memberships()[1][rows]
    wrote = wrote[:, wrote.any(axis=0)]
    cells = np.column_stack([wrote, split.fold[rows]])
    home = np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    if split.name == "systems":
        told = (*told[:2], home, *told[3:])
    return Truth(*told, wrote, home, enough)


def measured(found: Prediction, truth: Truth, draws: int, seed: int) -> Draws:
    """Every measure that is defined for a prediction; NaN for draws of too few different texts."""
    sums = _Sums(found, truth)
    blocks = [np.ones((1, len(truth.drawn)), np.uint16)]
    lost = np.full(0 if truth.enough else draws, np.nan)
    if truth.enough:
        blocks += draw_blocks(truth.drawn, draws, seed)
    parts = [sums.measures(weights) for weights in blocks]
    return {name: np.concatenate([*(part[name] for part in parts), lost]) for name in parts[0]}


def averaged(parts: Sequence[Draws]) -> Draws:
    """The mean over the deals, draw by draw, of those where there is a number.

    An order of texts that is not there says nothing: its correlation is 0, unless no deal has one.
    """
    return {name: _averaged([part[name] for part in parts], name) for name in parts[0]}


def _averaged(own: Sequence[Array], name: str) -> Array:
    there = ~np.isnan(own)
    often = there.sum(axis=0)
    over = len(own) if name in ORDERS else np.maximum(often, 1)
    found: Array = np.where(often > 0, np.where(there, own, 0).sum(axis=0) / over, np.nan)
    return found


class _Sums:
    """Sums over the texts of each unit. All measures but the rank correlations are made of weighted
    sums of them, so that a block of draws is one product of matrices."""

    def __init__(self, found: Prediction, truth: Truth) -> None:
        x, y = truth.centred(found.ranked[truth.rows]), truth.centred(truth.quality)
        self.ranks_systems = found.orders_systems and bool(x.any())
        self.x, self.y, self.unit = x, y, truth.unit
        self.covered = ~np.isnan(found.estimate[truth.rows])
        self.inside = np.flatnonzero(self.covered)
        # from a value that occurs, so that equal values leave exact zeros
        x, y = x - np.sort(x)[len(x) // 2], y - np.sort(y)[len(y) // 2]
        columns = {"one": np.ones(len(x)), "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
        columns |= {f"{name} covered": v * self.covered for name, v in columns.items()}
        self.scaled = found.filled is not None
        if found.filled is not None:
            gap = (found.filled[truth.rows] - truth.quality) ** 2
            columns |= {"gap": gap, "gap covered": gap * self.covered}
        self.names = list(columns)
        self.total = np.zeros((len(truth.drawn), len(columns)))
        np.add.at(self.total, truth.unit, np.stack(list(columns.values()), axis=1))
        self.homes: list[csr_array] = []
        if truth.wrote is not None and truth.home is not None:
            _, first = np.unique(truth.home, return_index=True)
            self.wrote = truth.wrote[first].astype(np.float64)
            self.fold = truth.fold[first]
            self.set = np.unique(self.wrote, axis=0, return_inverse=True)[1].reshape(-1)
            place, shape = (truth.unit, truth.home), (len(truth.drawn), len(first))
            self.homes = [
                csr_array((values, place), shape)
                for values in (columns["one"], x, y, truth.quality)
            ]

    def measures(self, weights: Array) -> Draws:
        """Under each row of weights (draws, units)."""
        sums = weights.astype(np.float64) @ self.total
        own = {name: sums[:, k] for k, name in enumerate(self.names)}
        nothing = np.full(len(weights), np.nan)
        some = len(self.inside) > 2
        out = {
            "spearman": weighted_spearman(self.x, self.y, weights, self.unit),
            "pearson": _pearson(*(own[name] for name in ("one", "x", "y", "xx", "yy", "xy"))),
            "coverage": _ratio(own["one covered"], own["one"]),
            "mse": _ratio(own["gap"], own["one"]) if self.scaled else nothing,
        }
        if self.covered.all():
            out |= {f"{name}_covered": out[name] for name in ("spearman", "pearson", "mse")}
        else:
            near = (self.x[self.inside], self.y[self.inside], weights, self.unit[self.inside])
            moments = (own[f"{name} covered"] for name in ("one", "x", "y", "xx", "yy", "xy"))
            gap = _ratio(own["gap covered"], own["one covered"]) if self.scaled else nothing
            out["spearman_covered"] = weighted_spearman(*near) if some else nothing
            out["pearson_covered"] = _pearson(*moments) if some else nothing
            out["mse_covered"] = gap
        if self.homes:
            drawn = weights.astype(np.float64)
            size, x, y, quality = (drawn @ total for total in self.homes)
            out["pearson_within"] = _pearson_within(own, size, x, y)
            out["spearman_systems"] = out["pairwise_accuracy"] = nothing
            if self.ranks_systems:
                x = x - size * fold_effects(size, x, self.fold, self.set)[:, self.fold]
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


NOISE = 1e-12
"""The share of a sum of squares below which what is left of it is rounding."""


def _pearson(n: Array, x: Array, y: Array, xx: Array, yy: Array, xy: Array) -> Array:
    """From sums, shape (draws,); NaN where a side is constant."""
    size = np.where(n > 0, n, 1)
    return _correlation(xx - x * x / size, yy - y * y / size, xy - x * y / size, xx, yy)


def _correlation(spread_x: Array, spread_y: Array, both: Array, xx: Array, yy: Array) -> Array:
    there = (spread_x > NOISE * xx) & (spread_y > NOISE * yy)
    product = np.where(there, spread_x * spread_y, 1)
    return np.where(there, both / np.sqrt(product), np.nan)


def _pearson_within(own: Draws, size: Array, x: Array, y: Array) -> Array:
    """Of what is left without each system's own means; arrays of shape (draws, systems)."""
    number = np.where(size > 0, size, 1)
    return _correlation(
        own["xx"] - (x * x / number).sum(axis=1),
        own["yy"] - (y * y / number).sum(axis=1),
        own["xy"] - (x * y / number).sum(axis=1),
        own["xx"],
        own["yy"],
    )


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
