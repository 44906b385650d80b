"""The human rows: against one annotator and one draw at a time."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats

from refless.statistics import (
    Humans,
    annotators,
    beside_annotators,
    draw_weights,
    human_rows,
    interval,
    others_mean,
)
from refless.statistics.humans import draw_people

NAN = float("nan")


def rows_of(*panel: np.ndarray, undefined: float = 0.0, **settings: Any) -> Humans:
    return human_rows(annotators(*panel, **settings), undefined)


def small_panel(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Two annotators of 3 of 8 candidates each: a draw may well miss all of an annotator's."""
    generator = np.random.default_rng(seed)
    truth = generator.random(8)
    candidate = np.array([0, 1, 2, 3, 4, 5])
    rating = truth[candidate] + generator.normal(0, 0.3, 6)
    return candidate, np.array(["a"] * 3 + ["b"] * 3, dtype=object), rating, truth


def panel(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
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


def slow_humans(
    candidate: np.ndarray,
    rater: np.ndarray,
    rating: np.ndarray,
    truth: np.ndarray,
    draws: int,
    seed: int,
    instead: float,
) -> dict[str, tuple[float, float, float]]:
    """One annotator and one draw at a time, ratings copied as often as their candidate is drawn,
    annotators as often as they are."""

    def of_all(copies: np.ndarray, people: list[int]) -> tuple[list[float], list[float]]:
        errors, rhos = [], []
        for name in [name for i, name in enumerate(sorted(set(rater))) for _ in range(people[i])]:
            given, wanted = [], []
            for i in range(len(rating)):
                if rater[i] == name:
                    given += [rating[i]] * int(copies[candidate[i]])
                    wanted += [truth[candidate[i]]] * int(copies[candidate[i]])
            if given:
                errors.append(float(np.mean((np.array(given) - np.array(wanted)) ** 2)))
            own = rater == name
            never = min(len(set(rating[own])), len(set(truth[candidate[own]]))) < 2
            flat = len(set(given)) < 2 or len(set(wanted)) < 2
            rho = NAN if flat else float(stats.spearmanr(given, wanted).statistic)
            rhos.append(instead if never else rho)
        return errors, [rho for rho in rhos if not math.isnan(rho)]

    def row(errors: list[float], rhos: list[float]) -> dict[str, float]:
        return {
            "average_mse": float(np.mean(errors)) if errors else NAN,
            "best_mse": min(errors, default=NAN),
            "average_spearman": float(np.mean(rhos)) if rhos else NAN,
            "best_spearman": max(rhos, default=NAN),
        }

    number = len(set(rater))
    once = row(*of_all(np.ones(len(truth)), [1] * number))
    people = draw_people(number, draws, seed).T.tolist()
    both = zip(draw_weights(len(truth), draws, seed), people, strict=True)
    drawn = [row(*of_all(*one)) for one in both]
    return {
        name: (value, *interval(np.array([d[name] for d in drawn]))) for name, value in once.items()
    }


@pytest.mark.parametrize("instead", [0.0, NAN], ids=["counts as 0", "left out"])
@pytest.mark.parametrize("seed", [1, 2])
def test_human_rows_are_what_a_slow_loop_says(seed: int, instead: float) -> None:
    candidate, rater, rating, truth = panel(seed)
    humans = rows_of(candidate, rater, rating, truth, undefined=instead, draws=40, seed=3)
    expected = slow_humans(candidate, rater, rating, truth, 40, 3, instead)
    for name, (value, low, high) in expected.items():
        found = getattr(humans, name)
        assert found.value == pytest.approx(value, abs=1e-12), name
        assert found.low == pytest.approx(low, abs=1e-12), name
        assert found.high == pytest.approx(high, abs=1e-12), name
    assert (humans.annotators, humans.undefined) == (5, 1)


def test_a_draw_may_miss_all_candidates_of_an_annotator() -> None:
    candidate, rater, rating, truth = small_panel(1)
    drawn = draw_weights(8, 200, 3)
    assert ((drawn[:, :3].sum(axis=1) == 0) | (drawn[:, 3:6].sum(axis=1) == 0)).sum() > 5
    humans = rows_of(candidate, rater, rating, truth, draws=200, seed=3)
    for name, (value, low, high) in slow_humans(
        candidate, rater, rating, truth, 200, 3, 0.0
    ).items():
        found = getattr(humans, name)
        assert (found.value, found.low, found.high) == pytest.approx(
            (value, low, high), nan_ok=True
        ), name


def test_an_annotator_without_a_correlation_counts_as_zero_or_not_at_all() -> None:
    truth = np.array([0.0, 0.5, 1.0])
    candidate = np.array([0, 1, 2, 0, 1, 2])
    rater = np.array(["good"] * 3 + ["flat"] * 3, dtype=object)
    rating = np.array([0.0, 0.5, 1.0, 0.5, 0.5, 0.5])
    zero = rows_of(candidate, rater, rating, truth, draws=10)
    assert zero.average_spearman.value == pytest.approx(0.5)
    out = rows_of(candidate, rater, rating, truth, undefined=NAN, draws=10)
    assert out.average_spearman.value == pytest.approx(1.0)
    assert zero.undefined == out.undefined == 1
    # the error of that annotator counts in any case
    assert zero.average_mse.value == out.average_mse.value == pytest.approx(0.5 / 3 / 2)
    assert zero.best_mse.value == 0


def test_an_annotator_of_two_candidates_has_no_correlation_in_any_draw() -> None:
    truth = np.array([0.0, 0.5, 1.0, 0.2])
    humans = rows_of(np.array([0, 1]), np.array(["a", "a"]), np.array([0.0, 1.0]), truth, draws=50)
    assert vars(humans.best_spearman) == {"value": 0.0, "low": 0.0, "high": 0.0}


@pytest.mark.parametrize("case", ["no ratings", "all left out"])
def test_without_any_annotator_the_rows_are_empty_not_an_error(case: str) -> None:
    truth = np.array([0.0, 0.5, 1.0])
    some = 0 if case == "no ratings" else 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        humans = rows_of(
            np.arange(3)[:some],
            np.array(["a"] * some, dtype=object),
            np.full(some, 0.5),
            truth,
            undefined=NAN,
            draws=10,
        )
    for estimate in (humans.average_spearman, humans.best_spearman):
        assert all(math.isnan(value) for value in vars(estimate).values())
    assert humans.annotators == humans.undefined == (0 if case == "no ratings" else 1)


# ---- without one's own label --------------------------------------------------------------------


def slow_others(candidate: np.ndarray, rater: np.ndarray, rating: np.ndarray) -> list[float]:
    found = []
    for i in range(len(rating)):
        rest = [
            float(rating[j])
            for j in range(len(rating))
            if candidate[j] == candidate[i] and rater[j] != rater[i]
        ]
        found.append(round(math.fsum(rest) / len(rest), 12) if rest else NAN)
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_mean_of_the_others_has_none_of_an_annotators_own_ratings(seed: int) -> None:
    candidate, rater, rating, _ = panel(seed)
    assert ((candidate == 3) & (rater == "twice")).sum() >= 2  # both go
    np.testing.assert_allclose(
        others_mean(candidate, rater, rating), slow_others(candidate, rater, rating), atol=1e-12
    )


def test_equal_means_of_others_tie() -> None:
    """0.3 + 0.1 - 0.3 is not 0.1 in floating point."""
    found = others_mean(
        np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0.3, 0.1, 0.7, 0.1])
    )
    assert found[0] == found[2] == 0.1


