"""Intervals of estimates whose texts come in independent units of any number and size, by what each
text moves an estimate by.

Stage: cell. In: influences. Out: covariances with degrees of freedom; ratios with intervals.

Source: Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with
multi-stage samples"; Fieller (1954), "Some problems in interval estimation".
"""

from typing import NamedTuple

import numpy as np

from refless.statistics.bootstrap import IntervalEstimate, ResamplingUnits, t_quantile

Array = np.ndarray


class ClusteredCovariance(NamedTuple):
    """The covariance of estimates (estimates, estimates), and its degrees of freedom."""

    covariance: Array
    freedom: float


def clustered_covariance(
    influence: Array, weight: Array, units: ResamplingUnits
) -> ClusteredCovariance:
    """The covariance of estimates of texts whose resampling units are independent.

    influence : by how much each text moves each estimate, float64 (n, estimates)
    weight : of each text in the first of them, (n,): by the sum of its squares in a unit, a unit
        that takes part in its own residual is corrected, and the degrees of freedom are those of a
        variance of units of this size (Bell and McCaffrey 2002, with residuals that are
        independent)

    Where texts stand in several units, the covariances by unit and by text are added, less that of
    both (Cameron, Gelbach and Miller 2011), and the freedom is that of the one that has less.

    >>> influence = np.array([-0.1, 0.0, 0.0, 0.1])  # of the mean of four numbers
    >>> units = ResamplingUnits(np.arange(4))
    >>> spread = clustered_covariance(influence[:, None], np.full(4, 0.25), units)
    >>> round(float(spread.covariance[0, 0]), 4), spread.freedom  # 4 / 3 of the sum of squares
    (0.0267, 3.0)
    """
    if units.crossed is None:
        return _one_way(influence, weight, units.primary)
    primary = units.primary
    crossed = units.crossed
    first = 1 + max(primary.max(), crossed.max())  # of numbers that no unit has
    by_unit = _one_way(influence, weight, np.where(primary < 0, first + crossed, primary))
    by_text = _one_way(influence, weight, np.where(crossed < 0, first + primary, crossed))
    both = _one_way(influence, weight, (1 + primary) * (first + 1) + crossed)
    covariance = by_unit.covariance + by_text.covariance - both.covariance
    # each is a covariance that neglects the other
    least = max(by_unit, by_text, key=lambda spread: spread.covariance[0, 0])
    if covariance[0, 0] < least.covariance[0, 0]:
        covariance = least.covariance
    return ClusteredCovariance(covariance, min(by_unit.freedom, by_text.freedom))


def _one_way(influence: Array, weight: Array, unit: Array) -> ClusteredCovariance:
    number = np.unique(unit, return_inverse=True)[1]
    size = np.bincount(number, weight**2)
    share = size / size.sum()
    sums = np.zeros((len(size), influence.shape[1]))
    np.add.at(sums, number, influence)
    sums = sums[share < 1] / np.sqrt(1 - share[share < 1])[:, None]
    return ClusteredCovariance(sums.T @ sums, float(1 / (share**2).sum() - 1))


def ratio_interval(
    top: float, bottom: float, spread: ClusteredCovariance
) -> IntervalEstimate | None:
    """The ratio of two estimates with its 95% interval by Fieller's theorem: the ratios r for which
    top - r * bottom does not differ from 0 by Student's t; None where the bottom itself does not,
    since then any ratio may be true.

    >>> ratio = ratio_interval(1.0, 2.0, ClusteredCovariance(np.diag([0.01, 0.04]), np.inf))
    >>> [round(float(number), 2) for number in (ratio.value, ratio.low, ratio.high)]
    [0.5, 0.38, 0.66]
    """
    (top_top, both), (_, bottom_bottom) = t_quantile(spread.freedom) ** 2 * spread.covariance
    square = bottom**2 - bottom_bottom
    if square <= 0:
        return None
    product = top * bottom - both
    rest = top**2 - top_top
    root = np.sqrt(max(product**2 - square * rest, 0.0))
    return IntervalEstimate(top / bottom, (product - root) / square, (product + root) / square)
