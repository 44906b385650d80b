"""Prediction-powered inference: a mean from few ratings and many predictions.

The mean holds for more texts from clusters, such as contexts, like these; or for these very texts,
which are a finite population: with each of them rated, nothing is left to be estimated.

Source: Angelopoulos, Duchi and Zrnic (2023), "PPI++: Efficient Prediction-Powered Inference",
sections 2 and 6; here with errors and degrees of freedom that hold with few clusters
(`refless.statistics.cluster_robust`). Of a finite population: Cochran (1977), "Sampling
techniques", section 7.4.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from refless.statistics.bootstrap import FEWEST_EFFECTIVE, t_quantile
from refless.statistics.cluster_robust import (
    ClusteredEstimate,
    cluster_products,
    clustered_mean,
    crossing_factor,
)

Array = np.ndarray

FEWEST_CLUSTERS = 6.0
"""Effective clusters of a system with ratings, from which on it has a variance of its own in a mean
of systems."""

FEWEST_UNRATED_CLUSTERS = 10
"""Clusters of unrated texts without which predictions do not count: of one text, the variance
between clusters would be 0, and its prediction as good as the mean of very many."""


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error.

    error : the standard error, with what a weight of predictions costs; NaN where it is unknown
    freedom : its degrees of freedom, inf where the mean is known; NaN: none
    effective : effective number of clusters that have ratings
    weight : of predictions, in [0, 1]
    """

    value: float
    error: float
    freedom: float
    effective: float
    weight: float = 0.0

    @property
    def known(self) -> bool:
        """Whether each text is rated, and these texts are all that is asked about."""
        return bool(self.error == 0 and np.isinf(self.freedom))

    @property
    def has_interval(self) -> bool:
        """Whether the mean is known, or `FEWEST_EFFECTIVE` clusters have ratings, which vary."""
        enough = self.effective > FEWEST_EFFECTIVE - 1e-9
        return self.known or bool(enough and self.freedom > 0 and self.error > 0)

    @property
    def interval(self) -> tuple[float, float]:
        """95%, by Student's t; NaN if not `has_interval`."""
        if not self.has_interval:
            return float("nan"), float("nan")
        half = t_quantile(self.freedom) * self.error
        return self.value - half, self.value + half


@dataclass(frozen=True, kw_only=True)
class PoweredMean(Mean):
    """A `Mean` with what it is compared with others by.

    estimate : what moves it, by its own k clusters; without what the weight costs
    clusters : their numbers among those of all texts, int64 (k,)
    rated : how many texts of each have a rating, int64 (k,)
    left : share of the variance of the ratings' mean that is left, since the mean is that of a
        finite population; 1 of more texts
    """

    estimate: ClusteredEstimate
    clusters: Array
    rated: Array
    left: float


