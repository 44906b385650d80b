"""Differences of each two groups: against their formula, and of very many groups."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import refless
from refless.evaluation import group_pairs
from refless.evaluation.means import MeanOptions, mean_tables
from refless.statistics.cluster_robust import ClusteredEstimate
from refless.statistics.prediction_powered import PoweredMean, powered_mean

CLUSTERS = 12


def made_up_means(groups: int = 5) -> dict[str, PoweredMean]:
    """Means whose clusters overlap: each group has some of twelve. Predictions help every other
    group."""
    generator = np.random.default_rng(0)
    means = {}
    for group in range(groups):
        cluster = generator.choice(CLUSTERS, 80)
        effects = generator.normal(size=CLUSTERS)[cluster]
        quality = effects + generator.normal(size=80) + group / 3
        predicted = (group % 2) * (quality + generator.normal(size=80))
        means[f"g{group}"] = powered_mean(quality[:30], predicted[:30], predicted[30:], cluster)
    return means


def among_all(mean: PoweredMean) -> ClusteredEstimate:
    """Its estimate with a number for each of the twelve clusters."""
    estimate = mean.estimate
    influence = np.zeros(CLUSTERS)
    influence[mean.clusters] = estimate.influence
    share, spread = np.zeros((2, len(estimate.share), CLUSTERS))
    share[:, mean.clusters], spread[:, mean.clusters] = estimate.share, estimate.spread
    return ClusteredEstimate(estimate.value, influence, share, spread)


def test_each_pair_is_tested_as_its_formula_says():
    means = made_up_means()
    assert {mean.weight > 0 for mean in means.values()} == {True, False}
    pairs = group_pairs.group_pairs(means)
    assert len(pairs) == len(list(combinations(means, 2)))
    for _, row in pairs.iterrows():
        a, b = means[row["a"]], means[row["b"]]
        difference = among_all(a) - among_all(b)
        cost = int(a.weight > 0 or b.weight > 0)
        freedom = difference.freedom - cost
        error = difference.error * (difference.freedom / freedom) ** 0.5
        gap = a.value - b.value
        assert gap >= 0
        assert row["p"] == pytest.approx(2 * stats.t.sf(gap / error, freedom))
        half = stats.t.ppf(0.975, freedom) * error
        expected = gap, gap - half, gap + half
        assert tuple(row.iloc[2:5].astype(float)) == pytest.approx(expected)


def test_a_difference_without_an_error_is_not_tested():
    one = made_up_means(1)["g0"]
    nobody = replace(one, value=2.0, effective=2.9)
    pairs = group_pairs.group_pairs({"x": one, "same": one, "nobody": nobody})
    assert pairs["p"].isna().all()
    assert group_pairs.group_pairs({}).empty


def test_means_of_texts_that_are_all_rated_differ_for_certain():
    texts = np.arange(4)
    means = {
        name: powered_mean(quality, quality, np.zeros(0), these_texts=texts)
        for name, quality in (("a", texts / 2), ("b", texts / 2), ("c", texts / 3))
    }
    pairs = group_pairs.group_pairs(means)
    assert pairs["p"].tolist() == [1, 0, 0]
    assert pairs["difference_low"].tolist() == pairs["difference_high"].tolist()


def many_groups(groups: int) -> pd.DataFrame:
    """Three texts of each group, each a cluster, of which two are rated."""
    generator = np.random.default_rng(1)
    predicted = generator.normal(size=3 * groups)
    names = np.repeat([f"c{group:04d}" for group in range(groups)], 3)
    return pd.DataFrame(
        {
            "predicted": predicted,
            "quality": predicted + generator.normal(size=3 * groups),
            "group": names,
            "cluster": np.arange(3 * groups),
            "text_number": np.arange(3 * groups),
        }
    )


def test_of_very_many_groups_pairs_are_made_where_they_are_asked_for():
    texts = many_groups(group_pairs.MOST_GROUPS + 1)
    rated = np.arange(len(texts)) % 3 > 0
    for asked, number in ((False, 0), (True, len(texts) // 3 * (len(texts) // 3 - 1) // 2)):
        table, pairs = mean_tables(texts[rated], texts[~rated], MeanOptions(all_pairs=asked))
        assert len(pairs) == number
        assert table["mean"].notna().all()
        assert table["rank_low"].notna().any() == asked


def test_a_mean_takes_memory_for_its_own_clusters_alone():
    nothing = np.zeros(0)
    mean = powered_mean(np.array([1.0, 2.0]), np.zeros(2), nothing, np.array([7, 10**12]))
    assert mean.clusters.tolist() == [7, 10**12]
    assert mean.estimate.influence == pytest.approx([-(0.5**0.5) / 2, 0.5**0.5 / 2])


def test_the_answer_says_that_no_pairs_were_made():
    generator = np.random.default_rng(2)
    groups = group_pairs.MOST_GROUPS + 5
    rows = {
        "text": [f"text number {row} says {row % 7}" for row in range(3 * groups)],
        "context": [f"context {row // 3}" for row in range(3 * groups)],
        "quality": generator.integers(1, 6, 3 * groups).astype(float),
    }
    answer = refless.estimate(pd.DataFrame(rows), by="context")
    assert answer.pairs.empty
    assert "--all-pairs" in answer.answer
    assert "nan" not in answer.answer
