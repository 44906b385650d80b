"""How well single annotators say what all of them say, or what the others say: the human rows.

Stage: cell. In: individual ratings and the quality of each candidate. Out: means over annotators,
and the best one, with intervals; and a prediction beside the annotators on the same targets.

The mean of all ratings of a candidate contains the annotator's own, which raises every annotator's
correlation with it. `others_mean` leaves it out.

Other annotators could have been asked, and other texts shown, so every interval draws both. What an
annotator's own texts do to a rho is then in it twice, and the intervals are wide rather than narrow
(Owen 2007, "The pigeonhole bootstrap").
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from refless.statistics.bootstrap import Estimate, draw_blocks, interval
from refless.statistics.correlation import spearman, weighted_mean, weighted_spearman
from refless.statistics.evaluation import mean_squared_error

Array = np.ndarray


@dataclass(frozen=True)
class Humans:
    """The human rows: each annotator against the ground truth, averaged, and the best one."""

    average_mse: Estimate
    average_spearman: Estimate
    best_mse: Estimate
    best_spearman: Estimate
    annotators: int
    undefined: int


@dataclass(frozen=True)
class BesideAnnotators:
    """A prediction and the annotators against the same targets, on each annotator's candidates.

    mse, spearman : of the prediction, averaged over the annotators
    human_mse, human_spearman : of the annotators, on the same candidates
    difference : the annotators' rho minus the prediction's
    standard_error : of the difference over annotators: standard deviation / sqrt(annotators)
    annotators : who rated a candidate that has a prediction and another's rating
    undefined : of these, those without a rho of their own, and those of whose candidates the
        prediction has none; each counts as 0
    defined_difference : the difference over the annotators with both
    """

    mse: Estimate
    spearman: Estimate
    human_mse: float
    human_spearman: Estimate
    difference: Estimate
    standard_error: float
    annotators: int
    undefined: tuple[int, int]
    defined_difference: float


@dataclass(frozen=True)
class Annotators:
    """How far each annotator, or a prediction on each annotator's candidates, is from the truth.

    mse, rho : shape (annotators,), and under each draw (annotators, draws); NaN where undefined
    drawn : how often each draw has each annotator, shape (annotators, draws)
    """

    mse: Array
    rho: Array
    mse_draws: Array
    rho_draws: Array
    drawn: Array

    def filled(self, undefined: float) -> tuple[Array, Array]:
        """``rho`` and ``rho_draws`` with ``undefined`` for an annotator without a rho.

        Another annotator's draw without one stays NaN: it is an accident of the draw, and 0 would
        pull the interval down.
        """
        nobody = np.isnan(self.rho)
        return (
            np.where(nobody, undefined, self.rho),
            np.where(nobody[:, None], undefined, self.rho_draws),
        )


def draw_people(number: int, draws: int, seed: int) -> Array:
    """How often each draw has each annotator, shape (annotators, draws)."""
    if number == 0:
        return np.empty((0, draws), np.int64)
    equal = np.full(number, 1 / number)
    drawn: Array = np.random.default_rng([seed, 2]).multinomial(number, equal, draws)
    return drawn.T


def mean_of_drawn(values: Array, drawn: Array) -> Array:
    """Of each draw, the mean over its annotators with a value, shape (draws,); NaN without any.

    ``values`` and ``drawn`` (`draw_people`) have shape (annotators, draws).
    """
    total = (np.nan_to_num(values) * drawn).sum(axis=0)
    with np.errstate(invalid="ignore"):
        found: Array = total / (~np.isnan(values) * drawn).sum(axis=0)
    return found


def others_mean(candidate: Array, rater: Array, rating: Array) -> Array:
    """Of each rating, the mean of the other annotators' ratings of its candidate, shape (ratings,).

    An annotator's own ratings of a candidate are all left out, if there are several. NaN where
    nobody else rated it. To twelve digits, so that equal means are equal numbers.
    """
    if not len(rating):
        return np.empty(0)
    _, person = np.unique(rater, return_inverse=True)
    _, own = np.unique(candidate * (person.max() + 1) + person, return_inverse=True)
    total, number = (np.bincount(candidate, weights) for weights in (rating, None))
    mine, mine_number = (np.bincount(own, weights) for weights in (rating, None))
    rest = number[candidate] - mine_number[own]
    sums = total[candidate] - mine[own]
    return np.where(rest > 0, np.round(sums / np.maximum(rest, 1), 12), np.nan)


def _each(
    candidate: Array,
    rater: Array,
    given: Array,
    target: Array,
    of: int | Array,
    draws: int,
    seed: int,
    errors: bool = True,
) -> Annotators:
    """How far ``given`` is from ``target``, both of shape (ratings,), by annotator.

    ``of`` is what is drawn, see `draw_blocks`; with or without the errors.
    """
    names, number = np.unique(rater, return_inverse=True)
    owns = [np.flatnonzero(number == i) for i in range(len(names))]
    mse = [mean_squared_error(given[own], target[own]) for own in owns]
    rho = np.array([spearman(given[own], target[own])[0] for own in owns])
    mse_blocks, rho_blocks = [], []
    for weights in draw_blocks(of, draws, seed):
        mse_block, rho_block = np.full((2, len(owns), len(weights)), np.nan)
        for i, own in enumerate(owns):
            seen = candidate[own]
            if errors:
                mse_block[i] = weighted_mean((given[own] - target[own]) ** 2, weights, seen)
            # without a rho of all candidates, a draw of some of them has none either
            if not np.isnan(rho[i]):
                rho_block[i] = weighted_spearman(given[own], target[own], weights, seen)
        mse_blocks.append(mse_block)
        rho_blocks.append(rho_block)
    found = (np.concatenate(blocks, axis=1) for blocks in (mse_blocks, rho_blocks))
    people = draw_people(len(names), draws, seed)
    return Annotators(np.array(mse), rho, next(found), next(found), people)


def annotators(
    candidate: Array,
    rater: Array,
    rating: Array,
    truth: Array,
    *,
    others: bool = False,
    units: Array | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> Annotators:
    """Each annotator on the candidates that this annotator saw, for `human_rows`.

    Parameters
    ----------
    candidate : index into ``truth`` of each rating, shape (ratings,)
    rater : annotator of each rating, shape (ratings,)
    rating : in [0, 1], shape (ratings,)
    truth : quality of each candidate, shape (candidates,)
    others : measure each annotator against `others_mean` and not against ``truth``; candidates
        that nobody else rated drop out
    units, draws, seed : of the bootstrap over candidates, as in `evaluate`, and over annotators
    """
    target = others_mean(candidate, rater, rating) if others else truth[candidate]
    kept = ~np.isnan(target)
    return _each(
        *(candidate[kept], rater[kept], rating[kept], target[kept]),
        *(len(truth) if units is None else units, draws, seed),
    )


def human_rows(each: Annotators, undefined: float = 0.0) -> Humans:
    """The mean over annotators of MSE and Spearman, and the best one, by `annotators`.

    Parameters
    ----------
    undefined : the rho of an annotator for whom there is none (labels all alike, or fewer than 3
        of them); NaN leaves that annotator out

    For the best annotator the interval is the bootstrap of an extreme, which is a rough one.
    Everything is NaN where there is no rating. An annotator whose candidates a draw misses takes
    no part in it.

    Source: Ethayarajh & Sadigh (2020), section 5.1; ``others`` is ours.
    """
    if len(each.mse) == 0:
        nothing = Estimate(float("nan"))
        return Humans(nothing, nothing, nothing, nothing, 0, 0)

    def row(values: Array, stacked: Array, best: str) -> tuple[Estimate, Estimate]:
        pick = {"min": np.nanmin, "max": np.nanmax}[best]
        there = np.where(each.drawn > 0, stacked, np.nan)
        with warnings.catch_warnings():
            # that all annotators are left out is no accident: the estimate is then NaN
            warnings.simplefilter("ignore", RuntimeWarning)
            average = Estimate(
                float(np.nanmean(values)), *interval(mean_of_drawn(stacked, each.drawn))
            )
            return average, Estimate(float(pick(values)), *interval(pick(there, axis=0)))

    average_mse, best_mse = row(each.mse, each.mse_draws, "min")
    average_rho, best_rho = row(*each.filled(undefined), "max")
    counts = len(each.mse), int(np.isnan(each.rho).sum())
    return Humans(average_mse, average_rho, best_mse, best_rho, *counts)


def beside_annotators(
    candidate: Array,
    rater: Array,
    rating: Array,
    estimate: Array,
    *,
    units: Array | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> BesideAnnotators:
    """A prediction beside the annotators: both against the mean of the other annotators.

    For each annotator, on the candidates that this annotator rated, that have a prediction and
    that somebody else rated; then averaged over the annotators.

    Parameters
    ----------
    candidate, rater, rating : as for `annotators`
    estimate : of each candidate, shape (candidates,), NaN where undefined
    units, draws, seed : of the bootstrap over candidates, as in `evaluate`, and over annotators

    Everything is NaN where no rating is left.
    """
    target, own = others_mean(candidate, rater, rating), estimate[candidate]
    kept = ~np.isnan(target) & ~np.isnan(own)
    candidate, rater, rating, target, own = (
        x[kept] for x in (candidate, rater, rating, target, own)
    )
    nothing = Estimate(float("nan"))
    if len(rater) == 0:
        return BesideAnnotators(
            *(nothing, nothing, float("nan"), nothing, nothing),
            float("nan"),
            0,
            (0, 0),
            float("nan"),
        )
    of = len(estimate) if units is None else units
    people = _each(candidate, rater, rating, target, of, draws, seed, errors=False)
    model = _each(candidate, rater, own, target, of, draws, seed)
    (human, human_draws), (rho, rho_draws) = people.filled(0.0), model.filled(0.0)
    number, gap, drawn = len(rho), human - rho, model.drawn
    both = ~np.isnan(people.rho) & ~np.isnan(model.rho)
    return BesideAnnotators(
        Estimate(float(model.mse.mean()), *interval(mean_of_drawn(model.mse_draws, drawn))),
        Estimate(float(rho.mean()), *interval(mean_of_drawn(rho_draws, drawn))),
        float(people.mse.mean()),
        Estimate(float(human.mean()), *interval(mean_of_drawn(human_draws, drawn))),
        Estimate(float(gap.mean()), *interval(mean_of_drawn(human_draws - rho_draws, drawn))),
        float(gap.std(ddof=1) / np.sqrt(number)) if number > 1 else float("nan"),
        number,
        (int(np.isnan(people.rho).sum()), int(np.isnan(model.rho).sum())),
        float(gap[both].mean()) if both.any() else float("nan"),
    )
