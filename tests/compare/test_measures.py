"""Measures under the draws of a bootstrap: the same as of texts that are copied as often."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from refless.compare.advice import judged
from refless.compare.compared import Settings, compare, strongest
from refless.compare.measures import (
    COVERED,
    Truth,
    _Sums,
    averaged,
    measured,
    pairwise_accuracy,
    truth_of,
)
from refless.compare.predicted import Prediction, baseline, filled_in
from refless.compare.rated import Rated
from refless.compare.splits import Split, all_splits, dealt
from refless.models.baselines import Length, SystemMean
from refless.statistics import ENOUGH_UNITS, centred


def made_up(seed: int, n: int = 60) -> tuple[Prediction, Truth]:
    """Texts in 12 units and 5 systems; some estimates are missing, some tie."""
    generator = np.random.default_rng(seed)
    quality = np.round(generator.random(n), 1)
    estimate = np.round(quality + generator.normal(0, 0.4, n), 1)
    estimate[generator.random(n) < 0.2] = np.nan
    fold = np.arange(n) % 4
    wrote = generator.integers(0, 5, n)
    found = filled_in("mine", "", estimate, quality, fold)
    unit = generator.permutation(np.arange(n) % 12)
    at, home = wrote[:, None] == np.arange(5), np.unique(5 * fold + wrote, return_inverse=True)[1]
    return found, Truth(np.arange(n), quality, fold, unit, np.arange(12), at, home)


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
    wrote = np.asarray(truth.wrote)[rows]
    columns = np.column_stack([wrote, truth.fold[rows][:, None] == np.arange(4)])
    mean_x = np.linalg.lstsq(columns.astype(float), found.ranked[rows])[0][:5]
    mean_y = np.array([truth.quality[rows][wrote[:, s]].mean() for s in range(5)])
    home, fold = np.asarray(truth.home)[rows], truth.fold[rows]
    within, left = (
        [v - np.array([v[of == one].mean() for one in of]) for v in (x, y)] for of in (home, fold)
    )
    some = np.flatnonzero(covered)
    near = [
        v[some] - np.array([v[some][fold[some] == k].mean() for k in fold[some]]) for v in (x, y)
    ]
    # ranks keep the means of the candidates
    given = ~np.isnan(found.estimate)
    ranked = []
    for values in (found.ranked, truth.quality):
        means = np.array([values[given & (truth.fold == k)].mean() for k in range(4)])
        ranked.append((values - means[truth.fold])[rows][covered].round(12))
    pairs = []
    for i, j in itertools.combinations(range(5), 2):
        ours, theirs = (np.sign(round(m[i] - m[j], 9)) for m in (mean_x, mean_y))
        if theirs:
            pairs.append(0.5 if ours == 0 else float(ours == theirs))
    return {
        "spearman": stats.spearmanr(x, y).statistic,
        "pearson": stats.pearsonr(*left).statistic,
        "mse": gap.mean(),
        "coverage": covered.mean(),
        "spearman_covered": stats.spearmanr(*ranked).statistic,
        "pearson_covered": stats.pearsonr(*near).statistic,
        "mse_covered": gap[covered].mean(),
        "pearson_within": stats.pearsonr(*within).statistic,
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
    for name in ("pearson", "spearman", "pearson_within", "spearman_systems", "pairwise_accuracy"):
        assert np.isnan(ours[name]).all(), name
    assert set(ours["coverage"]) == {0.0}


def test_what_only_knows_the_training_mean_goes_with_nothing() -> None:
    """It falls as the ratings of a left-out system rise; neither that nor its reverse counts."""
    generator = np.random.default_rng(0)
    home = np.repeat(np.arange(5), 200)
    quality = np.clip(0.2 * home + generator.normal(0, 0.1, 1000), 0, 1)
    mean = np.array([quality[home != k].mean() for k in range(5)])[home]
    truth = Truth(
        *(np.arange(1000), quality, home, np.arange(1000), np.arange(1000)),
        *(home[:, None] == np.arange(5), home),
    )
    for sign in (-1, 1):
        estimate = sign * mean + generator.normal(0, 1e-3, 1000)
        assert abs(np.corrcoef(estimate, quality)[0, 1]) > 0.9
        ours = measured(filled_in("mine", "", estimate, quality, home), truth, 100, 0)
        assert ours["pearson"][0] == pytest.approx(0, abs=0.1)
        assert ours["spearman"][0] == pytest.approx(0, abs=0.1)
        assert np.isnan(ours["pairwise_accuracy"]).all()
        assert np.isnan(ours["spearman_systems"]).all()


def crossed(unbalanced: bool, seed: int = 1) -> tuple[np.ndarray, Truth]:
    """Levels of 5 systems, and ratings in 4 folds that lie apart; each fold has all systems."""
    generator = np.random.default_rng(seed)
    wrote, fold = np.arange(600) % 5, np.arange(600) // 5 % 4
    if unbalanced:
        fold = np.where(generator.random(600) < 0.5, wrote % 4, fold)
    level = np.array([0.1, 0.15, 0.3, 0.33, 0.5])[wrote]
    quality = level + 0.1 * fold + generator.normal(0, 0.1, 600)
    at, home = wrote[:, None] == np.arange(5), np.unique(5 * fold + wrote, return_inverse=True)[1]
    return level, Truth(np.arange(600), quality, fold, np.arange(600), np.arange(600), at, home)


@pytest.mark.parametrize("unbalanced", [False, True])
def test_who_only_knows_the_system_knows_nothing_within_it(unbalanced: bool) -> None:
    """And knows the systems' order, however they are dealt; with noise, it is no other."""
    level, truth = crossed(unbalanced)
    people = np.array([truth.quality[truth.wrote[:, s]].mean() for s in range(5)])  # type: ignore[index]
    order = stats.spearmanr([0.1, 0.15, 0.3, 0.33, 0.5], people).statistic
    ours = measured(filled_in("level", "", level, truth.quality, truth.fold), truth, 100, 0)
    assert np.isnan(ours["pearson_within"]).all()
    assert ours["spearman_systems"][0] == pytest.approx(order)
    assert ours["pearson"][0] > 0.3
    noisy = level + np.random.default_rng(2).normal(0, 0.05, 600)
    ours = measured(filled_in("noisy", "", noisy, truth.quality, truth.fold), truth, 100, 0)
    assert ours["pearson_within"][0] == pytest.approx(0, abs=0.1)


