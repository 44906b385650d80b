"""Annotators on covered candidates against all: brute force, every subset, and the bootstrap."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from refless.statistics import (
    annotator_errors,
    annotators,
    covered_errors,
    draw_weights,
    human_rows,
)
from refless.statistics.humans import draw_people

Ratings = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def made_up(n: int, seed: int, raters: int = 4, chance: float = 0.6) -> Ratings:
    """candidate, rater, rating, truth; some annotators rate a candidate twice."""
    generator = np.random.default_rng(seed)
    truth = generator.random(n)
    rows = [
        (i, f"r{r}", generator.integers(0, 6) / 5)
        for r in range(raters)
        for i in range(n)
        for _ in range(2 if i == 0 else 1)
        if generator.random() < chance
    ]
    candidate, rater, rating = zip(*rows, strict=True)
    return np.array(candidate), np.array(rater), np.array(rating), truth


def mean_mse(ratings: Ratings, chosen: list[int], people: Sequence[int] = ()) -> float:
    """Annotator by annotator; ``chosen`` may name a candidate several times, and ``people`` say how
    often each annotator is there."""
    candidate, rater, rating, truth = ratings
    own = {}
    for i in chosen:
        for c, name, given in zip(candidate, rater, rating, strict=True):
            if c == i:
                own.setdefault(name, []).append((given - truth[c]) ** 2)
    often = dict(zip(sorted(set(rater)), people, strict=True)) if len(people) else {}
    means = [np.mean(errors) for name, errors in own.items() for _ in range(often.get(name, 1))]
    return float(np.mean(means)) if means else float("nan")


@pytest.mark.parametrize("seed", range(5))
def test_means_are_those_of_each_annotator_alone(seed: int) -> None:
    ratings = made_up(12, seed)
    covered = np.random.default_rng(seed).random(12) < 0.5
    found = covered_errors(annotator_errors(*ratings), covered, 50, seed)
    overall = mean_mse(ratings, list(range(12)))
    chosen = mean_mse(ratings, np.flatnonzero(covered).tolist())
    assert found.overall.value == pytest.approx(overall)
    assert found.covered.value == pytest.approx(chosen)
    assert found.difference.value == pytest.approx(chosen - overall)
    assert found.relative.value == pytest.approx(chosen / overall - 1)
    assert found.overall.value == pytest.approx(
        human_rows(annotators(*ratings, draws=5)).average_mse.value
    )


@pytest.mark.parametrize("units", [None, np.arange(10) // 2])
def test_bootstrap_draws_annotators_and_candidates_with_all_their_ratings(
    units: np.ndarray | None,
) -> None:
    ratings, covered = made_up(10, 3), np.arange(10) < 6
    found = covered_errors(annotator_errors(*ratings), covered, 40, 7, units)
    weights = draw_weights(10, 40, 7) if units is None else draw_weights(5, 40, 7)[:, units]
    people = draw_people(len(set(ratings[1])), 40, 7).T
    slow = [
        mean_mse(ratings, [i for i in range(10) if covered[i] for _ in range(row[i])], own)
        for row, own in zip(weights, people, strict=True)
    ]
    np.testing.assert_allclose(found.covered_draws, slow)
    assert found.covered.low == pytest.approx(np.nanquantile(slow, 0.025))
    everything = [
        mean_mse(ratings, np.repeat(np.arange(10), row).tolist(), own)
        for row, own in zip(weights, people, strict=True)
    ]
    gaps = np.array(slow) - everything
    assert found.difference.high == pytest.approx(np.nanquantile(gaps, 0.975))


@pytest.mark.parametrize(("seed", "size"), [(0, 3), (1, 4), (2, 2), (4, 6)])
def test_p_value_is_that_of_every_subset(seed: int, size: int) -> None:
    """Random subsets against all of them: 8 candidates have few enough."""
    ratings = made_up(8, seed, raters=5)
    covered = np.arange(8) < size
    overall = mean_mse(ratings, list(range(8)))
    gap = abs(mean_mse(ratings, list(range(size))) - overall)
    gaps = [
        abs(mean_mse(ratings, list(subset)) - overall)
        for subset in itertools.combinations(range(8), size)
    ]
    exact = np.mean([value >= gap - 1e-12 for value in gaps])
    draws = 4000
    found = covered_errors(annotator_errors(*ratings), covered, draws, seed).p_value
    assert abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / draws) + 2 / draws


def test_covered_candidates_that_are_easier_are_found() -> None:
    generator = np.random.default_rng(1)
    n, raters = 60, 10
    truth = np.full(n, 0.5)
    candidate = np.tile(np.arange(n), raters)
    rater = np.repeat([f"r{i}" for i in range(raters)], n)
    covered = np.arange(n) < 30
    spread = np.where(covered[candidate], 0.1, 0.4)
    rating = 0.5 + spread * generator.choice([-1, 1], n * raters)
    errors = annotator_errors(candidate, rater, rating, truth)
    easy = covered_errors(errors, covered, 1000, 1)
    assert easy.p_value == pytest.approx(1 / 1001)  # no subset is as extreme: the least there is
    assert easy.difference.high < 0
    # under the null, p is spread evenly
    values = [
        covered_errors(errors, generator.permutation(covered), 200, seed).p_value
        for seed in range(60)
    ]
    assert 0.3 < np.mean(values) < 0.7
    assert 0.0 < np.mean(np.array(values) < 0.3) < 0.6


def test_all_or_none_covered() -> None:
    errors = annotator_errors(*made_up(10, 1))
    everything = covered_errors(errors, np.ones(10, bool), 100, 1)
    assert everything.difference.value == 0
    assert everything.p_value == 1
    nothing = covered_errors(errors, np.zeros(10, bool), 100, 1)
    assert np.isnan(nothing.covered.value)
    assert np.isnan(nothing.p_value)


def test_an_annotator_without_a_covered_candidate_takes_no_part() -> None:
    candidate, rater = np.array([0, 1, 1]), np.array(["a", "a", "b"])
    errors = annotator_errors(candidate, rater, np.array([0.5, 0.0, 1.0]), np.zeros(2))
    covered = np.array([True, False])
    found = covered_errors(errors, covered, 10, 1)
    assert found.overall.value == pytest.approx((0.125 + 1) / 2)
    assert found.covered.value == pytest.approx(0.25)


def test_blocks_do_not_show() -> None:
    """More draws than one block holds give the same numbers as one block."""
    ratings = made_up(400, 2, raters=3, chance=0.1)
    errors, covered = annotator_errors(*ratings), np.arange(400) < 300
    found = covered_errors(errors, covered, 6000, 5)  # 2.4 million weights, so two blocks
    weights, people = draw_weights(400, 6000, 5) * covered, draw_people(3, 6000, 5)
    np.testing.assert_array_equal(found.covered_draws, errors.mean(weights, people))
