"""N-grams as integers, an index of them, and BLEU* read off that index.

Stage: kernels (helper of ``bleu``). In: every text as a row of integers (characters or words).
Out: the numbers of its n-grams of order 2, 3 and 4; an index from n-grams to training texts; and
BLEU* of candidates against a block of training texts.

Clipped counts become set intersections: the k-th occurrence of an n-gram in a text is a *unit*
of its own, so min(count in x, count in s) is the number of units that x and s share. Each unit is
added where it occurs and nowhere else, so work follows the overlaps.
"""

from __future__ import annotations

import math

import numpy as np

from refless.kernels._compiled import compiled

ORDERS = (2, 3, 4)
FREQUENT = 32
"""A unit in more than 1/FREQUENT of a block's texts is kept as a row of bytes, one for each text,
which adds 32 texts at a time; the others as a list of texts."""
AT_ONCE = 252
"""Rows of bytes that are added before the bytes could overflow; a multiple of 4."""


def units_of(
    codes: np.ndarray, starts: np.ndarray, n_training: int, n_codes: int, clipped: bool
) -> tuple[np.ndarray, np.ndarray, int]:
    """Number the units of all texts, training texts first.

    Parameters
    ----------
    codes : int32 (positions,), characters or words of all texts, each below ``n_codes``
    starts : int64 (texts + 1,)
    n_training : how many of the texts are training texts
    clipped : whether the k-th occurrence of an n-gram is a unit of its own; if not, a training
        text has each of its n-grams once, a candidate as often as it occurs there

    Returns
    -------
    units : int32 (all units,), text by text and in each by order; those that no training text
        has are left out
    bounds : int64 (3 * texts + 1,), where the units of text t and order 2 + o start: 3 * t + o
    n_units : how many different units there are
    """
    n = len(codes)
    known = int(starts[n_training])
    # How many elements are left in the text from each on, itself included.
    left = np.repeat(starts[1:].astype(np.int32), np.diff(starts)) - np.arange(n, dtype=np.int32)
    units = np.empty((len(ORDERS), n), np.int32)
    grams, keys, n_units = codes, np.empty(n, np.int64), 0
    for row, order in enumerate(ORDERS):
        # An n-gram is the (n-1)-gram that starts with it, and its last element.
        whole = max(n - order + 1, 0)
        keys[whole:] = -1
        np.multiply(grams[:whole], n_codes, out=keys[:whole], dtype=np.int64)
        keys[:whole] += codes[n - whole :]
        keys[:whole][(left[:whole] < order) | (grams[:whole] < 0)] = -1
        grams = np.empty(n, np.int32)
        n_grams = number_keys(keys, known, grams)
        repeat_keys(grams, starts, np.zeros(n_grams, np.int64), np.zeros(n_grams, np.int64), keys)
        units[row] = grams
        repeats = np.flatnonzero(keys >= 0)
        n_repeats = 0
        if clipped:
            numbers = np.empty(len(repeats), np.int32)
            n_known = int(np.searchsorted(repeats, known))
            n_repeats = number_keys(keys[repeats], n_known, numbers)
            units[row, repeats] = np.where(numbers >= 0, n_grams + numbers, -1)
        else:
            units[row, repeats[repeats < known]] = -1
        units[row][units[row] >= 0] += n_units
        n_units += n_grams + n_repeats
    flat = np.empty(int(np.count_nonzero(units >= 0)), np.int32)
    bounds = np.empty(len(ORDERS) * (len(starts) - 1) + 1, np.int64)
    pack(units, starts, flat, bounds)
    return flat, bounds, n_units