def test_who_only_knows_the_fold_does_not_order_systems() -> None:
    """The training mean, and noise so small that it would decide nothing beside it."""
    found = []
    for seed in range(40):
        _, truth = crossed(True, seed)
        mean = np.array([truth.quality[truth.fold != k].mean() for k in range(4)])[truth.fold]
        estimate = mean + np.random.default_rng(seed).normal(0, 1e-4, 600)
        drawn = measured(filled_in("mean", "", estimate, truth.quality, truth.fold), truth, 1, 0)
        found.append(drawn["pairwise_accuracy"][0])
    assert np.mean(found) == pytest.approx(0.5, abs=0.15)


def test_small_values_keep_their_order() -> None:
    """Probabilities of whole texts are such scores."""
    _, truth = made_up(9)
    logarithm = 10 * truth.quality + np.random.default_rng(1).normal(0, 1, 60)
    large, small = (
        measured(filled_in("p", "", scale * logarithm, truth.quality, truth.fold), truth, 2, 0)
        for scale in (1, 1e-20)
    )
    for name in ("pearson", "spearman", "pearson_within", "pairwise_accuracy"):
        np.testing.assert_allclose(small[name], large[name], atol=1e-9)


def test_systems_are_ranked_where_they_tie_the_folds_together(rated: Rated) -> None:
    splits = {split.name: split for split in all_splits(rated)[0]}
    systems, fold = np.array(rated.systems), splits["contexts"].fold

    def ranked(split: Split) -> bool:
        level = np.unique(systems, return_inverse=True)[1].astype(float)
        found = filled_in("level", "", level, rated.quality, split.fold)
        ours = measured(found, truth_of(rated, split), 2, 0)
        return bool(np.isfinite(ours["pairwise_accuracy"][0]))

    assert ranked(splits["texts"])
    assert not ranked(splits["systems"])
    # a fold that lacks a system is still tied to the others by the rest
    away = (fold == 0) & (systems == systems[0])
    assert ranked(replace(splits["contexts"], fold=np.where(away, 1, fold)))
    # the first system alone in two folds, and the others in the rest: nothing ties these
    first = systems == systems[0]
    apart = np.where(first, np.arange(len(rated)) % 2, 2 + np.arange(len(rated)) % 2)
    assert not ranked(replace(splits["contexts"], fold=apart))


