"""What belongs beside the p-values of a table: corrections, and what could have been found at all.

Stage: cell. In: p-values or standard errors. Out: corrected p-values; least detectable differences.
"""

from __future__ import annotations

import numpy as np

from refless.statistics.bootstrap import defined

Array = np.ndarray

NORMAL = 1.959963984540054
"""How many standard errors a 95% interval reaches on either side."""
POWER = NORMAL + 0.8416212335729143
"""How many standard errors a difference must be to be found, two-sided at 5%, in 80% of trials."""


def holm(p: Array) -> Array:
    """P-values of one family, corrected by Holm (1979), shape (n,); NaN are no tests and stay.

    The k-th smallest of m counts m - k + 1 times, at most 1, and no less than the one before it.
    """
    p = np.asarray(p, np.float64)
    corrected = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    times = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(times * p[order]), 1.0)
    return corrected


def holm_by(p: Array, family: Array) -> Array:
    """`holm` within each family, both shape (n,)."""
    p, family = np.asarray(p, np.float64), np.asarray(family)
    corrected = np.full(p.shape, np.nan)
    for name in dict.fromkeys(family.tolist()):
        own = family == name
        corrected[own] = holm(p[own])
    return corrected


def least_detectable(draws: Array) -> float:
    """The difference that would be found with 80% power, from ``draws`` of it, shape (draws,), that
    spread as it does.

    `POWER` times their standard deviation; NaN with fewer than two draws that have a value.
    """
    known = defined(draws)
    return float(POWER * known.std(ddof=1)) if len(known) > 1 else float("nan")


def least_between(low: float, high: float) -> float:
    """The same from the ends of a 95% interval, as wide as that of a normal distribution."""
    return POWER * (high - low) / (2 * NORMAL)


def needed(difference: float, least: float, now: float) -> float:
    """How many would have to be drawn to find a difference as it is with 80% power: its standard
    error falls with the square root of their number. NaN where there is none.

    Parameters
    ----------
    least : what can be found with as many as there are ``now``; see `least_detectable`
    """
    if np.isnan(difference) or np.isnan(least) or difference == 0:
        return float("nan")
    return float(np.ceil(now * (least / difference) ** 2))
