"""The human rows: against one annotator and one draw at a time."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import stats

from refless.statistics import draw_weights, human_rows

NAN = float("nan")


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
    """One annotator and one draw at a time, ratings copied as often as their candidate is drawn."""

    def of_all(copies: np.ndarray) -> tuple[list[float], list[float]]:
        errors, rhos = [], []
        for name in sorted(set(rater)):
            given, wanted = [], []
            for i in range(len(rating)):
                if rater[i] == name:
                    given += [rating[i]] * int(copies[candidate[i]])
                    wanted += [truth[candidate[i]]] * int(copies[candidate[i]])
            if given:
                errors.append(float(np.mean((np.array(given) - np.array(wanted)) ** 2)))
            flat = len(set(given)) < 2 or len(set(wanted)) < 2
            rhos.append(instead if flat else float(stats.spearmanr(given, wanted).statistic))
        return errors, [rho for rho in rhos if not math.isnan(rho)]

    def row(errors: list[float], rhos: list[float]) -> dict[str, float]:
        return {
            "average_mse": float(np.mean(errors)),
            "best_mse": min(errors),
            "average_spearman": float(np.mean(rhos)),
            "best_spearman": max(rhos),
        }

    once = row(*of_all(np.ones(len(truth))))
    drawn = [row(*of_all(copies)) for copies in draw_weights(len(truth), draws, seed)]
    return {
        name: (value, *np.percentile([d[name] for d in drawn], [2.5, 97.5]))
        for name, value in once.items()
    }


@pytest.mark.parametrize("instead", [0.0, NAN], ids=["counts as 0", "left out"])
@pytest.mark.parametrize("seed", [1, 2])
def test_human_rows_are_what_a_slow_loop_says(seed: int, instead: float) -> None:
    candidate, rater, rating, truth = panel(seed)
    humans = human_rows(candidate, rater, rating, truth, undefined=instead, draws=40, seed=3)
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
    humans = human_rows(candidate, rater, rating, truth, draws=200, seed=3)
    for name, (value, low, high) in slow_humans(
        candidate, rater, rating, truth, 200, 3, 0.0
    ).items():
        found = getattr(humans, name)
        assert (found.value, found.low, found.high) == pytest.approx((value, low, high)), name


def test_an_annotator_without_a_correlation_counts_as_zero_or_not_at_all() -> None:
    truth = np.array([0.0, 0.5, 1.0])
    candidate = np.array([0, 1, 2, 0, 1, 2])
    rater = np.array(["good"] * 3 + ["flat"] * 3, dtype=object)
    rating = np.array([0.0, 0.5, 1.0, 0.5, 0.5, 0.5])
    zero = human_rows(candidate, rater, rating, truth, draws=10)
    assert zero.average_spearman.value == pytest.approx(0.5)
    out = human_rows(candidate, rater, rating, truth, undefined=NAN, draws=10)
    assert out.average_spearman.value == pytest.approx(1.0)
    assert zero.undefined == out.undefined == 1
    # the error of that annotator counts in any case
    assert zero.average_mse.value == out.average_mse.value == pytest.approx(0.5 / 3 / 2)
    assert zero.best_mse.value == 0


def test_an_annotator_of_two_candidates_has_no_correlation_in_any_draw() -> None:
    truth = np.array([0.0, 0.5, 1.0, 0.2])
    humans = human_rows(
        np.array([0, 1]), np.array(["a", "a"]), np.array([0.0, 1.0]), truth, draws=50
    )
    assert vars(humans.best_spearman) == {"value": 0.0, "low": 0.0, "high": 0.0}


@pytest.mark.parametrize("case", ["no ratings", "all left out"])
def test_without_any_annotator_the_rows_are_empty_not_an_error(case: str) -> None:
    truth = np.array([0.0, 0.5, 1.0])
    some = 0 if case == "no ratings" else 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        humans = human_rows(
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
