"""BLEU* in which rare n-grams count more: precisions weighted by inverse document frequency.

Stage: kernels. In: candidates x and training texts s. Out: k(x, s) in [0, 1].

    k(x, s) = exp(min(0, 1 - |s| / |x|)) * (P2 * P3 * P4) ** (1 / 3)
    Pn = sum of w(g) min(c(g, x), c(g, s)) / sum of w(g) c(g, x)    over the n-grams g of x
    w(g) = log((N + 1) / (df(g) + 1))

c(g, x) says how often x has g; N is the number of training texts and df(g) in how many of them g
occurs at all (the idf of BERTScore: Zhang et al. 2020, equation 4 with plus-one smoothing). An
n-gram of every training text weighs nothing, one of none weighs log(N + 1). With all weights equal
it is BLEU*. 0 if a precision is 0 or has no weight at all, as for a text of fewer than 4 units.

The paper names the idea as future work, without a formula (Ethayarajh & Sadigh 2020, section 6).
In leave-one-out, frequencies are those of all training texts, the candidate's own text among them,
so that the kernel is one function.

=============  ==========================================================================
bleu_idf.char  n-grams of characters, blanks counted, clipped, as in ``bleu.char``
bleu_idf.word  n-grams of words between blanks, clipped, as in ``bleu.word``
=============  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from refless.kernels._ngrams import ORDERS, in_block
from refless.kernels._plan import Arrays, Fill
from refless.kernels._weighted import fill_weighted
from refless.kernels.bleu import BleuIndex, BleuPlan

NAMES = ("bleu_idf.char", "bleu_idf.word")
PACKAGES: dict[str, tuple[str, ...]] = {}


def plan(name: str, candidates: Sequence[str], training: Sequence[str]) -> IdfPlan:
    """Make texts ready for the kernel ``name``; see ``refless.kernels._plan.Plan``."""
    return index(name, training).plan(candidates)


def index(name: str, training: Sequence[str]) -> IdfIndex:
    """Make training texts ready; see ``refless.kernels._plan.Index``."""
    found = IdfIndex(name.endswith(".word"), clipped=True)
    found.learn(training)
    return found


def opened(name: str, arrays: Mapping[str, np.ndarray]) -> IdfIndex:
    """The index of these arrays; see ``refless.kernels._plan.Index``."""
    found = IdfIndex(name.endswith(".word"), clipped=True)
    found.take(arrays)
    return found


class IdfIndex(BleuIndex):
    """Training texts, with a weight for each unit: that of the n-gram which it is."""

    weights: np.ndarray

    def ready(self) -> None:
        n, count = self.starts[-1], self.numbers.count
        texts = np.zeros(count, np.int64)
        for start in self.starts[:-1]:
            block = self.block(start)
            texts[block.units[:-1]] += np.diff(block.starts)
        # The first occurrence of an n-gram in a text is a unit of its own, which counts texts.
        self.weights = np.log((n + 1) / (texts[self.numbers.gram_of[:count]] + 1))
        super().ready()

    def plan(self, candidates: Sequence[str]) -> IdfPlan:
        return IdfPlan(self, candidates)

    def arrays(self) -> Arrays:
        return {**super().arrays(), "weights": [self.weights]}

    def take(self, arrays: Mapping[str, np.ndarray]) -> None:
        super().take(arrays)
        self.weights = arrays["weights"]


class IdfPlan(BleuPlan):
    """Candidates by their units, and the weight of all n-grams of each."""

    def __init__(self, index: IdfIndex, candidates: Sequence[str]) -> None:
        super().__init__(index, candidates)
        self._weights = index.weights[self._different]
        codes, starts = index.coded(candidates)
        # Unclipped, a candidate's n-grams stand there one by one; those that no training text has
        # are not listed.
        grams, bounds = index.numbers.look_up(codes, starts, clipped=False)
        n, m = self.shape[1], self.shape[0]
        listed = np.diff(bounds)
        place = np.repeat(np.arange(3 * m), listed)
        known = np.bincount(place, index.weights[grams], minlength=3 * m)
        there = np.maximum(self._lengths[:, None] - (np.array(ORDERS) - 1), 0)
        unknown = there - listed.reshape(m, 3)
        self._totals = np.ascontiguousarray(known.reshape(m, 3) + unknown * np.log(n + 1))

    def block(self, start: int, stop: int) -> Fill:
        """Look up the candidates' units in one block of training texts."""
        block = self._index.block(start)
        where, rows = in_block(block, self._different, rows=False)
        lengths = block.lengths[block.length_numbers]

        def fill(first: int, last: int, out: np.ndarray, column: int) -> None:
            fill_weighted(
                self._units,
                self._bounds,
                self._lengths,
                self._weights,
                self._totals,
                where,
                block.posts,
                rows,
                lengths,
                np.empty((3, stop - start), np.float64),
                first,
                last,
                out,
                column,
            )

        return fill
