"""ROUGE-L: F-measure of the longest common subsequence of words.

Stage: kernels. In: candidates x and training texts s. Out: k(x, s) in [0, 1].

    P = lcs(x, s) / |x|,  R = lcs(x, s) / |s|,  k = 2 P R / (P + R)

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

import numpy as np

from refless.kernels._blocks import Fill, even_blocks
from refless.kernels._compiled import compiled
from refless.kernels._stems import stems
from refless.kernels._texts import number_words

NAMES = ("rouge_l.stem", "rouge_l.plain")
PACKAGES = {"rouge_l.stem": ("nltk",)}

WIDTH = 16384
_WORD = re.compile("[a-z0-9]+")


def plan(name: str, candidates: Sequence[str], training: Sequence[str]) -> RougePlan:
    """Make texts ready for the kernel ``name``; see ``refless.kernels._blocks.Plan``."""
    return RougePlan(candidates, training, name == "rouge_l.stem")


class RougePlan:
    """Candidates and training texts as word numbers."""

    chunk = 16

    def __init__(self, candidates: Sequence[str], training: Sequence[str], stem: bool) -> None:
        self.shape = len(candidates), len(training)
        texts = [_WORD.findall(text.lower()) for text in (*candidates, *training)]
        if stem:
            stem_of = stems({word for words in texts for word in words if len(word) > 3})
            texts = [[stem_of.get(word, word) for word in words] for words in texts]
        known: dict[str, int] = {}
        n = len(candidates)
        self._x, self._x_starts = number_words(texts[:n], known)
        self._n_words = len(known)
        # Words that no candidate has cannot match: they count in the length alone.
        self._lengths = np.fromiter(map(len, texts[n:]), np.int64, len(training))
        kept = [[word for word in words if word in known] for words in texts[n:]]
        self._s, self._s_starts = number_words(kept, known)

    def blocks(self) -> Iterator[tuple[int, int]]:
        return even_blocks(self.shape[1], WIDTH)

    def block(self, start: int, stop: int) -> Fill:
        def fill(first: int, last: int, out: np.ndarray, column: int) -> None:
            fill_lcs(
                self._x,
                self._x_starts,
                self._s,
                self._s_starts,
                self._lengths,
                self._n_words,
                first,
                last,
                start,
                stop,
                out,
                column,
            )

        return fill


@compiled(
    "void(int32[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64, int64, int64, int64,"
    " int64, float64[:, ::1], int64)"
)
def fill_lcs(
    x: np.ndarray,
    x_starts: np.ndarray,
    s: np.ndarray,
    s_starts: np.ndarray,
    lengths: np.ndarray,
    n_words: int,
    first: int,
    last: int,
    start: int,
    stop: int,
    out: np.ndarray,
    column: int,
) -> None:
    """F-measure of candidates ``first`` to ``last - 1`` and texts ``start`` to ``stop - 1``.

    ``x`` and ``s`` are the words of the candidates and the training texts, end to end. A
    candidate is a row of bits, one a word; the zeros in ``state`` mark a longest common
    subsequence with the part of s read so far, and one addition carries it over a word of s
    (Crochemore et al. 2001, Hyyro 2004).
    """
    one = np.uint64(1)
    places = np.zeros(n_words, np.int32)
    for candidate in range(first, last):
        values = out[candidate - first, column : column + stop - start]
        begin, end = x_starts[candidate], x_starts[candidate + 1]
        n = end - begin
        if n == 0:
            values[:] = 0.0
            continue
        n_bits = (n + 63) // 64
        # Row places[w] of bits: where word w stands in x; row 0: nowhere.
        bits = np.zeros((n + 1, n_bits), np.uint64)
        n_places = 0
        for i in range(n):
            word = x[begin + i]
            if places[word] == 0:
                n_places += 1
                places[word] = n_places
            bits[places[word], i // 64] |= one << np.uint64(i % 64)
        states = np.empty(n_bits, np.uint64)
        for text in range(start, stop):
            length = 0
            if n_bits == 1:
                state = ~np.uint64(0)
                for j in range(s_starts[text], s_starts[text + 1]):
                    both = state & bits[places[s[j]], 0]
                    state = (state + both) | (state - both)
                state = ~state
                while state != 0:
                    state &= state - one
                    length += 1
            else:
                states[:] = ~np.uint64(0)
                for j in range(s_starts[text], s_starts[text + 1]):
                    place = places[s[j]]
                    if place == 0:
                        continue
                    carry = np.uint64(0)
                    for w in range(n_bits):
                        state = states[w]
                        both = state & bits[place, w]
                        total = state + both
                        over = total < both
                        total += carry
                        carry = np.uint64(over or total < carry)
                        states[w] = total | (state - both)
                for w in range(n_bits):
                    state = ~states[w]
                    while state != 0:
                        state &= state - one
                        length += 1
            if length == 0:
                values[text - start] = 0.0
            else:
                precision = length / n
                recall = length / lengths[text]
                values[text - start] = 2 * precision * recall / (precision + recall)
        for i in range(begin, end):
            places[x[i]] = 0
