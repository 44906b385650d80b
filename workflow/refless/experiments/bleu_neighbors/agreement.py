"""How many published cells of BLEU Neighbors are ours as well: tables 1 to 3, cell by cell.

Stage: table. In: the finished tables and the published ones. Out: a row a published cell, with ours
and how the two stand to each other; and their counts by table and model.

A cell is counted once, from the row of ours that stands for the paper's own choices: the published
kernel, read as published. Other rows of the same key show what a choice does and do not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.table1 import KEYS as TABLE1_KEYS
from refless.experiments.bleu_neighbors.table1 import PUBLISHED_TASKS, is_substitute
from refless.experiments.bleu_neighbors.table1 import VALUES as TABLE1_VALUES
from refless.experiments.bleu_neighbors.table3 import KEYS as TABLE3_KEYS
from refless.experiments.bleu_neighbors.table3 import MODEL
from refless.experiments.bleu_neighbors.table3 import VALUES as TABLE3_VALUES
from refless.report.published import EQUAL, INSIDE, MISSING, OUTSIDE, compare, markdown, number

VERDICTS = [EQUAL, INSIDE, OUTSIDE, MISSING]
# The kernels that give the published numbers; "" is a row without a kernel (people, quoted rows).
PUBLISHED_KERNELS = {
    "bleu": "bleu.char",
    "rouge": "rouge_l.stem",
    "meteor": "meteor.nltk35",
    "bertscore": "bertscore.roberta-large",
    MODEL: "bleu.char",
}


@dataclass(frozen=True)
class Table:
    """A published table: its name, its keys, its columns of values."""

    name: str
    keys: list[str]
    columns: list[str]


TABLES = {
    "bleu_neighbors_table1": Table("table 1", TABLE1_KEYS, TABLE1_VALUES),
    "bleu_neighbors_table2": Table("table 2", ["source_task", "target_task"], ["spearman"]),
    "bleu_neighbors_table3": Table("table 3", TABLE3_KEYS, TABLE3_VALUES),
}
CELL_COLUMNS = [
    "table",
    "model",
    "row",
    "column",
    "ours",
    "ours_low",
    "ours_high",
    "paper",
    "agreement",
    "kernel",
    "provenance",
    "note",
]


def agreement_cells(
    ours: Mapping[str, pd.DataFrame], published: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """One row a published cell, in the paper's order, as `CELL_COLUMNS`.

    Parameters
    ----------
    ours : a name of `TABLES` -> our table, read with every column as a string (`str`, empty where
        there is nothing)
    published : the same names -> the paper's tables, strings
    """
    rows = []
    for name, table in TABLES.items():
        for printed in published[name].to_dict("records"):
            model = str(printed.get("model", "bleu"))
            keys = {key: _our_task(str(printed[key])) for key in table.keys}
            row, why = _published_row(ours[name], keys, model)
            for column in table.columns:
                if str(printed[column]) == "":
                    continue
                cell: dict[str, Any] = {
                    "table": table.name,
                    "model": model,
                    "row": " → ".join(v for k, v in keys.items() if k != "model"),
                    "column": column,
                    "paper": printed[column],
                }
                rows.append(cell | _verdict(row, column, str(printed[column]), why))
    return pd.DataFrame(rows)[CELL_COLUMNS]


def _our_task(value: str) -> str:
    return PUBLISHED_TASKS.get(value, value)


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
    if is_substitute(exact["note"]).any():
        return {}, f"only computed in another form: {exact['note'].iloc[0]}"
    if exact.empty:
        found = ", ".join(dict.fromkeys(as_read["kernel"]))
        return {}, f"the published kernel {wanted} is not there, only {found}"
    return {str(key): value for key, value in exact.iloc[0].items()}, ""


def _verdict(row: Mapping[str, Any], column: str, printed: str, why: str) -> dict[str, Any]:
    value, low, high = (_float(row.get(name)) for name in _names(column))
    agreement = compare(value, printed, low, high)
    reasons = [why, str(row.get("note", ""))]
    if agreement in (INSIDE, OUTSIDE):
        gap = number(value - float(printed), 4)
        where = (
            f"{gap} from the paper's; the paper's lies {agreement} our 95% interval"
            if not np.isnan(low)
            else f"ours is {value:g}, the paper's {printed}"
        )
        reasons.insert(0, where)
    return {
        "ours": value,
        "ours_low": low,
        "ours_high": high,
        "agreement": agreement,
        "kernel": row.get("kernel", ""),
        "provenance": row.get("provenance", ""),
        "note": "" if agreement == EQUAL else "; ".join(filter(None, reasons)),
    }


def _names(column: str) -> tuple[str, str, str]:
    return column, f"{column}_low", f"{column}_high"


def _float(value: Any) -> float:
    return float("nan") if value in (None, "") else float(value)


def agreement_counts(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells by table and model, then each table and all of them (model ``all``)."""
    groups = list(dict.fromkeys(zip(cells["table"], cells["model"], strict=True)))
    rows = []
    for table in dict.fromkeys(cells["table"]):
        own = cells[cells["table"] == table]
        models = [model for name, model in groups if name == table]
        rows += [_count(own[own["model"] == model], table, model) for model in models]
        rows.append(_count(own, table, "all"))
    rows.append(_count(cells, "all", "all"))
    return pd.DataFrame(rows)


def _count(cells: pd.DataFrame, table: str, model: str) -> dict[str, Any]:
    counts = {
        verdict.replace(" ", "_"): int((cells["agreement"] == verdict).sum())
        for verdict in VERDICTS
    }
    return {"table": table, "model": model, "cells": len(cells), **counts}


def agreement_markdown(counts: pd.DataFrame, cells: pd.DataFrame) -> str:
    """Counts, then each cell: those that are not equal with their reason, then the equal ones."""
    header = ["table", "model", "cells", *VERDICTS]
    parts = ["## Counts", markdown(header, [[str(v) for v in row] for row in counts.to_numpy()])]
    reasons: dict[str, int] = {}
    for title, part in (
        ("## Cells that are not equal", cells[cells["agreement"] != EQUAL]),
        ("## Cells that are equal", cells[cells["agreement"] == EQUAL]),
    ):
        lines = [_line(row, reasons) for row in part.to_dict("records")]
        head = ["table", "model", "row", "column", "ours", "paper", "agreement", "reason"]
        parts += [title, markdown(head, lines) if lines else "None."]
    if reasons:
        listed = "\n".join(f"{i}. {reason}" for reason, i in reasons.items())
        parts += ["## Reasons", listed]
    return "\n\n".join(parts)


def _line(row: Mapping[Any, Any], reasons: dict[str, int]) -> list[str]:
    digits = 4 if row["column"] == "mse" else 0 if row["column"].startswith("p_") else 3
    return [
        *(str(row[name]) for name in ("table", "model", "row", "column")),
        number(row["ours"], digits),
        str(row["paper"]),
        str(row["agreement"]),
        str(reasons.setdefault(row["note"], len(reasons) + 1)) if row["note"] else "",
    ]


def lead_text() -> str:
    """What stands above the table for reading."""
    return (
        "Each published cell of tables 1 to 3 once, as the paper's own choices give it (published"
        " kernel and reading): *equal* once rounded to the digits that were printed, *inside*, if"
        " the published value lies in our 95% interval, *outside*, or *not available*. The column"
        " `p_below_0.01` is the paper's star; of the human rows it and coverage are equal by"
        " definition."
    )
