"""Measures under the draws of a bootstrap: the same as of texts that are copied as often."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from refless.compare.measures import (
    COVERED,
    Truth,
    _Sums,
    measured,
    pairwise_accuracy,
    truth_of,
)
from refless.compare.predicted import Prediction, filled_in
from refless.compare.rated import Rated
from refless.compare.splits import all_splits


def made_up(seed: int, n: int = 60) -> tuple[Prediction, Truth]:
    """Texts in 12 units and 5 systems; some estimates are missing, some tie."""
    generator = np.random.default_rng(seed)
    quality = np.round(generator.random(n), 1)
    estimate = np.round(quality + generator.normal(0, 0.4, n), 1)
    estimate[generator.random(n) < 0.2] = np.nan
    fold = np.arange(n) % 4
    home = generator.integers(0, 5, n)
    found = filled_in("mine", "", estimate, quality, fold)
    unit = generator.permutation(np.arange(n) % 12)
    return found, Truth(np.arange(n), quality, fold, unit, home[:, None] == np.arange(5), home)


def plainly(found: Prediction, truth: Truth, times: np.ndarray) -> dict[str, float]:
    """Every measure of texts that stand there so many times."""
    rows = np.repeat(np.arange(len(times)), times)
    centred = [
        values - np.array([values[truth.fold == k].mean() for k in range(4)])[truth.fold]
        for values in (found.ranked, truth.quality)
    ]
    x, y, estimate = centred[0][rows].round(12), centred[1][rows].round(12), found.estimate[rows]
    covered = ~np.isnan(estimate)
    assert found.filled is not None
    gap = (found.filled[rows] - truth.quality[rows]) ** 2
    home = np.asarray(truth.home)[rows]
    mean_x, mean_y = (np.array([v[home == s].mean() for s in range(5)]) for v in (x, y))
    pairs = []
    for i, j in itertools.combinations(range(5), 2):
        ours, theirs = (np.sign(round(m[i] - m[j], 9)) for m in (mean_x, mean_y))
        if theirs:
            pairs.append(0.5 if ours == 0 else float(ours == theirs))
    return {
        "spearman": stats.spearmanr(x, y).statistic,
        "pearson": stats.pearsonr(x, y).statistic,
        "mse": gap.mean(),
        "coverage": covered.mean(),
        "spearman_covered": stats.spearmanr(x[covered], y[covered]).statistic,
        "pearson_covered": stats.pearsonr(x[covered], y[covered]).statistic,
        "mse_covered": gap[covered].mean(),
        "pearson_within": stats.pearsonr(x - mean_x[home], y - mean_y[home]).statistic,
        "spearman_systems": stats.spearmanr(mean_x.round(9), mean_y.round(9)).statistic,
        "pairwise_accuracy": float(np.mean(pairs)),
    }


@pytest.mark.parametrize("seed", range(4))
def test_a_draw_is_texts_that_are_copied(seed: int) -> None:
    found, truth = made_up(seed)
    drawn = np.random.default_rng(seed).integers(0, 3, (5, 12)).astype(np.uint16)
    drawn[:, 0] += 1
    drawn[0] = 1
    ours = _Sums(found, truth).measures(drawn)
    for k, weights in enumerate(drawn):
        expected = plainly(found, truth, weights[truth.unit])
        assert set(expected) == set(ours)
        for name, value in expected.items():
            assert ours[name][k] == pytest.approx(value, abs=1e-9), name


def test_the_first_number_is_that_of_the_candidates() -> None:
    found, truth = made_up(7)
    ours = measured(found, truth, draws=50, seed=1)
    expected = plainly(found, truth, np.ones(60, int))
    assert {len(values) for values in ours.values()} == {51}
    assert {name: values[0] for name, values in ours.items()} == pytest.approx(expected)


def test_full_coverage_repeats_itself_and_a_constant_has_no_correlation() -> None:
    _, truth = made_up(8)
    whole = filled_in("mine", "", np.arange(60.0), truth.quality, np.arange(60) % 4)
    ours = measured(whole, truth, 20, 0)
    for name in COVERED:
        np.testing.assert_array_equal(ours[name], ours[name.removesuffix("_covered")])
    flat = filled_in("mine", "", np.full(60, np.nan), truth.quality, np.arange(60) % 4)
    ours = measured(flat, truth, 20, 0)
    for name in ("pearson", "spearman", "pearson_within", "spearman_systems"):
        assert np.isnan(ours[name]).all(), name
    assert set(ours["pairwise_accuracy"]) == {0.5}
    assert set(ours["coverage"]) == {0.0}


def test_what_only_knows_the_training_mean_goes_with_nothing() -> None:
    """It falls as the ratings of a left-out system rise; neither that nor its reverse counts."""
    generator = np.random.default_rng(0)
    home = np.repeat(np.arange(5), 200)
    quality = np.clip(0.2 * home + generator.normal(0, 0.1, 1000), 0, 1)
    mean = np.array([quality[home != k].mean() for k in range(5)])[home]
    truth = Truth(
        *(np.arange(1000), quality, home, np.arange(1000)),
        *(home[:, None] == np.arange(5), home, False),
    )
    for sign in (-1, 1):
        estimate = sign * mean + generator.normal(0, 1e-3, 1000)
        assert abs(np.corrcoef(estimate, quality)[0, 1]) > 0.9
        ours = measured(filled_in("mine", "", estimate, quality, home), truth, 100, 0)
        assert ours["pearson"][0] == pytest.approx(0, abs=0.1)
        assert ours["spearman"][0] == pytest.approx(0, abs=0.1)
        assert np.isnan(ours["pairwise_accuracy"]).all()
        assert np.isnan(ours["spearman_systems"]).all()


def test_pairs_of_systems() -> None:
    people = np.array([[1.0, 2.0, 3.0, 3.0], [1.0, 2.0, 3.0, np.nan]])
    ours = np.array([[1.0, 1.0, 0.5, 4.0], [3.0, 2.0, 1.0, 0.0]])
    # five pairs that people order: one tie of ours, two wrong, two right; then all three wrong
    assert pairwise_accuracy(ours, people).tolist() == [0.5, 0.0]
    assert np.isnan(pairwise_accuracy(np.ones((1, 1)), np.ones((1, 1)))).all()


def test_what_is_drawn_together(rated: Rated) -> None:
    split = all_splits(rated)[0][0]
    assert rated.context is not None
    truth = truth_of(rated, split)
    assert truth.unit.max() + 1 == 30
    few = replace(rated, context=rated.context % 5)
    assert truth_of(few, split).unit.max() == rated.wording.max()
