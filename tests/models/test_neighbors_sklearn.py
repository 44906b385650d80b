"""The regressor as a scikit-learn estimator, and the choice of tau."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

from refless.errors import SettingError
from refless.kernels import kernel
from refless.models.neighbors import NeighborsRegressor, enough_evidence, neighbor_means
from tests.workflow.small_data import sentences

TEXTS = np.array([*sentences(78, seed=5), "zz top", "qqq"], dtype=object)
QUALITY = np.array([len(text) / 60 + text.count("a") / 20 for text in TEXTS])


def lowered(texts: np.ndarray) -> list[str]:
    return [text.lower() for text in texts]


def test_clone_and_settings() -> None:
    model = NeighborsRegressor("bleu.word", 0.2, 3, 0.5, options={})
    model.fit(TEXTS, QUALITY)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "texts_")
    assert model.set_params(tau=0.3, kernel="bleu.char") is model
    assert (model.tau, model.kernel) == (0.3, "bleu.char")
    with pytest.raises(ValueError, match="no setting 'k'"):
        model.set_params(k=3)
    assert eval(repr(fresh)).get_params() == fresh.get_params()
    assert is_regressor(model)


@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
        "check_set_params",
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_estimator_tags_renamed",
        "check_valid_tag_types",
        "check_mixin_order",
    ],
)
def test_scikit_learns_own_checks_that_need_no_numbers_as_x(check: str) -> None:
    """Its other checks fit rows of numbers; texts they do not have."""
    getattr(estimator_checks, check)("NeighborsRegressor", NeighborsRegressor())


def test_it_is_searched_over_inside_a_pipeline() -> None:
    pipeline = make_pipeline(FunctionTransformer(lowered), NeighborsRegressor(min_neighbors=2))
    grid = {"neighborsregressor__tau": [0.05, 0.3, 0.9], "neighborsregressor__threads": [1]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(TEXTS, QUALITY)
    # the same by hand: R squared with the mean of the training part where nothing is predicted
    found = []
    for tau in grid["neighborsregressor__tau"]:
        own = []
        for part in np.array_split(np.arange(len(TEXTS)), 3):
            rest = np.setdiff1d(np.arange(len(TEXTS)), part)
            texts = np.array(lowered(TEXTS), dtype=object)
            means, counts = neighbor_means(
                kernel("bleu.char", texts[part], texts[rest]), QUALITY[rest], tau
            )
            guess = enough_evidence(means, counts, len(rest), 2, 0.66)
            guess = np.where(np.isnan(guess), QUALITY[rest].mean(), guess)
            truth = QUALITY[part]
            own.append(1 - ((guess - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
        found.append(np.mean(own))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], found, atol=1e-9)
    assert search.best_params_["neighborsregressor__tau"] == [0.05, 0.3, 0.9][np.argmax(found)]
    assert search.predict(TEXTS[:3]).shape == (3,)


def test_metrics_that_refuse_nan_work_with_the_mean() -> None:
    scorer = {"scoring": "neg_mean_squared_error", "cv": 4, "error_score": "raise"}
    model = NeighborsRegressor(tau=0.5, abstention="mean")
    assert np.isfinite(cross_val_score(model, TEXTS, QUALITY, **scorer)).all()
    predicted = cross_val_predict(NeighborsRegressor(tau=0.5), TEXTS, QUALITY, cv=4)
    assert np.isnan(predicted).any()


def test_abstention_by_the_mean() -> None:
    plain = NeighborsRegressor(tau=0.6).fit(TEXTS, QUALITY)
    mean = NeighborsRegressor(tau=0.6, abstention="mean").fit(TEXTS, QUALITY)
    expected = plain.predict(TEXTS)
    none = np.isnan(expected)
    assert 0 < none.sum() < len(TEXTS)
    np.testing.assert_array_equal(mean.predict(TEXTS), np.where(none, QUALITY.mean(), expected))
    expected = plain.leave_one_out()
    others = np.array([np.delete(QUALITY, i).mean() for i in range(len(QUALITY))])
    np.testing.assert_allclose(
        mean.leave_one_out(), np.where(np.isnan(expected), others, expected), atol=1e-12
    )
    with pytest.raises(SettingError, match="abstention is 'zero'"):
        NeighborsRegressor(abstention="zero").fit(TEXTS, QUALITY)


def test_a_fitted_model_can_be_pickled_and_is_known_as_fitted() -> None:
    model = NeighborsRegressor(tau=0.3).fit(TEXTS, QUALITY)
    check_is_fitted(model)
    with pytest.raises(Exception, match="not fitted"):
        check_is_fitted(NeighborsRegressor())
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(TEXTS), model.predict(TEXTS))


def test_a_table_is_no_row_of_texts() -> None:
    with pytest.raises(SettingError, match="no row of texts"):
        NeighborsRegressor().fit(pd.DataFrame({"text": TEXTS}), QUALITY)  # type: ignore[arg-type]


def test_scikit_learn_is_not_imported() -> None:
    code = (
        "import sys; from refless.models.neighbors import NeighborsRegressor as N;"
        "N(tau=0.5, min_neighbors=1).fit(['abcde', 'abcdf'], [0, 1]).predict(['abcde']);"
        "print('sklearn' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


# ---- tau --------------------------------------------------------------------------------------


def test_the_chosen_tau_has_the_least_error_among_the_training_texts_alone() -> None:
    model = NeighborsRegressor(tau="auto", min_neighbors=3).fit(TEXTS, QUALITY)
    matrix = kernel("bleu.char", list(TEXTS), list(TEXTS))
    others = np.array([np.delete(QUALITY, i).mean() for i in range(len(QUALITY))])

    def error(tau: float) -> float:
        means, counts = neighbor_means(matrix, QUALITY, tau, leave_one_out=True)
        guess = enough_evidence(means, counts, len(TEXTS) - 1, 3, 0.66)
        return float(np.mean((np.where(np.isnan(guess), others, guess) - QUALITY) ** 2))

    values = np.unique(matrix[matrix > 0])
    best = error(model.tau_)
    assert best < np.mean((others - QUALITY) ** 2)  # it learns something
    # not every value is tried; few are better, and none by much
    errors = np.array([error(tau) for tau in values[:: max(1, len(values) // 200)]])
    assert np.mean(errors < best - 1e-12) < 0.15
    # the candidates do not count
    before = model.tau_
    model.predict(["zzz"])
    assert model.tau_ == before


def test_where_no_tau_gives_neighbors_it_says_so() -> None:
    with pytest.raises(SettingError, match="no tau gives any of the 3 training texts 5 neighbors"):
        NeighborsRegressor(tau="auto").fit(["abcde", "abcdf", "abcdg"], [0, 1, 2])
    with pytest.raises(SettingError, match="tau is 'best'"):
        NeighborsRegressor(tau="best").fit(["a"], [1])


@pytest.mark.parametrize(("name", "tau"), [("bleu.char", 8), ("rouge_l.plain", 1.01)])
def test_a_tau_above_all_values_is_refused(name: str, tau: float) -> None:
    with pytest.raises(SettingError, match="no value of"):
        NeighborsRegressor(name, tau).fit(["a"], [1.0])
