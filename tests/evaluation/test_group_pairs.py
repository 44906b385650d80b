"""Differences of each two groups: against their formula, and of very many groups."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import refless
from refless.evaluation import group_pairs
from refless.evaluation.means import mean_tables
from refless.statistics.prediction_powered import Mean, powered_mean


def made_up_means(groups: int = 5) -> dict[str, Mean]:
    """Means whose clusters overlap: each group has six of twelve."""
    generator = np.random.default_rng(0)
    means = {}
    for group in range(groups):
        clusters = np.sort(generator.choice(12, 6, replace=False))
        influence = generator.normal(0, 0.1, 6)
        weight = 0.3 * (group % 2)
        means[f"g{group}"] = Mean(generator.normal(), influence, clusters, 5 - group % 2, weight)
    return means


def test_each_pair_is_tested_as_its_formula_says():
    means = made_up_means()
    pairs = group_pairs.group_pairs(means)
    assert len(pairs) == len(list(combinations(means, 2)))
    for _, row in pairs.iterrows():
        moved = np.zeros((2, 12))
        for side, name in enumerate((row["a"], row["b"])):
            moved[side, means[name].clusters] = means[name].influence
        a, b = means[row["a"]], means[row["b"]]
        freedom, estimated = min(a.freedom, b.freedom), 1 + (max(a.weight, b.weight) > 0)
        error = np.linalg.norm(moved[0] - moved[1]) * (1 + estimated / freedom) ** 0.5
        gap = a.value - b.value
        assert gap >= 0
        assert row["p"] == pytest.approx(2 * stats.t.sf(gap / error, freedom))
        half = stats.t.ppf(0.975, freedom) * error
        expected = gap, gap - half, gap + half
        assert tuple(row.iloc[2:5].astype(float)) == pytest.approx(expected)


def test_a_difference_without_an_error_is_not_tested():
    one = made_up_means(1)["g0"]
    nobody = Mean(2.0, one.influence, one.clusters, 0)
    pairs = group_pairs.group_pairs({"x": one, "same": one, "nobody": nobody})
    assert pairs["p"].isna().all()
    assert group_pairs.group_pairs({}).empty


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
        }
    )


def test_of_very_many_groups_pairs_are_made_where_they_are_asked_for():
    texts = many_groups(group_pairs.MOST_GROUPS + 1)
    rated = np.arange(len(texts)) % 3 > 0
    for asked, number in ((False, 0), (True, len(texts) // 3 * (len(texts) // 3 - 1) // 2)):
        table, pairs = mean_tables(texts[rated], texts[~rated], all_pairs=asked)
        assert len(pairs) == number
        assert table["mean"].notna().all()
        assert table["rank_low"].notna().any() == asked


def test_a_mean_takes_memory_for_its_own_clusters_alone():
    nothing = np.zeros(0)
    mean = powered_mean(np.array([1.0, 2.0]), nothing, nothing, np.array([7, 10**12]))
    assert mean.clusters.tolist() == [7, 10**12]
    assert mean.influence.tolist() == [-0.25, 0.25]


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
