"""How many ratings an interval of a mean takes, from what varies between contexts and within them.

With every text of the contexts rated, the mean of *these* texts is known, but not that of more
contexts of the kind: what contexts differ by is left. A plan must know which of the two is asked,
and say so where no number of texts of these contexts is enough.

Stage: cell. In: ratings, their context, predictions. Out: variances, and numbers of texts.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from refless.statistics.bootstrap import TAIL

Array = np.ndarray

RANGE = (0.07, 0.93)
"""Between these shares of its draws a number lies in 80% of `benchmarks.plans`: 0.1 and 0.9 held in
74 to 82%, since what draws start from is itself uncertain."""
STEPS = 15
"""So many steps has the search for a number of units: it decides the degrees of freedom, which
decide the number."""


def one_way_analysis(
    values: Array, group: Array, weights: Array | None = None
) -> tuple[Array, Array, Array]:
    """Mean squares between and within groups of any size, and the size that groups of one size
    would have to have, each (draws,), under ``weights`` of the groups (draws, groups), by default
    once.

    values : float64 (n,)
    group : of each value, int64 (n,), from 0

    In expectation, the first is the variance within plus this size times the variance between. NaN
    where there is one group, or one value in each.

    Source: Searle, Casella and McCulloch (1992), "Variance components", section 3.6.

    Groups of 1 and 3 are, for their difference, like groups of (4 - 10 / 4) / (2 - 1) = 1.5:

    >>> one_way_analysis(np.array([5.0, 1.0, 2.0, 3.0]), np.array([0, 1, 1, 1]))
    (array([6.75]), array([1.]), array([1.5]))
    """
    size = np.bincount(group).astype(np.float64)
    mean = np.bincount(group, values) / size
    squares = np.bincount(group, (values - mean[group]) ** 2)
    weights = np.ones((1, len(size))) if weights is None else weights
    groups = weights.sum(axis=1)
    n = weights @ size
    with np.errstate(divide="ignore", invalid="ignore"):
        overall = weights @ (size * mean) / n
        above = weights @ (size * mean**2) - n * overall**2
        inside = weights @ squares / (n - groups)
        usual_size = (n - weights @ size**2 / n) / (groups - 1)
        return above / (groups - 1), inside, usual_size


@dataclass(frozen=True)
class VarianceComponents:
    """The variance of values between contexts and within them, from a one-way analysis.

    mean_square_between, mean_square_within, usual_size : see `one_way_analysis`; one number each,
        or one a draw, (draws,)
    values, contexts : their numbers
    """

    mean_square_between: float | Array
    mean_square_within: float | Array
    usual_size: float
    values: int
    contexts: int

    @classmethod
    def of(cls, values: Array, context: Array) -> Self:
        """Return the components of values, float64 (n,), by their context, int64 (n,).

        With one value in each context all that varies is within: contexts say no more than texts.
        With one context, the components are NaN.

        >>> parts = VarianceComponents.of(np.array([1.0, 2, 5, 6]), np.array([0, 0, 1, 1]))
        >>> parts.between, parts.within  # (16 - 0.5) / 2
        (array(7.75), array(0.5))
        """
        number = np.unique(context, return_inverse=True)[1]
        contexts = int(number.max()) + 1
        if contexts == len(values):
            square = values.var(ddof=1) if contexts > 1 else float("nan")
            return cls(square, square, 1.0, len(values), contexts)
        above, inside, size = one_way_analysis(values, number)
        return cls(float(above[0]), float(inside[0]), float(size[0]), len(values), contexts)

    @property
    def between(self) -> Array:
        """The variance between contexts, not below 0, in squared units of the values."""
        away = np.subtract(self.mean_square_between, self.mean_square_within)
        return np.asarray(np.maximum(away / self.usual_size, 0))

    @property
    def within(self) -> Array:
        """The variance within contexts. Where nothing is between contexts, it is the variance of
        all values together."""
        freedom = self.contexts - 1, self.values - self.contexts
        squares = np.multiply(freedom[0], self.mean_square_between)
        squares = squares + np.multiply(freedom[1], self.mean_square_within)
        pooled = squares / (self.values - 1)
        return np.where(self.between > 0, self.mean_square_within, pooled)

    def drawn(self, draws: int, seed: int) -> Self:
        """What the variances might be, given these mean squares: each divided by draws of a
        chi-square over its degrees of freedom, as if values were normal."""
        generator = np.random.default_rng([seed, 6])
        freedom = max(self.contexts - 1, 1), max(self.values - self.contexts, 1)
        of_contexts, of_texts = (generator.chisquare(number, draws) / number for number in freedom)
        if self.contexts == self.values:
            of_texts = of_contexts
        return replace(
            self,
            mean_square_between=self.mean_square_between / of_contexts,
            mean_square_within=self.mean_square_within / of_texts,
        )


def residual_components(quality: Array, predicted: Array, context: Array) -> VarianceComponents:
    """`VarianceComponents` of what predictions leave of the ratings: of ratings less the
    predictions times their least squares weight, not below 0.

    quality, predicted : float64 (n,); predictions are cross-fitted, or given
    context : int64 (n,)

    >>> quality, context = np.array([1.0, 2.0, 5.0, 6.0]), np.array([0, 0, 1, 1])
    >>> float(residual_components(quality, quality / 2, context).within)
    0.0
    """
    away = predicted - predicted.mean()
    square = away @ away
    weight = max(float(away @ quality / square), 0.0) if square > 0 else 0.0
    return VarianceComponents.of(quality - weight * predicted, context)


class Needed(NamedTuple):
    """A number, and the range in which it lies in 80%; inf: no number is enough. Where ``high``
    alone is inf, it is open whether one is: say so, rather than name the number."""

    number: float
    low: float
    high: float


class MeanPlan(NamedTuple):
    """What an interval of a width takes: ``texts`` of these contexts to be rated, rated ones
    included; and ``contexts`` of these sizes if each of their texts is rated."""

    texts: Needed
    contexts: Needed


def plan_mean(
    ratings: VarianceComponents,
    residuals: VarianceComponents,
    sizes: Array,
    width: float,
    these_outputs: bool = False,
    draws: int = 1000,
    seed: int = 0,
) -> MeanPlan:
    """How many of N texts, drawn at random, have to be rated for a 95% interval of a width, where
    predictions of the others help.

    ratings, residuals : of the texts that are rated so far (`residual_components`)
    sizes : texts of each context, rated or not, int64 (contexts,), N in all
    width : in the unit of the ratings
    these_outputs : the mean is that of the N texts, else of texts of more contexts like these

    The error of the mean of n texts has two parts. Drawing n of the N texts leaves

        (1 / n - 1 / N) (b' (1 - s) + w')

    with the variances b' between contexts and w' within them of the residuals, and s, the sum of
    the squared shares that contexts have of the texts; that is all for these outputs. For more
    contexts there is, whatever n is, what N texts leave of ratings with variances b and w:

        b s + w / N

    Student's t has n - 1 degrees of freedom for these outputs, else as many as there are effective
    contexts, 1 / s, less 1.

    Source: Cochran (1977), "Sampling techniques", equations 2.8 and 7.11 (a regression estimate of
    a random sample).

    Thirty contexts of ten texts, ICC 0.5: all 300 texts leave 0.5 / 30 + 0.5 / 300 = 0.0183, an
    interval of 2 * 2.05 * 0.135 = 0.55, so that 0.4 takes more contexts, 56:

    >>> half = VarianceComponents(0.5 + 3.33 * 0.5, 0.5, 3.33, values=100, contexts=30)
    >>> plan = plan_mean(half, half, np.full(30, 10), width=0.4)
    >>> plan.texts.number, plan.contexts.number
    (inf, 56.0)

    Their own mean has the width with 74 of them, or some more or less, for a hundred ratings do not
    tell exactly how they vary:

    >>> plan_mean(half, half, np.full(30, 10), width=0.4, these_outputs=True).texts
    Needed(number=74.0, low=63.0, high=94.0)
    """
    texts, contexts = _needed(ratings, residuals, sizes, width, these_outputs)
    drawn_texts, drawn_contexts = _needed(
        ratings.drawn(draws, seed), residuals.drawn(draws, seed), sizes, width, these_outputs
    )
    return MeanPlan(_with_range(texts, drawn_texts), _with_range(contexts, drawn_contexts))


def _with_range(number: Array, drawn: Array) -> Needed:
    if np.isnan(number):
        return Needed(float("nan"), float("nan"), float("nan"))
    low, high = np.quantile(drawn, RANGE, method="nearest")
    return Needed(float(number), float(low), float(high))


def _needed(
    ratings: VarianceComponents,
    residuals: VarianceComponents,
    sizes: Array,
    width: float,
    these_outputs: bool,
) -> tuple[Array, Array]:
    """Texts and contexts, one number each, or one a draw."""
    total = sizes.sum()
    square_share = ((sizes / total) ** 2).sum()
    between = ratings.between
    within = ratings.within
    drawing = residuals.between * (1 - square_share) + residuals.within
    left = np.zeros_like(drawing) if these_outputs else between * square_share + within / total
    effective = 1 / square_share
    texts = np.full(np.shape(drawing), float(total))
    for _ in range(STEPS):
        units = texts if these_outputs else np.minimum(effective, texts)
        allowed = _variance(width, units - 1) - left
        with np.errstate(divide="ignore", invalid="ignore"):
            texts = np.where(allowed >= 0, drawing / (allowed + drawing / total), np.inf)
        texts = np.clip(texts, 3, None)
    # rounding takes no text more
    texts = np.where(np.isnan(drawing), np.nan, np.ceil(texts - 1e-9))
    # what a context of these sizes leaves, if it is one of many effective ones
    one = between + within * effective / total
    number = np.full(np.shape(one), 2.0 + effective)
    for _ in range(STEPS):
        number = np.clip(one / _variance(width, number - 1), 2, None)
    contexts = np.ceil(number * len(sizes) * square_share - 1e-9)
    return texts, np.where(np.isnan(one), np.nan, contexts)


def _variance(width: float, freedom: Array) -> Array:
    """Return the variance of a mean whose 95% interval by Student's t has a given width, for each
    number of degrees of freedom; less than one count as one."""
    from scipy.special import stdtrit

    return np.asarray((width / 2 / stdtrit(np.maximum(freedom, 1), 1 - TAIL)) ** 2)
