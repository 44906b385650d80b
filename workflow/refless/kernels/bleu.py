"""BLEU*: geometric mean of 2-, 3- and 4-gram precision, of characters or words.

Stage: kernels. In: candidates x and training texts s. Out: k(x, s) in [0, 1].

    k(x, s) = exp(min(0, 1 - |s| / |x|)) * (P2 * P3 * P4) ** (1 / 3)

(Ethayarajh & Sadigh 2020, section 3.) Pn is the share of the n-grams of x that s has; 0 if any
of them is 0, as for a text of fewer than 4 units. Units are characters (``bleu.char``, of the
published figures), blanks counted, or words between blanks. Clipped, an n-gram counts at most as
often as s has it; ``.unclipped``, wherever s has it at all, as equation 1 is written.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from refless.compute.words import number_words, starts_of
from refless.errors import KernelError
from refless.kernels._blocks import Fill, Index, even_blocks
from refless.kernels._ngrams import Block, block_of, empty_table, fill_bleu, in_block, number_units

WIDTH = 8192
"""Training texts in a block: their counts stay in the fast cache. Below 65,536."""
MOST = 1 << 30
"""Units have numbers below this one, and a block has no more of them."""


def index(name: str, training: Sequence[str]) -> Index:
    """Make training texts ready; see ``refless.kernels._blocks.Index``."""
    return Index(len(training), BleuIndex(training, name).look_up)


class BleuIndex:
    """Training texts, block by block: which of them have which units (see ``_ngrams``)."""

    def __init__(self, training: Sequence[str], name: str) -> None:
        self._words: dict[str, int] | None = {} if ".word" in name else None
        self._clipped = not name.endswith(".unclipped")
        self._blocks: list[tuple[int, int, Block]] = []
        self._table, met = empty_table()
        self._count = 0
        for start, stop in even_blocks(len(training), WIDTH):
            codes, starts = self._coded(training[start:stop], self._words)
            units, bounds, self._table, met, self._count = number_units(
                codes, starts, self._table, met, self._count, start, True, self._clipped
            )
            if max(self._count, len(units)) > MOST:
                raise KernelError("too many different n-grams", remedy="train on fewer texts")
            block = block_of(units, bounds[::3], self._count, np.diff(starts))
            self._blocks.append((start, stop, block))

    def look_up(self, candidates: Sequence[str]) -> Iterator[tuple[int, int, Fill]]:
        """Look up the candidates' units in each block of training texts."""
        codes, starts = self._coded(candidates, self._words and self._words.copy())
        met = np.zeros((self._count, 2), np.int32)
        units, bounds, *_ = number_units(
            codes, starts, self._table, met, self._count, 0, False, self._clipped
        )
        different = np.flatnonzero(np.bincount(units, minlength=self._count)).astype(np.int32)
        numbers = np.empty(self._count, np.int32)
        numbers[different] = np.arange(len(different))
        lengths = np.diff(starts)
        roots = np.cbrt(np.arange(int(lengths.max(initial=0)) + 1, dtype=np.float64))
        for start, stop, block in self._blocks:
            where, rows = in_block(block, different, len(candidates))
            fill = partial(
                fill_bleu,
                *(numbers[units], bounds, lengths, where, block.posts, rows),
                *(block.length_numbers, block.lengths, roots),
            )
            yield start, stop, fill

    def _coded(
        self, texts: Sequence[str], words: dict[str, int] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Characters or words as numbers, int32; and where texts start, int64 (texts + 1,)."""
        if words is not None:
            return number_words([text.split() for text in texts], words)
        # One text at a time would be slow; joining does not pair surrogates up.
        points = "".join(texts).encode("utf-32-le", "surrogatepass")
        # compiled code wants to own it
        return np.frombuffer(points, np.int32).copy(), starts_of(map(len, texts), len(texts))
