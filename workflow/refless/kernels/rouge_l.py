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

from refless.compute.words import number_words, stems
from refless.kernels._blocks import Fill, Index, even_blocks

_WORD = re.compile("[a-z0-9]+")
_WIDTH = 16384
"""Training texts in a block."""


def index(name: str, training: Sequence[str]) -> Index:
    """Make training texts ready; see `refless.kernels._blocks.Index`."""
    vocabulary = {"": 0}
    words, starts = number_words(_split(name, training), vocabulary)
    return Index(len(training), partial(_blocks, name, vocabulary, words, starts))


def _split(name: str, texts: Sequence[str]) -> list[list[str]]:
    split = [_WORD.findall(text.lower()) for text in texts]
    if name == "rouge_l.stem":
        stem_of = stems({word for words in split for word in words if len(word) > 3})
        split = [[stem_of.get(word, word) for word in words] for words in split]
    return split


def _blocks(
    name: str,
    vocabulary: dict[str, int],
    words: np.ndarray,
    starts: np.ndarray,
    candidates: Sequence[str],
) -> Iterator[tuple[int, int, Fill]]:
    """Number the candidates' words anew, from 1, and lay training texts side by side."""
    from refless.kernels._lcs import fill_lcs, side_by_side

    candidate_words = {"": 0}
    x, x_starts = number_words(_split(name, candidates), candidate_words)
    # Words that no candidate has cannot match: they count in the length alone.
    renumbered = np.array([candidate_words.get(word, 0) for word in vocabulary], np.int32)
    for start, stop in even_blocks(len(starts) - 1, _WIDTH):
        ends = starts[start : stop + 1]
        s, groups, order = side_by_side(renumbered[words[ends[0] : ends[-1]]], ends - ends[0])
        lengths = np.diff(ends).astype(np.float64)
        n_words = len(candidate_words)
        yield start, stop, partial(fill_lcs, x, x_starts, s, groups, order, lengths, n_words)