def powered_mean(
    quality: Array,
    predicted: Array,
    unrated: Array,
    cluster: Array | None = None,
    text: Array | None = None,
    these_texts: Array | None = None,
) -> PoweredMean:
    """The mean of quality from rated texts and predictions of others.

    quality, predicted : of the rated texts, float64 (n,); nobody's rating predicts itself
    unrated : predictions of the other texts, float64 (N,), made in the same way
    cluster : of the rated texts and then of the others, int64 (n + N,); None: each text is its own
    text : their numbers, equal for equal texts, likewise; None: no text stands in two clusters
    these_texts : numbers of the rated texts among those of all means, int64 (n,), where the mean
        is that of the n + N texts, of which the rated ones are a random sample; None: it is that of
        more clusters like these

    Without clusters, value and weight are those of ``ppi_py``, and the error is that with the usual
    n - 1 in the variances. The weight takes a degree of freedom. Ratings that are all alike say
    nothing of their error: there is no interval.

    Of these texts, each is its own cluster. A weight w of the difference between predictions of
    unrated and rated texts is the weight b = w (n + N) / N of all texts' predictions in a
    regression estimate, whose variance is that of the mean of quality - b predicted, times
    1 - n / (n + N).

    Four texts of six are rated:

    >>> quality = np.array([1.0, 2.0, 4.0, 5.0])
    >>> half = powered_mean(quality, quality * 0, np.zeros(2), these_texts=np.arange(4))
    >>> more = powered_mean(quality, quality * 0, np.zeros(2))
    >>> round(half.error, 3), round(more.error, 3)  # 10 / 3 / 4 is 0.833; a third of it is left
    (0.527, 0.913)
    """
    n = len(quality)
    others = len(unrated)
    if cluster is None or these_texts is not None:
        cluster = np.arange(n + others)
    weight = _weight(quality, predicted, unrated, cluster)
    value = float(quality.mean())
    if weight:
        value += weight * (float(unrated.mean()) - float(predicted.mean()))
    left = 1.0
    slope = weight
    if these_texts is not None:
        left = others / (n + others)
        slope = weight / left if left else 0.0
        cluster = these_texts
        text = None
        unrated = unrated[:0]
    if not weight:
        cluster = cluster[:n]
        unrated = unrated[:0]
    clusters, place = np.unique(cluster, return_inverse=True)
    remainder = quality - slope * predicted
    estimate = _estimate(remainder, weight * unrated, place, text, _variance(quality) or 1.0)
    estimate = replace(estimate * left**0.5, value=value)
    rated = np.bincount(place[:n], minlength=len(clusters))
    error, freedom = with_cost(estimate.error, estimate.freedom, weight)
    if np.ptp(quality) <= 1e-12 * max(1.0, np.abs(quality).max()):
        freedom = float("nan")
    if not left:
        error = 0.0
        freedom = float("inf")
    effective = float(n**2 / (rated.astype(float) ** 2).sum())
    return PoweredMean(
        value,
        error,
        freedom,
        effective,
        weight,
        estimate=estimate,
        clusters=clusters,
        rated=rated,
        left=left,
    )


def _weight(quality: Array, predicted: Array, unrated: Array, cluster: Array) -> float:
    """The weight of predictions, in [0, 1], that makes the error between clusters least."""
    n = len(quality)
    others = len(unrated)
    clusters, place = np.unique(cluster, return_inverse=True)
    alike = np.ptp(quality) <= 1e-12 * max(1.0, np.abs(quality).max())
    if not others or alike or len(np.unique(place[:n])) < 3:
        return 0.0
    alone = np.bincount(place[:n], (quality - quality.mean()) / n, len(clusters))
    away = [-(predicted - predicted.mean()) / n, (unrated - unrated.mean()) / others]
    moved = np.bincount(place, np.concatenate(away), len(clusters))
    spread = (moved**2).sum()
    if len(clusters) == len(cluster):
        spread = np.append(predicted, unrated).var(ddof=1) * (1 / n + 1 / others)
    elif len(np.unique(cluster[n:])) < FEWEST_UNRATED_CLUSTERS:
        spread = 0.0
    weight = float(np.clip(-(alone @ moved) / spread, 0, 1)) if spread > 0 else 0.0
    return 0.0 if weight < 1e-9 else weight  # rounding is no weight


def _estimate(
    remainder: Array, weighted: Array, place: Array, text: Array | None, unit: float
) -> ClusteredEstimate:
    """The mean of what predictions leave of ratings, and of weighted predictions of other texts, in
    the clusters ``place``. The working model has the variances of both, over a ``unit``. One
    cluster of predictions says nothing of how they vary, and is left out."""
    n = len(remainder)
    clusters = int(place.max()) + 1
    estimate = clustered_mean(remainder, place[:n], clusters, _variance(remainder) / unit)
    away = (remainder - remainder.mean()) / n
    if len(np.unique(place[n:])) > 1:
        variance = _variance(weighted) / unit
        estimate = estimate + clustered_mean(weighted, place[n:], clusters, variance)
        away = np.append(away, (weighted - weighted.mean()) / len(weighted))
    if text is None:
        return estimate
    return crossing_factor(away, place[: len(away)], text[: len(away)]) * estimate


def _variance(values: Array) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


def with_cost(error: float, freedom: float, weight: float) -> tuple[float, float]:
    """A standard error and its degrees of freedom, with what an estimated weight of predictions
    costs: one degree of freedom; NaN where none is left.

    >>> with_cost(1.0, freedom=5.0, weight=0.5)
    (1.118033988749895, 4.0)
    """
    if not weight:
        return error, freedom
    if not freedom > 1:
        return float("nan"), float("nan")
    return float(error * (freedom / (freedom - 1)) ** 0.5), freedom - 1


