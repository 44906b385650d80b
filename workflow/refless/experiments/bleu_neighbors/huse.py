"""HUSE of the batches of BLEU Neighbors, with human and with predicted quality.

Stage: prediction and cell -> table. In: a task whose ratings say of which item they are;
predictions of its texts. Out: what HUSE needs of each item (numbers without text); one row a
batch, a model of it and a source of quality, with bootstrap intervals.

HUSE's own code counts the rated items as they were sent out (200 in the summarization batch), so
this table does as well: an item's human quality comes from its own labels, its prediction from the
sentence (pair of context and output) that it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.sources.huse import comparisons
from refless.data.task import Task, read_task
from refless.errors import FormatError, SettingError
from refless.experiments.bleu_neighbors.columns import tidy, with_intervals
from refless.experiments.bleu_neighbors.leave_one_out import PREDICTION_COLUMNS, apply_thresholds
from refless.experiments.bleu_neighbors.table1 import Settings, read_tasks
from refless.models.huse import NEIGHBORS, Batch, draw_batches, scores
from refless.statistics import Estimate, interval
from refless.store import signed
from refless.store.signatures import sign

Array = np.ndarray

VALUES = ["huse", "huse_q", "huse_d", "huse_logp"]
DIFFERENCES = ["huse_difference", "huse_q_difference", "huse_d_difference"]
ITEM_COLUMNS = ["system", "item", "id", "by_model", "labels", "label_sum", "logp", "words"]
NEEDED = ["item", "type", "logp"]
"""Columns of ratings: the item that was labelled, its raw type, its log-probability."""
READINGS = {"published": None, "exact": 9}
"""Distances as floating-point numbers, whose rounding noise breaks ties, or rounded to so many
decimals."""


def huse_items(texts: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """What HUSE needs of each item, as `ITEM_COLUMNS`; items without labels are left out.

    Parameters
    ----------
    texts, ratings : a task's tables; the ratings have the columns `NEEDED`

    ``label_sum`` is a whole number, so that a mean of labels is rounded once, as in HUSE's code.
    Human items stand once beside each system that they are compared with. Items come in the order
    of their numbers, which bootstrap draws hang on.

    Raises
    ------
    FormatError : the ratings lack a column, or a model's type has not one human type beside it.
    """
    lacking = [column for column in NEEDED if column not in ratings]
    if lacking:
        raise FormatError(
            f"the ratings of {texts['task'].iloc[0]} have no {', '.join(lacking)}: HUSE needs it",
            remedy="take `huse` out of the data set's `experiments`",
        )
    words = texts.set_index("id")["text"].map(lambda text: len(text.split(" ")))
    items = (
        ratings.groupby("item", sort=False)
        .agg(
            id=("id", "first"),
            type=("type", "first"),
            labels=("label", "size"),
            label_sum=("label", "sum"),
            logp=("logp", "first"),
        )
        .reset_index()
        .sort_values("item", key=lambda names: names.map(lambda name: (len(name), name)))
    )
    items["label_sum"] = items["label_sum"].round().astype(np.int64)
    items["words"] = items["id"].map(words)
    tables = []
    for system, (model, human) in comparisons(list(dict.fromkeys(items["type"]))).items():
        own = items[items["type"].isin([model, human])]
        by_model = (own["type"] == model).astype(np.int64)
        tables.append(own.assign(system=system, by_model=by_model))
    return pd.concat(tables, ignore_index=True)[ITEM_COLUMNS]


def write_huse_items(path: str | Path, task: Task) -> None:
    """Write `huse_items`: numbers and names without text."""
    signed.write(
        path,
        huse_items(task.texts, task.ratings),
        {
            "kind": "huse items",
            "of": {"task": task.name},
            "made_from": task.rated_sums,
            "signatures": [sign(["experiments/bleu_neighbors/huse.py"], task.text_sum)],
        },
    )


@dataclass(frozen=True)
class HuseInput:
    """One batch: its items, the predictions of its texts, where the numbers come from.

    items : `ITEM_COLUMNS`
    predictions : of the published kernel and reading; empty where there is none
    kernel : its name
    """

    items: pd.DataFrame
    predictions: pd.DataFrame
    kernel: str
    provenance: str


def read_batches(
    folders: Sequence[str | Path],
    items: Sequence[str | Path],
    predictions: Sequence[str | Path],
    kernel: str,
    taus: Mapping[str, float],
) -> tuple[dict[str, HuseInput], list[str]]:
    """The batches that are there, and the notes for the table's footer.

    Parameters
    ----------
    folders : of the batches' ratings
    items : by `write_huse_items`, in the same order
    predictions : by `write_predictions`, in the same order
    taus : kernel -> the tau that they must have been made with

    Raises as `refless.store.signed.read`.
    """
    tasks, notes = read_tasks(folders, predictions, taus, {kernel})
    batches = {}
    for folder, path in zip(folders, items, strict=True):
        task = read_task(folder)
        file = signed.read(
            path,
            "huse items",
            of={"task": task.name},
            made_from=task.rated_sums,
            columns=ITEM_COLUMNS,
        )
        data = tasks[task.name]
        nothing = pd.DataFrame(columns=PREDICTION_COLUMNS)
        predicted = data.predictions.get((kernel, "published"), nothing)
        abouts = [file.about, *(one for name, one in data.kernels.items() if name == kernel)]
        provenance = signed.provenance(abouts)
        batches[task.name] = HuseInput(file.content, predicted, kernel, provenance)
    return batches, notes


def huse_table(
    looks: Sequence[str] | Mapping[str, Any],
    batches: Mapping[str, HuseInput],
    settings: Settings,
    neighbors: int = NEIGHBORS,
) -> pd.DataFrame:
    """Rows of each batch and each of its models: human quality on all items, human and predicted
    quality on the items whose text is covered; both readings.

    ``huse_logp`` is twice the error by log-probability alone: what is left of ``huse`` if quality
    tells nothing. ``<value>_difference`` is predicted minus human on the same items. Intervals are
    from a bootstrap over items that leaves the number of human and of model items as it is.

    Parameters
    ----------
    looks : tasks, in the order of the rows
    batches : those that are there; the others get a row without numbers
    neighbors : votes of HUSE's classifier
    """
    rows: list[dict[str, Any]] = []
    for task in looks:
        if task not in batches:
            rows.append({"task": task})
            continue
        for system, own in batches[task].items.groupby("system", sort=False):
            for reading, decimals in READINGS.items():
                found = _rows(own, batches[task], settings, neighbors, decimals)
                head = {"task": task, "system": system, "reading": reading}
                rows += [{**head, **row} for row in found]
    shown = ["task", "system", "quality", "items", "kernel", "reading"]
    shown += with_intervals(*VALUES, *DIFFERENCES)
    return tidy(rows, [*shown, "n", "n_human", "provenance", "note"])


def _rows(
    items: pd.DataFrame, data: HuseInput, settings: Settings, neighbors: int, decimals: int | None
) -> list[dict[str, Any]]:
    """The three rows of one model under one reading."""
    items = items[items["logp"].notna()]
    # labels from 1, as HUSE's code counts them: the noise of its means hangs on that
    human = (items["label_sum"] + items["labels"]).to_numpy() / items["labels"].to_numpy()
    predicted = np.full(len(items), np.nan)
    if not data.predictions.empty:
        values = apply_thresholds(data.predictions, settings.a, settings.b)
        known = dict(zip(data.predictions["id"], values, strict=True))
        predicted = items["id"].map(known).to_numpy(np.float64)
    covered = ~np.isnan(predicted)

    def row(quality: str, values: Array, chosen: Array) -> tuple[dict[str, Any], Array | None]:
        by_model = items["by_model"].to_numpy(bool)[chosen]
        cells: dict[str, Any] = {
            "quality": quality,
            "items": "covered" if chosen is covered else "all",
            "kernel": data.kernel if quality == "predicted" else "",
            "n": int(chosen.sum()),
            "n_human": int((~by_model).sum()),
            "provenance": data.provenance,
        }
        logp, words = items["logp"].to_numpy()[chosen], items["words"].to_numpy()[chosen]
        batch = Batch(values[chosen], logp, words, by_model)
        try:
            once = scores(batch, None, neighbors, decimals)
            weights = draw_batches(by_model, settings.draws, settings.seed)
            drawn = scores(batch, weights, neighbors, decimals)
        except SettingError as error:
            return cells | {"note": [f"not available: {error.message}"]}, None
        both = np.vstack([once, drawn])
        return cells | _cells(VALUES, both), both

    rows = [row("human", human, np.ones(len(items), bool))[0]]
    for_humans, by_human = row("human", human, covered)
    for_model, by_prediction = row("predicted", predicted, covered)
    if by_human is not None and by_prediction is not None:
        for_model |= _cells(DIFFERENCES, by_prediction - by_human)
    return [*rows, for_humans, for_model]


def _cells(names: Sequence[str], values: Array) -> dict[str, float]:
    """Columns of estimates: the values themselves are the first row, the draws the others."""
    cells: dict[str, float] = {}
    for i, name in enumerate(names):
        cells |= Estimate(float(values[0, i]), *interval(values[1:, i])).columns(name)
    return cells
