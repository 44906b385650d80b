"""Kernel files of a data set, and what the neighbors of each of its texts say.

Stage: kernel -> prediction. In: rated texts. Out: a kernel as a matrix (kind ``kernel``), or, of a
data set that is streamed, its numbers of neighbors and the sums of their quality (kind ``sums``);
from either, the mean quality of each text's neighbors, leave-one-out (kind ``predictions``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task, read_task
from refless.errors import FormatError, SettingError, StaleError
from refless.kernels import kernel, neighbor_sums, signature
from refless.kernels._registry import constants, module_path
from refless.kernels.signatures import sign
from refless.models.neighbors import enough_evidence, means_of_sums, neighbor_means
from refless.statistics import drawn_whole
from refless.store import signed

Array = np.ndarray

COLUMNS = ["kernel", "id", "quality", "mean", "neighbors"]


@dataclass(frozen=True)
class Rated:
    """The rated texts of a task in the order of its file, and their single ratings.

    row : place of each among all texts of the task, and so in its kernels, int64 (n,)
    id, quality : shape (n,). Quality is the mean of the ratings by `numpy.mean`, in the order of
        the raw file: its rounding noise breaks ties, and on HUSE summarization moves the average
        annotator's rho from 0.4062 to the published 0.405
    candidate, rater, rating : of each rating; ``candidate`` counts the rated texts
    units : what a bootstrap draws whole, see `drawn_whole`
    """

    row: Array
    id: Array
    quality: Array
    candidate: Array
    rater: Array
    rating: Array
    units: Array | None


def rated_texts(task: Task) -> Rated:
    """The rated texts of a task.

    Raises
    ------
    FormatError : a rating is of no rated text.
    """
    quality = task.texts["quality"].to_numpy(np.float64)
    row = np.flatnonzero(~np.isnan(quality))
    names = task.texts["id"].to_numpy()[row]
    candidate = pd.Index(names).get_indexer(task.ratings["id"])
    if (candidate < 0).any():
        lost = task.ratings["id"][candidate < 0].iloc[0]
        raise FormatError(f"a rating names {lost!r}, which is the id of no rated text")
    rater, rating = (task.ratings[name].to_numpy() for name in ("rater", "rating"))
    units = drawn_whole(task.contexts)
    return Rated(row, names, quality[row], candidate, rater, rating.astype(np.float64), units)


# ---- kernel files --------------------------------------------------------------------------------


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
    """Compute one kernel of a task's texts with themselves.

    Parameters
    ----------
    options : of the kernel
    tau : None for the matrix; otherwise only the neighbors at this tau are counted and summed up,
        leave-one-out
    shard : compute only this part of the candidates, e.g. ``2-of-8``; see `gather`

    Raises
    ------
    KernelError : unknown kernel or option, or a missing resource.
    SettingError : a shard that is none.
    """
    texts = task.texts["text"].tolist()
    about: dict[str, Any] = {
        "of": {"task": task.name, "kernel": name},
        "signatures": [signature(name, task.text_sum, **options)],
        "facts": {} if shard is None else {"shard": shard},
    }
    if tau is None:
        part = None if shard is None else shard_rows(shard, len(texts))
        matrix = kernel(name, texts, texts, rows=part, threads=threads, **options)
        # values that are numbers of single precision (BERTScore's) are kept as such
        single = matrix.astype(np.float32)
        arrays = {"kernel": single if np.array_equal(single, matrix) else matrix}
        about |= {"kind": "kernel", "made_from": {"texts": task.text_sum}}
    else:
        rated = rated_texts(task)
        own = [texts[row] for row in rated.row]
        part = None if shard is None else shard_rows(shard, len(own))
        arrays = dict(
            zip(
                ("counts", "sums"),
                _sums(name, own, rated.quality, tau, part, threads, **options),
                strict=True,
            )
        )
        about |= {"kind": "sums", "made_from": task.rated_sums, "settings": {"tau": tau}}
    signed.write(path, arrays, about)


def _sums(
    name: str,
    texts: Sequence[str],
    quality: Array,
    tau: float,
    rows: slice | None = None,
    threads: int | None = None,
    **options: Any,
) -> tuple[Array, Array]:
    """Numbers of neighbors and sums of their quality, leave-one-out, without the matrix."""
    counts, sums = neighbor_sums(
        *(name, texts, texts, quality, [tau]),
        exclude=np.arange(len(texts)),
        rows=rows,
        threads=threads,
        **options,
    )
    return counts[:, 0], sums[:, 0]


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

    Raises
    ------
    StaleError : a shard is missing, stands at the wrong place, or is of another kernel, other
        texts or other code.
    """
    parts: list[dict[str, Array]] = []
    first: dict[str, Any] = {}
    for number, path in enumerate(paths, start=1):
        part = signed.read(path, signed.record_of(path)["kind"])
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


