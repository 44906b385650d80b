"""The bootstrap: samples as weights, and intervals from what was found on them.

Stage: cell. In: a number of candidates. Out: weights; intervals of what they give.

A draw of n candidates with replacement says how often each candidate was drawn, and every
statistic of this package takes such weights. They come a block at a time, so that memory does not
grow with draws times candidates; every number of a draw comes from that draw's row alone, so no
result depends on the size of a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

BLOCK = 1 << 21
"""Weights that a bootstrap holds at a time: 16 MB, and a few times that while it computes."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95% bootstrap interval; NaN where it is undefined."""

    value: float
    low: float = float("nan")
    high: float = float("nan")

    def columns(self, name: str) -> dict[str, float]:
        """As the columns ``name``, ``name_low`` and ``name_high`` of a table."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}


def interval(draws: Array, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval of the bootstrap draws, undefined draws left out; NaN without any."""
    draws = draws[~np.isnan(draws)]
    if len(draws) == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def draw_weights(n: int, draws: int, seed: int) -> Array:
    """Multiplicities of ``draws`` bootstrap samples of n candidates, shape (draws, n), int32."""
    weights = np.empty((draws, n), np.int32)
    done = 0
    for block in draw_blocks(n, draws, seed):
        weights[done : done + len(block)] = block
        done += len(block)
    return weights


def draw_blocks(n: int, draws: int, seed: int) -> Iterator[Array]:
    """Yield the rows of `draw_weights` a block at a time, float64: BLOCK numbers, or one row."""
    generator = np.random.default_rng(seed)
    for start in range(0, draws, max(1, BLOCK // max(n, 1))):
        rows = min(max(1, BLOCK // max(n, 1)), draws - start)
        block = np.empty((rows, n), np.float64)
        for row in block:
            row[:] = np.bincount(generator.integers(0, n, n), minlength=n)
        yield block
