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

from refless.compute.words import number_words, starts_of, stems
from refless.kernels._blocks import Fill, Index, even_blocks
from refless.kernels.wordnet import WordNet, wordnet_sum

_WIDTH = 16384
"""Training texts in a block."""


def index(name: str, training: Sequence[str], *, wordnet: str | Path | None = None) -> Index:
    """Make training texts ready; see `refless.kernels._blocks.Index`.

    wordnet : zip of WordNet 3.0; without it, see `refless.kernels.wordnet.find_wordnet`
    Raises KernelError: there is no WordNet.
    """
    old = name == "meteor.nltk35"
    synonyms = WordNet(wordnet, insist=old).synonyms
    return Index(len(training), partial(_blocks, training, old, synonyms))


def resources(name: str, *, wordnet: str | Path | None = None) -> dict[str, str]:
    """The sum of WordNet's files; KernelError where there is none."""
    return {"wordnet": wordnet_sum(wordnet)}


def _blocks(
    training: Sequence[str],
    old: bool,
    synonyms: Callable[[str], Iterable[str]],
    candidates: Sequence[str],
) -> Iterator[tuple[int, int, Fill]]:
    """Number all words, and say which may be aligned."""
    from refless.kernels._alignment import SAME, SENSE, STEM, fill_meteor

    vocabulary: dict[str, int] = {}
    x, x_starts = number_words([text.lower().split() for text in candidates], vocabulary)
    x_words = list(vocabulary)
    s, s_starts = number_words([text.lower().split() for text in training], vocabulary)
    # numba asks of each signed index whether it counts from the end
    x = x.view(np.uint32)
    s = s.view(np.uint32)
    stem_of = stems(vocabulary)
    by_stem: dict[str, list[int]] = {}
    for word, number in vocabulary.items():
        by_stem.setdefault(stem_of[word], []).append(number)
    # The third pass compares words with words, or (nltk39) stems with stems.
    by_key = {word: [number] for word, number in vocabulary.items()} if old else by_stem
    keys = x_words if old else [stem_of[word] for word in x_words]
    senses: dict[str, list[int]] = {}
    for key in dict.fromkeys(keys):
        senses[key] = [n for name in {key, *synonyms(key)} for n in by_key.get(name, ())]
    fits: list[dict[int, int]] = []
    for number, (word, key) in enumerate(zip(x_words, keys, strict=True)):
        passes_of: dict[int, int] = {number: SAME}
        for stage, fitting in ((STEM, by_stem[stem_of[word]]), (SENSE, senses[key])):
            for other in fitting:
                passes_of[other] = passes_of.get(other, 0) | stage
        fits.append(passes_of)
    others = np.array([other for passes_of in fits for other in passes_of], np.uint32)
    passes = np.array([stage for passes_of in fits for stage in passes_of.values()], np.uint8)
    starts = starts_of(map(len, fits), len(fits))
    # room for the candidate whose words fit the most words
    most = np.add.reduceat(np.append(np.diff(starts)[x], 0), x_starts[:-1]).max(initial=0)
    for start, stop in even_blocks(len(training), _WIDTH):
        fill = partial(
            fill_meteor,
            *(start, stop, x, x_starts, s, s_starts, others, passes, starts),
            *(1 if old else 2, len(vocabulary), int(most)),
        )
        yield start, stop, fill
