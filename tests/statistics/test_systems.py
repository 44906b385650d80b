"""Between and within systems: against slow loops, and data of which the answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from refless.statistics import (
    between_and_within,
    draw_weights,
    interval,
    members,
)

NAN = float("nan")


def made_up(seed: int, n: int = 24) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Predictions and quality on tenths; some texts are of two systems, some without estimate."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 11, n) / 10
    prediction = np.round(truth + generator.normal(0, 0.3, n), 1)
    prediction[[3, 8]] = NAN
    names = np.array(["p", "q", "r", "p+q"], dtype=object)
    return prediction, truth, names[generator.permutation(np.arange(n) % 4)].tolist()


def slow_share(prediction: np.ndarray, truth: np.ndarray, systems: list[str]) -> float:
    """From ranks, a text of two systems half to each."""
    x, y = (stats.rankdata(v) - (len(v) + 1) / 2 for v in (prediction, truth))
    total = sum(a * b for a, b in zip(x, y, strict=True))
    between = 0.0
    for name in {name for row in systems for name in row.split("+")}:
        parts = [(name in row.split("+")) / len(row.split("+")) for row in systems]
        sums = [sum(p * v for p, v in zip(parts, ranks, strict=True)) for ranks in (x, y)]
        between += sums[0] * sums[1] / sum(parts)
    return between / total


def slow_within(
    prediction: np.ndarray, truth: np.ndarray, systems: list[str], copies: np.ndarray
) -> float:
    """Each text's estimate less its system's mean, or the mean of its two systems' means."""
    mean = {}
    for name in {name for row in systems for name in row.split("+")}:
        parts = np.array([(name in row.split("+")) / len(row.split("+")) for row in systems])
        mean[name] = (parts * prediction).sum() / parts.sum()
    away = [
        round(float(p) - float(np.mean([mean[name] for name in row.split("+")])), 12)
        for p, row in zip(prediction, systems, strict=True)
    ]
    return stats.spearmanr(np.repeat(away, copies), np.repeat(truth, copies)).statistic


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_shares_and_rhos_are_what_a_slow_loop_says(seed: int) -> None:
    prediction, truth, systems = made_up(seed)
    found = between_and_within(prediction, truth, systems, draws=40, seed=2)
    kept = np.flatnonzero(~np.isnan(prediction))
    p, t, s = prediction[kept], truth[kept], [systems[i] for i in kept]
    once = np.ones(len(kept), int)
    assert found.between_share.value == pytest.approx(slow_share(p, t, s))
    assert found.within_spearman.value == pytest.approx(slow_within(p, t, s, once))
    assert found.systems == 3
    shares, withins = [], []
    for copies in draw_weights(len(truth), 40, 2):
        own = np.repeat(np.arange(len(kept)), copies[kept])
        shares.append(slow_share(p[own], t[own], [s[i] for i in own]))
        withins.append(slow_within(p, t, s, copies[kept]))
    for estimate, drawn in ((found.between_share, shares), (found.within_spearman, withins)):
        assert (estimate.low, estimate.high) == pytest.approx(interval(np.array(drawn)))


def test_an_estimate_that_knows_only_the_system_lies_between_systems() -> None:
    generator = np.random.default_rng(1)
    systems = ["good", "bad", "middling"] * 100
    level = np.array([0.9, 0.1, 0.5] * 100)
    truth = level + generator.normal(0, 0.2, 300)
    found = between_and_within(level, truth, systems, draws=5)
    assert found.between_share.value == pytest.approx(1)
    assert math.isnan(found.within_spearman.value)  # nothing is left
    assert (found.system_spearman, found.system_accuracy) == (1, 1)


def test_an_estimate_that_knows_nothing_of_systems_lies_within_them() -> None:
    generator = np.random.default_rng(1)
    systems = ["good", "bad"] * 300
    own = generator.normal(size=600)
    truth = own + np.array([3.0, 0.0] * 300)
    found = between_and_within(own, truth, systems, draws=5)
    assert abs(found.between_share.value) < 0.15
    swapped = between_and_within(-np.array([3.0, 0.0] * 300) + own, truth, systems, draws=5)
    assert swapped.between_share.value > 1  # against what lies within, and stronger
    assert swapped.system_accuracy == 0
    # what is left without the systems' means is the same
    assert swapped.within_spearman.value == pytest.approx(found.within_spearman.value, abs=1e-9)


@pytest.mark.parametrize("systems", [["a"] * 24, [""] * 24])
def test_one_system_cannot_be_told_from_others(systems: list[str]) -> None:
    prediction, truth, _ = made_up(1)
    found = between_and_within(prediction, truth, systems, draws=5)
    assert found.systems == 1
    assert math.isnan(found.between_share.value)


def test_members_share_a_text() -> None:
    found = members(["b", "a+b"])
    assert found.names == ("a", "b")
    assert list(zip(found.text, found.system, found.part, strict=True)) == [
        (0, 1, 1.0),
        (1, 0, 0.5),
        (1, 1, 0.5),
    ]
