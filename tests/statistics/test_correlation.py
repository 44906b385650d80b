"""Correlations: against values worked by hand, scipy and R, and on copies instead of weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from refless.statistics import (
    centred,
    draw_weights,
    ratings_saved,
    scale_statistics,
    spearman_rows,
    weighted_pearson,
    weighted_spearman,
    williams,
)
from refless.statistics.kendall import kendall_rows

NAN = float("nan")
SCALE = np.arange(1, 6.25, 0.5)


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
    r, rho = weighted_pearson(x, y, weights), weighted_spearman(x, y, weights)
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
    x, y = np.array([1.0, 2.0, 4.0]) * scale, np.array([0.3, 0.1, 0.9])
    weights = np.array([[3, 1, 2]])
    expected = np.corrcoef(np.repeat(x, weights[0]), np.repeat(y, weights[0]))[0, 1]
    assert weighted_pearson(x, y, weights)[0] == pytest.approx(expected, abs=1e-12)
    # nor on where zero lies
    assert weighted_pearson(x + 1e5 * scale, y, weights)[0] == pytest.approx(expected, abs=1e-9)
    # a constant is one in any unit, whatever its mean rounds to
    assert np.isnan(weighted_pearson(np.full(3, 0.1 * scale), y, np.array([[3, 3, 1]]))[0])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 6))
def test_correlations_of_rows_are_those_of_scipy(seed: int, n: int, levels: int) -> None:
    x = np.random.default_rng(seed).integers(0, levels, (2, 3, n)).astype(float)
    y = np.random.default_rng(seed + 1).integers(0, levels, (3, n)).astype(float)
    rho, tau = spearman_rows(x, y), kendall_rows(x, y)
    for place in np.ndindex(2, 3):
        own, truth = x[place], y[place[1]]
        if np.ptp(own) == 0 or np.ptp(truth) == 0:
            assert np.isnan([rho[place], tau[place]]).all()
        else:
            assert rho[place] == pytest.approx(stats.spearmanr(own, truth).statistic)
            assert tau[place] == pytest.approx(stats.kendalltau(own, truth).statistic)


def test_centred_values_tie_where_they_are_equal() -> None:
    """0.1 + 0.2 is 0.3, whatever the last bits are."""
    found = centred(np.array([0.1 + 0.2, 0.3, 0.4, 1.3, 1.3, 1.4]), np.array([0] * 3 + [1] * 3))
    assert len(set(found)) == 2
    assert not centred(np.array([0.3, 0.1 + 0.2, 0.7]), np.array([0, 0, 1])).any()


@pytest.mark.parametrize("seed", range(3))
def test_statistics_on_a_scale_are_those_of_the_pairs(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n = int(generator.integers(5, 200))
    truth = generator.choice(SCALE, n)
    prediction = np.clip(truth + generator.choice([-1, -0.5, 0, 0.5, 2], n), 1, 6)
    weights = draw_weights(n, 4, seed)
    found = scale_statistics(prediction, truth, SCALE, weights)
    for draw, weight in enumerate(weights):
        x, y = np.repeat(prediction, weight), np.repeat(truth, weight)
        assert found["pearson"][draw] == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-12)
        assert found["spearman"][draw] == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-12)
        assert found["mae"][draw] == pytest.approx(np.abs(x - y).mean())
        assert found["rmse"][draw] == pytest.approx(np.sqrt(((x - y) ** 2).mean()))


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


# ---- Williams' test -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("r", "n", "p"),
    [
        ((0.28582915107229734, 0.15950937602663984, 0.026555856893502445), 45, 0.5433956),
        ((0.05, 0.1, 0.05), 9, 0.9317423),
    ],
)
def test_p_values_are_those_of_r(r: tuple[float, float, float], n: int, p: float) -> None:
    # r.test of R's psych, as the tests of nlpstats quote it for the sizes of these correlations
    t, found = williams(*r, n)
    assert found == pytest.approx(p, abs=5e-8)
    assert (t > 0) == (r[0] > r[1])
    assert williams(r[1], r[0], r[2], n) == pytest.approx((-t, found))


def test_equal_correlations_are_no_difference_and_too_few_say_nothing() -> None:
    assert williams(0.4, 0.4, 0.3, 20) == (0.0, 1.0)
    assert williams(0.4, 0.4, 1.0, 20) == (0.0, 1.0)  # the same prediction twice
    assert williams(0.4, 0.4 + 1e-15, 1 - 1e-16, 20) == (0.0, 1.0)
    for first, second, between, n in ((0.5, 0.4, 0.1, 3), (NAN, 0.4, 0.1, 9), (0.5, 0.4, NAN, 9)):
        assert np.isnan(williams(first, second, between, n)).all()
