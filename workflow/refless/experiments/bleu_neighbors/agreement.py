"""How many published cells of BLEU Neighbors are ours as well: tables 1 to 3, cell by cell.

Stage: table. In: the finished tables and the published ones. Out: a row a published cell, with ours
and how the two stand to each other; and their counts by table and model.

A cell is counted once, from the row of ours that stands for the paper's own choices: the published
kernel, read as published. Other rows of the same key show what a choice does and do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors import table1, table2, table3
from refless.experiments.bleu_neighbors.columns import with_intervals
from refless.report import published as paper
from refless.report import tables
from refless.report.published import EQUAL, INSIDE, MISSING, OUTSIDE, compare, number

VERDICTS = [EQUAL, INSIDE, OUTSIDE, MISSING]
PUBLISHED_KERNELS = {
    "bleu": "bleu.char",
    "rouge": "rouge_l.stem",
    "meteor": "meteor.nltk35",
    "bertscore": "bertscore.roberta-large",
    table3.MODEL: "bleu.char",
}
"""The kernels that give the published numbers; other models have none (people, quoted rows)."""
_TEXT = ["provenance", "reason", "note"]
"""Columns of text, which are numbers to pandas where they are empty."""


@dataclass(frozen=True)
class Table:
    """A published table: its name, its keys, its columns of values."""

    name: str
    keys: list[str]
    columns: list[str]


TABLES = {
    "bleu_neighbors_table1": Table("table 1", table1.KEYS, table1.VALUES),
    "bleu_neighbors_table2": Table("table 2", table2.KEYS, table2.VALUES),
    "bleu_neighbors_table3": Table("table 3", table3.KEYS, table3.VALUES),
}
CELL_COLUMNS = [
    *("table", "model", "row", "column", *with_intervals("ours"), "paper", "agreement"),
    *("kernel", "provenance", "reason", "note"),
]


def read_tables(
    ours: Sequence[str | Path], published: Sequence[str | Path]
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """Our finished tables and the paper's, each named in `TABLES`, for `agreement_cells`.

    Raises
    ------
    FormatError, StaleError : a table is broken, or ours is not the one that was written.
    """
    finished = {}
    for path in map(Path, ours):
        table = tables.read_published(path, TABLES[path.stem].keys)
        text = {*_TEXT, *table.select_dtypes(["object", "str"])}
        for name in text & set(table):
            table[name] = table[name].astype(object).fillna("").astype(str)
        finished[path.stem] = table
    printed = {
        path.stem: paper.read_published(path, TABLES[path.stem].keys)
        for path in map(Path, published)
    }
    return finished, printed


def agreement_cells(
    ours: Mapping[str, pd.DataFrame],
    published: Mapping[str, pd.DataFrame],
    looks: Mapping[str, Mapping[str, Any]],
) -> pd.DataFrame:
    """One row a published cell, in the paper's order, as `CELL_COLUMNS`.

    Parameters
    ----------
    ours : a name of `TABLES` -> our table, text empty where there is nothing
    published : the same names -> the paper's tables, strings
    looks : task -> its entry of the configuration (``published``: its name in the paper)
    """
    tasks = {look["published"]: task for task, look in looks.items() if look["published"]}
    rows = []
    for name, table in TABLES.items():
        for printed in published[name].to_dict("records"):
            model = str(printed.get("model", "bleu"))
            keys = {key: str(printed[key]) for key in table.keys}
            for key in keys:
                if key.endswith("task"):
                    keys[key] = tasks.get(keys[key], keys[key])
            row, why = _published_row(ours[name], keys, model)
            common = {
                "table": table.name,
                "model": model,
                "row": " → ".join(v for k, v in keys.items() if k != "model"),
            }
            rows += [
                {**common, "column": column, **_verdict(row, column, str(printed[column]), why)}
                for column in table.columns
                if str(printed[column]) != ""
            ]
    return pd.DataFrame(rows)[CELL_COLUMNS]


def _published_row(
    table: pd.DataFrame, keys: Mapping[str, str], model: str
) -> tuple[dict[str, Any], str]:
    """Our row for a key under the paper's own choices; or nothing, and why."""
    own = table
    for key, value in keys.items():
        own = own[own[key] == value]
    if own.empty:
        return {}, "our table has no such row"
    as_read = own[own["reading"].isin(["", "published"])] if "reading" in own else own
    if as_read.empty:
        return {}, f"only computed with another reading: {', '.join(dict.fromkeys(own['reading']))}"
    wanted = PUBLISHED_KERNELS.get(model, "")
    exact = as_read[as_read["kernel"] == wanted]
    if exact.empty and wanted:
        # a row that says why there is no number may name no kernel, or the model itself
        exact = as_read[as_read["kernel"].isin(["", model])]
    if "stand_in" in exact and (exact["stand_in"] == 1).any():
        return {}, f"only computed in another form: {exact['note'].iloc[0]}"
    if exact.empty:
        found = ", ".join(dict.fromkeys(as_read["kernel"]))
        return {}, f"the published kernel {wanted} is not there, only {found}"
    return {str(key): value for key, value in exact.iloc[0].items()}, ""


def _verdict(row: Mapping[str, Any], column: str, printed: str, why: str) -> dict[str, Any]:
    given = (row.get(name) for name in with_intervals(column))
    value, low, high = (np.nan if one in (None, "") else float(one) for one in given)
    agreement = compare(value, printed, low, high)
    notes = [why, str(row.get("note", ""))]
    if agreement in (INSIDE, OUTSIDE):
        gap = number(value - float(printed), 4)
        where = (
            f"{gap} from the paper's; the paper's lies {agreement} our 95% interval"
            if not np.isnan(low)
            else f"ours is {value:g}, the paper's {printed}"
        )
        notes.insert(0, where)
    return {
        "ours": value,
        "ours_low": low,
        "ours_high": high,
        "paper": printed,
        "agreement": agreement,
        "kernel": row.get("kernel", ""),
        "provenance": row.get("provenance", ""),
        "reason": row.get("reason", "") if agreement == MISSING else "",
        "note": [] if agreement == EQUAL else [note for note in notes if note],
    }


def agreement_counts(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells by table and model, then each table and all of them (model ``all``)."""
    rows = []
    for table, own in cells.groupby("table", sort=False):
        for model, part in own.groupby("model", sort=False):
            rows.append({"table": table, "model": model, **_count(part)})
        rows.append({"table": table, "model": "all", **_count(own)})
    rows.append({"table": "all", "model": "all", **_count(cells)})
    return pd.DataFrame(rows)


def _count(cells: pd.DataFrame) -> dict[str, Any]:
    counts: dict[str, Any] = {"cells": len(cells)}
    for verdict in VERDICTS:
        counts[verdict.replace(" ", "_")] = int((cells["agreement"] == verdict).sum())
    shipped = (cells["provenance"] == "shipped").any()
    return {**counts, "provenance": "shipped" if shipped else "computed", "note": []}
