"""Standard errors from few clusters, also where one of them is large.

Texts of one context are alike, so what a mean or a correlation may be off by is learned from how
contexts differ. With few contexts, or with one that has half the texts, that spread is itself
uncertain. CR2 corrects the bias of the variance, and Bell and McCaffrey's degrees of freedom say
how uncertain it still is: 11 contexts of which one has half the texts are worth 3.3, not 10.

A working model of independent texts decides both; the estimates hold without it. In simulations a
model with an estimated correlation within contexts did worse.

Stage: cell. In: numbers and the cluster of each. Out: a number with an interval, or without one.

Source: Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with
multi-stage samples"; Imbens and Kolesár (2016), "Robust standard errors in small samples: some
practical advice", equations 10 to 12.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

Array = np.ndarray


@dataclass(frozen=True)
class ClusteredEstimate:
    """A number from clustered data: a mean, a difference or other weighted sum of means, or a
    statistic such as a correlation.

    value : the number
    influence : what each cluster moves it by, float64 (clusters,), corrected so that the sum of
        squares is the variance (CR2)
    share, spread : of each mean that is part of it, float64 (means, clusters): the share of its
        texts that a cluster has, and the variance that the cluster would give it if all texts were
        independent; 0 where a cluster has no text of the mean

    Estimates of one data set number the clusters alike, and can be subtracted, added and
    multiplied by a number.

    Examples
    --------
    Eleven contexts, the first of which has half of the 20 texts. The deviation of each context
    counts as far as it reaches, the first by 10 / 20 / sqrt(1 - 10 / 20):

    >>> cluster = np.array([0] * 10 + [*range(1, 11)])
    >>> mean = clustered_mean(np.array([1.0] * 10 + [0.0, 2.0] * 5), cluster, clusters=11)
    >>> mean.influence.round(3)[:3], mean.value
    (array([ 0.   , -0.051,  0.051]), 1.0)
    >>> round(mean.error, 3), round(mean.freedom, 2), round(mean.effective, 2)
    (0.162, 3.31, 3.64)
    """

    value: float
    influence: Array
    share: Array
    spread: Array

    @property
    def error(self) -> float:
        """The standard error."""
        return float(np.sqrt((self.influence**2).sum()))

    @property
    def effective(self) -> float:
        """The effective number of clusters: their number where all are equal, about 1 where one has
        nearly all that spreads. (sum v)^2 / sum v^2 of the spreads; NaN where nothing spreads."""
        spread = self.spread.sum(axis=0)
        square = (spread**2).sum()
        return float(spread.sum() ** 2 / square) if square > 0 else float("nan")

    @cached_property
    def freedom(self) -> float:
        """Bell and McCaffrey's degrees of freedom, (tr G)^2 / sum G^2 of the `working_covariance` G
        of ``influence``. NaN where nothing spreads, or a mean has one cluster alone."""
        if (self.share >= 1).any():
            return float("nan")
        return cluster_products([(self, np.arange(len(self.influence)))]).freedom(np.ones(1))

    def __add__(self, other: Self) -> Self:
        return replace(
            self,
            value=self.value + other.value,
            influence=self.influence + other.influence,
            share=np.concatenate([self.share, other.share]),
            spread=np.concatenate([self.spread, other.spread]),
        )

    def __mul__(self, factor: float) -> Self:
        return replace(
            self,
            value=self.value * factor,
            influence=self.influence * factor,
            spread=self.spread * factor**2,
        )

    __rmul__ = __mul__

    def __sub__(self, other: Self) -> Self:
        return self + -1.0 * other


class WorkingCovariance(NamedTuple):
    """G = diag(diagonal) + columns' middle columns, the covariance (clusters, clusters) of what
    clusters move an estimate by if texts were independent. It is never written out, since it may
    have a row for each text.

    diagonal : float64 (clusters,)
    columns : float64 (2 means, clusters)
    weighted : the product of middle and columns, likewise
    """

    diagonal: Array
    columns: Array
    weighted: Array


def working_covariance(estimate: ClusteredEstimate) -> WorkingCovariance:
    """Return the working covariance of an estimate. For one mean it is

        G_gh = a_g a_h (d_gh v_g - u_g v_h - v_g u_h + V u_g u_h),  a_g = 1 / sqrt(1 - u_g)

    with the shares u, spreads v and their sum V; d_gh is 1 for g = h, else 0. For several means,
    their covariances add up. A cluster that is all of a mean moves it by nothing: a is 0."""
    share = estimate.share
    spread = estimate.spread
    adjust = np.where(share < 1, 1 / np.sqrt(np.where(share < 1, 1 - share, 1)), 0)
    means = len(share)
    middle = np.zeros((2 * means, 2 * means))
    first = np.arange(means)
    second = means + np.arange(means)
    middle[first, first] = spread.sum(axis=1)
    middle[first, second] = middle[second, first] = -1
    columns = np.concatenate([adjust * share, adjust * spread])
    return WorkingCovariance((adjust**2 * spread).sum(axis=0), columns, middle @ columns)


class ClusterProducts(NamedTuple):
    """What weighted sums of many estimates are found from, such as the differences of each two.

    covariance : of the estimates, (estimates, estimates), sparse
    trace : of the `working_covariance` of each, float64 (estimates,)
    squares : the sum of the products, number by number, of each two of these, sparse
    """

    covariance: csr_array
    trace: Array
    squares: csr_array

    def variance(self, factor: Array) -> float:
        """Return the variance of a sum of the estimates, each times its factor, float64
        (estimates,)."""
        return max(float(factor @ (self.covariance @ factor)), 0.0)

    def freedom(self, factor: Array) -> float:
        """Return Bell and McCaffrey's degrees of freedom of the same sum; NaN where nothing
        spreads."""
        squares = float(factor**2 @ (self.squares @ factor**2))
        return float((factor**2 @ self.trace) ** 2 / squares) if squares > 0 else float("nan")


def cluster_products(estimates: Sequence[tuple[ClusteredEstimate, Array]]) -> ClusterProducts:
    """The products of estimates, each with the numbers, int64 (k,), that its own k clusters have
    among all, so that estimates of few clusters take little memory.

    Two means of the same three clusters, and one of three others:

    >>> values = np.array([1.0, 2.0, 6.0])
    >>> mean = clustered_mean(values, np.arange(3), clusters=3)
    >>> same, others = np.array([0, 1, 2]), np.array([3, 4, 5])
    >>> products = cluster_products([(mean, same), (mean, same), (mean, others)])
    >>> freedoms = [products.freedom(np.array(factor)) for factor in ([1, -1, 0], [1, 0, -1])]
    >>> [round(freedom, 6) for freedom in freedoms]  # of 3 clusters, of 3 and 3
    [2.0, 4.0]
    """
    numbers = [clusters for _, clusters in estimates]
    working = [working_covariance(estimate) for estimate, _ in estimates]
    place = np.unique(np.concatenate(numbers), return_inverse=True)[1]
    starts = np.cumsum([0, *map(len, numbers)])
    places = [place[start:end] for start, end in pairwise(starts)]
    shape = (len(estimates), int(place.max(initial=-1)) + 1)

    def rows(of_each: Sequence[Array]) -> csr_array:
        return csr_array((np.concatenate(of_each), place, starts), shape=shape)

    influence = rows([estimate.influence for estimate, _ in estimates])
    diagonal = rows([one.diagonal for one in working])
    on_diagonal = rows([(one.columns * one.weighted).sum(axis=0) for one in working])
    columns = _stacked([one.columns for one in working], places, shape[1])
    weighted = _stacked([one.weighted for one in working], places, shape[1])
    product = weighted @ columns.T
    owner = np.repeat(np.arange(len(working)), [len(one.columns) for one in working])
    sums = csr_array(
        (np.ones(len(owner)), (owner, np.arange(len(owner)))), shape=(shape[0], len(owner))
    )
    mixed = diagonal @ on_diagonal.T
    squares = diagonal @ diagonal.T + mixed + mixed.T
    squares = squares + sums @ product.multiply(product.T) @ sums.T
    trace = np.asarray((diagonal + on_diagonal).sum(axis=1))
    return ClusterProducts(csr_array(influence @ influence.T), trace, csr_array(squares))


def _stacked(blocks: Sequence[Array], places: Sequence[Array], clusters: int) -> csr_array:
    """Rows of blocks, each (rows, k), whose k columns stand at ``places`` among all clusters."""
    column = np.concatenate(
        [np.tile(place, len(block)) for block, place in zip(blocks, places, strict=True)]
    )
    lengths = [block.shape[1] for block in blocks for _ in block]
    starts = np.cumsum([0, *lengths])
    values = np.concatenate([block.ravel() for block in blocks])
    return csr_array((values, column, starts), shape=(len(lengths), clusters))


def crossing_factor(influence: Array, cluster: Array, text: Array) -> float:
    """How much larger a standard error is where equal texts stand in several clusters: the
    covariances of equal texts in different clusters are added to the variance of clusters, unless
    they lower it.

    influence : by how much each text moves the mean, float64 (n,)
    cluster, text : their numbers, int64 (n,)

    Source: Cameron, Gelbach and Miller (2011), "Robust inference with multiway clustering",
    equation 2.11: the variance by clusters and that by texts, less that by both.

    Four texts of four clusters of which two are equal and alike: 2 * 1 * 1 is added to 4.

    >>> influence, text = np.array([1.0, 1.0, -1.0, -1.0]), np.array([0, 0, 1, 2])
    >>> round(crossing_factor(influence, np.arange(4), text) ** 2, 6)
    1.5
    """
    both = np.unique(np.stack([cluster, text]), axis=1, return_inverse=True)[1].reshape(-1)
    by_cluster = float((np.bincount(cluster, influence) ** 2).sum())
    by_text = float((np.bincount(text, influence) ** 2).sum())
    by_both = float((np.bincount(both, influence) ** 2).sum())
    if not by_cluster > 0:
        return 1.0
    return float((1 + max(by_text - by_both, 0.0) / by_cluster) ** 0.5)


def clustered_mean(
    values: Array, cluster: Array, clusters: int, variance: float = 1.0
) -> ClusteredEstimate:
    """The mean of numbers, (n,), with what each cluster moves it by.

    values : float64 (n,), n at least 1
    cluster : of each, int64 (n,), from 0
    clusters : their number, of all that will be compared
    variance : of one number in the working model; it counts only in sums of means that differ in it

    CR2 of a mean: the sum of a cluster's deviations, over n sqrt(1 - u) with its share u of the
    numbers. With one number a cluster it is the usual standard error:

    >>> mean = clustered_mean(np.array([1.0, 2.0, 4.0, 5.0]), np.arange(4), clusters=4)
    >>> round(mean.error, 3), round(mean.freedom, 3)  # of 10 / 3 / 4 is 0.833 the root of
    (0.913, 3.0)
    """
    size = np.bincount(cluster, minlength=clusters)
    n = len(values)
    mean = values.mean()
    deviation = np.bincount(cluster, values - mean, clusters)
    share = size / n
    left = np.where(share < 1, 1 - share, 1)
    influence = deviation / (n * np.sqrt(left))
    return ClusteredEstimate(float(mean), influence, share[None], (variance * share / n)[None])
