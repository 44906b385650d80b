"""METEOR as nltk computes it: words aligned by form, stem and synonym.

Stage: kernels. In: candidates x (the hypotheses) and training texts s (the references). Out:
k(x, s), from 0; at most 1 for ``meteor.nltk39``, at most 2 for ``meteor.nltk35``.

    P = m / |x|,  R = m / |s|,  F = P R / (0.9 P + 0.1 R),  k = F (1 - 0.5 (chunks / m) ** 3)

with m aligned pairs of words that form ``chunks`` runs adjacent in both texts (Lavie & Agarwal
2007). Texts are lower-cased and split on blanks. Three passes over the words still free, each
from the last word of x to the first, taking the last free word of s that fits: the same word,
the same Porter stem, a synonym in WordNet (of the word in x).

In nltk 3.5 (the published figures) words aligned by stem stay free in the third pass, so that a
pair can count twice and k exceed 1. In nltk 3.9 and later (checked against 3.10) they are taken,
and the third pass looks up stems in WordNet instead of words.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from refless.compute.compiled import compiled
from refless.compute.words import number_words, starts_of, stems
from refless.kernels._blocks import Fill, Index, even_blocks
from refless.kernels.wordnet import WordNet, content_sum

WIDTH = 16384
"""Training texts in a block."""
SAME, STEM, SENSE = 1, 2, 4
"""The passes in which two words may be aligned, as bits."""
TAKEN = SAME
"""What is aligned in the third pass is as little free as what was aligned in the first."""


def index(name: str, training: Sequence[str], *, wordnet: str | Path | None = None) -> Index:
    """Make training texts ready; see ``refless.kernels._blocks.Index``.

    wordnet : zip of WordNet 3.0; without it, see `refless.kernels.wordnet.find`
    Raises KernelError: there is no WordNet.
    """
    old = name == "meteor.nltk35"
    synonyms = WordNet(wordnet, insist=old).synonyms
    return Index(len(training), partial(_blocks, training, old, synonyms))


def resources(name: str, *, wordnet: str | Path | None = None) -> dict[str, str]:
    """The sum of WordNet's files; KernelError where there is none."""
    return {"wordnet": content_sum(wordnet)}


def _blocks(
    training: Sequence[str],
    old: bool,
    synonyms: Callable[[str], Iterable[str]],
    candidates: Sequence[str],
) -> Iterator[tuple[int, int, Fill]]:
    """Number all words, and say which may be aligned."""
    known: dict[str, int] = {}
    x, x_starts = number_words([text.lower().split() for text in candidates], known)
    own_words = list(known)
    s, s_starts = number_words([text.lower().split() for text in training], known)
    # numba asks of each signed index whether it counts from the end
    x, s = x.view(np.uint32), s.view(np.uint32)
    stem_of = stems(known)
    by_stem: dict[str, list[int]] = {}
    for word, number in known.items():
        by_stem.setdefault(stem_of[word], []).append(number)
    # The third pass compares words with words, or (nltk39) stems with stems.
    by_key = {word: [number] for word, number in known.items()} if old else by_stem
    asked = own_words if old else [stem_of[word] for word in own_words]
    found: dict[str, list[int]] = {}
    for key in dict.fromkeys(asked):
        found[key] = [n for name in {key, *synonyms(key)} for n in by_key.get(name, ())]
    fits: list[dict[int, int]] = []
    for number, (word, key) in enumerate(zip(own_words, asked, strict=True)):
        own: dict[int, int] = {number: SAME}
        for passed, fitting in ((STEM, by_stem[stem_of[word]]), (SENSE, found[key])):
            for other in fitting:
                own[other] = own.get(other, 0) | passed
        fits.append(own)
    others = np.array([other for own in fits for other in own], np.uint32)
    passes = np.array([passed for own in fits for passed in own.values()], np.uint8)
    starts = starts_of(map(len, fits), len(fits))
    # room for the candidate whose words fit the most words
    most = np.add.reduceat(np.append(np.diff(starts)[x], 0), x_starts[:-1]).max(initial=0)
    for start, stop in even_blocks(len(training), WIDTH):
        fill = partial(
            fill_meteor,
            *(start, stop, x, x_starts, s, s_starts, others, passes, starts),
            *(1 if old else 2, len(known), int(most)),
        )
        yield start, stop, fill


@compiled("int64(int64[:, ::1], int64[:, ::1], int64[:, ::1], int64, int64)")
def align(fits: np.ndarray, spare: np.ndarray, own: np.ndarray, n_spare: int, lasting: int) -> int:
    """Align words of x with the spare words of s; return the number of pairs.

    fits, spare, own : see `fill_meteor`; ``spare`` is used up
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
                if fits[fit, 1] & stage and own[i, 2] == 0:
                    own[i, 0] = own[i, 1] = spare[c, 0]
                    own[i, 2] = spare[c, 2] = stage
                    m += 1
                fit = fits[fit, 2]
    # Synonyms, from the last word of x that has one. What does not fit now never will.
    while True:
        best, its, n_left = -1, -1, 0
        for c in range(n_spare):
            fit = spare[c, 1]
            while fit > 0:
                i = fits[fit, 0]
                if fits[fit, 1] & SENSE and not 0 < own[i, 2] <= lasting:
                    break
                fit = fits[fit, 2]
            if fit > 0 and not 0 < spare[c, 2] <= lasting:
                if i > best:
                    best, its = i, n_left
                spare[n_left, 0], spare[n_left, 1], spare[n_left, 2] = spare[c, 0], fit, spare[c, 2]
                n_left += 1
        n_spare = n_left
        if best < 0:
            return m
        own[best, 1] = spare[its, 0]
        if own[best, 0] < 0:
            own[best, 0] = own[best, 1]
        own[best, 2] = spare[its, 2] = TAKEN
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
    own = np.empty((np.diff(x_starts[first : last + 1]).max(), 3), np.int64)
    for candidate in range(first, last):
        words = x[x_starts[candidate] : x_starts[candidate + 1]]
        n = len(words)
        n_fits = 0
        for i in range(n):
            for k in range(starts[words[i]], starts[words[i] + 1]):
                n_fits += 1
                fits[n_fits, 0], fits[n_fits, 1] = i, passes[k]
                fits[n_fits, 2] = heads[others[k]]
                heads[others[k]] = n_fits
        for text in range(start, stop):
            # unsigned, as the numbers of words are: signed and unsigned together would be floats
            end, size = np.uint64(s_starts[text + 1]), s_starts[text + 1] - s_starts[text]
            n_spare = np.uint64(0)
            for back in range(np.uint64(1), np.uint64(size + 1)):
                spare[n_spare, 0], spare[n_spare, 1] = end - back, heads[s[end - back]]
                n_spare += np.uint64(spare[n_spare, 1] > 0)
            value = 0.0
            if n_spare > 0:
                spare[:n_spare, 2] = 0
                own[:n, 0], own[:n, 1], own[:n, 2] = -1, -3, 0
                m = align(fits, spare, own, int(n_spare), lasting)
                if m > 0:
                    chunks = m
                    for i in range(1, n):
                        chunks -= own[i, 0] == own[i - 1, 1] + 1
                    broken = chunks / m
                    precision, recall = m / n, m / size
                    f = precision * recall / (0.9 * precision + (1 - 0.9) * recall)
                    value = (1 - 0.5 * (broken * broken * broken)) * f
            out[candidate - first, text - start] = value
        for word in words:
            for k in range(starts[word], starts[word + 1]):
                heads[others[k]] = 0
