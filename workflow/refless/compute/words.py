"""Texts as arrays of word numbers, for compiled loops: words by number, all texts in one array.

Stage: none. In: texts as lists of words. Out: flat arrays, and where each text starts.
"""

import re
from collections.abc import Callable, Iterable, Sequence, Set
from functools import cache

import numpy as np

LONGEST_WORD = 8
"""Letters of a word in a script without blanks between words: more are several words."""
# Thai, Lao, Tibetan, Burmese, Khmer, kana, Chinese characters
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)


def share_of_letters(text: str, known: Set[str]) -> float:
    """Which share of a text's letters, in lower case, is among those that are known; of a text
    without letters, which share of its digits. 0 of a text without either.

    >>> share_of_letters("A 5", frozenset("abc")), share_of_letters("Да", frozenset("abc"))
    (1.0, 0.0)
    """
    lower = text.lower()
    letters = [c for c in lower if c.isalpha()] or [c for c in lower if c.isdigit()]
    return sum(c in known for c in letters) / len(letters) if letters else 0.0


def share_in_words(text: str) -> float:
    """Which share of a text's letters stands in words between blanks, and not in runs of several
    words, as Chinese and Thai have them unless blanks are put between; 0 of a text of blanks.

    >>> share_in_words("two words"), share_in_words("一二三四五六七八九十")
    (1.0, 0.0)
    """
    words = text.split()
    letters = in_runs = 0
    for word in words:
        number = sum(map(str.isalpha, word))
        letters += number
        if len(_WITHOUT_BLANKS.findall(word)) > LONGEST_WORD:
            in_runs += number
    return 1 - in_runs / letters if letters else float(bool(words))


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
