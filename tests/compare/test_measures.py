"""Measures under the draws of a bootstrap: the same as of texts that are copied as often."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from refless.compare.evaluate import Settings, compare
from refless.compare.measures import Truth, _Sums, averaged, measured, truth_of
from refless.compare.predict import baseline, filled_in
from refless.compare.read import Rated
from refless.compare.splits import all_splits, repeated
from refless.statistics import ENOUGH_UNITS, centred


def truth(quality: np.ndarray, fold: np.ndarray, system: np.ndarray) -> Truth:
    """Where each text is drawn by itself."""
    home = np.unique(100 * fold + system, return_inverse=True)[1]
    every = np.arange(len(fold))
    return Truth(quality, fold, every, every, True, system, home, 1.0)


def made_up(seed: int, n: int = 60) -> tuple[np.ndarray, Truth]:
    """Estimates, of which some are missing and some tie, of 5 systems in 4 folds."""
    generator = np.random.default_rng(seed)
    quality = np.round(generator.random(n), 1)
    estimate = np.round(quality + generator.normal(0, 0.4, n), 1)
    estimate[generator.random(n) < 0.2] = np.nan
    return estimate, truth(quality, np.arange(n) % 4, generator.integers(0, 5, n))


def within(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    return values - np.array([values[group == one].mean() for one in group])


@pytest.mark.parametrize("seed", range(4))
def test_a_draw_is_texts_that_are_copied(seed: int) -> None:
    estimate, own = made_up(seed)
    found = filled_in(estimate, own.quality, own.fold)
    x, y = (centred(values, own.fold) for values in (found.ranked, own.quality))
    unit = np.random.default_rng(seed).permutation(np.arange(60) % 12)
    drawn = np.random.default_rng(seed).integers(1, 3, (5, 12))
    for group in (own.fold, own.home):
        assert group is not None
        ours = _Sums(x, y, unit, group, 12).pearson(drawn.astype(float))
        for weights, value in zip(drawn, ours, strict=True):
            rows = np.repeat(np.arange(60), weights[unit])
            left = [within(values[rows], group[rows]) for values in (x, y)]
            assert value == pytest.approx(stats.pearsonr(*left).statistic, abs=1e-9)


def test_the_first_number_is_that_of_the_texts() -> None:
    estimate, own = made_up(7)
    found = filled_in(estimate, own.quality, own.fold)
    ours = measured(found, own, draws=50, seed=1)
    assert {len(values) for values in ours.values()} == {51}
    x, y = (within(values, own.fold).round(12) for values in (found.ranked, own.quality))
    assert own.system is not None
    parts = np.column_stack(
        [own.system[:, None] == np.arange(5), own.fold[:, None] == np.arange(4)]
    )
    level = np.linalg.lstsq(parts.astype(float), found.ranked)[0][:5]
    people = [own.quality[own.system == s].mean() for s in range(5)]
    pairs = [
        float(np.sign(level[i] - level[j]) == np.sign(people[i] - people[j]))
        for i, j in itertools.combinations(range(5), 2)
    ]
    expected = {
        "pearson": stats.pearsonr(x, y).statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "mse": ((found.filled - own.quality) ** 2).mean(),
        "coverage": (~np.isnan(estimate)).mean(),
        "pairwise_accuracy": np.mean(pairs),
    }
    assert {name: ours[name][0] for name in expected} == pytest.approx(expected)


def test_what_only_knows_the_training_mean_goes_with_nothing() -> None:
    """It falls as the ratings of a left-out system rise; neither that nor its reverse counts."""
    generator = np.random.default_rng(0)
    home = np.repeat(np.arange(5), 200)
    quality = np.clip(0.2 * home + generator.normal(0, 0.1, 1000), 0, 1)
    mean = np.array([quality[home != k].mean() for k in range(5)])[home]
    for sign in (-1, 1):
        estimate = sign * mean + generator.normal(0, 1e-3, 1000)
        assert abs(np.corrcoef(estimate, quality)[0, 1]) > 0.9
        own = truth(quality, home, home)
        ours = measured(filled_in(estimate, quality, home), own, 100, 0)
        assert ours["pearson"][0] == pytest.approx(0, abs=0.1)
        assert ours["spearman"][0] == pytest.approx(0, abs=0.1)
        assert np.isnan(ours["pairwise_accuracy"]).all()


def crossed(seed: int = 1) -> tuple[np.ndarray, Truth]:
    """Levels of 5 systems, and ratings in 4 folds that lie apart and have them unevenly."""
    generator = np.random.default_rng(seed)
    wrote, fold = np.arange(600) % 5, np.arange(600) // 5 % 4
    fold = np.where(generator.random(600) < 0.5, wrote % 4, fold)
    level = np.array([0.1, 0.15, 0.3, 0.33, 0.5])[wrote]
    return level, truth(level + 0.1 * fold + generator.normal(0, 0.01, 600), fold, wrote)


def test_who_only_knows_the_system_orders_systems_and_nothing_within() -> None:
    level, own = crossed()
    far = level + np.array([3.0, 0.0, 7.0, 1.0])[own.fold]
    for estimate in (level, far):
        ours = measured(filled_in(estimate, own.quality, own.fold), own, 100, 0)
        assert np.isnan(ours["pearson_within"]).all()
        assert ours["pairwise_accuracy"][0] > 0.8
    noisy = level + np.random.default_rng(2).normal(0, 0.05, 600)
    ours = measured(filled_in(noisy, own.quality, own.fold), own, 100, 0)
    assert ours["pearson_within"][0] == pytest.approx(0, abs=0.1)


def test_who_only_knows_the_fold_does_not_order_systems() -> None:
    found = []
    for seed in range(40):
        _, own = crossed(seed)
        mean = np.array([own.quality[own.fold != k].mean() for k in range(4)])[own.fold]
        estimate = mean + np.random.default_rng(seed).normal(0, 1e-4, 600)
        drawn = measured(filled_in(estimate, own.quality, own.fold), own, 1, 0)
        found.append(drawn["pairwise_accuracy"][0])
    assert np.mean(found) == pytest.approx(0.5, abs=0.15)


def test_the_mean_of_the_other_systems_orders_no_systems() -> None:
    """Each system answers each context; the mean of the others falls as one's own rating rises."""
    generator = np.random.default_rng(5)
    context, wrote = np.arange(400) // 4, np.arange(400) % 4
    quality = np.clip(0.2 + 0.15 * wrote + generator.normal(0, 0.05, 400), 0, 1)
    systems, texts = [f"s{k}" for k in wrote], [f"text {i}" for i in range(400)]
    rated = Rated(texts, quality, np.arange(400), systems, None, context, context)
    split = all_splits(rated)[0][0]
    found = baseline("context_mean", rated, split)
    upside_down = measured(replace(found, orders_systems=True), truth_of(rated, split), 2, 0)
    assert upside_down["pairwise_accuracy"][0] == 0
    assert np.isnan(measured(found, truth_of(rated, split), 2, 0)["pairwise_accuracy"][0])


