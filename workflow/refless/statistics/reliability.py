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
    """Of ratings with ``text``, ``rater``, ``quality`` and, where it is known, ``system``;
    intervals are from a bootstrap over texts.

    >>> rows = [(text, rater, text + rater / 10) for text in range(40) for rater in range(3)]
    >>> raters = rater_agreement(pd.DataFrame(rows, columns=["text", "rater", "quality"]))
    >>> raters.number, raters.repeated, round(raters.icc_single.value, 3)
    (3, 40, 1.0)
    """
    value, rater = ratings["quality"].to_numpy(np.float64), ratings["rater"]
    text = pd.factorize(ratings["text"])[0]
    texts, repeated = int(text.max()) + 1, int((np.bincount(text) > 1).sum())
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
