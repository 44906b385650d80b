"""BLEU*, ROUGE-L and METEOR: by hand, against peers, and what must hold for any texts."""

import json
import math
import random
import warnings
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import nltk.data
import numpy as np
import pytest
from hypothesis import given, settings
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.translate import meteor_score as nltk_meteor
from nltk.translate.bleu_score import sentence_bleu
from rouge_score.rouge_scorer import RougeScorer

from refless.errors import KernelError
from refless.kernels import _ngrams, kernel
from tests.kernels.texts import STRANGE, SYNONYMS, WORDS, random_sentences, ready, texts

CLIPPED = ["bleu.char", "bleu.word"]
UNCLIPPED = ["bleu.char.unclipped", "bleu.word.unclipped"]
FIXTURE = json.loads(Path(__file__).with_name("meteor_nltk35.json").read_text(encoding="utf-8"))


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
    """The definition written out, for the unclipped variants, which nltk does not have."""
    a, b = units(name, x), units(name, s)
    if len(a) < 4:
        return 0.0
    product = 1.0
    for n in (2, 3, 4):
        ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
        theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
        product *= sum(gram in theirs for gram in ours) / len(ours)
    return math.exp(min(0.0, 1 - len(b) / len(a))) * product ** (1 / 3)


def rouge(scorer: RougeScorer, x: str, s: str) -> float:
    return scorer.score(s, x)["rougeL"].fmeasure


class Words(WordNetCorpusReader):
    """SYNONYMS in the guise of nltk's WordNet."""

    def __init__(self) -> None:
        pass

    def synsets(self, word: str) -> list[SimpleNamespace]:  # type: ignore[override]
        names = [SimpleNamespace(name=lambda n=n: n) for n in SYNONYMS.get(word, ())]
        return [SimpleNamespace(lemmas=lambda: names)]


def meteor39(x: str, s: str) -> float:
    return nltk_meteor.single_meteor_score(s.split(), x.split(), wordnet=Words())


def meteor35(x: str, s: str) -> float:
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


PEERS = {
    **{name: partial(nltk_bleu, name) for name in CLIPPED},
    "rouge_l.stem": partial(rouge, RougeScorer(["rougeL"], use_stemmer=True)),
    "rouge_l.plain": partial(rouge, RougeScorer(["rougeL"], use_stemmer=False)),
    "meteor.nltk35": meteor35,
    "meteor.nltk39": meteor39,
}


@pytest.mark.parametrize(
    ("name", "x", "s", "expected", "synonyms"),
    [
        # x = abcde: ab bc cd de, abc bcd cde, abcd bcde; s = abcdf has ab bc cd, abc bcd, abcd:
        # P2 = 3/4, P3 = 2/3, P4 = 1/2, product 1/4; lengths equal, beta = 1.
        ("bleu.char", "abcde", "abcdf", 0.25 ** (1 / 3), None),
        # x has aa 5 times, aaa 4 times, aaaa 3 times; s has them 3, 2, 1 times.
        # Clipped: 3/5 * 2/4 * 1/3 = 1/10; unclipped: every occurrence counts, 1.
        ("bleu.char", "aaaaaa", "aaaa", 0.1 ** (1 / 3), None),
        ("bleu.char.unclipped", "aaaaaa", "aaaa", 1, None),
        ("rouge_l.stem", "his", "hi", 0, None),  # words of three letters stay
        # Four words, one chunk: 1 * (1 - 0.5 * (1/4)^3). METEOR's identity is not 1.
        ("meteor.nltk35", "Rain falls on Spain", "Rain falls on Spain", 0.9921875, {}),
        ("meteor.nltk39", "Rain falls on Spain", "Rain falls on Spain", 0.9921875, {}),
        # cats and cat agree by stem; cat is a synonym of cats, too. nltk 3.5 counts both: m = 2 of
        # one word, P = R = F = 2, two chunks, 2 * (1 - 0.5) = 1. Later versions count one: 0.5.
        ("meteor.nltk35", "cats", "cat", 1, {"cats": ["cat"]}),
        ("meteor.nltk39", "cats", "cat", 0.5, {"cats": ["cat"]}),
    ],
)
def test_by_hand(name, x, s, expected, synonyms):
    found = kernel(name, [x], ready(name, [s], synonyms))[0, 0]
    assert found == pytest.approx(expected, rel=1e-12, abs=0)


