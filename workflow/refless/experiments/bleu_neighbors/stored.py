"""Kernel files to predictions: from a matrix, or from sums where a task is too large for one.

Stage: prediction. In: texts, readings of ratings, a kernel. Out: numbers and sums of neighbors
(``<reading>.counts``, ``<reading>.sums``), and from such a file, or from a kernel matrix, the same
table of predictions: nobody after this stage sees which it was.

Sums hang on tau and on the ratings, which a matrix does not; so both are signed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task
from refless.errors import StaleError
from refless.experiments.bleu_neighbors.leave_one_out import (
    PREDICTION_COLUMNS,
    Truth,
    as_predictions,
    leave_one_out,
    read_truths,
)
from refless.kernels._registry import constants, module_path
from refless.models.neighbors import means_of_sums
from refless.store import signed
from refless.store.signatures import sign, signature_note, text_sum

Array = np.ndarray


def streamed_sums(
    kernel: str,
    texts: Sequence[str],
    truths: Mapping[str, Truth],
    tau: float,
    *,
    rows: Callable[[int], slice] | None = None,
    threads: int | None = None,
    **options: Any,
) -> dict[str, Array]:
    """Leave-one-out numbers of neighbors and sums of their points, without the matrix.

    Parameters
    ----------
    texts : all texts of the task, which ``Truth.row`` counts
    truths : by reading; readings of the same candidates share a walk over the pairs
    rows : of so many candidates of a reading, compute only these
    options : of the kernel

    Returns
    -------
    dict : ``<reading>.counts``, int64, and ``<reading>.sums``, float64, both (candidates,): sums
        of ``Truth.points`` in training order, one after the other.
    """
    from refless.kernels import neighbor_sums

    same: dict[bytes, list[str]] = {}
    for reading, truth in truths.items():
        same.setdefault(truth.row.tobytes(), []).append(reading)
    arrays: dict[str, Array] = {}
    for readings in same.values():
        own = [texts[row] for row in truths[readings[0]].row]
        counts, sums = neighbor_sums(
            kernel,
            own,
            own,
            np.column_stack([truths[reading].points for reading in readings]),
            [tau],
            exclude=np.arange(len(own)),
            rows=None if rows is None else rows(len(own)),
            threads=threads,
            **options,
        )
        for i, reading in enumerate(readings):
            arrays[f"{reading}.counts"] = counts[:, 0]
            arrays[f"{reading}.sums"] = np.ascontiguousarray(sums[:, 0, i])
    return arrays


def quality_sums(truths: Mapping[str, Truth]) -> dict[str, str]:
    """For each reading the sum of its candidates and their quality, which sums hang on.

    To nine digits: the last bits of a mean may be another machine's own.
    """
    return {
        reading: text_sum(f"{n} {q:.9f}" for n, q in zip(truth.id, truth.quality, strict=True))
        for reading, truth in truths.items()
    }


def require_options(
    path: str | Path, name: str, options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The record of a kernel file, if it was computed with these options of the kernel.

    Raises
    ------
    FormatError : the file is broken.
    StaleError : it was computed with others.
    """
    about = signed.record_of(path)
    # where files lie is not recorded, their sums are
    places = constants(module_path(name)).get("LOCATIONS", ())
    asked = {option: value for option, value in (options or {}).items() if option not in places}
    made = next((one["options"] for one in about["signatures"] if one.get("kernel") == name), None)
    if made not in (None, asked):
        message = f"was computed with the options {made}, not {asked}"
        raise StaleError(message, path=path, remedy=signed.RENEW)
    return about


def read_predictions(
    path: str | Path,
    task: Task,
    truths: Mapping[str, Truth],
    taus: Mapping[str, float],
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Predictions under each reading, as `PREDICTION_COLUMNS`, from a kernel file.

    Parameters
    ----------
    path : ``<kernel>.npz``
    taus : kernel -> tau; a matrix serves any, sums serve theirs
    options : kernel -> the options that the file must have been computed with

    Returns the table and the record of the file. Raises as `refless.store.signed.read`, e.g. for
    sums of another tau or of other ratings, or a kernel with other options.
    """
    name = Path(path).name.removesuffix(".npz")
    require_options(path, name, (options or {}).get(name))
    of = {"task": task.name, "kernel": name}
    made_from = {"texts": task.text_sum}
    tables = []
    if signed.record_of(path)["kind"] == "kernel":
        file = signed.read(path, "kernel", of=of, made_from=made_from, columns=["kernel"])
        matrix = file.content["kernel"].astype(np.float64)
        tables = [leave_one_out(matrix, truth, taus[name]) for truth in truths.values()]
    else:
        made_from |= {f"quality {k}": v for k, v in quality_sums(truths).items()}
        wanted = [f"{reading}.{what}" for reading in truths for what in ("counts", "sums")]
        file = signed.read(
            path, "sums", of=of, made_from=made_from, settings={"tau": taus[name]}, columns=wanted
        )
        for reading, truth in truths.items():
            counts, sums = (file.content[f"{reading}.{what}"] for what in ("counts", "sums"))
            tables.append(as_predictions(truth, means_of_sums(sums, counts, truth.most), counts))
    named = [
        table.assign(kernel=name, reading=reading)
        for reading, table in zip(truths, tables, strict=True)
    ]
    return pd.concat(named, ignore_index=True)[PREDICTION_COLUMNS], file.about


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
        part = replace(truth, row=truth.row[chosen], points=truth.points[chosen])
        found = streamed_sums(kernel, texts, {"": part}, tau, threads=threads, **options)
        return means_of_sums(found[".sums"], found[".counts"], truth.most), found[".counts"]

    return neighbors


def write_predictions(
    path: str | Path,
    task: Task,
    kernels: Sequence[str | Path],
    taus: Mapping[str, float],
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Predict every text of a task leave-one-out, with each kernel that has a file.

    One file holds all kernels of a task: an estimate is a matter of milliseconds, a job is not.

    Parameters
    ----------
    taus : kernel -> tau
    options : kernel -> the options that its file must have been computed with, where it has any
    """
    truths = read_truths(task.texts, task.ratings, task.scale)
    tables, notes = [pd.DataFrame(columns=PREDICTION_COLUMNS)], []
    abouts = [task.about]
    for kernel in kernels:
        table, about = read_predictions(kernel, task, truths, taus, options)
        tables.append(table)
        abouts.append(about)
        name = about["of"]["kernel"]
        notes.append(
            {
                "kernel": name,
                "tau": taus[name],
                "provenance": signed.provenance([about, task.about]),
                "signature": about["signatures"][0],
                "note": signature_note(about["signatures"][0], about),
            }
        )
    signed.write(
        path,
        pd.concat(tables[1:] or tables, ignore_index=True),
        {
            "kind": "predictions",
            "of": {"task": task.name},
            "provenance": signed.provenance(abouts),
            "settings": {"taus": {note["kernel"]: note["tau"] for note in notes}},
            "made_from": {"texts": signed.identity(task.about)}
            | {f"kernel {one['of']['kernel']}": signed.identity(one) for one in abouts[1:]},
            "signatures": [
                *(note["signature"] for note in notes),
                sign(["experiments/bleu_neighbors/stored.py"], task.text_sum),
            ],
            "facts": {"kernels": notes},
        },
    )
