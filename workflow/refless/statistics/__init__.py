"""The statistics behind the cells: errors, rank correlations, bootstrap intervals.

Stage: cell. In: predictions and human quality, one number a candidate. Out: estimates with
intervals. Arrays are float64; NaN marks a candidate without a prediction.

Bootstrap samples are multiplicities: a draw of n candidates with replacement says how often each
candidate was drawn, and every statistic here takes such weights. For rank correlations a weight
of k is exactly k copies, midranks included, so that many draws are one pass of array arithmetic.
They are taken a block at a time, so that memory does not grow with draws times candidates; every
number of a draw comes from that draw's row alone, so no result depends on the size of a block.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from refless.errors import SettingError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = np.ndarray

BLOCK = 1 << 21
"""Weights that a bootstrap holds at a time: 16 MB, and a few times that while it computes."""


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


def weighted_midranks(values: Array, weights: Array) -> Array:
    """Midranks of ``values`` (n,) when candidate i is there ``weights[d, i]`` times.

    Returns shape (draws, n), float64. Ranks start at 1; entries of weight 0 carry the rank that
    they would have between their neighbors and are to be ignored.
    """
    _, group = np.unique(values, return_inverse=True)
    _, rank = _group_ranks(group, weights)
    return np.take(rank, group, axis=1)


def _group_ranks(group: Array, weights: Array) -> tuple[Array, Array]:
    """Size and midrank of each group of equal values, both (draws, groups), float64.

    ``group`` is the number of each candidate's group in ascending order of the values, (n,).
    """
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    # `take`, since indexing would give columns that lie together, and sums over rows that then
    # hang on how many rows there are
    size = np.add.reduceat(np.take(weights, order, axis=1).astype(np.float64), starts, axis=1)
    return size, np.cumsum(size, axis=1) - (size - 1) / 2


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


def weighted_mean(values: Array, weights: Array) -> Array:
    """Mean of ``values``, shape (n,), under each row of weights (draws, n); NaN without any."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((weights * values).sum(axis=1) / weights.sum(axis=1))


def weighted_spearman(x: Array, y: Array, weights: Array) -> Array:
    """Spearman's rho of ``x`` and ``y``, shape (n,), under each row of weights (draws, n).

    NaN where a side is constant. Weights are whole numbers, so ranks are halves and their moments
    exact as long as 4 n^3 is below 2^53: no order of summing shows in the result.
    """
    total = weights.sum(axis=1)
    middle = total * ((total + 1) / 2) ** 2  # the mean rank is the same on both sides
    spread, ranks = [], []
    still = np.zeros(len(weights), bool)
    for values in (x, y):
        _, group = np.unique(values, return_inverse=True)
        size, rank = _group_ranks(group, weights)
        still |= (size > 0).sum(axis=1) < 2
        spread.append(np.einsum("dg,dg,dg->d", size, rank, rank) - middle)
        ranks.append(np.take(rank, group, axis=1))
    shared = np.einsum("dn,dn,dn->d", weights, *ranks) - middle
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = shared / np.sqrt(spread[0] * spread[1])
    rho[still] = np.nan
    return np.asarray(rho)


def midranks(values: Array) -> Array:
    """Ranks within each row of ``values`` (rows, n), from 1, ties sharing their mean."""
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    position = np.arange(values.shape[1])
    new = np.ones(values.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(new, position, 0), axis=1)
    last = np.ones(values.shape, bool)
    last[:, :-1] = new[:, 1:]
    end = np.where(last, position, values.shape[1])
    end = np.minimum.accumulate(end[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + end) / 2 + 1, axis=1)
    return ranks


def pearson_rows(x: Array, y: Array) -> Array:
    """Pearson's r of each row of ``x`` and ``y`` (rows, n); of `midranks` it is Spearman's rho."""
    return weighted_pearson(x, y, np.ones((1, x.shape[1])))


def kendall_rows(x: Array, y: Array) -> Array:
    """Kendall's tau-b of each row of ``x`` and ``y`` (rows, n); NaN where a side is constant."""
    from refless.statistics._rank_pairs import kendall_loop

    tau = np.empty(len(x))
    kendall_loop(np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.float64), tau)
    return tau


