"""Estimates of unseen texts, their measures under the draws of a bootstrap, and what is said."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from refless.data.text_ids import text_ids
from refless.evaluation.bias import bias_of_scores
from refless.evaluation.decisions import (
    FEW_CONTEXTS,
    FEW_SYSTEMS,
    NO_METHOD,
    Decisions,
    decide,
    decide_split,
)
from refless.evaluation.evaluate import (
    Comparison,
    ComparisonSettings,
    compare,
    compared_methods,
    estimate_splits,
    p_value,
    reason_not_tried,
    strongest,
)
from refless.evaluation.grid import WIDTH
from refless.evaluation.learning_curve import MOST_SUBSETS, _curve_point, learning_curve
from refless.evaluation.measures import averaged, measure, pearson_within
from refless.evaluation.next_step import Source, next_step
from refless.evaluation.pairs import pair_table
from refless.evaluation.read import CvSplit, Rated, all_splits
from refless.evaluation.replacement import replacement_table
from refless.evaluation.sentences import about, answer_lines, warnings
from refless.kernels import kernel, unread
from refless.methods import column_name, is_candidate, is_text_blind
from refless.models.neighbors import TAUS
from refless.statistics.bootstrap import FEWEST_TEXTS, IntervalEstimate, interval
from refless.statistics.correlation import centred
from refless.statistics.reliability import Raters
from tests.evaluation import made_up
from tests.kernels.texts import STRANGE, ready


def decided(comparison: Comparison) -> Decisions:
    rated = comparison.rated
    tables = pair_table(rated, comparison), *replacement_table(rated, comparison)
    return decide(comparison, *tables)


def answer(comparison: Comparison) -> list[str]:
    return answer_lines(comparison.rated, decided(comparison), bias_of_scores(comparison))


QUICK = ComparisonSettings({"bleu.char": {}}, draws=400, repeats=1)


def tried(
    rated: Rated, split: CvSplit, settings: ComparisonSettings = QUICK
) -> dict[str, np.ndarray]:
    """Estimates of every method under a split."""
    return {
        column_name(*key): estimate_splits(*key, rated, {split.name: [split]}, settings)[
            split.name
        ][0]
        for key in compared_methods(rated, settings)
        if not reason_not_tried(*key, rated, settings, split.name)
    }


def guess(
    matrix: np.ndarray, quality: np.ndarray, row: int, train: list[int], tau: float
) -> float | None:
    """One estimate, the plain way; None where there is too little evidence."""
    near = [quality[s] for s in train if matrix[row, s] >= tau]
    return float(np.mean(near)) if 5 <= len(near) <= 0.66 * len(train) + 1e-9 else None


def nested(rated: Rated, fold: np.ndarray) -> np.ndarray:
    """BLEU Neighbors with tau chosen in training: loops over everything."""
    matrix = kernel("bleu.char", rated.texts, rated.texts)
    quality, out = rated.quality, np.full(len(fold), np.nan)
    for k in sorted(set(fold)):
        part = [i for i in range(len(fold)) if fold[i] != k]
        best, chosen = np.inf, None
        for tau in TAUS:
            errors = []
            for i in part:
                train = [s for s in part if rated.text_id[s] != rated.text_id[i]]
                value = guess(matrix, quality, i, train, tau)
                errors.append((np.mean(quality[train]) if value is None else value) - quality[i])
            if (error := np.round(np.mean(np.square(errors)), 12)) < best:
                best, chosen = error, tau
        for i in np.flatnonzero(fold == k):
            value = guess(matrix, quality, i, part, chosen)
            out[i] = np.nan if value is None else value
    return out


@pytest.mark.parametrize("name", ["texts", "systems"])
def test_nested_neighbors_equal_plain_loops(rated, name):
    texts = [*rated.texts[:35], *rated.texts[:5]]  # equal texts of other folds, too
    few = Rated(texts, rated.quality[:40], text_ids(texts), rated.system[:40])
    (split,) = all_splits(few)[name]
    estimates = tried(few, split)["neighbors:bleu.char"]
    np.testing.assert_allclose(estimates, nested(few, split.fold), atol=1e-12)
    assert (~np.isnan(estimates)).sum() > 5


@pytest.mark.parametrize("name", ["texts", "systems", "contexts"])
def test_no_method_sees_the_ratings_of_the_texts_that_it_is_asked_about(rated, name):
    """Other ratings in one fold change no estimate in that fold, and do change others."""
    (split,) = all_splits(rated)[name]
    rows = split.fold == 1
    quality = rated.quality.copy()
    quality[rows] = np.random.default_rng(5).permutation(quality[rows]) ** 2
    judge = rated.scores["score_judge"]
    given = replace(rated, scores={"score_judge": judge, "score_other": np.sin(judge)})
    before, after = (tried(own, split) for own in (given, replace(given, quality=quality)))
    assert {"ridge", "neighbors:bleu.char", "score_judge", "combined", "bleu"} <= set(before)
    for method, first in before.items():
        second = after[method]
        np.testing.assert_allclose(first[rows], second[rows], atol=1e-11, err_msg=method)
        covered = ~np.isnan(first)
        if method != "middle" and (covered & ~rows).sum() > 30:
            assert np.nanmax(np.abs(first - second)[~rows]) > 1e-4, method


def test_abstaining_has_the_mean_of_the_training_part_and_ties_with_it():
    quality = np.tile([0.1, 0.2, 0.3, 0.7, 0.7, 0.9, 1.0], 6)
    fold = np.arange(42) % 3
    mean = np.round([quality[fold != k].mean() for k in range(3)], 12)
    estimate = np.where(np.arange(42) % 2, mean[fold], np.nan)
    rated = of(quality, np.arange(42) % 2)
    found = measure(estimate, rated, CvSplit("texts", fold), 10, 0)
    assert found["coverage"][0] == 0.5
    assert np.isnan(found["pearson"][0])
    assert found["mse"] == found["mse_of_mean"]


def test_a_score_ranks_as_it_is_and_predicts_on_a_line(rated):
    split, judge = all_splits(rated)["texts"][0], rated.scores["score_judge"].copy()
    judge[:10] = np.nan
    given = replace(rated, scores={"score_judge": judge})
    found = tried(given, split)["score_judge"]
    assert np.isnan(found).tolist() == [True] * 10 + [False] * 110
    ranked = judge.copy()
    for k in range(split.folds):
        train, asked = (split.fold != k) & ~np.isnan(judge), split.fold == k
        line = np.polyfit(judge[train], rated.quality[train], 1)
        np.testing.assert_allclose(found[asked], np.polyval(line, judge[asked]))
        ranked[asked & np.isnan(judge)] = judge[train].mean()
    own = measure(found, given, split, 10, 0, judge)
    x, y = (centred(values, split.fold) for values in (ranked, rated.quality))
    assert own["pearson"][0] == pytest.approx(stats.pearsonr(x, y).statistic)


def test_scores_together_are_worth_more_than_each(rated):
    generator, split = np.random.default_rng(0), all_splits(rated)["texts"][0]
    noise = generator.normal(size=len(rated))
    scores = {"score_a": rated.quality + noise, "score_b": 100 * noise}
    settings = ComparisonSettings({}, draws=0)
    given = replace(rated, scores=scores)
    found = tried(given, split, settings)["combined"]
    assert np.corrcoef(found, rated.quality)[0, 1] > 0.9
    assert abs(np.corrcoef(scores["score_a"], rated.quality)[0, 1]) < 0.5


@pytest.mark.parametrize("name", ["rouge_l.stem", "bleu.char", "bleu.word", "meteor.nltk39"])
def test_texts_that_are_not_similar_to_themselves(name):
    texts = [*STRANGE, "!?", "K a\x1fb c"]
    lost = int((np.diag(kernel(name, texts, ready(name, texts))) == 0).sum())
    number, message = unread(name, texts)
    assert number == lost > 0
    assert f"{lost} of {len(texts)} texts" in message


def test_the_learning_curve_rises_to_what_all_ratings_give(rated, found):
    steps: list[tuple[int, int]] = []
    curve = learning_curve(rated, found, QUICK, lambda *step: steps.append(step[:2]))
    assert curve["ratings"].tolist() == [25, 50, 90]
    assert curve["pearson"].is_monotonic_increasing
    assert steps == sorted(steps)
    assert {number for _, number in steps} == {len(steps)}
    assert curve["pearson"].iloc[-1] == found.draws["systems", "ridge", ""]["pearson"][0]
    assert (curve["pearson_low"] < curve["pearson_high"]).all()
    # a system that wrote nearly all leaves too few for a point
    most = CvSplit("systems", np.where(np.arange(120) < 110, 0, np.arange(120) % 3))
    assert len(learning_curve(rated, replace(found, splits={"systems": [most]}), QUICK)) == 1


def test_a_point_of_the_learning_curve_varies_with_its_training_texts():
    """Of all of them, as everywhere; of some, as its parts differ."""
    generator = np.random.default_rng(0)
    draws = 0.3 + generator.normal(0, 0.02, 4000)
    for parts, deviation in ((4, 0.02 * (1 + 1 / 0.8) ** 0.5), (MOST_SUBSETS, 0.02)):
        r = np.tile(np.append(0.3, draws), (parts, 1))  # parts that do not differ
        assert _curve_point(r, 50, 0.2, 0)[1:].std() == pytest.approx(deviation, rel=0.05)
    apart = generator.normal(0, 0.1, MOST_SUBSETS)
    point = _curve_point(r + (apart - apart.mean())[:, None], 50, 0.2, 0)
    half = stats.t.ppf(0.975, MOST_SUBSETS - 1) * stats.sem(apart)
    assert np.ptp(interval(point[1:])) / 2 == pytest.approx(np.hypot(half, 1.96 * 0.02), rel=0.1)
    assert point[0] == pytest.approx(0.3)


def of(quality: np.ndarray, system: np.ndarray) -> Rated:
    """Texts each of which is drawn by itself."""
    n = len(quality)
    return Rated([f"text {k}" for k in range(n)], quality, np.arange(n), system)


def invented(seed: int, n: int = 60) -> tuple[Rated, CvSplit, np.ndarray]:
    """Estimates, of which some are missing and some tie, of 5 systems in 4 folds."""
    generator = np.random.default_rng(seed)
    quality = np.round(generator.random(n), 1)
    estimate = np.round(quality + generator.normal(0, 0.4, n), 1)
    estimate[generator.random(n) < 0.2] = np.nan
    rated, split = of(quality, generator.integers(0, 5, n)), CvSplit("texts", np.arange(n) % 4)
    return rated, split, estimate


def filled_in(estimate: np.ndarray, quality: np.ndarray, fold: np.ndarray) -> np.ndarray:
    mean = np.array([quality[fold != k].mean() for k in range(fold.max() + 1)])
    return np.where(np.isnan(estimate), mean[fold], estimate)


@pytest.mark.parametrize("seed", range(4))
def test_a_draw_is_texts_that_are_copied(seed):
    rated, split, found = invented(seed)
    filled = filled_in(found, rated.quality, split.fold)
    x, y = (centred(values, split.fold) for values in (filled, rated.quality))
    unit = np.random.default_rng(seed).permutation(np.arange(60) % 12)
    drawn = np.random.default_rng(seed).integers(1, 3, (5, 12))
    for weights, value in zip(drawn, pearson_within(x, y, unit, split.fold)(drawn), strict=True):
        rows = np.repeat(np.arange(60), weights[unit])
        left = [centred(values[rows], split.fold[rows]) for values in (x, y)]
        assert value == pytest.approx(stats.pearsonr(*left).statistic, abs=1e-9)


def test_the_first_number_is_that_of_the_texts():
    rated, split, found = invented(7)
    ours = measure(found, rated, split, draws=50, seed=1)
    assert ours["pearson"].shape == ours["spearman"].shape == (51,)
    filled = filled_in(found, rated.quality, split.fold)
    x, y = (centred(values, split.fold) for values in (filled, rated.quality))
    there = ~np.isnan(found)
    left = [centred(values[there], split.fold[there]) for values in (found, rated.quality)]
    expected = {
        "pearson": stats.pearsonr(x, y).statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "mse": ((filled - rated.quality) ** 2).mean(),
        "coverage": (~np.isnan(found)).mean(),
        "pearson_covered": stats.pearsonr(*left).statistic,
    }
    assert {name: ours[name][0] for name in expected} == pytest.approx(expected)


def test_what_only_knows_the_training_mean_goes_with_nothing():
    """It falls as the ratings of a left-out system rise; neither that nor its reverse counts."""
    generator = np.random.default_rng(0)
    system = np.repeat(np.arange(5), 200)
    quality = np.clip(0.2 * system + generator.normal(0, 0.1, 1000), 0, 1)
    mean = np.array([quality[system != k].mean() for k in range(5)])[system]
    rated, split = of(quality, system), CvSplit("systems", system)
    for sign in (-1, 1):
        estimate = sign * mean + generator.normal(0, 1e-3, 1000)
        assert abs(np.corrcoef(estimate, quality)[0, 1]) > 0.9
        ours = measure(estimate, rated, split, 100, 0)
        assert ours["pearson"][0] == pytest.approx(0, abs=0.1)
        assert ours["spearman"][0] == pytest.approx(0, abs=0.1)
        assert "pairwise_accuracy" not in ours


def test_ranks_of_small_folds_and_few_different_texts_have_no_interval():
    rated, split, found = invented(1)
    ours = measure(found, rated, CvSplit("texts", np.arange(60) % 20), 10, 0)
    assert [len(ours[name]) for name in ("spearman", "pearson")] == [1, 11]
    for different in (FEWEST_TEXTS - 1, FEWEST_TEXTS):
        few = replace(rated, text_id=np.arange(60) % different)
        ours = measure(found, few, split, 10, 0)
        assert len(ours["pearson"]) == (11 if different == FEWEST_TEXTS else 1)
        assert np.isfinite(ours["pearson"]).all()


def test_the_mean_over_repeats():
    """A correlation of what ranks nothing is 0 there."""
    nan = float("nan")
    parts = [
        {"pearson": np.array([0.4, nan, nan, 0.2]), "mse": np.array([1.0])},
        {"pearson": np.array([0.2, 0.6, nan, nan]), "mse": np.array([nan])},
    ]
    found = averaged(parts)
    np.testing.assert_allclose(found["pearson"], [0.3, 0.3, nan, 0.1])
    np.testing.assert_allclose(found["mse"], [1.0])


def test_what_is_resampled(rated):
    assert rated.resampling_units.number == 30
    # a text of two contexts is resampled beside both
    twice = replace(rated, text_id=np.append(rated.text_id[1], rated.text_id[1:]))
    assert np.flatnonzero(twice.resampling_units.crossed >= 0).tolist() == [0, 1]
    # all that a system says stays with it
    constant = np.where(rated.system == 0, 7, rated.text_id)
    assert replace(rated, text_id=constant).resampling_units.crossed is None


@pytest.fixture(scope="module")
def found(rated: Rated) -> Comparison:
    return compare(rated, QUICK)


def test_the_best_method_is_tested_against_the_best_text_blind_one(found):
    for split, name in (("systems", "pearson_by_system"), ("texts", "pearson")):
        decision = decide_split(found, split)
        table = found.table[found.table["split"] == split].set_index("method")
        tried = table[table.index.map(is_candidate)][name].dropna()
        assert (decision.method, decision.methods) == (tried.idxmax(), len(tried))
        assert decision.corrected_p == pytest.approx(min(1, len(tried) * decision.p))
        blind = table[table.index.map(is_text_blind)][name].dropna()
        assert decision.text_blind_method == blind.idxmax()
        assert decision.text_blind_r.value == pytest.approx(blind.max())
        assert decision.lead.value == pytest.approx(decision.r.value - blind.max())
    assert decision.shown
    lines = answer(found)
    verdicts = [line for line in lines if line.startswith(("systems", "contexts", "texts"))]
    assert [line.split()[0] for line in verdicts[:3]] == ["systems", "contexts", "texts"]
    assert f" {decision.r.value:.2f} ({decision.r.low:.2f}, {decision.r.high:.2f})" in verdicts[2]
    assert lines[lines.index(verdicts[2]) + 1].endswith(": shown")
    assert any(line.startswith("score_judge ") for line in lines)
    rest = replace(found, table=found.table[found.table["split"] != "systems"])
    assert not decide_split(rest, "systems").shown
    few = replace(found, table=found.table.assign(coverage=0.4))
    assert decide_split(few, "systems").why_not == NO_METHOD
    assert ": shown" not in " ".join(answer(few))


def test_chance_is_not_shown(rated):
    shuffled = np.random.default_rng(0).permutation(rated.quality)
    made = compare(replace(rated, quality=shuffled, scores={}), QUICK)
    assert not any(decision.shown for decision in decided(made).splits)
    assert answer(made)[3].endswith("not shown")
    assert "rate more" in next_step(decided(made), Source(["rated.tsv"], (1, 5)))


def test_what_covers_few_texts_is_no_yardstick(found):
    """A look-up that has an estimate for a handful of texts."""
    row = ("systems", "lookup", "")
    draws = {**found.draws["systems", "length", ""], "pearson_by_system": np.array([0.99])}
    for share in (0.01, 0.5):
        own = {**found.draws, row: {**draws, "coverage": np.array([share])}}
        assert (strongest("systems", own) == row) == (share == 0.5)


def test_p_of_draws():
    gap = np.concatenate([[0.3], np.linspace(-0.1, 0.7, 999)])
    share = (gap[1:] <= 0).sum()
    assert p_value(gap) == pytest.approx(2 * (share + 1) / 1000)
    far = np.concatenate([[1.0], 1 + 0.1 * np.random.default_rng(0).normal(size=99)])
    assert p_value(far) == p_value(np.tile(far, 300)) == 1e-4  # however many draws
    few = p_value(far, freedom=3)  # heavier tails
    low, high = np.quantile(far[1:], [0.025, 0.975])
    assert few == pytest.approx(2 * stats.t.sf(2 * stats.t.ppf(0.975, 3) / (high - low), 3))
    assert np.isnan(p_value(np.array([0.3])))


def test_new_systems_have_the_mean_of_their_own_r(rated, found):
    """With the t interval of their number."""
    table = found.table[found.table["split"] == "systems"].set_index("method")
    split, values = found.splits["systems"][0], found.predictions
    values = values[values["split"] == "systems"]
    own = [np.corrcoef(part["ridge"], part["quality"])[0, 1] for _, part in values.groupby("fold")]
    row = table.loc["ridge"]
    assert (row["pearson_by_system"], row["systems"]) == (pytest.approx(np.mean(own)), split.folds)
    low, high = stats.t.interval(0.95, 3, np.mean(own), stats.sem(own))
    # wider than over systems alone: these share training texts
    assert row["pearson_by_system_low"] < low < high < row["pearson_by_system_high"]
    judge = [
        np.corrcoef(rated.scores["score_judge"][part["row"] - 1], part["quality"])[0, 1]
        for _, part in values.groupby("fold")
    ]
    row = table.loc["score_judge"]
    low, high = stats.t.interval(0.95, 3, np.mean(judge), stats.sem(judge))
    assert row["pearson_by_system_low"] == pytest.approx(low, abs=(high - low) / 5)
    assert row["pearson_by_system_high"] == pytest.approx(high, abs=(high - low) / 5)
    assert np.isnan(table.loc["constant", "pearson_by_system"])


def test_few_systems_say_nothing_of_new_ones(tmp_path):
    columns = {"context": False, "references": False, "score_judge": False}
    rows = [row for row in made_up.rows(**columns) if row["system"] != "dog"]
    few = made_up.read_rated([made_up.write(tmp_path / "rated.jsonl", rows)], [1, 5])
    of_three = compare(few, QUICK)
    table = of_three.table[of_three.table["split"] == "systems"]
    assert table[["pearson_by_system_low", "p"]].isna().all(axis=None)
    assert decide_split(of_three, "systems").why_not == FEW_SYSTEMS
    assert "too few systems" in answer(of_three)[3]


def test_few_contexts_say_nothing_of_new_ones(rated):
    few = rated.context_group % 9
    part = replace(rated, context=few, context_group=few, references=None)
    made = compare(part, replace(QUICK, kernels={}))
    decision = decide_split(made, "contexts")
    assert np.isnan(decision.p)
    assert decision.why_not == FEW_CONTEXTS
    assert np.isfinite(decision.lead.low)  # of these contexts
    assert "too few contexts" in " ".join(answer(made))
    assert np.isfinite(decide_split(made, "texts").p)


def test_ratings_saved_hang_on_the_number_of_unrated_texts(rated):
    made = compare(rated, replace(QUICK, kernels={}, unrated=360)).table.set_index(
        ["split", "method"]
    )
    row = made.loc["texts", "ridge"]
    assert row["ratings_saved_limit"] == pytest.approx(row["pearson"] ** 2)
    assert row["ratings_saved"] == pytest.approx(row["pearson"] ** 2 * 360 / 480)


def test_warnings(rated, found):
    few = replace(rated, context_group=rated.context_group % 5)
    assert "5 contexts" in " ".join(warnings(few, found))
    texts = [f"слово {'текст ' * i}" for i in range(len(rated))]
    other = replace(rated, texts=texts, prompts=None, context=None, context_group=None)
    kernels = "rouge_l.stem", "rouge_l.plain"
    made = compare(other, replace(QUICK, kernels={kernel: {} for kernel in kernels}))
    assert set(kernels) == set(made.table["kernel"][made.table["reason"].str.contains("reads")])
    *unread_ones, context = warnings(other, made)
    empty = " ".join(unread_ones)
    assert all(f"{kernel} reads 120 of 120" in empty for kernel in kernels)
    assert "context" in context


def test_a_guessed_scale_and_raters_are_said(rated, found):
    """With what lies at its ends, and with the ceiling of r."""
    quality = np.append(np.linspace(0, 1, 119) ** 2 * 0.015, 1)
    raters = Raters(112, 3.0, 200, IntervalEstimate(0.4, 0.3, 0.5), IntervalEstimate(0.64), 0.25)
    own = replace(rated, scale=(14.3, 5656), guessed=True, quality=quality, raters=raters)
    _, people = about(own)
    assert "0.40 (0.30, 0.50), of the mean 0.64" in people
    many = Raters(1234, 3.55, 200, *[IntervalEstimate(-0.4, -0.5, -0.3)] * 2, 0.25)
    assert max(map(len, about(replace(own, raters=many)))) <= WIDTH
    scale, between, *_ = warnings(own, found)
    assert "14.3 to 5,656 (99% of ratings lie below 9" in scale
    assert "--center-raters" in between
