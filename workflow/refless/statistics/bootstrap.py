"""The bootstrap: samples as weights, and intervals of what is found on them.

Stage: cell. In: a number of candidates. Out: weights (draws, candidates), uint16, which say how
often a draw with replacement has each candidate; intervals. No result depends on the size of a
block, and more draws keep the first ones.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Self

import numpy as np

Array = np.ndarray

BLOCK = 1 << 21
"""Weights that a bootstrap holds at a time."""
KEPT = 1 << 26
"""Weights up to which all draws are kept for the next row of a table: 128 MB."""
FEWEST_CONTEXTS = 10
"""The number of contexts from which on they are resampled."""
FEWEST_TEXTS = 30
"""The number of different texts without which there is no interval."""
FEWEST_EFFECTIVE = 3.0
"""Effective units, such as contexts, without which there is no interval."""
ENOUGH_UNITS = 30
"""Resampled units from which on draws need no Student's t, see `spread_scale`."""
TAIL = 0.025
"""Share of the draws beyond either end of an interval."""


@dataclass(frozen=True)
class IntervalEstimate:
    """A number with its 95% bootstrap interval, NaN where it is undefined, and the draws (draws,)
    that it is from, if they are kept.

    >>> draws = np.arange(-50, 51) / 500
    >>> a, b = IntervalEstimate.of(0.5, 0.5 + draws), IntervalEstimate.of(0.2, 0.2 + draws)
    >>> round(a.low, 3), round(a.high, 3), round((a - b).value, 3)
    (0.405, 0.595, 0.3)
    """

    value: float
    low: float = float("nan")
    high: float = float("nan")
    draws: Array | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, value: float, draws: Array, tests: int = 1) -> Self:
        """Return a number with the interval of its draws, float64 (draws,), by `interval`."""
        return cls(float(value), *interval(draws, tests), draws)

    def with_spread(self, scale: float | Array, lowest: float, highest: float) -> Self:
        """Return the same number with draws that spread ``scale`` times as far, by
        `spread_draws`."""
        if self.draws is None:
            return self
        draws = spread_draws(self.value, self.draws, scale, lowest, highest)
        return self.of(self.value, draws)

    def __sub__(self, other: Self) -> Self:
        """The difference, on the draws that both have; NaN ends where one has none."""
        value = self.value - other.value
        if self.draws is None or other.draws is None:
            return type(self)(value)
        n = min(len(self.draws), len(other.draws))
        return self.of(value, self.draws[:n] - other.draws[:n])


def packed(draws: Array) -> str:
    """Draws (draws,) as text for a cell of a table: float32 in base64.

    >>> packed(np.array([0.5, 0.25]))
    'AAAAPwAAgD4='
    """
    return b64encode(draws.astype("<f4").tobytes()).decode()


def unpacked(text: str) -> Array:
    """The draws of `packed`, float64.

    >>> unpacked(packed(np.array([0.5, 0.25])))
    array([0.5 , 0.25])
    """
    return np.frombuffer(b64decode(text), "<f4").astype(np.float64)


def bootstrap(statistic: Callable[[Array], Array], blocks: Iterable[Array]) -> Array:
    """What a statistic, from weights (draws, candidates) to numbers (..., draws), gives on every
    draw of `draw_blocks`, shape (..., draws).

    >>> bootstrap(lambda weights: weights @ np.array([1.0, 3.0]) / 2, draw_blocks(2, 4, seed=0))
    array([3., 2., 1., 1.])
    """
    return np.concatenate([statistic(weights) for weights in blocks], axis=-1)


def interval(draws: Array, tests: int = 1) -> tuple[float, float]:
    """95% percentile interval of bootstrap draws; NaN where more than `TAIL` of them have no value,
    as a rho that one candidate decides has none in each draw that misses this one.

    tests : estimates of which this is the best: all their intervals hold together (Bonferroni)

    >>> interval(np.arange(0, 1001) / 1000)
    (0.025, 0.975)
    """
    defined = draws[~np.isnan(draws)]
    if len(defined) == 0 or len(draws) - len(defined) > TAIL * len(draws):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [TAIL / tests, 1 - TAIL / tests])
    return float(low), float(high)


def contexts_if_enough(context: Array | None, fewest: int = FEWEST_CONTEXTS) -> Array | None:
    """``context`` itself, int64 (candidates,), where it has ``fewest`` different values or more;
    else None: each candidate, or text, is then resampled by itself.

    >>> contexts_if_enough(np.array([0, 0, 1]), fewest=2), contexts_if_enough(np.array([0, 0, 1]))
    (array([0, 0, 1]), None)
    """
    return None if context is None or len(np.unique(context)) < fewest else context


