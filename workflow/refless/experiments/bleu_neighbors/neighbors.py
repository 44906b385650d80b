"""Kernel matrices of a data set, and what the neighbors of each of its texts say.

Stage: kernel -> prediction. In: texts, in the order of their file. Out: the kernel of all texts
with all, float32, in blocks of rows, which numpy maps into memory; and of each rated text the mean
quality of its neighbors, leave-one-out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task, read_task
from refless.errors import FormatError, SettingError
from refless.kernels import kernel
from refless.models.neighbors import enough_evidence, means_of_sums, neighbor_means
from refless.statistics import drawn_whole
from refless.store import sealed

Array = np.ndarray

COLUMNS = ["id", "quality", "mean", "neighbors"]
MOST = 20_000
"""Texts of the largest data set that has matrices: 1.6 GB each."""
MANY = 1000
"""Texts beyond which a data set is large, see `means_within`."""


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


# ---- matrices ------------------------------------------------------------------------------------


def write_kernel(
    path: str | Path,
    task: Task,
    name: str,
    options: Mapping[str, Any],
    *,
    block: int = 1,
    blocks: int = 1,
    threads: int | None = None,
) -> None:
    """Compute one kernel of a task's texts with themselves, or a block of its rows.

    Parameters
    ----------
    path : ``<block>of<blocks>.npy``
    options : of the kernel
    block, blocks : which part of the rows; parts differ in size by one at most

    Raises
    ------
    KernelError : unknown kernel or option, or a missing resource.
    SettingError : there are more than `MOST` texts, or fewer than blocks.
    """
    texts = task.texts["text"].tolist()
    n = len(texts)
    if n > MOST:
        raise SettingError(
            f"{task.name} has {n:,} texts; matrices are kept of {MOST:,} at most",
            remedy="set `experiments: {bleu_neighbors: false}` there; `refless compare` takes any"
            " number",
        )
    if not 1 <= block <= blocks <= n:
        raise SettingError(
            f"{n} texts of {task.name} have no block {block} of {blocks}",
            remedy=f"set data.{task.name}.blocks to a smaller number",
        )
    rows = slice((block - 1) * n // blocks, block * n // blocks)
    matrix = kernel(name, texts[rows], texts, threads=threads, dtype=np.float32, **options)
    sealed.write(path, matrix)


def read_kernel(paths: Sequence[str | Path], rated: Rated) -> Array:
    """The kernel of the rated texts, float32 (n, n).

    Parameters
    ----------
    paths : the blocks by `write_kernel`, in order

    Raises
    ------
    FormatError, StaleError : as `refless.store.sealed.read`.
    """
    blocks: list[Array] = [sealed.read(path).content for path in paths]
    matrix = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    if len(rated.row) < len(matrix):
        matrix = matrix[np.ix_(rated.row, rated.row)]
    return matrix


# ---- what neighbors say --------------------------------------------------------------------------


def means_within(
    matrix: Array, quality: Array, tau: float, *, in_order: bool
) -> tuple[Array, Array]:
    """`neighbor_means`, leave-one-out.

    in_order : whether ratings are added one after the other, as `refless.kernels.neighbor_sums`
        adds them, and not as `numpy.mean` does: for large data sets. Where estimates tie, ranks
        hang on the order of adding
    """
    if not in_order:
        return neighbor_means(matrix, quality, tau, leave_one_out=True)
    near = matrix >= matrix.dtype.type(tau)
    np.fill_diagonal(near, False)
    sums = np.array([np.cumsum(np.append(0.0, quality[row]))[-1] for row in near])
    counts = near.sum(axis=1)
    return means_of_sums(sums, counts), counts


def write_neighbors(
    path: str | Path,
    task: Task,
    name: str,
    paths: Sequence[str | Path],
    tau: float,
    options: Mapping[str, Any],
) -> None:
    """Mean and number of the neighbors of every rated text of a task: `COLUMNS`.

    Parameters
    ----------
    paths : of the kernel, see `read_kernel`
    tau : from which similarity on a text is a neighbor
    options : of the kernel
    """
    rated = rated_texts(task)
    matrix = read_kernel(paths, rated)
    in_order = len(rated.id) > MANY
    means, counts = means_within(matrix, rated.quality, tau, in_order=in_order)
    columns = {"id": rated.id, "quality": rated.quality, "mean": means, "neighbors": counts}
    sealed.write(path, pd.DataFrame(columns), {"stand_in": is_stand_in(name, options)})


def is_stand_in(name: str, options: Mapping[str, Any]) -> bool:
    """Whether a kernel is BERTScore in another form than the paper's."""
    family, _, model = name.partition(".")
    other = model != "roberta-large" or bool(options)
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


def read_predicted(
    folders: Sequence[str | Path], paths: Sequence[str | Path]
) -> dict[str, Predicted]:
    """Task -> its predictions.

    Parameters
    ----------
    folders : of the ratings that are there
    paths : ``<task>/<kernel>.csv`` by `write_neighbors`

    Raises as `refless.store.sealed.read`.
    """
    found = {}
    for task in map(read_task, folders):
        data = Predicted(rated_texts(task), task.provenance, {}, {}, {})
        for path in map(Path, paths):
            name = path.name.removesuffix(".csv")
            if path.parent.name != task.name:
                continue
            file = sealed.read(path)
            data.means[name] = file.content["mean"].to_numpy(np.float64)
            data.counts[name] = file.content["neighbors"].to_numpy(np.int64)
            data.kernels[name] = {
                "source": file.about["provenance"],
                "stand_in": int(file.about["facts"]["stand_in"]),
            }
        found[task.name] = data
    return found
