"""Draws and intervals, correlations, evaluations: against slow loops, scipy and R."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from refless.errors import SettingError
from refless.models.rnn_qe.statistics import weighted_pearson
from refless.statistics import (
    IntervalEstimate,
    draw_blocks,
    draw_weights,
    evaluate,
    interval,
    ratings_saved,
    spearman_rows,
    williams,
)
from refless.statistics import bootstrap as module
from refless.statistics.bootstrap import (
    ENOUGH_UNITS,
    FEWEST_CONTEXTS,
    crossed_units,
    packed,
    spread_draws,
    spread_scale,
    t_draws,
    unpacked,
)
from refless.statistics.correlation import centred, weighted_spearman
from refless.statistics.permutation import FEW, correlation_p
from refless.statistics.ranks import kendall_rows

NAN = float("nan")


def test_interval_by_hand():
    assert interval(np.arange(101.0)) == pytest.approx((2.5, 97.5))
    assert interval(np.r_[NAN, np.arange(101.0), NAN]) == pytest.approx((2.5, 97.5))
    for nothing in (np.array([]), np.array([NAN]), np.r_[np.arange(95.0), [NAN] * 3]):
        assert all(math.isnan(end) for end in interval(nothing))


def test_draws_are_samples_with_replacement_from_one_seed():
    weights = draw_weights(50, 400, seed=7)
    assert (weights.sum(axis=1) == 50).all()
    # more draws keep the first ones
    np.testing.assert_array_equal(weights[:100], draw_weights(50, 100, seed=7))
    assert (weights != draw_weights(50, 400, seed=8)).any(axis=1).all()
    # the number of times that one candidate is drawn: binomial(50, 1/50)
    assert weights.mean(axis=0) == pytest.approx(1.0, abs=5 * math.sqrt(0.98 / 400))
    assert weights.var() == pytest.approx(0.98, abs=0.05)


def test_a_difference_is_one_of_the_draws_that_both_have():
    one, other = IntervalEstimate.of(3, np.arange(9.0)), IntervalEstimate.of(1, np.arange(5.0) ** 2)
    assert one - other == IntervalEstimate.of(2, np.array([0, 0, -2, -6, -12]))
    assert math.isnan((one - IntervalEstimate(1, 0, 2)).low)
    np.testing.assert_array_equal(unpacked(packed(np.array([0.5, NAN]))), [0.5, NAN])


def test_a_text_of_several_contexts_is_resampled_beside_them():
    context, text = np.arange(60) // 2, np.arange(60)
    assert np.array_equal(crossed_units(context, text).primary, context)
    few = FEWEST_CONTEXTS - 1
    assert np.array_equal(crossed_units(context % few, text).primary, text)
    assert np.array_equal(crossed_units(context % (few + 1), text).primary, context % (few + 1))
    assert np.array_equal(crossed_units(None, text).primary, text)
    # each text in two contexts that have no other text
    assert np.array_equal(crossed_units(context, text // 4).primary, text // 4)
    text[[0, 2, 4, 5]] = 70
    units = crossed_units(context, text)
    assert np.array_equal(np.flatnonzero(units.crossed >= 0), [0, 2, 4, 5])
    # context 2 has this text alone
    assert np.array_equal(np.flatnonzero(units.primary < 0), [4, 5])
    assert units.number == 30
    assert crossed_units(context, text, never_crossed=text == 70).crossed is None
    distinct, inverse = units.distinct()
    assert np.array_equal(distinct.primary[inverse], units.primary)
    assert np.array_equal(distinct.crossed[inverse], units.crossed)


def test_both_are_resampled_by_one_row_each(monkeypatch):
    units = crossed_units(np.arange(60) // 2, np.arange(60) % 15)
    weights = np.concatenate(list(draw_blocks(units, 300, 5)))
    plain = draw_weights(37, 300, 5)
    monkeypatch.setattr(module, "KEPT", 0)
    for block in (1, 41, 160):
        monkeypatch.setattr(module, "BLOCK", block)
        np.testing.assert_array_equal(np.concatenate([*draw_blocks(units, 300, 5)]), weights)
        np.testing.assert_array_equal(np.concatenate([*draw_blocks(37, 300, 5)]), plain)
    assert weights.shape == (300, 60)
    assert weights.mean() == pytest.approx(1, abs=0.1)
    assert np.array_equal(weights[:100], np.concatenate([*draw_blocks(units, 100, 5)]))
    # missed where the context or the text is
    assert (weights == 0).mean() == pytest.approx(1 - (1 - np.exp(-1)) ** 2, abs=0.03)


def test_draws_of_few_units_have_students_t():
    """The mean of few normal numbers has the usual interval, and as many draws beyond any end."""
    values = stats.norm.ppf((np.arange(12) + 0.5) / 12)
    other = np.random.default_rng(2).permutation(values)
    weights = np.concatenate([*draw_blocks(12, 20_000, 0)]) / 12
    scale = spread_scale(12, None, 20_000, 0)
    draws = [spread_draws(v.mean(), weights @ v, scale) for v in (values, other, values - other)]
    for level in (0.5, 0.95, 0.99):
        expected = stats.t.interval(level, 11, values.mean(), stats.sem(values))
        ends = np.quantile(draws[0], [0.5 - level / 2, 0.5 + level / 2])
        assert ends == pytest.approx(expected, rel=0.07, abs=0.02)
    # one scale for all rows, so that draws can be subtracted
    np.testing.assert_allclose(draws[0] - draws[1], draws[2], atol=1e-12)
    np.testing.assert_array_equal(scale[:50], spread_scale(12, None, 50, 0))
    assert spread_scale(ENOUGH_UNITS, None, 9, 0) == spread_scale(None, None, 9, 0) == 1
    # and of their systems, whose draws subtract as pairs do
    gap = t_draws(values, 20_000, 3) - t_draws(other, 20_000, 3)
    expected = stats.t.interval(0.95, 11, (values - other).mean(), stats.sem(values - other))
    assert interval(gap) == pytest.approx(expected, abs=0.03)


def test_what_learns_varies_with_its_training_examples():
    draws = np.random.default_rng(0).normal(0.5, 0.05, 5000)
    wide = spread_draws(0.52, draws, 1.5, -1, 1)
    assert np.arctanh(wide).std() == pytest.approx(1.5 * np.arctanh(draws).std())
    assert np.arctanh(wide).mean() == pytest.approx(np.arctanh(0.52))
    assert abs(spread_draws(0.99, draws + 0.45, 9, -1, 1)).max() <= 1
    np.testing.assert_array_equal(spread_draws(0.52, draws, 1), draws)


FOUR, DRAWS = np.arange(4.0), np.ones((2, 4), np.int32)


@pytest.mark.parametrize(
    "pairs",
    [
        (FOUR, FOUR[:3], DRAWS),
        (FOUR, FOUR, DRAWS[0]),
        (FOUR, FOUR, DRAWS[:, :3]),
        *((FOUR, FOUR, DRAWS, np.array([0, 1, 2, last])) for last in (4, -1, 0.5)),
        (FOUR, FOUR, DRAWS, np.arange(3)),
    ],
)
def test_pairs_of_no_candidate_are_refused(pairs):
    """Compiled code would read outside of its arrays."""
    assert weighted_spearman(FOUR, FOUR, DRAWS).tolist() == [1, 1]
    with pytest.raises(SettingError):
        weighted_spearman(*pairs)


def test_rows_that_do_not_fit_are_refused():
    x = np.array([FOUR, FOUR])
    assert kendall_rows(x, x).tolist() == [1, 1]
    for y in (x[:, :3], x[:1], x[0]):
        with pytest.raises(SettingError):
            kendall_rows(x, y)


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
def test_a_weight_of_k_is_k_copies(data):
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


def test_ranks_of_very_many_and_of_what_is_missing():
    x = np.arange(40.0) % 7
    weights = np.full((1, 40), 65_535)
    assert weighted_spearman(x, x, weights)[0] == pytest.approx(1)
    missing = np.where(x == 3, np.nan, x)[None]
    assert np.isnan(spearman_rows(missing, x[None])).all()
    far, y = np.array([[1, np.inf, np.inf, 0]]), np.array([[2.0, 1, 3, 0]])
    assert spearman_rows(far, y) == pytest.approx(stats.spearmanr(far[0], y[0]).statistic)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_pearson_does_not_hang_on_the_unit(scale):
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
def test_correlations_of_rows_are_those_of_scipy(seed, n, levels):
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


def test_centred_values_tie_where_they_are_equal():
    """0.1 + 0.2 is 0.3, whatever the last bits are."""
    found = centred(np.array([0.1 + 0.2, 0.3, 0.4, 1.3, 1.3, 1.4]), np.array([0] * 3 + [1] * 3))
    assert len(set(found)) == 2
    assert not centred(np.array([0.3, 0.1 + 0.2, 0.7]), np.array([0, 0, 1])).any()


@pytest.mark.parametrize("r", [0.3, 0.9])
def test_the_interval_is_as_short_as_with_that_many_more_ratings(r):
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


@pytest.mark.parametrize(
    ("r", "n", "p"),
    [
        ((0.28582915107229734, 0.15950937602663984, 0.026555856893502445), 45, 0.5433956),
        ((0.05, 0.1, 0.05), 9, 0.9317423),
    ],
)
def test_p_values_are_those_of_r(r, n, p):
    # r.test of R's psych, as the tests of nlpstats quote it for the sizes of these correlations
    t, found = williams(*r, n)
    assert found == pytest.approx(p, abs=5e-8)
    assert (t > 0) == (r[0] > r[1])
    assert williams(r[1], r[0], r[2], n) == pytest.approx((-t, found))


def test_equal_correlations_are_no_difference_and_too_few_say_nothing():
    assert williams(0.4, 0.4, 0.3, 20) == (0.0, 1.0)
    assert williams(0.4, 0.4, 1.0, 20) == (0.0, 1.0)  # the same prediction twice
    assert williams(0.4, 0.4 + 1e-15, 1 - 1e-16, 20) == (0.0, 1.0)
    for first, second, between, n in ((0.5, 0.4, 0.1, 3), (NAN, 0.4, 0.1, 9), (0.5, 0.4, NAN, 9)):
        assert np.isnan(williams(first, second, between, n)).all()


@pytest.mark.parametrize(
    ("n", "covered", "seed"), [(90, 0.7, 1), (40, 1.0, 2), (12, 0.5, 3), (6, 0.7, 4)]
)
def test_an_evaluation_is_what_a_slow_loop_says(n, covered, seed):
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 6, n) / 5
    # on coarse scales both have ties
    prediction = np.round((truth + generator.normal(0, 0.4, n)) * 4) / 4
    prediction[generator.random(n) >= covered] = NAN
    found = evaluate(prediction, truth, draws=150, seed=9)
    inside = ~np.isnan(prediction)
    assert found.n == n
    assert found.coverage.value == inside.sum() / n
    assert found.mse.value == np.mean((prediction[inside] - truth[inside]) ** 2)
    expected = stats.spearmanr(prediction[inside], truth[inside])
    assert found.spearman.value == pytest.approx(expected.statistic, abs=1e-12)
    assert found.covered == inside.sum()
    few = correlation_p(prediction[inside], truth[inside], seed=9)
    p_value = few if inside.sum() < FEW else expected.pvalue
    assert found.p_value == pytest.approx(p_value, abs=1e-12)

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


def test_p_of_few_covered_texts_is_that_of_all_orders():
    """Six texts with ties, in opposite orders: Student's t would say 0."""
    values = np.array([1.0, 2, 2, 3, 3, 4])
    truth = np.append(-values, np.arange(144))
    found = evaluate(np.append(values, np.full(144, NAN)), truth, draws=20)
    assert (found.spearman.value, found.covered, found.n) == (-1, 6, 150)
    assert found.p_value == pytest.approx(8 / 720)
    many = evaluate(-np.arange(50.0), np.arange(50.0), draws=20)
    assert (many.spearman.value, many.p_value) == (-1, 0)


@pytest.mark.parametrize(
    ("prediction", "truth", "covered"),
    [
        ([NAN] * 4, [0.1, 0.2, 0.3, 0.8], 0),
        ([0.1, 0.2, NAN, NAN], [0.1, 0.3, 0.3, 0.8], 2),  # two pairs are too few
        ([0.5] * 4, [0.1, 0.2, 0.3, 0.8], 4),
        ([0.1, 0.2, 0.3, 0.8], [0.5] * 4, 4),
    ],
)
def test_without_three_pairs_or_spread_there_is_no_correlation(prediction, truth, covered):
    found = evaluate(np.array(prediction), np.array(truth), draws=50)
    rho = found.spearman
    assert np.isnan([rho.value, rho.low, rho.high, found.p_value]).all()
    assert (found.n, found.coverage.value) == (4, covered / 4)
    assert np.isnan(found.mse.value) == (covered == 0)
    if covered == 4:
        assert found.mse.low < found.mse.value < found.mse.high
        assert found.coverage == IntervalEstimate(1, 1, 1)
