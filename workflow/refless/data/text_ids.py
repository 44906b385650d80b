"""Which texts count as equal: those with the same letters and digits. Stage: ratings.

Equal texts must not be on both sides of a split. Files have texts as written or as tokens, in many
spellings (``don't``, ``do n't``, wide letters, curly quotes).
"""

import re
import unicodedata
from collections.abc import Iterable

import numpy as np


def normalize_text(text: str) -> str:
    """A text's letters and digits in lower case; of a text that has none, its marks."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return re.sub(r"[\W_]+", "", folded) or "".join(folded.split())


def text_ids(texts: Iterable[str], separate_blank: bool = False) -> np.ndarray:
    """A number for each text, equal for texts that are equal by `normalize_text`; int64 (texts,).

    The numbers are 0, 1, ... in order of first appearance. With ``separate_blank``, each blank text
    has a number of its own.
    """
    return label_ids(map(normalize_text, texts), separate_blank)


def label_ids(labels: Iterable[object], separate_blank: bool = False) -> np.ndarray:
    """A number for each label, equal for equal labels; otherwise as `text_ids`."""
    first: dict[object, int] = {}
    if separate_blank:
        labels = (label or row for row, label in enumerate(labels))
    return np.array([first.setdefault(label, len(first)) for label in labels], np.int64)
