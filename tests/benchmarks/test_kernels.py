"""The benchmarks: that peers and refless agree where they are timed. Never times."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import kernels, neighbors
from benchmarks.common import line, real_texts, take
from tests.kernels.texts import mirror, random_sentences


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return list(dict.fromkeys(random_sentences(200, 13, seed=2)))[:60]


@pytest.mark.parametrize("name", ["bleu.char", "bleu.word", "rouge_l.stem"])
def test_peers_agree(name: str, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(kernels.beside(name, texts, 80, 2)) == 2
    monkeypatch.setattr(kernels, "kernel", lambda name, x, s, **_: np.ones((len(x), len(s))))
    with pytest.raises(AssertionError):
        kernels.beside(name, texts, 80, 1)


@pytest.mark.slow
def test_nltks_meteor_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    wordnet = mirror("nltk/wordnet.zip")
    monkeypatch.setenv("REFLESS_WORDNET", str(wordnet))
    real = real_texts(wordnet.parents[1])
    assert len(set(real)) == len(real) > 20_000
    assert len(kernels.beside("meteor.nltk39", take(real, 40), 20, 1)) == 2


def test_more_texts_than_there_are_are_different(texts: list[str]) -> None:
    assert len(set(take(texts, 100))) == 100
    assert take(texts, 100) == take(texts, 100)


def test_a_line_has_the_median_of_the_ratios() -> None:
    assert line("a", "b", [3, 8, 5], [1, 2, 1]).split()[-4:] == ["4", "(3", "to", "5)"]


def test_neighbors_are_timed(texts: list[str]) -> None:
    assert len(neighbors.measure(texts, 20, 1)) == 3
