"""Figures 2 to 4 of BLEU Neighbors as numbers: over the thresholds, and over the data size.

Stage: cell. In: predictions, the kernel of the published BLEU*. Out: curves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task
from refless.errors import SettingError
from refless.experiments.bleu_neighbors.neighbors import (
    MANY,
    Predicted,
    means_within,
    rated_texts,
    read_kernel,
)
from refless.experiments.bleu_neighbors.table1 import ALL, HUMANS, OTHERS
from refless.models.neighbors import enough_evidence
from refless.report.tables import read_published
from refless.statistics import spearman
from refless.store import sealed

Array = np.ndarray
# Read off the paper's figures: a up to 60, b in small steps; sizes every 10, 20 subsets each.
A_VALUES, B_VALUES = range(1, 61), np.round(np.arange(0, 1.005, 0.01), 10)
STEP, SUBSETS = 10, 20
LARGE = (20, 50, 100, 200, 500, 1000, 2000, 5000)
"""Sizes for more than `MANY` texts."""


def _point(estimate: Array, quality: Array) -> tuple[float, float]:
    """Spearman's rho (NaN where undefined) and coverage."""
    covered = ~np.isnan(estimate)
    return spearman(estimate[covered], quality[covered])[0], float(covered.mean())


def threshold_curves(
    data: Predicted,
    kernel: str,
    *,
    a: int,
    b: float,
    a_values: Iterable[int] = A_VALUES,
    b_values: Iterable[float] = B_VALUES,
) -> pd.DataFrame:
    """Columns threshold (``a`` or ``b``), value, spearman, coverage: one threshold moves and the
    other stays (figures 2 and 3)."""
    settings = [("a", float(x), x, b) for x in a_values] + [("b", x, a, x) for x in b_values]
    rows = [
        (threshold, value, *_point(data.estimates(kernel, own_a, own_b), data.rated.quality))
        for threshold, value, own_a, own_b in settings
    ]
    return pd.DataFrame(rows, columns=["threshold", "value", "spearman", "coverage"])


def data_size_curve(
    matrix: Array,
    quality: Array,
    sizes: Iterable[int],
    *,
    tau: float,
    a: int,
    b: float,
    seed: int,
    subsets: int = SUBSETS,
) -> pd.DataFrame:
    """Columns size, subset, spearman, coverage: random subsets of the data, leave-one-out in each
    (figure 4).

    Subsets come from one generator a size, so that adding a size changes no other.

    Source: Ethayarajh & Sadigh (2020), section 5.5.
    """
    n = len(quality)
    rows = []
    for size in sizes:
        if not 2 <= size <= n:
            raise SettingError(f"a subset of {size} cannot be drawn from {n} candidates")
        generator = np.random.default_rng([seed, size])
        for subset in range(subsets if size < n else 1):
            chosen = np.sort(generator.choice(n, size, replace=False))
            part = matrix[np.ix_(chosen, chosen)]
            means, counts = means_within(part, quality[chosen], tau, in_order=n > MANY)
            estimate = enough_evidence(means, counts, size - 1, a, b)
            rows.append((size, subset, *_point(estimate, quality[chosen])))
    return pd.DataFrame(rows, columns=["size", "subset", "spearman", "coverage"])


def write_data_size_curve(
    path: str | Path,
    task: Task,
    kernels: Sequence[str | Path],
    settings: Mapping[str, Any],
) -> None:
    """Write the curve over the data size of a task.

    Parameters
    ----------
    kernels : the blocks of its kernel, see `read_kernel`
    settings : ``tau``, ``a``, ``b``, ``seed``
    """
    rated = rated_texts(task)
    matrix = read_kernel(kernels, rated)
    n = len(rated.id)
    sizes = range(STEP, n, STEP) if n <= MANY else LARGE
    asked = [*(size for size in sizes if settings["a"] < size < n), n]
    sealed.write(path, data_size_curve(matrix, rated.quality, asked, **settings))


def read_data_sizes(paths: Sequence[str | Path]) -> dict[str, pd.DataFrame]:
    """Curves over the data size by task. Raises as `refless.store.sealed.read`."""
    return {Path(path).parent.name: sealed.read(path).content for path in paths}


def average_annotators(path: str | Path) -> dict[str, tuple[float, float]]:
    """Rho of the average annotator by task, from the CSV of table 1: against the others, and
    against all labels. Tasks without annotators are left out."""
    table = read_published(path, ["task", "model", "against", "spearman"])
    table = table[(table["model"] == HUMANS[1]) & table["spearman"].notna()]
    found = table.pivot_table(index="task", columns="against", values="spearman")
    if OTHERS not in found:
        return {}
    return {str(task): (row[OTHERS], row[ALL]) for task, row in found.iterrows()}
