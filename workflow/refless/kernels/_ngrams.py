"""N-grams as integers, an index of them, and BLEU* read off that index.

Stage: kernels (helper of ``bleu``). In: every text as a row of integers (characters or words).
Out: the numbers of its n-grams of order 2, 3 and 4; which training texts of a block have which;
and BLEU* of candidates against a block of training texts.

Clipped counts become set intersections: the k-th occurrence of an n-gram in a text is a *unit*
of its own, so min(count in x, count in s) is the number of units that x and s share. Each unit is
added where it occurs and nowhere else, so work follows the overlaps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from refless.errors import KernelError
from refless.kernels._compiled import compiled

FREQUENT = 32
"""A unit in more than 1/FREQUENT of a block's texts is read as a row of bytes, one for each text,
which adds 32 texts at a time; the others as a list of texts."""
MANY = 16
"""Candidates from which on such rows pay: they are made for each block."""
AT_ONCE = 255
"""Rows of bytes that are added before the bytes could overflow."""
FEW = 256
"""Texts that are numbered at a time."""
CODES = 1 << 30
"""Characters and words have numbers below this one; so have units."""


class Units:
    """Numbers of units, in the order in which training texts first have them: 0, 1, ...

    Parameters
    ----------
    clipped : whether the k-th occurrence of an n-gram is a unit of its own; if not, a training text
        has each of its n-grams once, and a candidate as often as it occurs there

    Attributes
    ----------
    table : int64 (slots, 2), an open hash table of (key, number), at most half full; -1 is no key
    count : how many there are
    """

    def __init__(self, clipped: bool) -> None:
        self.clipped = clipped
        self.count = self._texts = 0
        self.table = np.full((1 << 10, 2), -1)
        # The training text (from 1) that an n-gram was met in last, and how often there.
        self._last, self._seen = np.zeros((2, len(self.table) // 2), np.int32)

    def learn(self, codes: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Units of training texts; new ones get numbers.

        Parameters
        ----------
        codes : int32 (positions,), characters or words of all texts, below `CODES`
        starts : int64 (texts + 1,)

        Returns
        -------
        units : int32 (all units,), text by text and in each by order
        bounds : int64 (3 * texts + 1,), where the units of text t and order 2 + o start: 3 * t + o
        """
        return self._number(codes, starts, True)

    def look_up(self, codes: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Units of candidates, as `learn`, without those that no training text has; -1 is a code
        that none has."""
        return self._number(codes, starts, False)

    def forget(self) -> None:
        """Free what only learning needs."""
        self._last = self._seen = np.zeros(0, np.int32)

    def _number(
        self, codes: np.ndarray, starts: np.ndarray, learn: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        units, grams = np.empty(3 * len(codes), np.int32), codes.copy()
        bounds = np.zeros(3 * (len(starts) - 1) + 1, np.int64)
        last, seen = np.zeros((2, 0 if learn else self.count), np.int32)
        # a few texts at a time: only then is it known how much room the next ones need
        for first in range(0, len(starts) - 1, FEW):
            some = starts[first : first + FEW + 1]
            if learn:
                self._make_room(6 * int(some[-1] - some[0]))
                last, seen = self._last, self._seen
            self.count = number_units(
                *(codes, some, self.table, self.count, last, seen, self._texts if learn else first),
                *(learn, self.clipped, grams, units, bounds[3 * first :]),
            )
            self._texts += learn * (len(some) - 1)
        return units[: bounds[-1]].copy(), bounds

    def _make_room(self, more: int) -> None:
        if self.count + more > CODES:
            raise KernelError(
                f"{self.count} different n-grams are too many", remedy="train on fewer texts"
            )
        slots = len(self.table)
        while 2 * (self.count + more) > slots:
            slots *= 2
        if slots > len(self.table):
            old, self.table = self.table, np.full((slots, 2), -1)
            move(old, self.table)
            grown = np.zeros((2, slots // 2), np.int32)
            grown[:, : self.count] = self._last[: self.count], self._seen[: self.count]
            self._last, self._seen = grown


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


def block_of(units: np.ndarray, bounds: np.ndarray, n_units: int, lengths: np.ndarray) -> Block:
    """Index texts by their units; ``units`` and ``bounds`` as by `Units.learn`."""
    counts = np.bincount(units, minlength=n_units)
    there = np.flatnonzero(counts)
    starts = np.zeros(len(there) + 2, np.int32)
    np.cumsum(counts[there], out=starts[1:-1])
    starts[-1] = starts[-2]
    places = np.zeros(n_units, np.int32)
    places[there] = starts[:-2]
    posts = np.empty(len(units), np.uint16)
    fill_posts(units, bounds, places, posts)
    different, numbers = np.unique(lengths, return_inverse=True)
    ending = np.append(there, np.iinfo(np.int32).max).astype(np.int32)
    return Block(ending, starts, posts, different, numbers.astype(np.uint32))


def renumbered(units: np.ndarray, n_units: int) -> tuple[np.ndarray, np.ndarray]:
    """The different units, ascending, and which of them each one is: int32."""
    different = np.flatnonzero(np.bincount(units, minlength=n_units)).astype(np.int32)
    numbers = np.empty(n_units, np.int32)
    numbers[different] = np.arange(len(different))
    return different, numbers[units]


def in_block(block: Block, units: np.ndarray, rows: bool) -> tuple[np.ndarray, np.ndarray]:
    """Where these units (ascending) stand in a block.

    Returns
    -------
    where : int32 (units, 2), from where to where a unit's texts stand in ``posts``; or, for a
        frequent one, if there are to be rows, twice -1 - its row of ``rows``
    rows : uint8 (frequent units, texts), 1 where a text has the unit
    """
    places = np.searchsorted(block.units, units)
    where = np.stack([block.starts[places], block.starts[places + 1]], axis=1)
    where[block.units[places] != units] = 0
    texts = len(block.length_numbers)
    often = where[:, 1] - where[:, 0] > texts // FREQUENT if rows else np.zeros(len(units), bool)
    frequent = np.zeros((np.count_nonzero(often), texts), np.uint8)
    for row, (start, end) in zip(frequent, where[often], strict=True):
        row[block.posts[start:end]] = 1
    where[often] = -1 - np.arange(len(frequent), dtype=np.int32)[:, None]
    return where, frequent


@compiled("int64(int64[:, ::1], int64)")
def slot_of(table: np.ndarray, key: np.int64) -> np.int64:
    """The slot of a key, or the empty one where it would go."""
    spread = np.uint64(0x9E3779B97F4A7C15)
    last = len(table) - 1
    mixed = np.uint64(key) * spread
    slot = np.int64(mixed >> np.uint64(32)) & last
    while table[slot, 0] != key and table[slot, 0] != -1:
        slot = (slot + 1) & last
    return slot


@compiled("void(int64[:, ::1], int64[:, ::1])")
def move(old: np.ndarray, new: np.ndarray) -> None:
    """Put all keys of one hash table into another one."""
    for k in range(len(old)):
        if old[k, 0] != -1:
            new[slot_of(new, old[k, 0])] = old[k]


@compiled(
    "int64(int32[::1], int64[::1], int64[:, ::1], int64, int32[::1], int32[::1], int64, boolean,"
    " boolean, int32[::1], int32[::1], int64[::1])"
)
def number_units(
    codes: np.ndarray,
    starts: np.ndarray,
    table: np.ndarray,
    count: int,
    last: np.ndarray,
    seen: np.ndarray,
    before: int,
    learn: bool,
    clipped: bool,
    grams: np.ndarray,
    units: np.ndarray,
    bounds: np.ndarray,
) -> int:
    """Write the units of texts; return how many have a number.

    Parameters
    ----------
    table, count : see `Units`
    last, seen : for each n-gram, the text (from 1) where it was met last, and how often there
    before : texts that were learnt before
    grams : a copy of ``codes``, which becomes the number of the n-gram that starts there
    units, bounds : filled in, see `Units.learn`; the first bound is there
    """
    one = np.int64(1)
    filled = bounds[0]
    for text in range(len(starts) - 1):
        end = starts[text + 1]
        number_of_text = np.int32(before + text + 1)
        for order in range(2, 5):
            for i in range(starts[text], end - order + 1):
                # An n-gram is the (n-1)-gram that starts with it, and its last element.
                gram, code = np.int64(grams[i]), np.int64(codes[i + order - 1])
                if gram < 0 or code < 0:
                    grams[i] = -1
                    continue
                key = (gram << 31) | code
                slot = slot_of(table, key)
                if table[slot, 0] != key:
                    if not learn:
                        grams[i] = -1
                        continue
                    table[slot, 0], table[slot, 1] = key, count
                    count += 1
                number = table[slot, 1]
                # n-grams that start with it: their keys are above those of characters and words
                grams[i] = np.int32((one << 30) + number)
                unit = number
                if last[number] != number_of_text:
                    last[number] = number_of_text
                    seen[number] = 0
                elif clipped:
                    seen[number] += 1
                    key = (one << 62) | (number << 31) | np.int64(seen[number])
                    slot = slot_of(table, key)
                    if table[slot, 0] != key:
                        if not learn:
                            continue
                        table[slot, 0], table[slot, 1] = key, count
                        count += 1
                    unit = table[slot, 1]
                elif learn:
                    continue
                units[filled] = unit
                filled += 1
            bounds[3 * text + order - 1] = filled
    return count


@compiled("void(int32[::1], int64[::1], int32[::1], uint16[::1])")
def fill_posts(
    units: np.ndarray, bounds: np.ndarray, places: np.ndarray, posts: np.ndarray
) -> None:
    """Write each text where its units' lists go on; ``places`` move on."""
    for text in range(len(bounds) // 3):
        for i in range(bounds[3 * text], bounds[3 * text + 3]):
            posts[places[units[i]]] = text
            places[units[i]] += 1


@compiled("void(uint8[:, ::1], int64[::1], uint8[::1], uint32[::1])")
def add_rows(rows: np.ndarray, chosen: np.ndarray, few: np.ndarray, total: np.ndarray) -> None:
    """Add rows of bytes, of which no more than `AT_ONCE` are chosen, to a total."""
    n = len(total)
    for text in range(n):
        few[text] = 0
    # Four at a time, so that the bytes added up are read and written less often.
    k = 0
    while k + 4 <= len(chosen):
        a, b, c, d = rows[chosen[k]], rows[chosen[k + 1]], rows[chosen[k + 2]], rows[chosen[k + 3]]
        for text in range(n):
            few[text] += a[text] + b[text] + c[text] + d[text]
        k += 4
    for one in chosen[k:]:
        a = rows[one]
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

    Parameters
    ----------
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
    chosen = np.empty(AT_ONCE, np.int64)
    for candidate in range(first, last):
        length = lengths[candidate]
        some = False
        # 4-grams first: without a shared one the kernel is 0.
        for order in range(2, -1, -1):
            begin, end = bounds[3 * candidate + order], bounds[3 * candidate + order + 1]
            for text in range(n):
                shared[order, text] = 0
            n_chosen = 0
            for i in range(begin, end):
                low, high = where[units[i], 0], where[units[i], 1]
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
