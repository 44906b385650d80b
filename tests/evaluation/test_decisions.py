"""Pairs, systems and raters: each against a slow transcription of its definition."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.evaluation.evaluate import Comparison, ComparisonSettings, compare
from refless.evaluation.pairs import holm, pair_table, ranks
from refless.evaluation.read import Rated, same_unit
from refless.evaluation.replacement import rater_test, replacement_table, replacing
from refless.evaluation.report import command, replacement_line, scores_line, verdict, warnings
from refless.evaluation.systems import (
    PERMUTATIONS,
    SEED,
    soft_pairwise_accuracy,
    system_grid,
    system_measures,
)

SETTINGS = ComparisonSettings({}, draws=500, repeats=1)


@pytest.fixture(scope="module")
def judged(rated: Rated) -> Rated:
    """With a good score, one that is nearly as good, a useless one, one of few texts, and one that
    falls as ratings rise."""
    generator = np.random.default_rng(1)
    good = rated.quality + generator.normal(0, 0.1, len(rated))
    few = np.where(np.arange(len(rated)) < 40, good, np.nan)
    scores = {
        "score_good": good,
        "score_same": good + generator.normal(0, 0.01, len(rated)),
        "score_useless": generator.normal(size=len(rated)),
        "score_few": few,
        "score_loss": -good + generator.normal(0, 0.2, len(rated)),
    }
    return replace(rated, scores=scores)


@pytest.fixture(scope="module")
def comparison(judged: Rated) -> Comparison:
    return compare(judged, SETTINGS)


@pytest.fixture(scope="module")
def pairs(judged: Rated, comparison: Comparison) -> pd.DataFrame:
    return pair_table(judged, comparison)


def test_holm_steps_down():
    p = np.array([0.01, 0.04, np.nan, 0.03, 0.005])
    # of four tests: 4 x 0.005, 3 x 0.01, 2 x 0.03, and 0.04, which may not be less
    np.testing.assert_allclose(holm(p), [0.03, 0.06, np.nan, 0.06, 0.02])
    assert holm(np.array([0.6, 0.7])).tolist() == [1, 1]
    assert len(holm(np.zeros(0))) == 0


def test_pairs_are_on_shared_draws_and_corrected_by_split(comparison, pairs):
    for _, own in pairs.groupby("split"):
        names = {*own["a"], *own["b"]}
        assert "score_few" not in names
        assert {"ridge", "score_good", "score_useless", "length"} <= names
        assert len(own) == len(names) * (len(names) - 1) / 2
        np.testing.assert_allclose(own["p_holm"], holm(own["p"]))
        assert (own["difference"] >= 0).all()
    row = pairs.set_index(["split", "a", "b"]).loc["texts", "score_good", "ridge"]
    good, ridge = (
        comparison.draws["texts", name, ""]["pearson"] for name in ("score_good", "ridge")
    )
    assert row["difference"] == pytest.approx(good[0] - ridge[0])
    expected = np.quantile(good[1:] - ridge[1:], [0.025, 0.975])
    np.testing.assert_allclose([row["difference_low"], row["difference_high"]], expected)
    assert row["p_holm"] < 0.05


def test_a_pair_is_compared_on_the_repeats_that_both_have(judged):
    first = judged.quality + np.random.default_rng(2).normal(0, 0.2, len(judged))
    settings = replace(SETTINGS, repeats=2, networks=lambda rated, split: first)
    comparison = compare(judged, settings)
    assert [len(repeats) for repeats in comparison.splits.values()].count(2)
    pairs = pair_table(judged, comparison).set_index(["split", "a", "b"])
    once = compare(judged, replace(settings, repeats=1)).draws
    r = [once["texts", name, ""]["pearson"][0] for name in ("rnn_qe", "ridge")]
    assert pairs.loc[("texts", "rnn_qe", "ridge"), "difference"] == pytest.approx(r[0] - r[1])


def test_what_does_not_differ_from_the_best_of_a_rank_shares_it(judged, comparison, pairs):
    table = pd.DataFrame(itertools.combinations("abcd", 2), columns=["a", "b"]).assign(difference=1)
    # b is not shown to be worse than a, c is; d is worse than b, but not than c
    table["p_holm"] = [0.2, 0.01, 0.01, 0.3, 0.01, 0.5]
    assert ranks(table) == {"a": 1, "b": 1, "c": 2, "d": 2}
    assert ranks(table.assign(p_holm=np.nan)) == {}
    # as they are printed, none differs
    assert set(ranks(table.assign(difference=0.004)).values()) == {1}
    (line,) = scores_line(judged, comparison, pairs)
    assert line.index("score_good") < line.index("score_useless")
    two = pairs[pairs["a"].isin(["score_good"]) & pairs["b"].isin(["score_same"])]
    (line,) = scores_line(judged, comparison, two)
    assert "score_good against score_same" in line
    assert "not significantly" in line
    one = replace(judged, scores={"score_useless": judged.scores["score_useless"]})
    (line,) = scores_line(one, comparison, pairs)
    assert line.startswith("score_useless, new texts: r ")
    assert line.endswith(": not shown")


def test_a_score_that_falls_as_ratings_rise_is_turned_and_named(judged, comparison):
    table = comparison.table.set_index(["split", "method"])
    assert table.loc[("texts", "score_loss"), "pearson"] > 0.5
    untested, _ = replacement_table(judged, comparison)
    (line,) = (line for line in warnings(judged, comparison, untested) if "score_" in line)
    assert line.startswith("score_loss:")
    assert "score_few (of 80 texts)" in line
    few = table.loc["texts", "score_few"]
    assert few["coverage"] == pytest.approx(1 / 3)
    assert few["pearson_covered"] > few["pearson"] + 0.1


def slow_p(values: np.ndarray) -> dict[tuple[int, int], float]:
    """The permutation test, one permutation at a time."""
    generator = np.random.default_rng(SEED)
    uniform = generator.random((PERMUTATIONS, len(values)), dtype=np.float32)
    p = {}
    for i, j in itertools.combinations(range(values.shape[1]), 2):
        gaps = [float(a - b) for a, b in zip(values[:, i], values[:, j], strict=True)]
        exceeds = 0
        for row in uniform:
            swapped = sum(g if u > 0.5 else -g for g, u in zip(gaps, row, strict=True))
            exceeds += swapped >= sum(gaps) - 1e-9
        p[i, j] = exceeds / PERMUTATIONS
    return p


@pytest.mark.parametrize("digits", [1, 12])
def test_soft_pairwise_accuracy_is_its_definition(digits):
    generator = np.random.default_rng(3)
    people = generator.normal(size=(12, 4)).round(digits) + np.array([0, 0.2, 0.4, 0.4])
    scores = (people + generator.normal(size=(12, 4))).round(digits)
    first, second = slow_p(people), slow_p(scores)
    expected = 1 - np.mean([abs(first[pair] - second[pair]) for pair in first])
    assert soft_pairwise_accuracy(people, scores) == pytest.approx(expected, abs=1e-12)
    measures = system_measures(people, scores, 200, 0)
    r = stats.pearsonr(people.mean(axis=0), scores.mean(axis=0)).statistic
    assert measures["pearson_of_systems"][0] == pytest.approx(r)
    accuracy = measures["pairwise_accuracy"]
    assert accuracy.shape == (201,)
    assert accuracy[1:].mean() == pytest.approx(expected, abs=0.02)
    assert system_measures(people, people, 200, 0)["pairwise_accuracy"][0] == 1
    assert np.isnan(system_measures(people, 0 * people, 200, 0)["pairwise_accuracy"]).all()


def test_systems_are_compared_on_complete_contexts_alone():
    system, context = np.tile(np.arange(3), 4), np.repeat(np.arange(4), 3)
    values = np.arange(12.0)
    rows = np.append(np.arange(11), 0)  # the last context lacks a system, the first has one twice
    grid, _ = system_grid(system[rows], context[rows])
    assert grid is not None
    values[0] = 5
    np.testing.assert_array_equal(grid.means(values[rows]), [[5, 1, 2], [3, 4, 5], [6, 7, 8]])
    none, reason = system_grid(system[:4], context[:4])
    assert none is None
    assert "fewer than two contexts" in reason
    assert "system" in system_grid(None, context)[1]


def slow_rater_test(ratings, candidate, epsilon, closeness):
    """One text at a time, as the paper has it."""
    p, advantages = [], []
    for rater in range(ratings.shape[1]):
        method, person = [], []
        for answers, estimate in zip(ratings, candidate, strict=True):
            others = [a for k, a in enumerate(answers) if k != rater and not np.isnan(a)]
            if np.isnan(answers[rater]) or np.isnan(estimate) or not others:
                continue
            scores = [closeness(answer, others) for answer in (estimate, answers[rater])]
            method.append(scores[0] >= scores[1])
            person.append(scores[1] >= scores[0])
        if len(method) >= 30:
            away = np.array(person, float) - np.array(method, float)
            p.append(stats.ttest_1samp(away, epsilon, alternative="less").pvalue)
            advantages.append(np.mean(method))
    order, m = np.argsort(p), len(p)
    harmonic = sum(1 / k for k in range(1, m + 1))
    passed = [k + 1 for k in range(m) if p[order[k]] <= 0.05 * (k + 1) / m / harmonic]
    return max(passed, default=0), m, np.mean(advantages)


@pytest.mark.parametrize("scoring", ["rmse", "accuracy"])
@pytest.mark.parametrize("seed", range(3))
def test_the_alternative_annotator_test_is_its_definition(scoring, seed):
    generator = np.random.default_rng(seed)
    truth = generator.integers(1, 6, 90)
    ratings = np.clip(truth[:, None] + generator.integers(-1, 2, (90, 5)), 1, 5).astype(float)
    ratings[generator.random((90, 5)) < 0.3] = np.nan
    ratings[20:, 4] = np.nan  # a rater of few texts
    candidate = np.where(generator.random(90) < 0.1, np.nan, np.clip(truth + seed - 1, 1, 5))

    def closeness(answer, others):
        if scoring == "accuracy":
            return np.mean([answer == other for other in others])
        return -np.sqrt(np.mean([(answer - other) ** 2 for other in others]))

    found = rater_test(ratings, candidate, 0.2, scoring)
    expected = slow_rater_test(ratings, candidate, 0.2, closeness)
    assert (found.wins, found.raters, found.advantage) == pytest.approx(expected)
    tiny = rater_test(1e-7 * ratings, 1e-7 * candidate, 0.2, scoring)
    assert (tiny.wins, tiny.advantage) == (found.wins, found.advantage)
    assert found.raters == 4


def with_raters(rated: Rated, noise: float, raters: int = 4) -> Rated:
    generator = np.random.default_rng(0)
    quality = rated.to_user_scale(rated.quality)
    pairs = itertools.product(range(len(rated)), [f"r{rater}" for rater in range(raters)])
    single = pd.DataFrame(pairs, columns=["text", "rater"])
    single["quality"] = quality[single["text"]] + generator.normal(0, noise, len(single))
    score = quality + generator.normal(0, noise / 3, len(rated))
    return replace(rated, ratings=single, scores={"score_judge": score})


def test_a_method_may_replace_a_rater_where_a_constant_may_not(rated):
    agreeing = with_raters(rated, 0.3)
    comparison = compare(agreeing, SETTINGS)
    table, reason = replacement_table(agreeing, comparison)
    assert not [*warnings(agreeing, comparison, table)]
    percent = replace(agreeing, scores={"score_judge": 20 * agreeing.scores["score_judge"]})
    (line,) = warnings(percent, comparison, replacement_table(percent, comparison)[0])
    assert "score_judge: of another unit" in line
    passes = table.set_index("method")["passes"]
    assert passes["score_judge"]
    assert not passes["constant"]
    ahead = table.set_index("method")["ahead"]
    assert ahead["score_judge"]
    assert not ahead[["constant", "additive"]].any()
    assert "may replace a rater: score_judge (4 of 4)" in replacement_line(table, reason)
    assert "more in replace.csv" in replacement_line(pd.concat([table] * 3, ignore_index=True), "")
    few = replacement_line(table.assign(raters=2, passes=False), "")
    assert all(words in few for words in ("none", "score_judge", "4 of 2", "of too few raters"))
    noisy = with_raters(rated, 5.0)
    table, reason = replacement_table(noisy, compare(noisy, SETTINGS), epsilon=0.2)
    assert table.set_index("method")["passes"]["constant"]
    assert "score_judge" not in replacement_line(table, reason)
    assert "so would" in replacement_line(table, reason)
    table, reason = replacement_table(with_raters(rated, 0.3, 2), compare(agreeing, SETTINGS))
    assert table.empty
    assert "2 of the raters have 30 texts" in replacement_line(table, reason)


def test_a_constant_that_ties_with_whole_numbers_is_a_yardstick(rated):
    """Where most ratings are 5, who says 5 is as close as a rater, but not the mean."""
    generator, n = np.random.default_rng(0), len(rated)
    single = pd.DataFrame(
        itertools.product(range(n), ("r0", "r1", "r2")), columns=["text", "rater"]
    )
    single["quality"] = generator.choice([5, 4, 1], len(single), p=[0.8, 0.1, 0.1])
    quality = single.groupby("text")["quality"].mean().to_numpy()
    scores = {"score_5": np.where(quality < 3, 4.0, 5.0)}
    raters = replace(rated, ratings=single, quality=(quality - 1) / 4, scale=(1, 5), scores=scores)
    table, reason = replacement_table(raters, compare(raters, SETTINGS), epsilon=0.2)
    assert table.set_index("method").loc[["score_5", "constant"], "passes"].all()
    assert not replacing(table).any()
    assert "score_5" not in replacement_line(table, reason)


def test_a_difference_that_is_printed_as_nothing_is_not_shown(judged, comparison):
    for difference in (0.004, 0.005):
        table = comparison.table.assign(p=1e-9, difference=difference)
        shown = verdict(replace(comparison, table=table), "texts")["shown"]
        assert shown == (difference == 0.005)
    tiny = replace(comparison, table=comparison.table.assign(p=1e-9, difference=0.004))
    assert "rate more" in command(tiny, ["rated.tsv"])


@pytest.mark.parametrize("method", ["delta_bleu", "surface_ridge", "combined"])
def test_the_next_command_is_by_the_best_method(comparison, method):
    best = comparison.table["method"].isin(["score_good", "score_same", "combined"])
    table = comparison.table.assign(
        method=comparison.table["method"].mask(best, method), p=1e-9, difference=0.5
    )
    line = command(replace(comparison, table=table), ["rated.tsv"])
    assert f": refless score --ratings rated.tsv --method {method} " in line


def test_a_score_is_taken_as_it_is_only_if_it_rises_with_the_ratings():
    quality = np.linspace(1, 5, 40)
    assert same_unit(quality, quality, (1, 5))
    assert not same_unit(6 - quality, quality, (1, 5))
