"""Discriminative BLEU (ΔBLEU): BLEU whose references are weighted by how good they are.

Stage: prediction. In: hypotheses, the references of each, a weight in [-1, +1] for every reference.
Out: statistics of each hypothesis, which add up over any set of them, and scores of such sums.
Source: Galley et al. (2015), equations 1 and 2; `_add_matches` has the numerators.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.compute.compiled import are_indices, compiled
from refless.compute.words import number_words
from refless.errors import SettingError

Array = np.ndarray
Lists = Sequence[Sequence[str]]
Weights = Sequence[Sequence[float]]

NOBODY = -1
"""Owner of references that are never left out."""
RULES = ("zero", "smooth", "floor", "signed")
FLOOR = 1e-9
ROUNDING = 1e-12
"""A precision nearer to 0 is 0: matches of good and bad references may cancel, but for rounding."""


class TextRows(NamedTuple):
    """Hypotheses, or references: int64 (rows,) each, the number of the text, who wrote it (0, 1,
    ..., or `NOBODY`), and the item that it belongs to (0, 1, ...)."""

    text: Array
    owner: Array
    item: Array


def parts(statistics: Array) -> tuple[Array, Array, Array, Array]:
    """Statistics (..., 2 N + 2) taken apart, each a sum over hypotheses: numerators and
    denominators by order (..., N); words of hypotheses and of their closest references (...).

    >>> parts(np.array([1.0, 0.5, 2.0, 1.0, 4.0, 5.0]))[1]
    array([2., 1.])
    """
    orders = statistics.shape[-1] // 2 - 1
    matches = statistics[..., :orders]
    totals = statistics[..., orders:-2]
    return matches, totals, statistics[..., -2], statistics[..., -1]


class IndexedTexts:
    """Texts with their n-grams counted, once for all that is asked about them; blanks separate
    words."""

    def __init__(self, texts: Sequence[str], max_order: int) -> None:
        if not isinstance(max_order, int | np.integer) or max_order < 1:
            raise SettingError(f"max_order is {max_order}; it must be a whole number from 1")
        self.max_order = max_order
        split = [text.split() for text in texts]
        self._lengths = np.array([len(words) for words in split], np.int64)
        vocabulary: dict[str, int] = {}
        words, _ = number_words(split, vocabulary)
        text = np.repeat(np.arange(len(split)), self._lengths)
        gram = words.astype(np.int64)
        by_order = []
        for order in range(1, max_order + 1):
            starts_in = text[: len(gram)]
            inside = starts_in == text[order - 1 :]
            by_order.append(np.stack([starts_in, gram * max_order + order - 1])[:, inside])
            # the next n-gram is the one that it starts with, and its last word
            gram = pd.factorize(gram[:-1] * len(vocabulary) + words[order:])[0]
        text, gram = np.concatenate(by_order, axis=1)
        by_text = np.argsort(text, kind="stable")
        number, grams = pd.factorize(gram[by_text])  # in the order in which they are met
        pairs = text[by_text] * (len(grams) + 1) + number
        pairs, count = np.unique(pairs, return_counts=True)
        text, number = np.divmod(pairs, len(grams) + 1)
        self._bounds = np.searchsorted(text, np.arange(len(split) + 1)).astype(np.int64)
        self._grams = np.stack([number, count, 1 + grams[number] % max_order])

    def statistics(
        self,
        hypotheses: TextRows,
        references: TextRows,
        weight: Array,
        groups: int = 0,
        group: Array | None = None,
    ) -> Array:
        """Statistics of each hypothesis against the references of its item.

        weight : of each reference, float64, in [-1, +1]
        groups : how many groups of references are left out in turn
        group : of each reference, int64, from 0, or `NOBODY`; None: its owner
        Returns float64 (hypotheses, 1 + groups, 2 N + 2), see `parts`: in column 0 with the
            references of all owners but the hypothesis's own, in column 1 + g without those of
            group g as well. Where no reference has a positive weight, denominators are not
            positive; where none is left, the words of the closest are -1.

        Raises SettingError: rows do not fit together, or are of no text, item or owner.
        """
        hypotheses = self._checked(hypotheses)
        references = self._checked(references)
        weight = np.ascontiguousarray(weight, np.float64)
        if weight.shape != references.text.shape or np.isnan(weight).any() or groups < 0:
            raise SettingError(
                f"weights of shape {weight.shape} for {len(references.text)} references, and"
                f" {groups} groups",
                remedy="give one number for each reference, and 0 groups or more",
            )
        group = references.owner if group is None else np.asarray(group, np.int64)
        text, owner, item = hypotheses
        order = np.argsort(references.item, kind="stable")
        items = np.arange(item.max(initial=-1) + 2)
        bounds = np.searchsorted(references.item[order], items).astype(np.int64)
        references = TextRows(*(column[order] for column in references))
        group = group[order]
        ends, postings = self._postings(references)
        best = np.zeros((self.max_order + 2, len(text), 1 + groups))
        _add_matches(
            text=text,
            owner=owner,
            item=item,
            reference_bounds=bounds,
            references=np.stack([references.owner, self._lengths[references.text], group]),
            weight=weight[order],
            posting_bounds=ends[bounds],
            postings=postings,
            lengths=self._lengths,
            grams=self._grams,
            bounds=self._bounds,
            out=best,
        )
        matches = best[:-2]
        heaviest = best[-2]
        nearest = best[-1]
        length = self._lengths[text][:, None]
        grams = np.maximum(length - np.arange(self.max_order)[:, None, None], 0)
        closest = np.where(nearest < 0, (-1 - nearest) % (self._lengths.max() + 1), -1)
        lengths = np.broadcast_to(length, closest.shape)
        columns = [*matches, *(heaviest * grams), lengths, closest]
        return np.stack(columns, axis=-1)

    def _checked(self, rows: TextRows) -> TextRows:
        """The rows as the compiled code reads them."""
        shape = (np.size(rows.text),)
        most = np.iinfo(np.int64).max
        fits = (
            are_indices(rows.text, shape, 0, len(self._lengths))
            and are_indices(rows.owner, shape, NOBODY, most)
            and are_indices(rows.item, shape, 0, most)
        )
        if not fits:
            raise SettingError(
                f"rows do not fit {len(self._lengths)} texts, or each other",
                remedy="give each row a text and an item, from 0, and an owner, from -1",
            )
        return TextRows(*(np.ascontiguousarray(column, np.int64) for column in rows))

    def _postings(self, references: TextRows) -> tuple[Array, Array]:
        """Where the n-grams of each reference begin and end, and all of them, item by item in their
        order: int64 (3, n-grams), number, row of the reference, count."""
        size = np.diff(self._bounds)[references.text]
        ends = np.cumsum(np.append(0, size))
        row = np.repeat(np.arange(len(size)), size)
        shift = np.repeat(self._bounds[references.text] - ends[:-1], size)
        ids, counts, _ = self._grams[:, np.arange(len(row)) + shift]
        key = references.item[row] * (ids.max(initial=0) + 1) + ids
        postings = np.stack([ids, row, counts])[:, np.argsort(key, kind="stable")]
        return ends, np.ascontiguousarray(postings)


def tokenize(text: str, tokens: str = "words") -> str:
    """The tokens of a text with blanks between them: ``words`` are lower case with marks apart,
    ``blanks`` what stands between blanks.

    >>> tokenize("It's good.")
    "it ' s good ."
    """
    return text if tokens == "blanks" else " ".join(re.findall(r"\w+|[^\w\s]", text.lower()))


_INT = "int64[::1]"
_INTS = "int64[:, ::1]"
_FLOAT = "float64[::1]"
_OUT = "float64[:, :, ::1]"


@compiled(f"Tuple((float64, float64, int64))({_FLOAT}, {_INT}, {_INT}, int64)")
def best_and_runner_up(
    values: Array, owners: Array, groups: Array, left_out: int
) -> tuple[float, float, int]:
    """The greatest of some values (n,), without those of the owner ``left_out``; the greatest that
    is not of the same group; and this group. -inf and `NOBODY` where there is none."""
    best = second = -np.inf
    winner = NOBODY
    for k in range(len(values)):
        value = values[k]
        group = groups[k]
        if owners[k] == left_out and left_out != NOBODY:
            continue
        if value > best:
            if winner != group or group == NOBODY:
                second = best
            best = value
            winner = group
        elif value > second and (winner != group or group == NOBODY):
            second = value
    return best, second, winner


@compiled(f"void({_FLOAT}, float64, float64, int64)")
def _add_best(out: Array, best: float, second: float, winner: int) -> None:
    """Add to ``out`` (1 + groups,) what is best if nothing is left out, or each group is."""
    for column in range(len(out)):
        value = second if column > 0 and winner == column - 1 else best
        if value > -np.inf:
            out[column] += value


@compiled(
    f"void({_INT}, {_INT}, {_INT}, {_INT}, {_INTS}, {_FLOAT}, {_INT}, {_INTS}, {_INT}, {_INTS},"
    f" {_INT}, {_OUT})"
)
def _add_matches(
    text: Array,
    owner: Array,
    item: Array,
    reference_bounds: Array,
    references: Array,
    weight: Array,
    posting_bounds: Array,
    postings: Array,
    lengths: Array,
    grams: Array,
    bounds: Array,
    out: Array,
) -> None:
    """Write ``out`` (zeros), shape (orders + 2, hypotheses, 1 + groups), with columns as of
    `IndexedTexts.statistics`: the sum over a hypothesis's n-grams g of each order of

        max over the references j that have g of  weight_j * min(count of g, count of g in j)

    then the greatest weight, and -1 - (distance * width + length) of the reference that is nearest
    in length, the shorter of two as near. The best value and the best one of another group are
    kept, so leaving a group out counts nothing again. ``references`` has owners, lengths and
    groups.
    """
    width = lengths.max() + 1
    most = 0
    for number in reference_bounds[1:] - reference_bounds[:-1]:
        most = max(most, number)
    values = np.empty(most)
    owners = np.empty(most, np.int64)
    groups = np.empty(most, np.int64)
    for h in range(len(text)):
        low = reference_bounds[item[h]]
        high = reference_bounds[item[h] + 1]
        weights = weight[low:high]
        writers = references[0, low:high]
        part = references[2, low:high]
        best, second, winner = best_and_runner_up(weights, writers, part, owner[h])
        _add_best(out[-2, h], best, second, winner)
        for j in range(low, high):
            distance = abs(references[1, j] - lengths[text[h]])
            values[j - low] = -1.0 - (distance * width + references[1, j])
        best, second, winner = best_and_runner_up(values[: high - low], writers, part, owner[h])
        _add_best(out[-1, h], best, second, winner)
        first = posting_bounds[item[h]]
        last = posting_bounds[item[h] + 1]
        for k in range(bounds[text[h]], bounds[text[h] + 1]):
            gram, count, order = grams[:, k]
            first += np.searchsorted(postings[0, first:last], gram)
            number = 0
            while first + number < last and postings[0, first + number] == gram:
                j = postings[1, first + number]
                values[number] = weight[j] * min(count, postings[2, first + number])
                owners[number] = references[0, j]
                groups[number] = references[2, j]
                number += 1
            best, second, winner = best_and_runner_up(
                values[:number], owners[:number], groups[:number], owner[h]
            )
            _add_best(out[order - 1, h], best, second, winner)


def scores(
    statistics: Array,
    rule: str = "zero",
    max_order: int | None = None,
    *,
    effective_order: bool = False,
) -> Array:
    """ΔBLEU of sums of statistics (see `parts`), shape (...), by n-grams up to ``max_order``
    (default: all). With ``effective_order``, for single sentences, N is the highest order of which
    there is an n-gram, as sacreBLEU counts.

    With H words of hypotheses and R of their closest references, it is

        min(1, exp(1 - R / H)) * (p_1 * ... * p_N) ** (1 / N),  p_n = matches / totals

    ``rule`` says what is done with a precision that is not positive, or of no n-gram:

    =======  ====================================================================================
    zero     the score is 0, as in BLEU without smoothing
    smooth   the k-th such order gets 1 / (2^k * totals), at most 1, as in mteval-v13a
    floor    it becomes `FLOOR`, as does a smaller one
    signed   the score is the penalty times the least precision, at least -1
    =======  ====================================================================================

    Raises SettingError: unknown rule.

    >>> each = of_items(["a cat sat", "no"], [["a cat"], ["no"]], [[1.0], [0.5]], max_order=2)
    >>> scores(each, effective_order=True).round(2)
    array([0.58, 1.  ])
    """
    if rule not in RULES:
        raise SettingError(f"unknown rule {rule!r}; there are {', '.join(RULES)}")
    *fractions, length, closest = parts(statistics)
    matches, totals = (
        np.ascontiguousarray(np.moveaxis(part[..., :max_order], -1, 0)) for part in fractions
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(totals > 0, matches / totals, 0.0)
        precision[np.abs(precision) < ROUNDING] = 0
        if rule == "smooth" and (lost := (totals > 0) & (precision <= 0)).any():
            part = np.ldexp(1.0, -lost.cumsum(axis=0))
            precision = np.where(lost, np.minimum(part / totals, 1), precision)
        elif rule == "floor":
            precision = np.maximum(precision, FLOOR)
        orders: Any = len(precision)
        if effective_order:
            orders = (totals > 0).sum(axis=0)
            # no factor, unless it is the only one
            precision = np.where((totals > 0) | (orders == 0), precision, 1.0)
        mean = np.exp(np.log(np.maximum(precision, 0)).sum(axis=0) / np.maximum(orders, 1))
    if rule == "signed":
        least = precision.min(axis=0)
        mean = np.where(least > 0, mean, np.maximum(least, -1.0))
    return np.asarray(mean * brevity_penalty(length, closest))


def brevity_penalty(length: Array, closest: Array) -> Array:
    """``min(1, exp(1 - closest / length))``; 0 for hypotheses without a word.

    >>> brevity_penalty(np.array([4, 4, 0]), np.array([3, 8, 1])).round(2)
    array([1.  , 0.37, 0.  ])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        penalty = np.exp(np.minimum(0.0, 1 - closest / length))
    return np.where(length > 0, penalty, 0.0)


