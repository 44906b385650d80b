"""Are covered candidates easier for annotators than all candidates are?

Stage: cell. In: individual ratings, the quality of each candidate, and which are covered. Out: the
mean errors of annotators, their difference and a permutation test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from refless.statistics.bootstrap import Estimate, draw_blocks, interval
from refless.statistics.humans import draw_people, mean_of_drawn, others_mean

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = np.ndarray


@dataclass(frozen=True)
class AnnotatorErrors:
    """Squared errors of annotators, summed by annotator and candidate.

    total, number : their sum and how many there are, sparse, shape (annotators, candidates)
    """

    total: csr_array
    number: csr_array

    def mean(self, weights: Array, people: Array | None = None) -> Array:
        """Mean over the annotators of each one's MSE, under each row of weights, shape (draws,).

        ``weights`` (draws, candidates) say how often a candidate is there, with all its ratings,
        and ``people`` (annotators, draws) how often an annotator; without, each is there once. An
        annotator of whom nothing is left takes no part; NaN where nobody is left.
        """
        weights = np.asarray(weights, np.float64).T
        with np.errstate(divide="ignore", invalid="ignore"):
            mse = (self.total @ weights) / (self.number @ weights)
        return mean_of_drawn(mse, np.ones(mse.shape) if people is None else people)

    def draws(self, units: Array | None, draws: int, seed: int) -> Iterator[tuple[Array, Array]]:
        """Yield blocks of `draw_blocks` over candidates, and of `draw_people` over annotators."""
        people = draw_people(self.total.shape[0], draws, seed)
        done = 0
        for weights in draw_blocks(self.total.shape[1] if units is None else units, draws, seed):
            yield weights, people[:, done : done + len(weights)]
            done += len(weights)


def annotator_errors(
    candidate: Array, rater: Array, rating: Array, truth: Array, others: bool = False
) -> AnnotatorErrors:
    """Squared errors of individual ratings; parameters as for `annotators`."""
    from scipy.sparse import csr_array

    target = others_mean(candidate, rater, rating) if others else truth[candidate]
    kept = ~np.isnan(target)
    candidate, rater, rating, target = (x[kept] for x in (candidate, rater, rating, target))
    names, row = np.unique(rater, return_inverse=True)
    shape = (len(names), len(truth))
    error = (rating - target) ** 2
    return AnnotatorErrors(
        csr_array((error, (row, candidate)), shape=shape),
        csr_array((np.ones(len(rater)), (row, candidate)), shape=shape),
    )


@dataclass(frozen=True)
class CoveredErrors:
    """Annotators on all candidates against annotators on the covered ones.

    overall, covered : mean over annotators of their MSE
    difference, relative : covered - overall, and that over overall
    p_value : of the permutation test
    covered_draws : ``covered`` under each draw of the bootstrap, shape (draws,)
    """

    overall: Estimate
    covered: Estimate
    difference: Estimate
    relative: Estimate
    p_value: float
    covered_draws: Array


def covered_errors(
    errors: AnnotatorErrors,
    covered: Array,
    draws: int = 2000,
    seed: int = 0,
    units: Array | None = None,
) -> CoveredErrors:
    """Are the covered candidates easier for annotators than all candidates are?

    The test is a permutation test over candidates, each with all of its ratings: if coverage had
    nothing to do with difficulty, any subset of as many candidates could as well be the covered
    one. p is the share of ``draws`` random subsets (and the given one) whose difference is at
    least as great in size, two-sided. Intervals are from the bootstrap over candidates, or their
    ``units`` as in `evaluate`, and over annotators.

    Parameters
    ----------
    covered : shape (candidates,), bool

    Source: Ethayarajh & Sadigh (2020), section 5.3, for the two means; which test they used is not
    said.
    """
    n, size = len(covered), int(covered.sum())
    once = np.ones((1, n))
    overall = float(errors.mean(once)[0])
    chosen = float(errors.mean(once * covered)[0])
    difference = chosen - overall
    generator = np.random.default_rng([seed, 1])
    drawn: list[tuple[Array, Array]] = []
    extreme = 0
    for weights, people in errors.draws(units, draws, seed):
        drawn.append((errors.mean(weights, people), errors.mean(weights * covered, people)))
        subsets = np.zeros(weights.shape)
        for row in subsets:
            row[generator.choice(n, size, replace=False)] = 1
        # a hair, so that subsets that differ by rounding noise count as equal
        extreme += int((np.abs(errors.mean(subsets) - overall) >= abs(difference) - 1e-12).sum())
    all_draws, covered_draws = map(np.concatenate, zip(*drawn, strict=True))
    gaps = covered_draws - all_draws
    p_value = float("nan") if np.isnan(difference) else (1 + extreme) / (1 + draws)
    return CoveredErrors(
        Estimate(overall, *interval(all_draws)),
        Estimate(chosen, *interval(covered_draws)),
        Estimate(difference, *interval(gaps)),
        Estimate(difference / overall if overall else float("nan"), *interval(gaps / all_draws)),
        p_value,
        covered_draws,
    )