def test_systems_in_few_folds_are_ordered_as_in_all() -> None:
    """Each system in 2 of 4 folds, which lie apart; estimates know the system and the fold."""
    generator = np.random.default_rng(3)
    wrote = np.arange(800) % 4
    fold = (wrote + generator.integers(0, 2, 800)) % 4
    level = np.array([0.1, 0.2, 0.3, 0.4])[wrote]
    at, home = wrote[:, None] == np.arange(4), np.unique(4 * fold + wrote, return_inverse=True)[1]
    quality = level + generator.normal(0, 0.01, 800)
    truth = Truth(np.arange(800), quality, fold, np.arange(800), np.arange(800), at, home)
    found = filled_in("both", "", level + np.array([3.0, 0.0, 7.0, 1.0])[fold], quality, fold)
    ours = measured(found, truth, 50, 0)
    assert ours["pairwise_accuracy"][0] == ours["spearman_systems"][0] == 1


def test_a_new_system_says_nothing_of_others_in_its_fold() -> None:
    """From 11 systems on, several share a fold; who only knows the system still knows nothing."""
    generator = np.random.default_rng(6)
    wrote = np.arange(600) % 12
    level = wrote / 12
    quality = np.clip(level + generator.normal(0, 0.1, 600), 0, 1)
    texts = [f"text {i}" for i in range(600)]
    rated = Rated(texts, quality, np.arange(600), systems=[f"s{k}" for k in wrote])
    split = next(s for s in all_splits(rated)[0] if s.name == "systems")
    assert split.folds < 12
    truth = truth_of(rated, split)
    noisy = level + generator.normal(0, 0.05, 600)
    for estimate, r in ((noisy, 0.0), (noisy + quality, 0.9)):
        ours = measured(filled_in("m", "", estimate, quality, split.fold), truth, 50, 0)
        assert ours["pearson"][0] == pytest.approx(r, abs=0.1)
        np.testing.assert_allclose(ours["pearson"][0], ours["pearson_within"][0])
        assert np.isnan(ours["pairwise_accuracy"]).all()


def test_the_mean_of_the_other_systems_orders_no_systems() -> None:
    """Each system answers each context; the mean of the others falls as one's own rating rises."""
    generator = np.random.default_rng(5)
    context, wrote = np.arange(400) // 4, np.arange(400) % 4
    quality = np.clip(0.2 + 0.15 * wrote + generator.normal(0, 0.05, 400), 0, 1)
    rated = Rated(
        [f"text {i}" for i in range(400)],
        quality,
        np.arange(400),
        systems=[f"s{k}" for k in wrote],
        context=context,
    )
    split = next(s for s in all_splits(rated)[0] if s.name == "texts")
    found = baseline("context_mean", lambda: SystemMean("nan"), rated, split)
    upside_down = measured(replace(found, orders_systems=True), truth_of(rated, split), 2, 0)
    assert upside_down["pairwise_accuracy"][0] == 0
    ours = measured(found, truth_of(rated, split), 2, 0)
    assert np.isnan(ours["pairwise_accuracy"]).all()
    assert np.isnan(ours["spearman_systems"]).all()
    assert found.note


def test_pairs_of_systems() -> None:
    people = np.array([[1.0, 2.0, 3.0, 3.0], [1.0, 2.0, 3.0, np.nan]])
    ours = np.array([[1.0, 1.0, 0.5, 4.0], [3.0, 2.0, 1.0, 0.0]])
    # five pairs that people order: one tie of ours, two wrong, two right; then one is missing
    found = pairwise_accuracy(ours, people)
    assert found[0] == 0.5
    assert np.isnan(found[1])
    assert np.isnan(pairwise_accuracy(np.ones((1, 1)), np.ones((1, 1)))).all()
    assert np.isnan(pairwise_accuracy(ours[:, :2], people[:, :2])).all()


