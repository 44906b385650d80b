"""How far raters agree: intraclass correlations, one-way random (Shrout & Fleiss 1979).

Stage: cell. In: individual ratings. Out: shares of their variance.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from refless.statistics.bootstrap import Estimate, draw_weights

Array = np.ndarray

ENOUGH_TEXTS = 30
"""Texts with two ratings or more, without which there is no correlation of raters."""


class Raters(NamedTuple):
    """How far raters agree."""

    number: int  # of raters
    each: float  # mean number of ratings of a text
    several: int  # texts with two ratings or more
    one: Estimate  # ICC(1,1), of one rating, and
    mean: Estimate  # ICC(1,k), of a text's mean; NaN where fewer than `ENOUGH_TEXTS` have several
    between: float  # share of the ratings' variance, within systems, that lies between raters


def rater_agreement(ratings: pd.DataFrame, draws: int = 1000, seed: int = 0) -> Raters:
    """Of ratings with ``text``, ``rater``, ``quality`` and, where it is known, ``system``;
    intervals are from a bootstrap over texts."""
    value, rater = ratings["quality"].to_numpy(np.float64), ratings["rater"]
    text = pd.factorize(ratings["text"])[0]
    each, several = len(value) / (text.max() + 1), int((np.bincount(text) > 1).sum())
    one = mean = Estimate(float("nan"))
    if several >= ENOUGH_TEXTS:
        texts = int(text.max()) + 1
        weights = np.concatenate([np.ones((1, texts), np.uint16), draw_weights(texts, draws, seed)])
        r = _one_rating(*_variance(value, text, weights))
        k = weights @ np.bincount(text) / weights.sum(axis=1)
        of_mean = k * r / (1 + (k - 1) * r)
        one, mean = Estimate.of(r[0], r[1:]), Estimate.of(of_mean[0], of_mean[1:])
    within = value
    if "system" in ratings:
        within = value - ratings["quality"].groupby(ratings["system"]).transform("mean").to_numpy()
    share = _one_rating(*_variance(within, pd.factorize(rater)[0]))
    return Raters(
        number=rater.nunique(),
        each=each,
        several=several,
        one=one,
        mean=mean,
        between=max(float(np.nan_to_num(share[0])), 0.0),
    )


def _one_rating(between: Array, inside: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return between / (between + inside)


def _variance(value: Array, group: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Variance between and inside groups of any size, of one-way analysis, each (draws,), under
    ``weights`` of the groups (draws, groups), by default once; NaN with one group, or one value in
    each."""
    size = np.bincount(group).astype(np.float64)
    mean = np.bincount(group, value) / size
    squares = np.bincount(group, (value - mean[group]) ** 2)
    weights = np.ones((1, len(size))) if weights is None else weights
    groups, n = weights.sum(axis=1), weights @ size
    with np.errstate(divide="ignore", invalid="ignore"):
        overall = weights @ (size * mean) / n
        above = weights @ (size * mean**2) - n * overall**2
        inside = weights @ squares / (n - groups)
        usual = (n - weights @ size**2 / n) / (groups - 1)
        between = (above / (groups - 1) - inside) / usual
    return between, inside
