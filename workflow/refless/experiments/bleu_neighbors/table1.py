"""Table 1 of the BLEU Neighbors paper: models and annotators on each task.

Stage: cell -> table. In: ratings and predictions of the tasks that are there. Out: one row a
(model, task, kernel, reading), with the published cells beside ours, as a table and for reading.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.leave_one_out import (
    PREDICTION_COLUMNS,
    Truth,
    human_cells,
    model_cells,
    read_truths,
)
from refless.store.files import read_json
from refless.report.published import (
    beside_published,
    markdown,
    number,
    skipped_rows,
    with_interval,
)
from refless.data.ratings import read_table, read_task

KEYS = ["model", "task"]
VALUES = ["mse", "spearman", "coverage", "p_below_0.01"]
PUBLISHED_TASKS = {
    "dialogue": "huse_dialogue",
    "generation": "huse_generation",
    "summarization": "huse_summarization",
}
STAND_IN = "not in the paper: chit-chat with real ratings, under its own name"
SUBSTITUTE = "a stand-in for the paper's"
READING_NOTES = {
    "published": "",
    "exact": "means of the ratings rounded once",
    "item": "rated items one by one, equal pairs apart",
    "without undefined": "annotators without a rho left out, not counted as 0",
}
NOTES = " | "
"""Between two reasons in one cell of ``note``; reasons have commas and semicolons of their own."""


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
    """One task: truths by reading, predictions by (kernel, reading), provenance by kernel.

    missing, notes: by kernel, why it is missing and what is to be said of it.
    """

    truths: dict[str, Truth]
    predictions: dict[tuple[str, str], pd.DataFrame]
    provenance: dict[str, str] = field(default_factory=dict)
    ratings_provenance: str = "computed"
    missing: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def why_not(self, kernel: str) -> str:
        """The note of a kernel that is missing."""
        return f"not available: {self.missing.get(kernel, 'its numbers are not there')}"


def read_tasks(
    ratings: Sequence[Path],
    predictions: Sequence[Path],
    missing: dict[str, dict[str, str]] | None = None,
    kernels: Collection[str] | None = None,
) -> tuple[dict[str, TaskInput], list[str]]:
    """The tasks that are there, and the notes for the table's footer.

    Parameters
    ----------
    ratings : directories, one a task
    predictions : tables by ``predict_neighbors``, each with its JSON beside it
    missing : task -> kernel -> why it is missing
    kernels : whose signatures are noted; None for all

    Raises
    ------
    FormatError : a file is missing or broken.
    """
    tasks: dict[str, TaskInput] = {}
    skipped: list[str] = []
    for directory in ratings:
        about, texts, given = read_task(directory)
        skipped += skipped_rows(about)
        truths = read_truths(texts, given, about["scale"])
        reasons = (missing or {}).get(about["task"], {})
        tasks[about["task"]] = TaskInput(truths, {}, {}, about["provenance"], reasons)
    signatures = {}
    for path in predictions:
        about = read_json(path.with_suffix(".json"))
        task = tasks[about["task"]]
        for (kernel, reading), rows in read_table(path, PREDICTION_COLUMNS).groupby(
            ["kernel", "reading"]
        ):
            task.predictions[str(kernel), str(reading)] = rows
        for note in about["kernels"]:
            signature = note["signature"]
            task.provenance[signature["kernel"]] = note["provenance"]
            task.notes[signature["kernel"]] = kernel_note(signature, note["tau"])
            signatures[signature["kernel"], about["task"]] = signature
    noted = [
        signature_note(signature)
        for (kernel, _), signature in signatures.items()
        if kernels is None or kernel in kernels
    ]
    return tasks, [*skipped, *noted]


def table1(
    order: Sequence[str],
    tasks: dict[str, TaskInput],
    absent: dict[str, str],
    missing_models: dict[str, str],
    published: pd.DataFrame,
    settings: Settings,
) -> pd.DataFrame:
    """All rows, published variants first within a (model, task).

    Parameters
    ----------
    order : all tasks, in the order of the rows
    tasks : the tasks that are there
    absent : task -> why it is not
    missing_models : model -> why it has no kernel here
    published : `refless.report.published.read_published`, tasks under the paper's names
    """
    rows: list[dict[str, Any]] = []
    for task in order:
        humans = {} if task in absent else _human_rows(task, tasks[task], settings)
        for model in ("human_best", "human_average", *settings.models, *missing_models):
            if task in absent:
                kernel = settings.models.get(model, [""])[0]
                note = f"not available: {absent[task]}"
                rows.append({"model": model, "task": task, "kernel": kernel, "note": note})
            elif model in missing_models:
                note = f"not available: {missing_models[model]}"
                rows.append({"model": model, "task": task, "kernel": model, "note": note})
            elif model.startswith("human"):
                rows += humans[model]
            else:
                rows += _model_rows(model, task, tasks[task], settings)
    for row in rows:
        if row["task"] not in PUBLISHED_TASKS.values():
            row["note"] = NOTES.join(filter(None, [STAND_IN, row["note"]]))
    table = pd.DataFrame(rows)
    names = {ours: paper for paper, ours in PUBLISHED_TASKS.items()}
    table["_task"] = table["task"].map(lambda task: names.get(task, task))
    table = beside_published(
        table.rename(columns={"task": "_ours", "_task": "task"}), published, KEYS, VALUES
    )
    table = table.drop(columns="task").rename(columns={"_ours": "task"})
    for column in ("reading", "provenance", "note"):
        table[column] = table[column].fillna("") if column in table else ""
    table = without_verdicts(table)
    shown = [*KEYS, "kernel", "reading"]
    for column in VALUES[:3]:
        shown += [column, f"{column}_low", f"{column}_high", f"paper_{column}"]
    shown += ["p_value", "p_below_0.01", "paper_p_below_0.01", "agreement", "n", "n_covered"]
    table = table.reindex(columns=[*shown, "annotators", "provenance", "note"])
    for column in ("n", "n_covered", "annotators", "p_below_0.01"):
        table[column] = table[column].astype("Int64")
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
                    "note": NOTES.join(notes),
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
            note = data.why_not(kernel)
            rows.append({"model": model, "task": task, "kernel": kernel, "note": note})
        for reading in data.truths:
            if (kernel, reading) not in data.predictions:
                continue
            predictions = data.predictions[kernel, reading]
            cells = model_cells(predictions, settings.a, settings.b, settings.draws, settings.seed)
            notes = [n for n in (READING_NOTES[reading], data.notes.get(kernel, "")) if n]
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
                    "provenance": data.provenance[kernel],
                    "note": NOTES.join(notes),
                }
            )
    return rows


def kernel_note(signature: dict[str, Any], tau: float) -> str:
    """What is to be said of a kernel wherever its numbers stand; mostly nothing.

    BERTScore in another form than the paper's is a stand-in: its tau is on another scale.
    """
    kernel, options = signature["kernel"], signature["options"]
    family, _, model = kernel.partition(".")
    if family != "bertscore" or (model == "roberta-large" and not {*options} - {"prefix_space"}):
        return ""
    chosen = ", ".join(f"{name} {value}" for name, value in sorted(options.items()))
    return (
        f"{SUBSTITUTE} BERTScore (roberta-large, layer 17, rescaled): {model}"
        f"{f' ({chosen})' if chosen else ''} has a scale of its own, and tau is {tau:g} on it"
    )


def without_verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """The table without ``agreement`` in the rows of stand-ins.

    They are not the paper's kernel; and where tau is set by the paper's coverage, as the
    configuration has it, coverage agrees by construction.
    """
    agreement = table["agreement"].mask(is_substitute(table["note"]), "")
    return table.assign(agreement=agreement)


def is_substitute(notes: pd.Series) -> pd.Series:
    """Which rows say in their note that they are a stand-in."""
    return notes.str.contains(SUBSTITUTE, regex=False)


def table1_markdown(table: pd.DataFrame) -> str:
    """The table for reading: the published variants, then what single choices do.

    Ours with interval, the paper's value in square brackets. Reasons are numbered below.
    """
    first = ~table.duplicated(KEYS)
    reasons: dict[str, int] = {}
    parts = []
    header = ["model", "task", "kernel", "reading", "MSE", "Spearman", "coverage"]
    for title, part in (
        ("## The published variants", table[first]),
        ("## What one choice does", table[~first]),
    ):
        rows = [
            _line({str(key): value for key, value in row.items()}, reasons)
            for row in part.to_dict("records")
        ]
        parts += [title, markdown([*header, "agreement", "provenance", "reason"], rows)]
    listed = "\n".join(f"{number}. {reason}" for reason, number in reasons.items())
    return "\n\n".join([*parts, "## Reasons", listed])


def _line(record: dict[str, Any], reasons: dict[str, int]) -> list[str]:
    star = "" if pd.isna(record["p_below_0.01"]) or not record["p_below_0.01"] else "*"
    numbers = []
    for reason in filter(None, str(record["note"]).split(NOTES)):
        numbers.append(str(reasons.setdefault(reason, len(reasons) + 1)))
    return [
        str(record["model"]),
        str(record["task"]),
        f"`{record['kernel']}`" if record["kernel"] else "",
        str(record["reading"]),
        _cell(record, "mse", 4),
        _cell(record, "spearman", 3, star),
        _cell(record, "coverage", 3),
        str(record["agreement"]),
        str(record["provenance"]),
        ", ".join(numbers),
    ]


def _cell(record: dict[str, Any], column: str, digits: int, star: str = "") -> str:
    ours = with_interval(record, column, digits)
    if ours != "–" and star:
        ours = ours.replace(
            number(record[column], digits), number(record[column], digits) + star, 1
        )
    paper = record[f"paper_{column}"]
    return f"{ours} [{paper}]" if paper != "" else ours


def signature_note(signature: dict[str, Any]) -> str:
    """One line of a footer: which kernel, which code, which data, which packages."""
    facts = [f"{name} {version}" for name, version in sorted(signature["packages"].items())]
    facts += [f"{name} {value[:12]}" for name, value in sorted(signature["resources"].items())]
    return (
        f"`{signature['kernel']}` on {signature['task']}: {signature['provenance']}; code"
        f" {signature['fingerprint'][:12]}, texts {signature['data'][:12]}"
        + "".join(f", {fact}" for fact in facts)
    )


def lead_text(settings: Settings) -> str:
    """What stands above the table for reading."""
    return (
        f"MSE, Spearman's rho and coverage with 95% bootstrap intervals over candidates"
        f" ({settings.draws} draws, seed {settings.seed}); a = {settings.a}, b = {settings.b:g};"
        " the published value in square brackets; * is p < 0.01. The first row of each model is"
        " the published variant, the others show what one choice does; a stand-in for a published"
        " kernel has no agreement."
    )
