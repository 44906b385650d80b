"""The statistics behind the cells: errors, rank correlations, bootstrap intervals.

Stage: cell. In: predictions and human quality, one number a candidate. Out: estimates with
intervals. Arrays are float64; NaN marks a candidate without a prediction.

Bootstrap samples are multiplicities: a draw of n candidates with replacement says how often each
candidate was drawn, and every statistic here takes such weights. For rank correlations a weight
of k is exactly k copies, midranks included, so that all draws of a bootstrap are one pass of
array arithmetic.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from refless.errors import SettingError

Array = np.ndarray


def mean_squared_error(prediction: Array, truth: Array) -> float:
    """Mean squared difference over the pairs, shape (n,) each; NaN for n = 0."""
    if len(truth) == 0:
        return float("nan")
    return float(np.mean((prediction - truth) ** 2))


def spearman(prediction: Array, truth: Array) -> tuple[float, float]:
    """Spearman's rho (midranks for ties) and its two-sided p-value (t approximation).

    Both are NaN with fewer than 3 pairs or where one side is constant.
    """
    n = len(truth)
    if n < 3 or np.ptp(prediction) == 0 or np.ptp(truth) == 0:
        return float("nan"), float("nan")
    once = np.ones((1, n))
    rho = float(weighted_spearman(prediction, truth, once)[0])
    return rho, correlation_p_value(rho, n)


def correlation_p_value(r: float, n: int) -> float:
    """Two-sided p-value of a correlation of n pairs: t with n - 2 degrees of freedom."""
    # scipy.stats would do, but importing it takes longer than most of what uses this
    from scipy.special import stdtr

    if n < 3 or np.isnan(r):
        return float("nan")
    if abs(r) >= 1:
        return 0.0
    t = abs(r) * np.sqrt((n - 2) / ((1 - r) * (1 + r)))
    return float(2 * stdtr(n - 2, -t))


def williams(r_a: float, r_b: float, r_ab: float, n: int) -> tuple[float, float]:
    """Williams' test that two dependent correlations, which share a variable, are the same.

    With t of n - 3 degrees of freedom,

        t = (r_a - r_b) sqrt((n - 1) (1 + r_ab))
            / sqrt(2 K (n - 1) / (n - 3) + ((r_a + r_b) / 2)^2 (1 - r_ab)^3)
        K = 1 - r_a^2 - r_b^2 - r_ab^2 + 2 r_a r_b r_ab

    Parameters
    ----------
    r_a, r_b : correlations of two predictions with the same truth, in [-1, 1]
    r_ab : correlation of the two predictions with each other
    n : number of candidates behind all three

    Returns
    -------
    t : positive where ``r_a`` is the greater; 0 where the two are equal, also where the formula
        is 0 / 0 (the same prediction twice); infinite where nothing is left to chance
    p : two-sided; half of it is the one-sided p-value of ``r_a > r_b`` if t > 0

    Both are NaN for n < 4 or where a correlation is NaN. For Spearman's rho, as here, the test
    holds by and large, since ranks are not normally distributed.

    Raises
    ------
    SettingError : a correlation outside [-1, 1], or three that no data can have (K < 0).

    Source: Williams (1959), "The comparison of regression variables", in the form of Graham &
    Baldwin (2014), "Testing for significance of increased correlation with human judgment".
    """
    from scipy.special import stdtr

    given = np.array([r_a, r_b, r_ab], np.float64)
    if np.isnan(given).any():
        return float("nan"), float("nan")
    k = 1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab
    # K is the determinant of the three variables' correlations; a hair is rounding
    if (np.abs(given) > 1 + 1e-12).any() or k < -1e-9:
        raise SettingError(f"no three variables have the correlations {r_a}, {r_b} and {r_ab}")
    if n < 4:
        return float("nan"), float("nan")
    if abs(r_a - r_b) < 1e-12:  # equal but for rounding, which 0 / 0 would blow up
        return 0.0, 1.0
    spread = 2 * max(k, 0.0) * (n - 1) / (n - 3)
    spread += ((r_a + r_b) / 2) ** 2 * max(1 - r_ab, 0.0) ** 3
    top = (r_a - r_b) * np.sqrt((n - 1) * max(1 + r_ab, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = float(np.float64(top) / np.sqrt(spread))
    return t, float(2 * stdtr(n - 3, -abs(t)))


def draw_weights(n: int, draws: int, seed: int) -> Array:
    """Multiplicities of ``draws`` bootstrap samples of n candidates, shape (draws, n), int32."""
    generator = np.random.default_rng(seed)
    weights = np.empty((draws, n), np.int32)
    for row in weights:
        row[:] = np.bincount(generator.integers(0, n, n), minlength=n)
    return weights


def weighted_midranks(values: Array, weights: Array) -> Array:
    """Midranks of ``values`` (n,) when candidate i is there ``weights[d, i]`` times.

    Returns shape (draws, n), float64. Ranks start at 1; entries of weight 0 carry the rank that
    they would have between their neighbors and are to be ignored.
    """
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    size = np.add.reduceat(weights[:, order].astype(np.float64), starts, axis=1)
    rank = np.cumsum(size, axis=1) - (size - 1) / 2
    return rank[:, group]


def weighted_pearson(x: Array, y: Array, weights: Array) -> Array:
    """Pearson's r of each row, all of shape (draws, n); NaN where a side is constant."""
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        dx = x - (weights * x).sum(axis=1, keepdims=True) / total
        dy = y - (weights * y).sum(axis=1, keepdims=True) / total
        xx = (weights * dx * dx).sum(axis=1)
        yy = (weights * dy * dy).sum(axis=1)
        r = (weights * dx * dy).sum(axis=1) / np.sqrt(xx * yy)
        # Beside the size of the numbers themselves, a spread this small is rounding noise.
        noise = 1e-24
        still = (xx <= noise * (weights * x * x).sum(axis=1)) | (
            yy <= noise * (weights * y * y).sum(axis=1)
        )
    r[still] = np.nan
    return r