def require_options(path: str | Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a kernel file, if it was computed with these options of the kernel.

    Raises
    ------
    FormatError : the file is broken.
    StaleError : it was computed with others.
    """
    about = signed.record_of(path)
    name = about["of"]["kernel"]
    # where files lie is not recorded, their sums are
    places = constants(module_path(name)).get("LOCATIONS", ())
    asked = {option: value for option, value in options.items() if option not in places}
    if (made := about["signatures"][0]["options"]) != asked:
        message = f"was computed with the options {made}, not {asked}"
        raise StaleError(message, path=path, remedy=signed.AGAIN)
    return about


def read_matrix(path: str | Path, task: Task, rated: Rated) -> Array:
    """The kernel of the rated texts from a file of kind ``kernel``, float64 (n, n)."""
    of = {"task": task.name, "kernel": Path(path).name.removesuffix(".npz")}
    file = signed.read(path, "kernel", of=of, made_from={"texts": task.text_sum})
    matrix: Array = file.content["kernel"].astype(np.float64)[np.ix_(rated.row, rated.row)]
    return matrix


def streamed_means(
    name: str, texts: Sequence[str], quality: Array, tau: float, threads: int | None = None
) -> tuple[Array, Array]:
    """As `neighbor_means` leave-one-out, without the matrix."""
    counts, sums = _sums(name, texts, quality, tau, threads=threads)
    return means_of_sums(sums, counts), counts


# ---- predictions ---------------------------------------------------------------------------------


def write_predictions(
    path: str | Path,
    task: Task,
    kernels: Sequence[str | Path],
    taus: Mapping[str, float],
    options: Mapping[str, Mapping[str, Any]],
) -> None:
    """Mean and number of the neighbors of every rated text of a task, with each kernel file.

    Parameters
    ----------
    kernels : files by `write_kernel`
    taus, options : kernel -> from which similarity on a text is a neighbor, and its options
    """
    rated = rated_texts(task)
    tables, abouts, facts = [pd.DataFrame(columns=COLUMNS)], [], {}
    for file in kernels:
        name = Path(file).name.removesuffix(".npz")
        about = require_options(file, options.get(name, {}))
        if about["kind"] == "kernel":
            matrix = read_matrix(file, task, rated)
            means, counts = neighbor_means(matrix, rated.quality, taus[name], leave_one_out=True)
        else:
            sums = signed.read(
                *(file, "sums"),
                of={"task": task.name, "kernel": name},
                settings={"tau": taus[name]},
                made_from=task.rated_sums,
                columns=["counts", "sums"],
            ).content
            counts = sums["counts"]
            means = means_of_sums(sums["sums"], counts)
        columns = {"id": rated.id, "quality": rated.quality, "mean": means, "neighbors": counts}
        tables.append(pd.DataFrame({"kernel": name, **columns}))
        abouts.append(about)
        facts[name] = {
            "source": signed.provenance([about, task.about]),
            "stand_in": int(is_stand_in(about["signatures"][0])),
        }
    signed.write(
        path,
        pd.concat(tables[1:] or tables, ignore_index=True),
        {
            "kind": "predictions",
            "of": {"task": task.name},
            "provenance": signed.provenance([task.about, *abouts]),
            "settings": {"taus": {name: taus[name] for name in facts}},
            "made_from": {"texts": signed.identity(task.about)}
            | {f"kernel {one['of']['kernel']}": signed.identity(one) for one in abouts},
            "signatures": [
                *(about["signatures"][0] for about in abouts),
                sign(["experiments/bleu_neighbors/neighbors.py"], task.text_sum),
            ],
            "facts": {"kernels": facts},
        },
    )


def is_stand_in(signature: Mapping[str, Any]) -> bool:
    """Whether a kernel is BERTScore in another form than the paper's."""
    family, _, model = signature["kernel"].partition(".")
    other = model != "roberta-large" or bool({*signature["options"]} - {"prefix_space"})
    return family == "bertscore" and other


@dataclass(frozen=True)
class Predicted:
    """A task with its predictions.

    source : of the ratings, ``computed`` or ``shipped``
    means, counts : by kernel, of the neighbors of each rated text; NaN without any
    kernels : by kernel, its columns ``source`` and ``stand_in`` in tables
    """

    rated: Rated
    source: str
    means: dict[str, Array]
    counts: dict[str, Array]
    kernels: dict[str, dict[str, Any]]

    def estimates(self, kernel: str, a: int, b: float) -> Array:
        """The predictions under the thresholds a and b, NaN where undefined."""
        training = len(self.rated.id) - 1
        return enough_evidence(self.means[kernel], self.counts[kernel], training, a, b)


def read_predictions(task: Task, path: str | Path, taus: Mapping[str, float]) -> Predicted:
    """What `write_predictions` wrote of a task, if it was made with these taus.

    Raises as `refless.store.signed.read`.
    """
    made_with = signed.record_of(path)["settings"].get("taus", {})
    file = signed.read(
        *(path, "predictions"),
        of={"task": task.name},
        settings={"taus": {kernel: taus.get(kernel) for kernel in made_with}},
        made_from={"texts": signed.identity(task.about)},
        columns=COLUMNS,
    )
    by_kernel = {str(name): own for name, own in file.content.groupby("kernel")}
    return Predicted(
        rated_texts(task),
        task.provenance,
        {name: own["mean"].to_numpy(np.float64) for name, own in by_kernel.items()},
        {name: own["neighbors"].to_numpy(np.int64) for name, own in by_kernel.items()},
        file.about["facts"]["kernels"],
    )


def read_predicted(
    folders: Sequence[str | Path], paths: Sequence[str | Path], taus: Mapping[str, float]
) -> dict[str, Predicted]:
    """Task -> its predictions, from the folders of its ratings and the files in the same order."""
    tasks = {task.name: task for task in map(read_task, folders)}
    return {
        name: read_predictions(task, path, taus)
        for (name, task), path in zip(tasks.items(), paths, strict=True)
    }