def index_of(
    units: np.ndarray, bounds: np.ndarray, start: int, stop: int, n_units: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Index training texts ``start`` to ``stop - 1``: which of them have a unit.

    Returns
    -------
    where : int32 (n_units, 2), from where to where a unit's texts stand in ``posts``; or, for a
        frequent one, twice -1 - its row of ``rows``
    posts : uint16, texts (counted from ``start``) of one unit after the other
    rows : uint8 (frequent units, texts), 1 where a text has the unit
    """
    here = units[bounds[3 * start] : bounds[3 * stop]]
    counts = np.bincount(here, minlength=n_units)
    frequent = np.flatnonzero(counts * FREQUENT > stop - start)
    rows = np.zeros((len(frequent), stop - start), np.uint8)
    counts[frequent] = 0
    where = np.zeros((n_units, 2), np.int32)
    where[1:, 0] = np.cumsum(counts)[:-1] if n_units else 0
    where[frequent, 0] = -1 - np.arange(len(frequent))
    where[:, 1] = where[:, 0]
    posts = np.empty(int(counts.sum()), np.uint16)
    fill_index(units, bounds, start, stop, where, posts, rows)
    return where, posts, rows


@compiled("int64(int64[::1], int64, int32[::1])")
def number_keys(keys: np.ndarray, n_known: int, numbers: np.ndarray) -> int:
    """Number the different keys 0, 1, ... in order of first appearance; return how many.

    Keys after the first ``n_known`` get the number that an equal key got before, or -1; a
    negative key gets -1.
    """
    # An open hash table of (key, number), kept at most half full.
    spread = np.uint64(0x9E3779B97F4A7C15)
    bits = 10
    table = np.empty((1 << bits, 2), np.int64)
    for k in range(1 << bits):
        table[k, 0] = -1
    count = 0
    for i in range(len(keys)):
        key = keys[i]
        numbers[i] = -1
        if key < 0:
            continue
        slot = np.int64((np.uint64(key) * spread) >> np.uint64(64 - bits))
        while table[slot, 0] != key and table[slot, 0] != -1:
            slot = (slot + 1) & ((1 << bits) - 1)
        if table[slot, 0] == key:
            numbers[i] = table[slot, 1]
        elif i < n_known:
            numbers[i] = count
            table[slot, 0] = key
            table[slot, 1] = count
            count += 1
            if 2 * count > 1 << bits:
                bits += 1
                old = table
                table = np.empty((1 << bits, 2), np.int64)
                for k in range(1 << bits):
                    table[k, 0] = -1
                for k in range(1 << (bits - 1)):
                    if old[k, 0] != -1:
                        slot = np.int64((np.uint64(old[k, 0]) * spread) >> np.uint64(64 - bits))
                        while table[slot, 0] != -1:
                            slot = (slot + 1) & ((1 << bits) - 1)
                        table[slot, 0] = old[k, 0]
                        table[slot, 1] = old[k, 1]
    return count


@compiled("void(int32[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def repeat_keys(
    grams: np.ndarray, starts: np.ndarray, last: np.ndarray, seen: np.ndarray, keys: np.ndarray
) -> None:
    """Give the k-th occurrence (k = 0, 1, ...) of gram g of G in a text the key ``k * G + g``.

    First occurrences, and positions without a gram, get -1. ``last`` and ``seen`` are room for
    G numbers, 0 at first: the text (from 1) where a gram was met last, and how often there.
    """
    for text in range(len(starts) - 1):
        for i in range(starts[text], starts[text + 1]):
            gram = grams[i]
            keys[i] = -1
            if gram < 0:
                continue
            if last[gram] != text + 1:
                last[gram] = text + 1
                seen[gram] = 0
            else:
                seen[gram] += 1
                keys[i] = seen[gram] * len(last) + gram


@compiled("void(int32[:, ::1], int64[::1], int32[::1], int64[::1])")
def pack(units: np.ndarray, starts: np.ndarray, flat: np.ndarray, bounds: np.ndarray) -> None:
    """Lay the units of all texts end to end, leaving out the negative ones."""
    filled = 0
    for text in range(len(starts) - 1):
        for row in range(units.shape[0]):
            bounds[units.shape[0] * text + row] = filled
            for i in range(starts[text], starts[text + 1]):
                if units[row, i] >= 0:
                    flat[filled] = units[row, i]
                    filled += 1
    bounds[len(bounds) - 1] = filled


@compiled("void(int32[::1], int64[::1], int64, int64, int32[:, ::1], uint16[::1], uint8[:, ::1])")
def fill_index(
    units: np.ndarray,
    bounds: np.ndarray,
    start: int,
    stop: int,
    where: np.ndarray,
    posts: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Fill ``posts`` and ``rows``; ``where[:, 1]`` moves on from each list's start to its end."""
    for text in range(start, stop):
        for i in range(bounds[3 * text], bounds[3 * text + 3]):
            unit = units[i]
            if where[unit, 0] < 0:
                rows[-1 - where[unit, 0], text - start] = 1
            else:
                posts[where[unit, 1]] = text - start
                where[unit, 1] += 1


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
