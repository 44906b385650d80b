"""Statistics of ratings on a scale from counts, against scipy and against the pairs themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from refless.errors import SettingError
from refless.statistics import draw_weights, scale_counts, scale_statistics

SCALE = np.arange(1, 6.25, 0.5)


@pytest.mark.parametrize("seed", range(10))
def test_counts_give_what_the_pairs_give(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n = int(generator.integers(5, 200))
    truth = generator.choice(SCALE, n)
    prediction = np.clip(truth + generator.choice([-1, -0.5, 0, 0.5, 2], n), 1, 6)
    weights = draw_weights(n, 4, seed)
    found = scale_statistics(scale_counts(prediction, truth, SCALE, weights), SCALE)
    for draw, weight in enumerate(weights):
        x, y = np.repeat(prediction, weight), np.repeat(truth, weight)
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            continue
        assert found["pearson"][draw] == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-12)
        assert found["spearman"][draw] == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-12)
        assert found["mae"][draw] == pytest.approx(np.abs(x - y).mean())
        assert found["rmse"][draw] == pytest.approx(np.sqrt(((x - y) ** 2).mean()))


def test_a_constant_side_has_errors_and_no_correlation() -> None:
    once = np.ones((1, 3))
    counts = scale_counts(np.full(3, 4.5), np.array([1.0, 4.5, 6.0]), SCALE, once)
    found = scale_statistics(counts, SCALE)
    assert np.isnan(found["pearson"][0])
    assert np.isnan(found["spearman"][0])
    assert found["mae"][0] == pytest.approx(5 / 3)


@pytest.mark.parametrize("value", [1.25, 0.5, 6.5, np.nan])
def test_a_value_off_the_scale_is_refused(value: float) -> None:
    with pytest.raises(SettingError, match="values other than"):
        scale_counts(np.array([value]), np.array([1.0]), SCALE, np.ones((1, 1)))
