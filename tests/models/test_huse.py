"""HUSE: worked by hand, and against a classifier written out for one text at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.data.sources.huse import comparisons
from refless.errors import FormatError, SettingError
from refless.models.huse import (
    Batch,
    accuracy,
    draw_batches,
    features,
    logp_per_word,
    scores,
)


def oracle(points: np.ndarray, by_model: np.ndarray, k: int) -> float:
    """Leave-one-out accuracy, text by text: no sorting of what is left, no weights."""
    right = 0
    for i, point in enumerate(points):
        others = [j for j in range(len(points)) if j != i]
        distance = {
            j: sum((a - b) ** 2 for a, b in zip(points[j], point, strict=True)) for j in others
        }
        cut = sorted(distance.values())[k - 1]
        votes = [bool(by_model[j]) for j in others if distance[j] <= cut]
        right += (votes.count(True) > votes.count(False)) == bool(by_model[i])
    return right / len(points)


def made_up(n: int, seed: int, ties: bool = True) -> Batch:
    generator = np.random.default_rng(seed)
    by_model = np.arange(n) % 2 == 1
    quality = generator.integers(1, 6, n) if ties else generator.random(n)
    return Batch(
        quality + 0.5 * by_model,
        -generator.exponential(9, n),
        generator.integers(1, 9, n),
        by_model,
    )


def test_by_hand() -> None:
    """Three human texts at 0, 1, 2 and three of the model at 10, 11, 1.4; two neighbors."""
    points = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [1.4]])
    by_model = np.array([False, False, False, True, True, True])
    # 0: 1, 1.4: a draw, so human: right.   1: 1.4, and 0 and 2 as near as each other: human: right
    # 2: 1.4, 1: a draw: right.             10: 11, 2: a draw, human: wrong.
    # 11: 10, 2: wrong.                     1.4: 1, 2: wrong.
    assert accuracy(points, by_model, np.ones((1, 6)), 2).tolist() == [0.5]
    # With one neighbor: 0 -> 1 right, 1 -> 1.4 wrong, 2 -> 1.4 wrong, 10 and 11 right, 1.4 -> 1.
    assert accuracy(points, by_model, np.ones((1, 6)), 1).tolist() == [0.5]
    # All that are as near as the second vote: 0 has three at distance 1, two of them the model's:
    # right. 1: 0 and both at -1: wrong. -1, twice: its twin and 0: right. 50: a draw: wrong.
    points = np.array([[0.0], [1.0], [-1.0], [-1.0], [50.0]])
    by_model = np.array([True, False, True, True, True])
    assert accuracy(points, by_model, np.ones((1, 5)), 2).tolist() == [0.6]


def test_scores_by_hand() -> None:
    """Texts that are apart in log-probability alone: quality says nothing, both say all."""
    by_model = np.arange(40) % 2 == 1
    quality = np.repeat(np.arange(20.0), 2)  # each human text has a twin of the model
    batch = Batch(quality, np.where(by_model, -1000.0, -1.0), np.ones(40), by_model)
    huse, q, d, logp = scores(batch, neighbors=4)[0]
    assert huse == logp == 0  # 500 standard deviations of quality apart: never mistaken
    # with quality alone, the twin stands at distance 0 and the votes of the others cancel out
    assert q == pytest.approx(2 * (1 - oracle(features(batch)[:, :1], by_model, 4)))
    assert d == pytest.approx(1 + huse - q)


@settings(max_examples=60, deadline=None)
@given(st.integers(6, 40), st.integers(1, 5), st.integers(0, 10**6), st.booleans())
def test_agrees_with_the_oracle(n: int, k: int, seed: int, ties: bool) -> None:
    batch = made_up(n, seed, ties)
    points = features(batch)
    for own in (points, points[:, :1]):
        found = accuracy(own, batch.by_model, np.ones((1, n)), k)[0]
        assert found == pytest.approx(oracle(own, batch.by_model, k))


@settings(max_examples=30, deadline=None)
@given(st.integers(8, 25), st.integers(0, 10**6))
def test_weights_are_copies_of_which_the_own_ones_are_left_out(n: int, seed: int) -> None:
    batch = made_up(n, seed)
    points, k = features(batch), 3
    weights = draw_batches(batch.by_model, 4, seed)
    found = accuracy(points, batch.by_model, weights, k)
    for row, value in zip(weights, found, strict=True):
        right = 0
        for i in np.flatnonzero(row):
            others = np.repeat(np.arange(n), np.where(np.arange(n) == i, 0, row))
            distance = ((points[others] - points[i]) ** 2).sum(axis=1)
            cut = np.sort(distance)[min(k, len(others)) - 1]
            votes = batch.by_model[others[distance <= cut]]
            right += row[i] * ((2 * votes.sum() > len(votes)) == batch.by_model[i])
        assert value == pytest.approx(right / n)


def test_rounding_noise_can_be_rounded_away() -> None:
    points = np.array([[0.0], [0.1 + 0.2], [-0.3], [9.0]])
    by_model = np.array([True, True, False, False])
    once = np.ones((1, 4))
    # 0's nearest is -0.3 by a hair (0.1 + 0.2 is a hair more than 0.3): human, wrong
    assert accuracy(points[:3], by_model[:3], once[:, :3], 1)[0] == pytest.approx(1 / 3)
    # rounded, both vote: a draw is human, so still wrong, but -0.3 and 0.3 see 0 alone
    assert accuracy(points, by_model, once, 1, 9)[0] == pytest.approx(
        oracle(np.round(points, 9), by_model, 1)
    )


def test_draws_keep_the_writers() -> None:
    by_model = np.array([True] * 3 + [False] * 7)
    weights = draw_batches(by_model, 50, 1)
    assert set(weights[:, by_model].sum(axis=1)) == {3}
    assert set(weights[:, ~by_model].sum(axis=1)) == {7}
    assert len({tuple(row) for row in weights}) > 40


def test_minus_infinity_counts_as_minus_1000() -> None:
    assert logp_per_word(np.array([-np.inf, -4.0]), np.array([10, 2])).tolist() == [-100.0, -2.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quality": np.full(40, 2.0)}, "alike"),
        ({"logp": np.full(40, np.nan)}, "no log-probability"),
        ({"by_model": np.ones(40, bool)}, "human texts"),
        ({"words": np.zeros(40)}, "no length"),
        ({"words": np.ones(3)}, "differ in number"),
    ],
)
def test_what_is_no_batch_is_refused(change: dict[str, np.ndarray], message: str) -> None:
    batch = made_up(40, 1)
    values = {name: getattr(batch, name) for name in ("quality", "logp", "words", "by_model")}
    with pytest.raises(SettingError, match=message):
        scores(Batch(**{**values, **change}))


def test_too_few_texts_are_refused() -> None:
    with pytest.raises(SettingError, match="16 texts are too few"):
        scores(made_up(16, 1))


def test_types_that_belong_together() -> None:
    assert comparisons(["SUM", "HUMAN_SUM"]) == {"sum": ("SUM", "HUMAN_SUM")}
    dialogue = ["LOGP_1.0.txt", "HUMAN_REDDIT1.0", "HUMAN_REDDIT0.7", "LOGP_0.7.txt"]
    assert comparisons(dialogue) == {
        "reddit_1.0": ("LOGP_1.0.txt", "HUMAN_REDDIT1.0"),
        "reddit_0.7": ("LOGP_0.7.txt", "HUMAN_REDDIT0.7"),
    }
    assert comparisons(["A", "B", "HUMAN"]) == {"a": ("A", "HUMAN"), "b": ("B", "HUMAN")}
    with pytest.raises(FormatError, match="has 0 human types"):
        comparisons([*dialogue, "LOGP_0.5.txt"])