def weighted_spearman(x: Array, y: Array, weights: Array) -> Array:
    """Spearman's rho of ``x`` and ``y``, shape (n,), under each row of weights (draws, n)."""
    return weighted_pearson(weighted_midranks(x, weights), weighted_midranks(y, weights), weights)


def scale_counts(prediction: Array, truth: Array, scale: Array, weights: Array) -> Array:
    """How often each pair of values of a scale occurs, under each row of weights.

    Parameters
    ----------
    prediction, truth : shape (n,), values of ``scale``
    scale : the values there are, ascending, shape (k,)
    weights : shape (draws, n)

    Returns
    -------
    shape (draws, k, k), float64: predictions down, truth across

    Raises
    ------
    SettingError : a value that is not on the scale.
    """
    k = len(scale)
    rows, columns = (
        np.searchsorted(scale, values).clip(max=k - 1) for values in (prediction, truth)
    )
    if (scale[rows] != prediction).any() or (scale[columns] != truth).any():
        raise SettingError(f"there are values other than {', '.join(map(str, scale.tolist()))}")
    cells = np.zeros((len(truth), k * k))
    cells[np.arange(len(truth)), rows * k + columns] = 1
    return (weights.astype(np.float64) @ cells).reshape(-1, k, k)


def scale_statistics(counts: Array, scale: Array) -> dict[str, Array]:
    """Pearson, Spearman (midranks), MAE and RMSE from `scale_counts`, shape (draws,) each.

    The same as from the pairs themselves; with ratings on a scale of few values, all draws of a
    bootstrap come out of one product of matrices. Correlations are NaN where a side is constant.
    """
    ranks = [_margin_ranks(counts.sum(axis=axis)) for axis in (2, 1)]
    values = [np.broadcast_to(scale, ranks[0].shape)] * 2
    gap = np.abs(scale[:, None] - scale[None, :])
    total = counts.sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "pearson": _counted_correlation(counts, *values),
            "spearman": _counted_correlation(counts, *ranks),
            "mae": (counts * gap).sum(axis=(1, 2)) / total,
            "rmse": np.sqrt((counts * gap**2).sum(axis=(1, 2)) / total),
        }


def _margin_ranks(sizes: Array) -> Array:
    """Midranks of values that occur ``sizes`` times, shape (draws, k)."""
    return np.cumsum(sizes, axis=1) - (sizes - 1) / 2


