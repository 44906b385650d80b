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
from refless.experiments.bleu_neighbors.columns import tidy, with_intervals
from refless.experiments.bleu_neighbors.leave_one_out import (
    PREDICTION_COLUMNS,
    Truth,
    human_cells,
    model_cells,
    read_truths,
)
from refless.report.published import beside_published
from refless.store import signed

HUMANS = ("human_best", "human_average")
KEYS = ["model", "task"]
VALUES = ["mse", "spearman", "coverage", "p_below_0.01"]
READING_NOTES = {
    "published": "",
    "exact": "means of the ratings rounded once",
    "item": "rated items one by one, equal pairs apart",
    "without undefined": "annotators without a rho left out, not counted as 0",
}


@dataclass(frozen=True)
class Settings:
    """What the configuration says about a table.

    a, b : evidence thresholds
    draws, seed : of the bootstrap
    models : model -> kernels, the published one first
    """

    a: int
    b: float
    draws: int
    seed: int
    models: dict[str, list[str]] = field(default_factory=dict)


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

    def about(self, kernel: str) -> dict[str, Any]:
        """The columns ``stand_in`` (see `is_stand_in`) and ``provenance``."""
        known = self.kernels[kernel]
        return {
            "stand_in": int(is_stand_in(known["signature"])),
            "provenance": known["provenance"],
        }

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

    Raises as `refless.store.signed.read`.
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
    for task, look in looks.items():
        own: list[dict[str, Any]] = []
        if task in tasks:
            own += _human_rows(tasks[task], settings)
            for model, kernels in settings.models.items():
                for kernel in kernels:
                    found = _model_rows(kernel, tasks[task], settings)
                    own += [{"model": model, "kernel": kernel, **row} for row in found]
        else:
            own += [{"model": model, "kernel": ""} for model in HUMANS]
            own += [{"model": m, "kernel": kernels[0]} for m, kernels in settings.models.items()]
        own += rows_of_lost_models(published, settings)
        about = [look["note"]] if look["note"] else []
        rows += [{**row, "task": task, "note": about + row.get("note", [])} for row in own]
    table = beside_paper(rows, looks, published, KEYS, VALUES)
    shown = [*KEYS, "kernel", "reading"]
    for column in VALUES[:3]:
        shown += [*with_intervals(column), f"paper_{column}"]
    shown += ["p_value", "p_below_0.01", "paper_p_below_0.01", "agreement", "stand_in"]
    return tidy(table, [*shown, "n", "n_covered", "annotators", "provenance", "note"])


def rows_of_lost_models(published: pd.DataFrame, settings: Settings) -> list[dict[str, Any]]:
    """A row for each model of the paper that the configuration has no kernel for."""
    return [
        {
            "model": model,
            "kernel": model,
            "note": [
                f"not available: no kernel is configured for it (bleu_neighbors.models.{model})"
            ],
        }
        for model in dict.fromkeys(published["model"])
        if model not in {*HUMANS, *settings.models}
    ]


def beside_paper(
    rows: Sequence[Mapping[str, Any]],
    looks: Mapping[str, Mapping[str, Any]],
    published: pd.DataFrame,
    keys: Sequence[str],
    values: Sequence[str],
) -> pd.DataFrame:
    """`beside_published` with tasks under the paper's names; stand-ins get no ``agreement``.

    They are not the paper's kernel; and where tau is set by the paper's coverage, as the
    configuration has it, coverage agrees by construction.
    """
    table = pd.DataFrame(rows)
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


def _human_rows(data: TaskInput, settings: Settings) -> list[dict[str, Any]]:
    """The rows of `HUMANS`; one bootstrap serves the two."""
    if not len(data.truths["published"].rater):
        note = ["not available: its ratings do not say who gave them (no column `rater`)"]
        return [{"model": model, "kernel": "", "note": note} for model in HUMANS]
    rows: dict[str, list[dict[str, Any]]] = {model: [] for model in HUMANS}
    variants = [(reading, truth, 0.0) for reading, truth in data.truths.items()]
    variants.append(("without undefined", data.truths["published"], float("nan")))
    for reading, truth, undefined in variants:
        humans = human_cells(truth, settings.draws, settings.seed, undefined)
        notes = list(filter(None, [READING_NOTES[reading]]))
        lost, everyone = (humans["human_average"][name] for name in ("undefined", "annotators"))
        if lost and undefined == 0:
            notes.append(
                f"{lost} of {everyone} annotators have no rho (labels all alike, or fewer than 3)"
                " and count as 0"
            )
        _, given = np.unique(truth.rater.astype(str), return_counts=True)
        fewest, most = (given.min(), given.max()) if len(given) else (0, 0)
        if fewest < 3:
            notes.append(
                f"annotators gave from {fewest} to {most} ratings: the best and the mean are also"
                " those of annotators of very few"
            )
        common = {"kernel": "", "reading": reading, "provenance": data.ratings_provenance}
        for model, cells in humans.items():
            rows[model].append({"model": model, **common, **cells, "note": notes})
    return [row for own in rows.values() for row in own]


def _model_rows(kernel: str, data: TaskInput, settings: Settings) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
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
        rows.append({"reading": reading, **cells, **data.about(kernel), "note": notes})
    return rows or [{}]  # a published cell must not vanish without a word


def is_stand_in(signature: Mapping[str, Any]) -> bool:
    """Whether a kernel is BERTScore in another form than the paper's."""
    family, _, model = signature["kernel"].partition(".")
    other = model != "roberta-large" or bool({*signature["options"]} - {"prefix_space"})
    return family == "bertscore" and other


def kernel_notes(signature: Mapping[str, Any], tau: float) -> list[str]:
    """What is to be said of a stand-in: its tau is on another scale."""
    if not is_stand_in(signature):
        return []
    chosen = ", ".join(f"{name} {value}" for name, value in sorted(signature["options"].items()))
    model = signature["kernel"].partition(".")[2]
    return [
        f"a stand-in for the paper's BERTScore (roberta-large, layer 17, rescaled): {model}"
        f"{f' ({chosen})' if chosen else ''} has a scale of its own, and tau is {tau:g} on it"
    ]
