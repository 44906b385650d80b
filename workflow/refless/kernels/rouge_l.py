"""ROUGE-L: F-measure of the longest common subsequence of words.

Stage: kernels. In: candidates x and training texts s. Out: k(x, s) in [0, 1].

    P = lcs(x, s) / |x|,  R = lcs(x, s) / |s|,  k = 2 P R / (P + R) = 2 lcs(x, s) / (|x| + |s|)

(Lin 2004.) Words as in the package ``rouge-score``: runs of a-z and 0-9 in the lower-cased text.

============  =================================================================================
rouge_l.stem  words of more than 3 letters are reduced to their Porter stem. This gives the
              published figures (coverage 0.970 on the summaries of table 1)
rouge_l.plain words as they are (coverage 0.950)
============  =================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from refless.kernels._compiled import compiled
from refless.kernels._plan import Fill, Index, even_blocks
from refless.kernels._texts import number_words, starts_of, stems

WIDTH = 16384
"""Training texts in a block."""
LANES = 8
"""Training texts that are read at the same time."""
_WORD = re.compile("[a-z0-9]+")


def index(name: str, training: Sequence[str]) -> Index:
    """Make training texts ready; see ``refless.kernels._plan.Index``."""
    return Index(len(training), partial(RougePlan, RougeIndex(training, name == "rouge_l.stem")))


class RougeIndex:
    """Training texts as word numbers, from 1.

    known : the number of each word
    words, starts : of the texts, end to end, and where each starts
    """

    def __init__(self, training: Sequence[str], stemmed: bool) -> None:
        self.stemmed = stemmed
        self.known = {"": 0}
        self.words, self.starts = number_words(self.split(training), self.known)

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of texts, or their stems."""
        found = [_WORD.findall(text.lower()) for text in texts]
        if self.stemmed:
            stem_of = stems({w for words in found for w in words if len(w) > 3})
            found = [[stem_of.get(word, word) for word in words] for words in found]
        return found


class RougePlan:
    """Candidates as word numbers of their own, from 1, against an index."""

    def __init__(self, index: RougeIndex, candidates: Sequence[str]) -> None:
        self.shape = len(candidates), len(index.starts) - 1
        self._index = index
        self._own = {"": 0}
        self._x, self._x_starts = number_words(index.split(candidates), self._own)
        # Words that no candidate has cannot match: they count in the length alone.
        self._own_of = np.array([self._own.get(word, 0) for word in index.known], np.int32)

    def blocks(self) -> Iterator[tuple[int, int]]:
        return even_blocks(self.shape[1], WIDTH)

    def block(self, start: int, stop: int) -> Fill:
        """Lay training texts of about the same length side by side, LANES at a time.

        The j-th words of a group's texts stand together, 0 where a text is shorter.
        """
        starts = self._index.starts[start : stop + 1]
        words = self._own_of[self._index.words[starts[0] : starts[-1]]]
        ends = np.append(0, np.cumsum(words > 0))[starts - starts[0]]
        words, sizes = words[words > 0], np.diff(ends)
        order = np.argsort(sizes, kind="stable")
        sizes = sizes[order]
        longest = np.append(sizes[LANES - 1 :: LANES], sizes[-1:][: len(order) % LANES])
        groups = starts_of(longest, len(longest))
        side_by_side = np.zeros((groups[-1], LANES), np.int32)
        place = np.repeat(np.arange(len(order)), sizes)
        step = np.arange(len(words)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        side_by_side[groups[place // LANES] + step, place % LANES] = words[
            ends[order[place]] + step
        ]
        return partial(
            fill_lcs,
            *(self._x, self._x_starts, side_by_side, groups, order),
            np.diff(starts).astype(np.float64),
            len(self._own),
        )


@compiled(
    "void(int32[::1], int64[::1], int32[:, ::1], int64[::1], int64[::1], float64[::1],"
    " int64, int64, int64, float64[:, ::1])"
)
def fill_lcs(
    x: np.ndarray,
    x_starts: np.ndarray,
    side_by_side: np.ndarray,
    groups: np.ndarray,
    order: np.ndarray,
    lengths: np.ndarray,
    words: int,
    first: int,
    last: int,
    out: np.ndarray,
) -> None:
    """F-measure of candidates ``first`` to ``last - 1`` and the texts of a block, into ``out``.

    A candidate is a row of bits, one a word. The zeros in ``state`` stand for a longest common
    subsequence with the part of s read so far, and one addition carries them over the next word
    of s (Crochemore et al. 2001; Hyyro 2004).

    Parameters
    ----------
    x, x_starts : words of the candidates, end to end
    side_by_side, groups, order : words of the training texts, see `RougePlan.block`
    lengths : of the training texts, in words
    words : how many words candidates have
    """
    one, nothing = np.uint64(1), np.uint64(0)
    lanes = side_by_side.shape[1]
    longest = 0
    for candidate in range(first, last):
        longest = max(longest, x_starts[candidate + 1] - x_starts[candidate])
    # where in x each word stands, as bits; and those of the subsequences
    found = np.zeros((words, (longest + 63) // 64), np.uint64)
    states = np.empty(max(lanes, found.shape[1]), np.uint64)
    for candidate in range(first, last):
        begin, end = x_starts[candidate], x_starts[candidate + 1]
        n = end - begin
        n_bits = (n + 63) // 64
        for i in range(n):
            found[x[begin + i], i // 64] |= one << np.uint64(i % 64)
        for group in range(len(groups) - 1):
            width = min(lanes, len(order) - group * lanes)
            if n_bits == 1:
                for lane in range(lanes):
                    states[lane] = ~nothing
                for j in range(groups[group], groups[group + 1]):
                    for lane in range(lanes):
                        state = states[lane]
                        both = state & found[side_by_side[j, lane], 0]
                        states[lane] = (state + both) | (state - both)
            for lane in range(width):
                text = order[group * lanes + lane]
                common = 0
                if n_bits == 1:
                    state = ~states[lane]
                    while state != nothing:
                        state &= state - one
                        common += 1
                else:
                    for w in range(n_bits):
                        states[w] = ~nothing
                    for j in range(groups[group], groups[group + 1]):
                        carry = nothing
                        for w in range(n_bits):
                            state = states[w]
                            both = state & found[side_by_side[j, lane], w]
                            half = state + both
                            total = half + carry
                            carry = np.uint64(half < both or total < carry)
                            states[w] = total | (state - both)
                    for w in range(n_bits):
                        state = ~states[w]
                        while state != nothing:
                            state &= state - one
                            common += 1
                value = 0.0
                if common > 0:
                    # P and R cancel; one rounding, so that what is equal to tau is no less
                    value = 2 * common / (n + lengths[text])
                out[candidate - first, text] = value
        for i in range(begin, end):
            for w in range(n_bits):
                found[x[i], w] = nothing
