"""When two texts are one: by their letters and digits alone. Stage: ratings.

Used wherever a text that was rated must not stand beside itself. Files have texts as written or as
tokens, in many spellings (``don't``, ``do n't``, wide letters, curly quotes).
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np

ASIDE = "case, forms of letters, marks and blanks aside"
"""What `wording` does not count."""


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


def together(*labels: Sequence[object] | np.ndarray) -> np.ndarray:
    """Number of each row's group, int64 (rows,), in the order of the rows: rows that share a label
    are in one, of labels of the same place; and so are rows that share none, but each one with a
    third row."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = len(labels[0])
    ends = np.concatenate([rows * place + numbers(own) for place, own in enumerate(labels, 1)])
    pairs = np.tile(np.arange(rows), len(labels)), ends
    graph = coo_array((np.ones(len(ends)), pairs), shape=(max(rows, 1) * (len(labels) + 1),) * 2)
    return connected_components(graph, directed=False)[1][:rows].astype(np.int64)


def in_folds(group: np.ndarray, folds: int, generator: np.random.Generator) -> np.ndarray:
    """The fold of each row, int64 (rows,), by the number of its group: of whole groups, the largest
    goes first, each to the fold that has least, in random order where they are equally large."""
    sizes = np.bincount(group)
    order = generator.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    filled = np.zeros(min(folds, len(sizes)), np.int64)
    fold_of = np.empty(len(sizes), np.int64)
    for number in order:
        fold_of[number] = int(np.argmin(filled))
        filled[fold_of[number]] += sizes[number]
    return fold_of[group]
