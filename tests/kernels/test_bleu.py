"""BLEU*: by hand, against nltk, and what must hold for any texts."""

from __future__ import annotations

import math
import random
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import sentence_bleu

from refless.kernels import _ngrams, kernel
from tests.kernels.texts import STRANGE, characters, random_sentences, sentences, texts

CLIPPED = ["bleu.char", "bleu.word"]
ALL = [*CLIPPED, "bleu.char.unclipped", "bleu.word.unclipped"]


def units(name: str, text: str) -> list[str]:
    return list(text) if ".char" in name else text.split()


def nltk_bleu(name: str, x: str, s: str) -> float:
    """nltk's value; without smoothing it puts 2e-308 for a precision of 0, which is 0 here."""
    if not units(name, x):
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of precisions that are 0
        value = sentence_bleu([units(name, s)], units(name, x), weights=(0, 1 / 3, 1 / 3, 1 / 3))
    # The least value with all precisions above 0 is far above the greatest with one of them 0.
    return value if value > 1e-60 else 0.0


def slow_bleu(name: str, x: str, s: str) -> float:
    """The definition written out, for the variants that nltk does not have."""
    a, b = units(name, x), units(name, s)
    if len(a) < 4:
        return 0.0
    product = 1.0
    for n in (2, 3, 4):
        ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
        theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
        if name.endswith(".unclipped"):
            hits = sum(gram in theirs for gram in ours)
        else:
            hits = sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
        product *= hits / len(ours)
    return math.exp(min(0.0, 1 - len(b) / len(a))) * product ** (1 / 3)


# ---- by hand -----------------------------------------------------------------------------------


def test_characters_by_hand() -> None:
    # x = abcde: ab bc cd de, abc bcd cde, abcd bcde; s = abcdf has ab bc cd, abc bcd, abcd:
    # P2 = 3/4, P3 = 2/3, P4 = 1/2, product 1/4; lengths equal, beta = 1.
    assert kernel("bleu.char", ["abcde"], ["abcdf"])[0, 0] == pytest.approx(0.25 ** (1 / 3))
    # The longer s costs: |s| = 6, |x| = 4, all of x is in s, beta = exp(1 - 6/4).
    assert kernel("bleu.char", ["abcd"], ["abcdef"])[0, 0] == pytest.approx(math.exp(-0.5))
    # The shorter s does not: |s| = 4 < |x| = 6; P2 = 3/5, P3 = 2/4, P4 = 1/3, product 1/10.
    assert kernel("bleu.char", ["abcdef"], ["abcd"])[0, 0] == pytest.approx(0.1 ** (1 / 3))


def test_words_by_hand() -> None:
    # x = a b c d e, s = a b c d f, as above but with words, and however many blanks.
    value = kernel("bleu.word", ["aa b  c\td e"], [" aa b c d\nf "])[0, 0]
    assert value == pytest.approx(0.25 ** (1 / 3))


def test_clipping_by_hand() -> None:
    # x = aaaaaa has aa 5 times, aaa 4 times, aaaa 3 times; s = aaaa has them 3, 2, 1 times.
    # Clipped: 3/5 * 2/4 * 1/3 = 1/10; unclipped: every occurrence counts, 1.
    assert kernel("bleu.char", ["aaaaaa"], ["aaaa"])[0, 0] == pytest.approx(0.1 ** (1 / 3))
    assert kernel("bleu.char.unclipped", ["aaaaaa"], ["aaaa"])[0, 0] == 1.0


def test_no_shared_4gram_is_zero() -> None:
    # abc is shared, but no 4-gram; 3 characters have none at all, not even with themselves.
    assert kernel("bleu.char", ["abcx", "abc"], ["abcy", "abc"]).tolist() == [[0, 0], [0, 0]]


# ---- oracles -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLIPPED)
def test_nltk_on_strange_and_random_texts(name: str) -> None:
    x = [*STRANGE, *random_sentences(25, 15, seed=1)]
    s = [*STRANGE, *random_sentences(25, 25, seed=2)]
    expected = [[nltk_bleu(name, a, b) for b in s] for a in x]
    assert np.count_nonzero(expected) > 15
    np.testing.assert_allclose(kernel(name, x, s), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", CLIPPED)
@settings(max_examples=25, deadline=None)
@given(x=texts, s=texts)
def test_nltk_on_any_texts(name: str, x: str, s: str) -> None:
    got = kernel(name, [x], [s])[0, 0]
    assert got == pytest.approx(nltk_bleu(name, x, s), rel=1e-12, abs=0)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=25, deadline=None)
@given(x=characters | sentences, s=characters | sentences)
def test_definition_on_any_texts(name: str, x: str, s: str) -> None:
    got = kernel(name, [x], [s])[0, 0]
    assert got == pytest.approx(slow_bleu(name, x, s), rel=1e-12, abs=0)


@pytest.mark.parametrize("alphabet", ["ab", "abcdefghijklmnopqrstuvwxyz \u00e9\U0001f600"])
def test_nltk_on_10000_characters(alphabet: str) -> None:
    # With two letters an n-gram occurs thousands of times: bytes would overflow.
    rng = random.Random(3)
    x = ["".join(rng.choices(alphabet, k=10_000)), "".join(rng.choices(alphabet, k=300))]
    s = [x[0][5_000:] + x[0][:5_000], "".join(rng.choices(alphabet, k=10_000)), x[1] * 2]
    expected = [[nltk_bleu("bleu.char", a, b) for b in s] for a in x]
    assert np.count_nonzero(expected) == 6
    np.testing.assert_allclose(kernel("bleu.char", x, s), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", CLIPPED)
@pytest.mark.parametrize("frequent", [1, 10**9])
def test_rare_and_frequent_ngrams_count_alike(
    name: str, frequent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All n-grams as lists of texts (1), or all as rows of bytes; more than 252 of them at once.
    x, s = random_sentences(12, 120, seed=4), random_sentences(30, 120, seed=5)
    expected = kernel(name, x, s)
    assert np.count_nonzero(expected) > 50
    monkeypatch.setattr(_ngrams, "FREQUENT", frequent)
    monkeypatch.setattr(_ngrams, "MANY", 1)
    assert np.array_equal(kernel(name, x, s), expected)


# ---- what must hold ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=15, deadline=None)
@given(x=st.lists(texts, max_size=6), s=st.lists(texts, max_size=6))
def test_range_and_identity(name: str, x: list[str], s: list[str]) -> None:
    matrix = kernel(name, x, [*s, *x])
    assert matrix.shape == (len(x), len(s) + len(x))
    assert ((matrix >= 0) & (matrix <= 1)).all()
    for i, text in enumerate(x):
        assert matrix[i, len(s) + i] == (1.0 if len(units(name, text)) >= 4 else 0.0)
