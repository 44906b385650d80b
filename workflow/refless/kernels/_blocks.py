"""Walking through a kernel matrix block by block, on several threads.

Stage: kernels (helper). In: an index of training texts. Out: what `use` makes of its blocks.

The value of a pair hangs on that pair alone, and for a candidate the blocks come in training order:
so results are the same bits whatever the number of threads and the size of the blocks.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from refless.machine import available_threads
from refless.steps import Steps

_VALUES_HELD = 1 << 19
"""Kernel values that a thread holds at a time: four megabytes. With fewer, several threads wait for
each other between pieces."""

Fill = Callable[[int, int, np.ndarray], None]
"""``fill(first, last, out)`` writes the values of candidates ``first`` to ``last - 1`` against a
block of training texts: float64, C-contiguous, shape (last - first, width of the block). It is
called from several threads at once."""

Use = Callable[[np.ndarray, int, int], None]
"""``use(values, first, start)``: values of candidates from ``first`` and training texts from
``start`` on, float64 (candidates, training texts)."""


class Index(NamedTuple):
    """Training texts made ready for any candidates that come later.

    size : how many there are
    blocks : makes candidates ready; yields ``(start, stop, fill)`` of blocks of training texts, in
        order and without gaps
    """

    size: int
    blocks: Callable[[Sequence[str]], Iterator[tuple[int, int, Fill]]]


def even_blocks(n: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield ``(start, stop)`` of blocks of at most ``width`` rows, of nearly equal width."""
    pieces = -(-n // width)
    for piece in range(pieces):
        yield n * piece // pieces, n * (piece + 1) // pieces


def walk(
    index: Index,
    candidates: Sequence[str],
    use: Use,
    threads: int | None,
    exclude: np.ndarray | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Call ``use`` for all of a kernel; what it raises is raised here.

    exclude : of each candidate, the training text whose value is put to -inf (-1: none)
    progress : called now and then with the number of candidates that the work done amounts to
    """
    n = len(candidates)
    workers = available_threads(threads)
    log_step = Steps("texts compared", n)
    with ThreadPoolExecutor(workers) as pool:
        for start, stop, fill in index.blocks(candidates):
            chunk = max(1, min(_VALUES_HELD // (stop - start), -(-n // (4 * workers))))
            starts = range(0, n, chunk)
            ends = [min(first + chunk, n) for first in starts]
            work = partial(_work, fill, use, exclude, start, stop)
            for end, _ in zip(ends, pool.map(work, starts, ends), strict=True):
                done = (n * start + end * (stop - start)) // index.size
                log_step(done)
                if progress is not None:
                    progress(done)


def _work(
    fill: Fill, use: Use, exclude: np.ndarray | None, start: int, stop: int, first: int, last: int
) -> None:
    values = np.empty((last - first, stop - start))
    fill(first, last, values)
    if exclude is not None:
        columns = exclude[first:last] - start
        rows = np.flatnonzero((columns >= 0) & (columns < stop - start))
        values[rows, columns[rows]] = -np.inf
    use(values, first, start)
