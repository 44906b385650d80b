"""Words of two texts aligned one to one, and METEOR read off the alignment.

Stage: kernels (helper of ``meteor``). In: words as numbers, and which may be aligned. Out: METEOR
of every pair of texts.
"""

import numpy as np

from refless.compute.compiled import compiled

SAME, STEM, SENSE = 1, 2, 4
"""The passes in which two words may be aligned, as bits."""
TAKEN = SAME
"""What is aligned in the third pass is as little free as what was aligned in the first."""


@compiled("int64(int64[:, ::1], int64[:, ::1], int64[:, ::1], int64, int64)")
def align(
    fits: np.ndarray, spare: np.ndarray, pairs: np.ndarray, n_spare: int, lasting: int
) -> int:
    """Align words of x with the spare words of s; return the number of pairs.

    fits, spare, pairs : see `fill_meteor`; ``spare`` is used up
    lasting : words aligned in a later pass than this one are free again in the third
    """
    m = 0
    # Same word, then same stem. Going down s instead of x gives the same pairs: both pair the last
    # free words of a kind, then the last but one.
    for stage in range(SAME, STEM + 1):
        for c in range(n_spare):
            fit = spare[c, 1]
            while fit > 0 and spare[c, 2] == 0:
                i = fits[fit, 0]
                if fits[fit, 1] & stage and pairs[i, 2] == 0:
                    pairs[i, 0] = pairs[i, 1] = spare[c, 0]
                    pairs[i, 2] = spare[c, 2] = stage
                    m += 1
                fit = fits[fit, 2]
    # Synonyms, from the last word of x that has one. What does not fit now never will.
    while True:
        best = -1
        its = -1
        n_left = 0
        for c in range(n_spare):
            fit = spare[c, 1]
            while fit > 0:
                i = fits[fit, 0]
                if fits[fit, 1] & SENSE and not 0 < pairs[i, 2] <= lasting:
                    break
                fit = fits[fit, 2]
            if fit > 0 and not 0 < spare[c, 2] <= lasting:
                if i > best:
                    best = i
                    its = n_left
                spare[n_left, 0], spare[n_left, 1], spare[n_left, 2] = spare[c, 0], fit, spare[c, 2]
                n_left += 1
        n_spare = n_left
        if best < 0:
            return m
        pairs[best, 1] = spare[its, 0]
        if pairs[best, 0] < 0:
            pairs[best, 0] = pairs[best, 1]
        pairs[best, 2] = spare[its, 2] = TAKEN
        m += 1


@compiled(
    "void(int64, int64, uint32[::1], int64[::1], uint32[::1], int64[::1], uint32[::1], uint8[::1],"
    " int64[::1], int64, int64, int64, int64, int64, float64[:, ::1])"
)
def fill_meteor(
    start: int,
    stop: int,
    x: np.ndarray,
    x_starts: np.ndarray,
    s: np.ndarray,
    s_starts: np.ndarray,
    others: np.ndarray,
    passes: np.ndarray,
    starts: np.ndarray,
    lasting: int,
    n_words: int,
    most: int,
    first: int,
    last: int,
    out: np.ndarray,
) -> None:
    """METEOR of candidates ``first`` to ``last - 1`` and training texts ``start`` to ``stop - 1``.

    x, x_starts, s, s_starts : words of the candidates and of the training texts, end to end
    others, passes, starts : for each word of a candidate, the words that it may be aligned with,
        and in which passes: `SAME`, `STEM`, `SENSE`
    lasting : see `align`
    n_words, most : room: words, and fits of a candidate
    """
    longest_s = np.diff(s_starts[start : stop + 1]).max()
    # the first fit of each word, from 1; of each fit the place in x, passes, and the word's next
    heads = np.zeros(n_words, np.uint32)
    fits = np.zeros((most + 1, 3), np.int64)
    # words of s that fit, last word first: place, first fit, pass in which it was aligned
    spare = np.zeros((longest_s + 1, 3), np.int64)
    # words of x: first and last partner in s (-1 and -3 where none, neighbors of nothing), pass
    pairs = np.empty((np.diff(x_starts[first : last + 1]).max(), 3), np.int64)
    for candidate in range(first, last):
        words = x[x_starts[candidate] : x_starts[candidate + 1]]
        n = len(words)
        n_fits = 0
        for i in range(n):
            for k in range(starts[words[i]], starts[words[i] + 1]):
                n_fits += 1
                fits[n_fits, 0] = i
                fits[n_fits, 1] = passes[k]
                fits[n_fits, 2] = heads[others[k]]
                heads[others[k]] = n_fits
        for text in range(start, stop):
            # unsigned, as the numbers of words are: signed and unsigned together would be floats
            end = np.uint64(s_starts[text + 1])
            size = s_starts[text + 1] - s_starts[text]
            n_spare = np.uint64(0)
            for back in range(np.uint64(1), np.uint64(size + 1)):
                spare[n_spare, 0] = end - back
                spare[n_spare, 1] = heads[s[end - back]]
                n_spare += np.uint64(spare[n_spare, 1] > 0)
            value = 0.0
            if n_spare > 0:
                spare[:n_spare, 2] = 0
                pairs[:n, 0] = -1
                pairs[:n, 1] = -3
                pairs[:n, 2] = 0
                m = align(fits, spare, pairs, int(n_spare), lasting)
                if m > 0:
                    chunks = m
                    for i in range(1, n):
                        chunks -= pairs[i, 0] == pairs[i - 1, 1] + 1
                    broken = chunks / m
                    precision = m / n
                    recall = m / size
                    f = precision * recall / (0.9 * precision + (1 - 0.9) * recall)
                    value = (1 - 0.5 * (broken * broken * broken)) * f
            out[candidate - first, text - start] = value
        for word in words:
            for k in range(starts[word], starts[word + 1]):
                heads[others[k]] = 0
