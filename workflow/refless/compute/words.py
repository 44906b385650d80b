"""Texts as arrays of word numbers, for compiled loops: words by number, all texts in one array.

Stage: none. In: texts as lists of words. Out: flat arrays, and where each text starts.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache

import numpy as np


def starts_of(lengths: Iterable[int], n: int) -> np.ndarray:
    """Offsets of n pieces of these lengths end to end, and their end: int64, shape (n + 1,)."""
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, n), out=starts[1:])
    return starts


def number_words(
    texts: Sequence[Sequence[str]], vocabulary: dict[str, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Number the words of all texts; words not in ``vocabulary`` are added to it.

    Returns the numbers, int32 (all words,), and the starts of the texts, int64 (texts + 1,).
    """
    starts = starts_of(map(len, texts), len(texts))
    numbers = np.fromiter(
        (vocabulary.setdefault(word, len(vocabulary)) for words in texts for word in words),
        np.int32,
        int(starts[-1]),
    )
    return numbers, starts


def stems(words: Iterable[str]) -> dict[str, str]:
    """Word -> Porter's stem by nltk, in lower case."""
    stem = _stemmer()
    return {word: stem(word) for word in words}


@cache
def _stemmer() -> Callable[[str], str]:
    """Caches each word's stem. Importing nltk takes as long as all else that a kernel imports, so
    it is done here."""
    from nltk.stem.porter import PorterStemmer

    return cache(PorterStemmer().stem)
