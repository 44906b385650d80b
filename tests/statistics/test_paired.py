"""The paired bootstrap, against resampling written out with scipy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from refless.statistics import (
    Estimate,
    draw_weights,
    evaluate,
    interval,
    paired,
    paired_bootstrap,
)

NAN = float("nan")
GENERATOR = np.random.default_rng(5)
N = 40
TRUTH = np.round(GENERATOR.random(N) * 8) / 8
GROUPS = np.repeat([0, 1, 2, -1], [17, 13, 2, 8])


def prediction(seed: int, missing: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    out = np.round(TRUTH + generator.normal(0, 0.4, N), 1)
    out[generator.choice(N, missing, replace=False)] = NAN
    return out


def slow(p: np.ndarray, rows: np.ndarray, groups: np.ndarray) -> list[float]:
    """MSE, rho, coverage and rho within groups of a resample, given by its rows."""
    kept = rows[~np.isnan(p[rows])]
    rho = stats.spearmanr(p[kept], TRUTH[kept]).statistic
    top = bottom = 0.0
    for group in (0, 1, 2):
        own = kept[groups[kept] == group]
        # whether a group is large enough is asked of the candidates, not of a resample
        if np.count_nonzero((groups == group) & ~np.isnan(p)) >= 3 and len(own) > 1:
            value = stats.spearmanr(p[own], TRUTH[own]).statistic
            if not np.isnan(value):
                top, bottom = top + len(own) * value, bottom + len(own)
    mse = float(np.mean((p[kept] - TRUTH[kept]) ** 2))
    return [mse, rho, len(kept) / len(rows), top / bottom if bottom else NAN]


@pytest.mark.parametrize("block", [1 << 19, N, 3 * N])
def test_values_and_intervals_are_those_of_resampling(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paired, "BLOCK", block)
    baseline, others = prediction(1, 4), [prediction(2, 9), prediction(3, 0), prediction(1, 4)]
    results = paired_bootstrap(others, baseline, TRUTH, groups=GROUPS, draws=60, seed=7)
    samples = [np.arange(N), *(np.repeat(np.arange(N), w) for w in draw_weights(N, 60, 7))]
    for other, result in zip(others, results, strict=True):
        common = ~np.isnan(other) & ~np.isnan(baseline)
        both, same = (np.where(common, p, NAN) for p in (baseline, other))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own = np.array([slow(other, rows, GROUPS) for rows in samples])
            base = np.array([slow(baseline, rows, GROUPS) for rows in samples])
            shared = np.array(
                [np.subtract(slow(same, r, GROUPS)[:2], slow(both, r, GROUPS)[:2]) for r in samples]
            )
        assert result.n_common == common.sum()
        for values, measures in ((own, result.own), (own - base, result.change)):
            estimates = [measures.mse, measures.spearman, measures.coverage, measures.within]
            for column, estimate in zip(values.T, estimates, strict=True):
                assert estimate.value == pytest.approx(column[0], abs=1e-12)
                assert (estimate.low, estimate.high) == pytest.approx(interval(column[1:]))
        for column, estimate in zip(
            shared.T, [result.common_mse, result.common_spearman], strict=True
        ):
            assert estimate.value == pytest.approx(column[0], abs=1e-12)
            assert (estimate.low, estimate.high) == pytest.approx(interval(column[1:]))


def test_a_prediction_beside_itself_does_not_change() -> None:
    own = prediction(4, 6)
    result = paired_bootstrap([own], own, TRUTH, draws=50)[0]
    assert result.change.mse == result.change.coverage == Estimate(0, 0, 0)
    assert result.change.spearman == result.common_spearman == Estimate(0, 0, 0)
    assert np.isnan(result.own.within.value)  # no groups


def test_draws_are_those_of_evaluate() -> None:
    own = prediction(4, 6)
    result = paired_bootstrap([own], own, TRUTH, draws=50, seed=3)[0]
    cell = evaluate(own, TRUTH, 50, 3)
    for name in ("mse", "spearman", "coverage"):
        ours, theirs = getattr(result.own, name), getattr(cell, name)
        assert (ours.value, ours.low, ours.high) == pytest.approx(
            (theirs.value, theirs.low, theirs.high)
        )


def test_without_any_prediction_there_is_nothing_to_compare() -> None:
    nothing = np.full(N, NAN)
    result = paired_bootstrap([nothing], prediction(4, 6), TRUTH, groups=GROUPS, draws=50)[0]
    assert result.own.coverage.value == 0
    assert result.n_common == 0
    for estimate in (result.own.mse, result.own.within, result.change.spearman):
        assert np.isnan([estimate.value, estimate.low, estimate.high]).all()
