"""Table 1 of the BLEU Neighbors paper: models and annotators on each task.

Stage: cell -> table. In: ratings and predictions of the tasks that are there. Out: one row a
(model, task, kernel, reading), with the published cells beside ours, as a table and for reading.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import read_task
from refless.experiments.bleu_neighbors.leave_one_out import (
    PREDICTION_COLUMNS,
    Truth,
    human_cells,
    model_cells,
    read_truths,
)
from refless.report.published import beside_published
from refless.store import signed

KEYS = ["model", "task"]
VALUES = ["mse", "spearman", "coverage", "p_below_0.01"]
READING_NOTES = {
    "published": "",
    "exact": "means of the ratings rounded once",
    "item": "rated items one by one, equal pairs apart",
    "without undefined": "annotators without a rho left out, not counted as 0",
}


@dataclass
class Settings:
    """What the configuration says about this table.

    models : model -> kernels, the published one first
    a, b : evidence thresholds
    draws, seed : of the bootstrap
    """

    models: dict[str, list[str]]
    a: int
    b: float
    draws: int
    seed: int


@dataclass
class TaskInput:
    """One task: truths by reading, predictions by (kernel, reading).

    kernels : kernel -> what the predictions' record says of it (``provenance``, ``signature``,
        ``tau``)
    """

    truths: dict[str, Truth]
    predictions: dict[tuple[str, str], pd.DataFrame]
    kernels: dict[str, dict[str, Any]] = field(default_factory=dict)
    ratings_provenance: str = "computed"

    def provenance(self, kernel: str) -> str:
        """``computed`` or ``shipped``."""
        return str(self.kernels[kernel]["provenance"])

    def is_stand_in(self, kernel: str) -> bool:
        """Whether a kernel stands in for the paper's: see `is_stand_in`."""
        return is_stand_in(self.kernels[kernel]["signature"])

    def notes(self, kernel: str) -> list[str]:
        """What is to be said of a kernel wherever its numbers stand; mostly nothing."""
        return kernel_notes(self.kernels[kernel]["signature"], self.kernels[kernel]["tau"])


