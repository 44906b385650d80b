"""Published cells beside ours, and how far they agree, over the tables of all papers.

Stage: table. In: the finished tables. Out: a row a published cell; counts and two coefficients a
table. A cell is a published value in a row of its table; what a paper quotes from others is none.

Source: Belz (2025), "QRA++: Quantified Reproducibility Assessment for Common Types of Results in
Natural Language Processing".
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.published import EQUAL, INSIDE, MISSING, OUTSIDE, compare

PAPER = "paper_"
SHIFTED = ("spearman", "pearson", "kendall")
"""Measures from -1 on: one is added, so that their scale starts at 0."""
VERDICTS = [EQUAL, INSIDE, OUTSIDE, MISSING]
CELLS = [
    *("paper", "table", "item", "measure", "published", "ours", "ours_low", "ours_high"),
    *("agreement", "cv", "provenance", "reason"),
]
TABLES = ["paper", "table", "cells", *VERDICTS, "mean_cv", "pearson", "provenance", "reason"]
C4 = np.sqrt(2 / np.pi)
"""Expected standard deviation of two normal numbers, by the n - 1 formula, beside the true one."""


def published_cells(
    table: pd.DataFrame, key: Sequence[str], repeats: Sequence[str] = ()
) -> pd.DataFrame:
    """A row a published cell of a finished table, as `CELLS` from ``item`` on.

    key : columns that name a row of the paper; by default the first
    repeats : published columns that are another table's
    """
    measures = [name.removeprefix(PAPER) for name in map(str, table) if name.startswith(PAPER)]
    key = key or list(table.columns[:1])
    cells = []
    for measure, row in product(measures, table.to_dict("records")):
        quoted = row.get("reason") == "quoted"
        if measure not in repeats and row[PAPER + measure] != "" and not quoted:
            names = (str(row[name]) for name in key if not pd.isna(row[name]))
            item = ", ".join(filter(None, names))
            cells.append({"item": item, **_beside(row, measure)})
    return pd.DataFrame(cells, columns=CELLS[2:])


def _beside(row: Mapping[Any, Any], measure: str) -> dict[str, Any]:
    columns = {"ours": measure, "ours_low": f"{measure}_low", "ours_high": f"{measure}_high"}
    found = {name: row.get(column) for name, column in columns.items()}
    ours = {name: np.nan if of in (None, "") else float(of) for name, of in found.items()}
    printed = row[PAPER + measure]
    verdict = compare(ours["ours"], printed, ours["ours_low"], ours["ours_high"])
    told = "reason" if verdict == MISSING else "provenance"
    cell = {"measure": measure, "published": printed, **ours, "agreement": verdict, "cv": np.nan}
    if not measure.startswith("p_"):  # a star is a label: it has no scale
        cell["cv"] = variation(ours["ours"], float(printed), int(measure in SHIFTED))
    return {**cell, "provenance": "", "reason": "", told: row.get(told, "")}


def variation(ours: float, published: float, shift: float = 0) -> float:
    """CV* of two numbers in percent: (1 + 1 / 4n) 100 s* / |mean|, n = 2; NaN without ours.

    s* is their standard deviation over c4, which makes it unbiased. ``shift`` is added to both.

    Source: Belz et al. (2022), "Quantified Reproducibility Assessment of NLP Results", section 3.
    """
    pair = np.array([ours, published]) + shift
    mean = abs(pair.mean())
    if np.isnan(ours) or mean == 0:
        return float("nan")
    return float((1 + 1 / 8) * 100 * pair.std(ddof=1) / C4 / mean)


def by_table(cells: pd.DataFrame) -> pd.DataFrame:
    """A row a table and one of all, as `TABLES`: the number of cells by agreement, the mean CV*,
    and Pearson's r of the published and our cells (NaN for fewer than three).
    """
    every = cells.assign(paper="all", table="all")
    rows = []
    for (paper, table), own in pd.concat([cells, every]).groupby(["paper", "table"], sort=False):
        there = own[own["ours"].notna()]
        row = {"paper": paper, "table": table, "cells": len(own), "mean_cv": there["cv"].mean()}
        row |= {word: int((own["agreement"] == word).sum()) for word in VERDICTS}
        row["provenance"] = "shipped" if (own["provenance"] == "shipped").any() else "computed"
        row["reason"] = ""
        if there.empty:
            row |= {"provenance": "", "reason": " ".join(dict.fromkeys(own["reason"]))}
        pair = there[["ours", "published"]].to_numpy(float)
        # of all tables together, the scales of their measures would decide
        if len(pair) >= 3 and np.ptp(pair, axis=0).min() > 0 and table != "all":
            row["pearson"] = np.corrcoef(pair.T)[0, 1]
        rows.append(row)
    return pd.DataFrame(rows, columns=TABLES)
