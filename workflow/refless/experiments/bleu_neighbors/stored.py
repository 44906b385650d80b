"""Kernel files to predictions: from a matrix, or from sums where a task is too large for one.

Stage: prediction. In: texts, readings of ratings, a kernel. Out: numbers and sums of neighbors
(``<reading>.counts``, ``<reading>.sums``), and from such a file, or from a kernel matrix, the same
table of predictions: nobody after this stage sees which it was.

Sums hang on tau and on the ratings, which a matrix does not; so both are signed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.errors import FormatError, StaleError
from refless.experiments.bleu_neighbors.leave_one_out import (
    PREDICTION_COLUMNS,
    Truth,
    as_predictions,
    leave_one_out,
)
from refless.models.neighbors import means_of_sums
from refless.store.kernel_files import STALE, read_arrays, shard_rows

Array = np.ndarray


def streamed_sums(
    kernel: str,
    texts: Sequence[str],
    truths: Mapping[str, Truth],
    tau: float,
    *,
    shard: str | None = None,
    threads: int | None = None,
    **options: Any,
) -> dict[str, Array]:
    """Leave-one-out numbers of neighbors and sums of their points, without the matrix.

    Parameters
    ----------
    texts : all texts of the task, which ``Truth.row`` counts
    truths : by reading; readings of the same candidates share a walk over the pairs
    shard : compute only this part of each reading's candidates, e.g. ``2-of-8``
    options : of the kernel

    Returns
    -------
    dict : ``<reading>.counts``, int64, and ``<reading>.sums``, float64, both (candidates,): sums
        of ``Truth.points`` in training order, one after the other.
    """
    from refless.kernels import neighbor_sums

    arrays: dict[str, Array] = {}
    for readings in _same_candidates(truths):
        rows = truths[readings[0]].row
        own = [texts[row] for row in rows]
        counts, sums = neighbor_sums(
            kernel,
            own,
            own,
            np.column_stack([truths[reading].points for reading in readings]),
            [tau],
            exclude=np.arange(len(own)),
            rows=None if shard is None else shard_rows(shard, len(own)),
            threads=threads,
            **options,
        )
        for i, reading in enumerate(readings):
            arrays[f"{reading}.counts"] = counts[:, 0]
            arrays[f"{reading}.sums"] = np.ascontiguousarray(sums[:, 0, i])
    return arrays


def _same_candidates(truths: Mapping[str, Truth]) -> list[list[str]]:
    """The readings, those of the same texts in the same order together."""
    groups: dict[bytes, list[str]] = {}
    for reading, truth in truths.items():
        groups.setdefault(truth.row.tobytes(), []).append(reading)
    return list(groups.values())


def quality_sums(truths: Mapping[str, Truth]) -> dict[str, str]:
    """For each reading the sum of its candidates and their quality, which sums hang on.

    To nine digits: the last bits of a mean may be another machine's own.
    """
    from refless.kernels import text_sum

    return {
        reading: text_sum(f"{n} {q:.9f}" for n, q in zip(truth.id, truth.quality, strict=True))
        for reading, truth in truths.items()
    }


def read_predictions(
    path: str | Path, truths: Mapping[str, Truth], taus: Mapping[str, float], data_sum: str
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Predictions under each reading, as `PREDICTION_COLUMNS`, from a kernel file.

    Parameters
    ----------
    taus : kernel -> tau; a matrix serves any, sums serve theirs
    data_sum : sum of the task's texts

    Returns
    -------
    The table, and the signature of the file.

    Raises
    ------
    FormatError, StaleError : as `refless.store.kernel_files.read_arrays`; or sums that are of another tau, of
        other ratings, or lack a reading.
    """
    arrays, signature = read_arrays(path, data_sum=data_sum)
    name = signature["kernel"]
    tables = []
    if "kernel" not in arrays:
        _require(signature, truths, taus[name], path)
    for reading, truth in truths.items():
        if "kernel" in arrays:
            table = leave_one_out(arrays["kernel"], truth, taus[name])
        else:
            counts, sums = (arrays.get(f"{reading}.{what}") for what in ("counts", "sums"))
            if counts is None or sums is None or len(counts) != len(truth.id):
                raise FormatError(f"lacks the reading {reading!r}", path=path, remedy=STALE)
            table = as_predictions(truth, means_of_sums(sums, counts, truth.most), counts)
        tables.append(table.assign(kernel=name, reading=reading))
    return pd.concat(tables, ignore_index=True)[PREDICTION_COLUMNS], signature


def _require(
    signature: Mapping[str, Any], truths: Mapping[str, Truth], tau: float, path: str | Path
) -> None:
    if signature.get("tau") != tau:
        raise StaleError(
            f"was summed at tau {signature.get('tau')}, not {tau}",
            path=path,
            remedy="compute it from the data (shipped sums are for one tau)",
        )
    signed = signature.get("quality", {})
    if any(signed.get(reading) != now for reading, now in quality_sums(truths).items()):
        raise StaleError("was summed over other ratings", path=path, remedy=STALE)


def streamed_neighbors(
    kernel: str,
    texts: Sequence[str],
    truth: Truth,
    tau: float,
    *,
    threads: int | None = None,
    **options: Any,
) -> Callable[[Array], tuple[Array, Array]]:
    """Neighbors within a subset, for `data_size_curve`, computed for that subset alone."""

    def neighbors(chosen: Array) -> tuple[Array, Array]:
        part = Truth(
            truth.id[chosen],
            truth.row[chosen],
            truth.quality[chosen],
            truth.points[chosen],
            truth.most,
            *(np.empty(0, np.int64),) * 3,
        )
        found = streamed_sums(kernel, texts, {"": part}, tau, threads=threads, **options)
        return means_of_sums(found[".sums"], found[".counts"], truth.most), found[".counts"]

    return neighbors
