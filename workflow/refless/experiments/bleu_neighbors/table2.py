"""Table 2 of the BLEU Neighbors paper: trained on one data set, scored on another.

Stage: prediction and cell -> table. In: rated texts of two tasks. Out: for each text of the one,
mean and number of its neighbors in the other (numbers without text); a row a (source dataset,
target dataset, kernel). Within one data set, estimates are table 1's.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task
from refless.experiments.bleu_neighbors.neighbors import (
    NEIGHBOR_COLUMNS,
    Predicted,
    predictions,
    read_neighbors,
    read_predicted,
    with_quality,
)
from refless.experiments.bleu_neighbors.table1 import TableRows, TaskStyles, cells, of_our_tasks
from refless.experiments.published import merge_published
from refless.kernels import kernel
from refless.models.neighbor_means import neighbor_means
from refless.statistics.measure import measure_columns
from refless.steps import stepwise
from refless.store import sealed
from refless.store.records import Destination

Array = np.ndarray

TABLE2_KEYS = ["source_dataset", "target_dataset", "kernel"]
Key = tuple[str, str, str]


def write_cross_estimates(
    path: Destination,
    source: Task,
    target: Task,
    taus: Mapping[str, float],
    threads: int | None = None,
) -> None:
    """Write mean and number of the neighbors that the target's rated texts have among the source's,
    by each kernel, as ``kernel`` and `NEIGHBOR_COLUMNS`.

    taus : kernel -> the least similarity of a neighbor
    threads : None for as many as the process may use
    Source: Ethayarajh & Sadigh (2020), section 5.4.
    """
    training = with_quality(source)
    candidates = with_quality(target)
    quality = training["quality"].to_numpy(np.float64)
    training_texts = training["text"].tolist()
    candidate_texts = candidates["text"].tolist()
    tables = []
    for name in stepwise("kernel", list(taus)):
        matrix = kernel(name, candidate_texts, training_texts, threads=threads, dtype=np.float32)
        means, counts = neighbor_means(matrix, quality, taus[name])
        table = candidates.assign(kernel=name, mean=means, neighbors=counts)
        tables.append(table[["kernel", *NEIGHBOR_COLUMNS]])
    sealed.write(path, pd.concat(tables))


def read_pairs(
    paths: Iterable[str | Path], tasks: Mapping[str, Predicted], a: int, b: float
) -> dict[Key, tuple[Array, str]]:
    """Return the estimates of a target's texts, float64 (n,), and their provenance, by
    `TABLE2_KEYS`: of each data set by itself, and of each file.

    paths : ``<source>.<target>.csv`` by `write_cross_estimates`
    tasks, a, b : by `refless.experiments.bleu_neighbors.neighbors.read_predicted`, under the same
        thresholds
    Raises FormatError, StaleError: as `read_neighbors`.
    """
    pairs: dict[Key, tuple[Array, str]] = {}
    for dataset, data in tasks.items():
        for name, estimate in data.estimates.items():
            provenance = data.kernel_cells(name)["provenance"]
            pairs[dataset, dataset, name] = (estimate, provenance)
    for path in map(Path, paths):
        source, target = path.stem.split(".")
        if source in tasks and target in tasks:
            file = read_neighbors(path, tasks[target].id, tasks[target].quality)
            for name, neighbors in file.content.groupby("kernel"):
                estimate = predictions(neighbors, len(tasks[source].id), a, b)
                pairs[source, target, name] = (estimate, file.metadata["provenance"])
    return pairs


def table2(
    ratings: Iterable[str | Path],
    predictions: Iterable[str | Path],
    estimates: Iterable[str | Path],
    published: pd.DataFrame,
    styles: TaskStyles,
    kernels: Sequence[str],
    thresholds: Mapping[str, Any],
    bootstrap: Mapping[str, int],
) -> pd.DataFrame:
    """Return table 2: every pair of a source and a target data set, and every kernel, beside the
    paper's numbers.

    estimates : the files of `read_pairs`
    kernels : those of ``bleu``, the published one first; a pair has a row without numbers for it,
        and none for the others, where there are no estimates
    The other parameters are those of `refless.experiments.bleu_neighbors.table1.table1`.
    """
    tasks = read_predicted(ratings, predictions, **thresholds)
    pairs = read_pairs(estimates, tasks, **thresholds)
    rows: TableRows = []
    for key in product(styles, styles, kernels):
        row: dict[str, Any] = dict(zip(TABLE2_KEYS, key, strict=True))
        if key in pairs:
            source, target, _ = key
            estimate, provenance = pairs[key]
            data = tasks[target]
            training = len(tasks[source].quality)
            if source == target:
                training -= 1  # each text is left out
            row |= cells(estimate, data.quality, **bootstrap, units=data.units, training=training)
            row["provenance"] = provenance
        if key in pairs or row["kernel"] == kernels[0]:
            rows.append(row)
    columns = [*TABLE2_KEYS, *measure_columns("spearman", "coverage")]
    columns += ["p", "p_below_0.01", "n", "provenance", "reason"]
    printed = of_our_tasks(published.assign(kernel=kernels[0]), styles)
    return merge_published(rows, printed, TABLE2_KEYS, columns)
