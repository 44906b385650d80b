"""Texts for the kernel tests: strange ones of our own, and random ones."""

import random
from collections.abc import Mapping
from functools import partial
from typing import Any

from hypothesis import strategies as st

from refless.kernels import meteor
from refless.kernels._blocks import Index

# fmt: off
WORDS = [
    "the", "a", "of", "cat", "cats", "dog", "dogs", "run", "running", "ran", "runs", "walk",
    "walks", "large", "big", "huge", "house", "home", "quickly", "company", "firm", "firms",
    "business", "guide", "guides", "command", "commands", "always", "says", "said", "it's",
    "they're",
]
# fmt: on
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
STRANGE = [
    *("", " ", " \t\n ", "a", "abc", "abcd", "dcba", "aaaa", "aaaaaaaa", "ab" * 20),
    *("one", "one two", "one two three four", "THE Cat\tof  \n the dog"),
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


def ready(name: str, s: list[str], synonyms: Mapping[str, list[str]] = SYNONYMS) -> Any:
    """Training texts, for METEOR as an index with these synonyms: no WordNet is needed."""
    if not name.startswith("meteor"):
        return s
    find, old = lambda word: synonyms.get(word, ()), name == "meteor.nltk35"
    return Index(len(s), partial(meteor._blocks, s, old, find))


def random_sentences(n: int, longest: int, seed: int) -> list[str]:
    """Every other one is made of five words only, so that phrases recur."""
    rng = random.Random(seed)
    return [
        " ".join(rng.choices(WORDS[: 5 if i % 2 else len(WORDS)], k=rng.randint(0, longest)))
        for i in range(n)
    ]