def test_equal_values_tie_beside_far_ones_and_beside_folds_that_have_but_one() -> None:
    fold = np.repeat(np.arange(5), 40)
    values = np.where(fold < 3, 1 / 3 + 0.7 + 0.1 * fold, np.arange(200) % 7)
    assert set(centred(values, fold)[fold < 3]) == {0.0}
    far = np.arange(200) % 7 + 0.0
    far[0] = 1e13
    assert len(set(centred(far, fold)[fold > 0])) > 7
    # what differs in the last bits ties, however many do
    sums = np.where(np.arange(200) % 9 == 0, 0.7, 0.3)
    sums[1::3] = np.where(sums[1::3] == 0.3, 0.1 + 0.2, sums[1::3])
    tied = centred(sums, fold)
    assert len(set(tied[fold == 0])) == 2
    # nor in the fold whose mean it moves
    assert len(set(centred(far, fold)[(fold == fold[0]) & (far < 7)])) == 7


def test_covered_texts_have_means_of_their_own() -> None:
    """A score that says a number for its system, and abstains from some: the mean that stands in
    must not let the system's level in."""
    generator = np.random.default_rng(0)
    system = np.repeat(np.arange(4), 50)
    own = generator.normal(size=200)
    quality = own + generator.normal(size=200)
    estimate = np.where(generator.random(200) < 0.3, np.nan, 6 * system + own)
    found = filled_in("mine", "", estimate, quality, system)
    rows = np.arange(200)
    truth = Truth(rows, quality, system, rows, rows, system[:, None] == np.arange(4), system)
    ours = measured(found, truth, 10, 0)
    some = ~np.isnan(estimate)
    left = [centred(v[some], system[some]) for v in (estimate, quality)]
    assert ours["pearson_covered"][0] == pytest.approx(stats.pearsonr(*left).statistic)
    assert ours["spearman_covered"][0] == pytest.approx(stats.spearmanr(*left).statistic)


def test_ranks_of_small_folds_have_no_interval() -> None:
    found, truth = made_up(1)
    few = replace(truth, fold=np.arange(60) % 20)
    ours = measured(found, few, 10, 0)
    for name in ("spearman", "spearman_covered", "pearson_covered"):
        assert np.isnan(ours[name][1:]).all()
        assert not np.isnan(ours[name][0])
    assert not np.isnan(ours["pearson"]).any()


def test_the_mean_over_the_deals() -> None:
    nan = float("nan")
    parts = [
        {"pearson": np.array([0.4, nan, nan, 0.2]), "mse": np.array([1.0, nan, 3.0, 1.0])},
        {"pearson": np.array([0.2, 0.6, nan, nan]), "mse": np.array([2.0, nan, nan, 1.0])},
    ]
    found = averaged(parts)
    np.testing.assert_allclose(found["pearson"], [0.3, 0.3, nan, 0.1])
    np.testing.assert_allclose(found["mse"], [1.5, nan, 3.0, 1.0])
    # a deal whose covered texts are too few to be drawn
    parts.append({"pearson": np.array([0.3, nan, nan, nan]), "mse": np.ones(4)})
    np.testing.assert_allclose(averaged(parts)["pearson"], [0.3, nan, nan, nan])


def test_a_deal_without_an_order_has_no_r_in_the_range_either() -> None:
    """Of one pair of texts that are equal but for values, in some deals one fold has both."""
    texts = [f"text {k}" for k in range(60)]
    slots = [*texts[:58], "welcome to X", "welcome to X"]
    quality = np.array([*np.arange(58) % 5, 5, 5]) / 5
    found = compare(
        Rated(texts, quality, np.arange(60), slots=slots),
        Settings(draws=10, deals=20, curve=False, kernels=()),
    )
    row = found.table.set_index("method").loc["lookup"]
    assert "no estimate in" in " ".join(row["note"])
    assert 0 == row["pearson_least"] < row["pearson"] < row["pearson_most"]


def test_few_different_texts_have_no_interval_of_a_curve_either() -> None:
    texts = [f"text {k % 20}" for k in range(100)]
    quality = np.arange(100) % 7 / 6
    rated = Rated(texts, quality, np.arange(100) % 20, scores={"judge": quality[::-1].copy()})
    found = compare(rated, Settings(draws=20, deals=2, kernels=("bleu.char",)))
    assert len(found.curve) == 6
    assert found.curve["pearson"].notna().all()
    assert found.curve[["pearson_low", "pearson_high"]].isna().all(axis=None)
    assert "no interval" in " ".join(judged(rated, found))