def test_numbers_of_nltk35():
    """``single_meteor_score(s, x)`` of nltk 3.5, each row of one x, with the synonyms that WordNet
    3.0 has among the words of the fixture's sentences and their stems."""
    told = FIXTURE["sentences"]
    expected = np.array(FIXTURE["scores"])
    assert (expected > 0).sum() > 200
    assert (expected > 1).any()
    got = kernel("meteor.nltk35", told, ready("meteor.nltk35", told, FIXTURE["synonyms"]))
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", PEERS)
def test_peers_on_strange_and_random_texts(name):
    x = [*STRANGE, *random_sentences(22, 14, seed=1), *random_sentences(5, 150, seed=2)]
    s = [*STRANGE, *random_sentences(22, 24, seed=3), *random_sentences(5, 150, seed=4)]
    expected = [[PEERS[name](a, b) for b in s] for a in x]
    assert np.count_nonzero(expected) > 30
    np.testing.assert_allclose(kernel(name, x, ready(name, s)), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", [*PEERS, *UNCLIPPED])
@settings(max_examples=30, deadline=None)
@given(x=texts, s=texts)
def test_peers_on_any_texts(name, x, s):
    got = kernel(name, [x], ready(name, [s]))[0, 0]
    expected = slow_bleu(name, x, s) if name in UNCLIPPED else PEERS[name](x, s)
    assert got == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("alphabet", ["ab", "abcdefghijklmnopqrstuvwxyz \u00e9\U0001f600"])
def test_nltk_on_10000_characters(alphabet):
    # With two letters an n-gram occurs thousands of times: bytes would overflow.
    rng = random.Random(3)
    x = ["".join(rng.choices(alphabet, k=10_000)), "".join(rng.choices(alphabet, k=300))]
    s = [x[0][5_000:] + x[0][:5_000], "".join(rng.choices(alphabet, k=10_000)), x[1] * 2]
    expected = [[nltk_bleu("bleu.char", a, b) for b in s] for a in x]
    assert np.count_nonzero(expected) == 6
    np.testing.assert_allclose(kernel("bleu.char", x, s), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", CLIPPED)
@pytest.mark.parametrize("frequent", [1, 10**9])
def test_rare_and_frequent_ngrams(name, frequent, monkeypatch):
    # All n-grams as lists of texts (1), or all as rows of bytes; more than 252 of them at once.
    x, s = random_sentences(12, 120, seed=4), random_sentences(30, 120, seed=5)
    expected = kernel(name, x, s)
    assert np.count_nonzero(expected) > 50
    monkeypatch.setattr(_ngrams, "_FREQUENT", frequent)
    monkeypatch.setattr(_ngrams, "_MANY_CANDIDATES", 1)
    assert np.array_equal(kernel(name, x, s), expected)


@pytest.mark.parametrize("n", [63, 64, 65, 127, 128, 129, 1700])
def test_rouge_score_where_bits_run_over(n):
    # A candidate of 64 words fills one machine word of bits; 1,700 words are 10,000 characters.
    rng = random.Random(n)
    x = [" ".join(rng.choices(WORDS[: 3 + n % 5], k=n)), " ".join(["the"] * n)]
    s = [" ".join(rng.choices(WORDS[:6], k=min(2 * n, 200))), "the " * (n + 1), "cat " + x[0]]
    s = s[: 2 if n > 1000 else 3]
    expected = [[PEERS["rouge_l.plain"](a, b) for b in s] for a in x]
    assert np.count_nonzero(expected) >= 4
    np.testing.assert_allclose(kernel("rouge_l.plain", x, s), expected, rtol=1e-12, atol=0)


def test_without_wordnet_it_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("REFLESS_WORDNET", raising=False)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with pytest.raises(KernelError, match="REFLESS_WORDNET"):
        kernel("meteor.nltk35", ["a"], ["b"])
    with pytest.raises(KernelError, match=str(tmp_path)):
        kernel("meteor.nltk35", ["a"], ["b"], wordnet=tmp_path)