@dataclass(frozen=True)
class ResamplingUnits:
    """What a bootstrap resamples whole: units such as contexts, each with all its candidates; and
    beside them texts that stand in several units, where a candidate counts as often as its unit
    times its text.

    primary, crossed : of each candidate, int64 (candidates,). Where there are both, a primary of -1
        is resampled by its text alone, a crossed of -1 by its context alone, and the others by
        both: their weight is a product (`draw_blocks`)

    >>> ResamplingUnits(np.array([0, 0, 1])).number
    2
    """

    primary: Array
    crossed: Array | None = None

    @cached_property
    def number(self) -> int:
        """The number of units. A text that is resampled in place of its contexts counts as one."""
        primary = len(np.unique(self.primary[self.primary >= 0]))
        if self.crossed is None:
            return primary
        return primary + len(np.unique(self.crossed[self.primary < 0]))

    @cached_property
    def effective(self) -> float:
        """The effective number of units, (sum n)^2 / sum n^2 of their sizes: `number` where all
        have as many candidates, about 1 where one has nearly all.

        >>> ResamplingUnits(np.array([0, 0, 0, 1])).effective
        1.6
        """
        units = self.primary
        if self.crossed is not None:
            units = np.where(units < 0, units.max() + 1 + self.crossed, units)
        sizes = np.bincount(units)
        return float(sizes.sum() ** 2 / (sizes**2).sum())

    def distinct(self) -> tuple["ResamplingUnits", Array]:
        """Each combination once, and which one each candidate has, int64 (candidates,)."""
        columns = [self.primary] if self.crossed is None else [self.primary, self.crossed]
        units, inverse = np.unique(np.stack(columns), axis=1, return_inverse=True)
        crossed = None if self.crossed is None else units[1]
        return ResamplingUnits(units[0], crossed), inverse.reshape(-1)


def crossed_units(
    context: Array | None, text: Array, never_crossed: Array | None = None
) -> ResamplingUnits:
    """What is resampled of candidates some of which are the same text: contexts, if there are
    enough, else texts; where a text stands in several contexts, both.

    context, text : their numbers, int64 (candidates,)
    never_crossed : bool (candidates,), texts that are not resampled beside contexts, such as those
        of a system that always says the same

    >>> crossed_units(context=None, text=np.array([0, 0, 1])).primary
    array([0, 0, 1])
    >>> units = crossed_units(np.arange(12) // 2, np.array([0, *range(11)]))  # 6 contexts: too few
    >>> units.number
    11
    """
    units = contexts_if_enough(context)
    if units is None:
        return ResamplingUnits(text)
    may_cross = np.ones(len(text), bool) if never_crossed is None else ~never_crossed
    pairs = np.unique(np.stack([units, text, may_cross]), axis=1)
    crossing = may_cross & (np.bincount(pairs[1], pairs[2])[text] > 1)
    alone_in_context = crossing & (np.bincount(pairs[0])[units] == 1)
    if alone_in_context.all():
        return ResamplingUnits(text)
    if not crossing.any():
        return ResamplingUnits(units)
    primary, crossed = np.full((2, len(text)), -1, np.int64)
    primary[~alone_in_context] = np.unique(units[~alone_in_context], return_inverse=True)[1]
    crossed[crossing] = np.unique(text[crossing], return_inverse=True)[1]
    return ResamplingUnits(primary, crossed)


def t_quantile(freedom: float) -> float:
    """The quantile of Student's t at the upper end of a 95% interval.

    >>> round(t_quantile(3), 2), round(t_quantile(np.inf), 2)
    (3.18, 1.96)
    """
    from scipy.special import ndtri, stdtrit

    return float(ndtri(1 - TAIL) if np.isinf(freedom) else stdtrit(freedom, 1 - TAIL))


def spread_draws(
    value: float,
    draws: Array,
    scale: float | Array,
    lowest: float = -np.inf,
    highest: float = np.inf,
) -> Array:
    """Draws (draws,) of an estimate, centred on it, with ``scale`` times their spread, one number
    or one a draw, and inside the range of what is estimated. A correlation, from -1 to 1, is spread
    on Fisher's scale, artanh.

    >>> spread_draws(0.0, np.array([-0.1, 0.1]), scale=2)
    array([-0.2,  0.2])
    """
    if np.all(scale == 1) or np.isnan(draws).all():
        return draws
    if (lowest, highest) == (-1, 1):
        edge = 1 - 1e-12
        ends = np.arctanh(np.clip(value, -edge, edge)), np.arctanh(np.clip(draws, -edge, edge))
        return np.tanh(spread_draws(*ends, scale))
    return np.clip(value + scale * (draws - np.nanmean(draws)), lowest, highest)


def held_fixed(value: float, draws: Array, factor: float, correlation: bool = False) -> Array:
    """Draws (draws,) centred on the value, as they were before `spread_draws` by one number,
    ``factor``; those of a correlation on Fisher's scale.

    >>> spread = spread_draws(0.5, np.array([0.2, 0.6, 0.7]), 1.5, -1, 1)
    >>> fixed = held_fixed(0.5, spread, 1.5, correlation=True)
    >>> bool(np.allclose(spread, spread_draws(0.5, fixed, 1.5, -1, 1)))
    True
    """
    if correlation:
        edge = 1 - 1e-12
        ends = np.arctanh(np.clip(value, -edge, edge)), np.arctanh(np.clip(draws, -edge, edge))
        return np.asarray(np.tanh(held_fixed(*ends, factor)))
    return np.asarray(value + (draws - np.nanmean(draws)) / factor)


