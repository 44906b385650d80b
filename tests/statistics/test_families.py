"""Corrections for many tests, and what could be found: against definitions and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from refless.statistics import (
    holm,
    holm_by,
    least_between,
    least_detectable,
    needed,
)


def slow_holm(p: list[float]) -> list[float]:
    """Step down, one after the other, as in the paper."""
    result, before = [0.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        before = max(before, min(1.0, (len(p) - rank) * p[i]))
        result[i] = before
    return result


@pytest.mark.parametrize("seed", range(20))
def test_holm_steps_down(seed: int) -> None:
    p = np.random.default_rng(seed).random(1 + seed % 7) ** 3
    np.testing.assert_allclose(holm(p), slow_holm(p.tolist()))


def test_no_test_is_no_member_of_a_family() -> None:
    found = holm(np.array([0.01, np.nan, 0.04]))
    np.testing.assert_allclose(found[[0, 2]], [0.02, 0.04])
    assert np.isnan(found[1])
    by = holm_by(np.array([0.01, 0.02, 0.04]), np.array(["a", "b", "a"]))
    np.testing.assert_allclose(by, [0.02, 0.02, 0.04])


def test_the_least_detectable_difference_is_found_in_four_of_five_trials() -> None:
    draws = np.random.default_rng(0).normal(0, 0.1, 20000)
    least = least_detectable(draws) / 0.1
    found = stats.norm.sf(1.959963984540054 - least) + stats.norm.cdf(-1.959963984540054 - least)
    assert found == pytest.approx(0.8, abs=0.02)
    assert np.isnan(least_detectable(np.array([0.1, np.nan])))
    # of normal draws, the ends of their interval say the same
    ends = np.quantile(draws, [0.025, 0.975])
    assert least_between(*ends) / 0.1 == pytest.approx(least, rel=0.05)


def test_what_could_be_found_falls_with_the_root_of_the_number() -> None:
    assert needed(0.1, 0.2, 9) == 36
    assert needed(-0.1, 0.2, 9) == 36
    assert np.isnan(needed(0.0, 0.2, 9))