def test_a_comparison_has_the_mean_over_its_deals(rated: Rated) -> None:
    found = compare(rated, Settings(draws=100, seed=5, deals=3, curve=False, kernels=()))
    assert found.deals == {"texts": 3, "systems": 1, "contexts": 3}
    splits = dealt(rated, 5, 3)[0][0]
    own = [baseline("length", Length, rated, split) for split in splits]
    parts = [measured(p, truth_of(rated, s), 100, 5) for p, s in zip(own, splits, strict=True)]
    drawn = found.draws["texts", "length", ""]
    for name, values in drawn.items():
        np.testing.assert_allclose(values, np.mean([part[name] for part in parts], axis=0))
    assert len({part["pearson"][0] for part in parts}) == 3
    row = found.table.set_index(["split", "method"]).loc[("texts", "length")]
    assert row["pearson"] == drawn["pearson"][0]
    assert (row["deals"], row["n_covered"]) == (3, row["n"])


def test_a_deal_without_an_estimate_does_not_end_the_others() -> None:
    """One text above the middle of the scale: in some deals it is no one's reference."""
    texts = [f"a text of number {k} here" for k in range(40)]
    quality = np.array([0.9] + [0.1 + k / 100 for k in range(39)])
    context = np.arange(40) // 2
    rated = Rated(texts, quality, np.arange(40), context=context)
    made = compare(rated, Settings(draws=100, deals=8, curve=False, kernels=()))
    row = made.table.set_index(["split", "method"]).loc[("texts", "delta_bleu")]
    # the text that stands beside the good one, where the two are in different folds
    apart = [split.fold[0] != split.fold[1] for split in dealt(rated, 0, 8)[0][0]]
    assert 0 < sum(apart) < 8
    assert row["deals"] == 8
    assert row["coverage"] == pytest.approx(sum(apart) / 8 / 40)
    assert any(f"in {8 - sum(apart)} of 8 deals" in note for note in row["note"])


def test_networks_are_compared_in_the_deal_that_they_have(rated: Rated) -> None:
    noise = np.random.default_rng(0).normal(0, 0.2, len(rated))
    told = Settings(
        *((), {}, 100, 0, 3, False),
        networks=lambda rated, split: np.clip(rated.quality + noise, 0, 1),
    )
    made = compare(rated, told)
    rows = made.table.set_index(["split", "method"])
    row = rows.loc["texts", "rnn_qe"]
    assert (row["deals"], rows.loc["texts", "ridge"]["deals"]) == (1, 3)
    rival = strongest("texts", made.draws)
    assert rival is not None
    own = made.first["texts", "rnn_qe", ""]["pearson"][0]
    assert row["difference"] == pytest.approx(own - made.first[rival]["pearson"][0])
    assert row["difference"] != pytest.approx(own - made.draws[rival]["pearson"][0])


def test_few_different_texts_have_no_interval(rated: Rated) -> None:
    split = all_splits(rated)[0][0]
    found = baseline("length", Length, rated, split)
    few = replace(rated, wording=rated.wording % (ENOUGH_UNITS - 1))
    ours = measured(found, truth_of(few, split), 20, 0)
    assert not np.isnan(ours["pearson"][0])
    assert np.isnan(ours["pearson"][1:]).all()
    enough = replace(rated, wording=rated.wording % ENOUGH_UNITS)
    assert not np.isnan(measured(found, truth_of(enough, split), 20, 0)["pearson"]).any()


def test_what_is_drawn_together(rated: Rated) -> None:
    split = all_splits(rated)[0][0]
    assert rated.context is not None
    truth = truth_of(rated, split)
    assert truth.unit.max() + 1 == 30
    few = replace(rated, context=rated.context % 5)
    assert truth_of(few, split).unit.max() == rated.wording.max()
    # a text of two contexts is drawn beside both
    twice = rated.wording.copy()
    twice[1] = twice[0]
    drawn = truth_of(replace(rated, wording=twice), split).drawn
    assert drawn.shape == (32, 2)
    assert drawn[drawn[:, 1] > 0].tolist() == [[1, 1], [2, 1]]
    # all that a system says stays with it
    assert rated.systems is not None
    said = np.where(np.array(rated.systems) == "ant", 7, rated.wording)
    assert truth_of(replace(rated, wording=said), split).drawn.ndim == 1
