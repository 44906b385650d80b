"""A prediction against human quality: error, rank correlation and coverage, with intervals.

Stage: cell. In: a prediction and the quality of each candidate. Out: an `Evaluation`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refless.errors import SettingError
from refless.statistics.bootstrap import Estimate, draw_blocks, interval
from refless.statistics.correlation import spearman, weighted_mean, weighted_spearman

Array = np.ndarray


def require_rated(truth: Array, *predictions: Array) -> None:
    """Refuse candidates that nobody rated, and predictions of others.

    Raises
    ------
    SettingError : ``truth`` has a NaN, or another number of candidates than a prediction.
    """
    if lost := int(np.isnan(truth).sum()):
        raise SettingError(
            f"{lost} of {len(truth)} candidates have no quality", remedy="leave them out"
        )
    for prediction in predictions:
        if np.shape(prediction)[-1:] != np.shape(truth):
            raise SettingError(
                f"{np.shape(prediction)[-1]} predictions, but {len(truth)} candidates"
            )


def mean_squared_error(prediction: Array, truth: Array) -> float:
    """Mean squared difference over the pairs, shape (n,) each; NaN for n = 0."""
    if len(truth) == 0:
        return float("nan")
    return float(np.mean((prediction - truth) ** 2))


@dataclass(frozen=True)
class Evaluation:
    """Error and rank correlation over the covered candidates, and the share of these."""

    mse: Estimate
    spearman: Estimate
    coverage: Estimate
    p_value: float
    n: int
    n_covered: int


def evaluate(
    prediction: Array,
    truth: Array,
    draws: int = 2000,
    seed: int = 0,
    units: Array | None = None,
) -> Evaluation:
    """MSE, Spearman's rho and coverage with 95% intervals over candidates or their units.

    Parameters
    ----------
    prediction : shape (candidates,), NaN where undefined
    truth : shape (candidates,), the human quality
    draws, seed : of the bootstrap; every draw resamples all candidates, covered or not, so that
        coverage varies with the others
    units : number of the unit of each candidate (0, 1, ...), shape (candidates,), which is then
        drawn whole; see `refless.statistics.bootstrap`

    Raises
    ------
    SettingError : ``truth`` has a NaN, or another shape than ``prediction``.

    Source: Ethayarajh & Sadigh (2020), section 4 and definition 3.3; intervals are ours.
    """
    require_rated(truth, prediction)
    n = len(truth)
    covered = ~np.isnan(prediction)
    p, t = prediction[covered], truth[covered]
    rho, p_value = spearman(p, t)
    mse = mean_squared_error(p, t)
    share = float(covered.mean()) if n else float("nan")
    if not covered.any():
        # every draw of uncovered candidates has coverage 0; of no candidates, none
        all_draws = Estimate(share, share, share)
        return Evaluation(Estimate(mse), Estimate(rho), all_draws, p_value, n, 0)
    drawn: list[tuple[Array, Array, Array]] = []
    inside = np.flatnonzero(covered)
    for weights in draw_blocks(n if units is None else units, draws, seed):
        rhos = weighted_spearman(p, t, weights, inside) if not np.isnan(rho) else np.array([])
        mses = weighted_mean((p - t) ** 2, weights, inside)
        drawn.append((mses, rhos, weighted_mean(covered, weights)))
    mse_draws, rho_draws, share_draws = map(np.concatenate, zip(*drawn, strict=True))
    return Evaluation(
        Estimate(mse, *interval(mse_draws)),
        Estimate(rho, *interval(rho_draws)),
        Estimate(share, *interval(share_draws)),
        p_value,
        n,
        int(covered.sum()),
    )
