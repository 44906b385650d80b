"""Sentence ΔBLEU against rated texts of the same group, be it a context or an MR.

Stage: prediction. In: ratings, groups. Out: weights of references, scores; the line from score to
rating.
"""

from __future__ import annotations

import numpy as np

from refless.models.delta_bleu import Statistics, scores

Array = np.ndarray

ORDER = 2
"""Sentences of a dozen words have few longer n-grams in common."""


def defined_scores(found: Statistics, rule: str) -> Array:
    """Sentence ΔBLEU, shape (...) as of ``found``; NaN without a reference of positive weight.

    Parameters
    ----------
    rule : see `refless.models.delta_bleu`
    """
    return np.where(found.totals[..., 0] > 0, scores(found, rule), np.nan)


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
    away = x - x.mean()
    slope = float((away * (y - y.mean())).sum() / (away**2).sum())
    return slope, float(y.mean() - slope * x.mean())
