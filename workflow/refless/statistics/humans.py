"""How well single annotators say what all of them say, or what the others say: the human rows.

Stage: cell. In: individual ratings and the quality of each candidate. Out: means over annotators,
and the best one, with intervals; whether covered candidates are easier for annotators.

Other annotators could have been asked, and other texts shown, so every interval draws both; it is
wide rather than narrow (Owen 2007, "The pigeonhole bootstrap").
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from refless.statistics.bootstrap import BLOCK, Estimate, bootstrap, draw_blocks
from refless.statistics.correlation import spearman, weighted_spearman

Array = np.ndarray


class Humans(NamedTuple):
    """Each annotator against the ground truth, averaged, and the best one."""

    average_mse: Estimate
    average_spearman: Estimate
    best_mse: Estimate
    best_spearman: Estimate


class CoveredErrors(NamedTuple):
    """Mean over annotators of their MSE on all candidates, on the covered ones, and covered -
    overall over overall; p of the permutation test."""

    overall: Estimate
    covered: Estimate
    relative: Estimate
    p_value: float


def draw_people(number: int, draws: int, seed: int) -> Array:
    """How often each draw has each annotator, shape (annotators, draws)."""
    generator, equal = np.random.default_rng([seed, 2]), np.full(number, 1 / number)
    return np.asarray(generator.multinomial(number, equal, draws).T)


def mean_of_drawn(values: Array, drawn: Array) -> Array:
    """Of each draw, the mean over its annotators with a value, shape (draws,); NaN without any.
    ``values`` and ``drawn`` (`draw_people`) have shape (annotators, draws)."""
    total, number = np.nan_to_num(values) * drawn, ~np.isnan(values) * drawn
    with np.errstate(invalid="ignore"):
        return np.asarray(total.sum(axis=0) / number.sum(axis=0))


def others_mean(candidate: Array, rater: Array, rating: Array) -> Array:
    """Of each rating, the mean of the other annotators' ratings of its candidate, shape (ratings,);
    NaN where nobody else rated it. To twelve digits, so that equal means are equal numbers."""
    _, person = np.unique(rater, return_inverse=True)
    _, own = np.unique(candidate * (len(rater) + 1) + person, return_inverse=True)
    total, number = (np.bincount(candidate, weights) for weights in (rating, None))
    mine, mine_number = (np.bincount(own, weights) for weights in (rating, None))
    rest = number[candidate] - mine_number[own]
    sums = total[candidate] - mine[own]
    return np.where(rest > 0, np.round(sums / np.maximum(rest, 1), 12), np.nan)


def _mse(candidate: Array, rater: Array, error: Array, n: int) -> Callable[[Array], Array]:
    """From weights (draws, n) of candidates, each with all its ratings, to the mean of each
    annotator's errors (annotators, draws); NaN where none is left."""
    from scipy.sparse import csr_array

    names, row = np.unique(rater, return_inverse=True)
    total, number = (
        csr_array((values, (row, candidate)), (len(names), n))
        for values in (error, np.ones(len(error)))
    )

    def each(weights: Array) -> Array:
        times = np.asarray(weights, np.float64).T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((total @ times) / (number @ times))

    return each


