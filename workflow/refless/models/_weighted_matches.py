"""Weighted n-gram matches of hypotheses with their references, each n-gram counted once.

Stage: prediction (helper of ``delta_bleu``). In: texts, whose words blanks separate; who wrote
them; the references' weights. Out: for every hypothesis and order, the sum over its n-grams of the
best weighted match; and the same with all references of any one owner left out.

That last part is what makes references that depend on a pair of systems cheap. An n-gram's best
match and the best one of another owner are kept, so leaving an owner out means replacing the first
by the second where it was that owner's; nothing is counted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from refless.kernels._compiled import compiled
from refless.kernels._texts import number_words
from refless.models.delta_bleu import NOBODY, SMOOTH

Array = np.ndarray


class Grams(NamedTuple):
    """The different n-grams of one order: of text t, those from ``bounds[t]`` to ``bounds[t + 1]``.

    ids : int64, ascending within a text; the same number for the same n-gram anywhere
    counts : int64, how often the text has it
    bounds : int64, shape (texts + 1,)
    """

    ids: Array
    counts: Array
    bounds: Array


def count_grams(texts: Sequence[str], max_order: int) -> tuple[list[Grams], Array]:
    """The n-grams of every text, for orders 1 to ``max_order``, and the texts' lengths in words."""
    known: dict[str, int] = {}
    words, starts = number_words([text.split() for text in texts], known)
    lengths = np.diff(starts)
    text_of = np.repeat(np.arange(len(texts)), lengths)
    left = starts[1:][text_of] - np.arange(len(words))  # words from here to the text's end
    grams = words.astype(np.int64)
    found = []
    for order in range(1, max_order + 1):
        whole = np.flatnonzero(left >= order)
        if order > 1:
            # an n-gram is the (n-1)-gram that begins it, and its last word; numbered anew, so
            # that its number stays small
            keys = grams[whole] * max(len(known), 1) + words[whole + order - 1]
            grams[whole] = np.unique(keys, return_inverse=True)[1]
        width = int(grams[whole].max(initial=0)) + 1
        pairs, counts = np.unique(text_of[whole] * width + grams[whole], return_counts=True)
        bounds = np.searchsorted(pairs // width, np.arange(len(texts) + 1))
        found.append(Grams(pairs % width, counts.astype(np.int64), bounds.astype(np.int64)))
    return found, lengths


_INT, _FLOAT = "int64[::1]", "float64[::1]"


@compiled(
    f"void({_INT}, {_INT}, {_INT}, {_INT}, {_INT}, {_INT}, {_FLOAT}, {_INT}, {_INT}, {_INT},"
    " float64[:, ::1])"
)
def add_matches(
    text: Array,
    owner: Array,
    item: Array,
    reference_bounds: Array,
    reference_text: Array,
    reference_owner: Array,
    weight: Array,
    ids: Array,
    counts: Array,
    bounds: Array,
    out: Array,
) -> None:
    """Write ``out``, shape (hypotheses, 1 + owners): the sum over a hypothesis's n-grams g of

        max over the references j that have g of  weight_j * min(count of g, count of g in j)

    where column 0 leaves no owner out and column 1 + o leaves out owner o. References of the
    hypothesis's own owner never count; an n-gram that no reference has adds nothing.
    """
    longest = 0
    for h in range(len(text)):
        longest = max(longest, bounds[text[h] + 1] - bounds[text[h]])
    best = np.empty(longest)
    second = np.empty(longest)  # the best of another owner than that of `best`
    whose = np.empty(longest, np.int64)
    nothing = -np.inf
    for h in range(len(text)):
        start = bounds[text[h]]
        n = bounds[text[h] + 1] - start
        best[:n] = nothing
        second[:n] = nothing
        whose[:n] = NOBODY
        for j in range(reference_bounds[item[h]], reference_bounds[item[h] + 1]):
            if reference_owner[j] == owner[h] and owner[h] != NOBODY:
                continue
            g, r = 0, bounds[reference_text[j]]
            end = bounds[reference_text[j] + 1]
            while g < n and r < end:
                if ids[start + g] < ids[r]:
                    g += 1
                elif ids[start + g] > ids[r]:
                    r += 1
                else:
                    value = weight[j] * min(counts[start + g], counts[r])
                    own = reference_owner[j]
                    if value > best[g]:
                        if whose[g] != own or own == NOBODY:
                            second[g] = best[g]
                        best[g] = value
                        whose[g] = own
                    elif value > second[g] and (whose[g] != own or own == NOBODY):
                        second[g] = value
                    g += 1
                    r += 1
        out[h, :] = 0.0
        for g in range(n):
            if best[g] == nothing:
                continue
            for o in range(out.shape[1]):
                if o > 0 and whose[g] == o - 1:
                    if second[g] > nothing:
                        out[h, o] += second[g]
                else:
                    out[h, o] += best[g]


@compiled(
    f"void({_INT}, {_INT}, {_INT}, {_INT}, {_INT}, {_INT}, {_FLOAT}, {_INT},"
    " float64[:, ::1], int64[:, ::1])"
)
def best_and_closest(
    text: Array,
    owner: Array,
    item: Array,
    reference_bounds: Array,
    reference_text: Array,
    reference_owner: Array,
    weight: Array,
    lengths: Array,
    heaviest: Array,
    closest: Array,
) -> None:
    """Write, with columns as in `add_matches`, both of shape (hypotheses, 1 + owners):

    heaviest : the greatest weight of a reference; -inf if none is left
    closest : the length nearest to the hypothesis's, the shorter of two as near; -1 if none is left
    """
    for h in range(len(text)):
        n = lengths[text[h]]
        heaviest[h, :] = -np.inf
        closest[h, :] = -1
        for j in range(reference_bounds[item[h]], reference_bounds[item[h] + 1]):
            if reference_owner[j] == owner[h] and owner[h] != NOBODY:
                continue
            length = lengths[reference_text[j]]
            far = abs(length - n)
            for o in range(heaviest.shape[1]):
                if o > 0 and reference_owner[j] == o - 1:
                    continue
                heaviest[h, o] = max(heaviest[h, o], weight[j])
                before = abs(closest[h, o] - n)
                if closest[h, o] < 0 or far < before or (far == before and length < closest[h, o]):
                    closest[h, o] = length


@compiled("void(float64[:, ::1], float64[:, ::1], float64, float64, float64[:, ::1])")
def precisions(matches: Array, totals: Array, smallest: float, rounding: float, out: Array) -> None:
    """Write ``out``, ``matches / totals``, all of shape (orders, scores).

    0 where there is no n-gram (``totals`` is not positive) or the precision is nearer to 0 than
    ``rounding``. ``smallest`` : what a precision is raised to, if it is positive; `SMOOTH`: the
    k-th order of a score whose precision is not positive has ``1 / (2^k totals)``, at most 1.
    """
    for i in range(matches.shape[1]):
        halvings = 1.0
        for n in range(matches.shape[0]):
            total = totals[n, i]
            precision = matches[n, i] / total if total > 0 else 0.0
            if abs(precision) < rounding:
                precision = 0.0
            if smallest == SMOOTH and total > 0 and precision <= 0:
                halvings *= 2.0
                precision = min(1 / (halvings * total), 1.0)
            elif smallest > 0:
                precision = max(precision, smallest)
            out[n, i] = precision
