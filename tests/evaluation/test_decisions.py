"""Pairs, systems and raters: each against a slow transcription of its definition."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.evaluation.bias import bias_of_scores
from refless.evaluation.decisions import (
    FEW_CONTEXTS,
    FEW_RATERS,
    NOT_CLOSER,
    NOT_SIGNIFICANT,
    R_MAY_BE_0,
    SMALL_LEAD,
    YARDSTICK_PASSES,
    Candidate,
    Decisions,
    RaterDecision,
    as_data,
    decide,
    decide_raters,
    decide_scores,
    decide_split,
)
from refless.evaluation.evaluate import Comparison, ComparisonSettings, compare
from refless.evaluation.grid import WIDTH, columns
from refless.evaluation.pairs import pair_table, ranks
from refless.evaluation.read import Rated
from refless.evaluation.replacement import rater_test, replacement_table, replacing
from refless.evaluation.sentences import (
    answer_lines,
    rank_words,
    rater_sentences,
    raters_grid,
    warnings,
)
from refless.evaluation.within import within_table
from refless.statistics.multiple_tests import holm
from refless.statistics.pairwise_accuracy import (
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


def test_one_context_that_outweighs_the_others_leaves_no_interval_and_no_verdict(rated):
    n = len(rated)
    good = rated.quality + np.random.default_rng(1).normal(0, 0.1, n)
    heavy = np.where(np.arange(n) < 0.6 * n, 0, 1 + np.arange(n) % 12)
    heavy_rated = replace(rated, context=heavy, context_group=heavy, scores={"score_good": good})
    comparison = compare(heavy_rated, SETTINGS)
    ends = [name for name in comparison.table if name.endswith(("_low", "_high"))]
    assert comparison.table[ends].isna().all(axis=None)
    within = within_table(comparison)
    assert within[[name for name in within if name.endswith("_low")]].isna().all(axis=None)
    decision = decide_split(comparison, "texts")
    assert (decision.shown, decision.why_not) == (False, FEW_CONTEXTS)
    assert pair_table(heavy_rated, comparison)["p_holm"].isna().all()
    assert any(line.startswith("no intervals") for line in warnings(heavy_rated, comparison))
    half = np.where(np.arange(n) < 0.5 * n, 0, 1 + np.arange(n) % 12)
    assert replace(rated, context_group=half).has_intervals


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
    good, ridge = (comparison.draws["texts", name, ""]["fixed"] for name in ("score_good", "ridge"))
    gap = good - ridge
    assert row["difference"] == pytest.approx(gap[0])
    # ridge learns: with the factor of Nadeau and Bengio for four of five folds
    expected = gap[0] + 1.5 * (np.quantile(gap[1:], [0.025, 0.975]) - gap[0])
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


def test_a_beaten_methods_ranks_begin_below_its_betters():
    table = pd.DataFrame(itertools.combinations("abcd", 2), columns=["a", "b"]).assign(difference=1)
    # b is not shown to be worse than a, c is; d is worse than b, but not than c
    table["p_holm"] = [0.2, 0.01, 0.01, 0.3, 0.01, 0.5]
    assert ranks(table) == {"a": (1, 2), "b": (1, 3), "c": (2, 4), "d": (3, 4)}
    assert ranks(table.assign(p_holm=np.nan)) == {}
    # as they are printed, none differs
    assert set(ranks(table.assign(difference=0.004)).values()) == {(1, 4)}
    # a beats b and b beats c, so a beats c, whatever their own test says
    chain = table[table["a"].isin(["a", "b"]) & table["b"].isin(["b", "c"])]
    assert ranks(chain.assign(p_holm=[0.01, 0.5, 0.01])) == {"a": (1, 1), "b": (2, 2), "c": (3, 3)}
    # b is behind over all repeats, but ahead on those that both have
    backwards = pd.DataFrame({"a": ["a"], "b": ["b"], "difference": [-0.1], "p_holm": [0.01]})
    assert ranks(backwards) == {"a": (2, 2), "b": (1, 1)}
    assert [rank_words(2, 3), rank_words(1, 1), rank_words(None, None)] == ["2 to 3", "1", ""]


def test_scores_have_their_ranks_and_their_lead(judged, comparison, pairs):
    good, *others = decide_scores(comparison, pairs)
    assert good.decision.shown
    assert np.isnan(good.behind.value)
    by_name = {score.decision.method: score for score in (good, *others)}
    assert "score_few" not in by_name
    useless = by_name["score_useless"]
    assert not useless.decision.shown
    assert (useless.first_rank, useless.last_rank) == (4, 4)
    assert useless.behind.low > 0
    same = by_name["score_same"]
    assert {good.first_rank, same.first_rank} == {1}
    one = replace(judged, scores={"score_useless": judged.scores["score_useless"]})
    (alone,) = decide_scores(replace(comparison, rated=one), pairs)
    assert alone.first_rank is None
    assert alone.decision == useless.decision


def test_the_answer_is_a_table_that_a_terminal_holds(judged, comparison, pairs):
    """Whatever scores are called, and however many there are."""
    decided = decide(comparison, pairs, *replacement_table(judged, comparison))
    long = [
        replace(score, decision=replace(score.decision, method=f"score_字\n{'long_' * 30}{k}"))
        for score in decided.scores
        for k in range(9)
    ]
    candidates = [
        Candidate(score.decision.method, "", 2, 3, 400, 0.5, NOT_CLOSER) for score in long
    ]
    raters = RaterDecision(candidates=candidates)
    splits = [replace(each, method="surface_ridge", coverage=0.6) for each in decided.splits]
    lines = answer_lines(
        judged, Decisions(splits, splits, long, raters), bias_of_scores(comparison)
    )
    assert len(lines) <= 30
    assert max(map(columns, lines)) <= WIDTH
    assert all(line.isprintable() for line in lines)
    assert f"{len(long) - 5} more scores in pairs.csv" in lines
    alone = answer_lines(judged, Decisions(splits, splits, long[:8]), pd.DataFrame({"method": []}))
    assert sum("long" in line for line in alone) == 8
    lead = next(line for line in lines if line.strip().startswith("lead "))
    assert "corrected p" in lead


def test_decisions_are_data(judged, comparison, pairs):
    decided = decide(comparison, pairs, *replacement_table(judged, comparison))
    data = as_data(decided)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    for split, decision in zip(data["splits"], decided.splits, strict=True):
        assert split["shown"] == decision.shown
        assert split["lead"]["low"] == pytest.approx(decision.lead.low, rel=1e-4)
        assert split["texts"] == len(judged)


def test_a_score_that_falls_as_ratings_rise_is_turned_and_named(judged, comparison):
    table = comparison.table.set_index(["split", "method"])
    assert table.loc[("texts", "score_loss"), "pearson"] > 0.5
    turned, missing = (line for line in warnings(judged, comparison) if "score_" in line)
    assert turned.startswith("score_loss:")
    assert "score_few (of 80 texts)" in missing
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
    assert not [*warnings(agreeing, comparison)]
    passes = table.set_index("method")["passes"]
    assert passes["score_judge"]
    assert not passes["constant"]
    ahead = table.set_index("method")["ahead"]
    assert ahead["score_judge"]
    assert not ahead[["constant", "additive"]].any()
    decided = decide_raters(table, reason)
    assert decided.passing_yardstick is None
    first, *others = decided.candidates  # scores are what is asked about
    assert (first.method, first.wins, first.raters, first.may_replace) == (
        "score_judge",
        4,
        4,
        True,
    )
    assert {"constant", "additive"}.isdisjoint(other.method for other in others)
    assert "more methods in replace.csv" in raters_grid([*decided.candidates] * 5).rest
    few = decide_raters(table.assign(raters=2, passes=False), "")
    assert {candidate.why_not for candidate in few.candidates} == {FEW_RATERS}
    noisy = with_raters(rated, 5.0)
    table, reason = replacement_table(noisy, compare(noisy, SETTINGS), epsilon=0.2)
    assert table.set_index("method")["passes"]["constant"]
    decided = decide_raters(table, reason)
    assert decided.passing_yardstick is not None
    assert not any(candidate.may_replace for candidate in decided.candidates)
    close = table.assign(passes=True, ahead=True, beyond_system=True)
    reasons = {candidate.why_not for candidate in decide_raters(close, reason).candidates}
    assert reasons == {YARDSTICK_PASSES}
    assert "so would" in " ".join(rater_sentences(decided))
    table, reason = replacement_table(with_raters(rated, 0.3, 2), compare(agreeing, SETTINGS))
    assert table.empty
    assert "2 of the raters have 30 texts" in " ".join(
        rater_sentences(decide_raters(table, reason))
    )


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
    comparison = compare(raters, SETTINGS)
    table, reason = replacement_table(raters, comparison, epsilon=0.2, score_unit="rating")
    assert table.set_index("method").loc[["score_5", "constant"], "passes"].all()
    assert not replacing(table).any()
    assert not any(each.may_replace for each in decide_raters(table, reason).candidates)


def test_shown_is_a_significant_lead_of_some_size_with_an_r_above_0(comparison):
    codes = {}
    for name, cells in {
        "shown": {"p": 1e-9, "difference": 0.005},
        "small": {"p": 1e-9, "difference": 0.004},
        "p": {"p": 0.04, "difference": 0.5},  # of several methods
        "r": {"p": 1e-9, "difference": 0.5, "pearson_low": -0.01},
    }.items():
        changed = replace(comparison, table=comparison.table.assign(**cells))
        codes[name] = decide_split(changed, "texts").why_not
    assert codes == {"shown": "", "small": SMALL_LEAD, "p": NOT_SIGNIFICANT, "r": R_MAY_BE_0}


@pytest.mark.parametrize("unit", [1, 20, -3])
def test_the_unit_of_a_score_does_not_decide_who_may_replace_a_rater(rated, unit):
    """A score is rescaled by location and spread in training, in whichever direction it goes."""
    agreeing = with_raters(rated, 1.0)
    score = agreeing.scores["score_judge"]
    changed = replace(agreeing, scores={"score_judge": 7 + unit * score})
    tests = [
        replacement_table(of_unit, compare(of_unit, SETTINGS))[0].set_index("method")
        for of_unit in (agreeing, changed)
    ]
    columns = ["wins", "advantage", "ahead"]
    first, second = (table.loc["score_judge", columns].tolist() for table in tests)
    assert first == second
