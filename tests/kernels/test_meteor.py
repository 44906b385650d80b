"""METEOR: by hand, against nltk of today, and against numbers that nltk 3.5 gave."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.translate import meteor_score as nltk_meteor

from refless.errors import KernelError
from refless.kernels import kernel
from tests.kernels.texts import (
    STRANGE,
    random_sentences,
    texts,
)

BOTH = ["meteor.nltk35", "meteor.nltk39"]
# Words, and stems as nltk39 looks them up; not symmetric, some chained, one of itself.
SYNONYMS = {
    "large": ["big", "huge"],
    "larg": ["big", "huge"],
    "big": ["large", "larg"],
    "huge": ["huge", "big"],
    "house": ["home", "firm"],
    "hous": ["home", "firm"],
    "company": ["firm", "business"],
    "compani": ["firm", "busi"],
    "cats": ["cat", "dog", "dogs"],
    "cat": ["cats", "dog"],
    "walk": ["run", "running"],
}
FIXTURE = json.loads(Path(__file__).with_name("meteor_nltk35.json").read_text(encoding="utf-8"))


class Words(WordNetCorpusReader):
    """SYNONYMS in the guise of nltk's WordNet."""

    def __init__(self) -> None:
        pass

    def synsets(self, word: str) -> list[SimpleNamespace]:  # type: ignore[override]
        names = [SimpleNamespace(name=lambda n=n: n) for n in SYNONYMS.get(word, ())]
        return [SimpleNamespace(lemmas=lambda: names)]


def oracle39(x: str, s: str) -> float:
    return nltk_meteor.single_meteor_score(s.split(), x.split(), wordnet=Words())


def oracle35(x: str, s: str) -> float:
    """What nltk 3.5 does, from parts of today's: the third pass starts where the second did."""
    a, b = x.lower().split(), s.lower().split()
    pairs, rest_a, rest_b = nltk_meteor.exact_match(a, b)
    words_a, words_b = [word for _, word in rest_a], [word for _, word in rest_b]
    for stage in (
        nltk_meteor.stem_match(words_a, words_b),
        nltk_meteor.wordnetsyn_match(words_a, words_b, wordnet=Words()),
    ):
        pairs = pairs + [(rest_a[i][0], rest_b[j][0]) for i, j in stage[0]]
    if not pairs:
        return 0.0
    pairs.sort(key=lambda pair: pair[0])
    chunks = 1 + sum((i + 1, j + 1) != following for (i, j), following in pairwise(pairs))
    m = len(pairs)
    precision, recall = m / len(a), m / len(b)
    f = precision * recall / (0.9 * precision + 0.1 * recall)
    return f * (1 - 0.5 * (chunks / m) ** 3)


ORACLES = {"meteor.nltk35": oracle35, "meteor.nltk39": oracle39}
each = pytest.mark.parametrize("name", BOTH)

# ---- by hand -----------------------------------------------------------------------------------


@each
def test_identity_by_hand(name: str) -> None:
    # Four words, one chunk: 1 * (1 - 0.5 * (1/4)^3) = 0.9921875. METEOR's identity is not 1.
    text = "Rain falls on Spain"
    assert kernel(name, [text], [text], synonyms={})[0, 0] == pytest.approx(0.9921875)


@each
def test_fragments_by_hand(name: str) -> None:
    # x = a b c, s = c a b d: 3 pairs in 2 chunks, P = 1, R = 3/4:
    # F = 0.75 / (0.9 + 0.075) = 10/13, penalty 0.5 * (2/3)^3 = 4/27.
    value = kernel(name, ["a b c"], ["c a b d"], synonyms={})[0, 0]
    assert value == pytest.approx(10 / 13 * 23 / 27)


def test_a_pair_that_counts_twice_by_hand() -> None:
    # cats and cat agree by stem; cat is a synonym of cats, too. nltk 3.5 counts both: m = 2 of
    # one word, P = R = F = 2, two chunks, 2 * (1 - 0.5) = 1. Later versions count one: 0.5.
    options = {"synonyms": {"cats": ["cat"]}}
    assert kernel("meteor.nltk35", ["cats"], ["cat"], **options)[0, 0] == pytest.approx(1.0)
    assert kernel("meteor.nltk39", ["cats"], ["cat"], **options)[0, 0] == pytest.approx(0.5)


def test_later_versions_look_up_stems() -> None:
    # The stem of company is compani, and that of firm is firm.
    x, s = ["company"], ["firm"]
    for synonyms, old, new in (
        ({"company": ["firm"]}, 0.5, 0.0),
        ({"compani": ["firm"]}, 0.0, 0.5),
    ):
        assert kernel("meteor.nltk35", x, s, synonyms=synonyms)[0, 0] == old
        assert kernel("meteor.nltk39", x, s, synonyms=synonyms)[0, 0] == new


# ---- oracles -----------------------------------------------------------------------------------


def test_numbers_of_nltk35() -> None:
    sentences = FIXTURE["sentences"]
    got = kernel("meteor.nltk35", sentences, sentences, synonyms=FIXTURE["synonyms"])
    expected = np.array(FIXTURE["scores"])
    assert (expected > 0).sum() > 200
    assert (expected > 1).any()
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=0)


@each
def test_nltk_on_strange_and_random_texts(name: str) -> None:
    x = [*STRANGE, *random_sentences(25, 12, seed=1), *random_sentences(6, 200, seed=2)]
    s = [*STRANGE, *random_sentences(25, 20, seed=3), *random_sentences(6, 200, seed=4)]
    expected = [[ORACLES[name](a, b) for b in s] for a in x]
    assert np.count_nonzero(expected) > 500
    np.testing.assert_allclose(kernel(name, x, s, synonyms=SYNONYMS), expected, rtol=1e-12, atol=0)


@each
@settings(max_examples=30, deadline=None)
@given(x=texts, s=texts)
def test_nltk_on_any_texts(name: str, x: str, s: str) -> None:
    got = kernel(name, [x], [s], synonyms=SYNONYMS)[0, 0]
    assert got == pytest.approx(ORACLES[name](x, s), rel=1e-12, abs=0)


# ---- what must hold ----------------------------------------------------------------------------


@each
@settings(max_examples=15, deadline=None)
@given(x=st.lists(texts, max_size=6), s=st.lists(texts, max_size=6))
def test_range_and_identity(name: str, x: list[str], s: list[str]) -> None:
    matrix = kernel(name, x, [*s, *x], synonyms=SYNONYMS)
    assert ((matrix >= 0) & (matrix <= (2 if name == "meteor.nltk35" else 1))).all()
    for i, text in enumerate(x):
        n = len(text.split())
        expected = 1 - 0.5 / n**3 if n else 0.0
        assert matrix[i, len(s) + i] == pytest.approx(expected, rel=1e-15)


def test_without_wordnet_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nltk.data

    monkeypatch.delenv("REFLESS_WORDNET", raising=False)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with pytest.raises(KernelError, match="REFLESS_WORDNET"):
        kernel("meteor.nltk35", ["a"], ["b"])
    with pytest.raises(KernelError, match=str(tmp_path)):
        kernel("meteor.nltk35", ["a"], ["b"], wordnet=tmp_path)
