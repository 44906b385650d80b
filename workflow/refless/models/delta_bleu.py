"""Discriminative BLEU (ΔBLEU): BLEU whose references are weighted by how good they are.

Stage: prediction. In: hypotheses, the references of each, a weight in [-1, +1] for every reference.
Out: statistics of each hypothesis, which add up over any set of them, and scores of such sums.

    ΔBLEU = BP * (p_1 * ... * p_N) ** (1 / N)
    p_n = sum_i sum_g max_{j : r_ij has g} w_ij #_g(h_i, r_ij)  /  sum_i sum_g max_j w_ij #_g(h_i)
    BP = min(1, exp(1 - R / H))

with g over the different n-grams of h_i, #_g(u, v) = min(#_g(u), #_g(v)), H the hypotheses' length
and R that of their closest references (the shorter of two as close). An n-gram that no reference
has adds nothing. With all weights 1 this is BLEU. (Galley et al. 2015, equations 1 and 2.)
The numerator of p_n is `_add_matches`, its denominator `Texts.statistics`.

Negative weights can make a numerator negative; what then happens is a named rule:

=======  ========================================================================================
zero     a precision that is not positive makes the score 0, as in BLEU without smoothing
smooth   it counts as a match count of zero, and the k-th such order gets the precision
         1 / (2^k * denominator), at most 1: smoothing of mteval-v13a, and what the authors' own
         code does (without the limit of 1)
floor    it becomes `FLOOR`, as does a smaller one, and that of an order without an n-gram
signed   the score is BP times the least precision, at least -1: the only rule under which a score
         falls below 0 and worse matches still make it worse
=======  ========================================================================================

Under the other rules an order of which the hypotheses have no n-gram has precision 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from refless.errors import SettingError
from refless.kernels._compiled import compiled

Array = np.ndarray

NOBODY = -1
"""Owner of references that are never left out."""
RULES = ("zero", "smooth", "floor", "signed")
FLOOR = 1e-9
ROUNDING = 1e-12
"""A precision nearer to 0 is 0: matches of good and bad references may cancel, but for rounding."""


@dataclass(frozen=True)
class References:
    """References of items, item by item.

    bounds : int64 (items + 1,), where the references of an item start
    text : int64 (references,), number of each one's text
    owner : int64 (references,), who wrote it (0, 1, ...), or `NOBODY`
    weight : float64 (references,), in [-1, +1]
    """

    bounds: Array
    text: Array
    owner: Array
    weight: Array


def group_references(
    item: Array, items: int, text: Array, owner: Array, weight: Array
) -> References:
    """References in any order, brought in that of their items.

    Parameters
    ----------
    item, text, owner, weight : (references,), of each: its item, from 0 to ``items`` - 1, and as of
        `References`
    """
    order = np.argsort(item, kind="stable")
    bounds = np.searchsorted(item[order], np.arange(items + 1)).astype(np.int64)
    return References(bounds, text[order], owner[order], weight[order])


@dataclass(frozen=True)
class Statistics:
    """What a score is made of; each is a sum over hypotheses.

    matches, totals : float64 (..., orders), numerators and denominators
    length, closest : float64 (...), words of the hypotheses and of their closest references
    """

    matches: Array
    totals: Array
    length: Array
    closest: Array

    def sum(self) -> Statistics:
        """Of all hypotheses together."""
        return Statistics(*(part.sum(axis=0) for part in vars(self).values()))


class Texts:
    """Texts with their n-grams counted, once for all that is asked about them; blanks separate
    words."""

    def __init__(self, texts: Sequence[str], max_order: int) -> None:
        if not (isinstance(max_order, int | np.integer) and max_order >= 1):
            raise SettingError(f"max_order is {max_order}; it must be a whole number from 1")
        self.max_order = int(max_order)
        split = [text.split() for text in texts]
        self._lengths = np.array([len(words) for words in split], np.int64)
        self._grams = [_counted(split, order) for order in range(self.max_order + 1)]

    def statistics(
        self, text: Array, owner: Array, item: Array, references: References, owners: int = 0
    ) -> Statistics:
        """Statistics of each hypothesis against the references of its item.

        Parameters
        ----------
        text, owner, item : int64 (hypotheses,): number of the text, who wrote it (`NOBODY`: nobody
            whose references are to be left out) and its item
        owners : how many owners there are

        Returns
        -------
        Statistics : of shape (hypotheses, 1 + owners): in column 0 with the references of all
            owners but the hypothesis's own, in column 1 + o without those of owner o as well.
            Where no reference has a positive weight, ``totals`` are not positive; where none is
            left, ``closest`` is -1.
        """
        text, owner, item = (np.ascontiguousarray(a, np.int64) for a in (text, owner, item))
        side = (text, owner, item, references.bounds, references.text, references.owner)
        matches = np.empty((1 + self.max_order, len(text), 1 + owners))
        for grams, part in zip(self._grams, matches, strict=True):
            _add_matches(*side, references.weight, *grams, part)
        # every text has the n-gram of no word once, so its match is the greatest weight
        heaviest, matches = matches[0], matches[1:]
        length = self._lengths[text]
        closest = self._closest(length, owner, item, references, owners)
        number = np.maximum(length[:, None] - np.arange(self.max_order), 0)
        totals = heaviest[:, :, None] * number[:, None, :]
        lengths = np.broadcast_to(length[:, None], closest.shape).astype(np.float64)
        return Statistics(np.moveaxis(matches, 0, -1), totals, lengths, closest)

    def _closest(
        self, length: Array, owner: Array, item: Array, references: References, owners: int
    ) -> Array:
        """The length of the reference nearest in length, with columns as of `statistics`."""
        first, sizes = references.bounds[item], np.diff(references.bounds)[item]
        h = np.repeat(np.arange(len(item)), sizes)  # each hypothesis with each of its references
        j = np.arange(len(h)) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
        others = (references.owner[j] != owner[h]) | (owner[h] == NOBODY)
        h, j = h[others], j[others]
        own = self._lengths[references.text[j]]
        width = int(self._lengths.max(initial=0)) + 1
        distance = np.abs(own - length[h]) * width + own  # of two as near, the shorter one
        nearest = np.full((1 + owners, len(item)), width**2)
        for column in range(1 + owners):
            kept = (references.owner[j] != column - 1) | (column == 0)
            np.minimum.at(nearest[column], h[kept], distance[kept])
        return np.where(nearest == width**2, -1.0, nearest % width).T


def tokenize(text: str, tokens: str = "words") -> str:
    """The tokens of a text with blanks between them: ``words`` are lower case with marks apart,
    ``blanks`` what stands between blanks."""
    return text if tokens == "blanks" else " ".join(re.findall(r"\w+|[^\w\s]", text.lower()))


def _counted(split: list[list[str]], order: int) -> tuple[Array, Array, Array]:
    """N-grams by number: those of each text, ascending, text by text; how often the text has each;
    and where a text's start. All int64. Each text has the one of no word once."""
    known: dict[tuple[str, ...], int] = {}
    shifted = ([words[k:] for k in range(order)] for words in split)
    grams = (zip(*own, strict=False) if order else [()] for own in shifted)
    counts = [Counter(known.setdefault(gram, len(known)) for gram in own) for own in grams]
    rows = [sorted(own.items()) for own in counts]
    pairs = np.array([pair for own in rows for pair in own], np.int64).reshape(-1, 2)
    bounds = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return pairs[:, 0].copy(), pairs[:, 1].copy(), bounds


