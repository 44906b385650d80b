"""Blocks of a kernel matrix, and the threads that fill them.

Stage: kernels (helper). In: a plan, which is a kernel with its texts made ready. Out: the dense
matrix, or counts and sums of quality over the neighbors without the matrix.

The value of a pair depends on that pair alone, and every sum runs in training order, so results
are the same bits whatever the number of threads, the size of the blocks or the shard.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from refless.errors import KernelError

Fill = Callable[[int, int, np.ndarray, int], None]
"""``fill(first, last, out, column)`` writes the values of candidates ``first`` to ``last - 1``
against its block of training texts to ``out[:last - first, column:column + width]``. It is called
from several threads at once. ``out`` is float64 and C-contiguous."""


class Plan(Protocol):
    """A kernel whose texts are made ready; ``plan()`` of every kernel module returns one."""

    shape: tuple[int, int]
    """(candidates, training)"""

    chunk: int
    """Candidates that one call of ``fill`` takes at a time."""

    def blocks(self) -> Iterable[tuple[int, int]]:
        """Cut the training rows into blocks, ``(start, stop)``, in order and without gaps."""
        ...

    def block(self, start: int, stop: int) -> Fill:
        """Make one block of training rows ready."""
        ...


def even_blocks(n: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield ``(start, stop)`` of blocks of at most ``width`` rows, of nearly equal width."""
    pieces = -(-n // width)
    for piece in range(pieces):
        yield n * piece // pieces, n * (piece + 1) // pieces


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

            pool.run(work, plan.shape[0], plan.chunk)
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

    Shapes: quality (training,), taus (n_tau,) ascending, exclude (candidates,); returned are
    counts int64 and sums float64, both (candidates, n_tau). Memory: ``chunk`` rows of one block
    for each thread.
    """
    from refless.kernels._neighbors import add_neighbors

    n_candidates, n_training = plan.shape
    counts = np.zeros((n_candidates, len(taus)), np.int64)
    totals = np.zeros((n_candidates, len(taus)), np.float64)
    if n_training == 0 or len(taus) == 0:
        return counts, totals
    with _Pool(threads) as pool:
        for start, stop in plan.blocks():
            fill = plan.block(start, stop)

            def work(
                first: int, last: int, fill: Fill = fill, start: int = start, stop: int = stop
            ) -> None:
                values = np.empty((last - first, stop - start), np.float64)
                fill(first, last, values, 0)
                near = np.empty(stop - start, np.int64)
                add_neighbors(values, first, start, quality, taus, exclude, near, counts, totals)

            pool.run(work, n_candidates, plan.chunk)
            if progress is not None:
                progress(n_candidates * stop // n_training)
    return counts, totals


class _Pool:
    """Runs work over chunks of candidates on a number of threads."""

    def __init__(self, threads: int | None) -> None:
        self._threads = available_threads(threads)

    def __enter__(self) -> _Pool:
        self._executor = ThreadPoolExecutor(self._threads) if self._threads > 1 else None
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)

    def run(self, work: Callable[[int, int], None], n: int, chunk: int) -> None:
        """Call ``work(first, last)`` for all chunks of range(n); raise what any of them raises."""
        starts = range(0, n, chunk)
        ends = [min(start + chunk, n) for start in starts]
        if self._executor is None:
            for first, last in zip(starts, ends, strict=True):
                work(first, last)
        else:
            for _ in self._executor.map(work, starts, ends):
                pass
