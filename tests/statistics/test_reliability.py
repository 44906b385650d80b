"""Reliability: against sums of squares one at a time, a published example, and known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refless.statistics import Reliability, draw_weights, interval, reliability


def slow_intraclass(groups: list[list[float]]) -> tuple[float, float]:
    """ICC(1) and ICC(k) from the analysis of variance."""
    every = [value for group in groups for value in group]
    grand = sum(every) / len(every)
    between = sum(len(g) * (sum(g) / len(g) - grand) ** 2 for g in groups) / (len(groups) - 1)
    within = sum((v - sum(g) / len(g)) ** 2 for g in groups for v in g) / (len(every) - len(groups))
    k = (len(every) - sum(len(g) ** 2 for g in groups) / len(every)) / (len(groups) - 1)
    return (between - within) / (between + (k - 1) * within), (between - within) / between


def ratings_of(groups: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    candidate = [i for i, group in enumerate(groups) for _ in group]
    return np.array(candidate), np.array([value for group in groups for value in group])


def test_the_example_of_shrout_and_fleiss() -> None:
    """Six targets, four judges: ICC(1,1) 0.17 and ICC(1,4) 0.44 in their table 4."""
    rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = reliability(*ratings_of(rows), draws=10)
    assert found.icc1.value == pytest.approx(0.17, abs=0.005)
    assert found.icck.value == pytest.approx(0.44, abs=0.005)
    assert found.ceiling.value == pytest.approx(math.sqrt(found.icck.value))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_unequal_numbers_of_ratings_and_draws_are_what_a_slow_loop_says(seed: int) -> None:
    generator = np.random.default_rng(seed)
    groups = [
        (generator.random() + generator.random(int(generator.integers(2, 7)))).tolist()
        for _ in range(12)
    ]
    found = reliability(*ratings_of([*groups, [0.5]]), draws=40, seed=7)  # one rating drops out
    assert (found.n, found.ratings) == (12, sum(map(len, groups)))
    assert (found.icc1.value, found.icck.value) == pytest.approx(slow_intraclass(groups))
    drawn = [
        slow_intraclass([g for g, k in zip(groups, copies, strict=True) for _ in range(k)])
        for copies in draw_weights(12, 40, 7)
    ]
    for name, values in zip(("icc1", "icck"), np.array(drawn).T, strict=True):
        ends = getattr(found, name)
        assert (ends.low, ends.high) == pytest.approx(interval(values)), name


def known(candidates: int, ratings: int, noise: float) -> Reliability:
    generator = np.random.default_rng(5)
    truth = generator.normal(size=candidates)
    candidate = np.repeat(np.arange(candidates), ratings)
    rating = truth[candidate] + generator.normal(0, noise, len(candidate))
    return reliability(candidate, rating, draws=5)


@pytest.mark.parametrize("ratings", [2, 3, 4, 7])
def test_split_halves_and_variances_find_the_reliability_that_is_there(ratings: int) -> None:
    found = known(20_000, ratings, 1.5)
    wanted = 1 / (1 + 1.5**2 / ratings)
    assert found.icck.value == pytest.approx(wanted, abs=0.03)
    assert found.split_half == pytest.approx(wanted, abs=0.03)
    assert found.icc1.value == pytest.approx(1 / (1 + 1.5**2), abs=0.03)


def test_the_ceiling_is_what_the_truth_itself_reaches() -> None:
    generator = np.random.default_rng(6)
    truth = generator.normal(size=5000)
    rating = truth[:, None] + generator.normal(0, 2, (5000, 3))
    found = reliability(np.repeat(np.arange(5000), 3), rating.ravel(), draws=5)
    reached = np.corrcoef(truth, rating.mean(axis=1))[0, 1]
    assert found.ceiling.value == pytest.approx(reached, abs=0.03)


def test_ratings_without_any_agreement_have_a_ceiling_of_nothing() -> None:
    found = reliability(np.array([0, 0, 1, 1]), np.array([0.0, 1.0, 1.0, 0.0]), draws=5)
    assert found.ceiling.value == 0


@pytest.mark.parametrize("candidate", [[], [0], [0, 0], [0, 1, 2]])
def test_too_few_ratings_have_no_reliability(candidate: list[int]) -> None:
    found = reliability(np.array(candidate, int), np.zeros(len(candidate)), draws=5)
    assert math.isnan(found.icck.value)
    assert math.isnan(found.split_half)


def test_few_contexts_that_are_left_are_not_drawn() -> None:
    """Of 25 contexts one has texts with two ratings: drawn whole, its interval would be a point."""
    groups = [[0.1, 0.5], [0.9, 0.4], [0.2, 0.3], *([[0.5]] * 48)]
    units = np.array([0, 0, 0, *(np.arange(48) // 2 + 1)])
    found = reliability(*ratings_of(groups), units=units, draws=50)
    assert found.icc1 == reliability(*ratings_of(groups), draws=50).icc1
    assert found.icc1.low < found.icc1.high
