"""Correlations, also on all draws of a bootstrap at once, and their tests.

Stage: cell. In: numbers, weights of a bootstrap. Out: correlations, p-values; NaN where one side is
constant. A weight of k is exactly k copies. Ranks are midranks.
"""

import numpy as np

from refless.compute.compiled import are_indices
from refless.errors import SettingError

Array = np.ndarray

NOISE = 1e-12
"""The share of a sum of squares below which what is left of it is rounding."""


def spearman(prediction: Array, truth: Array) -> tuple[float, float]:
    """Spearman's rho of two arrays (n,), and its two-sided p-value (t approximation).

    Both are NaN with fewer than 3 pairs, where one side is constant, or has a NaN.

    >>> rho, p = spearman(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4]))
    >>> round(rho, 3), round(p, 3)
    (0.8, 0.2)
    """
    n = len(truth)
    if n < 3 or not (np.ptp(prediction) > 0 and np.ptp(truth) > 0):  # no range: a NaN
        return float("nan"), float("nan")
    rho = float(spearman_rows(prediction[None], truth[None])[0])
    if abs(rho) >= 1:
        return rho, 0.0
    t = abs(rho) * np.sqrt((n - 2) / ((1 - rho) * (1 + rho)))
    return rho, _two_sided(t, n - 2)


def _two_sided(t: float, freedom: int) -> float:
    """p of a value of Student's t."""
    from scipy.special import stdtr  # its import takes longer than most of what is done here

    return float(2 * stdtr(freedom, -abs(t)))


def spearman_rows(x: Array, y: Array) -> Array:
    """Spearman's rho of each row of ``x``, (..., rows, n), and ``y``, (rows, n), shape (..., rows);
    NaN of a constant side.

    >>> spearman_rows(np.array([[1.0, 2, 3], [3, 2, 1]]), np.array([[1.0, 2, 3], [1, 2, 3]]))
    array([ 1., -1.])
    """
    y_ranks = _midranks(y)
    rho = np.empty(x.shape[:-1])
    yy = (y_ranks * y_ranks).sum(axis=1)
    for index in np.ndindex(x.shape[:-2]):
        ranks = _midranks(x[index])
        with np.errstate(invalid="ignore"):
            xy = (ranks * y_ranks).sum(axis=1)
            xx = (ranks * ranks).sum(axis=1)
            rho[index] = xy / np.sqrt(xx * yy)
    return rho


