"""Prediction-powered inference: a mean from few ratings and many predictions.

Source: Angelopoulos, Duchi and Zrnic (2023), "PPI++: Efficient Prediction-Powered Inference",
sections 2 and 6; here with errors that are robust to clusters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from refless.statistics.bootstrap import t_quantile

Array = np.ndarray

FEWEST_CLUSTERS = 6
"""Of a system with ratings, from which on it has a variance of its own in a mean of systems."""

FEWEST_UNRATED_CLUSTERS = 10
"""Clusters of unrated texts without which predictions do not count: of one text, the variance
between clusters would be 0, and its prediction as good as the mean of very many."""


def small_sample_factor(freedom: ArrayLike, estimated: ArrayLike) -> Array:
    """What a standard error is multiplied by, against the bias of a variance of few clusters.

    freedom : degrees of freedom, a number or of shape (n,)
    estimated : how many numbers were estimated from the clusters, 1 or 2, likewise
    Returns float64 of the same shape; NaN without degrees of freedom.
    """
    degrees = np.asarray(freedom)
    known = degrees > 0
    factor = np.sqrt(1 + np.asarray(estimated) / np.where(known, degrees, 1))
    return np.where(known, factor, np.nan)


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error, and what its clusters, int64 (k,), move it by, float64
    (k,)."""

    value: float
    influence: Array
    clusters: Array
    freedom: int  # clusters that have ratings, less what is estimated from them; 0: no interval
    weight: float = 0.0  # of predictions, in [0, 1]
    rated_clusters: int = 1  # that have ratings

    @property
    def error(self) -> float:
        """NaN without degrees of freedom."""
        return float(np.sqrt((self.influence**2).sum())) if self.freedom > 0 else float("nan")

    @property
    def wide_error(self) -> float:
        """Without the bias of a variance of few clusters."""
        return self.error * float(small_sample_factor(self.freedom, 1 + (self.weight > 0)))

    @property
    def interval(self) -> tuple[float, float]:
        """95%, by Student's t; NaN without degrees of freedom."""
        if self.freedom < 1:
            return float("nan"), float("nan")
        half = t_quantile(self.freedom) * self.wide_error
        return self.value - half, self.value + half


def powered_mean(
    quality: Array,
    predicted: Array,
    unrated: Array,
    cluster: Array | None = None,
) -> Mean:
    """The mean of quality from rated texts and predictions of others.

    quality, predicted : of the rated texts, float64 (n,); nobody's rating predicts itself
    unrated : predictions of the other texts, float64 (N,), made in the same way
    cluster : of the rated texts and then of the others, int64 (n + N,); None: each text is its own

    Without clusters, value, error and weight are those of ``ppi_py``; the weight takes a degree of
    freedom. Ratings that are all alike say nothing of their error: there is no interval.
    """
    n, others = len(quality), len(unrated)
    cluster = np.arange(n + others) if cluster is None else cluster
    clusters, place = np.unique(cluster, return_inverse=True)
    with_ratings = len(np.unique(place[:n]))
    alone = np.bincount(place[:n], (quality - quality.mean()) / n, len(clusters))
    alike = np.ptp(quality) <= 1e-12 * max(1.0, np.abs(quality).max())
    freedom = 0 if alike else with_ratings - 1
    if not others:
        return Mean(float(quality.mean()), alone, clusters, freedom, 0.0, with_ratings)
    away = [-(predicted - predicted.mean()) / n, (unrated - unrated.mean()) / others]
    moved = np.bincount(place, np.concatenate(away), len(clusters))
    spread = (moved**2).sum()
    if len(clusters) == len(cluster):
        spread = np.append(predicted, unrated).var(ddof=1) * (1 / n + 1 / others)
    elif len(np.unique(cluster[n:])) < FEWEST_UNRATED_CLUSTERS:
        spread = 0.0
    weight = float(np.clip(-(alone @ moved) / spread, 0, 1)) if spread > 0 else 0.0
    if freedom < 2 or weight < 1e-9:  # rounding is no weight
        weight = 0.0
    value = quality.mean() + weight * (unrated.mean() - predicted.mean())
    influence, left = alone + weight * moved, freedom - (weight > 0)
    return Mean(float(value), influence, clusters, left, weight, with_ratings)


def mean_of_systems(means: Mapping[str, Mean], texts: Mapping[str, int]) -> Mean:
    """The mean of all texts from those of the systems, each by its number of texts, so that a
    system counts as it writes and not as it was rated.

    The variance of a system with fewer than `FEWEST_CLUSTERS` clusters, or with ratings that are
    all alike, is that of all systems together, by its number of clusters: from two ratings a
    variance is nearly unknown, and the sum of degrees of freedom would hide it. Degrees of freedom
    are Welch and Satterthwaite's.

    Two systems of 100 texts, of which one has 40 ratings and the other two:

    >>> generator = np.random.default_rng(0)
    >>> sizes = {"a": 40, "b": 2}
    >>> parts = {name: generator.normal(size=n) for name, n in sizes.items()}
    >>> clusters = {"a": np.arange(40), "b": np.arange(40, 42)}
    >>> means = {
    ...     name: powered_mean(values, values * 0, np.zeros(0), clusters[name])
    ...     for name, values in parts.items()
    ... }
    >>> mean_of_systems(means, {"a": 100, "b": 100}).freedom
    40
    """
    total = sum(texts.values())
    shares = {name: texts[name] / total for name in means}
    value = sum(share * means[name].value for name, share in shares.items())
    weight = sum(share * means[name].weight for name, share in shares.items())
    pooled_freedom = sum(mean.freedom for mean in means.values())
    if pooled_freedom < 1:
        nothing = np.zeros(0)
        return Mean(float(value), nothing, nothing.astype(np.int64), 0, float(weight))
    squares = sum(
        mean.freedom * mean.rated_clusters * mean.wide_error**2
        for mean in means.values()
        if mean.freedom > 0
    )
    pooled = squares / pooled_freedom
    influences: list[Array] = []
    clusters: list[Array] = []
    variances: list[tuple[float, int]] = []  # of each system's part, and its degrees of freedom
    for number, (name, mean) in enumerate(means.items()):
        if mean.freedom < 1 or mean.rated_clusters < FEWEST_CLUSTERS:
            variance = shares[name] ** 2 * pooled / mean.rated_clusters
            influences.append(np.array([np.sqrt(variance)]))
            clusters.append(np.array([-1 - number]))  # of its own
            variances.append((variance, pooled_freedom))
        else:
            factor = float(small_sample_factor(mean.freedom, 1 + (mean.weight > 0)))
            influences.append(shares[name] * factor * mean.influence)
            clusters.append(mean.clusters)
            variances.append(((shares[name] * mean.wide_error) ** 2, mean.freedom))
    freedom = min(_welch_satterthwaite(variances), pooled_freedom)
    numbers, place = np.unique(np.concatenate(clusters), return_inverse=True)
    factor = float(small_sample_factor(freedom, 1 + (weight > 0)))
    influence = np.bincount(place, np.concatenate(influences), len(numbers)) / factor
    rated = sum(mean.rated_clusters for mean in means.values())
    return Mean(float(value), influence, numbers, freedom, float(weight), rated)


def _welch_satterthwaite(variances: Sequence[tuple[float, int]]) -> int:
    """Degrees of freedom of a sum of variances, each with its own, at least 1."""
    total = sum(variance for variance, _ in variances)
    if total == 0:
        return max(1, min(freedom for _, freedom in variances))
    spread = sum(variance**2 / freedom for variance, freedom in variances)
    return max(1, int(total**2 / spread))
