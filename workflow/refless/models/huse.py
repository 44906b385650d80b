"""HUSE: how well can human and model texts be told apart by quality and by log-probability?

Stage: cell. In: for each text of a batch, human judgment, log-probability under the model, length,
and who wrote it. Out: HUSE, HUSE-Q and HUSE-D, and their values under bootstrap weights.

HUSE is twice the leave-one-out error of a nearest-neighbor classifier on two features (judgment,
log-probability a word), each divided by its standard deviation; HUSE-Q the same on the judgment
alone; HUSE-D = 1 + HUSE - HUSE-Q. 1 means that the texts cannot be told apart; more than 1 happens,
since of the texts that are left when one is left out, one more is of the other kind.

Source: Hashimoto, Zhang & Liang (2019), "Unifying human and statistical evaluation for natural
language generation", and, where the paper is silent, the authors' published code, whose choices
are these: 16 neighbors and all that are as near as the 16th; a draw of votes counts as human; the
standard deviation is the population's over the whole batch; a log-probability of minus infinity
counts as -1000; a text's length is the number of pieces between single blanks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refless.errors import SettingError

Array = np.ndarray

NEIGHBORS = 16
LEAST_LOGP = -1000.0


@dataclass(frozen=True)
class Batch:
    """Human texts and one model's texts, as they were judged.

    quality : judgment (any scale), shape (n,), finite
    logp : log-probability under the model, shape (n,); may be -inf
    words : length, shape (n,), at least 1
    by_model : whether the model wrote the text, shape (n,), bool
    """

    quality: Array
    logp: Array
    words: Array
    by_model: Array

    def check(self, neighbors: int = NEIGHBORS) -> Batch:
        """Return self.

        Raises
        ------
        SettingError : shapes differ, a number is missing, a feature or the writer is the same for
            all texts, or there are not more texts than neighbors.
        """
        n = len(self.quality)
        if not n == len(self.logp) == len(self.words) == len(self.by_model):
            raise SettingError("quality, log-probability, length and writer differ in number")
        if n <= neighbors:
            raise SettingError(f"{n} texts are too few to have {neighbors} neighbors each")
        if not np.isfinite(self.quality).all() or np.isnan(self.logp).any():
            raise SettingError("a text has no judgment or no log-probability")
        if (self.words < 1).any():
            raise SettingError("a text has no length")
        if self.by_model.all() or not self.by_model.any():
            raise SettingError("HUSE needs human texts and texts of the model")
        if np.ptp(self.quality) == 0 or np.ptp(logp_per_word(self.logp, self.words)) == 0:
            raise SettingError("all judgments or all log-probabilities are alike")
        return self


def logp_per_word(logp: Array, words: Array) -> Array:
    """Log-probability divided by length, shape (n,); minus infinity counts as -1000 before."""
    return np.where(np.isneginf(logp), LEAST_LOGP, logp) / words


def features(batch: Batch) -> Array:
    """Judgment and log-probability a word, each over its standard deviation, shape (n, 2)."""
    logp = logp_per_word(batch.logp, batch.words)
    return np.column_stack([batch.quality / np.std(batch.quality), logp / np.std(logp)])


def accuracy(
    points: Array,
    by_model: Array,
    weights: Array,
    neighbors: int = NEIGHBORS,
    decimals: int | None = None,
) -> Array:
    """Leave-one-out accuracy of the nearest-neighbor classifier under weights, shape (draws,).

    Parameters
    ----------
    points : features, shape (n, n_features)
    by_model : shape (n,), bool
    weights : how often each text is there, shape (draws, n). A text's own copies are left out with
        it; otherwise a bootstrap draw would find the answer at distance 0.
    neighbors : votes, at the least: all texts as near as the last of them vote as well
    decimals : squared distances are rounded so, so that what is equally near but for rounding
        noise is equally near; None takes them as they are, as the published code does
    """
    # texts down, draws across: a text's row is then read in one go
    there = np.ascontiguousarray(np.asarray(weights, np.float64).T)
    draw = np.arange(there.shape[1])
    right = np.zeros(there.shape[1])
    for i in range(len(points)):
        distance = ((points - points[i]) ** 2).sum(axis=1)
        if decimals is not None:
            distance = np.round(distance, decimals)
        order = np.argsort(distance, kind="stable")
        order = order[order != i]
        # where the texts that are as near as this one end
        last = np.searchsorted(distance[order], distance[order], side="right") - 1
        looked_at = min(3 * neighbors, len(order))
        while True:  # the nearest are nearly always enough
            near = order[: last[looked_at - 1] + 1]
            votes = np.cumsum(there[near], axis=0)
            if len(near) == len(order) or votes[-1].min() >= neighbors:
                break
            looked_at = min(2 * len(near), len(order))
        model = np.cumsum(there[near] * by_model[near, None], axis=0)
        cut = last[np.minimum((votes < neighbors).sum(axis=0), len(near) - 1)]
        says_model = 2 * model[cut, draw] > votes[cut, draw]
        right += there[i] * (says_model == by_model[i])
    return right / there.sum(axis=0)


def scores(
    batch: Batch,
    weights: Array | None = None,
    neighbors: int = NEIGHBORS,
    decimals: int | None = None,
) -> Array:
    """HUSE, HUSE-Q, HUSE-D, and twice the error by log-probability alone, shape (draws, 4).

    Without weights, one draw of everything once. Under weights, features keep the scale of the
    whole batch.

    Raises
    ------
    SettingError : see `Batch.check`.
    """
    points = features(batch.check(neighbors))
    if weights is None:
        weights = np.ones((1, len(points)))
    # as the published code counts: first accuracies, then their distance from chance
    both, quality, logp = (
        2 * accuracy(own, batch.by_model, weights, neighbors, decimals) - 1
        for own in (points, points[:, :1], points[:, 1:])
    )
    return np.column_stack([1 - both, 1 - quality, 1 - both + quality, 1 - logp])


def draw_batches(by_model: Array, draws: int, seed: int) -> Array:
    """Bootstrap weights that leave the number of human and of model texts, shape (draws, n)."""
    generator = np.random.default_rng(seed)
    weights = np.zeros((draws, len(by_model)), np.int32)
    groups = [np.flatnonzero(by_model), np.flatnonzero(~by_model)]
    for row in weights:
        for group in groups:
            drawn = generator.integers(0, len(group), len(group))
            row[group] = np.bincount(drawn, minlength=len(group))
    return weights
