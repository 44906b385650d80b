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
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from refless.kernels._compiled import compiled
from refless.kernels._plan import Arrays, Fill, even_blocks
from refless.kernels._porter import stems
from refless.kernels._texts import number_words, packed_words, starts_of, unpacked_words

NAMES = ("rouge_l.stem", "rouge_l.plain")
PACKAGES: dict[str, tuple[str, ...]] = {"rouge_l.stem": ("nltk",)}

WIDTH = 16384
"""Training texts in a block."""
LANES = 8
"""Training texts that are read at the same time."""
_WORD = re.compile("[a-z0-9]+")


def plan(name: str, candidates: Sequence[str], training: Sequence[str]) -> RougePlan:
    """Make texts ready for the kernel ``name``; see ``refless.kernels._plan.Plan``."""
    return index(name, training).plan(candidates)


def index(name: str, training: Sequence[str]) -> RougeIndex:
    """Make training texts ready; see ``refless.kernels._plan.Index``."""
    known = {"": 0}
    words, starts = number_words(_words(training, name == "rouge_l.stem"), known)
    return RougeIndex(name == "rouge_l.stem", known, words, starts)


def opened(name: str, arrays: Mapping[str, np.ndarray]) -> RougeIndex:
    """The index of these arrays; see ``refless.kernels._plan.Index``."""
    known = unpacked_words(arrays["known"])
    return RougeIndex(name == "rouge_l.stem", known, arrays["words"], arrays["starts"])


def _words(texts: Sequence[str], stemmed: bool) -> list[list[str]]:
    found = [_WORD.findall(text.lower()) for text in texts]
    if stemmed:
        stem_of = stems({w for words in found for w in words if len(w) > 3})
        found = [[stem_of.get(word, word) for word in words] for words in found]
    return found


class RougeIndex:
    """Training texts as word numbers, from 1.

    known : the number of each word
    words, starts : of the texts, end to end, and where each starts
    """

    def __init__(
        self, stemmed: bool, known: dict[str, int], words: np.ndarray, starts: np.ndarray
    ) -> None:
        self.stemmed, self.known, self.words, self.starts = stemmed, known, words, starts
        self.size = len(starts) - 1

    def plan(self, candidates: Sequence[str]) -> RougePlan:
        """Make candidates ready."""
        return RougePlan(self, candidates)

    def arrays(self) -> Arrays:
        """All that `opened` needs."""
        known = packed_words(self.known if "" in self.known else {"": 0, **self.known})
        return {"known": [known], "words": [self.words], "starts": [self.starts]}


class RougePlan:
    """Candidates as word numbers of their own, from 1, against an index."""

    def __init__(self, index: RougeIndex, candidates: Sequence[str]) -> None:
        self.shape = len(candidates), index.size
        self._index = index
        own = {"": 0}
        self._x, self._x_starts = number_words(_words(candidates, index.stemmed), own)
        # Words that no candidate has cannot match: they count in the length alone.
        self._own_of = np.zeros(max(index.known.values(), default=0) + 1, np.int32)
        for word, number in own.items():
            if word in index.known:
                self._own_of[index.known[word]] = number
        self._room = len(own), -(-int(np.diff(self._x_starts).max(initial=0)) // 64)

    def blocks(self) -> Iterator[tuple[int, int]]:
        return even_blocks(self.shape[1], WIDTH)

    def block(self, start: int, stop: int) -> Fill:
        """Lay training texts of about the same length side by side, LANES at a time.

        The j-th words of a group's texts stand together, 0 where a text is shorter.
        """
        starts = self._index.starts[start : stop + 1]
        words = np.empty(int(starts[-1] - starts[0]), np.int32)
        bounds = np.empty(stop - start + 1, np.int64)
        keep_own(self._index.words, starts, self._own_of, words, bounds)
        sizes = np.diff(bounds)
        order = np.argsort(sizes, kind="stable")
        groups = starts_of(sizes[order][LANES - 1 :: LANES], len(order) // LANES)
        if len(order) % LANES:
            groups = np.append(groups, groups[-1] + sizes[order[-1]])
        side_by_side = np.zeros((groups[-1], LANES), np.int32)
        fill_lanes(words, bounds, order, groups, side_by_side)
        lengths = np.diff(starts).astype(np.float64)

        def fill(first: int, last: int, out: np.ndarray, column: int) -> None:
            fill_lcs(
                self._x,
                self._x_starts,
                side_by_side,
                groups,
                order,
                lengths,
                np.zeros(self._room, np.uint64),
                np.empty(max(LANES, self._room[1]), np.uint64),
                first,
                last,
                out,
                column,
            )

        return fill


@compiled("void(int32[::1], int64[::1], int32[::1], int32[::1], int64[::1])")
def keep_own(
    words: np.ndarray,
    starts: np.ndarray,
    own_of: np.ndarray,
    kept: np.ndarray,
    bounds: np.ndarray,
) -> None:
    """The words that candidates have (0 in ``own_of``: none has it), by the candidates' numbers."""
    n = 0
    bounds[0] = 0
    for text in range(len(starts) - 1):
        for i in range(starts[text], starts[text + 1]):
            own = own_of[words[i]]
            kept[n] = own
            n += own != 0
        bounds[text + 1] = n


@compiled("void(int32[::1], int64[::1], int64[::1], int64[::1], int32[:, ::1])")
def fill_lanes(
    s: np.ndarray,
    bounds: np.ndarray,
    order: np.ndarray,
    groups: np.ndarray,
    side_by_side: np.ndarray,
) -> None:
    """Lay the texts, in this order, side by side; ``groups`` says where groups start."""
    for place in range(len(order)):
        group, lane = place // side_by_side.shape[1], place % side_by_side.shape[1]
        for j in range(bounds[order[place] + 1] - bounds[order[place]]):
            side_by_side[groups[group] + j, lane] = s[bounds[order[place]] + j]


@compiled(
    "void(int32[::1], int64[::1], int32[:, ::1], int64[::1], int64[::1], float64[::1],"
    " uint64[:, ::1], uint64[::1], int64, int64, float64[:, ::1], int64)"
)
def fill_lcs(
    x: np.ndarray,
    x_starts: np.ndarray,
    side_by_side: np.ndarray,
    groups: np.ndarray,
    order: np.ndarray,
    lengths: np.ndarray,
    found: np.ndarray,
    states: np.ndarray,
    first: int,
    last: int,
    out: np.ndarray,
    column: int,
) -> None:
    """F-measure of candidates ``first`` to ``last - 1`` and the texts of a block.

    A candidate is a row of bits, one a word. The zeros in ``state`` stand for a longest common
    subsequence with the part of s read so far, and one addition carries them over the next word
    of s (Crochemore et al. 2001; Hyyro 2004).

    Parameters
    ----------
    x, x_starts : words of the candidates, end to end
    side_by_side, groups, order : words of the training texts, see `RougePlan.block`
    lengths : of the training texts, in words
    found : room, zeros: where in x each word stands, as bits
    states : room for LANES or for the bits of a candidate
    out, column : values go to ``out[:last - first, column:column + texts]``
    """
    one, nothing = np.uint64(1), np.uint64(0)
    lanes = side_by_side.shape[1]
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
                out[candidate - first, column + text] = value
        for i in range(begin, end):
            for w in range(n_bits):
                found[x[i], w] = nothing
