"""What stands beside RNN-QE: against slow versions, and without a look at what is tested."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.experiments.rnn_qe.baselines import (
    METRICS,
    MIN_NEIGHBORS,
    MODELS,
    TAUS,
    all_splits,
    learning_curve,
    outputs,
    to_scale,
)
from refless.kernels import kernel
from refless.models.rnn_qe.data import cross_validation
from refless.models.rnn_qe.names import CROSS
from tests.models.rnn_qe.test_data import SETTINGS, small_texts

RATED = small_texts().rated
RATING = RATED["median_quality"].to_numpy()
MATRIX = kernel("bleu.char", RATED["words"].tolist(), RATED["words"].tolist())
FOLDS = cross_validation(RATED, SETTINGS.seed)


@cache
def numbers() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    metrics = pd.DataFrame({name: generator.random(500) for name in METRICS.values()})
    metrics["CIDEr"] *= 10
    return outputs(RATED, metrics, MATRIX, all_splits(RATED, SETTINGS))


def test_each_output_has_its_part_and_predictions_of_test_parts_alone() -> None:
    found = numbers()
    for name in CROSS:
        assert set(found[name]) == {"", "train", "dev", "test"}
        for model in MODELS:
            assert found.loc[found[name] != "test", f"{name}_2:{model}"].isna().all()
    assert found["cross_validation:ridge"].notna().all()
    # MRs that differ in values alone are one
    assert 1 < found["mr_number"].nunique() == RATED["mr"].nunique() < RATED["mr_key"].nunique()


@pytest.mark.parametrize("model", MODELS)
def test_a_model_never_uses_the_ratings_of_what_it_predicts(model: str) -> None:
    """With other ratings in the test part, its predictions stay the same."""
    rating = RATING.copy()
    rating[FOLDS[2].test] = 1.0
    found = [
        MODELS[model](own, MATRIX, FOLDS[2]) for own in (RATED, RATED.assign(median_quality=rating))
    ]
    np.testing.assert_array_equal(*found)


def test_a_look_up_is_the_mean_training_rating_of_the_same_output() -> None:
    split, words = FOLDS[0], RATED["words"].to_numpy(copy=True)
    words[split.test[0]] = "not said before"
    found = MODELS["lookup"](RATED.assign(words=words), MATRIX, split)
    assert np.isnan(found[0])
    for row, value in zip(split.test[1:], found[1:], strict=True):
        same = [k for k in split.train if words[k] == words[row]]
        assert value == pytest.approx(RATING[same].mean())


def test_bleu_neighbors_takes_the_tau_that_is_best_on_the_validation_part() -> None:
    split = FOLDS[3]

    def predict(rows: np.ndarray, tau: float) -> np.ndarray:
        found = []
        for row in rows:
            near = [k for k in split.train if MATRIX[row, k] >= tau]
            found.append(RATING[near].mean() if len(near) >= MIN_NEIGHBORS else np.nan)
        return np.array(found)

    def worth(tau: float) -> float:
        given, truth = to_scale(predict(split.dev, tau)), RATING[split.dev]
        if len(set(given)) < 2:
            return -np.inf
        return float(stats.pearsonr(given, truth)[0] + stats.spearmanr(given, truth)[0])

    expected = predict(split.test, max(TAUS, key=worth))
    np.testing.assert_allclose(MODELS["bleu_neighbors"](RATED, MATRIX, split), expected)


def test_the_learning_curve_ends_at_the_whole() -> None:
    curve = learning_curve(RATED, MATRIX, FOLDS, [50, 5000], SETTINGS.seed)
    assert curve["subset"].tolist() == [0, 1, 2, 3, 4, 0]
    assert curve["size"].iloc[0] == 50
    raw = np.full(500, np.nan)
    for split in FOLDS:
        raw[split.test] = MODELS["bleu_neighbors"](RATED, MATRIX, split)
    expected = stats.pearsonr(to_scale(raw), RATING)[0]
    assert curve["pearson"].iloc[-1] == pytest.approx(expected)
