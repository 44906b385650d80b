"""When two texts are one: by their letters and digits alone. Stage: ratings.

Used wherever a text that was rated must not stand beside itself. Files have texts as written or as
tokens, in many spellings (``don't``, ``do n't``, wide letters, curly quotes).
"""

import re
import unicodedata
from collections.abc import Iterable

import numpy as np


def wording(text: str) -> str:
    """A text's letters and digits in lower case; of a text that has none, its marks."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return re.sub(r"[\W_]+", "", folded) or "".join(folded.split())


def numbered(texts: Iterable[str], apart: bool = False) -> np.ndarray:
    """The number of each text among the different ones, by `wording`, int64, from 0 in their order;
    with ``apart``, each blank one has its own."""
    return numbers(map(wording, texts), apart)


def numbers(labels: Iterable[object], apart: bool = False) -> np.ndarray:
    """The number of each label among the different ones; parameters as of `numbered`."""
    first: dict[object, int] = {}
    own = (label or row for row, label in enumerate(labels)) if apart else labels
    return np.array([first.setdefault(label, len(first)) for label in own], np.int64)
