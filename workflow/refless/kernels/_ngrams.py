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

ORDERS = (2, 3, 4)
FREQUENT = 32
"""A unit in more than 1/FREQUENT of a block's texts is read as a row of bytes, one for each text,
which adds 32 texts at a time; the others as a list of texts."""
MANY = 16
"""Candidates from which on such rows pay: they are made for each block."""
AT_ONCE = 252
"""Rows of bytes that are added before the bytes could overflow; a multiple of 4."""
CODES = 1 << 30
"""Characters and words have numbers below this one; so have units."""


class Numbers:
    """Numbers of units, in the order in which training texts first have them: 0, 1, ...

    table : int64 (slots, 2), an open hash table of (key, number), at most half full; -1 is no key
    count : how many there are
    gram_of : int32 (count,) or more, the n-gram of which a unit is an occurrence, by its number
    """

    def __init__(self, table: np.ndarray | None = None, count: int = 0) -> None:
        self.table = _empty(1 << 10) if table is None else table
        self.count = count
        # The text (from 1) that an n-gram was met in last, and how often there.
        self._last = self._seen = self.gram_of = np.zeros(0, np.int32)
        self._texts = 0

    def learn(
        self, codes: np.ndarray, starts: np.ndarray, clipped: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Units of training texts; new ones get numbers.

        Parameters
        ----------
        codes : int32 (positions,), characters or words of all texts, below `CODES`
        starts : int64 (texts + 1,)
        clipped : whether the k-th occurrence of an n-gram is a unit of its own; if not, a
            training text has each of its n-grams once

        Returns
        -------
        units : int32 (all units,), text by text and in each by order
        bounds : int64 (3 * texts + 1,), where the units of text t and order 2 + o start: 3 * t + o
        """
        return self._units(codes, starts, clipped, learn=True)

    def look_up(
        self, codes: np.ndarray, starts: np.ndarray, clipped: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Units of candidates, without those that no training text has; -1 is an unknown code.

        Unclipped, a candidate has an n-gram as often as it occurs there. Else as `learn`.
        """
        return self._units(codes, starts, clipped, learn=False)

    def done(self) -> None:
        """Forget what only learning needs."""
        self._last = self._seen = self.gram_of = np.zeros(0, np.int32)

    def _units(
        self, codes: np.ndarray, starts: np.ndarray, clipped: bool, learn: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        units = np.empty(len(ORDERS) * len(codes), np.int32)
        bounds = np.zeros(len(ORDERS) * (len(starts) - 1) + 1, np.int64)
        grams = np.empty(int(np.diff(starts).max(initial=0)), np.int32)
        counts = np.array([self.count, self._texts if learn else 0], np.int64)
        text = 0
        while text < len(starts) - 1:
            if learn:
                self._make_room(6 * int(starts[text + 1] - starts[text]))
                last, seen, gram_of = self._last, self._seen, self.gram_of
            else:
                last, seen = (np.zeros(self.count, np.int32) for _ in range(2))
                gram_of = np.empty(0, np.int32)
            text = number_units(
                *(codes, starts, text, self.table, counts, last, seen, gram_of, grams),
                *(learn, clipped, units, bounds),
            )
            self.count = int(counts[0])
        self._texts += len(starts) - 1 if learn else 0
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
            old, self.table = self.table, _empty(slots)
            move(old, self.table)
        if slots // 2 > len(self._last):
            for name in ("_last", "_seen", "gram_of"):
                grown = np.zeros(slots // 2, np.int32)
                grown[: self.count] = getattr(self, name)[: self.count]
                setattr(self, name, grown)


def _empty(slots: int) -> np.ndarray:
    table = np.zeros((slots, 2), np.int64)  # all of it is written to files of models
    table[:, 0] = -1
    return table


class Block(NamedTuple):
    """Some consecutive training texts, by the units that they have.

    units : int32, those that occur here, ascending; at the end one that is none
    starts : int32, as many: where the texts of each unit start in ``posts``, and their end
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
    """Index texts by their units; ``units`` and ``bounds`` as by `Numbers.learn`."""
    texts = len(lengths)
    counts = np.zeros(n_units, np.int32)
    there = np.sort(count_units(units, counts))
    starts = np.zeros(len(there) + 1, np.int32)
    np.cumsum(counts[there], out=starts[1:])
    counts[there] = starts[:-1]  # from here on, where the next text of a unit goes
    posts = np.empty(len(units), np.uint16)
    fill_posts(units, bounds, texts, counts, posts)
    different, numbers = np.unique(lengths, return_inverse=True)
    units_here = np.append(there, np.int32(np.iinfo(np.int32).max)).astype(np.int32)
    return Block(units_here, starts, posts, different, numbers.astype(np.uint32))


def renumbered(units: np.ndarray, n_units: int) -> tuple[np.ndarray, np.ndarray]:
    """The different units, ascending, and which of them each one is: int32."""
    counts = np.zeros(n_units, np.int32)
    different = np.sort(count_units(units, counts))
    counts[different] = np.arange(len(different), dtype=np.int32)
    return different, counts[units]


def in_block(block: Block, units: np.ndarray, rows: bool) -> tuple[np.ndarray, np.ndarray]:
    """Where these units (ascending) stand in a block.

    Returns
    -------
    where : int32 (units, 2), from where to where a unit's texts stand in ``posts``; or, for a
        frequent one, if there are to be rows, twice -1 - its row of ``rows``
    rows : uint8 (frequent units, texts), 1 where a text has the unit
    """
    where = np.empty((len(units), 2), np.int32)
    texts = len(block.length_numbers)
    # more than texts / FREQUENT, in whole numbers
    least = texts // FREQUENT + 1 if rows else texts + 1
    frequent = np.empty((locate(block.units, block.starts, units, least, where), texts), np.uint8)
    fill_rows(block.starts, block.posts, where, frequent)
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
            slot = slot_of(new, old[k, 0])
            new[slot, 0] = old[k, 0]
            new[slot, 1] = old[k, 1]


@compiled(
    "int64(int32[::1], int64[::1], int64, int64[:, ::1], int64[::1], int32[::1], int32[::1],"
    " int32[::1], int32[::1], boolean, boolean, int32[::1], int64[::1])"
)
def number_units(
    codes: np.ndarray,
    starts: np.ndarray,
    text: int,
    table: np.ndarray,
    counts: np.ndarray,
    last: np.ndarray,
    seen: np.ndarray,
    gram_of: np.ndarray,
    grams: np.ndarray,
    learn: bool,
    clipped: bool,
    units: np.ndarray,
    bounds: np.ndarray,
) -> int:
    """Write the units of texts from ``text`` on; return the first for which there is no room.

    Parameters
    ----------
    counts : (2,), units that have a number, and texts that were learnt before
    last, seen : for each unit, the text (from 1) where it was met last, and how often there
    grams : room for the longest text
    Others : see `Numbers`
    """
    one = np.int64(1)
    while text < len(starts) - 1:
        start, end = starts[text], starts[text + 1]
        if learn and counts[0] + 6 * (end - start) > len(last):
            return text
        number_of_text = np.int32(counts[1] + text + 1)
        filled = bounds[3 * text]
        for i in range(start, end):
            grams[i - start] = codes[i]
        for order in range(2, 5):
            for i in range(start, end - order + 1):
                # An n-gram is the (n-1)-gram that starts with it, and its last element.
                gram, code = np.int64(grams[i - start]), np.int64(codes[i + order - 1])
                number = np.int64(-1)
                if gram >= 0 and code >= 0:
                    key = (gram << 31) | code
                    slot = slot_of(table, key)
                    if table[slot, 0] == key:
                        number = table[slot, 1]
                    elif learn:
                        number = counts[0]
                        counts[0] += 1
                        table[slot, 0] = key
                        table[slot, 1] = number
                        gram_of[number] = np.int32(number)
                if number < 0:
                    grams[i - start] = -1
                    continue
                # n-grams that start with it: their keys are above those of characters and words
                grams[i - start] = np.int32((one << 30) + number)
                unit = number
                if last[number] != number_of_text:
                    last[number] = number_of_text
                    seen[number] = 0
                elif clipped:
                    seen[number] += 1
                    key = (one << 62) | (number << 31) | np.int64(seen[number])
                    slot = slot_of(table, key)
                    unit = np.int64(-1)
                    if table[slot, 0] == key:
                        unit = table[slot, 1]
                    elif learn:
                        unit = counts[0]
                        counts[0] += 1
                        table[slot, 0] = key
                        table[slot, 1] = unit
                        gram_of[unit] = np.int32(number)
                elif learn:
                    continue
                if unit >= 0:
                    units[filled] = unit
                    filled += 1
            bounds[3 * text + order - 1] = filled
        text += 1
    return text


@compiled("int32[::1](int32[::1], int32[::1])")
def count_units(units: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Add to ``counts`` (zeros) how often there is each unit; return those that there are."""
    n = 0
    for i in range(len(units)):
        n += counts[units[i]] == 0
        counts[units[i]] += 1
    found = np.empty(n, np.int32)
    n = 0
    for i in range(len(units)):
        unit = units[i]
        if counts[unit] > 0:
            found[n] = unit
            n += 1
            counts[unit] = -counts[unit]
    for i in range(n):
        counts[found[i]] = -counts[found[i]]
    return found


@compiled("void(int32[::1], int64[::1], int64, int32[::1], uint16[::1])")
def fill_posts(
    units: np.ndarray, bounds: np.ndarray, texts: int, places: np.ndarray, posts: np.ndarray
) -> None:
    """Write each text where its units' lists go on; ``places`` move on."""
    for text in range(texts):
        for i in range(bounds[3 * text], bounds[3 * text + 3]):
            posts[places[units[i]]] = text
            places[units[i]] += 1


@compiled("int64(int32[::1], int32[::1], int32[::1], int64, int32[:, ::1])")
def locate(
    units: np.ndarray, starts: np.ndarray, wanted: np.ndarray, least: int, where: np.ndarray
) -> int:
    """Fill ``where`` of `in_block` for the units of a block; return the number of frequent ones.

    Those of at least ``least`` texts are frequent. Of them ``where`` has -1 - the row, and the
    place among ``units``, until `fill_rows` has used it.
    """
    low = 0
    rows = 0
    for i in range(len(wanted)):
        # The next one is not far where many are wanted: double the step, then halve it.
        step = 1
        while low + step < len(units) and units[low + step] <= wanted[i]:
            low += step
            step *= 2
        while step > 0:
            if low + step < len(units) and units[low + step] <= wanted[i]:
                low += step
            step //= 2
        where[i, 0] = where[i, 1] = 0
        if len(units) > 1 and units[low] == wanted[i]:
            if starts[low + 1] - starts[low] >= least:
                where[i, 0] = -1 - rows
                where[i, 1] = low
                rows += 1
            else:
                where[i, 0], where[i, 1] = starts[low], starts[low + 1]
    return rows


@compiled("void(int32[::1], uint16[::1], int32[:, ::1], uint8[:, ::1])")
def fill_rows(starts: np.ndarray, posts: np.ndarray, where: np.ndarray, rows: np.ndarray) -> None:
    """Write 1 into the row of each frequent unit where a text has it, else 0."""
    for i in range(len(where)):
        if where[i, 0] < 0:
            row = -1 - where[i, 0]
            for text in range(rows.shape[1]):
                rows[row, text] = 0
            for p in range(starts[where[i, 1]], starts[where[i, 1] + 1]):
                rows[row, posts[p]] = 1
            where[i, 1] = where[i, 0]


@compiled(
    "void(int32[::1], int64[::1], int64[::1], int32[:, ::1], uint16[::1], uint8[:, ::1],"
    " uint32[::1], int64[::1], float64[::1], uint32[:, ::1], uint8[::1], float64[::1],"
    " float64[:, ::1], int64[::1], int64, int64, float64[:, ::1], int64)"
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
    shared: np.ndarray,
    few: np.ndarray,
    beta: np.ndarray,
    parts: np.ndarray,
    chosen: np.ndarray,
    first: int,
    last: int,
    out: np.ndarray,
    column: int,
) -> None:
    """BLEU* of candidates ``first`` to ``last - 1`` against the texts of an index.

    Parameters
    ----------
    units, bounds, lengths : the candidates' units, where they start, and the texts' lengths
    where, posts, rows : the index
    length_numbers, training_lengths : text t of the block has the length
        ``training_lengths[length_numbers[t]]``
    roots : cube roots of 0, 1, ... up to the greatest length
    shared, few, beta, parts, chosen : room: (3, texts), (texts,), as ``training_lengths``,
        (3,) + as ``roots``, (AT_ONCE,)
    out, column : values go to ``out[:last - first, column:column + texts]``
    """
    n = len(length_numbers)
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
                    for text in range(n):
                        few[text] = 0
                    # Four rows at a time; the last one or three times nothing.
                    while n_chosen % 4 != 0:
                        n_chosen -= 1
                        a = rows[chosen[n_chosen]]
                        for text in range(n):
                            few[text] += a[text]
                    while n_chosen > 0:
                        n_chosen -= 4
                        a, b = rows[chosen[n_chosen]], rows[chosen[n_chosen + 1]]
                        c, d = rows[chosen[n_chosen + 2]], rows[chosen[n_chosen + 3]]
                        for text in range(n):
                            few[text] += a[text] + b[text] + c[text] + d[text]
                    for text in range(n):
                        shared[order, text] += few[text]
            if not some:
                break
        if not some:
            for text in range(n):
                out[candidate - first, column + text] = 0.0
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
            out[candidate - first, column + text] = (
                parts[0, shared[0, text]]
                * parts[1, shared[1, text]]
                * parts[2, shared[2, text]]
                * beta[length_numbers[text]]
            )
