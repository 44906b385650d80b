"""How well scores tell systems apart: soft pairwise accuracy, and r of the systems' means.

Both are over the contexts for which every system has a text.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from refless.statistics.bootstrap import FEWEST_CONTEXTS, bootstrap, draw_blocks

Array = np.ndarray

PERMUTATIONS = 1000
"""The number of permutations in the test of two systems, as in mt-metrics-eval."""
SEED = 4
"""The seed of these permutations, as in mt-metrics-eval."""


class SystemGrid(NamedTuple):
    """The texts of the contexts for which every system has one."""

    rows: Array  # of the texts, int64 (texts,)
    cell: Array  # of each text: context times systems plus system, int64 (texts,)
    contexts: int
    systems: int

    def means(self, values: Array) -> Array:
        """The mean of each system's texts for each context, float64 (contexts, systems)."""
        size = np.bincount(self.cell)
        total = np.bincount(self.cell, values[self.rows])
        return (total / size).reshape(self.contexts, self.systems)


def system_grid(system: Array | None, context: Array | None) -> tuple[SystemGrid | None, str]:
    """The grid of texts by the number of their system and context, int64 (n,); or None, and why."""
    if system is None:
        return None, "there is one system, or no column system"
    if context is None:
        return None, "there is one context, or no column context or mr"
    systems = int(system.max()) + 1
    pairs = np.unique(np.stack([context, system]), axis=1)
    complete = np.bincount(pairs[0]) == systems
    if complete.sum() < 2:
        return None, "fewer than two contexts have a text of every system"
    rows = np.flatnonzero(complete[context])
    cell = (np.cumsum(complete) - 1)[context[rows]] * systems + system[rows]
    return SystemGrid(rows, cell, int(complete.sum()), systems), ""


def permutation_p(values: Array, permutations: int = PERMUTATIONS, seed: int = SEED) -> Array:
    """One-sided p of each two systems i < j, float64 (pairs,), of the paired permutation test that
    the mean of the first is greater, from values (contexts, systems). A permutation that gives the
    same difference counts. All pairs have the same signs, those of mt-metrics-eval's ``pce.py``."""
    contexts, systems = values.shape
    uniform = np.random.default_rng(seed).random((permutations, contexts), dtype=np.float32)
    signs = 2 * np.rint(uniform).astype(np.float64) - 1
    first, second = np.triu_indices(systems, 1)
    centred = values - values.mean()
    total = centred.sum(axis=0)
    permuted = signs @ centred
    noise = 1e-9 * np.abs(centred).sum(axis=0).max()
    exceeds = permuted[:, first] - permuted[:, second] >= total[first] - total[second] - noise
    return np.asarray(exceeds.mean(axis=0))


def soft_pairwise_accuracy(
    people: Array, scores: Array, permutations: int = PERMUTATIONS, seed: int = SEED
) -> float:
    """1 less the mean difference of the p that people's ratings and scores, each (contexts,
    systems), give to each two systems; 0 to 1, and NaN with one system.

    Source: Thompson et al. (2024), "Improving Statistical Significance in Human Evaluation of
    Automatic Metrics via Soft Pairwise Accuracy", equation 3.
    """
    if people.shape[1] < 2:
        return float("nan")
    p = [permutation_p(values, permutations, seed) for values in (people, scores)]
    return float(1 - np.abs(p[0] - p[1]).mean())


def system_measures(
    people: Array, scores: Array, draws: int, bootstrap_seed: int
) -> dict[str, Array]:
    """``pairwise_accuracy``, and draws of it from `FEWEST_CONTEXTS` contexts on: shape (1 +
    draws,), centred, with p by the normal approximation; and ``pearson_of_systems``, shape (1,),
    NaN with two systems. Where all scores are equal, both are NaN."""
    ranks = np.ptp(scores) > 1e-12
    accuracy = soft_pairwise_accuracy(people, scores) if ranks else np.nan
    values = np.empty(0)
    if len(people) >= FEWEST_CONTEXTS and draws:
        p = [_drawn_p(v.tobytes(), people.shape, draws, bootstrap_seed) for v in (people, scores)]
        values = 1 - np.abs(p[0] - p[1]).mean(axis=1)
        values = np.clip(accuracy + values - values.mean(), 0, 1)
    r = np.nan
    means = (people.mean(axis=0), scores.mean(axis=0))
    if ranks and len(means[0]) > 2 and min(map(np.ptp, means)) > 1e-12:
        r = np.corrcoef(*means)[0, 1]
    return {"pairwise_accuracy": np.append(accuracy, values), "pearson_of_systems": np.array([r])}


@lru_cache(maxsize=2)  # people's are those of every method
def _drawn_p(content: bytes, shape: tuple[int, int], draws: int, seed: int) -> Array:
    """What `permutation_p` comes to with many contexts, on each draw of contexts, shape (draws,
    pairs), from the bytes of values (contexts, systems); 1 where all are equal."""
    values = np.frombuffer(content).reshape(shape)
    first, second = np.triu_indices(shape[1], 1)
    squared = (values[:, first] - values[:, second]) ** 2

    def normal_p(weights: Array) -> Array:
        counts = weights.astype(np.float64)
        sums = counts @ values
        squares = counts @ squared
        total = sums[:, first] - sums[:, second]
        ratio = total / np.sqrt(np.where(squares > 0, squares, 1))
        return np.where(squares > 0, ndtr(-ratio), 1.0).T

    return bootstrap(normal_p, draw_blocks(shape[0], draws, seed)).T