def smoothed_scores(statistics: Array, max_order: int | None = None) -> Array:
    """BLEU+1 with a smoothed brevity penalty, of each sentence: shape (...).

    1 is added to matches and n-grams of the orders from 2 on (Lin & Och 2004), and to the length
    of the reference, so that short sentences do not gain (Nakov et al. 2012, sections 3 and 4).
    A sentence that shares no word with any reference scores 0.

    >>> each = of_items(["a cat x", "no"], [["a cat sat down"], ["yes"]], [[1], [1]], max_order=2)
    >>> smoothed_scores(each).round(4)  # 2 / 3 and (1 + 1) / (2 + 1); penalty exp(1 - (4 + 1) / 3)
    array([0.3423, 0.    ])
    """
    from_2 = [0.0] + [1.0] * (statistics.shape[-1] // 2 - 2)
    return scores(statistics + np.array([*from_2, *from_2, 0, 1]), "zero", max_order)


def described(total: Array) -> dict[str, Any]:
    """What sacreBLEU says of a score, from a sum of statistics: ``score``, 100 ΔBLEU by the rule
    ``smooth``; ``precisions`` in percent, before it; brevity penalty ``bp``; words of hypotheses,
    ``hyp_len``, and of their closest references, ``ref_len``.

    >>> described(of_items(["a cat x y"], [["a cat"]], [[0.5]], max_order=1)[0])["precisions"]
    [50.0]
    """
    matches, totals, length, closest = parts(total)
    precisions = np.divide(matches, totals, out=np.zeros_like(matches), where=totals > 0)
    return {
        "score": 100 * float(scores(total, "smooth")),
        "precisions": (100 * precisions).tolist(),
        "bp": float(brevity_penalty(length, closest)),
        "hyp_len": int(length),
        "ref_len": int(closest),
    }


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
    rule : for precisions that are not positive, see `scores`; the default, ``zero``, is the
        formula without additions, while `refless delta-bleu` and the tables use ``smooth``

    Raises
    ------
    SettingError : lists do not fit together; an item has no reference of positive weight, or a
        weight outside of [-1, +1]; an unknown rule.

    Source: Galley et al. (2015), section 3.

    Examples
    --------
    >>> references, weights = [["a cat sat down", "the dog left"]], [[1.0, -1.0]]
    >>> round(corpus_delta_bleu(["a cat sat up"], references, weights, max_order=2), 4)
    0.7071
    """
    statistics = of_items(hypotheses, references, weights, max_order)
    return float(scores(statistics.sum(axis=0), rule))


def of_items(
    hypotheses: Sequence[str], references: Lists, weights: Weights, max_order: int
) -> Array:
    """Statistics of each hypothesis (hypotheses, 2 N + 2), see `parts`; parameters and errors as of
    `corpus_delta_bleu`.

    >>> of_items(["a cat"], [["a cat sat"]], [[0.5]], max_order=2)
    array([[1. , 0.5, 1. , 0.5, 2. , 3. ]])
    """
    n = len(hypotheses)
    if n == 0 or not n == len(references) == len(weights):
        raise SettingError(
            f"{n} hypotheses, {len(references)} lists of references, {len(weights)} of weights",
            remedy="give a list of references and of weights for each hypothesis",
        )
    for number, (texts, values) in enumerate(zip(references, weights, strict=True)):
        fits = not isinstance(texts, str) and len(texts) == len(values)
        if not fits or not max(values, default=0) > 0 or not all(abs(w) <= 1 for w in values):
            # without a positive one, an item's share of the denominator is not positive
            raise SettingError(
                f"item {number} (from 0) has no list of references with a weight in [-1, 1] each,"
                " one of them above 0",
                remedy="leave it out, or give it one",
            )
    flat = [text for texts in references for text in texts]
    weight = np.array([value for values in weights for value in values], np.float64)
    item = np.repeat(np.arange(n), [len(texts) for texts in references])
    of_references = TextRows(n + np.arange(len(flat)), np.full(len(flat), NOBODY), item)
    of_hypotheses = TextRows(np.arange(n), np.full(n, NOBODY), np.arange(n))
    counted = IndexedTexts([*hypotheses, *flat], max_order)
    return counted.statistics(of_hypotheses, of_references, weight)[:, 0]
