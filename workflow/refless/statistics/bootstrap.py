"""The bootstrap: samples as weights, and intervals of what is found on them.

Stage: cell. In: a number of candidates. Out: weights (draws, candidates), uint16, which say how
often a draw with replacement has each candidate; intervals. No result depends on the size of a
block, and more draws keep the first ones.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray

BLOCK = 1 << 21
"""Weights that a bootstrap holds at a time."""
KEPT = 1 << 26
"""Weights up to which all draws are kept for the next row of a table: 128 MB."""
ENOUGH_UNITS = 30
"""Fewer of them are too few to be drawn: of 20, chance lies outside of the interval in a fifth of
data sets, of 30 in 7%."""
TAIL = 0.025
"""Share of the draws beyond either end of an interval."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95% bootstrap interval, NaN where it is undefined, and the draws (draws,)
    that it is from, if they are kept."""

    value: float
    low: float = float("nan")
    high: float = float("nan")
    draws: Array | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, value: float, draws: Array) -> "Estimate":
        """With the interval of its draws."""
        return cls(float(value), *interval(draws), draws)

    def less(self, other: "Estimate") -> "Estimate":
        """The difference, on the draws that both have; NaN ends where one has none."""
        value = self.value - other.value
        if self.draws is None or other.draws is None:
            return Estimate(value)
        n = min(len(self.draws), len(other.draws))
        return Estimate.of(value, self.draws[:n] - other.draws[:n])

    def columns(self, name: str) -> dict[str, Any]:
        """As the columns ``name``, ``name_low``, ``name_high`` and, where draws are kept,
        ``name_draws`` (by `packed`) of a table."""
        found = {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}
        return found if self.draws is None else {**found, f"{name}_draws": packed(self.draws)}


def packed(draws: Array) -> str:
    """Draws (draws,) as text for a cell of a table: float32 in base64."""
    return b64encode(draws.astype("<f4").tobytes()).decode()


def unpacked(text: str) -> Array:
    """The draws of `packed`, float64."""
    return np.frombuffer(b64decode(text), "<f4").astype(np.float64)


def bootstrap(statistic: Callable[[Array], Array], blocks: Iterable[Array]) -> Array:
    """What a statistic, from weights (draws, candidates) to numbers (..., draws), gives on every
    draw of `draw_blocks`, shape (..., draws)."""
    return np.concatenate([statistic(weights) for weights in blocks], axis=-1)


def interval(draws: Array) -> tuple[float, float]:
    """95% percentile interval of bootstrap draws; NaN where more than `TAIL` of them have no value,
    as a rho that one candidate decides has none in each draw that misses this one."""
    there = draws[~np.isnan(draws)]
    if len(there) == 0 or len(draws) - len(there) > TAIL * len(draws):
        return float("nan"), float("nan")
    low, high = np.quantile(there, [TAIL, 1 - TAIL])
    return float(low), float(high)


def drawn_whole(unit: Array | None) -> Array | None:
    """The unit of each candidate, int64 (candidates,), if there are `ENOUGH_UNITS`, else None."""
    return None if unit is None or len(np.unique(unit)) < ENOUGH_UNITS else unit


def drawn_together(unit: Array | None, text: Array, stays: Array | None = None) -> Array:
    """What is drawn of candidates some of which may be the same text: the unit, if there are
    `ENOUGH_UNITS`, else the text, by their numbers, int64 (candidates,); where texts are of several
    units, both, (candidates, 2), from 1 on. There, 0 is what is not drawn, since the other is: a
    text of one unit alone, and a unit of one text alone that is of several. Texts that ``stays``
    names, bool (candidates,), are not drawn beside units.
    """
    whole = drawn_whole(unit)
    if whole is None:
        return text
    moves = np.ones(len(text), bool) if stays is None else ~stays
    pairs = np.unique(np.stack([whole, text, moves]), axis=1)
    crossing = moves & (np.bincount(pairs[1], pairs[2])[text] > 1)
    inside = crossing & (np.bincount(pairs[0])[whole] == 1)
    if inside.all():
        return text
    if not crossing.any():
        return whole
    found = np.zeros((len(text), 2), np.int64)
    for column, own, there in ((0, whole, ~inside), (1, text, crossing)):
        found[there, column] = 1 + np.unique(own[there], return_inverse=True)[1]
    return found


def draw_blocks(of: int | Array, draws: int, seed: int) -> Iterator[Array]:
    """Yield weights (draws, candidates), a block of `BLOCK` numbers, or one row, at a time.

    ``of`` is the number of candidates; or the unit of each candidate (0, 1, ...), int64
    (candidates,), which is then drawn with all of them; or unit and text by `drawn_together`: a
    candidate counts as often as its unit times its text.
    """
    columns = np.atleast_2d(np.arange(of) if isinstance(of, int | np.integer) else of.T)
    if both := len(columns) == 2:
        columns = np.where(columns > 0, columns + np.array([[0], [columns[0].max()]]), 0)
    n = int(columns.max()) + (not both)
    kept = n * draws <= KEPT
    for block in [draw_weights(n, draws, seed, both)] if kept else _draw(n, draws, seed, both):
        step = max(1, BLOCK // columns.shape[1])
        for start in range(0, len(block), step):
            rows = block[start : start + step]
            if both:  # what is not drawn counts once
                rows = np.insert(rows, 0, 1, axis=1)
                yield rows[:, columns[0]] * rows[:, columns[1]]
            else:
                yield rows[:, columns[0]]


@lru_cache(maxsize=4)
def draw_weights(n: int, draws: int, seed: int, poisson: bool = False) -> Array:
    """Weights of ``draws`` bootstrap samples of n candidates, shape (draws, n).

    Kept, since a table asks for the same draws for each of its rows; not to be written to.
    """
    weights = np.concatenate([*_draw(n, draws, seed, poisson)])
    weights.flags.writeable = False
    return weights


def _draw(n: int, draws: int, seed: int, poisson: bool) -> Iterator[Array]:
    """Blocks of weights; ``poisson`` ones of mean 1 are what a draw of many comes to (Owen 2007,
    "The pigeonhole bootstrap"; Hanley & MacGibbon 2006)."""
    generator = np.random.default_rng(seed)
    step = max(1, BLOCK // n)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        if poisson:
            counts = generator.poisson(1.0, (rows, n))
        else:
            chosen = generator.integers(0, n, (rows, n)) + n * np.arange(rows)[:, None]
            counts = np.bincount(chosen.ravel(), minlength=rows * n).reshape(rows, n)
        yield counts.astype(np.uint16)
