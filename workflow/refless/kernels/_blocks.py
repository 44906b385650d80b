"""Blocks of a kernel matrix, and the threads that fill them.

Stage: kernels (helper). In: a plan, which is a kernel with its texts made ready. Out: the dense
matrix, or counts and sums of quality over the neighbors without the matrix.

The value of a pair depends on that pair alone, and every sum runs in training order, so results
are the same bits whatever the number of threads, the size of the blocks or the shard.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from refless.errors import KernelError
from refless.kernels._plan import Fill, Plan

VALUES = 1 << 19
"""Kernel values that a thread holds at a time: four megabytes. With fewer, several threads wait for
each other between pieces."""


def available_threads(threads: int | None) -> int:
    """The number of threads to use.

    None means as many as this process may use: the cores it is bound to, or fewer where
    ``OMP_NUM_THREADS`` says so (Snakemake sets it from a rule's ``threads``).

    Raises
    ------
    KernelError : ``threads`` is less than 1.
    """
    if threads is not None:
        if threads < 1:
            raise KernelError(f"{threads} threads were asked for", remedy="give 1 or more")
        return int(threads)
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(limit))) if limit.isdecimal() else cores


def dense(plan: Plan, threads: int | None) -> np.ndarray:
    """The whole matrix, shape (candidates, training), float64."""
    out = np.empty(plan.shape, np.float64)
    with _Pool(threads) as pool:
        for start, stop in plan.blocks():
            fill = plan.block(start, stop)

            def work(first: int, last: int, fill: Fill = fill, start: int = start) -> None:
                fill(first, last, out[first:last], start)

            for _ in pool.run(work, plan.shape[0], stop - start):
                pass
    return out


def sums(
    plan: Plan,
    quality: np.ndarray,
    taus: np.ndarray,
    exclude: np.ndarray,
    threads: int | None,
    progress: Callable[[int], None] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Counts and sums of quality over the neighbors; see ``refless.kernels.neighbor_sums``.

    Shapes: quality (kinds, training), taus (n_tau,) ascending, exclude (candidates,); returned are
    counts int64, (candidates, n_tau), and sums float64, (kinds, candidates, n_tau). Memory: VALUES
    numbers a thread, and what the plan holds.
    """
    from refless.kernels._neighbors import add_neighbors

    n_candidates = plan.shape[0]
    # the same for every kind of quality
    counts = np.zeros((len(quality), n_candidates, len(taus)), np.int64)
    totals = np.zeros((len(quality), n_candidates, len(taus)), np.float64)

    def add(values: np.ndarray, first: int, start: int) -> None:
        near = np.empty(values.shape[1], np.int64)
        for kind, count, total in zip(quality, counts, totals, strict=True):
            add_neighbors(values, first, start, kind, taus, exclude, near, count, total)

    _walk(plan, add, threads, progress)
    return counts[0], totals


def group_sums(
    plan: Plan, quality: np.ndarray, taus: np.ndarray, groups: np.ndarray, threads: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Counts and sums of groups of neighbors; see ``refless.kernels.group_sums``.

    Shapes: quality (training,), taus (n_tau,) ascending, groups (ways, training), -1 for none;
    returned are counts int64 and sums float64, both (candidates, groups, n_tau).
    """
    from refless.kernels._neighbors import add_levels

    shape = (plan.shape[0], int(groups.max(initial=-1)) + 1, len(taus))
    counts, totals = np.zeros(shape, np.int64), np.zeros(shape)

    def add(values: np.ndarray, first: int, start: int) -> None:
        add_levels(values, first, start, quality, taus, groups, counts, totals)

    _walk(plan, add, threads, None)
    for found in (counts, totals):  # who reaches a tau reaches those below
        np.cumsum(found[:, :, ::-1], axis=2, out=found[:, :, ::-1])
    return counts, totals


def nearest(
    plan: Plan,
    number: int,
    exclude: np.ndarray,
    threads: int | None,
    progress: Callable[[int], None] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest training texts of each candidate; see ``refless.kernels.nearest``."""
    from refless.kernels._neighbors import keep_nearest

    rows = np.full((plan.shape[0], number), -1, np.int64)
    best = np.full((plan.shape[0], number), -np.inf)

    def keep(values: np.ndarray, first: int, start: int) -> None:
        keep_nearest(values, first, start, exclude, rows, best)

    _walk(plan, keep, threads, progress)
    return rows, best


def _walk(
    plan: Plan,
    use: Callable[[np.ndarray, int, int], None],
    threads: int | None,
    progress: Callable[[int], None] | None,
) -> None:
    """Call ``use(values, first candidate, first training text)`` for all of a kernel, piece by
    piece; for one candidate the pieces come in training order, one after the other."""
    n_candidates, n_training = plan.shape
    with _Pool(threads) as pool:
        for start, stop in plan.blocks():
            fill = plan.block(start, stop)

            def work(
                first: int, last: int, fill: Fill = fill, start: int = start, stop: int = stop
            ) -> None:
                values = np.empty((last - first, stop - start), np.float64)
                fill(first, last, values, 0)
                use(values, first, start)

            for done in pool.run(work, n_candidates, stop - start):
                if progress is not None:
                    pairs = n_candidates * start + done * (stop - start)
                    progress(pairs // n_training)


class _Pool:
    """Runs work over candidates, some at a time, on a number of threads."""

    def __init__(self, threads: int | None) -> None:
        self._threads = available_threads(threads)

    def __enter__(self) -> _Pool:
        self._executor = ThreadPoolExecutor(self._threads) if self._threads > 1 else None
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)

    def run(self, work: Callable[[int, int], None], n: int, width: int) -> Iterator[int]:
        """Call ``work(first, last)`` until all of range(n) is done; yield how much of it is.

        What any of the calls raises is raised here.
        """
        chunk = max(1, min(VALUES // max(width, 1), -(-n // (4 * self._threads))))
        starts = range(0, n, chunk)
        ends = [min(start + chunk, n) for start in starts]
        executor = self._executor if len(starts) > 1 else None
        calls = executor.map(work, starts, ends) if executor else map(work, starts, ends)
        for end, _ in zip(ends, calls, strict=True):
            yield end
