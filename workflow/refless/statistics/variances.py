"""Tests of estimates whose variance is known from few units only: Student's t.

Stage: cell. In: an estimate with each unit left out, or from each of several seeds. Out: its
variance with the degrees of freedom, a p-value, the least difference that could have been found.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from refless.statistics.bootstrap import defined
from refless.statistics.families import POWER

Array = np.ndarray


class Variance(NamedTuple):
    """The square of an estimate's standard error.

    value : NaN if it is not known
    freedom : its degrees of freedom, infinite if it is exact
    """

    value: float
    freedom: float


NONE = Variance(0.0, math.inf)


def left_out(without: Array) -> Variance:
    """Of a statistic, from its values with each unit left out, shape (units,): the jackknife's
    (Efron and Tibshirani 1993, equation 11.5). It hangs on no draws, which decide p-values near
    0.05 by chance.

    Degrees of freedom: one less than there are units of equal weight, (sum of v)^2 / sum of v^2
    with v the squared distances from the mean, and 1 at least. This is on the safe side: v is a
    single square, so that units which do have equal weight seem to differ.
    """
    known = defined(without)
    if len(known) < 2:
        return Variance(math.nan, math.nan)
    squares = (known - known.mean()) ** 2
    if np.ptp(known) == 0:
        return NONE
    shares = squares / squares.sum()
    value = (len(known) - 1) / len(known) * squares.sum()
    return Variance(float(value), max(1.0, float(1 / (shares**2).sum() - 1)))


def over_seeds(values: Array) -> Variance:
    """Of a mean over seeds, shape (seeds,). Of one seed nothing is known: `NONE`."""
    number = len(values)
    return NONE if number < 2 else Variance(float(values.var(ddof=1) / number), number - 1)


def summed(*parts: Variance) -> Variance:
    """Of a sum of independent estimates (Satterthwaite 1946)."""
    value = math.fsum(part.value for part in parts)
    if not value > 0:
        return Variance(value, math.inf)
    return Variance(value, value**2 / math.fsum(v**2 / freedom for v, freedom in parts))


def p_value(difference: float, variance: Variance) -> float:
    """Two-sided, that a difference is 0; NaN where it, or its variance, is not known."""
    from scipy.special import stdtr

    if variance.value == 0:
        return 1.0 if difference == 0 else math.nan
    return float(2 * stdtr(variance.freedom, -abs(difference) / math.sqrt(variance.value)))


def could_be_found(variance: Variance) -> float:
    """The difference that a two-sided test at 5% finds with 80% power; NaN if none is known."""
    if math.isnan(variance.value):
        return math.nan
    return _errors(variance.freedom) * math.sqrt(variance.value)


@cache
def _errors(freedom: float) -> float:
    """How many standard errors `could_be_found` is."""
    from scipy import optimize, stats

    if freedom > 1e4:
        return POWER
    border = stats.t.isf(0.025, freedom)
    return float(optimize.brentq(lambda x: stats.nct.sf(border, freedom, x) - 0.8, 0, 100))
