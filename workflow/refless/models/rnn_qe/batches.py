"""Token sequences of many models, packed so that no step of a recurrent network works on padding.

Stage: prediction (RNN-QE, training). In: instances (tokens of MR and text, rating). Out: batches
of numbers for `network`: one leading axis over models, and rows only where some model has a token.

A batch's sequences are sorted by length and end together, at the last step: the rows that are at
work are a prefix that grows, and the state after the last step is every sequence's last state.

::

    step      0  1  2  3
    row 0     a  b  c  d
    row 1        e  f  g        steps take 1, 2, 2 and 3 rows: 8 tokens, 8 rows
    row 2              h

Models of one stack draw their own batches, yet the packed rows are those of the model with the
most at each step. `deal` therefore gives every batch the same mixture of lengths.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd

from refless.errors import FormatError

Array = np.ndarray
Word = TypeVar("Word", str, int)

COLUMNS = ["id", "part", "mr", "text", "rating"]
PARTS = ("train", "pretrain", "dev", "test")
LOWEST, HIGHEST, STEP = 1.0, 6.0, 0.5
UNKNOWN = 0
"""The row of a vocabulary that tokens unseen in training share; it embeds them as zeros."""


@dataclass(frozen=True)
class Instances:
    """One split of rated texts; all lists have one entry a row.

    part : ``train`` (rated), ``pretrain`` (synthetic, for the first passes only), ``dev``, ``test``
    mr, text : tokens; an empty sequence is encoded as a state of zeros
    rating : 1..6
    """

    id: list[str]
    part: list[str]
    mr: list[list[str]]
    text: list[list[str]]
    rating: list[float]

    def __post_init__(self) -> None:
        for name in ("train", "dev"):
            if name not in self.part:
                raise FormatError(f"no instance is of part {name!r}")

    @classmethod
    def of(cls, table: pd.DataFrame) -> Instances:
        """From a table with the columns `COLUMNS`; tokens are separated by blanks.

        Raises
        ------
        FormatError : an unknown part, a rating outside 1..6, nothing to train on.
        """
        for row, part, rating in table[["id", "part", "rating"]].itertuples(index=False):
            if part not in PARTS:
                raise FormatError(f"{row}: unknown part {part!r}", remedy=f"one of {PARTS}")
            if not LOWEST <= rating <= HIGHEST:
                raise FormatError(f"{row}: rating {rating} is not in 1..6")
        return cls(
            table["id"].tolist(),
            table["part"].tolist(),
            [words.split() for words in table["mr"].fillna("").astype(str)],
            [words.split() for words in table["text"].fillna("").astype(str)],
            table["rating"].astype(float).tolist(),
        )

    def rows(self, *parts: str) -> Array:
        """Row numbers of some parts, in order."""
        return np.flatnonzero(np.isin(np.array(self.part), parts))


class Sequences(NamedTuple):
    """Token numbers of all rows end to end, and where each row starts, shape (rows + 1,)."""

    tokens: Array
    starts: Array

    @property
    def lengths(self) -> Array:
        return np.diff(self.starts)


def vocabulary(sequences: Iterable[Sequence[str]]) -> dict[str, int]:
    """Numbers of the tokens, from 1, in alphabetical order; 0 is left for unknown ones."""
    words = sorted({word for words in sequences for word in words})
    return {word: number for number, word in enumerate(words, start=1)}


def numbered(sequences: Sequence[Sequence[Word]], words: Mapping[Word, int]) -> Sequences:
    """Tokens as numbers, `UNKNOWN` where not in the vocabulary."""
    tokens = [words.get(word, UNKNOWN) for sequence in sequences for word in sequence]
    starts = np.concatenate([[0], np.cumsum([len(sequence) for sequence in sequences])])
    return Sequences(np.array(tokens, np.int64), starts.astype(np.int64))


class Encoded:
    """`Instances` as numbers, with the vocabularies of their training rows.

    digest : a name for the content
    """

    def __init__(self, instances: Instances) -> None:
        self.instances = instances
        self.rating = np.array(instances.rating)
        rows = instances.rows("train", "pretrain")
        self.mr_words = vocabulary(instances.mr[row] for row in rows)
        self.text_words = vocabulary(instances.text[row] for row in rows)
        self.mr = numbered(instances.mr, self.mr_words)
        self.text = numbered(instances.text, self.text_words)
        self.digest = hashlib.sha256(repr(instances).encode()).hexdigest()


class Packed(NamedTuple):
    """Sequences of one batch of each model, see the module's picture.

    tokens : (models, n) token numbers, n rows over all steps
    real : (models, n) whether the model has a token there
    counts : rows of each step, in order; their sum is n
    place : (models, rows) where among the sorted rows each row of the batch is
    """

    tokens: Array
    real: Array
    counts: list[int]
    place: Array


def pack(sequences: Sequence[Sequences], rows: Sequence[Array]) -> Packed:
    """Pack ``rows[m]`` of ``sequences[m]`` for each model m, with empty rows where one has fewer.

    Ties of length keep their order, so a model's part does not depend on the others.
    """
    models, size = len(rows), max(len(own) for own in rows)
    lengths = np.zeros((models, size), np.int64)
    for model, own in enumerate(rows):
        starts = sequences[model].starts
        lengths[model, : len(own)] = starts[own + 1] - starts[own]
    order = np.argsort(-lengths, axis=1, kind="stable")
    place = np.argsort(order, axis=1, kind="stable")
    steps = int(lengths.max(initial=0))
    # rows at work at step t: those of at least steps - t tokens
    longer = np.array([np.bincount(own, minlength=steps + 1) for own in lengths])
    at_work = longer[:, ::-1].cumsum(axis=1)[:, :steps]
    counts = at_work.max(axis=0) if steps else np.zeros(0, np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    tokens = np.zeros((models, int(offsets[-1])), np.int64)
    real = np.zeros(tokens.shape, bool)
    for model, own in enumerate(rows):
        position, source = _positions(lengths[model], order[model], offsets, steps)
        starts = np.zeros(size, np.int64)
        starts[: len(own)] = sequences[model].starts[own]
        tokens[model, position] = sequences[model].tokens[
            starts[order[model]][source[0]] + source[1]
        ]
        real[model, position] = True
    return Packed(tokens, real, counts.tolist(), place)


def _positions(
    lengths: Array, order: Array, offsets: Array, steps: int
) -> tuple[Array, tuple[Array, Array]]:
    """Packed position of every token, in the order of steps, and its (sorted row, place in it)."""
    sorted_lengths = lengths[order]
    row = np.repeat(np.arange(len(order)), sorted_lengths)
    first = np.repeat(np.cumsum(sorted_lengths) - sorted_lengths, sorted_lengths)
    within = np.arange(len(row)) - first
    step = steps - sorted_lengths[row] + within
    position = offsets[step] + row
    by_step = np.argsort(position, kind="stable")
    return position[by_step], (row[by_step], within[by_step])


def deal(lengths: Array, batches: int, generator: np.random.Generator) -> list[Array]:
    """Deal rows into batches at random, every batch with the same mixture of lengths.

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
    hands = generator.permuted(np.tile(np.arange(batches), (rounds, 1)), axis=1).ravel()[:count]
    by_batch = np.argsort(hands, kind="stable")
    return np.split(order[by_batch], np.cumsum(np.bincount(hands, minlength=batches))[:-1])


def distinct(sequences: Sequences, rows: Array) -> tuple[Array, Array]:
    """A row for each distinct sequence among ``rows``, and which of them each row has."""
    seen: dict[bytes, int] = {}
    chosen: list[int] = []
    which = np.empty(len(rows), np.int64)
    for number, row in enumerate(rows.tolist()):
        start, end = sequences.starts[row : row + 2]
        key = sequences.tokens[start:end].tobytes()
        if key not in seen:
            seen[key] = len(chosen)
            chosen.append(row)
        which[number] = seen[key]
    return np.array(chosen, np.int64), which


def rounded(prediction: Array) -> Array:
    """Predictions as ratings: in steps of 0.5, within 1..6 (the paper, section 2)."""
    return np.clip(np.round(prediction / STEP) * STEP, LOWEST, HIGHEST)
