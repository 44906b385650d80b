"""When two texts are one: by their letters and digits alone. Stage: ratings.

Used wherever a text that was rated must not stand beside itself: folds, groups that are resampled,
warnings of repeated texts. Files have texts as written or as tokens, in many spellings (``don't``,
``do n't``, wide letters, curly quotes), so whatever is no letter and no digit does not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

ASIDE = "case, forms of letters, marks and blanks aside"
"""What `wording` does not count."""


def wording(text: str) -> str:
    """A text's letters and digits in lower case, by which it is compared with others; of a text
    that has none, its marks."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return re.sub(r"[\W_]+", "", folded) or "".join(folded.split())


def numbered(texts: Iterable[str]) -> np.ndarray:
    """The number of each text among the different ones, by `wording`, from 0 in their order."""
    first: dict[str, int] = {}
    return np.array([first.setdefault(wording(text), len(first)) for text in texts], np.int64)


def among(texts: Iterable[str], known: Iterable[str]) -> list[bool]:
    """Which texts stand among the known ones, by `wording`."""
    there = set(map(wording, known))
    return [wording(text) in there for text in texts]


def together(*labels: Sequence[object] | np.ndarray) -> np.ndarray:
    """Number of each row's group, int64 (rows,), in the order of the rows: rows that share a label
    are in one, of labels of the same place; and so are rows that share none, but each one with a
    third row."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = len(labels[0])
    first: list[dict[object, int]] = [{} for _ in labels]
    numbered = [
        [known.setdefault(one, len(known)) for one in own]
        for known, own in zip(first, labels, strict=True)
    ]
    wide = max(rows, 1)
    ends = np.concatenate([wide * place + np.array(own) for place, own in enumerate(numbered, 1)])
    pairs = (np.ones(len(ends)), (np.tile(np.arange(rows), len(labels)), ends.astype(np.int64)))
    graph = coo_array(pairs, shape=(wide * (len(labels) + 1),) * 2)
    return connected_components(graph, directed=False)[1][:rows].astype(np.int64)


RUN = 8
"""Words in a row that two texts have in common only if one has them of the other, or both of a
third."""


def overlapping(texts: Iterable[str]) -> int:
    """How many different texts begin with another one, or have `RUN` words in a row of another one,
    as histories and windows of a dialogue do, or questions on one passage; words by `wording`. A
    run that more than half of the texts have is an instruction, and does not count."""
    split = (re.split(r"[\W_]+", text) for text in texts)
    every = sorted({tuple(filter(None, map(wording, own))) for own in split} - {()})
    runs = [{hash(text[k : k + RUN]) for k in range(len(text) - RUN + 1)} for text in every]
    often = Counter(run for own in runs for run in own)
    starts: list[tuple[str, ...]] = []
    found = 0
    for text, own in zip(every, runs, strict=True):
        while starts and text[: len(starts[-1])] != starts[-1]:
            starts.pop()
        found += bool(starts) or any(1 < often[run] <= len(every) / 2 for run in own)
        starts.append(text)
    return found


def repeats(texts: Sequence[str]) -> int:
    """How many texts repeat an earlier one, by `wording`."""
    return len(texts) - len(set(map(wording, texts)))


def exactly(text: str) -> str:
    """A text with its marks, for which case, blanks and composed letters alone do not count: for
    ratings that are averaged, where a mark may be all that tells two texts apart."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
