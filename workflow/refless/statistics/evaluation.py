"""A prediction against human quality: error, rank correlation and coverage, with intervals.

Stage: cell. In: a prediction and the quality of each candidate. Out: an `Evaluation`.
"""

from typing import NamedTuple

import numpy as np

from refless.statistics.bootstrap import IntervalEstimate, bootstrap, draw_blocks, spread_scale
from refless.statistics.correlation import centred, spearman, weighted_mean, weighted_spearman
from refless.statistics.permutation import FEW, correlation_p

Array = np.ndarray


class Evaluation(NamedTuple):
    """Error and rank correlation over the covered candidates, and the share of these; p of the
    correlation, by permutations of fewer than `refless.statistics.permutation.FEW`."""

    mse: IntervalEstimate
    spearman: IntervalEstimate
    coverage: IntervalEstimate
    p_value: float
    n: int
    covered: int


def evaluate(
    prediction: Array,
    truth: Array,
    draws: int = 2000,
    seed: int = 0,
    units: Array | None = None,
    training_share: float | None = None,
) -> Evaluation:
    """MSE, Spearman's rho and coverage with 95% intervals over candidates or their units.

    Parameters
    ----------
    prediction : shape (candidates,), NaN where undefined
    truth : shape (candidates,), the human quality
    draws, seed : of the bootstrap; every draw resamples all candidates, covered or not
    units : see `draw_blocks`
    training_share : training texts of a prediction over candidates, as in `training_factor`;
        None: intervals hold for these predictions

    References
    ----------
    Ethayarajh & Sadigh (2020), section 4 and definition 3.3; intervals are ours.

    Examples
    --------
    >>> scores = evaluate(np.array([0.1, 0.5, 0.4, np.nan]), np.array([0.0, 0.5, 0.5, 1.0]))
    >>> round(scores.mse.value, 4), round(scores.spearman.value, 3), scores.coverage.value
    (0.0067, 0.866, 0.75)
    """
    n = len(truth)
    covered = ~np.isnan(prediction)
    p = prediction[covered]
    t = truth[covered]
    rho, p_value = spearman(p, t)
    if len(p) < FEW:
        p_value = correlation_p(p, t, seed=seed)
    if not covered.any():
        undefined = IntervalEstimate(np.nan)
        return Evaluation(undefined, undefined, IntervalEstimate(0, 0, 0), p_value, n, 0)
    rows = np.flatnonzero(covered)
    errors = (p - t) ** 2

    def measures(weights: Array) -> Array:
        of_covered = weights[:, rows]
        # without a rho of all candidates, a draw of some of them has none either
        no_rho = np.full(len(weights), np.nan)
        rhos = no_rho if np.isnan(rho) else weighted_spearman(p, t, of_covered)
        return np.stack([weighted_mean(errors, of_covered), rhos, weighted_mean(covered, weights)])

    blocks = draw_blocks(n if units is None else units, draws, seed)
    mse_draws, rho_draws, coverage_draws = bootstrap(measures, blocks)
    number = None if units is None else len(np.unique(units))
    scale = spread_scale(number, training_share, draws, seed)
    return Evaluation(
        mse=IntervalEstimate.of(np.mean(errors), mse_draws).with_spread(scale, 0, np.inf),
        spearman=IntervalEstimate.of(rho, rho_draws).with_spread(scale, -1, 1),
        coverage=IntervalEstimate.of(covered.mean(), coverage_draws).with_spread(scale, 0, 1),
        p_value=p_value,
        n=n,
        covered=len(p),
    )


def agreement(
    prediction: Array, truth: Array, mean: float, group: Array | None = None
) -> dict[str, float | None]:
    """Pearson's r and Spearman's rho within each ``group`` (int64), MSE, and that of a ``mean``
    rating, of candidates with a prediction and a rating; None where undefined.

    >>> agreement(np.array([1.0, 2, 3]), np.array([2.0, 3, 4]), mean=3.0)["mse"]
    1.0
    """
    complete = ~np.isnan(prediction) & ~np.isnan(truth)
    p = prediction[complete]
    t = truth[complete]
    group = np.zeros(len(p), np.int64) if group is None else group[complete]
    x = centred(p, group)
    y = centred(t, group)
    rho = spearman(x, y)[0]
    errors = np.square([p - t, mean - t])
    r = float("nan") if np.isnan(rho) else np.corrcoef(x, y)[0, 1]
    mse = errors.mean(axis=1) if len(p) else errors.sum(axis=1) * np.nan
    measures = {"pearson": r, "spearman": rho, "mse": mse[0], "mse_of_mean": mse[1]}
    return {name: None if np.isnan(value) else float(value) for name, value in measures.items()}
