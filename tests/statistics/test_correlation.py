"""Correlations: against values worked by hand, against scipy, and on copies instead of weights."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from refless.statistics import (
    correlation_p_value,
    kendall_rows,
    midranks,
    ordered,
    pearson_rows,
    spearman,
    spearman_rows,
    weighted_pearson,
    weighted_spearman,
)

NAN = float("nan")


def test_spearman_by_hand() -> None:
    # ranks 1 2 3 4 against 2 1 4 3: 1 - 6 * 4 / (4 * 15)
    rho, p = spearman(np.array([0.1, 0.2, 0.3, 0.4]), np.array([2.0, 1.0, 9.0, 3.0]))
    assert rho == pytest.approx(0.6)
    # t = rho * sqrt((n - 2) / (1 - rho^2)) with n - 2 degrees of freedom
    assert p == pytest.approx(2 * stats.t.sf(0.6 * math.sqrt(2 / 0.64), 2))
    # midranks 1.5 1.5 3 against 1 2 3: Pearson's r of the ranks
    rho, _ = spearman(np.array([0.1, 0.1, 0.3]), np.array([1.0, 2.0, 3.0]))
    assert rho == pytest.approx(math.sqrt(3) / 2)


@pytest.mark.parametrize(
    ("r", "n"), [(0.0, 5), (0.3, 3), (-0.3, 12), (0.99, 4), (0.325, 198), (1.0, 5), (-1.0, 3)]
)
def test_the_p_value_is_that_of_the_t_distribution(r: float, n: int) -> None:
    if abs(r) == 1:
        assert correlation_p_value(r, n) == 0
    else:
        t = abs(r) * math.sqrt((n - 2) / (1 - r * r))
        assert correlation_p_value(r, n) == pytest.approx(2 * stats.t.sf(t, n - 2), rel=1e-10)


@pytest.mark.parametrize(("r", "n"), [(NAN, 10), (0.5, 2), (0.5, 0)])
def test_without_a_correlation_there_is_no_p_value(r: float, n: int) -> None:
    assert math.isnan(correlation_p_value(r, n))


@pytest.mark.parametrize(
    ("x", "y"),
    [([], []), ([1], [2]), ([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [5] * 3)],
)
def test_spearman_is_undefined_without_three_pairs_or_spread(x: list[int], y: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rho, p = spearman(np.array(x, float), np.array(y, float))
    assert math.isnan(rho)
    assert math.isnan(p)


pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8)


@st.composite
def weighted_pairs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    drawn = draw(pairs)
    weights = draw(
        st.lists(
            st.lists(st.integers(0, 3), min_size=len(drawn), max_size=len(drawn)),
            min_size=1,
            max_size=3,
        )
    )
    # thirds: values that no float holds exactly
    x, y = np.array(drawn, float).T / 3
    return x, y, np.array(weights)


@settings(max_examples=150, deadline=None)
@given(weighted_pairs())
def test_a_weight_of_k_is_k_copies(
    data: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    x, y, weights = data
    rho = weighted_spearman(x, y, weights)
    r = weighted_pearson(x[None], y[None], weights)
    for row, copies in enumerate(weights):
        many_x, many_y = np.repeat(x, copies), np.repeat(y, copies)
        if len(many_x) == 0 or np.ptp(many_x) == 0 or np.ptp(many_y) == 0:
            assert np.isnan(rho[row])
            assert np.isnan(r[row])
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
    generator = np.random.default_rng(seed)
    x, y = generator.integers(0, levels, (2, 3, n)).astype(float)
    np.testing.assert_array_equal(midranks(x), stats.rankdata(x, axis=1))
    sides = ordered(x), ordered(y)
    rho, tau = spearman_rows(*sides), kendall_rows(*sides)
    np.testing.assert_array_equal(rho, pearson_rows(midranks(x), midranks(y)))
    for row in range(3):
        if np.ptp(x[row]) == 0 or np.ptp(y[row]) == 0:
            assert np.isnan(rho[row])
            assert np.isnan(tau[row])
        else:
            assert rho[row] == pytest.approx(stats.spearmanr(x[row], y[row]).statistic)
            assert tau[row] == pytest.approx(stats.kendalltau(x[row], y[row]).statistic)
