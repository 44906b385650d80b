"""Texts for the kernel tests: strange ones of our own, random ones, and real ones from a mirror."""

from __future__ import annotations

import csv
import os
import random
import shutil
import warnings
from pathlib import Path

import nltk.data
import pytest
from hypothesis import strategies as st
from nltk.corpus.reader.wordnet import WordNetCorpusReader

# fmt: off
WORDS = [
    "the", "a", "of", "cat", "cats", "dog", "dogs", "run", "running", "ran", "runs", "walk",
    "walks", "large", "big", "huge", "house", "home", "quickly", "company", "firm", "firms",
    "business", "guide", "guides", "command", "commands", "always", "says", "said", "it's",
    "they're",
]
# fmt: on

STRANGE = [
    "",
    " ",
    " \t\n ",
    "a",
    "abc",
    "abcd",
    "dcba",
    "aaaa",
    "aaaaaaaa",
    "ab" * 20,
    "one",
    "one two",
    "one two three four",
    "THE Cat\tof  \n the dog",
    "four one two three four",
    "e\u0301e\u0301e\u0301e\u0301 combining",
    "\u00e9\u00e9\u00e9\u00e9 composed",
    "\U0001f600\U0001f600\U0001f600\U0001f600 astral",
    "\ud83d\ude00\ud83d\ude00 surrogates",  # two each, which UTF-16 would pair up
    "\x00\x00\x00\x00",
    "\u4e16\u754c\u4f60\u597d\u4e16\u754c",
    "\u0130stanbul \u212aelvin STRA\u00dfE \u03a3\u0391\u03a3 x\u2028y\u00a0z",
    "don't stop-believing, 42 times (or 43)!",
]

characters = st.text(alphabet="ab c\u00e9\u0301\U0001f600\ud800", max_size=60)
sentences = st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join)
texts = characters | sentences | st.text(max_size=30)


def random_sentences(n: int, longest: int, seed: int) -> list[str]:
    """Every other one is made of five words only, so that phrases recur."""
    rng = random.Random(seed)
    return [
        " ".join(rng.choices(WORDS[: 5 if i % 2 else len(WORDS)], k=rng.randint(0, longest)))
        for i in range(n)
    ]


def mirror(name: str) -> Path:
    """A file of the mirror; the test is skipped where there is none."""
    root = os.environ.get("REFLESS_MIRROR", "")
    if not root or "://" in root:
        pytest.skip("REFLESS_MIRROR names no directory with the real data")
    path = Path(root) / name
    if not path.exists():
        pytest.skip(f"the mirror has no {name}")
    return path


def nltk_wordnet(folder: Path, monkeypatch: pytest.MonkeyPatch) -> WordNetCorpusReader:
    """nltk's own reader of the mirror's WordNet, which must lie below its data directory."""
    place = folder / "nltk_data" / "corpora" / "wordnet.zip"
    place.parent.mkdir(parents=True)
    shutil.copy(mirror("nltk/wordnet.zip"), place)
    monkeypatch.setattr(nltk.data, "path", [str(place.parent.parent)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of languages that are not there
        return WordNetCorpusReader(nltk.data.find("corpora/wordnet.zip/wordnet/"), None)


def summaries() -> tuple[list[str], list[list[float]]]:
    """The 199 rated (context, output) pairs of HUSE summarization: outputs, and ratings."""
    scale = ["Invalid", "Rare", "Specific", "Average", "Typical", "Very Typical"]
    csv.field_size_limit(2**30)
    rated: dict[tuple[str, str], list[float]] = {}
    with mirror("huse/summarization_raw_outputs.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for i in range(25):
                key = row[f"Input.CTX{i}"], row[f"Input.OUT{i}"]
                rated.setdefault(key, []).append(scale.index(row[f"Answer.{i}"]) / 5)
    return [output for _, output in rated], list(rated.values())