def _midranks(rows: Array) -> Array:
    """Return the ranks within each row less (n + 1) / 2, float64 (m, n). Equal values share the
    mean of their ranks.

    rows : values, float64 (m, n); NaN gets no rank, but NaN

    These ranks are multiples of 1/2, so that their moments are exact.
    """
    m, n = rows.shape
    order = (np.argsort(rows, axis=1) + n * np.arange(m)[:, None]).ravel()
    ascending = rows.ravel()[order].reshape(m, n)
    first = np.ones((m, n), bool)
    first[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    starts = np.flatnonzero(first)  # of those that are equal
    size = np.diff(starts, append=m * n)
    ranks = np.empty(m * n)
    ranks[order] = np.repeat(starts % n + (size - n) / 2, size)
    return np.where(np.isnan(rows), np.nan, ranks.reshape(m, n))


def weighted_mean(values: Array, weights: Array) -> Array:
    """Mean of ``values`` (n,) under each row of ``weights`` (draws, n); NaN where all are 0.

    >>> weighted_mean(np.array([1.0, 4.0]), np.array([[2, 1], [0, 3]]))
    array([2., 4.])
    """
    with np.errstate(invalid="ignore"):
        return np.asarray((weights * values).sum(axis=1) / weights.sum(axis=1))


def weighted_spearman(x: Array, y: Array, weights: Array, column: Array | None = None) -> Array:
    """Spearman's rho of ``x`` and ``y`` (n,) under each row of ``weights``, whole numbers (draws,
    candidates), shape (draws,); ``column`` (n,) says which candidate each pair is, by default i.

    Moments of ranks are exact as long as 4 n^3 is below 2^53: no order of summing shows. Raises
    SettingError: shapes do not fit, or a pair is of no candidate.

    >>> values = np.array([1.0, 2, 3, 4])
    >>> weighted_spearman(values, -values, np.array([[1, 1, 1, 1], [2, 0, 1, 1]]))
    array([-1., -1.])
    """
    from refless.statistics.ranks import add_moments  # its import takes long

    column = np.arange(len(x)) if column is None else column
    fits = x.shape == y.shape == (len(x),) and weights.ndim == 2
    if not fits or not are_indices(column, x.shape, 0, weights.shape[1]):
        raise SettingError(
            f"{x.shape} and {y.shape} numbers of candidates {column.shape} do not fit weights of"
            f" shape {weights.shape}",
            remedy="give one weight a draw and candidate, and each pair a candidate from 0",
        )
    x_level = np.unique(x, return_inverse=True)[1]
    y_level = np.unique(y, return_inverse=True)[1]
    order = np.argsort(x_level)  # memory is read in the order of one side at least
    pairs = np.array([column[order], x_level[order], y_level[order]], np.uint32)
    moments = np.empty((4, len(weights)))
    add_moments(np.ascontiguousarray(weights, np.int32), pairs[0], pairs[1:], moments)
    total, product, x_spread, y_spread = moments
    shared = product - total * ((total + 1) / 2) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = shared / np.sqrt(x_spread * y_spread)
    return np.where((x_spread > 0) & (y_spread > 0), rho, np.nan)


def centred(values: Array, group: Array) -> Array:
    """Values (n,) less the mean of their group, such as their fold, int64 (n,), on a scale of their
    own; equal ones tie, however they were summed.

    >>> centred(np.array([1.0, 3.0, 10.0, 12.0]), np.array([0, 0, 1, 1]))
    array([-1.,  1., -1.,  1.])
    """
    size = np.maximum(np.bincount(group), 1)
    away = values - (np.bincount(group, values) / size)[group]
    away[np.abs(away) <= NOISE * np.abs(values)] = 0
    most = np.abs(away).max(initial=0)
    if most <= NOISE * np.abs(values).max(initial=0):
        return np.zeros(len(values))
    # beside one that is far away, the others must not tie
    unit = min(most, 1e6 * float(np.median(np.abs(away[away != 0]))))
    return np.round(away / unit, 12)


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
    t : positive where ``r_a`` is the greater
    p : two-sided; both are NaN for n < 4 or where a correlation is NaN

    Source: Williams (1959), "The comparison of regression variables", in the form of Graham &
    Baldwin (2014), "Testing for significance of increased correlation with human judgment".

    >>> t, p = williams(0.6, 0.4, r_ab=0.5, n=50)
    >>> round(t, 3), round(p, 3)
    (1.705, 0.095)
    """
    if n < 4 or np.isnan([r_a, r_b, r_ab]).any():
        return float("nan"), float("nan")
    if abs(r_a - r_b) < 1e-12:  # equal but for rounding, which 0 / 0 would blow up
        return 0.0, 1.0
    k = max(0.0, 1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab)
    spread = 2 * k * (n - 1) / (n - 3) + ((r_a + r_b) / 2) ** 2 * max(1 - r_ab, 0.0) ** 3
    top = (r_a - r_b) * np.sqrt((n - 1) * max(1 + r_ab, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = float(np.float64(top) / np.sqrt(spread))
    return t, _two_sided(t, n - 3)


def ratings_saved(pearson: float, rated: int = 0, unrated: int | None = None) -> float:
    """The share of ratings that predictions save, in [0, 1]; NaN where r is.

    Mean quality, estimated from n ratings and the predictions of N more texts, has the variance of
    n ratings alone times 1 - r^2 N / (n + N); with ``unrated`` None, the limit of many.

    Source: Angelopoulos, Duchi & Zrnic (2023), "PPI++: Efficient prediction-powered inference",
    example 1 and section 6.

    >>> round(ratings_saved(0.5), 3), round(ratings_saved(0.5, rated=100, unrated=300), 4)
    (0.25, 0.1875)
    """
    share = 1.0 if unrated is None else unrated / (rated + unrated)
    return max(pearson, 0.0) ** 2 * share
