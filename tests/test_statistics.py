"""Statistics: against values worked by hand, against scipy, and against slow direct loops."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from refless import statistics
from refless.statistics import (
    correlation_p_value,
    draw_weights,
    evaluate,
    fisher_interval,
    human_rows,
    interval,
    kendall_rows,
    mean_squared_error,
    midranks,
    pearson_rows,
    spearman,
    weighted_midranks,
    weighted_pearson,
    weighted_spearman,
)

NAN = float("nan")


# ---- by hand ----------------------------------------------------------------------------------


def test_mean_squared_error_by_hand() -> None:
    assert mean_squared_error(np.array([1.0, 0.5]), np.array([0.0, 1.0])) == 0.625
    assert math.isnan(mean_squared_error(np.array([]), np.array([])))


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


def test_weighted_midranks_by_hand() -> None:
    values = np.array([5.0, 1.0, 5.0, 9.0])
    weights = np.array([[1, 1, 1, 1], [2, 0, 1, 1], [0, 3, 0, 2]])
    ranks = weighted_midranks(values, weights)
    # 1 5 5 9; 5 5 5 9; 1 1 1 9 9
    assert ranks[0].tolist() == [2.5, 1.0, 2.5, 4.0]
    assert ranks[1, [0, 2, 3]].tolist() == [2.0, 2.0, 4.0]
    assert ranks[2, [1, 3]].tolist() == [2.0, 4.5]


def test_interval_by_hand() -> None:
    assert interval(np.arange(101.0)) == pytest.approx((2.5, 97.5))
    assert interval(np.array([NAN, 3.0, NAN])) == (3.0, 3.0)
    assert interval(np.arange(11.0), level=0.8) == pytest.approx((1.0, 9.0))
    for nothing in (np.array([]), np.array([NAN])):
        assert all(math.isnan(end) for end in interval(nothing))


# ---- weights are copies -----------------------------------------------------------------------

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
    ranks = weighted_midranks(x, weights)
    rho = weighted_spearman(x, y, weights)
    r = weighted_pearson(x[None], y[None], weights)
    assert ranks.shape == weights.shape
    for row, copies in enumerate(weights):
        many_x, many_y = np.repeat(x, copies), np.repeat(y, copies)
        expected = stats.rankdata(many_x)
        np.testing.assert_array_equal(np.repeat(ranks[row], copies), expected)
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


# ---- draws ------------------------------------------------------------------------------------


def test_draws_are_samples_with_replacement_from_one_seed() -> None:
    weights = draw_weights(50, 400, seed=7)
    assert weights.shape == (400, 50)
    assert (weights.sum(axis=1) == 50).all()
    np.testing.assert_array_equal(weights, draw_weights(50, 400, seed=7))
    # more draws keep the first ones
    np.testing.assert_array_equal(weights[:100], draw_weights(50, 100, seed=7))
    assert (weights != draw_weights(50, 400, seed=8)).any(axis=1).all()
    assert len({row.tobytes() for row in weights}) == 400
    # the number of times that one candidate is drawn: binomial(50, 1/50)
    assert weights.mean(axis=0) == pytest.approx(1.0, abs=5 * math.sqrt(0.98 / 400))
    assert weights.var() == pytest.approx(0.98, abs=0.05)


# ---- one cell ---------------------------------------------------------------------------------


def example(n: int, seed: int, covered: float) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and quality on coarse scales, so that both have ties."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 6, n) / 5
    prediction = np.round((truth + generator.normal(0, 0.4, n)) * 4) / 4
    return np.where(generator.random(n) < covered, prediction, NAN), truth


@pytest.mark.parametrize(
    ("n", "covered", "seed"), [(40, 0.7, 1), (40, 1.0, 2), (12, 0.5, 3), (6, 0.7, 4)]
)
def test_a_cell_is_what_a_slow_loop_over_the_same_draws_says(
    n: int, covered: float, seed: int
) -> None:
    prediction, truth = example(n, seed, covered)
    cell = evaluate(prediction, truth, draws=150, seed=9)
    inside = ~np.isnan(prediction)
    assert (cell.n, cell.n_covered) == (n, inside.sum())
    assert cell.coverage.value == inside.sum() / n
    assert cell.mse.value == np.mean((prediction[inside] - truth[inside]) ** 2)
    expected = stats.spearmanr(prediction[inside], truth[inside])
    assert cell.spearman.value == pytest.approx(expected.statistic, abs=1e-12)
    assert cell.p_value == pytest.approx(expected.pvalue, abs=1e-12)

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
    for estimate, draws in ((cell.mse, mse), (cell.spearman, rho), (cell.coverage, coverage)):
        low, high = np.percentile(draws, [2.5, 97.5])
        assert estimate.low == pytest.approx(low, abs=1e-12)
        assert estimate.high == pytest.approx(high, abs=1e-12)
        assert estimate.low <= estimate.value <= estimate.high


def test_intervals_are_those_of_scipy() -> None:
    prediction, truth = example(120, 5, 1.0)
    cell = evaluate(prediction, truth, draws=2000, seed=1)
    for estimate, statistic in (
        (cell.spearman, lambda p, t: stats.spearmanr(p, t).statistic),
        (cell.mse, lambda p, t: np.mean((p - t) ** 2)),
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


def test_a_cell_is_reproducible_and_its_estimate_does_not_hang_on_the_seed() -> None:
    prediction, truth = example(30, 6, 0.8)
    cell = evaluate(prediction, truth, draws=50, seed=1)
    assert cell == evaluate(prediction, truth, draws=50, seed=1)
    other = evaluate(prediction, truth, draws=50, seed=2)
    assert other.spearman.low != cell.spearman.low
    assert other.spearman.value == cell.spearman.value


def test_a_cell_does_not_change_its_input() -> None:
    prediction, truth = example(10, 6, 0.8)
    before = prediction.copy(), truth.copy()
    evaluate(prediction, truth, draws=5)
    np.testing.assert_array_equal(prediction, before[0])
    np.testing.assert_array_equal(truth, before[1])


def undefined(estimate: object) -> bool:
    return all(math.isnan(value) for value in vars(estimate).values())


def test_without_a_prediction_only_coverage_is_defined() -> None:
    cell = evaluate(np.full(4, NAN), np.array([0.1, 0.2, 0.3, 0.4]), draws=20)
    assert undefined(cell.mse)
    assert undefined(cell.spearman)
    assert math.isnan(cell.p_value)
    assert cell.coverage.value == 0
    assert (cell.n, cell.n_covered) == (4, 0)


def test_constant_predictions_have_an_error_but_no_correlation() -> None:
    truth = np.array([0.1, 0.2, 0.3, 0.8])
    cell = evaluate(np.full(4, 0.5), truth, draws=50)
    assert undefined(cell.spearman)
    assert math.isnan(cell.p_value)
    assert cell.mse.value == pytest.approx(np.mean((0.5 - truth) ** 2))
    assert cell.mse.low < cell.mse.value < cell.mse.high
    assert vars(cell.coverage) == {"value": 1.0, "low": 1.0, "high": 1.0}


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_cell_of_hardly_any_candidate(n: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cell = evaluate(np.array([0.5, 0.75][:n]), np.array([0.0, 1.0][:n]), draws=30)
    assert (cell.n, cell.n_covered) == (n, n)
    assert undefined(cell.spearman)
    assert math.isnan(cell.p_value)
    if n == 0:
        assert undefined(cell.mse)
        assert undefined(cell.coverage)
    else:
        assert cell.mse.value == {1: 0.25, 2: (0.25 + 0.0625) / 2}[n]
        assert cell.coverage.value == 1.0


# ---- the human rows ---------------------------------------------------------------------------


def small_panel(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Two annotators of 3 of 8 candidates each: a draw may well miss all of an annotator's."""
    generator = np.random.default_rng(seed)
    truth = generator.random(8)
    candidate = np.array([0, 1, 2, 3, 4, 5])
    rating = truth[candidate] + generator.normal(0, 0.3, 6)
    return candidate, np.array(["a"] * 3 + ["b"] * 3, dtype=object), rating, truth


