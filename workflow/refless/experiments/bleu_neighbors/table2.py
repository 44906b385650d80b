"""Table 2 of the BLEU Neighbors paper: trained on one task, scored on another.

Stage: prediction and cell -> table. In: rated texts of two tasks. Out: for each text of the one,
mean and number of its neighbors in the other (numbers without text); a row a (source task, target
task, kernel). Within one task, estimates are table 1's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task
from refless.experiments.bleu_neighbors.neighbors import COLUMNS as NEIGHBORS
from refless.experiments.bleu_neighbors.neighbors import Predicted, rated_texts
from refless.experiments.bleu_neighbors.rows import (
    Looks,
    Rows,
    beside_paper,
    cells,
    in_order,
    of_our_tasks,
    with_intervals,
)
from refless.kernels import kernel as matrix_of
from refless.models.neighbors import enough_evidence, neighbor_means
from refless.store import sealed

Array = np.ndarray

KEYS = ["source_task", "target_task", "kernel"]
COLUMNS = ["kernel", *NEIGHBORS]


def cross_estimates(
    taus: Mapping[str, float], source: Task, target: Task, threads: int | None = None
) -> pd.DataFrame:
    """Mean and number of the neighbors of the target's texts among the source's: `COLUMNS`.

    Source: Ethayarajh & Sadigh (2020), section 5.4.
    """
    own, asked = rated_texts(source), rated_texts(target)
    training, texts = (
        task.texts["text"].iloc[rated.row].tolist()
        for task, rated in ((source, own), (target, asked))
    )
    tables = []
    for name, tau in taus.items():
        matrix = matrix_of(name, texts, training, threads=threads, dtype=np.float32)
        means, numbers = neighbor_means(matrix, own.quality, tau)
        columns = {"id": asked.id, "quality": asked.quality, "mean": means, "neighbors": numbers}
        tables.append(pd.DataFrame({"kernel": name, **columns}))
    return pd.concat(tables, ignore_index=True)


def write_cross_estimates(
    path: str | Path,
    source: Task,
    target: Task,
    taus: Mapping[str, float],
    threads: int | None = None,
) -> None:
    """Write `cross_estimates` of two tasks."""
    training = int(source.texts["quality"].notna().sum())
    sealed.write(path, cross_estimates(taus, source, target, threads), {"training": training})


Estimates = dict[str, tuple[Array, str]]
"""Kernel -> estimates of a task's rated texts, NaN where undefined, and where they come from."""


def read_pairs(paths: Sequence[str | Path], a: int, b: float) -> dict[tuple[str, str], Estimates]:
    """(source, target) -> what `write_cross_estimates` wrote.

    Raises as `refless.store.sealed.read`.
    """
    pairs = {}
    for path in paths:
        source, target = Path(path).stem.split(".")
        file = sealed.read(path)
        estimates: Estimates = {}
        for kernel, own in file.content.groupby("kernel"):
            means, numbers = own["mean"].to_numpy(np.float64), own["neighbors"].to_numpy(np.int64)
            made = enough_evidence(means, numbers, file.about["facts"]["training"], a, b)
            estimates[str(kernel)] = made, str(file.about["provenance"])
        pairs[source, target] = estimates
    return pairs


def table2(
    looks: Looks,
    tasks: Mapping[str, Predicted],
    pairs: Mapping[tuple[str, str], Estimates],
    published: pd.DataFrame,
    kernels: Sequence[str],
    *,
    a: int,
    b: float,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """The rows of every pair of tasks; ``kernels`` are those of ``bleu``, the published one first.

    Other parameters as in `refless.experiments.bleu_neighbors.table1.table1`.
    """
    rows: Rows = []
    order = in_order(looks, tasks)
    for source in order:
        for target in order:
            pair = pairs.get((source, target), {})
            if source == target and source in tasks:
                data = tasks[source]
                there = [kernel for kernel in kernels if kernel in data.means]
                pair = {k: (data.estimates(k, a, b), data.kernels[k]["source"]) for k in there}
            for kernel in dict.fromkeys([kernels[0], *pair]):
                row: dict[str, Any] = {"source_task": source, "target_task": target}
                row["kernel"] = kernel
                if kernel in pair:
                    rated, (estimate, row["source"]) = tasks[target].rated, pair[kernel]
                    row |= cells(estimate, rated.quality, draws, seed, rated.units)
                rows.append(row)
    shown = [*KEYS, *with_intervals("spearman"), "paper_spearman", *with_intervals("coverage")]
    shown += ["p", "p_below_0.01", "n", "source", "reason"]
    printed = of_our_tasks(published.assign(kernel=kernels[0]), looks)
    return beside_paper(rows, printed, KEYS, shown)
