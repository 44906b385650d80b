"""Predictions beside a baseline, on the same draws of a bootstrap.

Stage: cell. In: predictions, a baseline and the quality of each candidate. Out: the differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.statistics.bootstrap import Estimate, draw_blocks, interval
from refless.statistics.correlation import weighted_mean, weighted_spearman
from refless.statistics.evaluation import require_rated

Array = np.ndarray

BLOCK = 1 << 19
"""Weights of draws that are compared together, a few megabytes, so that they stay in the cache."""


@dataclass(frozen=True)
class Measures:
    """Over the covered candidates: MSE, Spearman's rho, coverage; and ``within``, the mean of the
    rhos within groups of candidates, weighted by the covered candidates of each."""

    mse: Estimate
    spearman: Estimate
    coverage: Estimate
    within: Estimate


@dataclass(frozen=True)
class Compared:
    """A prediction beside a baseline of the same candidates.

    own : its measures; change : its measures minus the baseline's, each over its own covered
    candidates; ``common_mse``, ``common_spearman`` : the same difference over the ``n_common``
    candidates that both cover
    """

    own: Measures
    change: Measures
    common_mse: Estimate
    common_spearman: Estimate
    n_common: int


def paired_bootstrap(
    predictions: Sequence[Array],
    baseline: Array,
    truth: Array,
    *,
    groups: Array | None = None,
    units: Array | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> list[Compared]:
    """Compare predictions with a baseline by a paired bootstrap over candidates or their units.

    Parameters
    ----------
    predictions : shape (candidates,) each, NaN where undefined; or (k, candidates): of k
        predictions the mean of each measure is taken (common candidates are then not looked at)
    baseline, truth : shape (candidates,)
    groups : number of each candidate's group, for ``within``; -1 for none. Groups of fewer than 3
        covered candidates have no rho and are left out, as are groups without one.
    units, draws, seed : every draw resamples all candidates, or their units, and all predictions
        are measured on the same draw, so that what they share cancels out. The draws are those of
        `evaluate`.

    What has no value (a difference: on either side) is NaN, and intervals leave such draws out.

    Raises
    ------
    SettingError : as `refless.statistics.evaluate`.
    """
    require_rated(truth, baseline, *predictions)
    n = len(truth)
    covered = ~np.isnan(baseline)
    commons = [covered & ~np.isnan(np.atleast_2d(one)).any(axis=0) for one in predictions]
    drawn = np.concatenate([*draw_blocks(n if units is None else units, draws, seed)])
    step = max(1, BLOCK // max(n, 1))
    blocks = [np.ones((1, n), np.uint16)]  # the sample itself comes first
    blocks += [drawn[start : start + step] for start in range(0, draws, step)]
    found: list[list[Array]] = [[] for _ in predictions]
    for weights in blocks:
        base = _measures(baseline, truth, weights, groups)
        for numbers, prediction, common in zip(found, predictions, commons, strict=True):
            if prediction.ndim == 2:
                other = np.mean([_measures(one, truth, weights, groups) for one in prediction], 0)
                gap = np.full((2, len(weights)), np.nan)
                numbers.append(np.concatenate([other, other - base, gap]))
                continue
            other = _measures(prediction, truth, weights, groups)
            common_base, common_other = base, other
            if not np.array_equal(common, covered):
                common_base = _measures(np.where(common, baseline, np.nan), truth, weights)
            if not np.array_equal(common, ~np.isnan(prediction)):
                common_other = _measures(np.where(common, prediction, np.nan), truth, weights)
            gap = common_other[:2] - common_base[:2]
            numbers.append(np.concatenate([other, other - base, gap]))
    results = []
    for numbers, common in zip(found, commons, strict=True):
        each = [_estimate(row) for row in np.concatenate(numbers, axis=1)]
        own, change = Measures(*each[:4]), Measures(*each[4:8])
        results.append(Compared(own, change, each[8], each[9], int(common.sum())))
    return results


def _estimate(values: Array) -> Estimate:
    """The first number with the interval of the others."""
    low, high = interval(values[1:]) if not np.isnan(values[0]) else (np.nan, np.nan)
    return Estimate(float(values[0]), low, high)


def _measures(
    prediction: Array, truth: Array, weights: Array, groups: Array | None = None
) -> Array:
    """The numbers of `Measures` under each row of weights (draws, n), shape (4, draws)."""
    covered = ~np.isnan(prediction)
    out = np.full((4, len(weights)), np.nan)
    inside = np.flatnonzero(covered)
    out[2] = weighted_mean(covered, weights)
    if covered.any():
        p, t = prediction[covered], truth[covered]
        out[0] = weighted_mean((p - t) ** 2, weights, inside)
        out[1] = weighted_spearman(p, t, weights, inside)
        if groups is not None:
            out[3] = _within(p, t, weights, inside, groups[covered])
    return out


def _within(p: Array, t: Array, weights: Array, column: Array, groups: Array) -> Array:
    """Mean rho within groups, shape (draws,)."""
    top, bottom = np.zeros(len(weights)), np.zeros(len(weights))
    for group in np.unique(groups[groups >= 0]):
        members = groups == group
        if members.sum() < 3:
            continue
        own = column[members]
        rho = weighted_spearman(p[members], t[members], weights, own)
        number = np.where(np.isnan(rho), 0, np.take(weights, own, axis=1).sum(axis=1))
        top += number * np.nan_to_num(rho)
        bottom += number
    with np.errstate(invalid="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)