def test_ranks_of_small_folds_have_no_interval() -> None:
    estimate, own = made_up(1)
    few = replace(own, fold=np.arange(60) % 20)
    ours = measured(filled_in(estimate, own.quality, own.fold), few, 10, 0)
    assert np.isnan(ours["spearman"][1:]).all()
    assert not np.isnan(ours["spearman"][0])
    assert not np.isnan(ours["pearson"]).any()


def test_the_mean_over_repeats() -> None:
    nan = float("nan")
    parts = [
        {"pearson": np.array([0.4, nan, nan, 0.2]), "mse": np.array([1.0, nan, 3.0, 1.0])},
        {"pearson": np.array([0.2, 0.6, nan, nan]), "mse": np.array([2.0, nan, nan, 1.0])},
    ]
    found = averaged(parts)
    np.testing.assert_allclose(found["pearson"], [0.3, 0.3, nan, 0.1])
    np.testing.assert_allclose(found["mse"], [1.5, nan, 3.0, 1.0])
    parts.append({"pearson": np.array([0.3, nan, nan, nan]), "mse": np.ones(4)})
    np.testing.assert_allclose(averaged(parts)["pearson"], [0.3, nan, nan, nan])


def test_a_comparison_has_the_mean_over_its_repeats(rated: Rated) -> None:
    found = compare(rated, Settings(draws=100, seed=5, repeats=3, curve=False, kernels=()))
    splits = repeated(rated, 5, 3)[0]["texts"]
    own = [baseline("length", rated, split) for split in splits]
    parts = [measured(p, truth_of(rated, s), 100, 5) for p, s in zip(own, splits, strict=True)]
    for name, values in found.draws["texts", "length", ""].items():
        np.testing.assert_allclose(values, np.mean([part[name] for part in parts], axis=0))
    assert len({part["pearson"][0] for part in parts}) == 3
    row = found.table.set_index(["split", "method"]).loc[("texts", "length")]
    unit = 16  # of a scale from 1 to 5, squared
    assert row["mse"] == pytest.approx(unit * np.mean([part["mse"][0] for part in parts]))
    assert row["mse_of_mean"] == pytest.approx(
        found.table.set_index("method")["mse"]["constant"].iloc[0]
    )


def test_what_is_drawn(rated: Rated) -> None:
    split = all_splits(rated)[0][0]
    assert truth_of(rated, split).unit.max() + 1 == 30
    assert rated.group is not None
    assert rated.systems is not None
    few = replace(rated, context=rated.group % 5, group=rated.group % 5)
    assert truth_of(few, split).unit.max() == rated.same.max()
    # a text of two contexts is drawn beside both
    twice = rated.same.copy()
    twice[1] = twice[0]
    drawn = truth_of(replace(rated, same=twice), split).drawn
    assert drawn[drawn[:, 1] > 0].tolist() == [[1, 1], [2, 1]]
    # all that a system says stays with it
    said = np.where(np.array(rated.systems) == "ant", 7, rated.same)
    assert truth_of(replace(rated, same=said), split).drawn.ndim == 1
    # few different texts have no interval
    found = baseline("length", rated, split)
    for number, known in ((ENOUGH_UNITS - 1, False), (ENOUGH_UNITS, True)):
        ours = measured(found, truth_of(replace(rated, same=rated.same % number), split), 20, 0)
        assert np.isfinite(ours["pearson"][1:]).all() == known
        assert np.isfinite(ours["pearson"][0])
