"""Draws, and intervals from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refless.statistics import annotators, bootstrap, draw_weights, evaluate, human_rows, interval

NAN = float("nan")


def test_interval_by_hand() -> None:
    assert interval(np.arange(101.0)) == pytest.approx((2.5, 97.5))
    assert interval(np.array([NAN, 3.0, NAN])) == (3.0, 3.0)
    assert interval(np.arange(11.0), level=0.8) == pytest.approx((1.0, 9.0))
    for nothing in (np.array([]), np.array([NAN])):
        assert all(math.isnan(end) for end in interval(nothing))


def test_draws_are_samples_with_replacement_from_one_seed() -> None:
    weights = draw_weights(50, 400, seed=7)
    assert weights.shape == (400, 50)
    assert (weights.sum(axis=1) == 50).all()
    np.testing.assert_array_equal(weights, draw_weights(50, 400, seed=7))
    # more draws keep the first ones
    np.testing.assert_array_equal(weights[:100], draw_weights(50, 100, seed=7))
    assert (weights != draw_weights(50, 400, seed=8)).any(axis=1).all()
    assert len({row.tobytes() for row in weights}) == 400
    # the number of times that one candidate is drawn: binomial(50, 1/50)
    assert weights.mean(axis=0) == pytest.approx(1.0, abs=5 * math.sqrt(0.98 / 400))
    assert weights.var() == pytest.approx(0.98, abs=0.05)


@pytest.mark.parametrize("block", [1, 41, 160])
def test_no_result_hangs_on_the_size_of_a_block(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
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
            draw_weights(n, 30, 4).tobytes(),
            evaluate(prediction, truth, 30, 4),
            human_rows(annotators(candidate, rater, rating, truth, draws=30, seed=4)),
        )

    whole = everything()
    monkeypatch.setattr(bootstrap, "BLOCK", block)
    assert everything() == whole
