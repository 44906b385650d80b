"""The human rows: against one annotator and one draw at a time; covered candidates; how far raters
agree."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.statistics import covered_errors, draw_weights, human_rows, interval
from refless.statistics.humans import Annotations, annotator_weights, others_mean
from refless.statistics.reliability import ENOUGH_TEXTS, rater_agreement

NAN = float("nan")
Panel = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def panel(seed: int) -> Panel:
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


def small_panel() -> Panel:
    """Two annotators of 3 of 20 candidates each: many draws miss all of an annotator's."""
    generator = np.random.default_rng(1)
    truth = generator.random(20)
    rating = truth[:6] + generator.normal(0, 0.3, 6)
    return np.arange(6), np.array(["a"] * 3 + ["b"] * 3, dtype=object), rating, truth


def slow_rows(
    *panel: np.ndarray, draws: int, seed: int, weights: np.ndarray
) -> dict[str, tuple[float, float, float]]:
    """One annotator and one draw at a time, ratings copied as often as their candidate is drawn,
    annotators as often as they are.

    ``panel`` are candidate, rater, target of each rating and what is measured.
    """
    names = sorted(set(panel[1]))
    people = annotator_weights(len(names), draws, seed).T
    once = slow_row(*panel, np.ones(weights.shape[1], int), [1] * len(names))
    drawn = [slow_row(*panel, *one) for one in zip(weights, people, strict=True)]
    return {
        name: (value, *interval(np.array([one[name] for one in drawn])))
        for name, value in once.items()
    }


def slow_row(
    candidate: np.ndarray,
    rater: np.ndarray,
    target: np.ndarray,
    given: np.ndarray,
    copies: np.ndarray,
    people: Sequence[int],
) -> dict[str, float]:
    """Of candidates that are copied and annotators that are there so often."""
    errors, rhos = [], []
    for name in np.repeat(sorted(set(rater)), people):
        own = np.flatnonzero(rater == name)
        drawn = np.repeat(own, copies[candidate[own]])
        if len(drawn):
            errors.append(float(np.mean((given[drawn] - target[drawn]) ** 2)))
        flat, never = (
            len(set(given[rows])) < 2 or len(set(target[rows])) < 2 for rows in (drawn, own)
        )
        if never or len(own) < 3:
            rhos.append(0.0)
        elif not flat:
            rhos.append(float(stats.spearmanr(given[drawn], target[drawn]).statistic))
    return {
        "average_mse": float(np.mean(errors)) if errors else NAN,
        "best_mse": min(errors, default=NAN),
        "average_spearman": float(np.mean(rhos)) if rhos else NAN,
        "best_spearman": max(rhos, default=NAN),
    }


def slow_others(candidate: np.ndarray, rater: np.ndarray, rating: np.ndarray) -> np.ndarray:
    found = []
    for i in range(len(rating)):
        rest = rating[(candidate == candidate[i]) & (rater != rater[i])].tolist()
        found.append(round(math.fsum(rest) / len(rest), 12) if rest else NAN)
    return np.array(found)


@pytest.mark.parametrize(
    ("ratings", "predicted", "others"),
    [
        *itertools.product((panel(1), panel(2)), (False, True), (False, True)),
        (small_panel(), False, False),
    ],
)
def test_rows_are_what_a_slow_loop_says(ratings, predicted, others):
    candidate, rater, rating, truth = ratings
    estimate = np.round(truth + np.random.default_rng(2).normal(0, 0.3, 20), 1)
    estimate[[2, 5]] = NAN
    how = {"estimate": estimate if predicted else None, "others": others}
    found = human_rows(Annotations(candidate, rater, rating), truth, draws=30, seed=4, **how)
    given = estimate[candidate] if predicted else rating
    target = slow_others(candidate, rater, rating) if others else truth[candidate]
    kept = ~np.isnan(given) & ~np.isnan(target)
    of = (one[kept] for one in (candidate, rater, target, given))
    for name, expected in slow_rows(*of, draws=30, seed=4, weights=draw_weights(20, 30, 4)).items():
        own = getattr(found, name)
        assert (own.value, own.low, own.high) == pytest.approx(expected, nan_ok=True), name


def test_without_any_rating_the_rows_are_empty_not_an_error():
    candidate, rater, rating, truth = panel(1)
    nobody = human_rows(Annotations(candidate[:0], rater[:0], rating[:0]), truth, draws=10)
    of_nothing = np.full(20, NAN)
    nothing = human_rows(
        Annotations(candidate, rater, rating), truth, estimate=of_nothing, draws=10
    )
    for found in (nobody, nothing):
        assert np.isnan([found.average_spearman.value, found.best_mse.low]).all()
    flat = human_rows(Annotations(candidate, rater, np.full(len(rating), 0.5)), truth, draws=10)
    assert np.isnan(flat.average_spearman.value)
    assert flat.average_mse.value > 0


def test_equal_means_of_others_tie():
    """0.3 + 0.1 - 0.3 is not 0.1 in floating point."""
    of = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0.3, 0.1, 0.7, 0.1])
    found = others_mean(Annotations(*of))
    assert found[0] == found[2] == 0.1


