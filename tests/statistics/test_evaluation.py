"""Error, rank correlation and coverage: against a slow loop over the same draws, and scipy."""

import numpy as np
import pytest
from scipy import stats

from refless.statistics import Estimate, draw_weights, evaluate

NAN = float("nan")


def example(n: int, seed: int, covered: float) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and quality on coarse scales, so that both have ties."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 6, n) / 5
    prediction = np.round((truth + generator.normal(0, 0.4, n)) * 4) / 4
    return np.where(generator.random(n) < covered, prediction, NAN), truth


@pytest.mark.parametrize(
    ("n", "covered", "seed"), [(40, 0.7, 1), (40, 1.0, 2), (12, 0.5, 3), (6, 0.7, 4)]
)
def test_an_evaluation_is_what_a_slow_loop_says(n: int, covered: float, seed: int) -> None:
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
        ends = np.percentile(draws, [2.5, 97.5])
        assert (estimate.low, estimate.high) == pytest.approx(ends, abs=1e-12)
        assert estimate.draws[~np.isnan(estimate.draws)] == pytest.approx(np.array(draws))


def test_a_correlation_that_one_candidate_makes_has_no_interval() -> None:
    """A third of the draws miss it, and have no rho; the others would all be on one side of 0."""
    truth = np.arange(20.0)
    found = evaluate(np.where(truth == 19, 1.0, 0.0), truth, draws=500, seed=1)
    assert found.spearman.value > 0
    assert np.isnan([found.spearman.low, found.spearman.high]).all()
    assert found.mse.low < found.mse.value < found.mse.high
    perfect = evaluate(-truth, truth, draws=20)
    assert (perfect.spearman.value, perfect.p_value) == (-1, 0)


@pytest.mark.parametrize(
    ("prediction", "truth", "covered"),
    [
        ([NAN] * 4, [0.1, 0.2, 0.3, 0.8], 0),
        ([0.1, 0.2, NAN, NAN], [0.1, 0.3, 0.3, 0.8], 2),  # two pairs are too few
        ([0.5] * 4, [0.1, 0.2, 0.3, 0.8], 4),
        ([0.1, 0.2, 0.3, 0.8], [0.5] * 4, 4),
    ],
)
def test_without_three_pairs_or_spread_there_is_no_correlation(
    prediction: list[float], truth: list[float], covered: int
) -> None:
    found = evaluate(np.array(prediction), np.array(truth), draws=50)
    rho = found.spearman
    assert np.isnan([rho.value, rho.low, rho.high, found.p_value]).all()
    assert (found.n, found.n_covered, found.coverage.value) == (4, covered, covered / 4)
    assert np.isnan(found.mse.value) == (covered == 0)
    if covered == 4:
        assert found.mse.low < found.mse.value < found.mse.high
        assert found.coverage == Estimate(1, 1, 1)
