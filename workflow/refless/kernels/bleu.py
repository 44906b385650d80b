"""BLEU*: geometric mean of 2-, 3- and 4-gram precision, of characters or words.

Stage: kernels. In: candidates x and training texts s. Out: k(x, s) in [0, 1].

    k(x, s) = exp(min(0, 1 - |s| / |x|)) * (P2 * P3 * P4) ** (1 / 3)

(Ethayarajh & Sadigh 2020, section 3.) Pn is the share of the n-grams of x that s has; 0 if any
of them is 0, as for a text of fewer than 4 units.

==================  ==========================================================================
bleu.char           characters, blanks counted; clipped: an n-gram counts at most as often as s
                    has it. This gives the published figures.
bleu.word           words between blanks, clipped: what a reader would expect. On the summaries
                    of table 1 no candidate gets 5 neighbors at the published tau.
bleu.char.unclipped an n-gram of x counts wherever s has it at all, as equation 1 is written
bleu.word.unclipped
==================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from refless.errors import KernelError
from refless.kernels._ngrams import (
    AT_ONCE,
    CODES,
    MANY,
    Block,
    Numbers,
    block_of,
    fill_bleu,
    in_block,
    renumbered,
)
from refless.kernels._plan import Arrays, Fill
from refless.kernels._texts import number_words, packed_words, starts_of, unpacked_words

NAMES = ("bleu.char", "bleu.word", "bleu.char.unclipped", "bleu.word.unclipped")
PACKAGES: dict[str, tuple[str, ...]] = {}

WIDTH = 8192
"""Training texts in a block: their counts stay in the fast cache. Below 65,536."""
CHARACTERS = 1 << 21
"""Characters in a block, beyond its first text: bounds its memory where texts are long."""


def plan(name: str, candidates: Sequence[str], training: Sequence[str]) -> BleuPlan:
    """Make texts ready for the kernel ``name``; see ``refless.kernels._plan.Plan``."""
    return index(name, training).plan(candidates)


def index(name: str, training: Sequence[str]) -> BleuIndex:
    """Make training texts ready; see ``refless.kernels._plan.Index``."""
    return BleuIndex(".word" in name, not name.endswith(".unclipped")).learn(training)


def opened(name: str, arrays: Mapping[str, np.ndarray]) -> BleuIndex:
    """The index of these arrays; see ``refless.kernels._plan.Index``."""
    found = BleuIndex(".word" in name, not name.endswith(".unclipped"))
    found.take(arrays)
    return found


class BleuIndex:
    """Training texts, block by block: which of them have which units.

    Parameters
    ----------
    words : whether the units are n-grams of words, not of characters
    clipped : see `refless.kernels._ngrams.Numbers.learn`
    """

    def __init__(self, words: bool, clipped: bool) -> None:
        self.clipped = clipped
        self.numbers = Numbers()
        self.starts = [0]  # of the blocks, in training texts
        self._blocks: list[Block] = []
        self._known: dict[str, int] | None = {} if words else None

    @property
    def size(self) -> int:
        return self.starts[-1]

    def learn(self, training: Sequence[str]) -> BleuIndex:
        """Read the training texts."""
        for start, stop in _pieces(training):
            codes, bounds = self._coded(training[start:stop], learn=True)
            units, unit_bounds = self.numbers.learn(codes, bounds, self.clipped)
            self._blocks.append(block_of(units, unit_bounds, self.numbers.count, np.diff(bounds)))
            self.starts.append(stop)
        self.ready()
        return self

    def ready(self) -> None:
        """All training texts are read."""
        self.numbers.done()

    def plan(self, candidates: Sequence[str]) -> BleuPlan:
        """Make candidates ready."""
        return BleuPlan(self, candidates)

    def coded(self, candidates: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Characters or words of candidates as numbers, int32, -1 for a word that no training
        text has; and where texts start, int64 (candidates + 1,)."""
        return self._coded(candidates, learn=False)

    def block(self, start: int) -> Block:
        """The block that begins with this training text."""
        return self._blocks[int(np.searchsorted(self.starts, start))]

    def _coded(self, texts: Sequence[str], learn: bool) -> tuple[np.ndarray, np.ndarray]:
        if self._known is None:
            starts = starts_of(map(len, texts), len(texts))
            # One text at a time would be slow; joining does not pair surrogates up.
            points = "".join(texts).encode("utf-32-le", "surrogatepass")
            return np.frombuffer(points, np.int32).copy(), starts  # compiled code wants to own it
        words = [text.split() for text in texts]
        if learn:
            return number_words(words, self._known)
        starts = starts_of(map(len, words), len(words))
        known = self._known
        numbers = (known.get(word, -1) for text in words for word in text)
        return np.fromiter(numbers, np.int32, int(starts[-1])), starts

    def arrays(self) -> Arrays:
        """All that `take` needs."""
        found: Arrays = {
            "table": [self.numbers.table],
            "count": [np.array([self.numbers.count], np.int64)],
            "blocks": [np.array(self.starts, np.int64)],
        }
        for field in Block._fields:
            parts = [getattr(block, field) for block in self._blocks]
            found[field] = parts
            found[f"{field}_starts"] = [starts_of(map(len, parts), len(parts))]
        if self._known is not None:
            found["words"] = [packed_words(self._known)]
        return found

    def take(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Read what `arrays` gave; nothing is copied but words."""
        self.numbers = Numbers(arrays["table"], int(arrays["count"][0]))
        self.starts = arrays["blocks"].tolist()
        bounds = {field: arrays[f"{field}_starts"].tolist() for field in Block._fields}
        self._blocks = [
            Block(*(arrays[f][bounds[f][k] : bounds[f][k + 1]] for f in Block._fields))
            for k in range(len(self.starts) - 1)
        ]
        if self._known is not None:
            self._known = unpacked_words(arrays["words"])


class BleuPlan:
    """Candidates by their units, against an index."""

    def __init__(self, index: BleuIndex, candidates: Sequence[str]) -> None:
        self.shape = len(candidates), index.size
        self._index = index
        codes, starts = index.coded(candidates)
        units, self._bounds = index.numbers.look_up(codes, starts, index.clipped)
        self._different, self._units = renumbered(units, index.numbers.count)
        self._lengths = np.diff(starts)
        self._roots = np.cbrt(np.arange(int(self._lengths.max(initial=0)) + 1, dtype=np.float64))

    def blocks(self) -> Iterator[tuple[int, int]]:
        """The blocks of the index."""
        yield from zip(self._index.starts[:-1], self._index.starts[1:], strict=True)

    def block(self, start: int, stop: int) -> Fill:
        """Look up the candidates' units in one block of training texts."""
        block = self._index.block(start)
        where, rows = in_block(block, self._different, self.shape[0] >= MANY)

        def fill(first: int, last: int, out: np.ndarray, column: int) -> None:
            fill_bleu(
                self._units,
                self._bounds,
                self._lengths,
                where,
                block.posts,
                rows,
                block.length_numbers,
                block.lengths,
                self._roots,
                np.empty((3, stop - start), np.uint32),
                np.empty(stop - start, np.uint8),
                np.empty(len(block.lengths), np.float64),
                np.empty((3, len(self._roots)), np.float64),
                np.empty(AT_ONCE, np.int64),
                first,
                last,
                out,
                column,
            )

        return fill


def _pieces(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Blocks of at most WIDTH texts and, beyond the first of them, CHARACTERS characters."""
    ends = starts_of(map(len, texts), len(texts))
    if (longest := int(np.diff(ends).max(initial=0))) >= CODES:
        raise KernelError(f"a text of {longest} characters is too long", remedy="cut it")
    start = 0
    while start < len(texts):
        full = int(np.searchsorted(ends, ends[start] + CHARACTERS, side="right")) - 1
        stop = min(max(full, start + 1), start + WIDTH, len(texts))
        yield start, stop
        start = stop
