"""Correlations: against values worked by hand, against scipy, and on copies instead of weights."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from refless.errors import SettingError
from refless.statistics import (
    centred,
    draw_weights,
    midranks,
    scale_counts,
    scale_statistics,
    spearman,
    spearman_rows,
    weighted_pearson,
    weighted_spearman,
)
from refless.statistics.kendall import kendall_rows
from refless.statistics.ratings_saved import ratings_saved

NAN = float("nan")
SCALE = np.arange(1, 6.25, 0.5)


def test_spearman_by_hand() -> None:
    # ranks 1 2 3 4 against 2 1 4 3: 1 - 6 * 4 / (4 * 15)
    rho, p = spearman(np.array([0.1, 0.2, 0.3, 0.4]), np.array([2.0, 1.0, 9.0, 3.0]))
    assert rho == pytest.approx(0.6)
    # t = rho * sqrt((n - 2) / (1 - rho^2)) with n - 2 degrees of freedom
    assert p == pytest.approx(2 * stats.t.sf(0.6 * math.sqrt(2 / 0.64), 2))
    # midranks 1.5 1.5 3 against 1 2 3: Pearson's r of the ranks
    rho, _ = spearman(np.array([0.1, 0.1, 0.3]), np.array([1.0, 2.0, 3.0]))
    assert rho == pytest.approx(math.sqrt(3) / 2)
    assert spearman(np.arange(5.0), -np.arange(5.0)) == (-1, 0)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([], []),
        ([1], [2]),
        ([1, 2], [1, 2]),
        ([1, 1, 1], [1, 2, 3]),
        ([1, 2, 3], [5] * 3),
        ([1, 2, NAN], [1, 2, 3]),
    ],
)
def test_spearman_is_undefined_without_three_pairs_or_spread(x: list[int], y: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(map(math.isnan, spearman(np.array(x, float), np.array(y, float))))


@st.composite
def weighted_pairs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8)
    drawn = draw(pairs)
    row = st.lists(st.integers(0, 3), min_size=len(drawn), max_size=len(drawn))
    # thirds: values that no float holds exactly
    x, y = np.array(drawn, float).T / 3
    return x, y, np.array(draw(st.lists(row, min_size=1, max_size=3)))


@settings(max_examples=150, deadline=None)
@given(weighted_pairs())
def test_a_weight_of_k_is_k_copies(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    x, y, weights = data
    r = weighted_pearson(x[None], y[None], weights)
    rho = weighted_spearman(x, y, weights)
    # of candidates that stand in another order
    order = np.random.default_rng(0).permutation(len(x))
    moved = np.empty_like(weights)
    moved[:, order] = weights
    np.testing.assert_array_equal(weighted_spearman(x, y, moved, order), rho)
    for row, copies in enumerate(weights):
        many_x, many_y = np.repeat(x, copies), np.repeat(y, copies)
        if len(many_x) == 0 or np.ptp(many_x) == 0 or np.ptp(many_y) == 0:
            assert np.isnan([rho[row], r[row]]).all()
        else:
            assert rho[row] == pytest.approx(stats.spearmanr(many_x, many_y).statistic, abs=1e-12)
            assert r[row] == pytest.approx(np.corrcoef(many_x, many_y)[0, 1], abs=1e-12)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_pearson_does_not_hang_on_the_unit(scale: float) -> None:
    x = np.array([[1.0, 2.0, 4.0]]) * scale
    weights = np.array([[3, 1, 2]])
    y = np.array([[0.3, 0.1, 0.9]])
    expected = np.corrcoef(np.repeat(x[0], weights[0]), np.repeat(y[0], weights[0]))[0, 1]
    assert weighted_pearson(x, y, weights)[0] == pytest.approx(expected, abs=1e-12)
    # nor on where zero lies
    assert weighted_pearson(x + 1e5 * scale, y, weights)[0] == pytest.approx(expected, abs=1e-9)
    # a constant is one in any unit, whatever its mean rounds to
    assert np.isnan(weighted_pearson(np.full((1, 3), 0.1 * scale), y, np.array([[3, 3, 1]]))[0])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 6))
def test_ranks_and_correlations_of_rows_are_those_of_scipy(seed: int, n: int, levels: int) -> None:
    x = np.random.default_rng(seed).integers(0, levels, (2, 3, n)).astype(float)
    y = np.random.default_rng(seed + 1).integers(0, levels, (3, n)).astype(float)
    np.testing.assert_array_equal(midranks(y), stats.rankdata(y, axis=1))
    rho, tau = spearman_rows(x, y), kendall_rows(x, y)
    for place in np.ndindex(2, 3):
        own, truth = x[place], y[place[1]]
        if np.ptp(own) == 0 or np.ptp(truth) == 0:
            assert np.isnan([rho[place], tau[place]]).all()
        else:
            assert rho[place] == pytest.approx(stats.spearmanr(own, truth).statistic)
            assert tau[place] == pytest.approx(stats.kendalltau(own, truth).statistic)


def test_centred_values_tie_where_they_are_equal() -> None:
    """0.1 + 0.2 is 0.3, whatever the last bits are, and one far away does not tie the others."""
    found = centred(np.array([0.1 + 0.2, 0.3, 0.4, 1.3, 1.3, 1.4]), np.array([0] * 3 + [1] * 3))
    assert len(set(found)) == 2
    far = centred(np.array([1.0, 2.0, 3.0, 1e12]), np.zeros(4, int))
    assert len(set(far)) == 4


# ---- a scale of few values ------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
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
    counts = scale_counts(np.full(3, 4.5), np.array([1.0, 4.5, 6.0]), SCALE, np.ones((1, 3)))
    found = scale_statistics(counts, SCALE)
    assert np.isnan([found["pearson"][0], found["spearman"][0]]).all()
    assert found["mae"][0] == pytest.approx(5 / 3)


@pytest.mark.parametrize("value", [1.25, 0.5, 6.5, NAN])
def test_a_value_off_the_scale_is_refused(value: float) -> None:
    with pytest.raises(SettingError, match="values other than"):
        scale_counts(np.array([value]), np.array([1.0]), SCALE, np.ones((1, 1)))


@pytest.mark.parametrize("r", [0.3, 0.9])
def test_the_interval_is_as_short_as_with_that_many_more_ratings(r: float) -> None:
    ppi_py = pytest.importorskip("ppi_py")
    generator = np.random.default_rng(int(10 * r))
    truth, noise = generator.normal(size=(2, 404_000))
    # predictions spread wider than quality, so that the package's tuning stays inside [0, 1]
    prediction = 1.5 * (r * truth + np.sqrt(1 - r * r) * noise)
    quality, rated, unrated = truth[:4000], prediction[:4000], prediction[4000:]
    low, high = ppi_py.ppi_mean_ci(quality, rated, unrated, alpha=0.05)
    plain_low, plain_high = ppi_py.classical_mean_ci(quality, alpha=0.05)
    # the length goes with one over the root of the number of ratings
    shorter = ((high - low) / (plain_high - plain_low)).item() ** 2
    assert shorter == pytest.approx(1 - ratings_saved(np.corrcoef(quality, rated)[0, 1]), abs=0.02)
    assert ratings_saved(-r) == 0
    assert np.isnan(ratings_saved(NAN))