def fisher_interval(r: float, n: int) -> tuple[float, float]:
    """95% interval of a correlation of n pairs by Fisher's z; NaN for n < 4 or without r."""
    if n < 4 or np.isnan(r) or abs(r) >= 1:
        return float("nan"), float("nan")
    half = 1.959963984540054 / np.sqrt(n - 3)
    low, high = np.tanh([np.arctanh(r) - half, np.arctanh(r) + half])
    return float(low), float(high)


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


@dataclass(frozen=True)
class Cell:
    """What one cell group of table 1 says: over the covered candidates only."""

    mse: Estimate
    spearman: Estimate
    coverage: Estimate
    p_value: float
    n: int
    n_covered: int


def evaluate(
    prediction: Array,
    truth: Array,
    draws: int = 2000,
    seed: int = 0,
    groups: Array | None = None,
) -> Cell:
    """MSE, Spearman's rho and coverage with 95% intervals over candidates.

    Parameters
    ----------
    prediction : shape (candidates,), NaN where undefined
    truth : shape (candidates,), the human quality
    draws, seed : of the bootstrap; every draw resamples all candidates, covered or not, so that
        coverage varies with the others
    groups : number of the group of each candidate (0, 1, ...), shape (candidates,): groups are then
        drawn, whole, since candidates of one context are no independent evidence

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
    drawn: list[tuple[Array, Array, Array]] = []
    drawing = n if groups is None else int(groups.max()) + 1
    for whole in draw_blocks(drawing, draws, seed):
        weights = whole if groups is None else np.take(whole, groups, axis=1)
        inside = np.compress(covered, weights, axis=1)
        rhos = weighted_spearman(p, t, inside) if not np.isnan(rho) else np.array([])
        share_drawn = inside.sum(axis=1) / weights.sum(axis=1)
        drawn.append((weighted_mean((p - t) ** 2, inside), rhos, share_drawn))
    mse_draws, rho_draws, share_draws = map(np.concatenate, zip(*drawn, strict=True))
    return Cell(
        Estimate(mse, *interval(mse_draws)),
        Estimate(rho, *interval(rho_draws)),
        Estimate(share, *interval(share_draws)),
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
    names, number = np.unique(rater, return_inverse=True)
    owns = [np.flatnonzero(number == i) for i in range(len(names))]
    mse = [mean_squared_error(rating[own], truth[candidate[own]]) for own in owns]
    found = np.array([spearman(rating[own], truth[candidate[own]])[0] for own in owns])
    lost = np.isnan(found)
    rho = np.where(lost, undefined, found)
    mse_blocks, rho_blocks = [], []
    for weights in draw_blocks(len(truth), draws, seed):
        mse_block = np.empty((len(owns), len(weights)))
        # without a rho of all candidates, a draw of some of them has none either
        rho_block = np.full((len(owns), len(weights)), undefined)
        for i, own in enumerate(owns):
            given, seen = rating[own], candidate[own]
            inside = np.take(weights, seen, axis=1)
            mse_block[i] = weighted_mean((given - truth[seen]) ** 2, inside)
            if not lost[i]:
                drawn = weighted_spearman(given, truth[seen], inside)
                rho_block[i] = np.where(np.isnan(drawn), undefined, drawn)
        mse_blocks.append(mse_block)
        rho_blocks.append(rho_block)

    def row(values: Array, blocks: list[Array], best: str) -> tuple[Estimate, Estimate]:
        stacked = np.concatenate(blocks, axis=1)
        pick = {"min": np.nanmin, "max": np.nanmax}[best]
        with warnings.catch_warnings():
            # that all annotators are left out is no accident: the estimate is then NaN
            warnings.simplefilter("ignore", RuntimeWarning)
            average = Estimate(float(np.nanmean(values)), *interval(np.nanmean(stacked, axis=0)))
            return average, Estimate(float(pick(values)), *interval(pick(stacked, axis=0)))

    average_mse, best_mse = row(np.array(mse), mse_blocks, "min")
    average_rho, best_rho = row(rho, rho_blocks, "max")
    return Humans(average_mse, average_rho, best_mse, best_rho, len(mse), int(lost.sum()))


@dataclass(frozen=True)
class AnnotatorErrors:
    """Squared errors of annotators, summed by annotator and candidate.

    total, number : their sum and how many there are, sparse, shape (annotators, candidates)
    """

    total: csr_array
    number: csr_array

    def mean(self, weights: Array) -> Array:
        """Mean over the annotators of each one's MSE, under each row of weights, shape (draws,).

        ``weights`` (draws, candidates) say how often a candidate is there, with all its ratings.
        An annotator of whom nothing is left takes no part; NaN where nobody is left.
        """
        weights = np.asarray(weights, np.float64).T
        with np.errstate(divide="ignore", invalid="ignore"):
            mse = (self.total @ weights) / (self.number @ weights)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # mean of an empty slice
            return np.nanmean(mse, axis=0) if len(mse) else np.full(weights.shape[1], np.nan)

    def annotators(self, chosen: Array) -> int:
        """How many annotators rated a candidate of ``chosen``, shape (candidates,), bool."""
        return int((self.number @ chosen.astype(np.float64) > 0).sum())


def annotator_errors(
    candidate: Array, rater: Array, rating: Array, truth: Array
) -> AnnotatorErrors:
    """Squared errors of individual ratings; parameters as for `human_rows`."""
    from scipy.sparse import csr_array

    names, row = np.unique(rater, return_inverse=True)
    shape = (len(names), len(truth))
    error = (rating - truth[candidate]) ** 2
    return AnnotatorErrors(
        csr_array((error, (row, candidate)), shape=shape),
        csr_array((np.ones(len(rater)), (row, candidate)), shape=shape),
    )


@dataclass(frozen=True)
class CoveredErrors:
    """Annotators on all candidates against annotators on the covered ones.

    overall, covered : mean over annotators of their MSE
    difference, relative : covered - overall, and that over overall
    p_value : of the permutation test
    covered_draws : ``covered`` under each draw of the bootstrap, shape (draws,)
    """

    overall: Estimate
    covered: Estimate
    difference: Estimate
    relative: Estimate
    p_value: float
    covered_draws: Array


def overall_error(errors: AnnotatorErrors, draws: int = 2000, seed: int = 0) -> Estimate:
    """The first mean of `covered_errors`, which hangs on no model."""
    n = errors.total.shape[1]
    drawn = [errors.mean(weights) for weights in draw_blocks(n, draws, seed)]
    return Estimate(float(errors.mean(np.ones((1, n)))[0]), *interval(np.concatenate(drawn)))


def covered_errors(
    errors: AnnotatorErrors, covered: Array, draws: int = 2000, seed: int = 0
) -> CoveredErrors:
    """Are the covered candidates easier for annotators than all candidates are?

    The test is a permutation test over candidates, each with all of its ratings: if coverage had
    nothing to do with difficulty, any subset of as many candidates could as well be the covered
    one. p is the share of ``draws`` random subsets (and the given one) whose difference is at
    least as great in size, two-sided. Intervals are from the bootstrap over candidates.

    Parameters
    ----------
    covered : shape (candidates,), bool

    Source: Ethayarajh & Sadigh (2020), section 5.3, for the two means; which test they used is not
    said.
    """
    n, size = len(covered), int(covered.sum())
    once = np.ones((1, n))
    overall = float(errors.mean(once)[0])
    chosen = float(errors.mean(once * covered)[0])
    difference = chosen - overall
    generator = np.random.default_rng([seed, 1])
    drawn: list[tuple[Array, Array]] = []
    extreme = 0
    for weights in draw_blocks(n, draws, seed):
        drawn.append((errors.mean(weights), errors.mean(weights * covered)))
        subsets = np.zeros(weights.shape)
        for row in subsets:
            row[generator.choice(n, size, replace=False)] = 1
        # a hair, so that subsets that differ by rounding noise count as equal
        extreme += int((np.abs(errors.mean(subsets) - overall) >= abs(difference) - 1e-12).sum())
    all_draws, covered_draws = map(np.concatenate, zip(*drawn, strict=True))
    gaps = covered_draws - all_draws
    p_value = float("nan") if np.isnan(difference) else (1 + extreme) / (1 + draws)
    return CoveredErrors(
        Estimate(overall, *interval(all_draws)),
        Estimate(chosen, *interval(covered_draws)),
        Estimate(difference, *interval(gaps)),
        Estimate(difference / overall if overall else float("nan"), *interval(gaps / all_draws)),
        p_value,
        covered_draws,
    )


@dataclass(frozen=True)
class Measures:
    """Over the covered candidates: MSE, Spearman's rho, coverage; and ``within``, the mean of the
    rhos within groups of candidates, weighted by the covered candidates of each."""

    mse: Estimate
    spearman: Estimate
    coverage: Estimate
    within: Estimate


@dataclass(frozen=True)
class Compared:
    """A prediction beside a baseline of the same candidates.

    own : its measures; change : its measures minus the baseline's, each over its own covered
    candidates; ``common_mse``, ``common_spearman`` : the same difference over the ``n_common``
    candidates that both cover
    """

    own: Measures
    change: Measures
    common_mse: Estimate
    common_spearman: Estimate
    n_common: int


PAIRED_BLOCK = 1 << 19
"""Weights of draws that are compared together, a few megabytes, so that they stay in the cache."""


def paired_bootstrap(
    predictions: Sequence[Array],
    baseline: Array,
    truth: Array,
    *,
    groups: Array | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> list[Compared]:
    """Compare predictions with a baseline by a paired bootstrap over candidates.

    Parameters
    ----------
    predictions : shape (candidates,) each, NaN where undefined
    baseline, truth : shape (candidates,)
    groups : number of each candidate's group, for ``within``; -1 for none. Groups of fewer than 3
        covered candidates have no rho and are left out, as are groups without one.
    draws, seed : every draw resamples all candidates, and all predictions are measured on the same
        draw, so that what they share cancels out. The draws are those of `evaluate`.

    What has no value (a difference: on either side) is NaN, and intervals leave such draws out.
    """
    n = len(truth)
    covered = ~np.isnan(baseline)
    commons = [covered & ~np.isnan(prediction) for prediction in predictions]
    drawn = draw_weights(n, draws, seed)
    step = max(1, PAIRED_BLOCK // max(n, 1))
    blocks = [np.ones((1, n))]  # the sample itself comes first
    blocks += [drawn[start : start + step] for start in range(0, draws, step)]
    found: list[list[Array]] = [[] for _ in predictions]
    for block in blocks:
        weights = block.astype(np.float64)
        base = _measures(baseline, truth, weights, groups)
        for own, prediction, common in zip(found, predictions, commons, strict=True):
            other = _measures(prediction, truth, weights, groups)
            both, same = base, other
            if not np.array_equal(common, covered):
                both = _measures(np.where(common, baseline, np.nan), truth, weights)
            if not np.array_equal(common, ~np.isnan(prediction)):
                same = _measures(np.where(common, prediction, np.nan), truth, weights)
            own.append(np.concatenate([other, other - base, same[:2] - both[:2]]))
    results = []
    for own, common in zip(found, commons, strict=True):
        each = [_estimate(row) for row in np.concatenate(own, axis=1)]
        own_measures, change = Measures(*each[:4]), Measures(*each[4:8])
        results.append(Compared(own_measures, change, each[8], each[9], int(common.sum())))
    return results


def _estimate(values: Array) -> Estimate:
    """The first number with the interval of the others."""
    low, high = interval(values[1:]) if not np.isnan(values[0]) else (np.nan, np.nan)
    return Estimate(float(values[0]), low, high)


def _measures(
    prediction: Array, truth: Array, weights: Array, groups: Array | None = None
) -> Array:
    """The numbers of `Measures` under each row of weights (draws, n), shape (4, draws)."""
    covered = ~np.isnan(prediction)
    out = np.full((4, len(weights)), np.nan)
    inside = np.compress(covered, weights, axis=1)
    number = inside.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        out[2] = number / weights.sum(axis=1)
        if covered.any():
            p, t = prediction[covered], truth[covered]
            out[0] = (inside * (p - t) ** 2).sum(axis=1) / number
            out[1] = weighted_spearman(p, t, inside)
            if groups is not None:
                out[3] = _within(p, t, inside, groups[covered])
    return out


def _within(p: Array, t: Array, weights: Array, groups: Array) -> Array:
    """Mean rho within groups, shape (draws,)."""
    top, bottom = np.zeros(len(weights)), np.zeros(len(weights))
    for group in np.unique(groups[groups >= 0]):
        own = groups == group
        if own.sum() < 3:
            continue
        inside = np.compress(own, weights, axis=1)
        rho = weighted_spearman(p[own], t[own], inside)
        number = np.where(np.isnan(rho), 0, inside.sum(axis=1))
        top += number * np.nan_to_num(rho)
        bottom += number
    return np.where(bottom > 0, top / bottom, np.nan)
