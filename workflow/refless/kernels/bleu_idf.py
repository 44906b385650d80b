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

from collections.abc import Sequence

import numpy as np

from refless.errors import KernelError
from refless.kernels._ngrams import ORDERS, index_of
from refless.kernels._plan import Fill
from refless.kernels._weighted import fill_weighted
from refless.kernels.bleu import BleuPlan

NAMES = ("bleu_idf.char", "bleu_idf.word")
PACKAGES: dict[str, tuple[str, ...]] = {}

MOST = 2**31 // (2 * len(ORDERS))
"""Characters or words of all texts: every position may be a unit of each order, and a repeated one
too, and unit numbers have 31 bits."""


def plan(name: str, candidates: Sequence[str], training: Sequence[str]) -> IdfPlan:
    """Make texts ready for the kernel ``name``; see ``refless.kernels._plan.Plan``."""
    return IdfPlan(candidates, training, name.endswith(".word"))


class IdfPlan(BleuPlan):
    """Candidates and training texts as n-gram numbers, with a weight for each n-gram."""

    def __init__(self, candidates: Sequence[str], training: Sequence[str], words: bool) -> None:
        size = sum(map(len, training)) * 2 + sum(map(len, candidates))
        if size > MOST:
            raise KernelError(
                f"{size} characters are too many for one matrix",
                remedy="score the candidates in several parts",
            )
        super().__init__(candidates, training, words, clipped=True)
        # Unclipped, a candidate's n-grams stand there one by one, and a training text has each of
        # its own once: the latter counts documents. The training texts stand there as candidates
        # as well, so that each of their units meets its n-gram, the repeated ones too.
        grams = BleuPlan([*training, *candidates], training, words, clipped=False)
        n, m = len(training), len(candidates)
        once, every = int(grams._bounds[3 * n]), int(grams._bounds[6 * n])
        df = np.bincount(grams._units[:once], minlength=grams._n_units)
        weights = np.log((n + 1) / (df + 1))
        self._weights = np.zeros(self._n_units, np.float64)
        self._weights[self._units[: self._bounds[3 * n]]] = weights[grams._units[once:every]]
        # The weight of all n-grams of a candidate; those that no training text has are not listed.
        listed = np.diff(grams._bounds[6 * n :])
        place = np.repeat(np.arange(3 * m), listed)
        known = np.bincount(place, weights[grams._units[every:]], minlength=3 * m)
        there = np.maximum(self._lengths[:, None] - (np.array(ORDERS) - 1), 0)
        unknown = there - listed.reshape(m, 3)
        self._totals = np.ascontiguousarray(known.reshape(m, 3) + unknown * np.log(n + 1))

    def block(self, start: int, stop: int) -> Fill:
        """Index one block of training texts."""
        where, posts, rows = index_of(self._units, self._bounds, start, stop, self._n_units)
        training_lengths = self._training_lengths[start:stop].copy()

        def fill(first: int, last: int, out: np.ndarray, column: int) -> None:
            fill_weighted(
                self._units,
                self._candidate_bounds,
                self._lengths,
                self._weights,
                self._totals,
                where,
                posts,
                rows,
                training_lengths,
                np.empty((3, stop - start), np.float64),
                first,
                last,
                out,
                column,
            )

        return fill
