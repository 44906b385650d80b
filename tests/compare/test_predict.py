"""Estimates of unseen texts: equal to an independent implementation, and blind to their ratings."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from refless.compare import predict
from refless.compare.curve import learning_curve
from refless.compare.read import Rated
from refless.compare.readable import unread
from refless.compare.splits import Split, all_splits
from refless.kernels import kernel


def guess(
    matrix: np.ndarray, quality: np.ndarray, row: int, train: list[int], tau: float, a: int
) -> float | None:
    """One estimate, the plain way; None where there is too little evidence."""
    near = [quality[s] for s in train if matrix[row, s] >= tau]
    return float(np.mean(near)) if a <= len(near) <= predict.MAX_SHARE * len(train) + 1e-9 else None


def nested(rated: Rated, fold: np.ndarray) -> np.ndarray:
    """BLEU Neighbors with nested thresholds: loops over everything."""
    matrix = kernel("bleu.char", rated.texts, rated.texts)
    quality, out = rated.quality, np.full(len(fold), np.nan)
    for k in sorted(set(fold)):
        part = [i for i in range(len(fold)) if fold[i] != k]
        best, chosen = np.inf, None
        for a, tau in itertools.product(predict.MIN_NEIGHBORS, predict.TAUS):
            errors = []
            for i in part:
                train = [s for s in part if fold[s] != fold[i]]
                value = guess(matrix, quality, i, train, tau, a)
                errors.append((np.mean(quality[train]) if value is None else value) - quality[i])
            if (error := np.round(np.mean(np.square(errors)), 12)) < best:
                best, chosen = error, (tau, a)
        for i in np.flatnonzero(fold == k):
            value = guess(matrix, quality, i, part, *chosen)
            out[i] = np.nan if value is None else value
    return out


@pytest.mark.parametrize("name", ["texts", "systems"])
def test_nested_neighbors_equal_plain_loops(rated, name):
    few = Rated(rated.texts[:40], rated.quality[:40], rated.same[:40], rated.system[:40])
    own = next(split for split in all_splits(few) if split.name == name)
    found = predict.estimates((predict.NEIGHBORS, "bleu.char"), few, [own], {})[0].own
    np.testing.assert_allclose(found, nested(few, own.fold), atol=1e-12)
    assert (~np.isnan(found)).sum() > 5


@pytest.mark.parametrize("number", range(3))
def test_no_method_sees_the_ratings_of_the_texts_that_it_is_asked_about(rated, number):
    """Other ratings in one fold change no estimate in that fold, and do change others."""
    split = all_splits(rated)[number]
    rows = split.fold == 1
    quality = rated.quality.copy()
    quality[rows] = np.random.default_rng(5).permutation(quality[rows]) ** 2
    judge = rated.scores["score_judge"]
    given = replace(rated, scores={"score_judge": judge, "score_other": np.sin(judge)})
    tried = predict.keys(given, ["bleu.char"], False)
    tried = [key for key in tried if not predict.why_not(key[0], given, split.name)]
    names = {name for name, _ in tried}
    assert {"ridge", "neighbors", "score_judge", "combined", "bleu"} <= names
    for name, kernel_of in tried:
        first, second = (
            predict.estimates((name, kernel_of), own, [split], {})[0]
            for own in (given, replace(given, quality=quality))
        )
        for what in ("own", "filled", "ranked"):
            one, two = getattr(first, what)[rows], getattr(second, what)[rows]
            np.testing.assert_allclose(one, two, atol=1e-11, err_msg=f"{name} {what}")
        covered = ~np.isnan(first.own)
        if name != "middle" and (covered & ~rows).sum() > 30:
            assert np.nanmax(np.abs(first.own - second.own)[~rows]) > 1e-4, name


def test_abstaining_has_the_mean_of_the_training_part_and_ties_with_it():
    quality = np.tile([0.1, 0.2, 0.3, 0.7, 0.7, 0.9, 1.0], 6)
    fold = np.arange(42) % 3
    mean = np.round([quality[fold != k].mean() for k in range(3)], 12)
    estimate = np.where(np.arange(42) % 2, mean[fold], np.nan)
    np.testing.assert_array_equal(predict.filled_in(estimate, quality, fold).filled, mean[fold])


def test_a_score_ranks_as_it_is_and_predicts_on_a_line(rated):
    split, judge = all_splits(rated)[0], rated.scores["score_judge"].copy()
    judge[:10] = np.nan
    found = predict.score("score_judge", replace(rated, scores={"score_judge": judge}), split)
    assert np.isnan(found.own).tolist() == [True] * 10 + [False] * 110
    np.testing.assert_array_equal(found.ranked[10:], judge[10:])
    for k in range(split.folds):
        train, asked = (split.fold != k) & ~np.isnan(judge), split.fold == k
        line = np.polyfit(judge[train], rated.quality[train], 1)
        np.testing.assert_allclose(found.own[asked], np.polyval(line, judge[asked]))
        np.testing.assert_allclose(found.ranked[asked & np.isnan(judge)], judge[train].mean())


def test_scores_together_are_worth_more_than_each(rated):
    generator, split = np.random.default_rng(0), all_splits(rated)[0]
    noise = generator.normal(size=len(rated))
    scores = {"score_a": rated.quality + noise, "score_b": 100 * noise}
    found = predict.combined(replace(rated, scores=scores), split)
    assert np.corrcoef(found.own, rated.quality)[0, 1] > 0.9
    assert abs(np.corrcoef(scores["score_a"], rated.quality)[0, 1]) < 0.5


@pytest.mark.parametrize(
    ("name", "texts", "lost"),
    [
        ("rouge_l.stem", ["всё хорошо", "good", "ดี", "!?", ""], 4),
        ("bleu.char", ["всё хорошо", "good one", "no", "", "ok"], 3),
        ("bleu.word", ["всё очень хорошо здесь", "good"], 1),
    ],
)
def test_texts_that_are_not_similar_to_themselves(name, texts, lost):
    number, said = unread(name, texts * 30)
    assert number == lost * 30
    assert said.startswith(f"{name} reads {number} of {30 * len(texts)} texts")


def test_the_learning_curve_rises_to_what_all_ratings_give(rated):
    split = all_splits(rated)[1]
    found = learning_curve(rated, split, np.array([0.9, 0.8, 1.0]), 50, 0)
    assert found["ratings"].tolist() == [25, 50, 90]
    assert found["pearson"].is_monotonic_increasing
    assert found["pearson"].iloc[-1] == 0.9
    assert (found["pearson_low"] < found["pearson_high"]).all()
    # a system that wrote nearly all leaves too few for a point
    fold = np.where(np.arange(120) < 110, 0, np.arange(120) % 3)
    most = learning_curve(rated, Split("systems", fold), np.array([0.9]), 50, 0)
    assert len(most) == 1
