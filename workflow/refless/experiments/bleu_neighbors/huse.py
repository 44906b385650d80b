"""HUSE of the batches of BLEU Neighbors, with human and with predicted quality.

Stage: prediction and cell -> table. In: a HUSE batch read item by item; predictions of its texts.
Out: what HUSE needs of each item (numbers without text); a row a batch, a model of it and a source
of quality, with bootstrap intervals.

HUSE's own code counts the rated items as they were sent out (200 in the summarization batch), so
this table does as well: an item's human quality comes from its own labels, its prediction from the
sentence (pair of context and output) that it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from refless.errors import SettingError
from refless.experiments.bleu_neighbors.leave_one_out import apply_thresholds
from refless.experiments.bleu_neighbors.table1 import Settings
from refless.models.huse import NEIGHBORS, Batch, draw_batches, scores
from refless.report.published import markdown, with_interval
from refless.statistics import interval

Array = np.ndarray

VALUES = ["huse", "huse_q", "huse_d", "huse_logp"]
TITLES = ["HUSE", "HUSE-Q", "HUSE-D", "log-probability alone"]
ITEM_COLUMNS = ["system", "item", "id", "by_model", "labels", "label_sum", "logp", "words"]
READINGS = {"published": None, "exact": 9}
"""Distances as floating-point numbers, whose rounding noise breaks ties, or rounded to so many
decimals."""


def huse_items(
    items: pd.DataFrame,
    ratings: pd.DataFrame,
    texts: pd.DataFrame,
    comparisons: Mapping[str, tuple[str, str]],
) -> pd.DataFrame:
    """What HUSE needs of each item, as `ITEM_COLUMNS`; items without labels are left out.

    Parameters
    ----------
    items, ratings : the loader's tables with ``unit="item"``
    texts : the task's table of rated texts, whose column ``item`` says which items are one text
    comparisons : system -> raw types of its items and of the human ones beside them

    ``label_sum`` is a whole number, so that a mean of labels is rounded once, as in HUSE's code.
    Human items stand once beside each system that they are compared with.
    """
    text_of = {
        item: name
        for name, joined in zip(texts["id"], texts["item"], strict=True)
        for item in joined.split("+")
    }
    label_sum = ratings.groupby("id")["label"].sum()
    tables = []
    for system, (model, human) in comparisons.items():
        own = items[items["type"].isin([model, human]) & (items["n_ratings"] > 0)]
        tables.append(
            pd.DataFrame(
                {
                    "system": system,
                    "item": own["id"],
                    "id": own["id"].map(text_of),
                    "by_model": (own["type"] == model).astype(np.int64),
                    "labels": own["n_ratings"],
                    "label_sum": own["id"].map(label_sum).round().astype(np.int64),
                    "logp": own["logp"],
                    "words": own["text"].map(lambda text: len(text.split(" "))),
                }
            )
        )
    return pd.concat(tables, ignore_index=True)[ITEM_COLUMNS]


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


def huse_table(
    order: Sequence[str],
    tasks: Mapping[str, HuseInput],
    absent: Mapping[str, str],
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
    order : tasks, in the order of the rows
    tasks : those that are there
    absent : task -> why it is not
    neighbors : votes of HUSE's classifier
    """
    rows: list[dict[str, Any]] = []
    for task in order:
        if task not in tasks:
            rows.append({"task": task, "note": f"not available: {absent[task]}"})
            continue
        for system, own in tasks[task].items.groupby("system", sort=False):
            for reading, decimals in READINGS.items():
                found = _rows(own, tasks[task], settings, neighbors, decimals)
                head = {"task": task, "system": system, "reading": reading}
                rows += [{**head, **row} for row in found]
    shown = ["task", "system", "quality", "items", "kernel", "reading"]
    for column in [*VALUES, *(f"{name}_difference" for name in VALUES[:3])]:
        shown += [column, f"{column}_low", f"{column}_high"]
    table = pd.DataFrame(rows).reindex(columns=[*shown, "n", "n_human", "provenance", "note"])
    for column in ("system", "quality", "items", "kernel", "reading", "provenance", "note"):
        table[column] = table[column].astype(object).fillna("")
    for column in ("n", "n_human"):
        table[column] = table[column].astype("Int64")
    return table


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
    seed = settings.seed

    def row(quality: str, values: Array, chosen: Array) -> tuple[dict[str, Any], Array | None]:
        kernel = data.kernel if quality == "predicted" else ""
        by_model = items["by_model"].to_numpy(bool)[chosen]
        cells: dict[str, Any] = {
            "quality": quality,
            "items": "covered" if chosen is covered else "all",
            "kernel": kernel,
            "n": int(chosen.sum()),
            "n_human": int((~by_model).sum()),
            "provenance": data.provenance,
        }
        logp, words = items["logp"].to_numpy()[chosen], items["words"].to_numpy()[chosen]
        batch = Batch(values[chosen], logp, words, by_model)
        try:
            once = scores(batch, None, neighbors, decimals)
            weights = draw_batches(by_model, settings.draws, seed)
            drawn = scores(batch, weights, neighbors, decimals)
        except SettingError as error:
            return cells | {"note": f"not available: {error.message}"}, None
        cells |= _spread(VALUES, once[0], drawn)
        return cells, np.vstack([once, drawn])

    rows = [row("human", human, np.ones(len(items), bool))[0]]
    for_humans, by_human = row("human", human, covered)
    for_model, by_prediction = row("predicted", predicted, covered)
    if by_human is not None and by_prediction is not None:
        gap = by_prediction - by_human
        for_model |= _spread([f"{name}_difference" for name in VALUES[:3]], gap[0], gap[1:])
    return [*rows, for_humans, for_model]


