"""Figures 2 to 4 of BLEU Neighbors as numbers: over the thresholds, and over the data size.

Stage: cell. In: a task, and the kernel file of the published BLEU*. Out: two signed tables.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task, rated_sums
from refless.experiments.bleu_neighbors.leave_one_out import (
    annotators_of,
    data_size_curve,
    human_cells,
    matrix_neighbors,
    read_truth,
    threshold_curves,
)
from refless.experiments.bleu_neighbors.stored import (
    read_predictions,
    require_options,
    streamed_neighbors,
)
from refless.kernels import signature
from refless.store import signed
from refless.store.signatures import sign

log = logging.getLogger(__name__)
CODE = "experiments/bleu_neighbors/leave_one_out.py"


def write_threshold_curves(
    path: str | Path,
    task: Task,
    path_of_kernel: str | Path,
    kernel: str,
    tau: float,
    a: int,
    b: float,
    a_range: Sequence[int],
    b_step: float,
) -> None:
    """Spearman and coverage as a or b moves, from the kernel file in one pass.

    Parameters
    ----------
    path_of_kernel : the file of ``kernel``
    a, b : one keeps its value while the other moves
    a_range : lowest and highest a
    b_step : between 0 and 1
    """
    truth = read_truth(task.texts, task.ratings)
    truths = {"published": truth}
    predictions, about = read_predictions(path_of_kernel, task, truths, {kernel: tau})
    b_values = np.round(np.arange(0, 1 + b_step / 2, b_step), 10)
    curves = threshold_curves(predictions, range(a_range[0], a_range[1] + 1), b_values, a, b)
    # the average annotator, with and without the own label; no interval is needed here
    human = {False: np.nan, True: np.nan}
    if len(truth.rater):
        for others in human:
            each = annotators_of(truth, draws=1, seed=0, others=others)
            human[others] = human_cells(each, len(truth.id))["human_average"]["spearman"]
    signed.write(
        path,
        curves.assign(human_spearman=human[False], human_others=human[True]),
        {
            "kind": "threshold curves",
            "of": {"task": task.name},
            "provenance": signed.provenance([about, task.about]),
            "signatures": [*about["signatures"], sign([CODE], task.text_sum)],
            "settings": {
                "kernel": kernel,
                "tau": tau,
                "a": a,
                "b": b,
                "a_range": a_range,
                "b_step": b_step,
            },
            "made_from": task.rated_sums | {"kernel": signed.identity(about)},
        },
    )


def write_data_size_curve(
    path: str | Path,
    task: Task,
    kernel: str | Path,
    settings: dict[str, Any],
    threads: int | None = None,
) -> None:
    """Spearman and coverage on random subsets of the texts, leave-one-out within each.

    Parameters
    ----------
    kernel : its file; where it holds sums of neighbors and no matrix, the kernel is computed anew
        for each subset
    settings : ``kernel``, ``tau``, ``a``, ``b``, ``subsets``, ``seed``; ``sizes`` of the subsets in
        the second case, the ``step`` between two in the first; everything there is is the last one
    """
    truth = read_truth(task.texts, task.ratings)
    n, tau = len(truth.id), settings["tau"]
    name = settings["kernel"]
    about = require_options(kernel, name)
    if about["kind"] == "kernel":
        of = {"task": task.name, "kernel": name}
        file = signed.read(kernel, "kernel", of=of, made_from={"texts": task.text_sum})
        neighbors = matrix_neighbors(file.content["kernel"].astype(np.float64), truth, tau)
        sizes: Sequence[int] = range(settings["step"], n, settings["step"])
    else:
        texts = task.texts["text"].tolist()
        neighbors = streamed_neighbors(name, texts, truth, tau, threads=threads)
        sizes = settings["sizes"]
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
            "made_from": task.rated_sums,
            "signatures": [
                signature(name, task.text_sum),
                sign([CODE], task.text_sum),
            ],
        },
    )


def read_curves(
    paths: Sequence[str | Path],
    kind: str,
    settings: Mapping[str, Mapping[str, Any]],
    folders: Sequence[str | Path],
) -> dict[str, pd.DataFrame]:
    """Curves by task.

    Parameters
    ----------
    settings : task -> those under which its curve must have been made
    folders : of the ratings that are there; curves must be made from these

    Raises as `refless.store.signed.read`.
    """
    made_from = rated_sums(folders)
    curves = {}
    for path in paths:
        task = Path(path).parent.name
        file = signed.read(
            path, kind, of={"task": task}, settings=settings[task], made_from=made_from.get(task)
        )
        curves[task] = file.content
    return curves


def average_annotators(curves: Mapping[str, pd.DataFrame]) -> dict[str, tuple[float, float]]:
    """Rho of the average annotator by task, from curves over the thresholds.

    Against the mean of the others' ratings, and against the quality, which contains the own. Tasks
    without annotators are left out.
    """
    found = {
        task: (float(curve["human_others"].iloc[0]), float(curve["human_spearman"].iloc[0]))
        for task, curve in curves.items()
    }
    return {task: both for task, both in found.items() if not np.isnan(both[1])}
