"""Error, rank correlation and coverage: against a slow loop over the same draws, and scipy."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import stats

from refless.errors import SettingError
from refless.statistics import (
    draw_weights,
    evaluate,
    mean_squared_error,
    spearman,
)

NAN = float("nan")


def test_mean_squared_error_by_hand() -> None:
    assert mean_squared_error(np.array([1.0, 0.5]), np.array([0.0, 1.0])) == 0.625
    assert math.isnan(mean_squared_error(np.array([]), np.array([])))


def example(n: int, seed: int, covered: float) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and quality on coarse scales, so that both have ties."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 6, n) / 5
    prediction = np.round((truth + generator.normal(0, 0.4, n)) * 4) / 4
    return np.where(generator.random(n) < covered, prediction, NAN), truth


@pytest.mark.parametrize(
    ("n", "covered", "seed"), [(40, 0.7, 1), (40, 1.0, 2), (12, 0.5, 3), (6, 0.7, 4)]
)
def test_an_evaluation_is_what_a_slow_loop_over_the_same_draws_says(
    n: int, covered: float, seed: int
) -> None:
    prediction, truth = example(n, seed, covered)
    found = evaluate(prediction, truth, draws=150, seed=9)
    inside = ~np.isnan(prediction)
    assert (found.n, found.n_covered) == (n, inside.sum())
    assert found.coverage.value == inside.sum() / n
    assert found.mse.value == np.mean((prediction[inside] - truth[inside]) ** 2)
    expected = stats.spearmanr(prediction[inside], truth[inside])
    assert found.spearman.value == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)

    mse, rho, coverage = [], [], []
    for copies in draw_weights(n, 150, 9):
        drawn = np.repeat(np.arange(n), copies)
        p, t = prediction[drawn], truth[drawn]
        there = ~np.isnan(p)
        coverage.append(there.mean())
        if there.any():
            mse.append(np.mean((p[there] - t[there]) ** 2))
            if np.ptp(p[there]) and np.ptp(t[there]):
                rho.append(stats.spearmanr(p[there], t[there]).statistic)
    for estimate, draws in ((found.mse, mse), (found.spearman, rho), (found.coverage, coverage)):
        if len(draws) < 0.975 * 150:  # a draw without a value may lie beyond an end
            assert np.isnan([estimate.low, estimate.high]).all()
            continue
        low, high = np.percentile(draws, [2.5, 97.5])
        assert estimate.low == pytest.approx(low, abs=1e-12)
        assert estimate.high == pytest.approx(high, abs=1e-12)
        assert estimate.low <= estimate.value <= estimate.high


def test_a_correlation_that_one_candidate_makes_has_no_interval() -> None:
    """A third of the draws miss it, and have no rho; the others would all be on one side of 0."""
    truth = np.arange(20.0)
    prediction = np.where(truth == 19, 1.0, 0.0)
    found = evaluate(prediction, truth, draws=500, seed=1)
    assert found.spearman.value > 0
    assert np.isnan([found.spearman.low, found.spearman.high]).all()
    assert found.mse.low < found.mse.value < found.mse.high


def test_intervals_are_those_of_scipy() -> None:
    prediction, truth = example(120, 5, 1.0)
    found = evaluate(prediction, truth, draws=2000, seed=1)
    for estimate, statistic in (
        (found.spearman, lambda p, t: stats.spearmanr(p, t).statistic),
        (found.mse, lambda p, t: np.mean((p - t) ** 2)),
    ):
        theirs = stats.bootstrap(
            (prediction, truth),
            statistic,
            paired=True,
            vectorized=False,
            method="percentile",
            n_resamples=1000,
            rng=np.random.default_rng(2),
        ).confidence_interval
        width = theirs.high - theirs.low
        assert estimate.low == pytest.approx(theirs.low, abs=0.12 * width)
        assert estimate.high == pytest.approx(theirs.high, abs=0.12 * width)


def test_an_evaluation_is_reproducible_and_its_estimate_does_not_hang_on_the_seed() -> None:
    prediction, truth = example(30, 6, 0.8)
    found = evaluate(prediction, truth, draws=50, seed=1)
    assert found == evaluate(prediction, truth, draws=50, seed=1)
    other = evaluate(prediction, truth, draws=50, seed=2)
    assert other.spearman.low != found.spearman.low
    assert other.spearman.value == found.spearman.value


def test_an_evaluation_does_not_change_its_input() -> None:
    prediction, truth = example(10, 6, 0.8)
    before = prediction.copy(), truth.copy()
    evaluate(prediction, truth, draws=5)
    np.testing.assert_array_equal(prediction, before[0])
    np.testing.assert_array_equal(truth, before[1])


def undefined(estimate: object) -> bool:
    return all(math.isnan(value) for value in vars(estimate).values())


def test_without_a_prediction_only_coverage_is_defined() -> None:
    found = evaluate(np.full(4, NAN), np.array([0.1, 0.2, 0.3, 0.4]), draws=20)
    assert undefined(found.mse)
    assert undefined(found.spearman)
    assert math.isnan(found.p_value)
    assert found.coverage.value == 0
    assert (found.n, found.n_covered) == (4, 0)


def test_constant_predictions_have_an_error_but_no_correlation() -> None:
    truth = np.array([0.1, 0.2, 0.3, 0.8])
    found = evaluate(np.full(4, 0.5), truth, draws=50)
    assert undefined(found.spearman)
    assert math.isnan(found.p_value)
    assert found.mse.value == pytest.approx(np.mean((0.5 - truth) ** 2))
    assert found.mse.low < found.mse.value < found.mse.high
    assert vars(found.coverage) == {"value": 1.0, "low": 1.0, "high": 1.0}


@pytest.mark.parametrize("n", [0, 1, 2])
def test_an_evaluation_of_hardly_any_candidate(n: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = evaluate(np.array([0.5, 0.75][:n]), np.array([0.0, 1.0][:n]), draws=30)
    assert (found.n, found.n_covered) == (n, n)
    assert undefined(found.spearman)
    assert math.isnan(found.p_value)
    if n == 0:
        assert undefined(found.mse)
        assert undefined(found.coverage)
    else:
        assert found.mse.value == {1: 0.25, 2: (0.25 + 0.0625) / 2}[n]
        assert found.coverage.value == 1.0


def test_the_bootstrap_can_draw_whole_groups() -> None:
    """Twins tell nothing new: with groups, they leave the interval as it is."""
    generator = np.random.default_rng(1)
    x = generator.random(50)
    y = x + generator.random(50)
    alone = evaluate(x, y, draws=400, seed=3)
    twice = np.repeat(np.arange(50), 2)
    groups = evaluate(x[twice], y[twice], draws=400, seed=3, units=twice)
    assert groups.spearman.value == pytest.approx(alone.spearman.value)
    assert groups.spearman.low == pytest.approx(alone.spearman.low)
    assert groups.mse.high == pytest.approx(alone.mse.high)
    assert groups.coverage == alone.coverage
    apart = evaluate(x[twice], y[twice], draws=400, seed=3)
    assert apart.spearman.low > groups.spearman.low


def test_who_was_not_rated_is_no_candidate() -> None:
    truth, prediction = np.array([0.1, np.nan, 0.3, 0.2]), np.array([0.2, 0.1, 0.4, 0.3])
    with pytest.raises(SettingError, match="1 of 4 candidates"):
        evaluate(prediction, truth)
    with pytest.raises(SettingError, match="3 predictions"):
        evaluate(prediction[:3], prediction)
    assert math.isnan(spearman(prediction, truth)[0])