def read_tasks(
    folders: Sequence[str | Path],
    predictions: Sequence[str | Path],
    kernels: Collection[str] | None = None,
) -> tuple[dict[str, TaskInput], list[str]]:
    """The tasks that are there, and the notes for the table's footer.

    Parameters
    ----------
    folders : of the tasks' ratings
    predictions : by `write_predictions`, in the same order
    kernels : whose signatures are noted; None for all

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    tasks: dict[str, TaskInput] = {}
    notes: list[str] = []
    for folder, path in zip(folders, predictions, strict=True):
        task = read_task(folder)
        file = signed.read(
            path,
            "predictions",
            of={"task": task.name},
            made_from={"texts": signed.identity(task.about)},
            columns=PREDICTION_COLUMNS,
        )
        by_kernel = file.content.groupby(["kernel", "reading"])
        known = {one["kernel"]: one for one in file.about["facts"]["kernels"]}
        tasks[task.name] = TaskInput(
            read_truths(task.texts, task.ratings, task.scale),
            {(str(kernel), str(reading)): rows for (kernel, reading), rows in by_kernel},
            known,
            task.provenance,
        )
        notes += task.notes
        notes += [o["note"] for k, o in known.items() if kernels is None or k in kernels]
    return tasks, notes


def table1(
    looks: Mapping[str, Mapping[str, Any]],
    tasks: Mapping[str, TaskInput],
    published: pd.DataFrame,
    settings: Settings,
) -> pd.DataFrame:
    """All rows, published variants first within a (model, task).

    Parameters
    ----------
    looks : task -> its entry of the configuration (``published``: its name in the paper, ``note``),
        all tasks in the order of the rows
    tasks : the tasks that are there; the others get a row a model, without numbers
    published : `refless.report.published.read_published`, tasks under the paper's names
    """
    rows: list[dict[str, Any]] = []
    known = {"human_best", "human_average", *settings.models}
    lost = [model for model in dict.fromkeys(published["model"]) if model not in known]
    for task, look in looks.items():
        own: list[dict[str, Any]] = []
        humans = _human_rows(task, tasks[task], settings) if task in tasks else {}
        for model in ("human_best", "human_average", *settings.models):
            kernels = settings.models.get(model, [""])
            if task not in tasks:
                own.append({"model": model, "task": task, "kernel": kernels[0], "note": []})
            elif model in humans:
                own += humans[model]
            else:
                own += _model_rows(model, task, tasks[task], settings)
        for model in lost:
            why = f"no kernel is configured for it (bleu_neighbors.models.{model})"
            note = [f"not available: {why}"]
            own.append({"model": model, "task": task, "kernel": model, "note": note})
        for row in own:
            row["note"] = [*([look["note"]] if look["note"] else []), *row["note"]]
        rows += own
    table = beside_paper(pd.DataFrame(rows), looks, published, KEYS, VALUES)
    for column in ("reading", "provenance"):
        table[column] = table[column].fillna("") if column in table else ""
    shown = [*KEYS, "kernel", "reading"]
    for column in VALUES[:3]:
        shown += [column, f"{column}_low", f"{column}_high", f"paper_{column}"]
    shown += ["p_value", "p_below_0.01", "paper_p_below_0.01", "agreement", "stand_in"]
    table = table.reindex(columns=[*shown, "n", "n_covered", "annotators", "provenance", "note"])
    for column in ("stand_in", "n", "n_covered", "annotators", "p_below_0.01"):
        table[column] = table[column].astype("Int64")
    return table


def beside_paper(
    table: pd.DataFrame,
    looks: Mapping[str, Mapping[str, Any]],
    published: pd.DataFrame,
    keys: Sequence[str],
    values: Sequence[str],
) -> pd.DataFrame:
    """`beside_published` with tasks under the paper's names; stand-ins get no ``agreement``.

    They are not the paper's kernel; and where tau is set by the paper's coverage, as the
    configuration has it, coverage agrees by construction.
    """
    roles = [key for key in keys if key.endswith("task")]
    names = {task: look["published"] or task for task, look in looks.items()}
    ours = table[roles]
    table = beside_published(
        table.assign(**{role: table[role].map(names) for role in roles}), published, keys, values
    )
    table[roles] = ours.to_numpy()
    if "stand_in" in table:
        table["agreement"] = table["agreement"].mask(table["stand_in"] == 1, "")
    return table


def _human_rows(task: str, data: TaskInput, settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """The rows of both human models; one bootstrap serves the two."""
    rows: dict[str, list[dict[str, Any]]] = {"human_best": [], "human_average": []}
    variants = [(reading, truth, 0.0) for reading, truth in data.truths.items()]
    variants.append(("without undefined", data.truths["published"], float("nan")))
    for reading, truth, undefined in variants:
        humans = human_cells(truth, settings.draws, settings.seed, undefined)
        notes = [READING_NOTES[reading]] if READING_NOTES[reading] else []
        lost, everyone = (humans["human_average"][name] for name in ("undefined", "annotators"))
        if lost and undefined == 0:
            notes.append(
                f"{lost} of {everyone} annotators have no rho (labels all alike, or fewer than 3)"
                " and count as 0"
            )
        fewest, most = _labels_given(truth)
        if fewest < 3:
            notes.append(
                f"annotators gave from {fewest} to {most} ratings: the best and the mean are also"
                " those of annotators of very few"
            )
        for model, cells in humans.items():
            rows[model].append(
                {
                    "model": model,
                    "task": task,
                    "kernel": "",
                    "reading": reading,
                    **cells,
                    "provenance": data.ratings_provenance,
                    "note": list(notes),
                }
            )
    return rows


def _labels_given(truth: Truth) -> tuple[int, int]:
    """The fewest and the most ratings that an annotator gave; 0 without annotators."""
    _, number = np.unique(truth.rater.astype(str), return_counts=True)
    return (int(number.min()), int(number.max())) if len(number) else (0, 0)


def _model_rows(model: str, task: str, data: TaskInput, settings: Settings) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for kernel in settings.models[model]:
        if not any((kernel, reading) in data.predictions for reading in data.truths):
            # A published cell must not vanish without a word.
            rows.append({"model": model, "task": task, "kernel": kernel, "note": []})
        for reading in data.truths:
            if (kernel, reading) not in data.predictions:
                continue
            predictions = data.predictions[kernel, reading]
            cells = model_cells(predictions, settings.a, settings.b, settings.draws, settings.seed)
            notes = [*filter(None, [READING_NOTES[reading]]), *data.notes(kernel)]
            if cells["n_covered"] == 0:
                notes.append(
                    f"no candidate has from {settings.a} neighbors to {settings.b:g} of the"
                    f" training set (the most that any has is {predictions['neighbors'].max()})"
                )
            rows.append(
                {
                    "model": model,
                    "task": task,
                    "kernel": kernel,
                    "reading": reading,
                    **cells,
                    "stand_in": int(data.is_stand_in(kernel)),
                    "provenance": data.provenance(kernel),
                    "note": notes,
                }
            )
    return rows


def is_stand_in(signature: Mapping[str, Any]) -> bool:
    """Whether a kernel is BERTScore in another form than the paper's."""
    family, _, model = signature["kernel"].partition(".")
    other = model != "roberta-large" or bool({*signature["options"]} - {"prefix_space"})
    return family == "bertscore" and other


def kernel_notes(signature: Mapping[str, Any], tau: float) -> list[str]:
    """What is to be said of a stand-in: its tau is on another scale."""
    if not is_stand_in(signature):
        return []
    options = signature["options"]
    chosen = ", ".join(f"{name} {value}" for name, value in sorted(options.items()))
    model = signature["kernel"].partition(".")[2]
    return [
        f"a stand-in for the paper's BERTScore (roberta-large, layer 17, rescaled): {model}"
        f"{f' ({chosen})' if chosen else ''} has a scale of its own, and tau is {tau:g} on it"
    ]