def test_against_the_others_an_annotator_cannot_agree_with_the_own_label() -> None:
    """Labels at random: with the own label every annotator correlates, without it nobody does."""
    generator = np.random.default_rng(0)
    candidate, rater = np.repeat(np.arange(4000), 3), np.tile([0, 1, 2], 4000)
    rating = generator.random(12000)
    truth = rating.reshape(4000, 3).mean(axis=1)
    of = candidate, rater, rating, truth
    assert rows_of(*of, draws=2).average_spearman.value > 0.5
    assert abs(rows_of(*of, others=True, draws=2).average_spearman.value) < 0.05


@pytest.mark.parametrize("seed", [1, 2])
def test_rows_against_the_others_are_what_a_slow_loop_says(seed: int) -> None:
    candidate, rater, rating, truth = panel(seed)
    target = np.array(slow_others(candidate, rater, rating))
    kept = ~np.isnan(target)
    humans = rows_of(candidate, rater, rating, truth, others=True, draws=5)
    errors, rhos = [], []
    for name in sorted(set(rater[kept])):
        own = kept & (rater == name)
        errors.append(np.mean((rating[own] - target[own]) ** 2))
        flat = min(len(set(rating[own])), len(set(target[own]))) < 2 or own.sum() < 3
        rhos.append(0.0 if flat else stats.spearmanr(rating[own], target[own]).statistic)
    assert humans.average_mse.value == pytest.approx(np.mean(errors))
    assert humans.average_spearman.value == pytest.approx(np.mean(rhos))
    assert humans.best_spearman.value == pytest.approx(max(rhos))


