"""What is left of a score within systems and contexts. Accuracies are those that mt-metrics-eval's
``tau_optimization`` (68a481a) gives for these numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from refless.evaluation import within
from refless.evaluation.decisions import (
    SYSTEM_ALONE,
    Decisions,
    decide_raters,
    decide_scores,
    decide_split,
)
from refless.evaluation.evaluate import Comparison, ComparisonSettings, compare
from refless.evaluation.measures import r_within
from refless.evaluation.pairs import pair_table
from refless.evaluation.read import CvSplit, Rated, rated_of
from refless.evaluation.replacement import YARDSTICKS, replacement_table
from refless.evaluation.sentences import interval_words, system_sentences
from refless.evaluation.within import (
    WITHIN_COLUMNS,
    accuracy_within_contexts,
    calibrated_accuracy,
    text_pairs,
    within_table,
)
from refless.statistics.bootstrap import IntervalEstimate

NAN = float("nan")
RATINGS = [[1, 2, 2, 3, 5], [4, 4, 4, 1, 2], [3, 3, 2, 5, 1], [2, 5, 4, 4, 4]]
SCORES = [
    [0.10, 0.42, 0.37, 0.55, 0.91],
    [0.62, 0.81, 0.70, 0.22, 0.35],
    [0.50, 0.44, 0.48, 0.77, 0.41],
    [0.33, 0.85, 0.60, 0.58, 0.71],
]
WITH_GAPS = [
    [0.10, 0.42, NAN, NAN, 0.91],
    [0.62, 0.81, NAN, NAN, NAN],
    [0.50, NAN, NAN, NAN, NAN],
    [0.33, 0.85, 0.60, 0.58, 0.71],
]
OFTEN_TIED = [[3, 3, 2, 1, 1], [2, 2, 1, 1, 3], [1, 1, 2, 2, 3], [3, 2, 2, 1, 1]]
K = np.arange(180)
WAVES = np.round(2 * np.sin(K * K))
NEAR_WAVES = (np.cos(K * 1.7) + 0.7 * WAVES).round(3)


def flat(score, quality, size):
    score, quality = (np.array(values, float).ravel() for values in (score, quality))
    return score, quality, np.arange(len(score)) // size


@pytest.mark.parametrize(
    ("score", "quality", "size", "accuracy", "tie"),
    [
        (SCORES, RATINGS, 5, 0.825, 0.11),
        (WITH_GAPS, RATINGS, 5, 0.9666666666666667, 0.19),
        (OFTEN_TIED, RATINGS, 5, 0.25, 0.0),
        ([0.1, 0.2, 0.3, 0.5, 0.9, 0.8, 0.85, 0.1], [1, 2, 3, 4, 4, 3, 2, 1], 4, 11 / 12, 0.0),
        (NEAR_WAVES, WAVES, 6, 0.66, 0.028),
    ],
)
def test_accuracy_is_that_of_mt_metrics_eval(score, quality, size, accuracy, tie):
    best = calibrated_accuracy(text_pairs(*flat(score, quality, size)))
    assert best.accuracy == pytest.approx(accuracy, abs=1e-12)
    assert best.tie == pytest.approx(tie, abs=1e-12)


def test_the_order_of_texts_does_not_matter():
    score, quality, context = flat(SCORES, RATINGS, 5)
    order = np.random.default_rng(0).permutation(20)
    shuffled = calibrated_accuracy(text_pairs(score[order], quality[order], 7 + context[order]))
    assert shuffled.accuracy == pytest.approx(0.825)


def test_a_draw_of_all_contexts_is_the_estimate():
    """With every context alike, each draw has the same pairs."""
    score, quality, _ = flat(SCORES, RATINGS, 5)
    context = np.repeat(np.arange(12), 20)
    estimate = accuracy_within_contexts(np.tile(score, 12), np.tile(quality, 12), context, 50, 0)
    alone = calibrated_accuracy(text_pairs(score, quality, np.zeros(20, int)))
    ends = estimate.value, estimate.low, estimate.high
    assert ends == pytest.approx((alone.accuracy,) * 3)


def test_pairs_of_a_large_context_are_drawn(monkeypatch):
    generator = np.random.default_rng(1)
    quality = generator.normal(size=300)
    score = quality + generator.normal(size=300)
    every = calibrated_accuracy(text_pairs(score, quality, np.zeros(300, int)))
    monkeypatch.setattr(within, "MOST_PAIRS", 4000)
    pairs = text_pairs(score, quality, np.zeros(300, int))
    assert len(pairs.context) == 4000
    assert (pairs.distance > 0).all()
    assert calibrated_accuracy(pairs).accuracy == pytest.approx(every.accuracy, abs=0.03)


@pytest.mark.parametrize("score", [[NAN] * 4, [1.0, NAN, 2.0, NAN]])
def test_nothing_to_compare(score):
    """No text has a score, or each context has one that has."""
    score, context = np.array(score), np.array([0, 0, 1, 1])
    assert np.isnan(calibrated_accuracy(text_pairs(score, np.arange(4.0), context)).accuracy)
    estimate = accuracy_within_contexts(score, np.arange(4.0), context, 20, 0)
    assert np.isnan([estimate.value, estimate.low, estimate.high]).all()


def few_texts_of_many_systems(seed: int, systems: int = 60, each: int = 5) -> Rated:
    """Texts in no context, and two scores: what a system is worth, and what a text is worth."""
    generator = np.random.default_rng(seed)
    system = np.repeat(np.arange(systems), each)
    level = generator.normal(size=systems)[system]
    quality = level + generator.normal(size=len(system))
    words = [*map("".join, generator.choice(list("aeioubdgklmnprst"), (40, 4)))]
    texts = pd.DataFrame(
        {
            "text": [" ".join(generator.choice(words, 9)) for _ in system],
            "system": [f"s{number}" for number in system],
            "quality": (quality - quality.min()) / np.ptp(quality),
            "score_system": level + 0.01 * generator.normal(size=len(system)),
            "score_text": quality + generator.normal(size=len(system)),
        }
    )
    rated = rated_of(texts, (1.0, 5.0))
    of_rater = [
        pd.DataFrame(
            {
                "text": np.arange(len(rated)),
                "rater": f"r{rater}",
                "quality": rated.to_user_scale(rated.quality) + generator.normal(size=len(rated)),
            }
        )
        for rater in range(4)
    ]
    return replace(rated, ratings=pd.concat(of_rater, ignore_index=True))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """Each context has texts of each second system."""
    rated = few_texts_of_many_systems(seed=3)
    rated = replace(rated, context=np.tile(np.arange(30), 10))
    return compare(rated, ComparisonSettings({}, draws=1000, repeats=2))


def test_a_score_that_knows_its_system_alone_is_not_shown(comparison):
    """It predicts better than the mean of a system that has few texts."""
    rated = comparison.rated
    decided = {
        score.decision.method: score.decision
        for score in decide_scores(comparison, pair_table(rated, comparison))
    }
    alone, reads = decided["score_system"], decided["score_text"]
    assert alone.corrected_p < 0.05
    assert alone.r.low > 0.3
    assert (alone.shown, alone.why_not) == (False, SYSTEM_ALONE)
    assert reads.shown
    # one text a system: nobody can tell the two apart, and it is not asked
    single = rated_of(
        pd.DataFrame(
            {"text": rated.texts, "quality": rated.quality, "system": range(len(rated))}
            | {"score_text": rated.scores["score_text"]}
        )
    )
    found = compare(single, ComparisonSettings({}, draws=400, repeats=1))
    assert decide_split(found, "texts").within_systems is None
    assert decide_split(found, "texts").shown


def test_a_score_that_knows_its_system_alone_may_not_replace_a_rater(comparison):
    table, reason = replacement_table(comparison.rated, comparison)
    assert not reason
    # whatever else is asked for is so
    passing = table.assign(passes=~table["method"].isin(YARDSTICKS), ahead=True)
    candidates = {each.method: each for each in decide_raters(passing, "").candidates}
    assert candidates["score_system"].why_not == SYSTEM_ALONE
    assert candidates["score_text"].may_replace


def test_the_table_has_what_decides_and_the_sentence_names_it(comparison):
    table = within_table(comparison)
    assert [*table] == WITHIN_COLUMNS
    rows = table[table["split"] == "texts"].set_index("method")
    alone, reads = rows.loc["score_system"], rows.loc["score_text"]
    assert alone["r_within_systems_low"] < 0 < reads["r_within_systems_low"]
    assert np.isnan(rows.loc["constant", "r_within_systems"])
    # to know systems is to rank the texts of a context
    assert alone["r_within_contexts_low"] > 0.3
    assert alone["accuracy_within_contexts_low"] > 0.5
    pairs = pair_table(comparison.rated, comparison)
    decided = Decisions(
        [decide_split(comparison, "texts")], scores=decide_scores(comparison, pairs)
    )
    (line,) = system_sentences(decided)
    ends = alone["r_within_systems_low"], alone["r_within_systems_high"]
    assert line.startswith("score_system")
    assert line.endswith(interval_words(IntervalEstimate(alone["r_within_systems"], *ends)))


def rated_in(system: np.ndarray, quality: np.ndarray) -> Rated:
    n = len(quality)
    return Rated(["a text"] * n, quality, np.arange(n), system=system)


@pytest.mark.parametrize("is_score", [True, False])
def test_r_within_groups_is_r_of_what_the_means_leave(is_score):
    """Of a score those of systems, of estimates those of a system's texts in a fold."""
    generator = np.random.default_rng(2)
    system = np.append(generator.integers(0, 5, 60), 5)  # the last system has one text
    score, quality = generator.normal(size=(2, 61)) + system
    score[60], score[59] = 1e6, NAN
    split = CvSplit("texts", np.arange(61) % 2)
    (r,) = r_within(score, rated_in(system, quality), split, score if is_score else None).values()
    group = system if is_score else 2 * system + split.fold
    left = []
    for values in (score, quality):
        means = [values[:59][group[:59] == k].mean() for k in group[:59]]
        left.append(values[:59] - means)
    assert r(np.ones((1, 61))) == pytest.approx(np.corrcoef(*left)[0, 1])
