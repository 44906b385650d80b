"""Table 2 of the BLEU Neighbors paper: trained on one task, scored on another.

Stage: prediction and cell -> table. In: rated texts of two tasks. Out: for each text of the one,
mean and number of its neighbors in the other (numbers without text); a row a (source task, target
task, kernel). Within one task, estimates are table 1's.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task
from refless.experiments.bleu_neighbors.neighbors import (
    COLUMNS,
    Predicted,
    check_texts,
    predictions,
)
from refless.experiments.bleu_neighbors.table1 import Looks, Rows, cells, of_our_tasks
from refless.experiments.published import beside_paper, with_intervals
from refless.kernels import kernel as matrix_of
from refless.models.neighbors import neighbor_means
from refless.store import sealed

KEYS = ["source_task", "target_task", "kernel"]
Pair = tuple[str, str]


def write_cross_estimates(
    path: str | Path,
    source: Task,
    target: Task,
    taus: Mapping[str, float],
    threads: int | None = None,
) -> None:
    """Mean and number of the neighbors of the target's rated texts among the source's, by kernel.

    Source: Ethayarajh & Sadigh (2020), section 5.4.
    """
    training, asked = (task.texts[task.texts["quality"].notna()] for task in (source, target))
    quality, tables = training["quality"].to_numpy(np.float64), []
    texts = asked["text"].tolist(), training["text"].tolist()
    for name, tau in taus.items():
        matrix = matrix_of(name, *texts, threads=threads, dtype=np.float32)
        means, counts = neighbor_means(matrix, quality, tau)
        table = asked[["id", "quality"]].assign(kernel=name, mean=means, neighbors=counts)
        tables.append(table[["kernel", *COLUMNS]])
    sealed.write(path, pd.concat(tables))


def read_pairs(paths: Iterable[str | Path]) -> dict[Pair, sealed.Sealed]:
    """(source, target) -> what `write_cross_estimates` wrote. Raises as
    `refless.store.sealed.read`."""
    pairs = {}
    for path in paths:
        source, target = Path(path).stem.split(".")
        pairs[source, target] = sealed.read(path)
    return pairs


def table2(
    looks: Looks,
    tasks: Mapping[str, Predicted],
    pairs: Mapping[Pair, sealed.Sealed],
    published: pd.DataFrame,
    kernels: Sequence[str],
    a: int,
    b: float,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """The rows of every pair of tasks; ``kernels`` are those of ``bleu``, the published one first.

    Other parameters as in `refless.experiments.bleu_neighbors.table1.table1`.
    """
    rows: Rows = []
    for source, target in ((source, target) for source in looks for target in looks):
        data, file = tasks.get(source), pairs.get((source, target))
        for kernel in kernels:
            row: dict[str, Any] = {"source_task": source, "target_task": target, "kernel": kernel}
            estimate = None
            if source == target and data is not None and kernel in data.estimates:
                estimate, origin = data.estimates[kernel], data.shown(kernel)["source"]
            elif data is not None and file is not None:
                check_texts(file, tasks[target].rated, target)
                own = file.content[file.content["kernel"] == kernel]
                estimate = predictions(own, len(data.rated.id), a, b)
                origin = file.about["provenance"]
            if estimate is not None:
                rated = tasks[target].rated
                row |= cells(estimate, rated.quality, draws, seed, rated.units)
                row["source"] = origin
            if estimate is not None or kernel == kernels[0]:
                rows.append(row)
    columns = [*KEYS, *with_intervals("spearman"), "paper_spearman", *with_intervals("coverage")]
    columns += ["p", "p_below_0.01", "n", "source", "reason"]
    printed = of_our_tasks(published.assign(kernel=kernels[0]), looks)
    return beside_paper(rows, printed, KEYS, columns)
