"""Williams' test against a transcription of its own, on cases and on what is hardly a case."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from refless.errors import SettingError
from refless.statistics import williams


def transcribed(r13: float, r23: float, r12: float, n: int) -> tuple[float, float]:
    """Graham & Baldwin (2014), equation 1, in their letters: 3 is the human score.

    K there is the determinant of the three correlations, which is computed as such.
    """
    k = np.linalg.det(np.array([[1, r12, r13], [r12, 1, r23], [r13, r23, 1]]))
    above = (r13 - r23) * math.sqrt((n - 1) * (1 + r12))
    below = math.sqrt(2 * k * (n - 1) / (n - 3) + (r23 + r13) ** 2 / 4 * (1 - r12) ** 3)
    t = above / below
    return t, 2 * stats.t(n - 3).sf(abs(t))


@pytest.mark.parametrize(
    ("r13", "r23", "r12", "n"),
    [
        (0.5, 0.4, 0.6, 39),
        (0.4, 0.5, 0.1, 103),
        (-0.128, 0.466, 0.2, 39),
        (0.9, 0.85, 0.95, 12),
        (-0.3, -0.5, 0.7, 200),
        (0.3, 0.2, -0.8, 5),
        (0.2, 0.1, 0.3, 4),
    ],
)
def test_it_is_the_transcription(r13: float, r23: float, r12: float, n: int) -> None:
    assert williams(r13, r23, r12, n) == pytest.approx(transcribed(r13, r23, r12, n), rel=1e-9)


def test_a_case_by_hand() -> None:
    # K = 1 - 0.25 - 0.16 - 0 + 0 = 0.59; t = 0.1 sqrt(27) / sqrt(2 * 0.59 * 27 / 25 + 0.2025)
    t, p = williams(0.5, 0.4, 0.0, 28)
    assert t == pytest.approx(0.1 * math.sqrt(27) / math.sqrt(1.2744 + 0.2025))
    assert p == pytest.approx(2 * stats.t.sf(t, 25))


@pytest.mark.parametrize(
    ("r", "n", "p"),
    [
        ((0.28582915107229734, 0.15950937602663984, 0.026555856893502445), 45, 0.5433956),
        ((0.05, 0.1, 0.05), 9, 0.9317423),
    ],
)
def test_p_values_of_another_implementation(
    r: tuple[float, float, float], n: int, p: float
) -> None:
    # r.test of R's psych, as the tests of nlpstats quote it for the sizes of these correlations
    assert williams(*r, n)[1] == pytest.approx(p, abs=5e-8)


@given(st.lists(st.integers(-4, 4), min_size=30, max_size=30))
def test_on_data_it_agrees_and_changes_sign_with_the_sides(values: list[int]) -> None:
    table = np.array(values, float).reshape(3, 10)
    if np.any(np.ptp(table, axis=1) == 0):
        return
    r = np.corrcoef(table)
    if np.linalg.det(r) < 1e-6 or abs(r[0, 2] - r[1, 2]) < 1e-9:
        return
    found = williams(r[0, 2], r[1, 2], r[0, 1], 10)
    assert found == pytest.approx(transcribed(r[0, 2], r[1, 2], r[0, 1], 10), rel=1e-6)
    t, p = williams(r[1, 2], r[0, 2], r[0, 1], 10)
    assert (-t, p) == pytest.approx(found, rel=1e-9)


def test_it_keeps_its_level_where_there_is_no_difference() -> None:
    generator = np.random.default_rng(1)
    low = 0
    for _ in range(1500):
        truth, a, b = generator.normal(size=(3, 40))
        r = np.corrcoef(np.array([truth + a, truth + b, truth]))
        low += williams(r[0, 2], r[1, 2], r[0, 1], 40)[1] < 0.05
    assert 0.035 < low / 1500 < 0.065


def test_equal_correlations_are_no_difference() -> None:
    assert williams(0.4, 0.4, 0.3, 20) == (0.0, 1.0)
    assert williams(0.4, 0.4, 1.0, 20) == (0.0, 1.0)  # the same prediction twice
    assert williams(1.0, 1.0, 1.0, 20) == (0.0, 1.0)
    assert williams(0.4, 0.4 + 1e-15, 1 - 1e-16, 20) == (0.0, 1.0)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_too_few_candidates_say_nothing(n: int) -> None:
    assert all(np.isnan(williams(0.5, 0.4, 0.1, n)))


@pytest.mark.parametrize("missing", range(3))
def test_an_undefined_correlation_says_nothing(missing: int) -> None:
    r = [0.5, 0.4, 0.1]
    r[missing] = float("nan")
    assert all(np.isnan(williams(r[0], r[1], r[2], 30)))


@pytest.mark.parametrize("r", [(1.1, 0.2, 0.3), (0.9, -0.9, 0.9), (0.1, 0.2, -1.5)])
def test_correlations_that_no_data_have_are_refused(r: tuple[float, float, float]) -> None:
    with pytest.raises(SettingError, match="no three variables"):
        williams(*r, n=30)
