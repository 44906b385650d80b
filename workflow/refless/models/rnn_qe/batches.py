"""Instances as numbers, and the batches that a pass is made of.

Stage: prediction (RNN-QE, training). In: a table of instances. Out: `Encoded`, batches of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import pandas as pd

Array = np.ndarray
Word = TypeVar("Word", str, int)

LOWEST, HIGHEST, STEP = 1.0, 6.0, 0.5
UNKNOWN = 0
"""The row of a vocabulary that tokens unseen in training share; it embeds them as zeros."""


def vocabulary(sequences: Iterable[Sequence[str]]) -> dict[str, int]:
    """Numbers of the tokens, from 1, in alphabetical order; 0 is left for unknown ones."""
    words = sorted({word for words in sequences for word in words})
    return {word: number for number, word in enumerate(words, start=1)}


def numbered(sequences: Iterable[Sequence[Word]], words: Mapping[Word, int]) -> list[Array]:
    """Tokens as numbers, `UNKNOWN` where not in the vocabulary; int64 (tokens,) each."""
    return [np.array([words.get(word, UNKNOWN) for word in one], np.int64) for one in sequences]


class Encoded:
    """Instances as numbers, with the vocabularies of their training rows.

    Parameters
    ----------
    table : columns id, part (``train``: rated; ``pretrain``: synthetic, for the first passes only;
        ``dev``, ``test``), mr and text (tokens separated by blanks, perhaps none), rating (1..6)
    """

    def __init__(self, table: pd.DataFrame) -> None:
        self.id, self.part = table["id"].to_numpy(object), table["part"].to_numpy(object)
        self.rating = table["rating"].to_numpy(np.float64)
        mr, text = ([words.split() for words in table[name]] for name in ("mr", "text"))
        rows = self.rows("train", "pretrain")
        self.mr_words, self.text_words = (vocabulary(own[r] for r in rows) for own in (mr, text))
        self.mr, self.text = numbered(mr, self.mr_words), numbered(text, self.text_words)

    def rows(self, *parts: str) -> Array:
        """Row numbers of some parts, in order."""
        return np.flatnonzero(np.isin(self.part, parts))

    def batches(self, rows: Array, size: int, generator: np.random.Generator) -> list[Array]:
        """Rows in random batches of about ``size``; see `mixed`."""
        lengths = np.array([[len(own[row]) for row in rows] for own in (self.mr, self.text)])
        count = max(1, -(-len(rows) // size))
        return [rows[batch] for batch in mixed(lengths, count, generator)]


def mixed(lengths: Array, batches: int, generator: np.random.Generator) -> list[Array]:
    """Numbers of rows in random batches, every batch with the same mixture of lengths.

    Rows in random order are sorted by length; of every ``batches`` neighbors in that order, each
    batch gets one. Batches differ in size by one at most, and each row comes once.

    Parameters
    ----------
    lengths : what to sort by, the last row first, shape (keys, rows) as `numpy.lexsort` has it
    """
    count = lengths.shape[-1]
    shuffled = generator.permutation(count)
    order = shuffled[np.lexsort(-lengths[:, shuffled])]
    rounds = -(-count // batches)
    chosen = generator.permuted(np.tile(np.arange(batches), (rounds, 1)), axis=1).ravel()[:count]
    by_batch = np.argsort(chosen, kind="stable")
    return np.split(order[by_batch], np.cumsum(np.bincount(chosen, minlength=batches))[:-1])


def rounded(prediction: Array) -> Array:
    """Predictions as ratings: in steps of 0.5, within 1..6 (the paper, section 2)."""
    return np.clip(np.round(prediction / STEP) * STEP, LOWEST, HIGHEST)
