"""ROUGE-L: F-measure of the longest common subsequence of words.

Stage: kernels. In: candidates x and training texts s. Out: k(x, s) in [0, 1].

    P = lcs(x, s) / |x|,  R = lcs(x, s) / |s|,  k = 2 P R / (P + R) = 2 lcs(x, s) / (|x| + |s|)

(Lin 2004.) Words as in the package ``rouge-score``: runs of a-z and 0-9 in the lower-cased text;
in ``rouge_l.stem``, of the published figures, those of more than 3 letters as Porter stems.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from refless.compute.compiled import compiled
from refless.compute.words import number_words, starts_of, stems
from refless.kernels._blocks import Fill, Index, even_blocks

WIDTH = 16384
"""Training texts in a block."""
LANES = 8
"""Training texts that are read at the same time."""
_WORD = re.compile("[a-z0-9]+")


def index(name: str, training: Sequence[str]) -> Index:
    """Make training texts ready; see ``refless.kernels._blocks.Index``."""
    known = {"": 0}
    words, starts = number_words(_split(name, training), known)
    return Index(len(training), partial(_blocks, name, known, words, starts))


def _split(name: str, texts: Sequence[str]) -> list[list[str]]:
    found = [_WORD.findall(text.lower()) for text in texts]
    if name == "rouge_l.stem":
        stem_of = stems({w for words in found for w in words if len(w) > 3})
        found = [[stem_of.get(word, word) for word in words] for words in found]
    return found


def _blocks(
    name: str,
    known: dict[str, int],
    words: np.ndarray,
    starts: np.ndarray,
    candidates: Sequence[str],
) -> Iterator[tuple[int, int, Fill]]:
    """Number the candidates' words anew, from 1, and lay training texts side by side."""
    own = {"": 0}
    x, x_starts = number_words(_split(name, candidates), own)
    # Words that no candidate has cannot match: they count in the length alone.
    own_of = np.array([own.get(word, 0) for word in known], np.int32)
    for start, stop in even_blocks(len(starts) - 1, WIDTH):
        ends = starts[start : stop + 1]
        laid = _side_by_side(own_of[words[ends[0] : ends[-1]]], ends - ends[0])
        lengths = np.diff(ends).astype(np.float64)
        yield start, stop, partial(fill_lcs, x, x_starts, *laid, lengths, len(own))


def _side_by_side(
    words: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lay texts of about the same length side by side, LANES at a time.

    Returns side_by_side : uint32 (places, LANES), the j-th words above 0 of a group's texts stand
        together, 0 where a text is shorter
    groups : int64 (groups + 1,), where each group starts
    order : int64 (texts,), the texts, group by group
    """
    ends = np.append(0, np.cumsum(words > 0))[starts]
    words, sizes = words[words > 0], np.diff(ends)
    order = np.argsort(sizes, kind="stable")
    sizes = sizes[order]
    longest = np.append(sizes[LANES - 1 :: LANES], sizes[-1:][: len(order) % LANES])
    groups = starts_of(longest, len(longest))
    side_by_side = np.zeros((groups[-1], LANES), np.uint32)
    place = np.repeat(np.arange(len(order)), sizes)
    step = np.arange(len(words)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    side_by_side[groups[place // LANES] + step, place % LANES] = words[ends[order[place]] + step]
    return side_by_side, groups, order


@compiled("void(uint32[:, ::1], int64, int64, uint64[:, ::1], uint64[:, ::1])")
def read_words(
    side_by_side: np.ndarray, begin: int, end: int, found: np.ndarray, states: np.ndarray
) -> None:
    """Read the words of a group's texts from ``begin`` on; see `fill_lcs`."""
    carry = np.empty(LANES, np.uint64)
    states[:] = ~np.uint64(0)
    for j in range(begin, end):
        carry[:] = 0
        for w in range(len(states) - 1):
            for lane in range(LANES):
                state = states[w, lane]
                both = state & found[side_by_side[j, lane], w]
                half = state + both
                total = half + carry[lane]
                carry[lane] = np.uint64(half < both or total < half)
                states[w, lane] = total | (state - both)
        w = len(states) - 1  # what it carries over is lost
        for lane in range(LANES):
            state = states[w, lane]
            both = state & found[side_by_side[j, lane], w]
            states[w, lane] = (state + both + carry[lane]) | (state - both)


@compiled(
    "void(int32[::1], int64[::1], uint32[:, ::1], int64[::1], int64[::1], float64[::1],"
    " int64, int64, int64, float64[:, ::1])"
)
def fill_lcs(
    x: np.ndarray,
    x_starts: np.ndarray,
    side_by_side: np.ndarray,
    groups: np.ndarray,
    order: np.ndarray,
    lengths: np.ndarray,
    n_words: int,
    first: int,
    last: int,
    out: np.ndarray,
) -> None:
    """F-measure of candidates ``first`` to ``last - 1`` and the texts of a block, into ``out``.

    A candidate is a row of bits, one a word. The zeros in ``states`` stand for a longest common
    subsequence with the part of s read so far, and one addition carries them over the next word
    of s (Crochemore et al. 2001; Hyyro 2004).

    x, x_starts : words of the candidates, end to end; there are ``n_words`` different ones
    side_by_side, groups, order : words of the training texts, see `_side_by_side`
    lengths : of the training texts, in words
    """
    longest = np.diff(x_starts[first : last + 1]).max()
    # where in x each word stands, as bits
    found = np.zeros((n_words, max(1, (longest + 63) // 64)), np.uint64)
    every = np.empty((found.shape[1], LANES), np.uint64)
    for candidate in range(first, last):
        words = x[x_starts[candidate] : x_starts[candidate + 1]]
        states = every[: max(1, (len(words) + 63) // 64)]
        for i in range(len(words)):
            found[words[i], i // 64] |= np.uint64(1) << np.uint64(i % 64)
        for group in range(len(groups) - 1):
            read_words(side_by_side, groups[group], groups[group + 1], found, states)
            for lane in range(min(LANES, len(order) - group * LANES)):
                text = order[group * LANES + lane]
                common = 0
                for w in range(len(states)):
                    state = ~states[w, lane]
                    while state != 0:
                        state &= state - np.uint64(1)
                        common += 1
                # P and R cancel; one rounding, so that what is equal to tau is no less
                value = 2 * common / (len(words) + lengths[text]) if common else 0.0
                out[candidate - first, text] = value
        for word in words:
            found[word] = 0
