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
from typing import Any

import numpy as np

from refless.errors import KernelError
from refless.kernels._compiled import compiled
from refless.kernels._plan import Fill, Index, even_blocks
from refless.kernels._texts import number_words, starts_of, stems
from refless.kernels.wordnet import WordNet, content_sum

WIDTH = 16384
"""Training texts in a block."""
SAME, STEM, SENSE = 1, 2, 4
"""The passes in which two words may be aligned, as bits."""

Synonyms = Callable[[str], Iterable[str]] | Mapping[str, Iterable[str]]


def index(
    name: str,
    training: Sequence[str],
    *,
    wordnet: str | Path | None = None,
    synonyms: Synonyms | None = None,
) -> Index:
    """Make training texts ready; see ``refless.kernels._plan.Index``.

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
    if synonyms is None:
        synonyms = WordNet(wordnet, insist=old).synonyms
    return Index(len(training), partial(MeteorPlan, training, old, synonyms))


def resources(
    name: str, *, wordnet: str | Path | None = None, synonyms: Synonyms | None = None
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
        self, training: Sequence[str], old: bool, synonyms: Synonyms, candidates: Sequence[str]
    ) -> None:
        self.shape = len(candidates), len(training)
        known: dict[str, int] = {}
        x, x_starts = number_words([t.lower().split() for t in candidates], known)
        own_words = list(known)
        s, s_starts = number_words([t.lower().split() for t in training], known)
        stem_of = stems(known)
        by_stem: dict[str, list[int]] = {}
        for word, number in known.items():
            by_stem.setdefault(stem_of[word], []).append(number)
        # The third pass compares words with words, or (nltk39) stems with stems.
        by_key = {word: [number] for word, number in known.items()} if old else by_stem
        asked = own_words if old else [stem_of[word] for word in own_words]
        found: dict[str, list[int]] = {}
        for key in dict.fromkeys(asked):
            others = synonyms.get(key, ()) if isinstance(synonyms, Mapping) else synonyms(key)
            found[key] = [n for name in {key, *others} for n in by_key.get(name, ())]
        fits: list[dict[int, int]] = []
        for number, (word, key) in enumerate(zip(own_words, asked, strict=True)):
            own: dict[int, int] = {number: SAME}
            for passed, fitting in ((STEM, by_stem[stem_of[word]]), (SENSE, found[key])):
                for other in fitting:
                    own[other] = own.get(other, 0) | passed
            fits.append(own)
        starts = starts_of(map(len, fits), len(fits))
        # room for the candidate whose words fit the most words
        most = np.add.reduceat(np.append(np.diff(starts)[x], 0), x_starts[:-1]).max(initial=0)
        self._given: tuple[Any, ...] = (
            *(x, x_starts, s, s_starts),
            np.array([other for own in fits for other in own], np.int32),
            np.array([passed for own in fits for passed in own.values()], np.uint8),
            *(starts, 1 if old else 2, len(known), min(int(most), len(known)) + 1),
        )

    def blocks(self) -> Iterator[tuple[int, int]]:
        return even_blocks(self.shape[1], WIDTH)

    def block(self, start: int, stop: int) -> Fill:
        return partial(fill_meteor, start, stop, *self._given)


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

    Parameters
    ----------
    x, x_starts, s, s_starts : words of the candidates and of the training texts, end to end
    others, passes, starts : for each word of a candidate, the words that it may be aligned with,
        and in which passes: `SAME`, `STEM`, `SENSE`
    lasting : words aligned in a later pass than this one are free again in the third
    n_words, n_places : room: words, and those that a candidate may be aligned with
    """
    longest = 0
    for candidate in range(first, last):
        longest = max(longest, x_starts[candidate + 1] - x_starts[candidate])
    # from 1 for the words that some word of x may be aligned with; in which passes, by word of x
    places = np.zeros(n_words, np.int64)
    fits = np.zeros((n_places, longest), np.uint8)
    longest_s = 0
    for text in range(start, stop):
        longest_s = max(longest_s, s_starts[text + 1] - s_starts[text])
    # the words of s that may be aligned, last word first, and their places
    spare, spare_places = np.empty(longest_s, np.int64), np.empty(longest_s, np.int64)
    # in which pass words were aligned, 0 for none
    x_pass, s_pass = np.zeros(longest, np.int64), np.zeros(longest_s, np.int64)
    # of the words of x the partners: from the first two passes, from the third
    partners = np.full((longest, 2), -1)
    for candidate in range(first, last):
        begin, end = x_starts[candidate], x_starts[candidate + 1]
        n = end - begin
        n_met = 0
        for i in range(n):
            word = x[begin + i]
            for k in range(starts[word], starts[word + 1]):
                if places[others[k]] == 0:
                    n_met += 1
                    places[others[k]] = n_met
                fits[places[others[k]], i] = passes[k]
        for text in range(start, stop):
            n_spare = 0
            for j in range(s_starts[text + 1] - 1, s_starts[text] - 1, -1):
                if places[s[j]] > 0:
                    spare[n_spare] = j
                    spare_places[n_spare] = places[s[j]]
                    s_pass[n_spare] = 0
                    n_spare += 1
            if n_spare == 0:
                out[candidate - first, text - start] = 0.0
                continue
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
                        able = fits[spare_places[c], i] >> (stage - 1) & 1
                        if able and not 0 < s_pass[c] <= held:
                            partners[i, stage // 3] = spare[c]
                            m += 1
                            left -= 1
                            same += stage == 1
                            if stage == 3:
                                spare_places[c] = 0  # fits no word
                            else:
                                x_pass[i] = s_pass[c] = stage
                            break
            value = 0.0
            if m > 0:
                # Pairs in the order of x: a chunk ends where x or s does not go on by one.
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
                precision, recall = m / n, m / (s_starts[text + 1] - s_starts[text])
                f = precision * recall / (0.9 * precision + (1 - 0.9) * recall)
                broken = chunks / m
                value = (1 - 0.5 * (broken * broken * broken)) * f
            out[candidate - first, text - start] = value
        fits[: n_met + 1, :n] = 0
        for i in range(begin, end):
            for k in range(starts[x[i]], starts[x[i] + 1]):
                places[others[k]] = 0
