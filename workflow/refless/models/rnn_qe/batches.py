"""Instances as numbers, and the batches that a pass is made of.

Stage: prediction (RNN-QE, training). In: a table of instances. Out: `Encoded`, batches of rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

Array = np.ndarray

UNKNOWN = 0
"""The row of a vocabulary that tokens unseen in training share; it embeds them as zeros."""


def vocabulary(sequences: Iterable[Sequence[str]]) -> dict[str, int]:
    """Numbers of the tokens, from 1, in alphabetical order."""
    words = sorted({word for words in sequences for word in words})
    return {word: number for number, word in enumerate(words, start=1)}


def numbered(sequences: Iterable[Sequence[Any]], words: Mapping[Any, int]) -> list[Array]:
    """Tokens as numbers, `UNKNOWN` where not in the vocabulary; int64 (tokens,) each."""
    return [np.array([words.get(word, UNKNOWN) for word in one], np.int64) for one in sequences]


class Encoded:
    """Instances (`refless.models.rnn_qe.data.COLUMNS`) as numbers, with the vocabularies of their
    training rows."""

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

    def inputs(self, rows: Array) -> tuple[list[Array], list[Array]]:
        """Token numbers of the MRs and of the texts of some rows."""
        return [self.mr[row] for row in rows], [self.text[row] for row in rows]

    def batches(self, rows: Array, size: int, generator: np.random.Generator) -> list[Array]:
        """Rows in random batches of about ``size``; see `mixed`."""
        lengths = np.array([[len(one) for one in own] for own in self.inputs(rows)])
        count = max(1, -(-len(rows) // size))
        return [rows[batch] for batch in mixed(lengths, count, generator)]


def mixed(lengths: Array, batches: int, generator: np.random.Generator) -> list[Array]:
    """Numbers of rows in random batches of the same mixture of ``lengths``, (keys, rows) as
    `numpy.lexsort` has them: of every ``batches`` neighbors in that order, each batch gets one."""
    count = lengths.shape[-1]
    shuffled = generator.permutation(count)
    order = shuffled[np.lexsort(-lengths[:, shuffled])]
    rounds = -(-count // batches)
    chosen = generator.permuted(np.tile(np.arange(batches), (rounds, 1)), axis=1).ravel()[:count]
    by_batch = np.argsort(chosen, kind="stable")
    return np.split(order[by_batch], np.cumsum(np.bincount(chosen, minlength=batches))[:-1])
