"""When texts count as equal: by a fold key, or more narrowly by a merge key. Stage: ratings.

Texts of one *fold key* must not be on both sides of a split: files have texts as written or as
tokens, in many spellings (``don't``, ``do n't``, wide letters, curly quotes), so signs do not
count. What has one *merge key* is one thing, whose ratings may be averaged: signs count there,
since ``C++`` is not ``C#`` and ``-5`` not ``5``.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

_LETTER = re.compile(r"[^\W_]")
_SIGNS = re.compile(r"[\W_]+")


def merge_key(text: str) -> str:
    """A text in NFC and lower case, with one blank where it has some.

    >>> merge_key("So  ok ") == merge_key("so OK") != merge_key("so ok.")
    True
    """
    composed = unicodedata.normalize("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", composed).split())


def fold_key(text: str) -> str:
    """A text's letters, digits and marks, such as vowel signs, in lower case; of a text without
    letters and digits, all its signs.

    >>> fold_key("So ok.") == fold_key("so, ok") != fold_key("so, okay")
    True
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if not _LETTER.search(folded):
        return "".join(folded.split())
    return _SIGNS.sub(lambda run: _marks(run[0]), folded)


@lru_cache(4096)
def _marks(signs: str) -> str:
    """Marks of letters (Unicode's category M) among signs; but what only says how an emoji looks is
    none."""
    return "".join(
        sign
        for sign in signs
        if unicodedata.category(sign)[0] == "M" and "VARIATION" not in unicodedata.name(sign, "")
    )


def text_ids(texts: Iterable[str], separate_blank: bool = False) -> np.ndarray:
    """A number for each text, equal for texts of one `fold_key`; int64 (texts,).

    The numbers are 0, 1, ... in order of first appearance. With ``separate_blank``, each blank text
    has a number of its own.
    """
    return label_ids(map(fold_key, texts), separate_blank)


def label_ids(labels: Iterable[object], separate_blank: bool = False) -> np.ndarray:
    """A number for each label, equal for equal labels; otherwise as `text_ids`."""
    first: dict[object, int] = {}
    if separate_blank:
        labels = (label or row for row, label in enumerate(labels))
    return np.array([first.setdefault(label, len(first)) for label in labels], np.int64)
