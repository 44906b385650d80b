"""How far repeats of one measurement vary: the coefficient of variation of few numbers.

Stage: cell. In: repeats. Out: CV* in percent.
Source: Belz (2022), "A Metrological Perspective on Reproducibility in NLP", section 3; Belz et al.
(2022), "Quantified Reproducibility Assessment of NLP Results", section 3.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln
from scipy.stats import chi2

from refless.statistics.bootstrap import IntervalEstimate


def variation(values: Sequence[float], shift: float = 0) -> IntervalEstimate:
    """CV* of repeats, in percent, each with ``shift`` added, so that their scale starts at 0.

    >>> variation([58, 57], shift=100).value  # 112.5 s* / 157.5, and s* is 0.8862
    0.6330192324662557
    """
    deviation = float(np.std(values, ddof=1))
    return variation_of(float(np.mean(values)) + shift, deviation, len(values))


def variation_of(mean: float, deviation: float, number: int) -> IntervalEstimate:
    """CV* = (1 + 1 / 4n) 100 s* / |mean| of so many repeats, at least two, from their mean and
    standard deviation (n - 1), with its 95% interval; NaN where the mean is 0 or a number is NaN.

    s* is the deviation over c4, which makes it unbiased. The interval is that of a normal standard
    deviation, by chi-square with n - 1 degrees of freedom: of three repeats from half of their
    deviation to six times as much.

    >>> two, three = (variation_of(1, 0.1, number) for number in (2, 3))
    >>> f"{three.value:.1f} ({three.low:.1f}, {three.high:.1f})"
    '12.2 (5.6, 68.1)'
    >>> two.high > three.high
    True
    """
    if math.isnan(mean + deviation) or mean == 0:
        return IntervalEstimate(float("nan"))
    unit = (1 + 1 / (4 * number)) * 100 / abs(mean)
    freedom = number - 1
    ends = deviation * np.sqrt(freedom / chi2.ppf([0.975, 0.025], freedom))
    c4 = math.sqrt(2 / freedom) * math.exp(gammaln(number / 2) - gammaln(freedom / 2))
    return IntervalEstimate(unit * deviation / c4, *(unit * ends).tolist())
