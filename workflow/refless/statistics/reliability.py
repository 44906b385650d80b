"""How far raters agree: intraclass correlations, one-way random (Shrout & Fleiss 1979).

Stage: cell. In: individual ratings. Out: shares of their variance.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd


class Raters(NamedTuple):
    """How far raters agree."""

    number: int  # of raters
    each: float  # mean number of ratings of a text
    one: float  # ICC of one rating, and
    mean: float  # of a text's mean; NaN where no text has two ratings
    # about the greatest r: the root of the share that texts have in the variance of their means;
    # levels of raters count as far as they are not the same for all texts
    most: float
    between: float  # share of the ratings' variance that lies between raters


def rater_agreement(ratings: pd.DataFrame) -> Raters:
    """Of ratings with ``text``, ``rater`` and ``quality``."""
    value, text, rater = ratings["quality"], ratings["text"], ratings["rater"]
    between, inside = _variance(value, text)
    centered, _ = _variance(value - value.groupby(rater).transform("mean"), text)
    of_raters, rest = _variance(value, rater)
    each, one = len(value) / text.nunique(), between / (between + inside)
    most = max(0.0, *np.nan_to_num([between, centered])) / value.groupby(text).mean().var()
    return Raters(
        number=rater.nunique(),
        each=each,
        one=one,
        mean=each * one / (1 + (each - 1) * one),
        most=float("nan") if np.isnan(one) else min(most, 1) ** 0.5,
        between=max(float(np.nan_to_num(of_raters / (of_raters + rest))), 0.0),
    )


def _variance(value: pd.Series, group: pd.Series) -> tuple[float, float]:
    """Variance between and inside groups of any size, of one-way analysis; NaN with one group, or
    one value in each."""
    own = value.groupby(group)
    size, n = own.size(), len(value)
    if len(size) in (1, n):
        return float("nan"), float("nan")
    above = (size * (own.mean() - value.mean()) ** 2).sum() / (len(size) - 1)
    inside = ((value - own.transform("mean")) ** 2).sum() / (n - len(size))
    usual = (n - (size**2).sum() / n) / (len(size) - 1)
    return float((above - inside) / usual), float(inside)
