"""Walking through a kernel matrix block by block, on several threads.

Stage: kernels (helper). In: a plan: a kernel with its texts made ready. Out: the matrix, or what
`use` makes of its blocks.

The value of a pair hangs on that pair alone, and for a candidate the blocks come in training order:
so results are the same bits whatever the number of threads and the size of the blocks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from refless.errors import KernelError
from refless.kernels._plan import Fill, Plan

VALUES = 1 << 19
"""Kernel values that a thread holds at a time: four megabytes. With fewer, several threads wait for
each other between pieces."""

Use = Callable[[np.ndarray, int, int], None]
"""``use(values, first, start)``: values of candidates from ``first`` and training texts from
``start`` on, float64 (candidates, training texts)."""


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


def dense(plan: Plan, threads: int | None, dtype: type = np.float64) -> np.ndarray:
    """The whole matrix, shape (candidates, training)."""
    out: np.ndarray = np.empty(plan.shape, dtype)

    def keep(values: np.ndarray, first: int, start: int) -> None:
        rows, columns = values.shape
        out[first : first + rows, start : start + columns] = values

    walk(plan, keep, threads)
    return out


def walk(
    plan: Plan, use: Use, threads: int | None, progress: Callable[[int], None] | None = None
) -> None:
    """Call ``use`` for all of a kernel; what it raises is raised here.

    progress : called now and then with the number of candidates that the work done amounts to
    """
    n_candidates, n_training = plan.shape
    workers = available_threads(threads)
    with ThreadPoolExecutor(workers) as pool:
        for start, stop in plan.blocks():
            fill = plan.block(start, stop)
            chunk = max(1, min(VALUES // (stop - start), -(-n_candidates // (4 * workers))))
            starts = range(0, n_candidates, chunk)
            ends = [min(first + chunk, n_candidates) for first in starts]

            def work(
                first: int, last: int, fill: Fill = fill, start: int = start, stop: int = stop
            ) -> None:
                values = np.empty((last - first, stop - start))
                fill(first, last, values)
                use(values, first, start)

            for end, _ in zip(ends, pool.map(work, starts, ends), strict=True):
                if progress is not None:
                    pairs = n_candidates * start + end * (stop - start)
                    progress(pairs // n_training)
