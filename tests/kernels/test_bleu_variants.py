"""BLEU* without stopwords and with idf weights: by hand, and against slow definitions."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.errors import KernelError
from refless.kernels import _blocks, _ngrams, bleu, bleu_content, kernel, neighbor_sums
from tests.kernels.texts import STRANGE, characters, random_sentences, sentences, texts

IDF = ["bleu_idf.char", "bleu_idf.word"]
CONTENT = ["bleu_content.char", "bleu_content.word"]


def units(name: str, text: str) -> list[str]:
    return list(text) if name.endswith(".char") else text.split()


def grams(sequence: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(sequence[i : i + n]) for i in range(len(sequence) - n + 1)]


def slow_idf(name: str, candidates: list[str], training: list[str]) -> np.ndarray:
    """The definition in the module's docstring, one sum after the other."""
    split = [units(name, text) for text in training]
    documents = {n: Counter(g for s in split for g in set(grams(s, n))) for n in (2, 3, 4)}
    out = np.zeros((len(candidates), len(training)))
    for i, text in enumerate(candidates):
        x = units(name, text)
        for j, s in enumerate(split):
            product = 1.0
            for n in (2, 3, 4):
                top = bottom = 0.0
                theirs = Counter(grams(s, n))
                for gram, count in Counter(grams(x, n)).items():
                    weight = math.log((len(training) + 1) / (documents[n][gram] + 1))
                    top += weight * min(count, theirs[gram])
                    bottom += weight * count
                product *= top / bottom if bottom > 0 else 0.0
            if product > 0:
                out[i, j] = math.exp(min(0, 1 - len(s) / len(x))) * product ** (1 / 3)
    return out


# ---- idf ---------------------------------------------------------------------------------------


def test_idf_by_hand() -> None:
    # x = abcde, s = abcdf, and two texts that share nothing with them: N = 3. The n-grams of s
    # have df 1, weight log(4/2) = log 2; de, cde, bcde have df 0, weight log 4 = 2 log 2.
    # P2 = 3/(3 + 2), P3 = 2/(2 + 2), P4 = 1/(1 + 2).
    value = kernel("bleu_idf.char", ["abcde"], ["abcdf", "uvwxyz", "12345"])
    assert value[0].tolist() == [pytest.approx((3 / 5 * 2 / 4 * 1 / 3) ** (1 / 3)), 0, 0]


def test_what_every_text_has_weighs_nothing() -> None:
    # The only training text has all of its n-grams: no weight is left, the value is 0.
    assert kernel("bleu_idf.char", ["abcdef"], ["abcdef"])[0, 0] == 0
    assert kernel("bleu_idf.char", ["abcdef"], ["abcdef", "xyz"])[0, 0] == 1


@pytest.mark.parametrize("name", IDF)
def test_idf_on_strange_and_random_texts(name: str) -> None:
    x = [*STRANGE, *random_sentences(25, 15, seed=1)]
    s = [*STRANGE, *random_sentences(25, 25, seed=2)]
    expected = slow_idf(name, x, s)
    assert np.count_nonzero(expected) > 15
    np.testing.assert_allclose(kernel(name, x, s), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", IDF)
@settings(max_examples=50, deadline=None)
@given(
    x=st.lists(characters | sentences, min_size=1, max_size=3),
    s=st.lists(characters | sentences, min_size=1, max_size=4),
)
def test_idf_on_any_texts(name: str, x: list[str], s: list[str]) -> None:
    np.testing.assert_allclose(kernel(name, x, s), slow_idf(name, x, s), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", IDF)
@settings(max_examples=30, deadline=None)
@given(x=st.lists(texts, max_size=5), s=st.lists(texts, max_size=6))
def test_idf_range_and_identity(name: str, x: list[str], s: list[str]) -> None:
    # With a text that shares nothing, no n-gram is in all training texts: equal texts have 1.
    matrix = kernel(name, x, [*s, *x, ""])
    assert ((matrix >= 0) & (matrix <= 1)).all()
    for i, text in enumerate(x):
        assert matrix[i, len(s) + i] == (1.0 if len(units(name, text)) >= 4 else 0.0)


@pytest.mark.parametrize("name", [*IDF, *CONTENT])
@pytest.mark.parametrize("frequent", [1, 10**9])
def test_threads_blocks_and_shards_give_the_same_bits(
    name: str, frequent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, s = random_sentences(20, 60, seed=4), random_sentences(40, 60, seed=5)
    one = kernel(name, x, s, threads=1)
    assert np.count_nonzero(one) > 20
    monkeypatch.setattr(bleu, "WIDTH", 7)
    monkeypatch.setattr(_blocks, "VALUES", 30)
    monkeypatch.setattr(_ngrams, "FREQUENT", frequent)
    monkeypatch.setattr(bleu, "MANY", 1)
    assert np.array_equal(one, kernel(name, x, s, threads=2))
    assert np.array_equal(one[3:9], kernel(name, x, s, rows=slice(3, 9)))
    counts, sums = neighbor_sums(name, x, s, np.arange(40.0), [0.1, 0.3])
    assert np.array_equal(counts[:, 0], (one >= 0.1).sum(1))
    np.testing.assert_allclose(sums[:, 1], (one >= 0.3) @ np.arange(40.0))


def test_what_has_no_numbers_left_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bleu, "CODES", 20)
    with pytest.raises(KernelError, match="23 characters is too long"):
        kernel("bleu_idf.char", ["a" * 3], ["b" * 10, "b" * 23])
    monkeypatch.setattr(_ngrams, "CODES", 20)
    with pytest.raises(KernelError, match="n-grams are too many"):
        kernel("bleu_idf.char", ["a" * 3], ["abcdefgh"])


# ---- stopwords ---------------------------------------------------------------------------------


def test_content_by_hand() -> None:
    assert bleu_content.content("The cat, it isn't on\tthe  Red mat !") == "cat, Red mat"
    assert bleu_content.content("I do n't know (them) -- 'tis WE\u2019RE 42.") == "know 'tis 42."
    assert bleu_content.content("") == bleu_content.content("of the . ...") == ""


@pytest.mark.parametrize("name", CONTENT)
def test_content_is_bleu_of_what_is_left(name: str) -> None:
    x, s = random_sentences(20, 25, seed=6), [*STRANGE, *random_sentences(20, 25, seed=7)]
    left = [
        [
            " ".join(w for w in t.split() if w not in ("the", "a", "of", "they're", "it's"))
            for t in side
        ]
        for side in (x, random_sentences(20, 25, seed=7))
    ]
    expected = kernel(f"bleu.{name.rpartition('.')[2]}", *left)
    assert np.count_nonzero(expected) > 10
    assert np.array_equal(kernel(name, x, s)[:, len(STRANGE) :], expected)


def test_stopwords_are_lower_case_words() -> None:
    assert len(bleu_content.STOPWORDS) > 200
    for word in bleu_content.STOPWORDS:
        assert bleu_content.content(word.upper()) == "", word
