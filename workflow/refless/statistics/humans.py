"""How well single annotators say what all of them say: the human rows.

Stage: cell. In: individual ratings and the quality of each candidate. Out: means over annotators,
and the best one, with intervals.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from refless.statistics.bootstrap import Estimate, draw_blocks, interval
from refless.statistics.correlation import spearman, weighted_spearman
from refless.statistics.evaluation import mean_squared_error, weighted_mean

Array = np.ndarray


@dataclass(frozen=True)
class Humans:
    """The human rows: each annotator against the ground truth, averaged, and the best one."""

    average_mse: Estimate
    average_spearman: Estimate
    best_mse: Estimate
    best_spearman: Estimate
    annotators: int
    undefined: int


def human_rows(
    candidate: Array,
    rater: Array,
    rating: Array,
    truth: Array,
    *,
    undefined: float = 0.0,
    draws: int = 2000,
    seed: int = 0,
) -> Humans:
    """MSE and Spearman of each annotator on the candidates that this annotator saw.

    Parameters
    ----------
    candidate : index into ``truth`` of each rating, shape (ratings,)
    rater : annotator of each rating, shape (ratings,)
    rating : in [0, 1], shape (ratings,)
    truth : quality of each candidate, shape (candidates,)
    undefined : the rho of an annotator for whom there is none (labels all alike, or fewer than 3
        of them); NaN leaves that annotator out
    draws, seed : of the bootstrap over candidates (the annotators stay). For the best annotator
        it is the bootstrap of an extreme, which leans to the better side.

    Everything is NaN where there is no rating. In a draw that misses all candidates of an
    annotator, that annotator has no MSE and rho is undefined.

    Source: Ethayarajh & Sadigh (2020), section 5.1.
    """
    if len(rater) == 0:
        nothing = Estimate(float("nan"))
        return Humans(nothing, nothing, nothing, nothing, 0, 0)
    names, number = np.unique(rater, return_inverse=True)
    owns = [np.flatnonzero(number == i) for i in range(len(names))]
    mse = [mean_squared_error(rating[own], truth[candidate[own]]) for own in owns]
    found = np.array([spearman(rating[own], truth[candidate[own]])[0] for own in owns])
    lost = np.isnan(found)
    rho = np.where(lost, undefined, found)
    mse_blocks, rho_blocks = [], []
    for weights in draw_blocks(len(truth), draws, seed):
        mse_block = np.empty((len(owns), len(weights)))
        # without a rho of all candidates, a draw of some of them has none either
        rho_block = np.full((len(owns), len(weights)), undefined)
        for i, own in enumerate(owns):
            given, seen = rating[own], candidate[own]
            inside = np.take(weights, seen, axis=1)
            mse_block[i] = weighted_mean((given - truth[seen]) ** 2, inside)
            if not lost[i]:
                drawn = weighted_spearman(given, truth[seen], inside)
                rho_block[i] = np.where(np.isnan(drawn), undefined, drawn)
        mse_blocks.append(mse_block)
        rho_blocks.append(rho_block)

    def row(values: Array, blocks: list[Array], best: str) -> tuple[Estimate, Estimate]:
        stacked = np.concatenate(blocks, axis=1)
        pick = {"min": np.nanmin, "max": np.nanmax}[best]
        with warnings.catch_warnings():
            # that all annotators are left out is no accident: the estimate is then NaN
            warnings.simplefilter("ignore", RuntimeWarning)
            average = Estimate(float(np.nanmean(values)), *interval(np.nanmean(stacked, axis=0)))
            return average, Estimate(float(pick(values)), *interval(pick(stacked, axis=0)))

    average_mse, best_mse = row(np.array(mse), mse_blocks, "min")
    average_rho, best_rho = row(rho, rho_blocks, "max")
    return Humans(average_mse, average_rho, best_mse, best_rho, len(mse), int(lost.sum()))
