"""Estimates of unseen texts: equal to an independent implementation, and blind to their ratings."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from refless.compare import curve
from refless.compare.compared import Settings, _makers, _shared_sums, compare
from refless.compare.files import rounded
from refless.compare.predicted import (
    MAX_SHARE,
    MIN_NEIGHBORS,
    PLACES,
    TAUS,
    SpeltLookup,
    calibrated_score,
    filled_in,
    fold_sums,
    neighbors,
    raw_score,
    training_means,
)
from refless.compare.rated import Rated
from refless.compare.splits import Split, all_splits
from refless.errors import FormatError
from refless.kernels import kernel

NAMES = ("texts", "systems", "contexts")


@pytest.fixture(params=NAMES)
def split(rated: Rated, request: pytest.FixtureRequest) -> Split:
    return next(s for s in all_splits(rated)[0] if s.name == request.param)


def guess(matrix: np.ndarray, quality: np.ndarray, row: int, train: list[int], tau: float, a: int):
    """One estimate, the plain way; None where there is too little evidence."""
    near = [quality[s] for s in train if matrix[row, s] >= tau]
    if a <= len(near) <= MAX_SHARE * len(train) + 1e-9:
        return float(np.mean(near))
    return None


def nested(rated: Rated, fold: np.ndarray, used: np.ndarray) -> np.ndarray:
    """BLEU Neighbors with nested thresholds: loops over everything."""
    matrix = kernel("bleu.char", rated.texts, rated.texts)
    quality, folds = rated.quality, sorted(set(fold[fold >= 0]))
    out = np.full(len(fold), np.nan)
    for k in folds:
        part = [i for i in range(len(fold)) if used[i] and fold[i] not in (k, -1)]
        best, chosen = np.inf, None
        for a, tau in itertools.product(MIN_NEIGHBORS, TAUS):
            errors = []
            for i in part:
                train = [s for s in part if fold[s] != fold[i]]
                value = guess(matrix, quality, i, train, tau, a)
                value = np.mean(quality[train]) if value is None else value
                errors.append((value - quality[i]) ** 2)
            if np.round(np.mean(errors), 12) < best:
                best, chosen = np.round(np.mean(errors), 12), (tau, a)
        assert chosen is not None
        for i in np.flatnonzero(fold == k):
            value = guess(matrix, quality, i, part, *chosen)
            out[i] = np.nan if value is None else value
    return out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("whole", [True, False])
def test_nested_neighbors_equal_plain_loops(rated: Rated, name: str, whole: bool) -> None:
    few = replace(
        rated,
        texts=rated.texts[:40],
        quality=rated.quality[:40],
        wording=rated.wording[:40],
        systems=(rated.systems or [])[:40],
        context=None if rated.context is None else rated.context[:40] % 9,
        references=None,
        scores={},
    )
    own = next(s for s in all_splits(few)[0] if s.name == name)
    used = np.ones(40, bool) if whole else np.arange(40) % 3 > 0
    expected = nested(few, own.fold, used)
    (sums,) = fold_sums("bleu.char", few.texts, few.quality, [own.fold], used)
    found = neighbors("bleu.char", few, own, sums, None if whole else used)
    np.testing.assert_allclose(found.estimate, expected, atol=1e-12)
    assert (~np.isnan(found.estimate)).sum() > 5


def test_a_wide_scale_changes_no_threshold(rated: Rated) -> None:
    split = all_splits(rated)[0][0]
    used = np.ones(len(rated), bool)
    narrow = replace(rated, quality=0.5 + 1e-6 * rated.quality)
    found = []
    for own in (rated, narrow):
        (sums,) = fold_sums("rouge_l.stem", own.texts, own.quality, [split.fold], used)
        found.append(neighbors("rouge_l.stem", own, split, sums))
    assert found[0].chosen == found[1].chosen
    np.testing.assert_allclose(0.5 + 1e-6 * found[0].estimate, found[1].estimate, atol=1e-11)


def test_an_abstention_ties_with_a_mean_of_neighbors() -> None:
    """Both are the mean of the same ratings, added up in another order."""
    quality = np.tile([0.1, 0.2, 0.3, 0.7, 0.7, 0.9, 1.0], 6)
    fold = np.arange(42) % 3
    mean = np.round(training_means(quality, fold), 12)
    estimate = np.where(np.arange(42) % 2, mean[fold], np.nan)
    found = filled_in("neighbors", "", estimate, quality, fold)
    assert found.filled is not None
    np.testing.assert_array_equal(found.filled, mean[fold])


def test_splits_that_are_counted_together_have_the_sums_of_each_alone(rated: Rated) -> None:
    folds = [split.fold for split in all_splits(rated)[0]]
    folds[-1] = np.where(np.arange(len(rated)) % 7 == 0, -1, folds[-1])
    used = np.arange(len(rated)) % 5 > 0
    told = "bleu.word", rated.texts, rated.quality
    together = fold_sums(*told, folds, used)
    for fold, (counts, sums) in zip(folds, together, strict=True):
        ((own_counts, own_sums),) = fold_sums(*told, [fold], used)
        np.testing.assert_array_equal(counts, own_counts)
        np.testing.assert_allclose(sums, own_sums, atol=1e-12)


def methods(rated: Rated, split: Split) -> dict[str, Callable[[], object]]:
    settings = Settings(kernels=("bleu.char",))
    made = _makers(rated, split, settings, _shared_sums(rated, [split], settings))
    return {" ".join(key).strip(): make for key, make in made.items() if callable(make)}


def test_no_method_sees_the_ratings_of_the_texts_that_it_is_asked_about(
    rated: Rated, split: Split
) -> None:
    """Other ratings in one fold change no estimate in that fold, and do change others."""
    rows = split.fold == 1
    quality = rated.quality.copy()
    quality[rows] = np.random.default_rng(5).permutation(quality[rows]) ** 2
    other = replace(rated, quality=quality)
    before, after = (methods(r, split) for r in (rated, other))
    assert {"ridge", "neighbors bleu.char", "judge.calibrated", "bleu"} <= set(before)
    for name in before:
        first, second = before[name](), after[name]()
        for what in ("estimate", "ranked"):
            one, two = getattr(first, what)[rows], getattr(second, what)[rows]
            np.testing.assert_allclose(one, two, atol=1e-11, err_msg=f"{name} {what}")
        covered = ~np.isnan(first.estimate)  # type: ignore[attr-defined]
        if name not in ("judge", "middle") and (covered & ~rows).sum() > 30:
            changed = np.abs(first.estimate - second.estimate)  # type: ignore[attr-defined]
            assert np.nanmax(changed[~rows]) > 1e-4, name


def test_the_training_mean_stands_in(rated: Rated) -> None:
    split = all_splits(rated)[0][0]
    every = np.ones(len(rated), bool)
    (sums,) = fold_sums("bleu.word", rated.texts, rated.quality, [split.fold], every)
    found = neighbors("bleu.word", rated, split, sums)
    lost = np.isnan(found.estimate)
    assert lost.any()
    assert found.filled is not None
    mean = training_means(rated.quality, split.fold)[split.fold]
    np.testing.assert_allclose(found.filled[lost], mean[lost])


def test_a_calibrated_score_is_a_line_fitted_on_the_other_folds(rated: Rated) -> None:
    split = all_splits(rated)[0][0]
    found = calibrated_score("judge", rated, split)
    score = rated.scores["judge"]
    for k in range(split.folds):
        train, asked = split.fold != k, split.fold == k
        slope, intercept = np.polyfit(score[train], rated.quality[train], 1)
        np.testing.assert_allclose(found.estimate[asked], intercept + slope * score[asked])


def test_a_raw_score_is_on_the_ratings_scale_or_has_no_error(rated: Rated) -> None:
    split = all_splits(rated)[0][0]
    assert raw_score("judge", rated, split).filled is None  # some lie below 1
    scores = {"judge": np.clip(rated.scores["judge"], 1, 5)}
    found = raw_score("judge", replace(rated, scores=scores), split)
    assert found.filled is not None
    np.testing.assert_allclose(found.filled, (scores["judge"] - 1) / 4)


def test_a_missing_score_is_an_abstention(rated: Rated) -> None:
    split = all_splits(rated)[0][0]
    score = rated.scores["judge"].copy()
    score[:10] = np.nan
    for make in (raw_score, calibrated_score):
        found = make("judge", replace(rated, scores={"judge": score}), split)
        assert np.isnan(found.estimate).tolist() == [True] * 10 + [False] * 110
        assert not np.isnan(found.ranked).any()


def test_a_score_with_the_name_of_a_method_keeps_its_column_name(rated: Rated) -> None:
    split = all_splits(rated)[0][0]
    named = replace(rated, scores={"length": rated.scores["judge"]})
    assert raw_score("length", named, split).method == "score_length"


def test_a_score_that_no_training_text_has_is_replaced_by_its_mean(rated: Rated) -> None:
    split = {own.name: own for own in all_splits(rated)[0]}["systems"]
    score = np.where(split.fold == 0, 100 + rated.scores["judge"], np.nan)
    score[np.flatnonzero(split.fold == 0)[:3]] = np.nan
    found = raw_score("judge", replace(rated, scores={"judge": score}), split)
    np.testing.assert_allclose(found.ranked[np.isnan(score)], np.nanmean(score))


def test_a_score_with_the_name_of_a_column_of_the_predictions_takes_none(rated: Rated) -> None:
    scores = dict.fromkeys(PLACES, rated.scores["judge"])
    few = Settings(("bleu.word",), draws=100, deals=1, curve=False)
    found = compare(replace(rated, scores=scores), few).predictions
    assert set(found["quality"]) == set(rated.quality)
    assert {f"score_{name}" for name in PLACES} <= set(found)


def test_a_score_with_the_name_of_neighbors_and_their_kernel_is_refused(rated: Rated) -> None:
    scores = {"neighbors (bleu.word)": rated.scores["judge"]}
    few = Settings(("bleu.word",), draws=100, deals=1, curve=False)
    with pytest.raises(FormatError, match="another method") as caught:
        compare(replace(rated, scores=scores), few)
    assert "another name" in caught.value.remedy


@pytest.mark.parametrize("sizes", [[30, 30, 30, 30], [60, 40, 20], [60, 30, 29, 1]])
def test_a_point_of_the_curve_has_its_number_of_ratings_in_each_fold(sizes: list[int]) -> None:
    fold = np.repeat(np.arange(len(sizes)), sizes)
    split = Split("systems", fold, fold, 0)
    for size in curve.sizes(split):
        used = curve.subset(split, size, np.random.default_rng(0))
        parts = [int((used & (fold != k)).sum()) for k in range(split.folds)]
        assert max(abs(part - size) for part in parts) <= 1
    assert curve.sizes(split) == ([] if 1 in sizes else [25] if 20 in sizes else [25, 50])


def test_systems_that_differ_much_in_size_have_no_mean_training_part() -> None:
    uneven, even = (
        Split("systems", fold, fold, 0)
        for fold in (np.repeat(np.arange(3), own) for own in ([170, 10, 10], [35, 30, 25]))
    )
    assert curve.even([even, even])
    assert not curve.even([even, uneven])  # in any deal


def test_digits_of_tiny_numbers_are_not_lost() -> None:
    table = pd.DataFrame({"method": ["a", "b"], "mse": [2.345678e-12, 0.25], "pearson": 1e-17})
    found = rounded(table)
    assert found["mse"].tolist() == [2.34568e-12, 0.25]
    assert found["pearson"].tolist() == [0, 0]
    scores = rounded(pd.DataFrame({"one": [1.5e-9, 2.5e-9], "two": [0.3, 1e-17]}), scores=True)
    assert scores["one"].tolist() == [1.5e-9, 2.5e-9]
    assert scores["two"].tolist() == [0.3, 0]


def test_the_look_up_tells_marks_apart_and_knows_other_spellings() -> None:
    found = SpeltLookup().fit(["-5", "5", "so ok."], [0.0, 1.0, 0.25])
    np.testing.assert_allclose(
        found.predict(["5", "-5", "+5", "So ok .", "x"]), [1, 0, 0.5, 0.25, np.nan]
    )
