"""Porter's stemmer, nltk's. Stage: kernels (helper). In: words. Out: their stems.

All of nltk comes with it, which takes as long as a kernel's other imports together: so it is
imported when something is stemmed.
"""

from __future__ import annotations

from collections.abc import Iterable


def stems(words: Iterable[str]) -> dict[str, str]:
    """Word -> stem, in lower case."""
    from nltk.stem.porter import PorterStemmer

    stem = PorterStemmer().stem
    return {word: stem(word) for word in words}
