"""BLEU Neighbors: who is a neighbor, who is left out, when there is enough evidence."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.errors import ReflessError, SettingError
from refless.kernels import kernel, names
from refless.models.neighbors import (
    NeighborsRegressor,
    check_settings,
    enough_evidence,
    most_neighbors,
    neighbor_means,
)

NAN = float("nan")

# What needs no further resource: WordNet, a pretrained encoder.
APART = ("meteor.", "bertscore.", "embedding.")
FREE = [name for name in names() if not name.startswith(APART)]

WORDS = ["the", "a", "cat", "dog", "sat", "slept", "on", "under", "mat", "tree", "and", "it"]


def sentences(n: int, seed: int) -> list[str]:
    """Pieces of one long sentence with a word changed: most are alike, some are equal."""
    generator = np.random.default_rng(seed)
    made = []
    for _ in range(n - 2):
        start = generator.integers(0, len(WORDS))
        words = (WORDS * 2)[start : start + generator.integers(4, 9)]
        words[generator.integers(0, len(words))] = str(generator.choice(WORDS))
        made.append(" ".join(words))
    return [*made, made[0], made[1]]


def quality_of(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 21, n) / 20


# ---- means over a kernel ----------------------------------------------------------------------


@st.composite
def kernels(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """A kernel on tenths, so that ties with tau are frequent, quality, tau, leave-one-out."""
    alone = draw(st.booleans())
    training = draw(st.integers(1, 6))
    candidates = training if alone else draw(st.integers(0, 4))
    tenths = st.integers(0, 10)
    matrix = draw(
        st.lists(
            st.lists(tenths, min_size=training, max_size=training),
            min_size=candidates,
            max_size=candidates,
        )
    )
    quality = draw(st.lists(tenths, min_size=training, max_size=training))
    return (
        np.array(matrix, float).reshape(candidates, training) / 10,
        np.array(quality, float) / 10,
        draw(st.integers(1, 10)) / 10,
        alone,
    )


@settings(max_examples=150, deadline=None)
@given(kernels())
def test_means_are_those_of_the_definition(
    data: tuple[np.ndarray, np.ndarray, float, bool],
) -> None:
    matrix, quality, tau, alone = data
    before = matrix.copy()
    means, counts = neighbor_means(matrix, quality, tau, leave_one_out=alone)
    assert means.shape == counts.shape == (len(matrix),)
    for x in range(len(matrix)):
        own = [
            quality[s]
            for s in range(len(quality))
            if matrix[x, s] >= tau and not (alone and s == x)
        ]
        assert counts[x] == len(own)
        if own:
            # to the bit: the ranks of table 3 hang on the order of the sum
            assert means[x] == np.mean(own)
        else:
            assert np.isnan(means[x])
    np.testing.assert_array_equal(matrix, before)


def test_a_tie_with_tau_is_a_neighbor() -> None:
    tau = 0.08
    matrix = np.array([[tau, np.nextafter(tau, 0), np.nextafter(tau, 1)]])
    means, counts = neighbor_means(matrix, np.array([0.0, 1.0, 0.5]), tau)
    assert counts.tolist() == [2]
    assert means.tolist() == [0.25]


def test_leave_one_out_leaves_out_a_row_and_no_equal_text() -> None:
    """Three equal texts: each keeps the two others, with their own ratings."""
    means, counts = neighbor_means(
        np.ones((3, 3)), np.array([0.0, 0.5, 1.0]), 0.5, leave_one_out=True
    )
    assert counts.tolist() == [2, 2, 2]
    assert means.tolist() == [0.75, 0.5, 0.25]


def test_leave_one_out_needs_candidates_that_are_the_training_examples() -> None:
    with pytest.raises(SettingError, match=r"square kernel, not \(2, 3\)"):
        neighbor_means(np.ones((2, 3)), np.ones(3), 0.5, leave_one_out=True)


@settings(max_examples=60, deadline=None)
@given(kernels(), st.randoms(use_true_random=False))
def test_the_order_of_the_training_examples_means_nothing(
    data: tuple[np.ndarray, np.ndarray, float, bool], random: object
) -> None:
    matrix, quality, tau, _ = data
    order = list(range(len(quality)))
    random.shuffle(order)  # type: ignore[attr-defined]
    means, counts = neighbor_means(matrix, quality, tau)
    again, counted = neighbor_means(matrix[:, order], quality[order], tau)
    np.testing.assert_array_equal(counts, counted)
    np.testing.assert_allclose(means, again, rtol=0, atol=1e-12)


# ---- enough evidence --------------------------------------------------------------------------


def test_the_largest_share_is_what_it_is_on_paper() -> None:
    """0.29 * 100 is 28.999999999999996 in floating point."""
    assert most_neighbors(0.29, 100) == 29
    for hundredths in range(101):
        share = Fraction(hundredths, 100)
        for training in [*range(120), 198, 999, 17_043, 1_000_000]:
            assert most_neighbors(hundredths / 100, training) == math.floor(share * training)


def test_evidence_is_enough_from_a_to_b_of_the_training_set() -> None:
    counts = np.arange(101)
    found = enough_evidence(np.full(101, 0.5), counts, 100, 5, 0.29)
    assert np.flatnonzero(~np.isnan(found)).tolist() == list(range(5, 30))
    # |N| exactly a, where a is b |S| as well
    found = enough_evidence(np.full(101, 0.5), counts, 100, 29, 0.29)
    assert np.flatnonzero(~np.isnan(found)).tolist() == [29]
    found = enough_evidence(np.full(101, 0.5), counts, 100, 30, 0.29)
    assert np.isnan(found).all()


def test_evidence_leaves_means_as_they_are() -> None:
    means = np.array([0.1 + 0.2, NAN, 0.7])
    found = enough_evidence(means, np.array([1, 0, 3]), 3, 1, 1.0)
    np.testing.assert_array_equal(found, means)
    assert np.isnan(enough_evidence(means, np.array([1, 0, 3]), 3, 1, 0.1)).all()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"tau": 0.0}, "tau is 0.0"),
        ({"tau": -0.1}, "tau is -0.1"),
        ({"tau": NAN}, "tau is nan"),
        ({"tau": math.inf}, "tau is inf"),
        ({"min_neighbors": 0}, "min_neighbors is 0"),
        ({"min_neighbors": -3}, "min_neighbors is -3"),
        ({"min_neighbors": 2.5}, "min_neighbors is 2.5"),
        ({"min_neighbors": NAN}, "min_neighbors is nan"),
        ({"min_neighbors": math.inf}, "min_neighbors is inf"),
        ({"max_share": -0.01}, "max_share is -0.01"),
        ({"max_share": 1.01}, "max_share is 1.01"),
        ({"max_share": NAN}, "max_share is nan"),
        # a percentage
        ({"max_share": 66}, "max_share is 66"),
    ],
)
def test_settings_that_make_no_sense_are_named(setting: dict[str, float], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        check_settings(**setting)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=message):
        NeighborsRegressor("bleu.char", **setting).fit(["a"], [1.0])  # type: ignore[arg-type]


def test_settings_at_the_edge_are_fine() -> None:
    check_settings(tau=1e-9, min_neighbors=1, max_share=0.0)
    check_settings(tau=1.5, min_neighbors=np.int64(60), max_share=1)  # type: ignore[arg-type]


# ---- the regressor ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FREE)
def test_the_regressor_gives_what_the_whole_matrix_gives(name: str) -> None:
    training, candidates = sentences(60, 1), sentences(25, 2)
    quality = quality_of(60, 3)
    matrix = kernel(name, candidates, training)
    tau = float(np.sort(matrix, axis=None)[-150])  # 6 neighbors each, on average
    model = NeighborsRegressor(name, tau, min_neighbors=2, max_share=0.2).fit(training, quality)

    means, counts = neighbor_means(matrix, quality, tau)
    expected = enough_evidence(means, counts, 60, 2, 0.2)
    # else this test would prove nothing
    assert 0 < np.isnan(expected).sum() < 25
    np.testing.assert_allclose(model.predict(candidates), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.neighbors_, counts)

    means, counts = neighbor_means(
        kernel(name, training, training), quality, tau, leave_one_out=True
    )
    expected = enough_evidence(means, counts, 59, 2, 0.2)
    assert 0 < np.isnan(expected).sum() < 60
    np.testing.assert_allclose(model.leave_one_out(), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.neighbors_, counts)


def test_leave_one_out_of_the_regressor_keeps_equal_texts() -> None:
    texts = ["the cat sat on the mat"] * 3 + ["colourless green ideas"]
    model = NeighborsRegressor("bleu.char", 0.9, 1, 1.0).fit(texts, [0.0, 0.5, 1.0, 0.3])
    np.testing.assert_allclose(model.leave_one_out(), [0.75, 0.5, 0.25, NAN], atol=1e-12)
    assert model.neighbors_.tolist() == [2, 2, 2, 0]
    # as candidates they leave nothing out
    np.testing.assert_allclose(model.predict(texts), [0.5, 0.5, 0.5, 0.3], atol=1e-12)


def test_leave_one_out_counts_the_share_of_the_others() -> None:
    """b |S| with |S| = n - 1: 3 of 5 texts may be neighbors, of 4 others only 2 at b = 0.6."""
    texts = ["the cat sat on the mat"] * 3 + ["a dog slept", "it rained for days"]
    model = NeighborsRegressor("bleu.char", 0.9, 1, 0.6).fit(texts, [0.0, 0.5, 1.0, 0.3, 0.4])
    assert not np.isnan(model.predict(texts)[:3]).any()
    assert not np.isnan(model.leave_one_out()[:3]).any()
    model.max_share = 0.49
    assert np.isnan(model.leave_one_out()).all()


def test_the_order_of_the_training_set_means_nothing_to_the_regressor() -> None:
    training, candidates, quality = sentences(60, 1), sentences(25, 2), quality_of(60, 3)
    order = np.random.default_rng(4).permutation(60)
    model = NeighborsRegressor(tau=0.2, min_neighbors=1, max_share=1.0)
    expected = model.fit(training, quality).predict(candidates)
    counts = model.neighbors_
    shuffled = model.fit([training[i] for i in order], quality[order]).predict(candidates)
    assert not np.isnan(expected).all()
    np.testing.assert_allclose(shuffled, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.neighbors_, counts)


def test_a_prediction_hangs_on_its_own_text_alone() -> None:
    training, candidates, quality = sentences(60, 1), sentences(10, 2), quality_of(60, 3)
    model = NeighborsRegressor(tau=0.2, min_neighbors=1, max_share=1.0).fit(training, quality)
    together = model.predict(candidates)
    apart = [model.predict([text])[0] for text in candidates]
    np.testing.assert_array_equal(together, apart)


def test_options_reach_the_kernel_and_progress_reaches_the_end() -> None:
    training, candidates = sentences(60, 1), sentences(25, 2)
    done: list[int] = []
    model = NeighborsRegressor("bleu.word", 0.2, 1, 1.0, threads=1).fit(training, quality_of(60, 3))
    model.predict(candidates, progress=done.append)
    assert done[-1] == 25
    assert done == sorted(done)
    with pytest.raises(ReflessError, match="0 threads"):
        NeighborsRegressor("bleu.word", threads=0).fit(["a"], [1.0]).predict(["a"])


def test_an_unknown_kernel_is_named() -> None:
    with pytest.raises(ReflessError, match=r"bleu\.sentence"):
        NeighborsRegressor("bleu.sentence").fit(["a"], [1.0]).predict(["a"])


def test_nothing_to_predict_and_one_example() -> None:
    model = NeighborsRegressor(min_neighbors=1, max_share=1.0).fit(["the cat sat"], [0.4])
    assert model.predict([]).shape == (0,)
    assert model.neighbors_.shape == (0,)
    # itself is the only example, and it is left out
    assert np.isnan(model.leave_one_out()).all()
    np.testing.assert_allclose(model.predict(["the cat sat", "", "zzzz"]), [0.4, NAN, NAN])


def test_fit_takes_columns_of_a_table_and_forgets_an_earlier_fit() -> None:
    table = pd.DataFrame(
        {"text": sentences(20, 1), "quality": quality_of(20, 2)}, index=range(5, 25)
    )
    model = NeighborsRegressor(tau=0.2, min_neighbors=1, max_share=1.0)
    assert model.fit(table["text"], table["quality"]) is model  # type: ignore[arg-type]
    from_table = model.predict(table["text"])  # type: ignore[arg-type]
    model.fit(["zzzz"], [1.0])
    assert np.isnan(model.predict(table["text"].tolist())).all()
    model.fit(table["text"].tolist(), table["quality"].tolist())
    np.testing.assert_array_equal(model.predict(table["text"].tolist()), from_table)


def test_fit_keeps_its_own_copy_of_the_texts() -> None:
    texts = ["the cat sat"]
    model = NeighborsRegressor(min_neighbors=1, max_share=1.0).fit(texts, [0.4])
    texts[0] = "zzzz"
    assert model.predict(["the cat sat"])[0] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("texts", "quality", "message"),
    [
        (["a", "b"], [0.5], "2 texts but 1 qualities"),
        ([], [], "no text with a quality"),
        (["a", "b", "c"], [0.5, 1.0, NAN], "text 2 .from 0. is nan"),
        (["a", "b"], [math.inf, 1.0], "text 0 .from 0. is inf"),
        (["a"], 0.5, "one number a text"),
        (["a", "b"], [[0.5, 0.5], [1.0, 1.0]], "one number a text"),
    ],
)
def test_training_examples_that_make_no_sense_are_named(
    texts: list[str], quality: list[float], message: str
) -> None:
    with pytest.raises(SettingError, match=message):
        NeighborsRegressor().fit(texts, quality)


def test_score_takes_one_number_a_text() -> None:
    texts = ["a b c", "a b d", "x y z"]
    model = NeighborsRegressor(min_neighbors=1, max_share=1.0).fit(texts, [1.0, 2.0, 3.0])
    assert model.score(texts, np.array([1.0, 2.0, 3.0])) <= 1
    for quality in ([[1.0], [2.0], [3.0]], [3.0], [1.0, NAN, 3.0]):
        with pytest.raises(SettingError):
            model.score(texts, quality)
    assert math.isnan(model.score(texts, [2.0, 2.0, 2.0]))
    with pytest.raises(SettingError, match="min_neighbors is '5'"):
        NeighborsRegressor(min_neighbors="5").fit(texts, [1.0, 2.0, 3.0])  # type: ignore[arg-type]


@pytest.mark.parametrize("call", ["predict", "leave_one_out"])
def test_without_training_examples_there_is_no_prediction(call: str) -> None:
    model = NeighborsRegressor()
    with pytest.raises(SettingError, match="call fit first"):
        model.predict(["a"]) if call == "predict" else model.leave_one_out()
