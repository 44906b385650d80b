"""Regression on quality that is measured with error, as by raters who disagree.

Stage: cell. In: ratings, scores, covariates. Out: effects beside true quality, and by how much each
text moves them.

Source: Carroll, Ruppert, Stefanski and Crainiceanu (2006), "Measurement Error in Nonlinear Models",
chapter 4 (regression calibration) and appendix A.6 (influences of estimates that follow one
another); Fuller (1987), "Measurement Error Models", section 2.2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from refless.statistics.correlation import NOISE
from refless.statistics.reliability import ENOUGH_TEXTS

Array = np.ndarray

MOST_RATERS = 100
"""Raters up to which each has a severity; more are taken as new for each text."""
FEWEST_LEVELS = 4
"""Different ratings from which on they are taken as quality that is rounded to a step."""
DEGREE = 3
"""A score may be a polynomial of true quality, of this degree."""
ROUNDING = 1e-9
"""Eigenvalues of raters, over the largest, below which they are rounding."""
SMOOTH = 1 / 3
"""Variance of ratings, in squared steps, from which on what is rounded away is about uniform."""


class RatingNoise(NamedTuple):
    """The variance of each text's mean rating about its true quality, as a sum of components.

    share : of each component in the variance of a text's mean, float64 (n, components)
    variance : of each component, (components,), in squared units of ratings
    influence : by how much each text moves the estimate of a component, (n, components)
    """

    share: Array
    variance: Array
    influence: Array

    @property
    def of_means(self) -> Array:
        """The variance of each mean rating, (n,)."""
        return np.asarray(self.share @ self.variance)


def rating_noise(ratings: pd.DataFrame | None, system: Array) -> RatingNoise | None:
    """The noise of mean ratings, from texts that were rated twice or more; None where these are
    fewer than `ENOUGH_TEXTS`.

    A rating is quality plus the rater's severity plus a residual. Where the same raters rate every
    text, their severity is the same for all and no noise; where each text has other raters, it is.
    So the residual counts 1 / ratings of the text, and severity as far as the mean severity differs
    between texts of a system. Both variances are unbiased: that of deviations from a text's mean is
    their sum, and that of what is left of these without the raters' effects is the residual's. What
    all raters of a text round away alike is a third component, `rounding_variance`.

    ratings : ``text``, from 0, ``rater`` and ``quality``
    system : number of each text's system, from 0, int64 (n,)

    Two raters rate 40 texts, one of them always higher by 2: they agree, and there is no noise.

    >>> rows = [(text, rater, text + 2 * rater) for text in range(40) for rater in range(2)]
    >>> ratings = pd.DataFrame(rows, columns=["text", "rater", "quality"])
    >>> round(float(rating_noise(ratings, np.zeros(40, int)).of_means.max()), 9)
    0.0

    Without names of raters, the same difference is noise: a variance of 2 over 2 ratings.

    >>> float(rating_noise(ratings.assign(rater=""), np.zeros(40, int)).of_means[0])
    1.0
    """
    if ratings is None:
        return None
    text = ratings["text"].to_numpy()
    value = ratings["quality"].to_numpy(np.float64)
    number = np.bincount(text, minlength=len(system))
    if (number > 1).sum() < ENOUGH_TEXTS:
        return None
    number = np.maximum(number, 1)  # a mean whose ratings are not listed is one rating
    away = value - (np.bincount(text, value, len(system)) / number)[text]
    rater = pd.factorize(ratings["rater"])[0]
    noise = _disagreement(away, text, rater, system)
    disagreement = float((away**2).sum() / (len(value) - len(np.unique(text))))
    rounded = rounding_variance(value, system[text], disagreement)
    if not rounded:
        return noise
    ones = np.ones((len(system), 1))
    return RatingNoise(
        np.column_stack([noise.share, ones]),
        np.append(noise.variance, rounded),
        np.column_stack([noise.influence, 0 * ones]),
    )


def _disagreement(away: Array, text: Array, rater: Array, system: Array) -> RatingNoise:
    """The noise that shows where raters of a text differ.

    away : of each rating from its text's mean, float64 (ratings,)
    text, rater : of each rating, int64 (ratings,); system : of each text, int64 (n,)
    """
    n = len(system)
    number = np.maximum(np.bincount(text, minlength=n), 1)
    freedom = len(text) - len(np.unique(text))
    together, influence = _variance(away, text, number - 1, freedom)
    one_way = RatingNoise(1 / number[:, None], np.array([together]), influence[:, None])
    if not 0 < rater.max() < MOST_RATERS:
        return one_way
    counts = np.zeros((n, rater.max() + 1))
    np.add.at(counts, (text, rater), 1.0)
    share = counts / number[:, None]
    normal = np.diag(counts.sum(axis=0)) - counts.T @ share
    severity = np.linalg.pinv(normal, ROUNDING, hermitian=True) @ np.bincount(rater, away)
    left = away - severity[rater] + (share @ severity)[text]
    of_raters = int(np.linalg.matrix_rank(normal, rtol=ROUNDING, hermitian=True))
    if freedom - of_raters < ENOUGH_TEXTS:
        return one_way
    part = (freedom - of_raters) / freedom
    residual, of_residual = _variance(left, text, (number - 1) * part, freedom * part)
    if residual >= together:
        return one_way
    size = np.bincount(system)[system]
    differs = (share * (share - _group_means(share, system)[system])).sum(axis=1)
    differs *= size / np.maximum(size - 1, 1)
    return RatingNoise(
        np.column_stack([1 / number - differs, differs]),
        np.array([residual, together]),
        np.column_stack([of_residual, influence]),
    )


def rounding_variance(value: Array, group: Array, disagreement: float) -> float:
    """The variance of what is rounded away alike by all who rate a text, in squared units of
    ratings; 0 where ratings are no equal steps of `FEWEST_LEVELS` or more, or too alike.

    value, group : of single ratings and their systems, (ratings,)
    disagreement : the variance of ratings about the mean of their text

    Raters who agree round to the same step, and h^2 / 12 of a step h is in no disagreement
    (Sheppard 1898). Where they disagree before rounding, by a variance v, they round apart, and
    h^2 times the sum of exp(-(2 pi k)^2 v / h^2) / (2 pi^2 k^2) over k = 1, 2, ... is left: about
    nothing from v = h^2 / 8 on. Their disagreement is v and the rest of h^2 / 12.

    >>> value, group = np.arange(300) % 5 + 1.0, np.zeros(300, int)
    >>> [round(rounding_variance(value, group, variance), 4) for variance in (0, 0.1, 0.3)]
    [0.0833, 0.0147, 0.0]
    """
    levels = np.unique(value)
    if len(levels) < FEWEST_LEVELS:
        return 0.0
    step = np.diff(levels).min()
    steps = (levels - levels[0]) / step
    between = value - _group_means(value[:, None], group)[group, 0]
    if np.abs(steps - np.round(steps)).max() > 1e-6 or between.var() < SMOOTH * step**2:
        return 0.0
    k = np.arange(1, 1001)[:, None]
    before = np.linspace(0, 0.5, 501)  # v / h^2
    left = (np.exp(-((2 * np.pi * k) ** 2) * before) / (2 * np.pi**2 * k**2)).sum(axis=0)
    return float(step**2 * np.interp(disagreement / step**2, before + 1 / 12 - left, left, right=0))


def _variance(away: Array, text: Array, freedom: Array, total: float) -> tuple[float, Array]:
    """The variance of deviations with ``freedom`` (n,) a text, ``total`` of all, and how much each
    text moves it, (n,)."""
    squares = np.bincount(text, away**2, len(freedom))
    variance = squares.sum() / total
    return float(variance), (squares - freedom * variance) / total


def _group_means(values: Array, group: Array) -> Array:
    """The mean of ``values`` (n, columns) in each ``group`` (n,), shape (groups, columns)."""
    size = np.bincount(group)
    sums = np.zeros((len(size), values.shape[1]))
    np.add.at(sums, group, values)
    return np.asarray(sums / size[:, None])


class CorrectedRegression(NamedTuple):
    """Effects of covariates and, last, of true quality on a score.

    effects : float64 (covariates + 1,); that of quality is the mean slope of its curve
    influence : by how much each text moves each of them, through what is estimated of the noise,
        too, (n, covariates + 1)
    weight : of each text's score in each of them, (n, covariates + 1)
    reliability : the share of true quality in the variance of mean ratings beside the covariates
    """

    effects: Array
    influence: Array
    weight: Array
    reliability: float


def corrected_regression(
    score: Array,
    quality: Array,
    covariates: Array,
    noise: RatingNoise | None = None,
    degree: int = DEGREE,
) -> CorrectedRegression:
    """Regress a score on covariates and a polynomial of true quality, of which mean ratings are
    noisy measurements.

    Beside the covariates, ratings have the variance of true quality and of noise. Their noise is
    known, so the rest of their sum of squares is that of quality; and as far as a rating is away
    from what covariates say, quality is expected to be away by the share of its variance, the
    reliability. This expectation, and those of its square and cube, take the place of the ratings
    in least squares (regression calibration). Of the first degree, and of texts with one noise,
    this is the estimate of normal equations less the moments of the errors (Fuller 1987, section
    2.2). A score that saturates, or ratings that crowd at an end, need the higher degrees.

    score, quality : float64 (n,)
    covariates : float64 (n, covariates), a constant among what they span
    noise : of the mean ratings; None: they are exact
    degree : of the polynomial, at most the number of different ratings less one

    Raises numpy.linalg.LinAlgError: its message says what cannot be estimated.

    The qualities of six texts are 1 to 6, the score is twice the quality, and four ratings are off
    by 1. The ratings' sum of squares is 21.5, and that of their products with the score 35: least
    squares finds 35 / 21.5 = 1.63. With a variance of 0.8 a rating, a sixth of which the constant
    explains, 21.5 - 6 * 0.8 * 5 / 6 = 17.5 is left, a reliability of 0.81, and 35 / 17.5 = 2.

    >>> quality, constant = np.arange(1.0, 7.0), np.ones((6, 1))
    >>> ratings = quality + [1, -1, 0, 0, -1, 1]
    >>> exact = corrected_regression(2 * quality, ratings, constant, degree=1)
    >>> float(exact.effects[-1].round(2))
    1.63
    >>> noise = RatingNoise(np.ones((6, 1)), np.array([0.8]), np.zeros((6, 1)))
    >>> corrected = corrected_regression(2 * quality, ratings, constant, noise, degree=1)
    >>> float(corrected.effects[-1].round(2)), round(corrected.reliability, 2)
    (2.0, 0.81)
    """
    n, number = covariates.shape
    unit = max(float(quality.std()), np.finfo(float).tiny)  # the cube of a large number is larger
    if noise is None:
        noise = RatingNoise(np.zeros((n, 1)), np.zeros(1), np.zeros((n, 1)))
    noise = RatingNoise(noise.share, noise.variance / unit**2, noise.influence / unit**2)
    rating = (quality - quality.mean()) / unit
    degree = min(degree, len(np.unique(quality)) - 1)
    calibration = _Calibration(covariates, rating, noise, degree)
    measured, of_measured, reliability = calibration.measure()
    design, derivatives = calibration.design(measured)
    solved = np.linalg.inv(design.T @ design)
    coefficients = solved @ (design.T @ score)
    curve = coefficients[number:]

    def moments(measured: Array) -> Array:
        """What is 0 at the estimates, and the slope."""
        design, derivatives = calibration.design(measured)
        slope = (derivatives @ curve).mean(keepdims=True)
        return np.concatenate([design.T @ (score - design @ coefficients), slope])

    # of estimates that follow one another: what a text moves in the first ones moves the next
    moved = of_measured @ _jacobian(moments, measured).T
    of_moments = moved[:, :-1] + design * (score - design @ coefficients)[:, None]
    influence = of_moments @ solved
    slopes = derivatives @ curve
    mean_derivative = derivatives.mean(axis=0)
    of_slope = influence[:, number:] @ mean_derivative + (slopes - slopes.mean()) / n + moved[:, -1]
    weight = design @ solved
    of_curve = weight[:, number:] @ mean_derivative
    return CorrectedRegression(
        effects=np.append(coefficients[:number], slopes.mean() / unit),
        influence=np.column_stack([influence[:, :number], of_slope / unit]),
        weight=np.column_stack([weight[:, :number], of_curve / unit]),
        reliability=reliability,
    )


@dataclass(frozen=True)
class _Calibration:
    """What covariates (n, covariates) and ratings (n,), whose mean is 0, say of true quality and of
    its powers up to a degree."""

    covariates: Array
    rating: Array
    noise: RatingNoise
    degree: int

    def measure(self) -> tuple[Array, Array, float]:
        """What the expectation of quality is computed from, (k,): effects of the covariates on
        ratings, the variance of quality beside them, and that of the noise; by how much each text
        moves it, (n, k); and the reliability. Raises numpy.linalg.LinAlgError: there is none."""
        covariates = self.covariates
        noise = self.noise
        n, number = covariates.shape
        inverse = np.linalg.inv(covariates.T @ covariates)
        fit = inverse @ (covariates.T @ self.rating)
        residual = self.rating - covariates @ fit
        squares = float(residual @ residual)
        if squares <= NOISE * n:
            raise np.linalg.LinAlgError("ratings do not differ within systems")
        # covariates explain a part of the noise by chance
        left = 1 - np.einsum("ij,jk,ik->i", covariates, inverse, covariates)
        true_squares = residual**2 - noise.of_means * left
        reliability = float(true_squares.sum() / squares)
        if reliability <= 0:
            raise np.linalg.LinAlgError("raters of a text do not agree within systems")
        between = true_squares.sum() / (n - number)
        of_fit = covariates * residual[:, None] @ inverse
        of_between = true_squares - between * left - noise.influence @ (left @ noise.share)
        influence = np.column_stack([of_fit, of_between / (n - number), noise.influence])
        return np.concatenate([fit, [between], noise.variance]), influence, reliability

    def design(self, measured: Array) -> tuple[Array, Array]:
        """Covariates and the expected powers of quality, (n, covariates + degree); and derivatives
        of the powers, (n, degree)."""
        n, number = self.covariates.shape
        variance = self.noise.share @ measured[number + 1 :]
        expected = self.covariates @ measured[:number]
        share = measured[number] / (measured[number] + variance)
        expected = expected + share * (self.rating - expected)
        square = expected**2 + share * variance
        cube = expected**3 + 3 * expected * share * variance
        powers = np.column_stack([expected, square, cube])[:, : self.degree]
        derivatives = np.column_stack([np.ones(n), 2 * expected, 3 * square])[:, : self.degree]
        return np.column_stack([self.covariates, powers]), derivatives


def _jacobian(function: Callable[[Array], Array], point: Array) -> Array:
    """The derivative of a function from (k,) to (m,) at a point, by differences, (m, k)."""
    columns = []
    step = 1e-5 * max(1e-3, float(np.abs(point).max()))
    for column in range(len(point)):
        away = np.zeros(len(point))
        away[column] = step
        columns.append((function(point + away) - function(point - away)) / (2 * step))
    return np.column_stack(columns)
