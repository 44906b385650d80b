"""Variances and their degrees of freedom, against scipy and against trials."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from refless.statistics.variances import (
    NONE,
    Variance,
    could_be_found,
    left_out,
    over_seeds,
    p_value,
    summed,
)


def without_each(values: np.ndarray) -> np.ndarray:
    return (values.sum() - values) / (len(values) - 1)


def test_of_a_mean_left_out_units_tell_the_variance() -> None:
    values = np.random.default_rng(0).normal(0, 1, 200)
    found = left_out(without_each(values))
    assert found.value == pytest.approx(values.var(ddof=1) / 200)
    # one square says little of a unit, so there are fewer than 199
    assert 40 < found.freedom < 199


def test_units_that_decide_are_few() -> None:
    values = np.zeros(100)
    values[[3, 50]] = 5, -5
    found = left_out(without_each(values))
    assert found.freedom == pytest.approx(1, abs=0.01)
    values[50] = 0
    assert left_out(without_each(values)).freedom == 1
    assert left_out(np.full(5, 0.3)) == NONE
    assert math.isnan(left_out(np.array([0.3, np.nan])).value)


def test_two_samples_of_seeds_are_tested_as_welch_does() -> None:
    generator = np.random.default_rng(1)
    one, other = generator.normal(0.3, 0.1, 5), generator.normal(0.2, 0.3, 3)
    variance = summed(over_seeds(one), over_seeds(other))
    welch = stats.ttest_ind(one, other, equal_var=False)
    assert variance.freedom == pytest.approx(welch.df)
    assert p_value(one.mean() - other.mean(), variance) == pytest.approx(welch.pvalue)
    assert p_value(other.mean() - one.mean(), variance) == pytest.approx(welch.pvalue)


def test_one_seed_adds_nothing() -> None:
    known = Variance(0.04, 7.0)
    assert summed(known, over_seeds(np.array([0.3]))) == pytest.approx(known)
    assert summed(NONE, NONE).value == 0


def test_without_a_variance_there_is_no_test() -> None:
    assert p_value(0.0, NONE) == 1
    assert math.isnan(p_value(0.1, NONE))
    assert math.isnan(p_value(0.1, Variance(math.nan, math.nan)))
    assert math.isnan(could_be_found(Variance(math.nan, math.nan)))


@pytest.mark.parametrize("units", [3, 8, 30])
def test_what_could_be_found_is_found_in_four_of_five_trials(units: int) -> None:
    known = Variance(1 / units, units - 1)
    drawn = np.random.default_rng(2).normal(could_be_found(known), 1, (20_000, units))
    assert (stats.ttest_1samp(drawn, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(
        0.8, abs=0.02
    )


def test_few_units_that_decide_do_not_find_what_is_not_there() -> None:
    """Groups of unlike size share a weight: a correlation of nothing is then found too often, if p
    is of a normal distribution."""
    generator = np.random.default_rng(3)
    by_normal, by_t = [], []
    for _ in range(600):
        sizes = np.ceil(generator.pareto(1.0, 40) + 0.2).clip(max=60).astype(int)
        group = np.repeat(np.arange(40), sizes)
        x, y = (
            generator.normal(0, 1, 40)[group] + generator.normal(0, 0.5, len(group)) for _ in "xy"
        )
        out = [np.corrcoef(x[group != one], y[group != one])[0, 1] for one in range(40)]
        variance = left_out(np.array(out))
        found = float(np.corrcoef(x, y)[0, 1])
        by_normal.append(2 * stats.norm.sf(abs(found) / math.sqrt(variance.value)))
        by_t.append(p_value(found, variance))
    assert np.mean(np.array(by_normal) < 0.05) > 0.07
    assert np.mean(np.array(by_t) < 0.05) < 0.07
