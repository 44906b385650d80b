"""Figures 2 to 4 of BLEU Neighbors as numbers: over the thresholds, and over the data size.

Stage: cell. In: predictions, the kernel of the published BLEU*. Out: curves.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task
from refless.experiments.bleu_neighbors.matrices import read_kernel
from refless.experiments.bleu_neighbors.neighbors import (
    LARGE_DATASET,
    Predicted,
    predictions,
    with_quality,
)
from refless.experiments.bleu_neighbors.table1 import TaskStyles, of_our_tasks
from refless.models.neighbor_means import apply_thresholds, neighbor_means
from refless.statistics import evaluate
from refless.statistics.correlation import spearman
from refless.statistics.measure import Measure, measure_cells
from refless.steps import stepwise
from refless.store import sealed
from refless.store.records import Destination

Array = np.ndarray
# Read off the paper's figures: a up to 60, b in small steps; sizes every 10, 20 subsets each.
A_VALUES = range(1, 61)
B_VALUES = np.round(np.arange(0, 1.005, 0.01), 10)
_THRESHOLD_VALUES = [("a", float(value)) for value in A_VALUES]
_THRESHOLD_VALUES += [("b", float(value)) for value in B_VALUES]
STEP = 10
SUBSETS = 20
SIZE_COLUMNS = ["size", "subset", "spearman", "coverage"]
LARGE_SIZES = (20, 50, 100, 200, 500, 1000, 2000, 5000)
"""Sizes for more than `LARGE_DATASET` texts."""


def _point(estimate: Array, quality: Array) -> tuple[float, float]:
    """Return Spearman's rho of the covered texts, NaN where it is undefined, and coverage, the
    share of texts that have an estimate.

    estimate, quality : float64 (n,) each, from 0 to 1; an estimate is NaN where undefined
    """
    covered = ~np.isnan(estimate)
    rho, _ = spearman(estimate[covered], quality[covered])
    return rho, float(covered.mean())


def threshold_curves(
    tasks: Mapping[str, Predicted],
    kernel: str,
    thresholds: Mapping[str, Any],
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """Return the points of figures 2 and 3, where one threshold moves and the other stays.

    tasks : data set -> its neighbors; one without this kernel has no points
    thresholds : ``a`` and ``b`` where they stay, see `predictions`
    draws, seed : of the bootstrap
    Returns a row a (data set, threshold, value), with the columns dataset, threshold (``a`` or
        ``b``) and value, and with spearman and coverage and their 95% intervals, as in table 1
    """
    rows: list[dict[str, Any]] = []
    for dataset, data in tasks.items():
        if kernel not in data.files:
            continue
        n = len(data.id)
        neighbors = data.files[kernel].content
        # thresholds beside each other cover the same texts, and are evaluated once
        evaluated: dict[bytes, dict[str, Any]] = {}
        for threshold, value in _THRESHOLD_VALUES:
            estimate = predictions(neighbors, n - 1, **{**thresholds, threshold: value})
            key = estimate.tobytes()
            if key not in evaluated:
                scores = evaluate(estimate, data.quality, draws, seed, data.units, (n - 1) / n)
                cells = measure_cells(spearman=scores.spearman, coverage=scores.coverage)
                evaluated[key] = cells
            point = {"dataset": dataset, "threshold": threshold, "value": value}
            rows.append(point | evaluated[key])
    columns = ["dataset", "threshold", "value"]
    columns += Measure("spearman").interval
    columns += Measure("coverage").interval
    return pd.DataFrame(rows, columns=columns)


def data_size_curve(
    matrix: Array, quality: Array, sizes: Iterable[int], tau: float, a: int, b: float, seed: int
) -> pd.DataFrame:
    """Return Spearman's rho and coverage on random subsets of the data, leave-one-out in each
    (figure 4), as `SIZE_COLUMNS`. Each size has a generator of its own, so that adding a size
    changes no other.

    matrix : the kernel of all texts, (n, n)
    quality : float64 (n,), from 0 to 1
    sizes : numbers of texts in a subset; of all n texts there is one subset
    tau, a, b : the least similarity of a neighbor, the fewest neighbors of a text, and their
        largest share of a subset's other texts
    Source: Ethayarajh & Sadigh (2020), section 5.5.
    """
    n = len(quality)
    rows = []
    for size in stepwise("subsets of texts", list(sizes)):
        generator = np.random.default_rng([seed, size])
        for subset in range(SUBSETS if size < n else 1):
            sample = np.sort(generator.choice(n, size, replace=False))
            part = matrix[np.ix_(sample, sample)]
            means, counts = neighbor_means(
                part, quality[sample], tau, leave_one_out=True, in_order=n > LARGE_DATASET
            )
            estimate = apply_thresholds(means, counts, size - 1, a, b)
            rho, coverage = _point(estimate, quality[sample])
            rows.append((size, subset, rho, coverage))
    return pd.DataFrame(rows, columns=SIZE_COLUMNS)


def write_data_size_curve(
    path: Destination, dataset: Task, kernels: Iterable[str | Path], settings: Mapping[str, Any]
) -> None:
    """Write `data_size_curve` of a data set.

    kernels : the blocks of its kernel, see `read_kernel`
    settings : ``tau``, ``a``, ``b`` and ``seed``
    """
    quality = with_quality(dataset)["quality"].to_numpy(np.float64)
    matrix = read_kernel(kernels, dataset)
    n = len(quality)
    grid = range(STEP, n, STEP) if n <= LARGE_DATASET else LARGE_SIZES
    sizes = [size for size in grid if settings["a"] < size < n]
    sizes.append(n)
    sealed.write(path, data_size_curve(matrix, quality, sizes, **settings))


def average_annotators(tasks: Mapping[str, Predicted]) -> dict[str, tuple[float, float]]:
    """Return for each data set the rho of the average annotator, as in table 1: against the other
    annotators, and against all labels. Tasks without annotators are left out."""
    rho = {}
    for dataset, data in tasks.items():
        if data.annotated:
            against_others = data.human_rows(others=True, draws=1).average_spearman.value
            against_all = data.human_rows(others=False, draws=1).average_spearman.value
            rho[dataset] = (against_others, against_all)
    return rho


def published_points(published: pd.DataFrame, styles: TaskStyles) -> dict[str, dict[Any, float]]:
    """Return what table 1 of the paper prints of BLEU: for the measures ``spearman`` and
    ``coverage`` the values by our names of data sets."""
    printed = of_our_tasks(published, styles)
    bleu = printed[printed["model"] == "bleu"].set_index("dataset")
    points = {}
    for name in ("spearman", "coverage"):
        values = bleu.loc[bleu[name] != "", name]
        points[name] = values.astype(float).to_dict()
    return points
