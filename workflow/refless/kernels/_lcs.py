"""Longest common subsequences of words, 64 words and eight texts at a time.

Stage: kernels (helper of ``rouge_l``). In: words as numbers. Out: the F-measure of every pair.
"""

import numpy as np

from refless.compute.compiled import compiled
from refless.compute.words import starts_of

_LANES = 8
"""Training texts that are read at the same time."""


def side_by_side(
    words: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lay texts of about the same length side by side, _LANES at a time.

    Returns laid : uint32 (places, _LANES), the j-th words above 0 of a group's texts stand
        together, 0 where a text is shorter
    groups : int64 (groups + 1,), where each group starts
    order : int64 (texts,), the texts, group by group
    """
    ends = np.append(0, np.cumsum(words > 0))[starts]
    words = words[words > 0]
    sizes = np.diff(ends)
    order = np.argsort(sizes, kind="stable")
    sizes = sizes[order]
    longest = np.append(sizes[_LANES - 1 :: _LANES], sizes[-1:][: len(order) % _LANES])
    groups = starts_of(longest, len(longest))
    laid = np.zeros((groups[-1], _LANES), np.uint32)
    rank = np.repeat(np.arange(len(order)), sizes)
    step = np.arange(len(words)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    laid[groups[rank // _LANES] + step, rank % _LANES] = words[ends[order[rank]] + step]
    return laid, groups, order


@compiled("void(uint32[:, ::1], int64, int64, uint64[:, ::1], uint64[:, ::1])")
def read_words(
    laid: np.ndarray, begin: int, end: int, positions: np.ndarray, states: np.ndarray
) -> None:
    """Read the words of a group's texts from ``begin`` on; see `fill_lcs`."""
    carry = np.empty(_LANES, np.uint64)
    states[:] = ~np.uint64(0)
    for j in range(begin, end):
        carry[:] = 0
        for w in range(len(states) - 1):
            for lane in range(_LANES):
                state = states[w, lane]
                both = state & positions[laid[j, lane], w]
                half = state + both
                total = half + carry[lane]
                carry[lane] = np.uint64(half < both or total < half)
                states[w, lane] = total | (state - both)
        w = len(states) - 1  # what it carries over is lost
        for lane in range(_LANES):
            state = states[w, lane]
            both = state & positions[laid[j, lane], w]
            states[w, lane] = (state + both + carry[lane]) | (state - both)


@compiled(
    "void(int32[::1], int64[::1], uint32[:, ::1], int64[::1], int64[::1], float64[::1],"
    " int64, int64, int64, float64[:, ::1])"
)
def fill_lcs(
    x: np.ndarray,
    x_starts: np.ndarray,
    laid: np.ndarray,
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
    laid, groups, order : words of the training texts, see `side_by_side`
    lengths : of the training texts, in words
    """
    longest = np.diff(x_starts[first : last + 1]).max()
    # where in x each word stands, as bits
    positions = np.zeros((n_words, max(1, (longest + 63) // 64)), np.uint64)
    every = np.empty((positions.shape[1], _LANES), np.uint64)
    for candidate in range(first, last):
        words = x[x_starts[candidate] : x_starts[candidate + 1]]
        states = every[: max(1, (len(words) + 63) // 64)]
        for i in range(len(words)):
            positions[words[i], i // 64] |= np.uint64(1) << np.uint64(i % 64)
        for group in range(len(groups) - 1):
            read_words(laid, groups[group], groups[group + 1], positions, states)
            for lane in range(min(_LANES, len(order) - group * _LANES)):
                text = order[group * _LANES + lane]
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
            positions[word] = 0
