"""How far one method's correlation is ahead of another's, with draws for an interval.

Both sides are treated alike: they are resampled on the same draws with their estimates held fixed,
then subtracted, and the spread that other training texts would add belongs to the difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.statistics.bootstrap import spread_scale, training_factor

Array = np.ndarray


@dataclass(frozen=True)
class FixedDraws:
    """The correlation that decides a split, with the estimates held fixed.

    values : the correlation, and then that of each draw, float64 (1 + draws,); 0 where nothing is
        ranked
    moved : where systems are left out, by how much the correlation within the systems' texts moves
        in each draw of texts, float64 (draws,); 0 elsewhere
    learns : whether the method learns more from training texts than a line, which ranks texts the
        same whatever it is
    """

    values: Array
    moved: Array
    learns: bool

    @classmethod
    def nothing(cls, draws: int) -> "FixedDraws":
        """Return the draws of a constant, which ranks nothing: each correlation is 0."""
        return cls(np.zeros(1 + draws), np.zeros(draws), learns=False)

    @property
    def draws(self) -> int:
        """The number of draws."""
        return len(self.values) - 1

    def with_draws(self, draws: int) -> "FixedDraws":
        """Return the same with so many draws, NaN if there are none: of a method that abstains from
        all texts of a system.

        >>> FixedDraws(np.array([np.nan]), np.empty(0), learns=True).with_draws(2).values
        array([nan, nan, nan])
        """
        if self.draws == draws:
            return self
        missing = np.full(draws, np.nan)
        return FixedDraws(np.append(self.values[:1], missing), missing, self.learns)


@dataclass(frozen=True)
class Spread:
    """How far draws of a difference spread.

    by_systems : whether systems are left out, whose own correlations are averaged
    training : the factor of the standard error where either side learns
    few_units : the factor of each draw, float64 (draws,), or 1, where few units are resampled
    """

    by_systems: bool
    training: float
    few_units: float | Array

    @classmethod
    def of_split(cls, split: str, folds: int, units: int, draws: int, seed: int) -> "Spread":
        """Return the spread of differences in one split.

        split, folds : the name of the split, and the number of its folds
        units : the number of resampling units
        draws, seed : the number of draws, and the seed of what few units add to them
        """
        return cls(
            split == "systems",
            training_factor(1 - 1 / folds),
            spread_scale(units, None, draws, seed),
        )


def difference(a: FixedDraws, b: FixedDraws, spread: Spread) -> Array:
    """``a`` less ``b``, and the draws of it, float64 (1 + draws,)."""
    return lead(a, [b], spread)


def lead(candidate: FixedDraws, rivals: Sequence[FixedDraws], spread: Spread) -> Array:
    """How far a candidate is ahead of the best of its rivals, and the draws of it, float64
    (1 + draws,). The rival is chosen in each draw, before anything is spread.

    A draw d of the difference D becomes D + k (d - D), with k above 1 where either side learns: on
    other training texts, it would have ranked texts otherwise. A score and the number of characters
    learn nothing but a line, so their difference spreads as it is drawn:

    >>> score = FixedDraws(np.array([0.5, 0.4, 0.6]), np.zeros(2), learns=False)
    >>> length = FixedDraws(np.array([0.3, 0.3, 0.3]), np.zeros(2), learns=False)
    >>> spread = Spread(by_systems=False, training=1.5, few_units=1.0)
    >>> lead(score, [length], spread).round(2)
    array([0.2, 0.1, 0.3])
    >>> ridge = FixedDraws(score.values, np.zeros(2), learns=True)
    >>> lead(ridge, [length], spread).round(2)
    array([0.2 , 0.05, 0.35])

    Where systems are left out, draws are already of Student's t over systems; what they share, the
    training texts, adds the movement of both sides' correlation with the texts.
    """
    values = np.stack([np.nan_to_num(rival.values) for rival in rivals])
    best = values.argmax(axis=0)
    columns = np.arange(len(best))
    gap = np.nan_to_num(candidate.values) - values[best, columns]
    draws = gap[1:]
    if not len(draws):
        return gap
    learns = np.array([candidate.learns or rival.learns for rival in rivals])[best[1:]]
    factor = np.where(learns, spread.training, 1.0)
    if spread.by_systems:
        moved = np.stack([np.nan_to_num(rival.moved) for rival in rivals])[best[1:], columns[:-1]]
        away = np.nan_to_num(candidate.moved) - moved
        return np.append(gap[0], draws + np.sqrt(factor**2 - 1) * away)
    spread_draws = gap[0] + factor * spread.few_units * (draws - gap[0])
    return np.append(gap[0], np.clip(spread_draws, -2, 2))
