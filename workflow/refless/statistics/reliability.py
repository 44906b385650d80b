"""How far raters agree: intraclass correlations, one-way random (Shrout & Fleiss 1979).

Stage: cell. In: individual ratings. Out: shares of their variance.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from refless.statistics.bootstrap import IntervalEstimate, draw_weights
from refless.statistics.variance_components import one_way_analysis

Array = np.ndarray

ENOUGH_TEXTS = 30
"""Texts with two ratings or more, without which there is no correlation of raters."""


class Raters(NamedTuple):
    """How far raters agree."""

    number: int  # of raters
    ratings_per_text: float
    repeated: int  # texts with two ratings or more
    # ICC(1,1), of one rating, and ICC(1,k), of a text's mean; NaN of fewer than `ENOUGH_TEXTS`
    icc_single: IntervalEstimate
    icc_mean: IntervalEstimate
    between: float  # share of the ratings' variance, within systems, that lies between raters


def rater_agreement(ratings: pd.DataFrame, draws: int = 1000, seed: int = 0) -> Raters:
    """Return how far the raters of some texts agree.

    ratings : a row for each rating, with ``text``, ``rater``, ``quality`` and, where it is known,
        ``system``
    draws, seed : of the bootstrap over texts, from which the intervals are

    >>> rows = [(text, rater, text + rater / 10) for text in range(40) for rater in range(3)]
    >>> raters = rater_agreement(pd.DataFrame(rows, columns=["text", "rater", "quality"]))
    >>> raters.number, raters.repeated, round(raters.icc_single.value, 3)
    (3, 40, 1.0)
    """
    value = ratings["quality"].to_numpy(np.float64)
    rater = ratings["rater"]
    text = pd.factorize(ratings["text"])[0]
    texts = int(text.max()) + 1
    repeated = int((np.bincount(text) > 1).sum())
    icc_single = icc_mean = IntervalEstimate(float("nan"))
    if repeated >= ENOUGH_TEXTS:
        weights = np.concatenate([np.ones((1, texts), np.uint16), draw_weights(texts, draws, seed)])
        r = _icc(value, text, weights)
        k = weights @ np.bincount(text) / weights.sum(axis=1)
        of_mean = k * r / (1 + (k - 1) * r)
        icc_single = IntervalEstimate.of(r[0], r[1:])
        icc_mean = IntervalEstimate.of(of_mean[0], of_mean[1:])
    if "system" in ratings:
        value = value - ratings["quality"].groupby(ratings["system"]).transform("mean").to_numpy()
    share = np.nan_to_num(_icc(value, pd.factorize(rater)[0])[0])
    return Raters(
        number=rater.nunique(),
        ratings_per_text=len(value) / texts,
        repeated=repeated,
        icc_single=icc_single,
        icc_mean=icc_mean,
        between=max(float(share), 0.0),
    )


def _icc(value: Array, group: Array, weights: Array | None = None) -> Array:
    """The share of variance between groups of any size, of one-way analysis, (draws,), under
    ``weights`` of the groups (draws, groups), by default once; NaN with one group, or one value in
    each."""
    above, inside, usual_size = one_way_analysis(value, group, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (above - inside) / usual_size
        return np.asarray(between / (between + inside))


def krippendorff_alpha(ratings: Array, nominal: bool = False) -> float:
    """Krippendorff's alpha of ratings (raters, units), NaN where a rater has none: 1 less observed
    over expected disagreement; 1 where all agree, near 0 where agreement is chance. NaN where all
    ratings are the same number, or no unit has two.

    nominal : two ratings disagree or not; else by the square of their difference (interval data)

    Two raters of three units give 1, 2, 3 and 1, 2, 4. Within units, only the third disagrees: the
    mean square over units is 1/3. The 30 pairs of the six ratings have a mean square of 41/15. So
    alpha is 1 - (1/3) / (41/15) = 36/41.

    Source: Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability".

    >>> round(krippendorff_alpha(np.array([[1, 2, 3], [1, 2, 4]])), 4)
    0.878
    """
    pairable = (~np.isnan(ratings)).sum(axis=0) > 1
    units = [unit[~np.isnan(unit)] for unit in np.asarray(ratings, np.float64).T[pairable]]
    if not units:
        return float("nan")
    every = np.concatenate(units)
    observed = sum(_disagreement(unit, nominal) / (len(unit) - 1) for unit in units) / len(every)
    expected = _disagreement(every, nominal) / (len(every) * (len(every) - 1))
    return float(1 - observed / expected) if expected > 0 else float("nan")


def _disagreement(values: Array, nominal: bool) -> float:
    """Summed over all ordered pairs of values."""
    gaps = values[:, None] - values[None]
    return float((gaps != 0).sum() if nominal else (gaps**2).sum())
