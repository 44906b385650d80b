"""What is left of a score within systems and contexts. Accuracies are those that mt-metrics-eval's
``tau_optimization`` (68a481a) gives for these numbers."""

import numpy as np
import pytest

from refless.evaluation import within
from refless.evaluation.within import (
    accuracy_within_contexts,
    calibrated_accuracy,
    pearson_within_estimate,
    text_pairs,
)

NAN = float("nan")
RATINGS = [[1, 2, 2, 3, 5], [4, 4, 4, 1, 2], [3, 3, 2, 5, 1], [2, 5, 4, 4, 4]]
SCORES = [
    [0.10, 0.42, 0.37, 0.55, 0.91],
    [0.62, 0.81, 0.70, 0.22, 0.35],
    [0.50, 0.44, 0.48, 0.77, 0.41],
    [0.33, 0.85, 0.60, 0.58, 0.71],
]
WITH_GAPS = [
    [0.10, 0.42, NAN, NAN, 0.91],
    [0.62, 0.81, NAN, NAN, NAN],
    [0.50, NAN, NAN, NAN, NAN],
    [0.33, 0.85, 0.60, 0.58, 0.71],
]
OFTEN_TIED = [[3, 3, 2, 1, 1], [2, 2, 1, 1, 3], [1, 1, 2, 2, 3], [3, 2, 2, 1, 1]]
K = np.arange(180)
WAVES = np.round(2 * np.sin(K * K))
NEAR_WAVES = (np.cos(K * 1.7) + 0.7 * WAVES).round(3)


def flat(score, quality, size):
    score, quality = (np.array(values, float).ravel() for values in (score, quality))
    return score, quality, np.arange(len(score)) // size


@pytest.mark.parametrize(
    ("score", "quality", "size", "accuracy", "tie"),
    [
        (SCORES, RATINGS, 5, 0.825, 0.11),
        (WITH_GAPS, RATINGS, 5, 0.9666666666666667, 0.19),
        (OFTEN_TIED, RATINGS, 5, 0.25, 0.0),
        ([0.1, 0.2, 0.3, 0.5, 0.9, 0.8, 0.85, 0.1], [1, 2, 3, 4, 4, 3, 2, 1], 4, 11 / 12, 0.0),
        (NEAR_WAVES, WAVES, 6, 0.66, 0.028),
    ],
)
def test_accuracy_is_that_of_mt_metrics_eval(score, quality, size, accuracy, tie):
    best = calibrated_accuracy(text_pairs(*flat(score, quality, size)))
    assert best.accuracy == pytest.approx(accuracy, abs=1e-12)
    assert best.tie == pytest.approx(tie, abs=1e-12)


def test_the_order_of_texts_does_not_matter():
    score, quality, context = flat(SCORES, RATINGS, 5)
    order = np.random.default_rng(0).permutation(20)
    shuffled = calibrated_accuracy(text_pairs(score[order], quality[order], 7 + context[order]))
    assert shuffled.accuracy == pytest.approx(0.825)


def test_a_draw_of_all_contexts_is_the_estimate():
    """With every context alike, each draw has the same pairs."""
    score, quality, _ = flat(SCORES, RATINGS, 5)
    context = np.repeat(np.arange(12), 20)
    estimate = accuracy_within_contexts(np.tile(score, 12), np.tile(quality, 12), context, 50, 0)
    alone = calibrated_accuracy(text_pairs(score, quality, np.zeros(20, int)))
    ends = estimate.value, estimate.low, estimate.high
    assert ends == pytest.approx((alone.accuracy,) * 3)


def test_pairs_of_a_large_context_are_drawn(monkeypatch):
    generator = np.random.default_rng(1)
    quality = generator.normal(size=300)
    score = quality + generator.normal(size=300)
    every = calibrated_accuracy(text_pairs(score, quality, np.zeros(300, int)))
    monkeypatch.setattr(within, "MOST_PAIRS", 4000)
    pairs = text_pairs(score, quality, np.zeros(300, int))
    assert len(pairs.context) == 4000
    assert (pairs.distance > 0).all()
    assert calibrated_accuracy(pairs).accuracy == pytest.approx(every.accuracy, abs=0.03)


@pytest.mark.parametrize("score", [[NAN] * 4, [1.0, NAN, 2.0, NAN]])
def test_nothing_to_compare(score):
    """No text has a score, or each context has one that has."""
    score, context = np.array(score), np.array([0, 0, 1, 1])
    assert np.isnan(calibrated_accuracy(text_pairs(score, np.arange(4.0), context)).accuracy)
    estimate = accuracy_within_contexts(score, np.arange(4.0), context, 20, 0)
    assert np.isnan([estimate.value, estimate.low, estimate.high]).all()
    r = pearson_within_estimate(score, np.arange(4.0), context, None, 20, 0)
    assert np.isnan([r.value, r.low, r.high]).all()


def test_r_within_groups_is_r_of_what_the_means_leave():
    generator = np.random.default_rng(2)
    group = np.append(generator.integers(0, 5, 60), 5)  # the last group has one text
    score, quality = generator.normal(size=(2, 61)) + group
    score[60] = 1e6
    r = pearson_within_estimate(score, quality, group, None, 0, 0).value
    left = []
    for values in (score, quality):
        means = np.array([values[group == k].mean() for k in range(6)])
        left.append((values - means[group])[:60])
    assert r == pytest.approx(np.corrcoef(*left)[0, 1])


def test_a_score_that_knows_its_system_alone_is_not_above_0_within_systems():
    generator = np.random.default_rng(3)
    system, context = np.tile(np.arange(10), 30), np.repeat(np.arange(30), 10)
    level = generator.normal(size=10)[system]
    quality = level + generator.normal(size=300)
    knows_the_system = level + 0.01 * generator.normal(size=300)
    reads = quality + generator.normal(size=300)
    assert np.corrcoef(knows_the_system, quality)[0, 1] > 0.4
    for score, above in ((knows_the_system, False), (reads, True)):
        r = pearson_within_estimate(score, quality, system, context, 500, 0)
        assert (r.low > 0) == above
        assert r.low < r.value < r.high


def test_contexts_are_resampled_whole():
    """Copies of a text in one context say as much as one of them."""
    generator = np.random.default_rng(4)
    score, quality = generator.normal(size=(2, 60))
    once = np.arange(60) // 3
    repeated = [np.repeat(values, 10) for values in (score, quality, once)]
    widths = []
    for x, y, context in ((score, quality, once), repeated):
        r = pearson_within_estimate(x, y, np.zeros(len(x), int), context, 400, 0)
        widths.append(r.high - r.low)
    assert widths[1] == pytest.approx(widths[0])
