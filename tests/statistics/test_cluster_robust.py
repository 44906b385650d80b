"""CR2 and Bell and McCaffrey's degrees of freedom, against their matrices written out."""

import numpy as np
import pytest
from statsmodels.regression.linear_model import OLS

from refless.statistics.cluster_robust import (
    clustered_mean,
)

CLUSTER = np.array([0] * 9 + [1] * 3 + [2] * 2 + [3] + [4] * 4)


def by_matrices(
    design: np.ndarray, values: np.ndarray, cluster: np.ndarray, contrast: np.ndarray
) -> tuple[float, float]:
    """The CR2 standard error of a contrast of coefficients, and its degrees of freedom."""
    n = len(values)
    bread = np.linalg.inv(design.T @ design)
    residual_maker = np.eye(n) - design @ bread @ design.T
    residuals = residual_maker @ values
    terms, columns = [], []
    for g in np.unique(cluster):
        rows = np.flatnonzero(cluster == g)
        level, vectors = np.linalg.eigh(residual_maker[np.ix_(rows, rows)])
        root = np.where(level > 1e-9, level, np.inf) ** -0.5
        adjust = (vectors * root) @ vectors.T
        weights = adjust @ design[rows] @ bread @ contrast
        terms.append(weights @ residuals[rows])
        columns.append(residual_maker[:, rows] @ weights)
    covariance = np.array(columns) @ np.array(columns).T
    freedom = np.trace(covariance) ** 2 / (covariance**2).sum()
    return float(np.linalg.norm(terms)), float(freedom)


@pytest.mark.parametrize("sizes", [CLUSTER, np.arange(6), np.repeat(np.arange(5), 4)])
def test_a_mean_is_cr2_of_an_intercept(sizes):
    values = np.random.default_rng(0).normal(size=len(sizes))
    mean = clustered_mean(values, sizes, int(sizes.max()) + 1)
    error, freedom = by_matrices(np.ones((len(sizes), 1)), values, sizes, np.ones(1))
    assert mean.error == pytest.approx(error)
    assert mean.freedom == pytest.approx(freedom)
    assert mean.value == pytest.approx(values.mean())


def test_a_weighted_sum_of_means_is_cr2_of_a_contrast():
    """Of three systems whose texts share contexts."""
    generator = np.random.default_rng(1)
    system = generator.permutation(np.arange(len(CLUSTER)) % 3)
    values = generator.normal(size=len(CLUSTER))
    design = np.eye(3)[system]
    means = [clustered_mean(values[system == k], CLUSTER[system == k], 5) for k in range(3)]
    for total, contrast in (
        (means[0] - means[1], [1, -1, 0]),
        (0.2 * means[0] + 0.5 * means[1] + means[2] * 0.3, [0.2, 0.5, 0.3]),
    ):
        error, freedom = by_matrices(design, values, CLUSTER, np.array(contrast, float))
        assert total.error == pytest.approx(error)
        assert total.freedom == pytest.approx(freedom)
        wanted = OLS(values, design).fit().params @ contrast
        assert total.value == pytest.approx(wanted)


def test_equal_clusters_have_one_degree_of_freedom_less_than_there_are():
    mean = clustered_mean(np.random.default_rng(2).normal(size=60), np.arange(60) // 5, 12)
    assert mean.freedom == pytest.approx(11)
    assert mean.effective == pytest.approx(12)


def test_a_context_that_two_systems_share_cancels():
    context = np.repeat(np.arange(12), 2)
    noise = 0.01 * np.random.default_rng(3).normal(size=(2, 24))
    a, b = (clustered_mean(context + noise[k], context, 12) for k in (0, 1))
    assert (a - b).error < 0.01 < a.error


def test_one_large_cluster_leaves_few_effective_ones():
    for first, effective in ((10, 3.64), (40, 1.55)):
        cluster = np.array([0] * first + [*range(1, 11)])
        mean = clustered_mean(np.arange(len(cluster)) * 1.0, cluster, 11)
        assert mean.effective == pytest.approx(effective, abs=0.005)


def test_one_cluster_has_no_degrees_of_freedom():
    mean = clustered_mean(np.arange(6.0), np.zeros(6, np.int64), 6)
    assert np.isnan(mean.freedom)


def test_the_means_of_one_context_are_no_degree_of_freedom_of_a_difference():
    alone = clustered_mean(np.array([1.0, 2.0]), np.array([0, 0]), 5)
    others = clustered_mean(np.arange(5.0), np.arange(5), 5)
    assert np.isnan((alone - others).freedom)
