"""Porter stems, as nltk makes them.

Stage: kernels (helper). In: words. Out: their stems, each word stemmed once.
"""

from __future__ import annotations

from collections.abc import Iterable


def stems(words: Iterable[str]) -> dict[str, str]:
    """The stem of each word: nltk's ``PorterStemmer`` with its own extensions, its default.

    nltk is imported here because that takes seconds.
    """
    from nltk.stem.porter import PorterStemmer

    stemmer = PorterStemmer()
    return {word: stemmer.stem(word) for word in set(words)}