def panel(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ratings of 20 candidates by five annotators, two of them odd.

    ``twice`` rated candidate 3 twice; ``flat`` gave everything the same label.
    """
    generator = np.random.default_rng(seed)
    candidate: list[int] = []
    rater: list[str] = []
    for name in ("a", "b", "c", "twice", "flat"):
        seen = generator.choice(20, 7, replace=False).tolist()
        seen = [*seen, 3, 3] if name == "twice" else seen
        candidate += seen
        rater += [name] * len(seen)
    order = generator.permutation(len(candidate))
    index, names = np.array(candidate)[order], np.array(rater, dtype=object)[order]
    rating = generator.integers(0, 6, len(index)) / 5
    rating[names == "flat"] = 0.6
    return index, names, rating, generator.integers(0, 21, 20) / 20


def slow_humans(
    candidate: np.ndarray,
    rater: np.ndarray,
    rating: np.ndarray,
    truth: np.ndarray,
    draws: int,
    seed: int,
    instead: float,
) -> dict[str, tuple[float, float, float]]:
    """One annotator and one draw at a time, ratings copied as often as their candidate is drawn."""

    def of_all(copies: np.ndarray) -> tuple[list[float], list[float]]:
        errors, rhos = [], []
        for name in sorted(set(rater)):
            given, wanted = [], []
            for i in range(len(rating)):
                if rater[i] == name:
                    given += [rating[i]] * int(copies[candidate[i]])
                    wanted += [truth[candidate[i]]] * int(copies[candidate[i]])
            if given:
                errors.append(float(np.mean((np.array(given) - np.array(wanted)) ** 2)))
            flat = len(set(given)) < 2 or len(set(wanted)) < 2
            rhos.append(instead if flat else float(stats.spearmanr(given, wanted).statistic))
        return errors, [rho for rho in rhos if not math.isnan(rho)]

    def row(errors: list[float], rhos: list[float]) -> dict[str, float]:
        return {
            "average_mse": float(np.mean(errors)),
            "best_mse": min(errors),
            "average_spearman": float(np.mean(rhos)),
            "best_spearman": max(rhos),
        }

    once = row(*of_all(np.ones(len(truth))))
    drawn = [row(*of_all(copies)) for copies in draw_weights(len(truth), draws, seed)]
    return {
        name: (value, *np.percentile([d[name] for d in drawn], [2.5, 97.5]))
        for name, value in once.items()
    }


@pytest.mark.parametrize("instead", [0.0, NAN], ids=["counts as 0", "left out"])
@pytest.mark.parametrize("seed", [1, 2])
def test_human_rows_are_what_a_slow_loop_says(seed: int, instead: float) -> None:
    candidate, rater, rating, truth = panel(seed)
    humans = human_rows(candidate, rater, rating, truth, undefined=instead, draws=40, seed=3)
    expected = slow_humans(candidate, rater, rating, truth, 40, 3, instead)
    for name, (value, low, high) in expected.items():
        found = getattr(humans, name)
        assert found.value == pytest.approx(value, abs=1e-12), name
        assert found.low == pytest.approx(low, abs=1e-12), name
        assert found.high == pytest.approx(high, abs=1e-12), name
    assert (humans.annotators, humans.undefined) == (5, 1)


def test_a_draw_may_miss_all_candidates_of_an_annotator() -> None:
    candidate, rater, rating, truth = small_panel(1)
    drawn = draw_weights(8, 200, 3)
    assert ((drawn[:, :3].sum(axis=1) == 0) | (drawn[:, 3:6].sum(axis=1) == 0)).sum() > 5
    humans = human_rows(candidate, rater, rating, truth, draws=200, seed=3)
    for name, (value, low, high) in slow_humans(
        candidate, rater, rating, truth, 200, 3, 0.0
    ).items():
        found = getattr(humans, name)
        assert (found.value, found.low, found.high) == pytest.approx((value, low, high)), name


def test_an_annotator_without_a_correlation_counts_as_zero_or_not_at_all() -> None:
    truth = np.array([0.0, 0.5, 1.0])
    candidate = np.array([0, 1, 2, 0, 1, 2])
    rater = np.array(["good"] * 3 + ["flat"] * 3, dtype=object)
    rating = np.array([0.0, 0.5, 1.0, 0.5, 0.5, 0.5])
    zero = human_rows(candidate, rater, rating, truth, draws=10)
    assert zero.average_spearman.value == pytest.approx(0.5)
    out = human_rows(candidate, rater, rating, truth, undefined=NAN, draws=10)
    assert out.average_spearman.value == pytest.approx(1.0)
    assert zero.undefined == out.undefined == 1
    # the error of that annotator counts in any case
    assert zero.average_mse.value == out.average_mse.value == pytest.approx(0.5 / 3 / 2)
    assert zero.best_mse.value == 0


def test_an_annotator_of_two_candidates_has_no_correlation_in_any_draw() -> None:
    truth = np.array([0.0, 0.5, 1.0, 0.2])
    humans = human_rows(
        np.array([0, 1]), np.array(["a", "a"]), np.array([0.0, 1.0]), truth, draws=50
    )
    assert vars(humans.best_spearman) == {"value": 0.0, "low": 0.0, "high": 0.0}


@pytest.mark.parametrize("case", ["no ratings", "all left out"])
def test_without_any_annotator_the_rows_are_empty_not_an_error(case: str) -> None:
    truth = np.array([0.0, 0.5, 1.0])
    some = 0 if case == "no ratings" else 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        humans = human_rows(
            np.arange(3)[:some],
            np.array(["a"] * some, dtype=object),
            np.full(some, 0.5),
            truth,
            undefined=NAN,
            draws=10,
        )
    assert undefined(humans.average_spearman)
    assert undefined(humans.best_spearman)
    assert humans.annotators == humans.undefined == (0 if case == "no ratings" else 1)


@pytest.mark.parametrize("block", [1, 41, 160])
def test_no_result_hangs_on_the_size_of_a_block(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """Bit for bit: a draw's numbers come from its own row of weights."""
    generator = np.random.default_rng(5)
    n = 37
    truth = np.round(generator.random(n), 1)
    prediction = np.where(generator.random(n) < 0.8, np.round(truth + generator.random(n), 2), NAN)
    candidate = generator.integers(0, n, 150)
    rater = generator.integers(0, 9, 150)
    rating = np.round(generator.random(150) / 2 + truth[candidate] / 2, 1)

    def everything() -> tuple[object, ...]:
        return (
            draw_weights(n, 30, 4).tobytes(),
            evaluate(prediction, truth, 30, 4),
            human_rows(candidate, rater, rating, truth, draws=30, seed=4),
        )

    whole = everything()
    monkeypatch.setattr(statistics, "BLOCK", block)
    assert everything() == whole


# ---- rows at once, groups ----------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 6))
def test_ranks_and_correlations_of_rows_are_those_of_scipy(seed: int, n: int, levels: int) -> None:
    generator = np.random.default_rng(seed)
    x, y = generator.integers(0, levels, (2, 3, n)).astype(float)
    np.testing.assert_array_equal(midranks(x), stats.rankdata(x, axis=1))
    rho, tau = pearson_rows(midranks(x), midranks(y)), kendall_rows(x, y)
    for row in range(3):
        if np.ptp(x[row]) == 0 or np.ptp(y[row]) == 0:
            assert np.isnan(rho[row])
            assert np.isnan(tau[row])
        else:
            assert rho[row] == pytest.approx(stats.spearmanr(x[row], y[row]).statistic)
            assert tau[row] == pytest.approx(stats.kendalltau(x[row], y[row]).statistic)


def test_fisher_interval_is_that_of_scipy() -> None:
    generator = np.random.default_rng(0)
    x = generator.random(30)
    found = stats.pearsonr(x, x + generator.random(30))
    expected = found.confidence_interval()
    assert fisher_interval(found.statistic, 30) == pytest.approx((expected.low, expected.high))
    assert np.isnan(fisher_interval(0.5, 3)).all()
    assert np.isnan(fisher_interval(NAN, 30)).all()


def test_the_bootstrap_can_draw_whole_groups() -> None:
    """Twins tell nothing new: with groups, they leave the interval as it is."""
    generator = np.random.default_rng(1)
    x = generator.random(50)
    y = x + generator.random(50)
    alone = evaluate(x, y, draws=400, seed=3)
    twice = np.repeat(np.arange(50), 2)
    groups = evaluate(x[twice], y[twice], draws=400, seed=3, groups=twice)
    assert groups.spearman.value == pytest.approx(alone.spearman.value)
    assert groups.spearman.low == pytest.approx(alone.spearman.low)
    assert groups.mse.high == pytest.approx(alone.mse.high)
    assert groups.coverage == alone.coverage
    apart = evaluate(x[twice], y[twice], draws=400, seed=3)
    assert apart.spearman.low > groups.spearman.low
