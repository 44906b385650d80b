"""METEOR as nltk computes it: words aligned by form, stem and synonym.

Stage: kernels. In: candidates x (the hypotheses) and training texts s (the references). Out:
k(x, s), from 0; at most 1 for ``meteor.nltk39``, at most 2 for ``meteor.nltk35``.

    P = m / |x|,  R = m / |s|,  F = P R / (0.9 P + 0.1 R),  k = F (1 - 0.5 (chunks / m) ** 3)

with m aligned pairs of words that form ``chunks`` runs adjacent in both texts (Lavie & Agarwal
2007). Texts are lower-cased and split on blanks. Three passes over the words still free, each
from the last word of x to the first, taking the last free word of s that fits: the same word,
the same Porter stem, a synonym in WordNet (of the word in x).

=============  =================================================================================
meteor.nltk35  nltk 3.5: words aligned by stem stay free in the third pass, so that a pair can
               count twice and k exceed 1. This gives the published figures (coverage 0.121 on
               the summaries of table 1)
meteor.nltk39  nltk 3.9 and later (checked against 3.10): words aligned by stem are taken, and
               the third pass looks up stems in WordNet instead of words (coverage 0.101)
=============  =================================================================================
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from refless.errors import KernelError
from refless.kernels._compiled import compiled
from refless.kernels._plan import Fill, even_blocks
from refless.kernels._porter import stems
from refless.kernels._texts import number_words, starts_of
from refless.kernels.wordnet import WordNet, content_sum

NAMES = ("meteor.nltk35", "meteor.nltk39")
PACKAGES: dict[str, tuple[str, ...]] = {"meteor.*": ("nltk",)}
LOCATIONS = ("wordnet", "synonyms")
HIGHEST = {"meteor.nltk35": 2.0}

WIDTH = 16384
"""Training texts in a block."""

Synonyms = Callable[[str], Iterable[str]] | Mapping[str, Iterable[str]]


def plan(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str],
    *,
    wordnet: str | Path | None = None,
    synonyms: Synonyms | None = None,
) -> MeteorPlan:
    """Make texts ready for the kernel ``name``; see ``refless.kernels._plan.Plan``.

    Parameters
    ----------
    wordnet : zip or directory of WordNet 3.0; without it the environment variable
        REFLESS_WORDNET, without that nltk's data directories
    synonyms : instead of WordNet, the synonyms of a word, by call or by key

    Raises
    ------
    KernelError : there is no WordNet.
    """
    old = name == "meteor.nltk35"
    look_up: Callable[[str], Iterable[str]]
    if synonyms is None:
        look_up = WordNet(wordnet, insist=old).synonyms
    elif isinstance(synonyms, Mapping):
        look_up = partial(_given, synonyms)
    else:
        look_up = synonyms
    return MeteorPlan(candidates, training, old, look_up)


def _given(synonyms: Mapping[str, Iterable[str]], word: str) -> Iterable[str]:
    return synonyms.get(word, ())


def resources(
    *, wordnet: str | Path | None = None, synonyms: Synonyms | None = None
) -> dict[str, str]:
    """Sums of what decides the values besides code and texts: WordNet, or given synonyms."""
    if synonyms is None:
        return {"wordnet": content_sum(wordnet)}
    if isinstance(synonyms, Mapping):
        table = {word: sorted(others) for word, others in synonyms.items()}
        content = json.dumps(table, sort_keys=True).encode()
        return {"synonyms": hashlib.sha256(content).hexdigest()}
    raise KernelError(
        "synonyms given as a function cannot be signed", remedy="give them as a mapping"
    )


class MeteorPlan:
    """Candidates and training texts as word numbers, and which words may be aligned."""

    def __init__(
        self,
        candidates: Sequence[str],
        training: Sequence[str],
        old: bool,
        synonyms: Callable[[str], Iterable[str]],
    ) -> None:
        self.shape = len(candidates), len(training)
        # The third pass takes what was free before the second, or what is free after it.
        self._resume = 1 if old else 2
        known: dict[str, int] = {}
        self._x, self._x_starts = number_words([t.lower().split() for t in candidates], known)
        n_candidate_words = len(known)
        self._s, self._s_starts = number_words([t.lower().split() for t in training], known)
        words = list(known)
        stem_of = stems(words)
        by_stem: dict[str, list[int]] = {}
        for word, number in known.items():
            by_stem.setdefault(stem_of[word], []).append(number)
        # The third pass compares words with words, or (nltk39) stems with stems.
        by_key = {word: [number] for word, number in known.items()} if old else by_stem
        found: dict[str, list[int]] = {}
        same_stem, same_sense = [], []
        for word in words[:n_candidate_words]:
            same_stem.append(by_stem[stem_of[word]])
            key = word if old else stem_of[word]
            if key not in found:
                names = {key, *synonyms(key)}
                found[key] = [n for name in names for n in by_key.get(name, ())]
            same_sense.append(found[key])
        self._stems, self._stem_starts = _flat(same_stem)
        self._senses, self._sense_starts = _flat(same_sense)
        self._n_words = len(words)
        # Room for the longest text, and for the candidate whose words fit the most words.
        self._n_x = int(np.diff(self._x_starts).max(initial=0))
        self._n_s = int(np.diff(self._s_starts).max(initial=0))
        fitting = np.concatenate(
            [[0], np.cumsum((np.diff(self._stem_starts) + np.diff(self._sense_starts))[self._x])]
        )
        most = int((fitting[self._x_starts[1:]] - fitting[self._x_starts[:-1]]).max(initial=0))
        self._n_places = min(most, self._n_words) + 1

    def blocks(self) -> Iterator[tuple[int, int]]:
        return even_blocks(self.shape[1], WIDTH)

    def block(self, start: int, stop: int) -> Fill:
        n_bits = -(-self._n_x // 64)

        def fill(first: int, last: int, out: np.ndarray, column: int) -> None:
            fill_meteor(
                self._x,
                self._x_starts,
                self._s,
                self._s_starts,
                self._stems,
                self._stem_starts,
                self._senses,
                self._sense_starts,
                self._resume,
                np.zeros(self._n_words, np.int64),
                np.zeros((3, self._n_places, n_bits), np.uint64),
                np.empty((3, n_bits), np.uint64),
                np.empty((3, self._n_s), np.int64),
                np.empty((3, self._n_s), np.int64),
                np.empty(3, np.int64),
                np.full((self._n_x, 2), -1, np.int64),
                first,
                last,
                start,
                stop,
                out,
                column,
            )

        return fill


def _flat(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    starts = starts_of(map(len, rows), len(rows))
    return np.fromiter((n for row in rows for n in row), np.int32, int(starts[-1])), starts


@compiled(
    "void(int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], int32[::1],"
    " int64[::1], int64, int64[::1], uint64[:, :, ::1], uint64[:, ::1], int64[:, ::1],"
    " int64[:, ::1], int64[::1], int64[:, ::1], int64, int64, int64, int64, float64[:, ::1], int64)"
)
def fill_meteor(
    x: np.ndarray,
    x_starts: np.ndarray,
    s: np.ndarray,
    s_starts: np.ndarray,
    stems: np.ndarray,
    stem_starts: np.ndarray,
    senses: np.ndarray,
    sense_starts: np.ndarray,
    resume: int,
    places: np.ndarray,
    fits: np.ndarray,
    free: np.ndarray,
    spare: np.ndarray,
    spare_places: np.ndarray,
    n_spare: np.ndarray,
    partners: np.ndarray,
    first: int,
    last: int,
    start: int,
    stop: int,
    out: np.ndarray,
    column: int,
) -> None:
    """METEOR of candidates ``first`` to ``last - 1`` and training texts ``start`` to ``stop - 1``.

    Parameters
    ----------
    x, x_starts, s, s_starts : words of the candidates and of the training texts, end to end
    stems, stem_starts, senses, sense_starts : for each word of a candidate, the words that it
        may be aligned with in the second and in the third pass
    resume : the third pass takes up the words that were free before this pass (0, 1, 2)
    places : zeros, (words,); from 1 for the words that some word of x may be aligned with
    fits : zeros, (3, places, bits); fits[k, place] are the words of x that may be aligned with
        it in pass k, the last word of x being the first bit
    free : room, (3, bits); the words of x that are free before pass k
    spare, spare_places, n_spare : room, (3, longest s) and (3,); the words of s that are free
        before pass k, last word first, their places and how many they are
    partners : -1, (longest x, 2); partners in s of the words of x, the last word first: from the
        first two passes, from the third
    out, column : values go to ``out[:last - first, column:column + stop - start]``
    """
    one, nothing = np.uint64(1), np.uint64(0)
    for candidate in range(first, last):
        begin, end = x_starts[candidate], x_starts[candidate + 1]
        n = end - begin
        n_bits = (n + 63) // 64
        n_places = 0
        for i in range(n):
            word, w, bit = x[end - 1 - i], i // 64, one << np.uint64(i % 64)
            for k in range(stem_starts[word], stem_starts[word + 1]):
                if places[stems[k]] == 0:
                    n_places += 1
                    places[stems[k]] = n_places
                fits[1, places[stems[k]], w] |= bit
            for k in range(sense_starts[word], sense_starts[word + 1]):
                if places[senses[k]] == 0:
                    n_places += 1
                    places[senses[k]] = n_places
                fits[2, places[senses[k]], w] |= bit
            # A word has its own stem, so it has a place by now.
            fits[0, places[word], w] |= bit
        for text in range(start, stop):
            n_spare[0] = 0
            for j in range(s_starts[text + 1] - 1, s_starts[text] - 1, -1):
                if places[s[j]] > 0:
                    spare[0, n_spare[0]] = j
                    spare_places[0, n_spare[0]] = places[s[j]]
                    n_spare[0] += 1
            m = 0
            for w in range(n_bits):
                free[0, w] = ~nothing
            # Same word, then same stem. Going down s instead of x gives the same pairs: both
            # pair the last free words of a kind, then the last but one, and so on.
            for stage in range(2):
                left = 0
                for w in range(n_bits):
                    free[stage + 1, w] = free[stage, w]
                for c in range(n_spare[stage]):
                    place = spare_places[stage, c]
                    w = 0
                    while w < n_bits and fits[stage, place, w] & free[stage + 1, w] == nothing:
                        w += 1
                    if w == n_bits:
                        spare[stage + 1, left] = spare[stage, c]
                        spare_places[stage + 1, left] = place
                        left += 1
                    else:
                        bits = fits[stage, place, w] & free[stage + 1, w]
                        free[stage + 1, w] &= ~(bits & (~bits + one))
                        i = 64 * w
                        below = ~bits & (bits - one)
                        while below != nothing:
                            below &= below - one
                            i += 1
                        partners[i, 0] = spare[stage, c]
                        m += 1
                n_spare[stage + 1] = left
            # Synonyms. That is not symmetric, so the order is that of x.
            for w in range(n_bits):
                reach = nothing
                for c in range(n_spare[resume]):
                    reach |= fits[2, spare_places[resume, c], w]
                reach &= free[resume, w]
                i = 64 * w - 1
                while reach != nothing:
                    i += 1
                    bit = one << np.uint64(i % 64)
                    if reach & bit != nothing:
                        reach ^= bit
                        c = 0
                        while c < n_spare[resume]:
                            if fits[2, spare_places[resume, c], w] & bit != nothing:
                                partners[i, 1] = spare[resume, c]
                                spare_places[resume, c] = 0  # fits no word
                                m += 1
                                c = n_spare[resume]
                            c += 1
            value = 0.0
            if m > 0:
                # Pairs in the order of x: a chunk ends where x or s does not go on by one.
                chunks = 0
                last_i, last_j = -2, -2
                for i in range(n):
                    for k in range(1, -1, -1):
                        j = partners[i, k]
                        if j >= 0:
                            partners[i, k] = -1
                            if i != last_i + 1 or j != last_j - 1:
                                chunks += 1
                            last_i, last_j = i, j
                precision, recall = m / n, m / (s_starts[text + 1] - s_starts[text])
                f = precision * recall / (0.9 * precision + (1 - 0.9) * recall)
                broken = chunks / m
                value = (1 - 0.5 * (broken * broken * broken)) * f
            out[candidate - first, column + text - start] = value
        for k in range(3):
            for place in range(n_places + 1):
                for w in range(n_bits):
                    fits[k, place, w] = nothing
        for i in range(begin, end):
            for k in range(stem_starts[x[i]], stem_starts[x[i] + 1]):
                places[stems[k]] = 0
            for k in range(sense_starts[x[i]], sense_starts[x[i] + 1]):
                places[senses[k]] = 0