def training_factor(training_share: float) -> float:
    """How much the standard error of a cross-validated estimate exceeds that of fixed predictions,
    since the method would have learned something else from other training texts.

    training_share : training texts of a fold over all candidates that are estimated

    Source: Nadeau and Bengio (2003), "Inference for the generalization error", equation 8 and
    section 5: a variance of (1 / J + n2 / n1) s^2 over J folds with n1 training texts and n2
    candidates, where fixed predictions have s^2 / J.

    >>> training_factor(4 / 5)
    1.5
    """
    return float((1 + 1 / training_share) ** 0.5)


def t_scale(units: int, draws: int, seed: int) -> Array:
    """How much further each draw of a mean of few resampled units has to lie from it, (draws,), so
    that draws have Student's t distribution: sqrt(n / chi2(n - 1)) turns a variance of n units into
    one that their small number leaves open. Of one seed, all rows of a table have the same, so that
    their draws can be subtracted; more draws keep the first ones.

    >>> [round(float(t_scale(units, draws=9000, seed=0).mean()), 1) for units in (5, 500)]
    [1.4, 1.0]
    """
    if units < 2:
        return np.full(draws, np.nan)
    chi2 = np.random.default_rng([seed, 3]).chisquare(units - 1, draws)
    return np.asarray(np.sqrt(units / chi2))


def spread_scale(
    units: int | None, training_share: float | None, draws: int, seed: int
) -> float | Array:
    """How much further the draws of an estimate spread than those of a bootstrap with fixed
    predictions: `t_scale` of fewer than `ENOUGH_UNITS` ``units`` (None: enough), times
    `training_factor` (None: predictions are held fixed). One number, or one a draw, (draws,).

    >>> spread_scale(units=100, training_share=4 / 5, draws=2000, seed=0)
    1.5
    >>> spread_scale(units=12, training_share=None, draws=2000, seed=0).shape
    (2000,)
    """
    learning = 1.0 if training_share is None else training_factor(training_share)
    if units is None or units >= ENOUGH_UNITS:
        return learning
    return learning * t_scale(units, draws, seed)


def t_draws(values: Array, draws: int, seed: int) -> Array:
    """Draws of the mean of a few values (values,), shape (draws,): their quantiles are those of the
    t interval, and differences of draws of one seed are those of paired values.

    >>> draws = t_draws(np.array([0.1, 0.3, 0.2, 0.4]), draws=20_000, seed=0)
    >>> np.quantile(draws, [0.025, 0.975]).round(1)  # 0.25 - 3.18 * 0.065, 0.25 + 3.18 * 0.065
    array([0. , 0.5])
    """
    few = len(values)
    generator = np.random.default_rng([seed, 4])
    away = generator.standard_normal((draws, few)) @ (values - values.mean()) / few
    return np.asarray(values.mean() + t_scale(few, draws, seed) * away)


def draw_blocks(units: int | Array | ResamplingUnits, draws: int, seed: int) -> Iterator[Array]:
    """Yield weights (draws, candidates), a block of `BLOCK` numbers, or one row, at a time.

    ``units`` is the number of candidates, each resampled by itself; or the unit of each (0, 1,
    ...), int64 (candidates,); or both units and texts.

    >>> [block.shape for block in draw_blocks(np.array([0, 0, 1]), draws=4, seed=0)]
    [(4, 3)]
    """
    if isinstance(units, int | np.integer):
        units = np.arange(units)
    if not isinstance(units, ResamplingUnits):
        units = ResamplingUnits(units)
    primary = units.primary
    crossed = units.crossed
    n = int(primary.max()) + 1
    if crossed is not None:  # what is not resampled counts once, in column 0
        texts = int(crossed.max()) + 1
        primary = primary + 1
        crossed = np.where(crossed < 0, 0, crossed + 1 + n)
        n += texts
    poisson = crossed is not None
    kept = n * draws <= KEPT
    weights = [draw_weights(n, draws, seed, poisson)] if kept else _draw(n, draws, seed, poisson)
    for block in weights:
        step = max(1, BLOCK // len(primary))
        for start in range(0, len(block), step):
            rows = block[start : start + step]
            if crossed is None:
                yield rows[:, primary]
            else:
                rows = np.insert(rows, 0, 1, axis=1)
                yield rows[:, primary] * rows[:, crossed]


@lru_cache(maxsize=4)
def draw_weights(n: int, draws: int, seed: int, poisson: bool = False) -> Array:
    """Weights of ``draws`` bootstrap samples of n candidates, shape (draws, n).

    Kept, since a table asks for the same draws for each of its rows; not to be written to.

    >>> draw_weights(5, draws=3, seed=0).sum(axis=1)
    array([5, 5, 5], dtype=uint64)
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
