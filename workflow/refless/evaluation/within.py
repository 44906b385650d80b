"""What a score says beyond the system and the context: correlations and accuracy within groups.

A score that knows nothing but the system correlates with quality wherever systems differ. Within
systems it is constant. Each number has an interval from a bootstrap over contexts.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.evaluation.evaluate import Comparison, Row, interval_columns
from refless.evaluation.measures import (
    WITHIN_CONTEXTS,
    WITHIN_SYSTEMS,
    score_direction,
    training_mean,
)
from refless.methods import column_name
from refless.statistics.bootstrap import (
    FEWEST_CONTEXTS,
    IntervalEstimate,
    bootstrap,
    draw_blocks,
    spread_scale,
)
from refless.statistics.measure import Measure

Array = np.ndarray

WITHIN_COLUMNS = [
    "split",
    "method",
    "kernel",
    *Measure("r_within_systems").interval,
    *Measure("r_within_contexts").interval,
    *Measure("accuracy_within_contexts").interval,
]
MOST_PAIRS = 5000
"""A context has so many pairs of texts at most; of a larger context, so many are drawn."""
MOST_TIES = 1000
"""Largest differences that tie, which draws of a bootstrap choose from."""


class TextPairs(NamedTuple):
    """Pairs of texts within contexts, (pairs,): how far apart their scores are, whether their
    ratings are equal, whether score and ratings rank them alike, and their context, from 0."""

    distance: Array
    tied: Array
    alike: Array
    context: Array


class CalibratedAccuracy(NamedTuple):
    """Pairwise accuracy, in [0, 1], with the largest difference of scores that ties."""

    accuracy: float
    tie: float


def within_table(comparison: Comparison) -> pd.DataFrame:
    """`WITHIN_COLUMNS` of each method under the splits of texts and of contexts; where systems are
    left out, the comparison itself is within them. No rows where nobody says what system wrote a
    text, nor what it answers.

    r is of all repeats, accuracy of the first: of scores as they are, and of estimates less the
    mean of their training part, which falls as ratings that are left out rise.
    """
    rated = comparison.rated
    rows = []
    for key, draws in comparison.draws.items():
        cells: dict[str, Any] = dict(zip(("split", "method", "kernel"), key, strict=True))
        for name in (WITHIN_SYSTEMS, WITHIN_CONTEXTS):
            if name in draws:
                cells |= interval_columns(f"r_{name}", np.clip(draws[name], -1, 1))
        if WITHIN_CONTEXTS in draws and rated.context is not None:
            values = _first_values(comparison, key)
            number = len(draws[WITHIN_CONTEXTS]) - 1
            accuracy = accuracy_within_contexts(
                values, rated.quality, rated.context, number, comparison.seed
            )
            cells |= Measure("accuracy_within_contexts").cells(accuracy)
        if len(cells) > 3:
            rows.append(cells)
    return pd.DataFrame(rows, columns=WITHIN_COLUMNS)


def _first_values(comparison: Comparison, key: Row) -> Array:
    """A score in its direction, or the first estimates of a method less the mean of their training
    part, float64 (n,)."""
    rated = comparison.rated
    split, *of_method = key
    score = rated.scores.get(key[1])
    if score is not None:
        return np.asarray(score * score_direction(score, rated.quality))
    part = comparison.splits[split][0]
    predictions = comparison.predictions
    first = predictions[(predictions["split"] == split) & (predictions["repeat"] == part.repeat)]
    estimates = first[column_name(*of_method)].to_numpy(np.float64)
    means = training_mean(rated.to_user_scale(rated.quality), part.fold)
    return np.asarray(np.round(estimates - means, 12))  # equal ones tie


def text_pairs(score: Array, quality: Array, context: Array, seed: int = 0) -> TextPairs:
    """All pairs of texts of a context, or `MOST_PAIRS` random ones of a context with more. Texts
    whose score is NaN are left out, and then contexts with one text.

    score, quality : float64 (n,)
    context : int64 (n,)

    >>> pairs = text_pairs(np.array([1.0, 2.0, 4.0]), np.array([5.0, 5.0, 3.0]), np.zeros(3, int))
    >>> pairs.distance, pairs.tied, pairs.alike
    (array([1., 3., 2.]), array([ True, False, False]), array([False, False, False]))
    """
    generator = np.random.default_rng([seed, 5])
    rows = np.flatnonzero(~np.isnan(score))
    order = rows[np.argsort(context[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(context[order], prepend=-1))
    first: list[Array] = []
    second: list[Array] = []
    number: list[Array] = []
    for texts in np.split(order, starts[1:]):
        if len(texts) < 2:
            continue
        i, j = _pairs_of(len(texts), generator)
        number.append(np.full(len(i), len(number)))
        first.append(texts[i])
        second.append(texts[j])
    if not number:
        nothing = np.zeros(0)
        return TextPairs(nothing, nothing > 0, nothing > 0, nothing.astype(np.int64))
    a = np.concatenate(first)
    b = np.concatenate(second)
    by_score = score[a] - score[b]
    by_quality = np.round(quality[a] - quality[b], 12)  # equal means tie, however they were summed
    return TextPairs(
        distance=np.abs(by_score),
        tied=by_quality == 0,
        alike=by_score * by_quality > 0,
        context=np.concatenate(number),
    )


def _pairs_of(texts: int, generator: np.random.Generator) -> tuple[Array, Array]:
    """Two different ones of so many texts, each (pairs,)."""
    if texts * (texts - 1) // 2 <= MOST_PAIRS:
        return np.triu_indices(texts, 1)
    first = generator.integers(0, texts, MOST_PAIRS)
    return first, (first + generator.integers(1, texts, MOST_PAIRS)) % texts


def calibrated_accuracy(pairs: TextPairs) -> CalibratedAccuracy:
    """The share of pairs of texts that scores rank as ratings do, where a tie must be a tie: the
    mean over contexts. Scores that differ by no more than ``tie`` are tied, and this is the number
    with which the accuracy is greatest, the smallest of equally good ones. NaN without pairs.

    Metrics rarely give two texts the same score, people often do, so that without this a metric
    could not be right about a tie.

    Source: Deutsch, Foster and Freitag (2023), "Ties matter: meta-evaluating modern metrics with
    pairwise accuracy and tie calibration", equation 8 and section 5; values are those of
    mt-metrics-eval's ``tau_optimization.py``.

    Three texts with ratings 5, 5 and 3. The pairs (a, b), (a, c), (b, c) have scores 1, 3 and 2
    apart. Without ties the second and third are right, 2 / 3; if a difference of 1 ties, all are.

    >>> score, quality = np.array([4.0, 3.0, 1.0]), np.array([5.0, 5.0, 3.0])
    >>> calibrated_accuracy(text_pairs(score, quality, np.array([0, 0, 0])))
    CalibratedAccuracy(accuracy=1.0, tie=1.0)
    """
    if not len(pairs.context):
        return CalibratedAccuracy(float("nan"), float("nan"))
    size = np.bincount(pairs.context)
    weight = 1 / size[pairs.context] / len(size)
    order = np.argsort(pairs.distance, kind="stable")
    distance = pairs.distance[order]
    # what is gained if this pair is tied, and all that are nearer
    gain = np.cumsum((weight * (pairs.tied * 1.0 - pairs.alike))[order])
    last = np.append(distance[1:] != distance[:-1], True)
    ties = np.append(0.0, distance[last])
    gains = np.append(0.0, gain[last])
    best = int(np.argmax(np.round(gains, 12)))
    accuracy = float((weight * pairs.alike).sum() + gains[best])
    return CalibratedAccuracy(accuracy, float(ties[best]))


def accuracy_within_contexts(
    score: Array, quality: Array, context: Array, draws: int, seed: int
) -> IntervalEstimate:
    """`calibrated_accuracy` of texts within contexts, with an interval from `FEWEST_CONTEXTS`
    contexts on. On each draw of contexts the difference that ties is chosen anew, from
    `MOST_TIES` that are spread over all pairs. Draws are centred: the best of many differences is
    better than any, on a draw as on the texts.

    score, quality : float64 (n,), NaN of a text without a score
    context : int64 (n,)

    >>> context = np.repeat(np.arange(12), 3)
    >>> quality = np.arange(36) % 3 + context / 10
    >>> estimate = accuracy_within_contexts(quality, quality, context, draws=100, seed=0)
    >>> estimate.value, estimate.low, estimate.high
    (1.0, 1.0, 1.0)
    """
    pairs = text_pairs(score, quality, context, seed)
    best = calibrated_accuracy(pairs)
    contexts = int(pairs.context.max(initial=-1)) + 1
    if contexts < FEWEST_CONTEXTS or not draws:
        return IntervalEstimate(best.accuracy)
    levels = np.linspace(0, 1, MOST_TIES)
    ties = np.unique(np.append(np.quantile(pairs.distance, levels, method="higher"), best.tie))
    by_context = _accuracies(pairs, np.append(-1.0, ties))

    def statistic(weights: Array) -> Array:
        counts = weights.astype(np.float64)
        means = counts @ by_context / counts.sum(axis=1, keepdims=True)
        return np.asarray(means.max(axis=1))

    drawn = bootstrap(statistic, draw_blocks(contexts, draws, seed))
    drawn = np.clip(best.accuracy + drawn - drawn.mean(), 0, 1)
    scale = spread_scale(contexts, None, draws, seed)
    return IntervalEstimate.of(best.accuracy, drawn).with_spread(scale, 0, 1)


def _accuracies(pairs: TextPairs, ties: Array) -> Array:
    """The share of each context's pairs that are right with each tie, (contexts, ties)."""
    contexts = int(pairs.context.max()) + 1
    column = np.searchsorted(ties, pairs.distance)  # the first tie that ties the pair
    shape = (contexts, len(ties) + 1)
    gain = np.zeros(shape)
    np.add.at(gain, (pairs.context, column), pairs.tied * 1.0 - pairs.alike)
    right = np.bincount(pairs.context, pairs.alike)
    size = np.bincount(pairs.context)
    return np.asarray((right[:, None] + np.cumsum(gain, axis=1)[:, :-1]) / size[:, None])
