"""Figures 2 to 4 of BLEU Neighbors as numbers: over the thresholds, and over the data size.

Stage: cell. In: a task, and the kernel file of the published BLEU*. Out: two signed tables.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task
from refless.experiments.bleu_neighbors.leave_one_out import (
    data_size_curve,
    human_cells,
    matrix_neighbors,
    read_truth,
    threshold_curves,
)
from refless.experiments.bleu_neighbors.stored import (
    quality_sums,
    read_predictions,
    streamed_neighbors,
)
from refless.kernels import signature
from refless.store import signed

log = logging.getLogger(__name__)


def write_threshold_curves(
    path: str | Path,
    task: Task,
    kernel: str | Path,
    tau: float,
    a: int,
    b: float,
    a_range: Sequence[int],
    b_step: float,
) -> None:
    """Spearman and coverage as a or b moves, from the kernel file in one pass.

    Parameters
    ----------
    kernel : its file
    a, b : one keeps its value while the other moves
    a_range : lowest and highest a
    b_step : between 0 and 1
    """
    truth = read_truth(task.texts, task.ratings)
    name = Path(kernel).name.removesuffix(".npz")
    predictions, about = read_predictions(kernel, task, {"published": truth}, {name: tau})
    b_values = np.round(np.arange(0, 1 + b_step / 2, b_step), 10)
    curves = threshold_curves(predictions, range(a_range[0], a_range[1] + 1), b_values, a, b)
    # the average annotator, above whom the figure is shaded; no interval is needed here
    human: Any = np.nan
    if len(truth.rater):
        human = human_cells(truth, draws=1, seed=0)["human_average"]["spearman"]
    signed.write(
        path,
        curves.assign(human_spearman=human),
        {
            "kind": "threshold curves",
            "of": {"task": task.name},
            "provenance": signed.provenance([about, task.about]),
            "signatures": about["signatures"],
            "settings": {"tau": tau, "a": a, "b": b},
        },
    )


def write_data_size_curve(
    path: str | Path,
    task: Task,
    kernel: str | Path,
    settings: dict[str, Any],
    sizes: Sequence[int],
    step: int,
    threads: int | None = None,
) -> None:
    """Spearman and coverage on random subsets of the texts, leave-one-out within each.

    Parameters
    ----------
    kernel : its file; where it holds sums of neighbors and no matrix, the kernel is computed anew
        for each subset
    settings : ``tau``, ``a``, ``b``, ``subsets``, ``seed``
    sizes, step : sizes of the subsets in the second case, the step between two in the first;
        everything there is is the last one
    """
    truth = read_truth(task.texts, task.ratings)
    n, tau = len(truth.id), settings["tau"]
    name = Path(kernel).name.removesuffix(".npz")
    about = signed.record_of(kernel)
    if about["kind"] == "kernel":
        of = {"task": task.name, "kernel": name}
        file = signed.read(kernel, "kernel", of=of, made_from={"texts": task.text_sum})
        neighbors = matrix_neighbors(file.content["kernel"].astype(np.float64), truth, tau)
        sizes = range(step, n, step)
    else:
        texts = task.texts["text"].tolist()
        neighbors = streamed_neighbors(name, texts, truth, tau, threads=threads)
    begin = time.perf_counter()
    curve = data_size_curve(
        neighbors,
        truth,
        [size for size in sizes if settings["a"] < size < n] + [n],
        a=settings["a"],
        b=settings["b"],
        subsets=settings["subsets"],
        seed=settings["seed"],
    )
    log.info("%d subsets in %.1f s", len(curve), time.perf_counter() - begin)
    signed.write(
        path,
        curve,
        {
            "kind": "data size curve",
            "of": {"task": task.name},
            "provenance": signed.provenance([about, task.about]),
            "settings": settings,
            "made_from": quality_sums({"published": truth}),
            "signatures": [signature(name, task.text_sum)],
        },
    )


def read_curves(
    paths: Sequence[str | Path], kind: str, settings: dict[str, Any]
) -> dict[str, pd.DataFrame]:
    """Curves by task. Raises as `refless.store.signed.read`."""
    curves = {}
    for path in paths:
        task = Path(path).parent.name
        curves[task] = signed.read(path, kind, of={"task": task}, settings=settings).content
    return curves
