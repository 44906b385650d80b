"""ROUGE-L: by hand, against the package rouge-score, and what must hold for any texts."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from refless.kernels import kernel
from tests.kernels.texts import STRANGE, WORDS, random_sentences, texts

SCORERS = {
    "rouge_l.stem": RougeScorer(["rougeL"], use_stemmer=True),
    "rouge_l.plain": RougeScorer(["rougeL"], use_stemmer=False),
}
each = pytest.mark.parametrize("name", SCORERS)


def oracle(name: str, x: str, s: str) -> float:
    return SCORERS[name].score(s, x)["rougeL"].fmeasure


def test_by_hand() -> None:
    # x = the cat ran off (4), s = the dogs and the cat ran (6): the cat ran is common, 3.
    # P = 3/4, R = 3/6: 2 * 0.375 / 1.25 = 0.6.
    value = kernel("rouge_l.plain", ["The cat ran -- off!"], ["the dogs, and the cat ran"])[0, 0]
    assert value == pytest.approx(0.6)


def test_stems_by_hand() -> None:
    # cats, runs are stemmed to cat, run; his stays, for it has 3 letters: his is not hi.
    # Plain: only the is common of 2 and 2 words, F = 1/2; stemmed: both.
    assert kernel("rouge_l.plain", ["the runs"], ["the running"])[0, 0] == pytest.approx(0.5)
    assert kernel("rouge_l.stem", ["the runs"], ["the running"])[0, 0] == pytest.approx(1.0)
    assert kernel("rouge_l.stem", ["his"], ["hi"])[0, 0] == 0.0


@each
def test_rouge_score_on_strange_and_random_texts(name: str) -> None:
    x = [*STRANGE, *random_sentences(20, 15, seed=1), *random_sentences(5, 150, seed=2)]
    s = [*STRANGE, *random_sentences(20, 25, seed=3), *random_sentences(5, 150, seed=4)]
    expected = [[oracle(name, a, b) for b in s] for a in x]
    assert np.count_nonzero(expected) > 300
    np.testing.assert_allclose(kernel(name, x, s), expected, rtol=1e-12, atol=0)


@each
@settings(max_examples=25, deadline=None)
@given(x=texts, s=texts)
def test_rouge_score_on_any_texts(name: str, x: str, s: str) -> None:
    assert kernel(name, [x], [s])[0, 0] == pytest.approx(oracle(name, x, s), rel=1e-12, abs=0)


@pytest.mark.parametrize("n", [63, 64, 65, 127, 128, 129, 1700])
def test_rouge_score_where_bits_run_over(n: int) -> None:
    # A candidate of 64 words fills one machine word of bits; 1,700 words are 10,000 characters.
    rng = random.Random(n)
    x = [" ".join(rng.choices(WORDS[: 3 + n % 5], k=n)), " ".join(["the"] * n)]
    s = [" ".join(rng.choices(WORDS[:6], k=min(2 * n, 200))), "the " * (n + 1), "cat " + x[0]]
    expected = [[oracle("rouge_l.plain", a, b) for b in s[: 2 if n > 1000 else 3]] for a in x]
    assert np.count_nonzero(expected) >= 4
    got = kernel("rouge_l.plain", x, s[: 2 if n > 1000 else 3])
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=0)


@each
@settings(max_examples=15, deadline=None)
@given(x=st.lists(texts, max_size=6), s=st.lists(texts, max_size=6))
def test_range_identity_and_symmetry(name: str, x: list[str], s: list[str]) -> None:
    matrix = kernel(name, x, [*s, *x])
    assert ((matrix >= 0) & (matrix <= 1)).all()
    for i, text in enumerate(x):
        has_words = any(c.isascii() and c.isalnum() for c in text.lower())
        assert matrix[i, len(s) + i] == (1.0 if has_words else 0.0)
    np.testing.assert_allclose(kernel(name, s, x), matrix[:, : len(s)].T, rtol=1e-15, atol=0)
