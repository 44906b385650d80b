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

from collections.abc import Iterator, Sequence

import numpy as np

from refless.errors import KernelError
from refless.kernels._ngrams import AT_ONCE, fill_bleu, index_of, units_of
from refless.kernels._plan import Fill
from refless.kernels._texts import number_words, starts_of

NAMES = ("bleu.char", "bleu.word", "bleu.char.unclipped", "bleu.word.unclipped")
PACKAGES: dict[str, tuple[str, ...]] = {}

WIDTH = 8192
"""Training texts in a block: their counts stay in the fast cache. Below 65,536."""
UNITS = 1 << 22
"""N-grams in a block, which bounds its memory where texts are long (about 32 bytes each)."""


def plan(name: str, candidates: Sequence[str], training: Sequence[str]) -> BleuPlan:
    """Make texts ready for the kernel ``name``; see ``refless.kernels._plan.Plan``."""
    return BleuPlan(candidates, training, ".word" in name, not name.endswith(".unclipped"))


class BleuPlan:
    """Candidates and training texts as n-gram numbers."""

    def __init__(
        self, candidates: Sequence[str], training: Sequence[str], words: bool, clipped: bool
    ) -> None:
        self.shape = len(candidates), len(training)
        texts = [*training, *candidates]
        if words:
            known: dict[str, int] = {}
            codes, starts = number_words([text.split() for text in texts], known)
            n_codes = len(known)
        else:
            codes, starts, n_codes = _characters(texts)
        if len(codes) >= 2**31 - 4:
            raise KernelError(
                f"{len(codes)} characters are too many for one matrix",
                remedy="score the candidates in several parts",
            )
        n = len(training)
        lengths = np.diff(starts)
        self._units, self._bounds, self._n_units = units_of(codes, starts, n, n_codes, clipped)
        self._training_lengths, self._lengths = lengths[:n], lengths[n:].copy()
        self._candidate_bounds = self._bounds[3 * n :]
        self._roots = np.cbrt(np.arange(int(self._lengths.max(initial=0)) + 1, dtype=np.float64))

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Blocks of at most WIDTH training texts and, beyond the first text, UNITS units."""
        starts = self._bounds[: 3 * self.shape[1] + 1 : 3]
        start = 0
        while start < self.shape[1]:
            full = int(np.searchsorted(starts, starts[start] + UNITS, side="right")) - 1
            stop = min(max(full, start + 1), start + WIDTH, self.shape[1])
            yield start, stop
            start = stop

    def block(self, start: int, stop: int) -> Fill:
        """Index one block of training texts."""
        where, posts, rows = index_of(self._units, self._bounds, start, stop, self._n_units)
        lengths, numbers = np.unique(self._training_lengths[start:stop], return_inverse=True)
        length_numbers = numbers.astype(np.uint32)

        def fill(first: int, last: int, out: np.ndarray, column: int) -> None:
            fill_bleu(
                self._units,
                self._candidate_bounds,
                self._lengths,
                where,
                posts,
                rows,
                length_numbers,
                lengths,
                self._roots,
                np.empty((3, stop - start), np.uint32),
                np.empty(stop - start, np.uint8),
                np.empty(len(lengths), np.float64),
                np.empty((3, len(self._roots)), np.float64),
                np.empty(AT_ONCE, np.int64),
                first,
                last,
                out,
                column,
            )

        return fill


def _characters(texts: list[str]) -> tuple[np.ndarray, np.ndarray, int]:
    """Number the characters (code points, lone surrogates as well) of all texts."""
    starts = starts_of(map(len, texts), len(texts))
    # One text at a time would be slow; joining does not pair surrogates up.
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    seen = np.zeros(0x110000, bool)
    seen[points] = True
    numbers = np.cumsum(seen, dtype=np.int32) - 1
    return numbers[points], starts, int(seen.sum())