_INT = "int64[::1]"


@compiled(f"void({', '.join([_INT] * 6)}, float64[::1], {', '.join([_INT] * 3)}, float64[:, ::1])")
def _add_matches(
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

    with columns as of `Texts.statistics`. The best match and the best one of another owner are
    kept, so leaving an owner out counts nothing again.
    """
    longest = 0
    for h in range(len(text)):
        longest = max(longest, bounds[text[h] + 1] - bounds[text[h]])
    best = np.empty(longest)
    second = np.empty(longest)  # the best of another owner than that of `best`
    whose = np.empty(longest, np.int64)
    for h in range(len(text)):
        start = bounds[text[h]]
        n = bounds[text[h] + 1] - start
        best[:n] = -np.inf
        second[:n] = -np.inf
        whose[:n] = NOBODY
        for j in range(reference_bounds[item[h]], reference_bounds[item[h] + 1]):
            own = reference_owner[j]
            if own == owner[h] and own != NOBODY:
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
            for o in range(out.shape[1]):
                value = second[g] if o > 0 and whose[g] == o - 1 else best[g]
                if value > -np.inf:
                    out[h, o] += value


def scores(statistics: Statistics, rule: str = "zero", max_order: int | None = None) -> Array:
    """ΔBLEU of sums of statistics, shape (...), by n-grams up to ``max_order`` (default: all).

    Raises
    ------
    SettingError : unknown rule.
    """
    if rule not in RULES:
        raise SettingError(f"unknown rule {rule!r}; there are {', '.join(RULES)}")
    # order by order
    matches, totals = (
        np.ascontiguousarray(np.moveaxis(part[..., :max_order], -1, 0))
        for part in (statistics.matches, statistics.totals)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(totals > 0, matches / totals, 0.0)
        precision[np.abs(precision) < ROUNDING] = 0
        if rule == "smooth":
            lost = (totals > 0) & (precision <= 0)
            halved = np.ldexp(totals[lost], np.cumsum(lost, axis=0)[lost])
            precision[lost] = np.minimum(1 / halved, 1)
        elif rule == "floor":
            precision = np.maximum(precision, FLOOR)
        mean = np.exp(np.log(np.maximum(precision, 0)).sum(axis=0) / len(precision))
    if rule == "signed":
        least = precision.min(axis=0)
        mean = np.where(least > 0, mean, np.maximum(least, -1.0))
    return np.asarray(mean * brevity_penalty(statistics.length, statistics.closest))


def brevity_penalty(length: Array, closest: Array) -> Array:
    """``min(1, exp(1 - closest / length))``; 0 for hypotheses without a word."""
    with np.errstate(divide="ignore", invalid="ignore"):
        penalty = np.exp(np.minimum(0.0, 1 - closest / length))
    return np.where(length > 0, penalty, 0.0)


def smoothed_scores(statistics: Statistics, max_order: int | None = None) -> Array:
    """BLEU+1 with a smoothed brevity penalty, of each sentence: shape (...).

    1 is added to matches and n-grams of the orders from 2 on (Lin & Och 2004), and to the length
    of the reference, so that short sentences do not gain (Nakov et al. 2012, sections 3 and 4).
    A sentence that shares no word with any reference scores 0.
    """
    extra = np.r_[0.0, np.ones(statistics.matches.shape[-1] - 1)]
    matches, totals = statistics.matches + extra, statistics.totals + extra
    added = Statistics(matches, totals, statistics.length, statistics.closest + 1)
    return scores(added, "zero", max_order)


def corpus_delta_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    weights: Sequence[Sequence[float]],
    max_order: int = 4,
    rule: str = "zero",
) -> float:
    """ΔBLEU of hypotheses against weighted references, in [-1, 1].

    Parameters
    ----------
    hypotheses : one text an item; blanks separate words
    references, weights : one list an item; weights in [-1, +1], one of them positive
    max_order : n-grams of 1 to this many words
    rule : for precisions that are not positive, see the module; the default, ``zero``, is the
        formula without additions, while the experiment on ratings uses ``smooth``

    Raises
    ------
    SettingError : lists do not fit together, or an item has a text that is no string, no reference
        of positive weight, or a weight outside of [-1, +1]; an unknown rule.

    Source: Galley et al. (2015), section 3.
    """
    return float(scores(of_items(hypotheses, references, weights, max_order).sum(), rule))


def of_items(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[Any]],
    weights: Sequence[Sequence[Any]],
    max_order: int,
) -> Statistics:
    """Statistics of each hypothesis, shape (hypotheses,); parameters and errors as of
    `corpus_delta_bleu`."""
    n = len(hypotheses)
    if n == 0 or isinstance(hypotheses, str) or not n == len(references) == len(weights):
        raise SettingError(
            f"{n} hypotheses, {len(references)} lists of references, {len(weights)} of weights",
            remedy="give a list of hypotheses, and a list of references and of weights for each",
        )
    items = list(zip(hypotheses, references, weights, strict=True))
    for number, (text, own, given) in enumerate(items):
        if fault := _fault(text, own, given):
            raise SettingError(f"item {number} (from 0) {fault}")
    flat = [text for _, own, _ in items for text in own]
    item = np.repeat(np.arange(n), [len(own) for own in references])
    weight = np.array([value for _, _, given in items for value in given], np.float64)
    side = group_references(item, n, n + np.arange(len(flat)), np.full(len(flat), NOBODY), weight)
    every, nobody = np.arange(n), np.full(n, NOBODY)
    found = Texts([*hypotheses, *flat], max_order).statistics(every, nobody, every, side)
    return Statistics(*(part[:, 0] for part in vars(found).values()))


def _fault(text: Any, references: Any, weights: Any) -> str:
    """What is wrong with an item, if anything."""
    if isinstance(references, str) or len(references) != len(weights):
        return "has no list of references with a weight for each"
    if not all(isinstance(one, str) for one in (text, *references)):
        return "has a text that is no string; join tokens with blanks"
    if not all(isinstance(one, Real) and abs(float(one)) <= 1 for one in weights):
        return "has a weight that is no number in [-1, +1]"
    if not max(weights, default=0) > 0:
        # without one, its share of the denominator is not positive
        return "has no reference of positive weight; leave it out, or add one"
    return ""