def mean_mse(ratings: Panel, copies: np.ndarray, people: Sequence[int] | None = None) -> float:
    """Of candidates that are copied so often, and annotators, each once unless they are told."""
    candidate, rater, rating, truth = ratings
    people = [1] * len(set(rater)) if people is None else people
    return slow_row(candidate, rater, truth[candidate], rating, copies, people)["average_mse"]


@pytest.mark.parametrize("units", [None, np.arange(20) // 2])
def test_covered_errors_are_what_a_slow_loop_says(units):
    ratings, covered = panel(3), np.arange(20) < 12
    found = covered_errors(
        Annotations(*ratings[:3]), ratings[3], covered, units=units, draws=40, seed=7
    )
    overall, chosen = (mean_mse(ratings, copies) for copies in (np.ones(20, int), 1 * covered))
    assert found.overall.value == pytest.approx(overall)
    assert found.covered.value == pytest.approx(chosen)
    assert found.relative.value == pytest.approx(chosen / overall - 1)
    weights = draw_weights(20, 40, 7) if units is None else draw_weights(10, 40, 7)[:, units]
    drawn = [
        [mean_mse(ratings, copies, own) for copies in (row, row * covered)]
        for row, own in zip(weights, annotator_weights(5, 40, 7).T, strict=True)
    ]
    whole, part = np.array(drawn).T
    np.testing.assert_allclose(found.covered.draws, part)
    ends = interval((part - whole) / whole)
    assert (found.relative.low, found.relative.high) == pytest.approx(ends)


@pytest.mark.parametrize(("seed", "size"), [(0, 3), (1, 4), (4, 6)])
def test_p_value_is_that_of_every_subset(seed, size):
    """Random subsets against all of them: 8 candidates have few enough."""
    generator = np.random.default_rng(seed)
    candidate, rater = np.tile(np.arange(8), 5), np.repeat(np.arange(5), 8)
    ratings = candidate, rater, generator.integers(0, 6, 40) / 5, generator.random(8)
    overall = mean_mse(ratings, np.ones(8, int))
    subsets = itertools.combinations(range(8), size)
    copies = [np.bincount(subset, minlength=8) for subset in subsets]
    gaps = np.abs([mean_mse(ratings, one) - overall for one in copies])
    exact = np.mean(gaps >= gaps[0] - 1e-12)
    draws = 4000
    found = covered_errors(
        Annotations(*ratings[:3]), ratings[3], np.arange(8) < size, draws=draws, seed=seed
    ).p_value
    assert abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / draws) + 2 / draws


def test_all_or_none_covered():
    *annotations, truth = panel(1)
    every = Annotations(*annotations)
    everything = covered_errors(every, truth, np.ones(20, bool), draws=100)
    assert (everything.relative.value, everything.p_value) == (0, 1)
    nothing = covered_errors(every, truth, np.zeros(20, bool), draws=100)
    assert np.isnan([nothing.covered.value, nothing.p_value]).all()


def rated_by(raters: int, spread: float, texts: int = 60, each: int = 4) -> pd.DataFrame:
    """Raters with levels of their own; the text's part has a deviation of 1, chance too."""
    generator = np.random.default_rng(0)
    text = np.repeat(np.arange(texts), each)
    rater = np.concatenate([generator.permutation(raters)[:each] for _ in range(texts)])
    level, good = spread * generator.normal(size=raters), generator.normal(size=texts)
    quality = good[text] + level[rater] + generator.normal(size=len(text))
    return pd.DataFrame({"text": text, "rater": [f"r{k}" for k in rater], "quality": quality})


def test_agreement_is_the_intraclass_correlation():
    table = rated_by(20, 0)
    value = table["quality"].to_numpy().reshape(60, 4)
    above = 4 * value.mean(axis=1).var(ddof=1)
    inside = value.var(axis=1, ddof=1).mean()
    raters = rater_agreement(table)
    assert raters.icc_single.value == pytest.approx((above - inside) / (above + 3 * inside))
    assert raters.icc_mean.value == pytest.approx((above - inside) / above)
    assert (raters.number, raters.ratings_per_text, raters.repeated) == (20, 4, 60)
    assert raters.between < 0.05
    # the interval of an F test (Shrout & Fleiss 1979), about
    ratio = above / inside
    low, high = (ratio / stats.f.ppf(q, 59, 180) for q in (0.975, 0.025))
    expected = [(f - 1) / (f + 3) for f in (low, high)]
    assert [raters.icc_single.low, raters.icc_single.high] == pytest.approx(expected, abs=0.06)


def test_few_texts_with_two_ratings_say_nothing():
    table = rated_by(20, 0, texts=100)
    few = table[(table["text"] < ENOUGH_TEXTS - 1) | ~table["text"].duplicated()]
    raters = rater_agreement(few)
    assert np.isnan(raters.icc_single.value)
    assert raters.repeated == ENOUGH_TEXTS - 1


def test_raters_are_compared_within_systems():
    """Where each rated one system, nothing tells strict raters from poor systems."""
    table = rated_by(4, 3)
    assert rater_agreement(table).between > 0.5
    assert rater_agreement(table.assign(system=table["rater"])).between == 0