def _counted_correlation(counts: Array, x: Array, y: Array) -> Array:
    """Correlation of row values x and column values y, shape (draws, k), as often as counted."""
    total = counts.sum(axis=(1, 2))
    over_x, over_y = counts.sum(axis=2), counts.sum(axis=1)
    dx = x - ((over_x * x).sum(axis=1) / total)[:, None]
    dy = y - ((over_y * y).sum(axis=1) / total)[:, None]
    both = np.einsum("dij,di,dj->d", counts, dx, dy, optimize=True)
    r = both / np.sqrt((over_x * dx**2).sum(axis=1) * (over_y * dy**2).sum(axis=1))
    r[((over_x > 0).sum(axis=1) < 2) | ((over_y > 0).sum(axis=1) < 2)] = np.nan
    return np.asarray(r)


@dataclass(frozen=True)
class Estimate:
    """A number with its 95% bootstrap interval; NaN where it is undefined."""

    value: float
    low: float = float("nan")
    high: float = float("nan")


def interval(draws: Array, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval of the bootstrap draws, undefined draws left out; NaN without any."""
    draws = draws[~np.isnan(draws)]
    if len(draws) == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@dataclass(frozen=True)
class Cell:
    """What one cell group of table 1 says: over the covered candidates only."""

    mse: Estimate
    spearman: Estimate
    coverage: Estimate
    p_value: float
    n: int
    n_covered: int


def evaluate(prediction: Array, truth: Array, draws: int = 2000, seed: int = 0) -> Cell:
    """MSE, Spearman's rho and coverage with 95% intervals over candidates.

    Parameters
    ----------
    prediction : shape (candidates,), NaN where undefined
    truth : shape (candidates,), the human quality
    draws, seed : of the bootstrap; every draw resamples all candidates, covered or not, so that
        coverage varies with the others

    Source: Ethayarajh & Sadigh (2020), section 4 and definition 3.3; intervals are ours.
    """
    n = len(truth)
    covered = ~np.isnan(prediction)
    p, t = prediction[covered], truth[covered]
    rho, p_value = spearman(p, t)
    mse = mean_squared_error(p, t)
    share = float(covered.mean()) if n else float("nan")
    if not covered.any():
        # every draw of uncovered candidates has coverage 0; of no candidates, none
        return Cell(Estimate(mse), Estimate(rho), Estimate(share, share, share), p_value, n, 0)
    weights = draw_weights(n, draws, seed)
    inside = weights[:, covered].astype(np.float64)
    number = inside.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mse_draws = inside @ ((p - t) ** 2) / number
    rho_draws = weighted_spearman(p, t, inside) if not np.isnan(rho) else np.array([])
    return Cell(
        Estimate(mse, *interval(mse_draws)),
        Estimate(rho, *interval(rho_draws)),
        Estimate(share, *interval(number / n)),
        p_value,
        n,
        int(covered.sum()),
    )


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
    weights = draw_weights(len(truth), draws, seed).astype(np.float64)
    mse, rho, mse_draws, rho_draws = [], [], [], []
    lost = 0
    for name in np.unique(rater):
        own = rater == name
        seen, given = candidate[own], rating[own]
        mse.append(mean_squared_error(given, truth[seen]))
        value, _ = spearman(given, truth[seen])
        lost += bool(np.isnan(value))
        rho.append(undefined if np.isnan(value) else value)
        inside = weights[:, seen]
        number = inside.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mse_draws.append(inside @ ((given - truth[seen]) ** 2) / number)
        drawn = weighted_spearman(given, truth[seen], inside)
        # without a rho of all candidates, a draw of some of them has none either
        rho_draws.append(np.where(np.isnan(drawn) | np.isnan(value), undefined, drawn))

    def row(values: list[float], drawn: list[Array], best: str) -> tuple[Estimate, Estimate]:
        stacked = np.array(drawn)
        pick = {"min": np.nanmin, "max": np.nanmax}[best]
        with warnings.catch_warnings():
            # that all annotators are left out is no accident: the estimate is then NaN
            warnings.simplefilter("ignore", RuntimeWarning)
            average = Estimate(float(np.nanmean(values)), *interval(np.nanmean(stacked, axis=0)))
            return average, Estimate(float(pick(values)), *interval(pick(stacked, axis=0)))

    average_mse, best_mse = row(mse, mse_draws, "min")
    average_rho, best_rho = row(rho, rho_draws, "max")
    return Humans(average_mse, average_rho, best_mse, best_rho, len(mse), lost)
