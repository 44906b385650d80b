"""BLEU Neighbors: who is a neighbor, who is left out, when there is enough evidence, which tau."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from refless.errors import FormatError, ReflessError, SettingError
from refless.kernels import kernel
from refless.models.neighbor_means import apply_thresholds, neighbor_means
from refless.models.neighbors import TAUS, NeighborsRegressor
from refless.models.neighbors_file import load_neighbors, save_neighbors, signature_line
from refless.store.records import read_signed, write_signed
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
def test_means_are_those_of_the_definition(data):
    matrix, quality, tau, alone = data
    before = matrix.copy()
    means, counts = neighbor_means(matrix, quality, tau, leave_one_out=alone)
    for x, row in enumerate(matrix):
        own = [q for s, q in enumerate(quality) if row[s] >= tau and not (alone and s == x)]
        assert counts[x] == len(own)
        # to the bit: the ranks of table 3 hang on the order of the sum
        np.testing.assert_array_equal(means[x], np.mean(own) if own else NAN)
    np.testing.assert_array_equal(matrix, before)


def test_evidence_is_enough_from_a_to_b_of_the_training_set():
    """As on paper: 0.29 * 100 is 28.999999999999996 in floating point."""
    found = apply_thresholds(np.arange(5.0), np.array([0, 4, 5, 29, 30]), 100, 5, 0.29)
    np.testing.assert_array_equal(found, [NAN, NAN, 2, 3, NAN])
    for training, hundredths in product([*range(120), 999, 17_043, 1_000_000], range(101)):
        counts = np.array([0, 1]) + math.floor(Fraction(hundredths, 100) * training)
        found = apply_thresholds(np.zeros(2), counts, training, 0, hundredths / 100)
        assert np.isnan(found).tolist() == [False, True]


@pytest.mark.parametrize("name", ["bleu.char", "bleu.word", "rouge_l.stem"])
def test_the_regressor_gives_what_the_whole_matrix_gives(name):
    training, quality = [*TEXTS[:59], TEXTS[0]], QUALITY[:60]  # equal texts stay neighbors
    asked = [*training, *TEXTS[60:]]
    matrix = kernel(name, asked, training)
    tau = float(np.sort(matrix, axis=None)[-400])
    alone = neighbor_means(matrix[:60], quality, tau, leave_one_out=True)
    share = np.sort(alone[1])[40] / 60  # of 59 others, one neighbor too many
    model = NeighborsRegressor(name, tau, 2, share, threads=1).fit(training, quality)
    means, counts = neighbor_means(matrix, quality, tau)
    expected = apply_thresholds(means, counts, 60, 2, share)
    assert 0 < np.isnan(expected).sum() < len(expected)  # else this would prove nothing
    prediction, number = model.predict_with_counts(asked)
    np.testing.assert_allclose(prediction, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(number, counts)
    np.testing.assert_array_equal(model.predict(asked), prediction)
    expected = apply_thresholds(*alone, 59, 2, share)
    np.testing.assert_allclose(model.leave_one_out(), expected, rtol=0, atol=1e-12)
    rows, similarity = model.nearest(number=3)
    np.fill_diagonal(own := matrix[:60].copy(), -1)
    np.testing.assert_array_equal(similarity, -np.sort(-own, axis=1)[:, :3])
    np.testing.assert_array_equal(np.take_along_axis(own, rows, axis=1), similarity)


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
def test_settings_that_make_no_sense_are_named_by_fit(given, message):
    with pytest.raises(ReflessError, match=message):
        NeighborsRegressor(**given).fit(TEXTS[:9], QUALITY[:9])


NO_PAIRS = [
    *((["a", "b"], [0.5]), ([], []), (["a", "b", "c"], [0.5, 1.0, NAN])),
    *((["a", "b"], [[0.5, 0.5], [1.0, 1.0]]), ("abc", [1, 2, 3])),
]


@pytest.mark.parametrize(("texts", "quality"), NO_PAIRS)
def test_training_examples_that_make_no_sense_are_refused(texts, quality):
    with pytest.raises(SettingError, match="do not fit"):
        NeighborsRegressor().fit(texts, quality)


def test_its_score_counts_the_mean_where_nothing_is_predicted():
    model = NeighborsRegressor(tau=0.5, min_neighbors=2).fit(TEXTS[:60], QUALITY[:60])
    found, truth = model.predict(TEXTS[60:]), QUALITY[60:]
    assert np.isnan(found).any()
    gaps = np.where(np.isnan(found), QUALITY[:60].mean(), found) - truth
    wanted = 1 - (gaps**2).sum() / ((truth - truth.mean()) ** 2).sum()
    assert model.score(TEXTS[60:], truth) == pytest.approx(wanted)


def test_it_is_cloned_with_its_settings():
    with pytest.raises(NotFittedError):
        NeighborsRegressor().predict(["a"])
    settings = {"kernel": "rouge_l.stem", "tau": "auto", "min_neighbors": 2}
    assert settings.items() <= clone(NeighborsRegressor(**settings)).get_params().items()


def test_the_chosen_tau_has_the_least_error_among_the_training_texts_alone():
    model = NeighborsRegressor(tau="auto", min_neighbors=3).fit(TEXTS, QUALITY)
    matrix = kernel("bleu.char", TEXTS, TEXTS)
    others = np.array([np.delete(QUALITY, i).mean() for i in range(len(QUALITY))])

    def error(tau: float) -> float:
        means, counts = neighbor_means(matrix, QUALITY, tau, leave_one_out=True)
        guess = apply_thresholds(means, counts, len(TEXTS) - 1, 3, 0.66)
        return float(np.mean((np.where(np.isnan(guess), others, guess) - QUALITY) ** 2))

    best = error(model.tau_)
    assert best < np.mean((others - QUALITY) ** 2)  # it learns something
    assert best == pytest.approx(min(error(tau) for tau in TAUS))


def test_repeated_texts_do_not_choose_tau():
    """Each would be its own nearest neighbor, and tau so high that nothing else is one."""
    repeated = [*TEXTS, *TEXTS]
    once = NeighborsRegressor(tau="auto", min_neighbors=3).fit(TEXTS, QUALITY)
    twice = NeighborsRegressor(tau="auto", min_neighbors=6).fit(repeated, np.tile(QUALITY, 2))
    assert once.tau_ == twice.tau_


def fitted(name: str = "bleu.char", tau: float | str = 0.1) -> NeighborsRegressor:
    texts = [*TEXTS[:60], 'Ünïcödé 😀, "NA"', "", "a\tb\r\n\rc"]
    return NeighborsRegressor(name, tau, 2).fit(texts, [k % 5 + 0.1 for k in range(63)])


@pytest.mark.parametrize(("name", "tau"), [("bleu.char", "auto"), ("rouge_l.stem", 0.3)])
def test_a_model_from_a_file_predicts_the_same_bytes(name, tau, tmp_path):
    model = fitted(name, tau)
    save_neighbors(model, tmp_path / "m")
    again = load_neighbors(tmp_path / "m", threads=1)
    candidates = [*sentences(30, seed=4), *model.texts_[-9:], "zz top"]
    expected = model.predict(candidates)
    assert 0 < np.isnan(expected).sum() < len(expected)
    assert again.predict(candidates).tobytes() == expected.tobytes()
    assert again.texts_ == model.texts_
    assert signature_line(again) == signature_line(model)


def test_what_is_no_whole_model_is_refused(tmp_path):
    path = tmp_path / "m"
    save_neighbors(fitted(), path)
    whole = path.read_bytes()
    damaged = [whole[:-1], whole + b"x", b""]
    for place in [0, 30, *np.random.default_rng(0).integers(0, len(whole), 9)]:
        damaged.append(bytearray(whole))
        damaged[-1][place] ^= 1
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(FormatError, match="refless fit"):
            load_neighbors(path)
    with pytest.raises(FormatError):
        load_neighbors(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "change",
    [
        {"model": 3},
        *({"tau": tau} for tau in (None, "best")),
        *({"model": change} for change in ({"weights": "distance"}, {"min_neighbors": "5"})),
        *({"model": {name: None}} for name in ("kernel", "tau", "max_share", "options")),
        {"systems": ["s"]},
        {"texts": None},
    ],
)
def test_a_model_of_another_version_is_refused(change, tmp_path):
    """A column or setting more or less (None), or of another kind: none has a default here."""
    path = tmp_path / "m"
    save_neighbors(fitted(), path)
    stored = read_signed(path, "")
    ((name, other),) = change.items()
    if isinstance(other, dict):
        other = stored[name] | other
        other = {key: value for key, value in other.items() if value is not None}
    stored[name] = other
    write_signed(path, {key: value for key, value in stored.items() if value is not None})
    with pytest.raises(FormatError, match="refless fit"):
        load_neighbors(path)


def test_the_signature_hangs_on_texts_ratings_and_order():
    rated = [(["ab", "c"], [1, 2]), (["a", "bc"], [1, 2]), (["c", "ab"], [2, 1])]
    rated += [(["ab", "c"], [1, 3])]
    assert len({signature_line(NeighborsRegressor().fit(*own)) for own in rated}) == 4
