"""What docs/beyond.md says of BLEU Neighbors without rated texts of the same system, and of
essays without one set more."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from refless.experiments.bleu_neighbors.essays import (
    LEFT_OUT,
    MAX_SHARE,
    MIN_NEIGHBORS,
    essay_estimates,
)
from refless.experiments.bleu_neighbors.neighbors import predictions
from refless.kernels import kernel
from refless.models.neighbor_means import apply_thresholds, means_of_sums
from refless.statistics import interval
from tests.data.test_loaders import of_config

Array = np.ndarray


def rho(estimates: Array, quality: Array) -> float:
    estimated = ~np.isnan(estimates)
    return float(spearmanr(estimates[estimated], quality[estimated]).statistic)


def test_rho_of_summaries_without_texts_of_their_system(mirror):
    texts = of_config(mirror, "huse_summarization").texts
    quality, names = texts["quality"].to_numpy(float), [*map(set, texts["system"].str.split("+"))]
    similarity = kernel("bleu.char", texts["text"].tolist(), texts["text"].tolist())

    def estimates(training: Array) -> Array:
        near = training & (similarity >= 0.08)
        number = near.sum(axis=1)
        means = means_of_sums(near @ quality, number).round(12)
        rows = zip(means, number, training.sum(axis=1), strict=True)
        return np.array([apply_thresholds(*row, min_neighbors=5, max_share=0.66) for row in rows])

    all_others = estimates(~np.eye(len(texts), dtype=bool))
    other_systems = estimates(np.array([[a.isdisjoint(b) for b in names] for a in names]))

    def fall(rows: Array) -> float:
        return rho(all_others[rows], quality[rows]) - rho(other_systems[rows], quality[rows])

    rows = np.arange(len(texts))
    assert fall(rows) == pytest.approx(0.491, abs=5e-4)
    assert rho(other_systems, quality) == pytest.approx(-0.166, abs=5e-4)
    for name, before, after in (("sum", 0.449, 0.180), ("human", 0.254, 0.322)):
        own = np.array([row for row in rows if names[row] == {name}])
        assert rho(all_others[own], quality[own]) == pytest.approx(before, abs=5e-4)
        assert rho(other_systems[own], quality[own]) == pytest.approx(after, abs=5e-4)
    context, generator = pd.factorize(texts["context"])[0], np.random.default_rng(0)
    of_context = [np.flatnonzero(context == number) for number in range(context.max() + 1)]
    drawn = generator.integers(len(of_context), size=(1000, len(of_context)))
    draws = [fall(np.concatenate([of_context[k] for k in row])) for row in drawn]
    assert interval(np.array(draws)) == pytest.approx((0.348, 0.619), abs=0.02)


def test_without_set_1_or_6_too_all_other_sets_give_the_published_number(mirror):
    texts = of_config(mirror, "asap_sas").texts
    for number, expected in ((None, "0.470"), (1, "0.465"), (6, "0.465"), (9, "0.492")):
        estimates = essay_estimates(texts[texts["set"] != number])
        rows = estimates[estimates["train_topic"] == LEFT_OUT]
        estimate = predictions(rows, rows["training"].iloc[0], MIN_NEIGHBORS, MAX_SHARE)
        assert f"{rho(estimate, rows['quality'].to_numpy()):.3f}" == expected