def human_rows(
    candidate: Array,
    rater: Array,
    rating: Array,
    truth: Array,
    *,
    estimate: Array | None = None,
    others: bool = False,
    units: Array | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> Humans:
    """The mean over annotators of MSE and Spearman, each on what this annotator saw; the best one.

    An annotator without a rho (labels all alike, or fewer than 3 of them) counts as 0, unless none
    has one; whose candidates a draw misses takes no part in it. NaN where there is no rating.

    Parameters
    ----------
    candidate, rater, rating : of each rating, shape (ratings,): index into ``truth``, annotator,
        value in [0, 1]
    truth : quality of each candidate, shape (candidates,)
    estimate : a prediction of each candidate, NaN where undefined, which is measured instead of the
        annotator on each annotator's candidates, shape (candidates,)
    others : measure against `others_mean` and not against ``truth``; candidates that nobody else
        rated drop out
    units, draws, seed : of the bootstrap over candidates, as in `evaluate`, and over annotators

    Source: Ethayarajh & Sadigh (2020), section 5.1; ``others`` is ours.
    """
    given = rating if estimate is None else estimate[candidate]
    target = others_mean(candidate, rater, rating) if others else truth[candidate]
    kept = ~np.isnan(target) & ~np.isnan(given)
    candidate, rater, given, target = (one[kept] for one in (candidate, rater, given, target))
    owns = [np.flatnonzero(rater == name) for name in np.unique(rater)]
    if not owns:
        return Humans(*[Estimate(float("nan"))] * 4)
    rho = np.array([spearman(given[own], target[own])[0] for own in owns])
    ranked = np.flatnonzero(~np.isnan(rho))
    rho = np.nan_to_num(rho) if len(ranked) else rho
    mse = _mse(candidate, rater, (given - target) ** 2, len(truth))

    def measures(weights: Array) -> Array:
        rhos = np.repeat(rho[:, None], len(weights), axis=1)
        across = np.ascontiguousarray(weights.T)  # an annotator saw a few candidates
        for i in ranked:
            own = owns[i]
            rhos[i] = weighted_spearman(given[own], target[own], across[candidate[own]].T)
        return np.stack([mse(weights), rhos])

    of = len(truth) if units is None else units
    drawn = bootstrap(measures, draw_blocks(of, draws, seed))
    people = draw_people(len(owns), draws, seed)
    each = [mse(np.ones((1, len(truth))))[:, 0], rho]
    means, best = [], []
    for values, own, pick in zip(each, drawn, (np.fmin.reduce, np.fmax.reduce), strict=True):
        means.append(Estimate.of(values.mean(), mean_of_drawn(own, people)))
        best.append(Estimate.of(pick(values), pick(np.where(people > 0, own, np.nan), axis=0)))
    return Humans(*means, *best)


def covered_errors(
    candidate: Array,
    rater: Array,
    rating: Array,
    truth: Array,
    covered: Array,
    draws: int = 2000,
    seed: int = 0,
    units: Array | None = None,
) -> CoveredErrors:
    """Are the covered candidates easier for annotators than all candidates are?

    A permutation test over candidates, each with all of its ratings: p is the share of ``draws``
    random subsets of as many (and the covered one) whose difference from all is at least as great
    in size. ``covered`` is bool (candidates,), other parameters are as in `human_rows`.

    Source: Ethayarajh & Sadigh (2020), section 5.3, for the two means; their test is not named.
    """
    n = len(truth)
    each = _mse(candidate, rater, (rating - truth[candidate]) ** 2, n)

    def mean(weights: Array) -> Array:
        return mean_of_drawn(each(weights), np.ones(1))

    overall, chosen = mean(np.stack([np.ones(n), covered]))
    drawn = draw_blocks(n if units is None else units, draws, seed)
    mse = bootstrap(lambda w: np.stack([each(w), each(w * covered)]), drawn)
    people = draw_people(mse.shape[1], draws, seed)
    all_draws, covered_draws = (mean_of_drawn(own, people) for own in mse)
    gap = chosen - overall
    others = bootstrap(mean, _subsets(n, int(covered.sum()), draws, seed)) - overall
    # a hair, so that subsets that differ by rounding noise count as equal
    extreme = int((np.abs(others) >= abs(gap) - 1e-12).sum())
    return CoveredErrors(
        Estimate.of(overall, all_draws),
        Estimate.of(chosen, covered_draws),
        Estimate.of(gap / overall if overall else np.nan, (covered_draws - all_draws) / all_draws),
        float("nan") if np.isnan(gap) else (1 + extreme) / (1 + draws),
    )


def _subsets(n: int, size: int, draws: int, seed: int) -> Iterator[Array]:
    """Blocks of random subsets, as weights (draws, n)."""
    generator = np.random.default_rng([seed, 1])
    step = max(1, BLOCK // max(n, 1))
    for start in range(0, draws, step):
        block = np.zeros((min(step, draws - start), n))
        for row in block:
            row[generator.choice(n, size, replace=False)] = 1
        yield block
