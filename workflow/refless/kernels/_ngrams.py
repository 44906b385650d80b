"""N-grams as integers, an index of them, and BLEU* read off that index.

Stage: kernels (helper of ``bleu``). In: every text as a row of integers (characters or words).

Clipped counts become set intersections: the k-th occurrence of an n-gram in a text is a *unit*
of its own, so min(count in x, count in s) is the number of units that x and s share. Each unit is
added where it occurs and nowhere else, so work follows the overlaps.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from refless.compute.compiled import compiled
from refless.compute.words import number_words, starts_of
from refless.errors import KernelError
from refless.kernels._blocks import Fill, even_blocks

_WIDTH = 8192
"""Training texts in a block: their counts stay in the fast cache. Below 65,536."""
_MOST_UNITS = 1 << 30
"""Units have numbers below this one, and a block has no more of them."""

_FREQUENT = 32
"""A unit in more than 1/_FREQUENT of a block's texts is read as a row of bytes, one for each text,
which adds 32 texts at a time; the others as a list of texts."""
_MANY_CANDIDATES = 16
"""Candidates from which on such rows pay: they are made for each block."""
_ROWS_AT_ONCE = 255
"""Rows of bytes that are added before the bytes could overflow."""


# ---- numbering -----------------------------------------------------------------------------------


def empty_table() -> tuple[np.ndarray, np.ndarray]:
    """What `number_units` starts with.

    table : int64 (slots, 2), an open hash table of (key, number), at most half full; -1 is no key
    met : int32 (half the slots, 2): the training text (from 1) that an n-gram was met in last, and
        how often there
    """
    return np.full((1 << 10, 2), -1), np.zeros((1 << 9, 2), np.int32)


@compiled("int64(int64[:, ::1], int64, int64)")
def number_of(table: np.ndarray, key: np.int64, new: int) -> int:
    """The number of a key; if it has none, ``new``, which it has from now on unless that is -1."""
    last = len(table) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(mixed >> np.uint64(32)) & last
    while table[slot, 0] != key:
        if table[slot, 0] == -1:
            if new >= 0:
                table[slot, 0] = key
                table[slot, 1] = new
            return new
        slot = (slot + 1) & last
    return table[slot, 1]


@compiled("Tuple((int64[:, ::1], int32[:, ::1]))(int64[:, ::1], int32[:, ::1], int64)")
def grown(table: np.ndarray, met: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Both arrays of `empty_table` with room for ``count`` numbers."""
    slots = len(table)
    while slots < 2 * count:
        slots *= 2
    more_slots = np.full((slots, 2), np.int64(-1))
    for k in range(len(table)):
        if table[k, 0] != -1:
            number_of(more_slots, table[k, 0], table[k, 1])
    more_met = np.zeros((slots // 2, 2), np.int32)
    more_met[: len(met)] = met
    return more_slots, more_met


@compiled(
    "Tuple((int32[::1], int64[::1], int64[:, ::1], int32[:, ::1], int64))(int32[::1], int64[::1],"
    " int64[:, ::1], int32[:, ::1], int64, int64, boolean, boolean)"
)
def number_units(
    codes: np.ndarray,
    starts: np.ndarray,
    table: np.ndarray,
    met: np.ndarray,
    count: int,
    before: int,
    learn: bool,
    clipped: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Number the units of texts.

    codes, starts : characters or words of all texts, and where each text starts
    table, met, count : see `empty_table`; so many units have a number: 0, 1, ...
    before : texts that were learnt before
    learn : whether new units of training texts get a number; else those of candidates are left out
    clipped : whether the k-th occurrence of an n-gram is a unit of its own; if not, a training text
        has each of its n-grams once, and a candidate as often as it occurs there
    Returns units : int32 (all units,), text by text and in each by order
    bounds : int64 (3 * texts + 1,), where the units of text t and order 2 + o start: 3 * t + o
    table, met, count : as they are now
    """
    units = np.empty(3 * len(codes), np.int32)
    grams = codes.copy()
    bounds = np.zeros(3 * (len(starts) - 1) + 1, np.int64)
    filled = 0
    for text in range(len(starts) - 1):
        end = starts[text + 1]
        room = count + 6 * (end - starts[text])
        if learn and 2 * room > len(table):
            table, met = grown(table, met, room)
        for order in range(2, 5):
            for i in range(starts[text], end - order + 1):
                # An n-gram is the (n-1)-gram that starts with it, and its last element.
                if grams[i] < 0:
                    continue
                key = (np.int64(grams[i]) << 31) | np.int64(codes[i + order - 1])
                number = number_of(table, key, count if learn else -1)
                if number < 0:
                    grams[i] = -1
                    continue
                count = max(count, number + 1)
                # n-grams that start with it: their keys are above those of characters and words
                grams[i] = np.int32((1 << 30) + number)
                if met[number, 0] != before + text + 1:
                    met[number, 0] = before + text + 1
                    met[number, 1] = 0
                elif clipped:
                    met[number, 1] += 1
                    key = (np.int64(1) << 62) | (number << 31) | np.int64(met[number, 1])
                    number = number_of(table, key, count if learn else -1)
                    if number < 0:
                        continue
                    count = max(count, number + 1)
                elif learn:
                    continue
                units[filled] = number
                filled += 1
            bounds[3 * text + order - 1] = filled
    return units[:filled].copy(), bounds, table, met, count


# ---- blocks --------------------------------------------------------------------------------------


class Block(NamedTuple):
    """Some consecutive training texts, by the units that they have.

    units : int32, those that occur here, ascending; at the end one that is none
    starts : int32, one more: where the texts of each unit start in ``posts``
    posts : uint16, texts (counted from the block's first) of one unit after the other
    lengths : int64, the different lengths of the texts
    length_numbers : uint32 (texts,), which of them each text has
    """

    units: np.ndarray
    starts: np.ndarray
    posts: np.ndarray
    lengths: np.ndarray
    length_numbers: np.ndarray


def block_of(units: np.ndarray, starts: np.ndarray, count: int, lengths: np.ndarray) -> Block:
    """Index texts of these lengths by their units; ``starts`` of each text in ``units``."""
    counts = np.bincount(units, minlength=count)
    used = np.flatnonzero(counts)
    unit_starts = np.append([0], np.append(np.cumsum(counts[used]), len(units))).astype(np.int32)
    places = np.zeros(count, np.int32)
    posts = np.empty(len(units), np.uint16)
    places[used] = unit_starts[:-2]
    fill_posts(units, starts, places, posts)
    different, numbers = np.unique(lengths, return_inverse=True)
    ending = np.append(used, np.iinfo(np.int32).max).astype(np.int32)
    return Block(ending, unit_starts, posts, different, numbers.astype(np.uint32))


@compiled("void(int32[::1], int64[:], int32[::1], uint16[::1])")
def fill_posts(
    units: np.ndarray, starts: np.ndarray, places: np.ndarray, posts: np.ndarray
) -> None:
    """Write each text where its units' lists go on; ``places`` move on."""
    for text in range(len(starts) - 1):
        for unit in units[starts[text] : starts[text + 1]]:
            posts[places[unit]] = text
            places[unit] += 1


def in_block(block: Block, units: np.ndarray, candidates: int) -> tuple[np.ndarray, np.ndarray]:
    """Where these units (ascending) of so many candidates stand in a block.

    Returns where : int32 (units, 2), from where to where a unit's texts stand in ``posts``; or, for
        a frequent one of `_MANY_CANDIDATES` candidates, twice -1 - its row of ``rows``
    rows : uint8 (frequent units, texts), 1 where a text has the unit
    """
    places = np.searchsorted(block.units, units)
    where = np.stack([block.starts[places], block.starts[places + 1]], axis=1)
    where[block.units[places] != units] = 0
    texts = len(block.length_numbers)
    often = (where[:, 1] - where[:, 0] > texts // _FREQUENT) & (candidates >= _MANY_CANDIDATES)
    frequent = np.zeros((np.count_nonzero(often), texts), np.uint8)
    for row, (start, end) in zip(frequent, where[often], strict=True):
        row[block.posts[start:end]] = 1
    where[often] = -1 - np.arange(len(frequent), dtype=np.int32)[:, None]
    return where, frequent


@compiled("void(uint8[:, ::1], int64[::1], uint8[::1], uint32[::1])")
def add_rows(rows: np.ndarray, chosen: np.ndarray, few: np.ndarray, total: np.ndarray) -> None:
    """Add rows of bytes, of which no more than `_ROWS_AT_ONCE` are chosen, to a total."""
    n = len(total)
    for text in range(n):
        few[text] = 0
    # Four at a time, so that the bytes added up are read and written less often.
    k = 0
    while k + 4 <= len(chosen):
        a = rows[chosen[k]]
        b = rows[chosen[k + 1]]
        c = rows[chosen[k + 2]]
        d = rows[chosen[k + 3]]
        for text in range(n):
            few[text] += a[text] + b[text] + c[text] + d[text]
        k += 4
    for row in chosen[k:]:
        a = rows[row]
        for text in range(n):
            few[text] += a[text]
    for text in range(n):
        total[text] += few[text]


@compiled(
    "void(int32[::1], int64[::1], int64[::1], int32[:, ::1], uint16[::1], uint8[:, ::1],"
    " uint32[::1], int64[::1], float64[::1], int64, int64, float64[:, ::1])"
)
def fill_bleu(
    units: np.ndarray,
    bounds: np.ndarray,
    lengths: np.ndarray,
    where: np.ndarray,
    posts: np.ndarray,
    rows: np.ndarray,
    length_numbers: np.ndarray,
    training_lengths: np.ndarray,
    roots: np.ndarray,
    first: int,
    last: int,
    out: np.ndarray,
) -> None:
    """BLEU* of candidates ``first`` to ``last - 1`` against the texts of a block, into ``out``.

    units, bounds, lengths : the candidates' units, where they start, and the texts' lengths
    where, posts, rows : see `in_block`
    length_numbers, training_lengths : text t of the block has the length
        ``training_lengths[length_numbers[t]]``
    roots : cube roots of 0, 1, ... up to the greatest length
    """
    n = len(length_numbers)
    shared = np.empty((3, n), np.uint32)
    few = np.empty(n, np.uint8)
    beta = np.empty(len(training_lengths))
    parts = np.empty((3, len(roots)))
    chosen = np.empty(_ROWS_AT_ONCE, np.int64)
    for candidate in range(first, last):
        length = lengths[candidate]
        some = False
        # 4-grams first: without a shared one the kernel is 0.
        for order in range(2, -1, -1):
            begin = bounds[3 * candidate + order]
            end = bounds[3 * candidate + order + 1]
            for text in range(n):
                shared[order, text] = 0
            n_chosen = 0
            for i in range(begin, end):
                low = where[units[i], 0]
                high = where[units[i], 1]
                some |= low < 0 or low < high
                if low < 0:
                    chosen[n_chosen] = -1 - low
                    n_chosen += 1
                for p in range(low, high):
                    shared[order, posts[p]] += np.uint32(1)
                if n_chosen == len(chosen) or (i == end - 1 and n_chosen > 0):
                    add_rows(rows, chosen[:n_chosen], few, shared[order])
                    n_chosen = 0
            if not some:
                break
        if not some:
            out[candidate - first] = 0.0
            continue
        for i in range(len(beta)):
            beta[i] = math.exp(min(0.0, 1.0 - training_lengths[i] / length))
        # Cube roots of precisions; those of 1 are exactly 1, and so is a text's BLEU* with itself.
        for order in range(3):
            whole = length - 1 - order
            for k in range(whole + 1):
                parts[order, k] = roots[k] / roots[whole]
        # Where no 4-gram is shared a factor is 0: no question asked, as it would be guessed wrong.
        for text in range(n):
            out[candidate - first, text] = (
                parts[0, shared[0, text]]
                * parts[1, shared[1, text]]
                * parts[2, shared[2, text]]
                * beta[length_numbers[text]]
            )


# ---- the index ----------------------------------------------------------------------------------


class NgramIndex:
    """Training texts, block by block: which of them have which units.

    words : whether n-grams are of words between blanks; if not, of characters
    clipped : see `number_units`
    Raises KernelError: there are too many different n-grams.
    """

    def __init__(self, training: Sequence[str], *, words: bool, clipped: bool) -> None:
        self._words: dict[str, int] | None = {} if words else None
        self._clipped = clipped
        self._blocks: list[tuple[int, int, Block]] = []
        self._table, met = empty_table()
        self._count = 0
        for start, stop in even_blocks(len(training), _WIDTH):
            codes, starts = self._coded(training[start:stop], self._words)
            units, bounds, self._table, met, self._count = number_units(
                codes, starts, self._table, met, self._count, start, True, self._clipped
            )
            if max(self._count, len(units)) > _MOST_UNITS:
                raise KernelError("too many different n-grams", remedy="train on fewer texts")
            block = block_of(units, bounds[::3], self._count, np.diff(starts))
            self._blocks.append((start, stop, block))

    def look_up(self, candidates: Sequence[str]) -> Iterator[tuple[int, int, Fill]]:
        """Look up the candidates' units in each block of training texts."""
        codes, starts = self._coded(candidates, self._words and self._words.copy())
        met = np.zeros((self._count, 2), np.int32)
        units, bounds, *_ = number_units(
            codes, starts, self._table, met, self._count, 0, False, self._clipped
        )
        different = np.flatnonzero(np.bincount(units, minlength=self._count)).astype(np.int32)
        numbers = np.empty(self._count, np.int32)
        numbers[different] = np.arange(len(different))
        lengths = np.diff(starts)
        roots = np.cbrt(np.arange(int(lengths.max(initial=0)) + 1, dtype=np.float64))
        for start, stop, block in self._blocks:
            where, rows = in_block(block, different, len(candidates))
            fill = partial(
                fill_bleu,
                *(numbers[units], bounds, lengths, where, block.posts, rows),
                *(block.length_numbers, block.lengths, roots),
            )
            yield start, stop, fill

    def _coded(
        self, texts: Sequence[str], words: dict[str, int] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Characters or words as numbers, int32; and where texts start, int64 (texts + 1,)."""
        if words is not None:
            return number_words([text.split() for text in texts], words)
        # One text at a time would be slow; joining does not pair surrogates up.
        points = "".join(texts).encode("utf-32-le", "surrogatepass")
        # compiled code wants to own it
        return np.frombuffer(points, np.int32).copy(), starts_of(map(len, texts), len(texts))
