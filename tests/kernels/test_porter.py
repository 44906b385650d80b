"""Our Porter stemmer against nltk's."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from refless.kernels._porter import stem

ORACLE = PorterStemmer().stem
PARTS = ["y", "s", "ies", "ied", "eed", "ed", "ing", "at", "bl", "iz", "ll", "alli", "logi", "ion"]
PARTS += [
    "ational",
    "ization",
    "fulli",
    "bli",
    "ous",
    "ement",
    "ness",
    "e",
    "é",
    "ß",
    "İ",
    "-",
    "'",
]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("ties", "tie"),  # four letters
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("happy", "happi"),
        ("enjoy", "enjoy"),
        ("skies", "sky"),
        ("vietnamization", "vietnam"),
        ("rate", "rate"),
        ("controll", "control"),
        ("as", "as"),
        ("", ""),
    ],
)
def test_hand_worked(word: str, expected: str) -> None:
    assert stem(word) == expected == ORACLE(word)


@settings(max_examples=2000, deadline=None)
@given(
    st.lists(st.sampled_from([*"abcdelstvwxyzou", *PARTS]), max_size=6).map("".join)
    | st.text(max_size=8)
)
def test_random_words(word: str) -> None:
    assert stem(word) == ORACLE(word)


@pytest.mark.mirror
def test_every_word_of_wordnet() -> None:
    place = Path(os.environ.get("REFLESS_MIRROR", "/nowhere"), "nltk/wordnet.zip")
    if not place.is_file():
        pytest.skip("needs nltk/wordnet.zip: set REFLESS_MIRROR")
    words = set()
    with zipfile.ZipFile(place) as archive:
        for part in ("noun", "verb", "adj", "adv"):
            lines = archive.read(f"wordnet/index.{part}").decode().splitlines()
            words |= {line.split()[0] for line in lines if not line.startswith(" ")}
            words |= set(archive.read(f"wordnet/{part}.exc").decode().split())
    assert len(words) > 140_000
    assert [word for word in words if stem(word) != ORACLE(word)] == []
