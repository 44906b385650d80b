"""Discriminative BLEU (ΔBLEU): BLEU whose references are weighted by how good they are.

Stage: prediction. In: hypotheses, the references of each, a weight in [-1, +1] for every reference.
Out: statistics of each hypothesis, which add up over any set of them, and scores of such sums.

    ΔBLEU = BP * (p_1 * ... * p_N) ** (1 / N)
    p_n = sum_i sum_g max_{j : r_ij has g} w_ij #_g(h_i, r_ij)  /  sum_i sum_g max_j w_ij #_g(h_i)
    BP = min(1, exp(1 - R / H))

with g over the different n-grams of h_i, #_g(u, v) = min(#_g(u), #_g(v)), H the hypotheses' length
and R that of their closest references (the shorter of two as close). An n-gram that no reference
has adds nothing. With all weights 1 this is BLEU. (Galley et al. 2015, equations 1 and 2.)

Negative weights can make a numerator negative, of which a geometric mean knows nothing, and the
paper does not say what then happens. Here it is a named rule:

=======  ========================================================================================
zero     a precision that is not positive makes the score 0, as in BLEU without smoothing
smooth   it counts as a match count of zero, and the k-th such order gets the precision
         1 / (2^k * denominator): smoothing of mteval-v13a, and what the authors' own code does
         with both. At most 1, which that code does not see to: small weights on few n-grams make
         a denominator below 1 / 2^k
floor    it becomes `FLOOR`, as does a smaller one, and that of an order of which the hypotheses
         have no n-gram
signed   the score is BP times the least precision, at least -1: the only rule under which a score
         falls below 0 and worse matches still make it worse
=======  ========================================================================================

Under the other rules an order of which the hypotheses have no n-gram has precision 0.

The authors' code (github.com/mgalley/sacreBLEU) departs from the formula where a hypothesis repeats
an n-gram: it multiplies the greatest weight of a reference that has g with the greatest clipped
count over all references, be they another's. On its own example both give the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.errors import SettingError

# Compiled loops are imported where they run: who needs names alone does not wait for them.

Array = np.ndarray

NOBODY = -1
"""Owner of references that are never left out."""
RULES = ("zero", "smooth", "floor", "signed")
FLOOR = 1e-9
SMOOTH = -1.0
"""What `FLOOR` is under the rule ``smooth``."""
ROUNDING = 1e-12
"""A precision nearer to 0 is 0: matches of good and bad references may cancel, but for rounding."""


@dataclass(frozen=True)
class References:
    """References of items, item by item.

    bounds : int64 (items + 1,), where the references of an item start
    text : int64 (references,), number of each one's text
    owner : int64 (references,), who wrote it (0, 1, ...), or -1 if it is never left out
    weight : float64 (references,), in [-1, +1]
    """

    bounds: Array
    text: Array
    owner: Array
    weight: Array


@dataclass(frozen=True)
class Statistics:
    """What a score is made of; each is a sum over hypotheses.

    matches : float64 (..., orders), numerators
    totals : float64 (..., orders), denominators
    length : float64 (...), words of the hypotheses
    closest : float64 (...), words of their closest references
    """

    matches: Array
    totals: Array
    length: Array
    closest: Array

    def of_others(self) -> Statistics:
        """Of those by `Texts.statistics`, the ones with all references but the author's own.

        Shapes are (hypotheses, orders) and (hypotheses,).
        """
        return Statistics(*(part[:, 0] for part in vars(self).values()))


class Texts:
    """Texts with their n-grams counted, once for all that is asked about them."""

    def __init__(self, texts: Sequence[str], max_order: int) -> None:
        if not (isinstance(max_order, int | np.integer) and max_order >= 1):
            raise SettingError(f"max_order is {max_order}; it must be a whole number from 1")
        from refless.models._weighted_matches import count_grams

        self.max_order = int(max_order)
        self._grams, self._lengths = count_grams(texts, self.max_order)

    def statistics(
        self, text: Array, owner: Array, item: Array, references: References, owners: int = 0
    ) -> Statistics:
        """Statistics of each hypothesis against the references of its item.

        Parameters
        ----------
        text, owner, item : int64 (hypotheses,): number of the text, who wrote it (-1: nobody whose
            references are to be left out) and its item
        owners : how many owners there are

        Returns
        -------
        Statistics : of shape (hypotheses, 1 + owners): in column 0 with the references of all
            owners but the hypothesis's own, in column 1 + o without those of owner o as well.
            ``closest`` is -1 where no reference is left, and ``totals`` are -inf; they are not
            positive where no reference has a positive weight.
        """
        from refless.models._weighted_matches import add_matches, best_and_closest

        text, owner, item = (np.ascontiguousarray(a, np.int64) for a in (text, owner, item))
        shape = (len(text), 1 + owners)
        side = (
            *(text, owner, item, references.bounds, references.text, references.owner),
            references.weight,
        )
        matches = np.empty((*shape, self.max_order))
        for n, grams in enumerate(self._grams):
            part = np.empty(shape)
            add_matches(*side, *grams, part)
            matches[..., n] = part
        heaviest, closest = np.empty(shape), np.empty(shape, np.int64)
        best_and_closest(*side, self._lengths, heaviest, closest)
        length = self._lengths[text]
        number = np.maximum(length[:, None] - np.arange(self.max_order), 0)
        with np.errstate(invalid="ignore"):  # no reference (-inf) and no n-gram (0)
            totals = heaviest[:, :, None] * number[:, None, :]
        return Statistics(
            matches,
            totals,
            np.broadcast_to(length[:, None], shape).astype(np.float64),
            closest.astype(np.float64),
        )


def scores(statistics: Statistics, rule: str = "zero", max_order: int | None = None) -> Array:
    """ΔBLEU of sums of statistics, shape (...).

    Parameters
    ----------
    rule : for precisions that are not positive, see the module
    max_order : orders 1 to this one; default: all that the statistics have

    Raises
    ------
    SettingError : unknown rule.
    """
    if rule not in RULES:
        raise SettingError(f"unknown rule {rule!r}; there are {', '.join(RULES)}")
    matches, totals = (
        np.ascontiguousarray(np.moveaxis(part[..., :max_order], -1, 0))
        for part in (statistics.matches, statistics.totals)
    )
    return scores_by_order(matches, totals, statistics.length, statistics.closest, rule)


def scores_by_order(
    matches: Array, totals: Array, length: Array, closest: Array, rule: str
) -> Array:
    """`scores` of sums that come order by order: ``matches`` and ``totals`` (orders, ...)."""
    from refless.models._weighted_matches import precisions

    precision = np.empty(matches.shape)
    flat = (len(matches), -1)
    smallest = {"smooth": SMOOTH, "floor": FLOOR}.get(rule, 0.0)
    precisions(
        matches.reshape(flat), totals.reshape(flat), smallest, ROUNDING, precision.reshape(flat)
    )
    with np.errstate(divide="ignore"):
        mean = np.exp(np.log(np.maximum(precision, 0)).sum(axis=0) / len(precision))
    if rule == "signed":
        least = precision.min(axis=0)
        mean = np.where(least > 0, mean, np.maximum(least, -1.0))
    return np.asarray(mean * brevity_penalty(length, closest))


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
    return scores(
        Statistics(
            statistics.matches + extra,
            statistics.totals + extra,
            statistics.length,
            statistics.closest + 1,
        ),
        "zero",
        max_order,
    )


def corpus_delta_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    weights: Sequence[Sequence[float]],
    max_order: int = 4,
    rule: str = "zero",
) -> float:
    """ΔBLEU of hypotheses against weighted references.

    Parameters
    ----------
    hypotheses : one text an item; blanks separate words
    references, weights : one list an item; weights in [-1, +1], one of them positive
    max_order : n-grams of 1 to this many words
    rule : for precisions that are not positive, see the module; the default, ``zero``, is the
        formula without additions, while the experiment on ratings uses ``smooth``

    Returns
    -------
    float : in [-1, 1]; below 0 under the rule ``signed`` alone

    Raises
    ------
    SettingError : there is no hypothesis; a text is no string; lists differ in length; an item has
        no reference, or none of positive weight; a weight is no number in [-1, +1]; an unknown
        rule. It names the item.

    Source: Galley et al. (2015), section 3.
    """
    return _corpus_score(_of_items(hypotheses, references, weights, max_order), rule)


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    max_order: int = 4,
    rule: str = "zero",
) -> float:
    """BLEU, that is ΔBLEU with all weights 1; ``zero`` is BLEU without smoothing.

    Source: Papineni et al. (2002).
    """
    return _corpus_score(_of_items(hypotheses, references, _ones(references), max_order), rule)


def sentence_bleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], max_order: int = 4
) -> Array:
    """Smoothed BLEU of each hypothesis by itself, shape (hypotheses,); see `smoothed_scores`."""
    return smoothed_scores(_of_items(hypotheses, references, _ones(references), max_order))


def _ones(references: Sequence[Sequence[str]]) -> list[list[float]]:
    """Weights of 1; what is no list is left to the check of the texts."""
    return [[1.0] * len(own) for own in references if _is_list(own)] if _is_list(references) else []


def _corpus_score(statistics: Statistics, rule: str) -> float:
    total = Statistics(
        statistics.matches.sum(axis=0),
        statistics.totals.sum(axis=0),
        statistics.length.sum(),
        statistics.closest.sum(),
    )
    return float(scores(total, rule))


def _of_items(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    weights: Sequence[Sequence[float]],
    max_order: int,
) -> Statistics:
    """Statistics of each hypothesis, shape (hypotheses,), of input that is checked."""
    _check_texts(hypotheses, references)
    _check_weights(references, weights)
    n = len(hypotheses)
    flat = [text for own in references for text in own]
    bounds = np.cumsum([0, *map(len, references)]).astype(np.int64)
    weight = np.array([value for own in weights for value in own], np.float64)
    numbers = np.arange(n, n + len(flat))
    references_of_items = References(bounds, numbers, np.full(len(flat), NOBODY), weight)
    counted = Texts([*hypotheses, *flat], max_order)
    found = counted.statistics(np.arange(n), np.full(n, NOBODY), np.arange(n), references_of_items)
    return found.of_others()


def _check_texts(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    for given, what in ((hypotheses, "hypotheses"), (references, "references")):
        _check_list(given, f"the {what}")
    if len(hypotheses) == 0:
        raise SettingError("there is no hypothesis")
    if len(hypotheses) != len(references):
        raise SettingError(
            f"{len(hypotheses)} hypotheses, but references of {len(references)} items",
            remedy="give one list of references for each hypothesis",
        )
    for item, (text, own) in enumerate(zip(hypotheses, references, strict=True)):
        _check_text(text, f"the hypothesis of {_item(item)}")
        _check_list(own, f"the references of {_item(item)}")
        if len(own) == 0:
            raise SettingError(f"{_item(item)} has no reference")
        for text_of in own:
            _check_text(text_of, f"a reference of {_item(item)}")


def _check_text(text: object, what: str) -> None:
    if not isinstance(text, str):
        raise SettingError(
            f"{what} is no text, but {text!r}",
            remedy="texts are strings; join tokens with blanks",
        )


def _check_weights(references: Sequence[Sequence[str]], weights: Sequence[Sequence[float]]) -> None:
    """Of references that are in order."""
    _check_list(weights, "the weights")
    if len(weights) != len(references):
        raise SettingError(
            f"{len(references)} hypotheses, but weights of {len(weights)} items",
            remedy="give one list of weights for each hypothesis",
        )
    for item, (own, given) in enumerate(zip(references, weights, strict=True)):
        _check_list(given, f"the weights of {_item(item)}")
        if len(own) != len(given):
            raise SettingError(f"{_item(item)} has {len(own)} references, but {len(given)} weights")
        value = _numbers(given)
        if value is None:
            raise SettingError(f"{_item(item)} has weights that are no numbers: {given}")
        if not (np.abs(value) <= 1).all():
            bad = value[~(np.abs(value) <= 1)][0]
            raise SettingError(f"{_item(item)} has a weight of {bad}; weights lie in [-1, +1]")
        if not (value > 0).any():
            raise SettingError(
                f"{_item(item)} has no reference of positive weight (the greatest is"
                f" {value.max()})",
                remedy="leave the item out, or give it a reference that is better than the middle"
                " of the scale: without one, its share of the denominator is not positive",
            )


def _numbers(given: Sequence[float]) -> Array | None:
    """As float64 (weights,), or None. Numpy would take '0.5' for a number, and None for NaN."""
    if any(one is None or isinstance(one, str) for one in given):
        return None
    try:
        value = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        return None
    return value if value.ndim == 1 else None


def _check_list(given: object, what: str) -> None:
    if isinstance(given, str):
        raise SettingError(
            f"{what} are one string, {given!r}, and no list",
            remedy="give a list of hypotheses, and a list of references for each of them",
        )
    if not _is_list(given):
        raise SettingError(f"{what} are no list, but {given!r}")


def _item(number: int) -> str:
    return f"item {number} (counted from 0)"


def _is_list(given: object) -> bool:
    """Whether it has a length and is no string; arrays and columns of tables will do."""
    return hasattr(given, "__len__") and not isinstance(given, str | bytes)