def _spread(names: Sequence[str], values: Array, drawn: Array) -> dict[str, float]:
    cells: dict[str, float] = {}
    for i, name in enumerate(names):
        low, high = interval(drawn[:, i])
        cells |= {name: float(values[i]), f"{name}_low": low, f"{name}_high": high}
    return cells


def huse_markdown(table: pd.DataFrame) -> str:
    """Published reading, then the exact one; reasons below."""
    parts = []
    header = ["task", "model", "quality", "items", *TITLES, "n", "provenance"]
    for title, reading in (
        ("## As HUSE's code computes it", "published"),
        ("## Without rounding noise", "exact"),
    ):
        lines = []
        for record in table[table["reading"] == reading].to_dict("records"):
            row = {str(key): value for key, value in record.items()}
            quality = f"{row['quality']} `{row['kernel']}`" if row["kernel"] else row["quality"]
            cells = [with_interval(row, name) for name in VALUES]
            head = [row["task"], row["system"], quality, row["items"]]
            lines.append([*map(str, head), *cells, str(row["n"]), str(row["provenance"])])
        if lines:
            parts += [title, markdown(header, lines)]
    gaps = table[table["huse_difference"].notna() & (table["reading"] == "published")]
    if not gaps.empty:
        lines = []
        for record in gaps.to_dict("records"):
            row = {str(key): value for key, value in record.items()}
            cells = [with_interval(row, f"{name}_difference") for name in VALUES[:3]]
            lines.append([str(row["task"]), str(row["system"]), *cells])
        parts += [
            "## Predicted minus human quality, on the covered items",
            markdown(["task", "model", *TITLES[:3]], lines),
        ]
    missing = table[table["note"] != ""].to_dict("records")
    if missing:
        named = [" ".join(filter(None, (r["task"], r["system"], r["quality"]))) for r in missing]
        listed = dict.fromkeys(
            f"- {name}: {r['note']}" for name, r in zip(named, missing, strict=True)
        )
        parts += ["## Cells without a number", "\n".join(listed)]
    return "\n\n".join(parts)


def lead_text(settings: Settings, neighbors: int) -> str:
    """What stands above the table for reading."""
    return (
        "HUSE (Hashimoto, Zhang and Liang, 2019): twice the leave-one-out error of telling human"
        " from model texts by quality and log-probability a word, with the"
        f" {neighbors} nearest neighbors; HUSE-Q by quality alone; HUSE-D = 1 + HUSE - HUSE-Q. 1"
        " means that they cannot be told apart. *human* is the mean of the annotators' labels,"
        " *predicted* the leave-one-out estimate of BLEU Neighbors"
        f" (a = {settings.a}, b = {settings.b:g}); *covered* items are those that have one. 95%"
        f" bootstrap intervals over items ({settings.draws} draws, seed {settings.seed}), human and"
        " model items drawn apart; a drawn item's copies do not vote on it, but on others they do,"
        " and they make neighborhoods tighter, so that an interval need not be centred on its"
        " value."
    )