def slow_beside(
    candidate: np.ndarray,
    rater: np.ndarray,
    rating: np.ndarray,
    estimate: np.ndarray,
    copies: np.ndarray,
) -> list[tuple[float, float]]:
    """Rho of each annotator and of the model on the annotator's candidates; 0 where there never is
    one, NaN where the draw has none."""
    target = np.array(slow_others(candidate, rater, rating))
    kept = ~np.isnan(target) & ~np.isnan(estimate[candidate])
    found = []
    for name in sorted(set(rater[kept])):
        own = np.flatnonzero(kept & (rater == name))
        drawn = np.repeat(own, copies[candidate[own]])
        pair = []
        for given in (rating, estimate[candidate]):
            never, flat = (
                len(set(given[rows])) < 2 or len(set(target[rows])) < 2 or len(own) < 3
                for rows in (own, drawn)
            )
            rho = NAN if flat else stats.spearmanr(given[drawn], target[drawn]).statistic
            pair.append(0.0 if never else rho)
        found.append((pair[0], pair[1]))
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_a_model_beside_the_annotators_is_what_a_slow_loop_says(seed: int) -> None:
    candidate, rater, rating, truth = panel(seed)
    estimate = np.round(truth + np.random.default_rng(seed).normal(0, 0.3, 20), 1)
    estimate[[2, 5]] = NAN
    found = beside_annotators(candidate, rater, rating, estimate, draws=30, seed=4)
    of = candidate, rater, rating, estimate
    pairs = np.array(slow_beside(*of, np.ones(20, int)))
    gap = pairs[:, 0] - pairs[:, 1]
    assert found.human_spearman.value == pytest.approx(pairs[:, 0].mean())
    assert found.spearman.value == pytest.approx(pairs[:, 1].mean())
    assert found.difference.value == pytest.approx(gap.mean())
    assert found.standard_error == pytest.approx(stats.sem(gap))
    drawn = np.array([slow_beside(*of, copies) for copies in draw_weights(20, 30, 4)])
    people = draw_people(5, 30, 4).T
    values = {
        "human_spearman": drawn[:, :, 0],
        "spearman": drawn[:, :, 1],
        "difference": drawn[:, :, 0] - drawn[:, :, 1],
    }
    for name, rho in values.items():
        counted = people * ~np.isnan(rho)
        means = np.full(30, NAN)
        np.divide(
            *((np.nan_to_num(rho) * counted).sum(axis=1), counted.sum(axis=1)),
            out=means,
            where=counted.sum(axis=1) > 0,
        )
        ends = getattr(found, name)
        assert (ends.low, ends.high) == pytest.approx(interval(means), nan_ok=True), name
    assert found.annotators == 5
    assert found.undefined[0] == 1  # `flat`


def test_a_model_that_says_what_the_others_say_is_as_good_as_can_be() -> None:
    candidate = np.repeat(np.arange(5), 2)
    rating = np.repeat([0.0, 0.2, 0.5, 0.7, 1.0], 2)
    found = beside_annotators(
        candidate, np.tile(["a", "b"], 5), rating, rating[::2].copy(), draws=20
    )
    assert (found.spearman.value, found.mse.value) == pytest.approx((1, 0))
    assert found.difference.value == pytest.approx(0)


def test_a_model_without_estimates_stands_beside_nobody() -> None:
    candidate, rater, rating, _ = panel(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = beside_annotators(candidate, rater, rating, np.full(20, NAN), draws=5)
    assert found.annotators == 0
    assert math.isnan(found.difference.value)
