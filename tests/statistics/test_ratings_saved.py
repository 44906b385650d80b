"""Ratings saved: the same as what `ppi_py` finds, and by the formula's limits."""

from __future__ import annotations

import numpy as np
import pytest

from refless.statistics.ratings_saved import power_tuning, ratings_saved

ppi_py = pytest.importorskip("ppi_py")


def data(n: int, more: int, r: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quality and prediction of n texts, and predictions of more."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(size=n + more)
    noise = generator.normal(size=n + more)
    # predictions spread wider than quality, so that the package's tuning stays inside [0, 1]
    prediction = 1.5 * (r * truth + np.sqrt(1 - r * r) * noise)
    return truth[:n], prediction[:n], prediction[n:]


@pytest.mark.parametrize("r", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("more", [400, 4000, 400_000])
def test_the_interval_is_as_short_as_with_that_many_more_ratings(r: float, more: int) -> None:
    n = 4000
    quality, prediction, unrated = data(n, more, r, seed=int(10 * r) + more)
    low, high = ppi_py.ppi_mean_ci(quality, prediction, unrated, alpha=0.05)
    plain_low, plain_high = ppi_py.classical_mean_ci(quality, alpha=0.05)
    saved = ratings_saved(np.corrcoef(quality, prediction)[0, 1], n, more)
    # the length goes with one over the root of the number of ratings
    shorter = ((high - low) / (plain_high - plain_low)) ** 2
    assert shorter.item() == pytest.approx(1 - saved, abs=0.02)


@pytest.mark.parametrize("more", [500, 5000])
def test_the_tuning_is_that_of_the_package(more: int) -> None:
    quality, prediction, unrated = data(2000, more, 0.5, seed=3)
    tuning = power_tuning(quality, prediction, more)
    ours = ppi_py.ppi_mean_pointestimate(quality, prediction, unrated, lam=tuning)
    theirs = ppi_py.ppi_mean_pointestimate(quality, prediction, unrated)
    # the package takes the spread of all predictions, here it is that of the rated texts
    assert ours.item() == pytest.approx(theirs.item(), abs=2e-3)
    estimate = quality.mean() + tuning * (unrated.mean() - prediction.mean())
    assert ours.item() == pytest.approx(estimate, abs=1e-9)


def test_the_limits() -> None:
    assert ratings_saved(0.3) == pytest.approx(0.09)
    assert ratings_saved(0.6, 100, 100) == pytest.approx(0.18)
    assert ratings_saved(-0.5) == 0
    assert np.isnan(ratings_saved(np.array([np.nan, 0.5]))).tolist() == [True, False]
    constant, quality = np.ones(5), np.arange(5.0)
    assert power_tuning(quality, constant) == 0
    assert power_tuning(quality, -quality) == 0
    assert power_tuning(quality, 2 * quality) == pytest.approx(0.5)
