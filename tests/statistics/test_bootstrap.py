"""Draws, and intervals from them."""

import math

import numpy as np
import pytest

from refless.statistics import (
    ENOUGH_UNITS,
    Estimate,
    draw_blocks,
    draw_weights,
    drawn_together,
    drawn_whole,
    evaluate,
    human_rows,
    interval,
)
from refless.statistics import bootstrap as module
from refless.statistics.bootstrap import packed, unpacked

NAN = float("nan")


def test_interval_by_hand() -> None:
    assert interval(np.arange(101.0)) == pytest.approx((2.5, 97.5))
    assert interval(np.r_[NAN, np.arange(101.0), NAN]) == pytest.approx((2.5, 97.5))
    for nothing in (np.array([]), np.array([NAN]), np.r_[np.arange(95.0), [NAN] * 3]):
        assert all(math.isnan(end) for end in interval(nothing))


def test_draws_are_samples_with_replacement_from_one_seed() -> None:
    weights = draw_weights(50, 400, seed=7)
    assert (weights.sum(axis=1) == 50).all()
    # more draws keep the first ones
    np.testing.assert_array_equal(weights[:100], draw_weights(50, 100, seed=7))
    assert (weights != draw_weights(50, 400, seed=8)).any(axis=1).all()
    # the number of times that one candidate is drawn: binomial(50, 1/50)
    assert weights.mean(axis=0) == pytest.approx(1.0, abs=5 * math.sqrt(0.98 / 400))
    assert weights.var() == pytest.approx(0.98, abs=0.05)


@pytest.mark.parametrize("block", [1, 41, 160])
def test_blocks_change_no_result(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Bit for bit: a draw's numbers come from its own row of weights."""
    generator = np.random.default_rng(5)
    n = 37
    truth = np.round(generator.random(n), 1)
    prediction = np.where(generator.random(n) < 0.8, np.round(truth + generator.random(n), 2), NAN)
    candidate = generator.integers(0, n, 150)
    rater = generator.integers(0, 9, 150)
    rating = np.round(generator.random(150) / 2 + truth[candidate] / 2, 1)

    def everything() -> tuple[object, ...]:
        return (
            evaluate(prediction, truth, 30, 4),
            human_rows(candidate, rater, rating, truth, draws=30, seed=4),
        )

    whole = everything()
    monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(module, "KEPT", 0)
    assert everything() == whole


def test_few_units_are_not_drawn_whole() -> None:
    enough = np.arange(2 * ENOUGH_UNITS) // 2
    assert drawn_whole(enough) is enough
    assert drawn_whole(enough[2:]) is None
    assert drawn_whole(None) is None


def test_a_difference_is_one_of_the_draws_that_both_have() -> None:
    one, other = Estimate.of(3, np.arange(9.0)), Estimate.of(1, np.arange(5.0) ** 2)
    assert one.less(other) == Estimate.of(2, np.array([0, 0, -2, -6, -12]))
    assert math.isnan(one.less(Estimate(1, 0, 2)).low)
    np.testing.assert_array_equal(unpacked(packed(np.array([0.5, NAN]))), [0.5, NAN])


def test_a_text_of_several_units_is_drawn_beside_them() -> None:
    unit = np.arange(60) // 2
    text = np.arange(60)
    assert np.array_equal(drawn_together(unit, text), unit)
    assert np.array_equal(drawn_together(unit % 19, text), text)
    assert np.array_equal(drawn_together(None, text), text)
    # each text in two units that have no other text
    assert np.array_equal(drawn_together(unit, text // 4), text // 4)
    text[[0, 2, 4, 5]] = 70
    found = drawn_together(unit, text)
    assert np.array_equal(np.flatnonzero(found[:, 1]), [0, 2, 4, 5])
    # unit 2 has this text alone
    assert np.array_equal(np.flatnonzero(found[:, 0] == 0), [4, 5])
    assert len(np.unique(found[:, 0])) == 30


def test_both_are_drawn_by_one_row_each() -> None:
    of = drawn_together(np.arange(60) // 2, np.arange(60) % 15)
    weights = np.concatenate(list(draw_blocks(of, 300, 5)))
    assert weights.shape == (300, 60)
    assert weights.mean() == pytest.approx(1, abs=0.1)
    assert np.array_equal(weights[:100], np.concatenate([*draw_blocks(of, 100, 5)]))
    # missed where the unit or the text is
    assert (weights == 0).mean() == pytest.approx(1 - (1 - np.exp(-1)) ** 2, abs=0.03)