def mean_of_systems(means: Mapping[str, PoweredMean], texts: Mapping[str, int]) -> Mean:
    """The mean of all texts from those of the systems, each by its number of texts, so that a
    system counts as it writes and not as it was rated.

    The variance of a system with fewer than `FEWEST_CLUSTERS` effective clusters, or with ratings
    that are all alike, is that of all systems together, by its number of clusters: from two ratings
    a variance is nearly unknown. What such a system shares with others, such as contexts, counts
    where it adds. Degrees of freedom are Bell and McCaffrey's of the other systems and the sum of
    all systems' of what is pooled, put together by Welch and Satterthwaite's formula.

    Two systems of 100 texts, of which one has 40 ratings and the other two:

    >>> generator = np.random.default_rng(0)
    >>> sizes = {"a": 40, "b": 2}
    >>> parts = {name: generator.normal(size=n) for name, n in sizes.items()}
    >>> clusters = {"a": np.arange(40), "b": np.arange(40, 42)}
    >>> means = {
    ...     name: powered_mean(values, values * 0, np.zeros(0), clusters[name])
    ...     for name, values in parts.items()
    ... }
    >>> round(mean_of_systems(means, {"a": 100, "b": 100}).freedom)
    40
    """
    ordered = list(means.values())
    share = np.array([texts[name] for name in means]) / sum(texts[name] for name in means)
    weight = float(share @ [mean.weight for mean in ordered])
    value = float(share @ [mean.value for mean in ordered])
    effective = _effective_of_all(ordered)
    open_means = np.array([not mean.known for mean in ordered])
    if not open_means.any():
        return Mean(value, 0.0, float("inf"), effective, weight)
    usable = np.array([mean.freedom > 0 for mean in ordered])
    clusters = np.array([mean.effective for mean in ordered])
    few = open_means & ~(usable & (clusters > min(FEWEST_CLUSTERS, effective) - 1e-9))
    own = open_means & ~few
    products = cluster_products([(mean.estimate, mean.clusters) for mean in ordered])
    own_share = np.where(own, share, 0)
    variance = products.variance(own_share)
    freedom = products.freedom(own_share)
    error, freedom = with_cost(variance**0.5, freedom, weight if own.any() else 0.0)
    parts = [(error**2, freedom)] if own.any() else []
    most = float("inf")
    if few.any():
        pooled, pooled_freedom = _pooled(ordered)
        left = np.array([mean.left for mean in ordered])
        alone = (share**2 * pooled * left / clusters)[few].sum()
        # what these means have in common with each other and with the rest
        open_share = np.where(open_means, share, 0)
        shared = products.variance(open_share) - variance
        shared -= (share**2 * products.covariance.diagonal())[few].sum()
        most = min(pooled_freedom, effective - 1)  # the other variances are part of the pooled one
        parts.append((alone + max(shared, 0.0), most))
    total = sum(part for part, _ in parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = sum(np.divide(part**2, freedom) for part, freedom in parts)
        freedom = float(np.divide(total**2, spread))
    return Mean(value, float(total**0.5), min(freedom, most), effective, weight)


def _effective_of_all(means: list[PoweredMean]) -> float:
    """The effective number of clusters of the rated texts of all means together."""
    numbers, place = np.unique(
        np.concatenate([mean.clusters for mean in means]), return_inverse=True
    )
    rated = np.bincount(place, np.concatenate([mean.rated for mean in means]), len(numbers))
    return float(rated.sum() ** 2 / (rated**2).sum())


def _pooled(means: list[PoweredMean]) -> tuple[float, float]:
    """The variance between clusters in all means together, each by its degrees of freedom; and the
    sum of these. NaN without any."""
    with_freedom = [mean for mean in means if mean.freedom > 0 and not mean.known]
    freedom = sum(mean.freedom for mean in with_freedom)
    squares = sum(
        mean.freedom * mean.effective * mean.error**2 / mean.left for mean in with_freedom
    )
    return (squares / freedom, freedom) if freedom else (float("nan"), float("nan"))
