"""Sentence ΔBLEU against rated texts of the same group, be it a context or an MR.

Stage: prediction (helper of ``rnn_qe.delta_bleu`` and of `refless.compare.predicted`). In: ratings,
groups. Out: references, their weights, scores; the line from score to rating.
"""

from __future__ import annotations

import numpy as np

from refless.models.delta_bleu import References, Statistics, scores

Array = np.ndarray

ORDER = 2
"""Sentences of a dozen words have few longer n-grams in common."""
RULES = ("smooth", "signed")


def by_group(group: Array, n_groups: int) -> tuple[Array, Array]:
    """Positions in ``group``, group by group and stable, and where each group starts.

    Parameters
    ----------
    group : int64 (n,), numbers of groups below ``n_groups``

    Returns
    -------
    order : int64 (n,)
    bounds : int64 (n_groups + 1,)
    """
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(n_groups + 1))
    return order, bounds.astype(np.int64)


def references(group: Array, n_groups: int, text: Array, owner: Array, weight: Array) -> References:
    """References of groups; item ``k`` of the result is group ``k``.

    Parameters
    ----------
    group, text, owner, weight : (references,), of each: its group, the number of its text, who
        wrote it (-1: never left out), and its weight in [-1, 1]
    """
    order, bounds = by_group(group, n_groups)
    return References(bounds, text[order], owner[order], weight[order])


def defined_scores(found: Statistics, rule: str) -> Array:
    """Sentence ΔBLEU, shape (...) as of ``found``; NaN without a reference of positive weight.

    Parameters
    ----------
    rule : see `refless.models.delta_bleu`
    """
    heaviest = found.totals[..., 0]
    return np.where(np.isfinite(heaviest) & (heaviest > 0), scores(found, rule), np.nan)


def weights(rating: Array, middle: float, lowest: float, highest: float) -> Array:
    """Ratings as weights in [-1, 1]: 0 at ``middle``, and no slope steeper on one side."""
    weight = (rating - middle) / max(middle - lowest, highest - middle)
    return np.clip(weight, -1, 1)  # a middle that is a mean may be off by a rounding


def line(score: Array, rating: Array) -> tuple[float, float]:
    """Slope and intercept of the least squares line from score to rating, of defined scores.

    The mean rating where there is no slope to fit: fewer than two scores, or all the same.
    """
    there = ~np.isnan(score)
    x, y = score[there], rating[there]
    if len(x) < 2 or np.ptp(x) == 0:
        return 0.0, float(rating.mean())
    x_mean, y_mean = x.mean(), y.mean()
    # a power of two changes no digit, and squares of small scores do not vanish
    away = x - x_mean
    exponent = np.frexp(np.abs(away).max())[1]
    away = np.ldexp(away, -exponent)
    with np.errstate(over="ignore"):
        slope = float(np.ldexp((away * (y - y_mean)).sum() / (away**2).sum(), -exponent))
    if not np.isfinite(slope):
        return 0.0, float(y_mean)
    return slope, float(y_mean - slope * x_mean)
