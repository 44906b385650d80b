"""How well single annotators agree with the mean of all of them, or of the others: the human rows.

Stage: cell. In: individual ratings and the quality of each candidate. Out: means over annotators,
and the best one, with intervals; whether covered candidates are easier for annotators.

Other annotators and other candidates would have given other numbers, so every interval resamples
both; it is wide rather than narrow (Owen 2007, "The pigeonhole bootstrap").
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from refless.statistics.bootstrap import BLOCK, IntervalEstimate, bootstrap, draw_blocks
from refless.statistics.correlation import spearman, weighted_spearman

Array = np.ndarray


class Annotations(NamedTuple):
    """Individual ratings.

    candidate : of each rating the number of the candidate, int64 (ratings,)
    rater : the annotator, (ratings,)
    rating : the value, float64 in [0, 1] (ratings,)
    """

    candidate: Array
    rater: Array
    rating: Array


class AnnotatorScores(NamedTuple):
    """What `human_rows` says."""

    average_mse: IntervalEstimate
    average_spearman: IntervalEstimate
    best_mse: IntervalEstimate
    best_spearman: IntervalEstimate


class CoveredErrors(NamedTuple):
    """Mean over annotators of their MSE on all candidates, on the covered ones, and
    (covered - overall) / overall; p of the permutation test."""

    overall: IntervalEstimate
    covered: IntervalEstimate
    relative: IntervalEstimate
    p_value: float


def annotator_weights(number: int, draws: int, seed: int) -> Array:
    """How often each draw has each annotator, shape (annotators, draws).

    >>> annotator_weights(3, draws=4, seed=0).sum(axis=0)
    array([3, 3, 3, 3])
    """
    generator = np.random.default_rng([seed, 2])
    equal = np.full(number, 1 / number)
    return np.asarray(generator.multinomial(number, equal, draws).T)


def mean_over_annotators(values: Array, weights: Array) -> Array:
    """Return for each draw the mean over its annotators with a value, float64 (draws,); NaN in a
    draw without any.

    values : the value of each annotator, float64 (annotators, draws) or (annotators, 1); NaN where
        there is none
    weights : how often each draw has each annotator, (annotators, draws), by `annotator_weights`

    >>> mean_over_annotators(np.array([[1.0], [4.0], [np.nan]]), np.array([[2], [1], [0]]))
    array([2.])
    """
    total = np.nan_to_num(values) * weights
    number = ~np.isnan(values) * weights
    with np.errstate(invalid="ignore"):
        return np.asarray(total.sum(axis=0) / number.sum(axis=0))


def others_mean(annotations: Annotations) -> Array:
    """Return for each rating the mean of the other annotators' ratings of the same candidate,
    float64 (ratings,); NaN where nobody else rated it.

    Means are rounded to twelve digits, so that equal means are equal numbers.

    >>> candidate, rater = np.array([0, 0, 1]), np.array(["a", "b", "a"])
    >>> others_mean(Annotations(candidate, rater, rating=np.array([0.2, 0.6, 1.0])))
    array([0.6, 0.2, nan])
    """
    candidate, rater, rating = annotations
    _, annotator = np.unique(rater, return_inverse=True)
    # an annotator may rate a candidate twice
    _, pair = np.unique(candidate * (len(rater) + 1) + annotator, return_inverse=True)
    total = np.bincount(candidate, rating)
    number = np.bincount(candidate)
    own_total = np.bincount(pair, rating)
    own_number = np.bincount(pair)
    other_number = number[candidate] - own_number[pair]
    other_total = total[candidate] - own_total[pair]
    means = np.round(other_total / np.maximum(other_number, 1), 12)
    return np.where(other_number > 0, means, np.nan)


def _annotator_means(
    candidate: Array, rater: Array, error: Array, n: int
) -> Callable[[Array], Array]:
    """Return a function that computes the mean of each annotator's errors under many weights.

    candidate, rater, error : of each rating its candidate, int64 from 0 to n - 1, its annotator,
        and its error, float64, each (ratings,)
    n : the number of candidates

    The function takes the weights of the candidates, each with all its ratings, (draws, n), and
    returns the means, float64 (annotators, draws); NaN where an annotator has no rating left.
    """
    from scipy.sparse import csr_array

    names, row = np.unique(rater, return_inverse=True)
    total = csr_array((error, (row, candidate)), (len(names), n))
    number = csr_array((np.ones(len(error)), (row, candidate)), (len(names), n))

    def means(weights: Array) -> Array:
        columns = np.asarray(weights, np.float64).T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((total @ columns) / (number @ columns))

    return means


def human_rows(
    annotations: Annotations,
    truth: Array,
    *,
    estimate: Array | None = None,
    others: bool = False,
    units: Array | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> AnnotatorScores:
    """MSE and Spearman's rho of each annotator on the candidates that this annotator rated: the
    mean over annotators, and the lowest MSE and the highest rho, which may be of different ones.

    An annotator without a rho (one side all alike, or fewer than 3 pairs) counts as 0, also in
    each draw, unless none has one. One whose candidates a draw misses, or who has no rho on it
    alone, is left out there. NaN where there is no rating.

    Parameters
    ----------
    annotations : whose candidates are indices into ``truth``
    truth : quality of each candidate, shape (candidates,)
    estimate : a prediction of each candidate, NaN where undefined, which is measured instead of the
        annotator on each annotator's candidates, shape (candidates,)
    others : measure against `others_mean` and not against ``truth``; candidates that nobody else
        rated drop out
    units, draws, seed : of the bootstrap over candidates, as in `refless.statistics.evaluate`, and
        over annotators

    References
    ----------
    Ethayarajh & Sadigh (2020), section 5.1; ``others`` is ours.

    Examples
    --------
    >>> candidate, rater = np.array([0, 1, 2, 0, 1, 2]), np.array(["a", "a", "a", "b", "b", "b"])
    >>> rating, truth = np.array([0, 0.5, 1, 0, 1, 0.5]), np.array([0, 0.75, 0.75])
    >>> scores = human_rows(Annotations(candidate, rater, rating), truth, draws=10)
    >>> round(scores.average_mse.value, 4), round(scores.best_spearman.value, 4)
    (0.0417, 0.866)
    """
    candidate, rater, rating = annotations
    measured = rating if estimate is None else estimate[candidate]
    target = others_mean(annotations) if others else truth[candidate]
    kept = ~np.isnan(target) & ~np.isnan(measured)
    candidate = candidate[kept]
    rater = rater[kept]
    measured = measured[kept]
    target = target[kept]
    rows_of = [np.flatnonzero(rater == name) for name in np.unique(rater)]
    if not rows_of:
        return AnnotatorScores(*[IntervalEstimate(float("nan"))] * 4)
    mse_of = _annotator_means(candidate, rater, (measured - target) ** 2, len(truth))
    mse = mse_of(np.ones((1, len(truth))))[:, 0]
    rho = np.array([spearman(measured[rows], target[rows])[0] for rows in rows_of])
    ranking = np.flatnonzero(~np.isnan(rho))
    rho = np.nan_to_num(rho) if len(ranking) else rho

    def measures(weights: Array) -> Array:
        """MSE and rho of each annotator, (2, annotators, draws)."""
        rhos = np.repeat(rho[:, None], len(weights), axis=1)
        by_candidate = np.ascontiguousarray(weights.T)  # an annotator rated a few candidates
        for i in ranking:
            rows = rows_of[i]
            weights_of_rows = by_candidate[candidate[rows]].T
            rhos[i] = weighted_spearman(measured[rows], target[rows], weights_of_rows)
        return np.stack([mse_of(weights), rhos])

    blocks = draw_blocks(len(truth) if units is None else units, draws, seed)
    mse_draws, rho_draws = bootstrap(measures, blocks)
    copies = annotator_weights(len(rows_of), draws, seed)
    best_mse_draws = np.fmin.reduce(np.where(copies > 0, mse_draws, np.nan))
    best_rho_draws = np.fmax.reduce(np.where(copies > 0, rho_draws, np.nan))
    return AnnotatorScores(
        average_mse=IntervalEstimate.of(mse.mean(), mean_over_annotators(mse_draws, copies)),
        average_spearman=IntervalEstimate.of(rho.mean(), mean_over_annotators(rho_draws, copies)),
        best_mse=IntervalEstimate.of(np.fmin.reduce(mse), best_mse_draws),
        best_spearman=IntervalEstimate.of(np.fmax.reduce(rho), best_rho_draws),
    )


def covered_errors(
    annotations: Annotations,
    truth: Array,
    covered: Array,
    *,
    units: Array | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> CoveredErrors:
    """Are the covered candidates easier for annotators than all candidates are?

    A permutation test over candidates, each with all of its ratings: p is the share of ``draws``
    random subsets of as many (and the covered one) whose difference from all is at least as great
    in size. ``covered`` is bool (candidates,), other parameters are as in `human_rows`.

    Source: Ethayarajh & Sadigh (2020), section 5.3, for the two means; their test is not named.

    >>> candidate, rater = np.array([0, 1, 2, 3]), np.array(["a", "a", "b", "b"])
    >>> rating, truth = np.array([0.0, 0.4, 0.5, 1.0]), np.array([0.0, 0.5, 0.5, 0.8])
    >>> covered = np.array([True, False, True, False])
    >>> errors = covered_errors(Annotations(candidate, rater, rating), truth, covered, draws=10)
    >>> round(errors.overall.value, 4), errors.covered.value
    (0.0125, 0.0)
    """
    candidate, rater, rating = annotations
    n = len(truth)
    mse_of = _annotator_means(candidate, rater, (rating - truth[candidate]) ** 2, n)

    def mean(weights: Array) -> Array:
        return mean_over_annotators(mse_of(weights), np.ones(1))

    overall, of_covered = mean(np.stack([np.ones(n), covered]))
    blocks = draw_blocks(n if units is None else units, draws, seed)
    mse = bootstrap(lambda w: np.stack([mse_of(w), mse_of(w * covered)]), blocks)
    copies = annotator_weights(mse.shape[1], draws, seed)
    overall_draws, covered_draws = (mean_over_annotators(values, copies) for values in mse)
    relative_draws = (covered_draws - overall_draws) / overall_draws
    gap = of_covered - overall
    random_gaps = bootstrap(mean, _subsets(n, int(covered.sum()), draws, seed)) - overall
    # a hair, so that subsets that differ by rounding noise count as equal
    as_far = int((np.abs(random_gaps) >= abs(gap) - 1e-12).sum())
    return CoveredErrors(
        overall=IntervalEstimate.of(overall, overall_draws),
        covered=IntervalEstimate.of(of_covered, covered_draws),
        relative=IntervalEstimate.of(gap / overall if overall else np.nan, relative_draws),
        p_value=float("nan") if np.isnan(gap) else (1 + as_far) / (1 + draws),
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
