"""Instances as numbers, and the batches that an epoch is made of.

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
    """Numbers of the tokens, from 1, in alphabetical order.

    >>> vocabulary([["near", "a", "park"], ["a", "pub"]])
    {'a': 1, 'near': 2, 'park': 3, 'pub': 4}
    """
    tokens = sorted({token for sequence in sequences for token in sequence})
    return {token: number for number, token in enumerate(tokens, start=1)}


def token_numbers(sequences: Iterable[Sequence[Any]], vocabulary: Mapping[Any, int]) -> list[Array]:
    """Tokens as numbers, `UNKNOWN` where not in the vocabulary; int64 (tokens,) each.

    >>> token_numbers([["a", "new", "pub"]], {"a": 1, "pub": 2})
    [array([1, 0, 2])]
    """
    return [
        np.array([vocabulary.get(t, UNKNOWN) for t in tokens], np.int64) for tokens in sequences
    ]


class Encoded:
    """Instances (`refless.models.rnn_qe.data.INSTANCE_COLUMNS`) as numbers.

    id, part, rating : columns of the table, shape (rows,)
    mr, text : numbers of the tokens of each row
    mr_words, text_words : vocabularies of the training rows

    >>> columns = {"id": ["a", "b"], "part": ["train", "test"], "mr": "", "rating": 6.0}
    >>> Encoded(pd.DataFrame({**columns, "text": ["a pub", "no pub"]})).text
    [array([1, 2]), array([0, 2])]
    """

    def __init__(self, table: pd.DataFrame) -> None:
        self.id, self.part = table["id"].to_numpy(object), table["part"].to_numpy(object)
        self.rating = table["rating"].to_numpy(np.float64)
        mr, text = ([tokens.split() for tokens in table[name]] for name in ("mr", "text"))
        training = self.rows("train", "pretrain")
        self.mr_words = vocabulary(mr[row] for row in training)
        self.text_words = vocabulary(text[row] for row in training)
        self.mr, self.text = token_numbers(mr, self.mr_words), token_numbers(text, self.text_words)

    def rows(self, *parts: str) -> Array:
        """Row numbers of some parts, in order."""
        return np.flatnonzero(np.isin(self.part, parts))

    def inputs(self, rows: Array) -> tuple[list[Array], list[Array]]:
        """Token numbers of the MRs and of the texts of some rows."""
        return [self.mr[row] for row in rows], [self.text[row] for row in rows]

    def batches(self, rows: Array, size: int, generator: np.random.Generator) -> list[Array]:
        """Rows in random batches of about ``size``; see `mixed`."""
        lengths = np.array([[len(tokens) for tokens in side] for side in self.inputs(rows)])
        count = max(1, -(-len(rows) // size))
        return [rows[batch] for batch in mixed(lengths, count, generator)]


def mixed(lengths: Array, batches: int, generator: np.random.Generator) -> list[Array]:
    """Numbers of rows in random batches of the same mixture of ``lengths``, (keys, rows) as
    `numpy.lexsort` has them: of every ``batches`` neighbors in that order, each batch gets one.

    >>> mixed(np.array([[3, 9, 4, 8]]), batches=2, generator=np.random.default_rng(0))
    [array([3, 2]), array([1, 0])]
    """
    count = lengths.shape[-1]
    shuffled = generator.permutation(count)
    order = shuffled[np.lexsort(-lengths[:, shuffled])]
    rounds = -(-count // batches)
    batch_of = generator.permuted(np.tile(np.arange(batches), (rounds, 1)), axis=1).ravel()[:count]
    by_batch = np.argsort(batch_of, kind="stable")
    return np.split(order[by_batch], np.cumsum(np.bincount(batch_of, minlength=batches))[:-1])
