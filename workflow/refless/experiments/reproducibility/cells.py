"""Published cells beside ours, and how far they agree, over the tables of all papers.

Stage: table. In: the finished tables. Out: a row a published cell; counts and two coefficients a
table. A cell is a published value in a row of its table; what a paper quotes from others is none.

Source: Belz (2025), "QRA++: Quantified Reproducibility Assessment for Common Types of Results in
Natural Language Processing".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from refless.report.catalogue import Entry, catalogue
from refless.report.published import EQUAL, INSIDE, MISSING, OUTSIDE, compare

PAPER = "paper_"
SHIFTED = ("spearman", "pearson", "kendall")
"""Measures from -1 on: one is added, so that their scale starts at 0."""
CELLS = [
    *("paper", "table", "item", "measure", "published", "ours", "ours_low", "ours_high"),
    *("agreement", "cv", "source", "reason"),
]
TABLES = [
    *("paper", "table", "cells", EQUAL, INSIDE, OUTSIDE, MISSING, "mean_cv", "pearson", "source"),
]
C4 = np.sqrt(2 / np.pi)
"""Expected standard deviation of two normal numbers, by the n - 1 formula, beside the true one."""


def published_cells(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """A row a published cell, as `CELLS`, in the order of the tables.

    ``tables`` are finished tables by name (`refless.report.tables.read_published`).
    """
    rows = [row for name, table in tables.items() for row in _cells_of(catalogue()[name], table)]
    return pd.DataFrame(rows, columns=CELLS)


def _cells_of(entry: Entry, table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    measures = [str(name).removeprefix(PAPER) for name in table if str(name).startswith(PAPER)]
    key = list(entry.paper_row) or [str(table.columns[0])]
    rows = table[table["reason"] != "quoted"] if "reason" in table else table
    for measure in (measure for measure in measures if measure not in entry.repeats):
        for row in rows[rows[PAPER + measure] != ""].to_dict("records"):
            yield {
                "paper": entry.paper,
                "table": entry.name,
                "item": ", ".join(str(row[name]) for name in key if row[name] not in ("", None)),
                "measure": measure,
                **_beside({str(name): value for name, value in row.items()}, measure),
            }


def _beside(row: dict[str, Any], measure: str) -> dict[str, Any]:
    printed = row[PAPER + measure]
    ours, low, high = (
        np.nan if row.get(name) in (None, "") else float(row[name])
        for name in (measure, f"{measure}_low", f"{measure}_high")
    )
    verdict = compare(ours, printed, low, high)
    shift = int(measure in SHIFTED)
    return {
        "published": printed,
        "ours": ours,
        "ours_low": low,
        "ours_high": high,
        "agreement": verdict,
        # a star is a label: it has no scale
        "cv": np.nan if measure.startswith("p_") else variation(ours, float(printed), shift),
        "source": row.get("source", "") if verdict != MISSING else "",
        "reason": row.get("reason", "") if verdict == MISSING else "",
    }


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
    groups: list[tuple[str, str, pd.DataFrame]] = []
    for table, own in cells.groupby("table", sort=False):
        groups.append((str(own["paper"].iloc[0]), str(table), own))
    rows = []
    for paper, name, own in [*groups, ("all", "all", cells)]:
        there = own[own["ours"].notna()]
        pair = there["ours"].to_numpy(float), there["published"].to_numpy(float)
        enough = len(there) >= 3 and all(np.ptp(one) > 0 for one in pair)
        rows.append(
            {
                "paper": paper,
                "table": name,
                "cells": len(own),
                **{word: int((own["agreement"] == word).sum()) for word in TABLES[3:7]},
                "mean_cv": there["cv"].mean(),
                # of all tables together, the scales of their measures would decide
                "pearson": np.corrcoef(*pair)[0, 1] if enough and name != "all" else np.nan,
                "source": "shipped" if (own["source"] == "shipped").any() else "computed",
            }
        )
    return pd.DataFrame(rows, columns=TABLES)
