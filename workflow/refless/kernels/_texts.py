"""Texts to integers: words by number, all texts in one array.

Stage: kernels (helper). In: lists of texts or of words. Out: flat integer arrays with the start
of every text, which is what the compiled loops read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np


def starts_of(lengths: Iterable[int], n: int) -> np.ndarray:
    """Starts of n pieces of these lengths laid end to end, and their end: int64, shape (n + 1,)."""
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, n), out=starts[1:])
    return starts


def number_words(
    texts: Sequence[Sequence[str]], known: dict[str, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Number the words of all texts; words not in ``known`` are added to it.

    Returns the numbers, int32 (all words,), and the starts of the texts, int64 (texts + 1,).
    """
    starts = starts_of(map(len, texts), len(texts))
    numbers = np.fromiter(
        (known.setdefault(word, len(known)) for words in texts for word in words),
        np.int32,
        int(starts[-1]),
    )
    return numbers, starts


def packed_words(known: Mapping[str, int]) -> np.ndarray:
    """Words without blanks in them, numbered 0, 1, ... in their order, as bytes: uint8."""
    return np.frombuffer(" ".join(known).encode("utf-8", "surrogatepass"), np.uint8)


def unpacked_words(packed: np.ndarray) -> dict[str, int]:
    """The words and their numbers; the empty word, where there is one, is left out."""
    words = packed.tobytes().decode("utf-8", "surrogatepass").split(" ")
    return {word: number for number, word in enumerate(words) if word}
