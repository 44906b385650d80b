"""BLEU Neighbors: who is a neighbor, who is left out, when there is enough evidence, which tau."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks

from refless.errors import ReflessError, SettingError
from refless.kernels import kernel
from refless.models.neighbors import (
    NeighborsRegressor,
    enough_evidence,
    neighbor_means,
)
from tests.workflow.small_data import sentences

NAN = float("nan")
TEXTS = [*sentences(78, seed=5), "zz top", "qqq"]
QUALITY = np.array([len(text) / 60 + text.count("a") / 20 for text in TEXTS])


@st.composite
def kernels(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """A kernel on tenths, so that ties with tau are frequent, quality, tau, leave-one-out."""
    alone = draw(st.booleans())
    training = draw(st.integers(1, 6))
    candidates = training if alone else draw(st.integers(0, 4))
    tenths = st.lists(st.integers(0, 10), min_size=training, max_size=training)
    matrix = np.array([draw(tenths) for _ in range(candidates)], float).reshape(-1, training)
    quality = np.array(draw(tenths), float)
    return matrix / 10, quality / 10, draw(st.integers(1, 10)) / 10, alone


@settings(max_examples=100, deadline=None)
@given(kernels())
def test_means_are_those_of_the_definition(
    data: tuple[np.ndarray, np.ndarray, float, bool],
) -> None:
    matrix, quality, tau, alone = data
    before = matrix.copy()
    means, counts = neighbor_means(matrix, quality, tau, leave_one_out=alone)
    for x, row in enumerate(matrix):
        own = [q for s, q in enumerate(quality) if row[s] >= tau and not (alone and s == x)]
        assert counts[x] == len(own)
        # to the bit: the ranks of table 3 hang on the order of the sum
        np.testing.assert_array_equal(means[x], np.mean(own) if own else NAN)
    np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize("training", [*range(120), 999, 17_043, 1_000_000])
def test_the_largest_share_is_what_it_is_on_paper(training: int) -> None:
    """0.29 * 100 is 28.999999999999996 in floating point."""
    for hundredths in range(101):
        exact = math.floor(Fraction(hundredths, 100) * training)
        found = enough_evidence(
            np.zeros(2), np.array([exact, exact + 1]), training, 0, hundredths / 100
        )
        assert np.isnan(found).tolist() == [False, True]


@pytest.mark.parametrize(("a", "covered"), [(5, range(5, 30)), (29, [29]), (30, [])])
def test_evidence_is_enough_from_a_to_b_of_the_training_set(a: int, covered: list[int]) -> None:
    means = np.linspace(0, 1, 101)
    found = enough_evidence(means, np.arange(101), 100, a, 0.29)
    assert np.flatnonzero(~np.isnan(found)).tolist() == list(covered)
    np.testing.assert_array_equal(found[list(covered)], means[list(covered)])


@pytest.mark.parametrize("name", ["bleu.char", "bleu.word", "rouge_l.stem"])
def test_the_regressor_gives_what_the_whole_matrix_gives(name: str) -> None:
    training, quality = TEXTS[:60], QUALITY[:60]
    matrix = kernel(name, TEXTS, training)
    tau = float(np.sort(matrix, axis=None)[-400])
    model = NeighborsRegressor(name, tau, 2, 0.2, threads=1).fit(training, quality)
    done: list[int] = []
    means, counts = neighbor_means(matrix, quality, tau)
    expected = enough_evidence(means, counts, 60, 2, 0.2)
    assert 0 < np.isnan(expected).sum() < len(expected)  # else this would prove nothing
    np.testing.assert_allclose(model.predict(TEXTS, done.append), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.neighbors_, counts)
    assert done[-1] == len(TEXTS)
    means, counts = neighbor_means(matrix[:60], quality, tau, leave_one_out=True)
    expected = enough_evidence(means, counts, 59, 2, 0.2)
    np.testing.assert_allclose(model.leave_one_out(), expected, rtol=0, atol=1e-12)
    rows, similarity = model.nearest(number=3)
    np.fill_diagonal(own := matrix[:60].copy(), -1)
    np.testing.assert_array_equal(similarity, -np.sort(-own, axis=1)[:, :3])
    np.testing.assert_array_equal(np.take_along_axis(own, rows, axis=1), similarity)


def test_leave_one_out_of_the_regressor_keeps_equal_texts() -> None:
    texts = ["the cat sat on the mat"] * 3 + ["colourless green ideas"]
    model = NeighborsRegressor("bleu.char", 0.9, 1, 1.0).fit(texts, [0.0, 0.5, 1.0, 0.3])
    np.testing.assert_allclose(model.leave_one_out(), [0.75, 0.5, 0.25, NAN], atol=1e-12)
    # as candidates they leave nothing out
    np.testing.assert_allclose(model.predict(texts), [0.5, 0.5, 0.5, 0.3], atol=1e-12)
    # b |S| with |S| = n - 1: two of three others are more than 0.6 of them, three of four less
    # than 0.76
    model.max_share = 0.6
    assert np.isnan(model.leave_one_out()).all()
    model.max_share = 0.76
    assert not np.isnan(model.predict(texts)).any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *(({"tau": tau}, "tau is") for tau in (0.0, NAN, math.inf, "best", 8)),
        *(({"min_neighbors": a}, "min_neighbors is") for a in (0, NAN)),
        *(({"max_share": b}, "max_share") for b in (-0.01, NAN, 66)),
        ({"kernel": "bleu.sentence"}, "sentence"),
        ({"kernel": "rouge_l.plain", "tau": 1.01}, "go up to 1"),
        ({"tau": "auto", "min_neighbors": 50}, "no tau gives any"),
    ],
)
def test_settings_that_make_no_sense_are_named_by_fit(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ReflessError, match=message):
        NeighborsRegressor(**given).fit(TEXTS[:9], QUALITY[:9])


@pytest.mark.parametrize(
    ("texts", "quality"),
    [
        (["a", "b"], [0.5]),
        ([], []),
        (["a", "b", "c"], [0.5, 1.0, NAN]),
        (["a", "b"], [[0.5, 0.5], [1.0, 1.0]]),
        ("abc", [1, 2, 3]),
    ],
)
def test_training_examples_that_make_no_sense_are_refused(texts: Any, quality: Any) -> None:
    with pytest.raises(SettingError, match="do not fit"):
        NeighborsRegressor().fit(texts, quality)


# ---- scikit-learn -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check",
    ["estimator_cloneable", "set_params", "no_attributes_set_in_init", "mixin_order"],
)
def test_scikit_learns_own_checks_that_need_no_numbers_as_x(check: str) -> None:
    getattr(estimator_checks, f"check_{check}")("NeighborsRegressor", NeighborsRegressor())


def test_a_clone_is_not_fitted() -> None:
    model = NeighborsRegressor(tau=0.3).fit(TEXTS, QUALITY)
    with pytest.raises(NotFittedError):
        clone(model).predict(["a"])


def test_its_score_counts_the_mean_where_nothing_is_predicted() -> None:
    model = NeighborsRegressor(tau=0.5, min_neighbors=2).fit(TEXTS[:60], QUALITY[:60])
    found, truth = model.predict(TEXTS[60:]), QUALITY[60:]
    assert np.isnan(found).any()
    gaps = np.where(np.isnan(found), QUALITY[:60].mean(), found) - truth
    wanted = 1 - (gaps**2).sum() / ((truth - truth.mean()) ** 2).sum()
    assert model.score(TEXTS[60:], truth) == pytest.approx(wanted)


def test_it_is_searched_over_inside_a_pipeline() -> None:
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    taus = [0.05, 0.3, 0.9]
    pipeline = make_pipeline(lower, NeighborsRegressor(min_neighbors=2))
    search = GridSearchCV(pipeline, {"neighborsregressor__tau": taus}, cv=3, error_score="raise")
    scores = search.fit(TEXTS, QUALITY).cv_results_["mean_test_score"]
    assert search.best_params_ == {"neighborsregressor__tau": taus[np.argmax(scores)]}
    assert np.isfinite(scores).all()


# ---- tau ----------------------------------------------------------------------------------------


def test_the_chosen_tau_has_the_least_error_among_the_training_texts_alone() -> None:
    model = NeighborsRegressor(tau="auto", min_neighbors=3).fit(TEXTS, QUALITY)
    matrix = kernel("bleu.char", TEXTS, TEXTS)
    others = np.array([np.delete(QUALITY, i).mean() for i in range(len(QUALITY))])

    def error(tau: float) -> float:
        means, counts = neighbor_means(matrix, QUALITY, tau, leave_one_out=True)
        guess = enough_evidence(means, counts, len(TEXTS) - 1, 3, 0.66)
        return float(np.mean((np.where(np.isnan(guess), others, guess) - QUALITY) ** 2))

    best = error(model.tau_)
    assert best < np.mean((others - QUALITY) ** 2)  # it learns something
    # not every value is tried; few are better
    values = np.unique(matrix[matrix > 0])
    errors = np.array([error(tau) for tau in values[:: max(1, len(values) // 100)]])
    assert np.mean(errors < best - 1e-12) < 0.15


def test_repeated_texts_do_not_choose_tau() -> None:
    """Each would be its own nearest neighbor, and tau so high that nothing else is one."""
    repeated = [*TEXTS, *(f"{text.upper()} " for text in TEXTS)]
    chosen = [
        NeighborsRegressor(tau="auto", min_neighbors=3).fit(texts, np.resize(QUALITY, len(texts)))
        for texts in (TEXTS, repeated)
    ]
    assert chosen[0].tau_ == chosen[1].tau_
