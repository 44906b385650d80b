"""Kernel files: the matrix of a task's texts, or the sums of neighbors where it would be too large.

Stage: kernel. In: a task, a kernel. Out: a signed file of kind ``kernel`` (the matrix) or ``sums``
(``<reading>.counts``, ``<reading>.sums``: number of neighbors of each candidate, and the sum of
their points). Sums hang on tau and on the ratings, which a matrix does not; both are signed.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from refless.data.task import Task
from refless.errors import SettingError, StaleError
from refless.experiments.bleu_neighbors.leave_one_out import read_truths
from refless.experiments.bleu_neighbors.stored import quality_sums, streamed_sums
from refless.kernels import kernel, signature
from refless.store import signed

log = logging.getLogger(__name__)


def write_kernel(
    path: str | Path,
    task: Task,
    name: str,
    options: Mapping[str, Any],
    *,
    tau: float | None = None,
    shard: str | None = None,
    threads: int | None = None,
) -> None:
    """Compute one kernel of a task's texts with themselves, leave-one-out where it is summed.

    Parameters
    ----------
    options : of the kernel
    tau : None for the matrix; otherwise only the sums of neighbors at this tau are kept
    shard : compute only this part of the candidates, e.g. ``2-of-8``; see `gather`

    Raises
    ------
    KernelError : unknown kernel or option, or a missing resource.
    SettingError : a shard that is none.
    """
    begin = time.perf_counter()
    texts = task.texts["text"].tolist()
    about: dict[str, Any] = {
        "kind": "kernel" if tau is None else "sums",
        "of": {"task": task.name, "kernel": name},
        "made_from": {"texts": task.text_sum},
        "signatures": [signature(name, task.text_sum, **options)],
    }
    if shard is not None:
        about["facts"] = {"shard": shard}
    if tau is None:
        part = None if shard is None else shard_rows(shard, len(texts))
        matrix = kernel(name, texts, texts, rows=part, threads=threads, **options)
        # values that are numbers of single precision (BERTScore's) are kept as such
        single = matrix.astype(np.float32)
        arrays = {"kernel": single if np.array_equal(single, matrix) else matrix}
    else:
        truths = read_truths(task.texts, task.ratings, task.scale)
        about["settings"] = {"tau": tau}
        about["made_from"] |= {f"quality {k}": v for k, v in quality_sums(truths).items()}
        rows = None if shard is None else partial(shard_rows, shard)
        arrays = streamed_sums(name, texts, truths, tau, rows=rows, threads=threads, **options)
    signed.write(path, arrays, about)
    log.info("%s on %s: %.2f s", name, task.name, time.perf_counter() - begin)


def shard_rows(shard: str, n: int) -> slice:
    """The candidates of one shard, e.g. ``2-of-8``: shards differ in size by one at most.

    Raises
    ------
    SettingError : not of the form ``i-of-k`` with i from 1 to k.
    """
    match = re.fullmatch(r"(\d+)-of-(\d+)", shard)
    part, parts = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part <= parts:
        raise SettingError(f"a shard is written like 2-of-8, not {shard!r}")
    return slice((part - 1) * n // parts, part * n // parts)


def gather(paths: Sequence[str | Path], out: str | Path) -> None:
    """Put the shards of one kernel together; the file is the one of an unsharded run, bit for bit.

    Parameters
    ----------
    paths : the shards, in order; each says in its record which one it is

    Raises
    ------
    StaleError : a shard is missing, stands at the wrong place, or is of another kernel, other
        texts or other code.
    """
    parts: list[dict[str, np.ndarray]] = []
    first: dict[str, Any] = {}
    for number, path in enumerate(paths, start=1):
        kind = signed.record_of(path)["kind"]
        part = signed.read(path, kind)
        about = {name: value for name, value in part.about.items() if name != "content"}
        shard = about.pop("facts").get("shard")
        first = first or about
        if shard != f"{number}-of-{len(paths)}" or about != first:
            raise StaleError(
                f"is not shard {number} of {len(paths)} of the same kernel (it says {shard})",
                path=path,
                remedy="delete the shards and run again",
            )
        parts.append(part.content)
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    signed.write(out, whole, first)
