"""How far annotators agree, and what that allows anything to reach.

Stage: cell. In: individual ratings. Out: intraclass correlations, the split-half reliability, and
their square roots, with intervals over candidates or their units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refless.statistics.bootstrap import Estimate, draw_blocks, drawn_whole, interval
from refless.statistics.correlation import pearson_rows

Array = np.ndarray


@dataclass(frozen=True)
class Reliability:
    """Of the ratings of some candidates.

    icc1 : reliability of one rating, ICC(1)
    icck : of the mean of a candidate's ratings, ICC(k)
    ceiling : sqrt(icck), the highest correlation with that mean that anything can be expected to
        have which knows nothing of its errors; 0 where ICC(k) is negative
    split_half : the mean over random splits of the correlation of two halves' means, brought to all
        ratings by Spearman and Brown's formula
    n, ratings : candidates with two ratings or more, and their ratings
    """

    icc1: Estimate
    icck: Estimate
    ceiling: Estimate
    split_half: float
    n: int
    ratings: int


def reliability(
    candidate: Array,
    rating: Array,
    *,
    splits: int = 100,
    units: Array | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> Reliability:
    """Reliability of ratings that each candidate has of annotators of its own (one-way).

    With B and W the mean squares between and within candidates and k their number of ratings,

        ICC(1) = (B - W) / (B + (k - 1) W)      ICC(k) = (B - W) / B

    where numbers differ, k is (N - sum n_i^2 / N) / (candidates - 1). A split deals the ratings of
    each candidate into two halves of equal size (of an odd number one is left out); r between their
    means becomes f r / (1 + (f - 1) r), f being all ratings over those of a half; NaN where r is so
    far below 0 that this means nothing.

    Parameters
    ----------
    candidate : number of the candidate of each rating, shape (ratings,)
    rating : shape (ratings,)
    splits : random splits; their mean is taken, and has no interval
    units : number of the unit of each candidate, shape (candidates,), drawn whole as in `evaluate`
        if enough are left
    draws, seed : of the bootstrap over candidates; the splits have the same seed

    Candidates with one rating drop out. Everything is NaN for fewer than two candidates.

    Source: Shrout & Fleiss (1979), "Intraclass correlations: uses in assessing rater reliability",
    case 1; k of unequal numbers: Snedecor & Cochran, "Statistical methods".
    """
    number = np.bincount(candidate)
    kept = number[candidate] > 1
    names, place = np.unique(candidate[kept], return_inverse=True)
    value = rating[kept]
    number = np.bincount(place)
    n = len(number)
    if n < 2:
        nothing = Estimate(float("nan"))
        return Reliability(nothing, nothing, nothing, float("nan"), n, len(value))
    mean = np.bincount(place, value) / number
    inside = np.bincount(place, (value - mean[place]) ** 2)
    columns = np.column_stack(
        [np.ones(n), number, number**2, number * mean, number * mean**2, inside]
    )
    drawn = None
    if units is not None:  # of the candidates that are left
        drawn = drawn_whole(np.unique(units[names], return_inverse=True)[1])
    blocks = (np.ones((1, n)), *draw_blocks(n if drawn is None else drawn, draws, seed))
    values = np.concatenate([_intraclass(block @ columns) for block in blocks], axis=1)
    icc1, icck, ceiling = (Estimate(float(row[0]), *interval(row[1:])) for row in values)
    return Reliability(
        icc1, icck, ceiling, _split_half(place, value, number, splits, seed), n, len(value)
    )


def _intraclass(sums: Array) -> Array:
    """ICC(1), ICC(k) and the ceiling from weighted sums (draws, 6), shape (3, draws)."""
    n, ratings, squares, total, of_means, inside = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (of_means - total**2 / ratings) / (n - 1)
        within = inside / (ratings - n)
        k = (ratings - squares / ratings) / (n - 1)
        icc1 = (between - within) / (between + (k - 1) * within)
        icck = (between - within) / between
    found = np.array([icc1, icck, np.sqrt(np.maximum(icck, 0))])
    # in a draw of candidates that are all alike, nothing lies between them
    found[np.isinf(found)] = np.nan
    return found


def _split_half(place: Array, value: Array, number: Array, splits: int, seed: int) -> float:
    """The stepped-up correlation of two halves, the mean over the splits."""
    generator = np.random.default_rng([seed, 3])
    half = number // 2
    factor = number.sum() / half.sum()
    first = np.concatenate([[0], np.cumsum(number)[:-1]])
    found = []
    for _ in range(splits):
        order = np.lexsort((generator.random(len(place)), place))
        own, shuffled = place[order], value[order]
        rank = np.arange(len(place)) - first[own]
        sides = (rank < half[own], (rank >= half[own]) & (rank < 2 * half[own]))
        one, other = (np.bincount(own, shuffled * side) / half for side in sides)
        r = float(pearson_rows(one[None], other[None])[0])
        below = 1 + (factor - 1) * r
        found.append(factor * r / below if below > 0 else np.nan)
    return float(np.mean(found))
