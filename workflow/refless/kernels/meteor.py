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

from refless.kernels._blocks import Fill, Index, even_blocks
from refless.kernels._compiled import compiled
from refless.kernels._texts import number_words, starts_of, stems
from refless.kernels.wordnet import WordNet, content_sum

WIDTH = 16384
"""Training texts in a block."""
SAME, STEM, SENSE = 1, 2, 4
"""The passes in which two words may be aligned, as bits."""


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
    others = np.array([other for own in fits for other in own], np.int32)
    passes = np.array([passed for own in fits for passed in own.values()], np.uint8)
    starts = starts_of(map(len, fits), len(fits))
    # room for the candidate whose words fit the most words
    most = np.add.reduceat(np.append(np.diff(starts)[x], 0), x_starts[:-1]).max(initial=0)
    for start, stop in even_blocks(len(training), WIDTH):
        fill = partial(
            fill_meteor,
            *(start, stop, x, x_starts, s, s_starts, others, passes, starts),
            *(1 if old else 2, len(known), min(int(most), len(known)) + 1),
        )
        yield start, stop, fill


@compiled(
    "int64(uint8[:, ::1], int64, int64, int64, int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[:, ::1])"
)
def align(
    fits: np.ndarray,
    n: int,
    n_spare: int,
    lasting: int,
    spare: np.ndarray,
    places: np.ndarray,
    x_pass: np.ndarray,
    s_pass: np.ndarray,
    partners: np.ndarray,
) -> int:
    """Align the n words of x with the spare words of s; return the number of pairs.

    fits : in which passes a word of x fits, by place of the other word and by word of x
    lasting : words aligned in a later pass than this one are free again in the third
    spare, places : where in s the words are, last word first, and their places in ``fits``
    x_pass, s_pass : 0, becomes the pass in which words were aligned
    partners : of the words of x, filled in: from the first two passes, from the third
    """
    m = same = 0
    left = n_spare  # words of s that are free
    for stage in range(1, 4):
        held = lasting if stage == 3 else 2
        if held == 1:
            left = n_spare - same
        for i in range(n - 1, -1, -1):
            if left == 0:
                break
            if 0 < x_pass[i] <= held:
                continue
            for c in range(n_spare):
                able = fits[places[c], i] >> (stage - 1) & 1
                if able and not 0 < s_pass[c] <= held:
                    partners[i, stage // 3] = spare[c]
                    m += 1
                    left -= 1
                    same += stage == 1
                    if stage == 3:
                        places[c] = 0  # fits no word
                    else:
                        x_pass[i] = s_pass[c] = stage
                    break
    return m


@compiled("int64(int64[:, ::1], int64[::1], int64)")
def count_chunks(partners: np.ndarray, x_pass: np.ndarray, n: int) -> int:
    """How many chunks the pairs of `align` form: one ends where x or s does not go on by one.
    Both arrays are as before."""
    chunks = 0
    last_i, last_j = -2, -2
    for i in range(n):
        x_pass[i] = 0
        for k in range(2):
            j = partners[i, k]
            if j >= 0:
                partners[i, k] = -1
                if i != last_i + 1 or j != last_j + 1:
                    chunks += 1
                last_i, last_j = i, j
    return chunks


@compiled(
    "void(int64, int64, int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], uint8[::1],"
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
    n_places: int,
    first: int,
    last: int,
    out: np.ndarray,
) -> None:
    """METEOR of candidates ``first`` to ``last - 1`` and training texts ``start`` to ``stop - 1``.

    x, x_starts, s, s_starts : words of the candidates and of the training texts, end to end
    others, passes, starts : for each word of a candidate, the words that it may be aligned with,
        and in which passes: `SAME`, `STEM`, `SENSE`
    lasting : see `align`
    n_words, n_places : room: words, and those that a candidate may be aligned with
    """
    longest = np.diff(x_starts[first : last + 1]).max()
    longest_s = np.diff(s_starts[start : stop + 1]).max()
    # from 1 for the words that some word of x may be aligned with; in which passes, by word of x
    places = np.zeros(n_words, np.int64)
    fits = np.zeros((n_places, longest), np.uint8)
    spare, spare_places = np.empty(longest_s, np.int64), np.empty(longest_s, np.int64)
    x_pass, s_pass = np.zeros(longest, np.int64), np.zeros(longest_s, np.int64)
    partners = np.full((longest, 2), np.int64(-1))
    for candidate in range(first, last):
        words = x[x_starts[candidate] : x_starts[candidate + 1]]
        n_met = 0
        for i in range(len(words)):
            for k in range(starts[words[i]], starts[words[i] + 1]):
                if places[others[k]] == 0:
                    n_met += 1
                    places[others[k]] = n_met
                fits[places[others[k]], i] = passes[k]
        for text in range(start, stop):
            n_spare = 0
            for j in range(s_starts[text + 1] - 1, s_starts[text] - 1, -1):
                if places[s[j]] > 0:
                    spare[n_spare], spare_places[n_spare] = j, places[s[j]]
                    s_pass[n_spare] = 0
                    n_spare += 1
            value, m = 0.0, 0
            if n_spare > 0:
                m = align(
                    fits,
                    len(words),
                    n_spare,
                    lasting,
                    spare,
                    spare_places,
                    x_pass,
                    s_pass,
                    partners,
                )
            if m > 0:
                broken = count_chunks(partners, x_pass, len(words)) / m
                precision, recall = m / len(words), m / (s_starts[text + 1] - s_starts[text])
                f = precision * recall / (0.9 * precision + (1 - 0.9) * recall)
                value = (1 - 0.5 * (broken * broken * broken)) * f
            out[candidate - first, text - start] = value
        fits[: n_met + 1, : len(words)] = 0
        for word in words:
            for k in range(starts[word], starts[word + 1]):
                places[others[k]] = 0
