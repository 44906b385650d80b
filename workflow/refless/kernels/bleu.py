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

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from refless.errors import KernelError
from refless.kernels._ngrams import (
    CODES,
    MANY,
    Block,
    Units,
    block_of,
    fill_bleu,
    in_block,
    renumbered,
)
from refless.kernels._plan import Fill, Index
from refless.kernels._texts import number_words, starts_of

WIDTH = 8192
"""Training texts in a block: their counts stay in the fast cache. Below 65,536."""
CHARACTERS = 1 << 21
"""Characters in a block, beyond its first text: bounds its memory where texts are long."""


def index(name: str, training: Sequence[str]) -> Index:
    """Make training texts ready; see ``refless.kernels._plan.Index``."""
    found = BleuIndex(training, ".word" in name, not name.endswith(".unclipped"))
    return Index(len(training), partial(BleuPlan, found))


class BleuIndex:
    """Training texts, block by block: which of them have which units.

    Parameters
    ----------
    words : whether the units are n-grams of words, not of characters
    clipped : see `refless.kernels._ngrams.Units`
    """

    def __init__(self, training: Sequence[str], words: bool, clipped: bool) -> None:
        self.units = Units(clipped)
        self.blocks: dict[tuple[int, int], Block] = {}
        self._known: dict[str, int] | None = {} if words else None
        for start, stop in _pieces(training):
            codes, starts = self._coded(training[start:stop], learn=True)
            units, bounds = self.units.learn(codes, starts)
            block = block_of(units, bounds, self.units.count, np.diff(starts))
            self.blocks[start, stop] = block
        self.units.forget()

    def coded(self, candidates: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Characters or words of candidates as numbers, int32, -1 for a word that no training
        text has; and where texts start, int64 (candidates + 1,)."""
        return self._coded(candidates, learn=False)

    def _coded(self, texts: Sequence[str], learn: bool) -> tuple[np.ndarray, np.ndarray]:
        if self._known is None:
            # One text at a time would be slow; joining does not pair surrogates up.
            points = "".join(texts).encode("utf-32-le", "surrogatepass")
            # compiled code wants to own it
            return np.frombuffer(points, np.int32).copy(), starts_of(map(len, texts), len(texts))
        words = [text.split() for text in texts]
        if learn:
            return number_words(words, self._known)
        starts = starts_of(map(len, words), len(words))
        numbers = (self._known.get(word, -1) for text in words for word in text)
        return np.fromiter(numbers, np.int32, int(starts[-1])), starts


class BleuPlan:
    """Candidates by their units, against an index."""

    def __init__(self, index: BleuIndex, candidates: Sequence[str]) -> None:
        ends = [stop for _, stop in index.blocks]
        self.shape = len(candidates), ends[-1] if ends else 0
        self._index = index
        codes, starts = index.coded(candidates)
        units, self._bounds = index.units.look_up(codes, starts)
        self._different, self._units = renumbered(units, index.units.count)
        self._lengths = np.diff(starts)
        self._roots = np.cbrt(np.arange(int(self._lengths.max(initial=0)) + 1, dtype=np.float64))

    def blocks(self) -> Iterable[tuple[int, int]]:
        """The blocks of the index."""
        return self._index.blocks

    def block(self, start: int, stop: int) -> Fill:
        """Look up the candidates' units in one block of training texts."""
        block = self._index.blocks[start, stop]
        where, rows = in_block(block, self._different, self.shape[0] >= MANY)
        return partial(
            fill_bleu,
            *(self._units, self._bounds, self._lengths, where, block.posts, rows),
            *(block.length_numbers, block.lengths, self._roots),
        )


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
