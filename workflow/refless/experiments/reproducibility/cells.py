"""Published cells beside ours, and how far they agree, over the tables of all papers.

Stage: table. In: the finished tables. Out: a row a published cell; counts and two coefficients a
table. A cell is a published value in a row of its table; what a paper quotes from others is none.

Source: Belz (2025), "QRA++: Quantified Reproducibility Assessment for Common Types of Results in
Natural Language Processing".
"""

from collections.abc import Mapping, Sequence
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
    *("agreement", "cv", "source", "reason"),
]
TABLES = ["paper", "table", "cells", *VERDICTS, "mean_cv", "pearson", "source"]
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
    if "reason" in table:
        table = table[table["reason"] != "quoted"]
    rows = table.to_dict("records")
    cells = [
        {"item": ", ".join(str(row[name]) for name in key if row[name] not in ("", None))}
        | _beside(row, measure)
        for measure in measures
        for row in rows
        if measure not in repeats and row[PAPER + measure] != ""
    ]
    return pd.DataFrame(cells, columns=CELLS[2:])


def _beside(row: Mapping[Any, Any], measure: str) -> dict[str, Any]:
    printed = row[PAPER + measure]
    ours, low, high = (
        np.nan if row.get(name) in (None, "") else float(row[name])
        for name in (measure, f"{measure}_low", f"{measure}_high")
    )
    verdict = compare(ours, printed, low, high)
    # a star is a label: it has no scale
    star, shift = measure.startswith("p_"), int(measure in SHIFTED)
    return {
        "measure": measure,
        "published": printed,
        "ours": ours,
        "ours_low": low,
        "ours_high": high,
        "agreement": verdict,
        "cv": np.nan if star else variation(ours, float(printed), shift),
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
    every = cells.assign(paper="all", table="all")
    rows = []
    for (paper, table), own in pd.concat([cells, every]).groupby(["paper", "table"], sort=False):
        there = own[own["ours"].notna()]
        pair = there["ours"].to_numpy(float), there["published"].to_numpy(float)
        enough = len(there) >= 3 and all(np.ptp(one) > 0 for one in pair)
        rows.append(
            {
                "paper": paper,
                "table": table,
                "cells": len(own),
                **{word: int((own["agreement"] == word).sum()) for word in VERDICTS},
                "mean_cv": there["cv"].mean(),
                # of all tables together, the scales of their measures would decide
                "pearson": np.corrcoef(*pair)[0, 1] if enough and table != "all" else np.nan,
                "source": "shipped" if (own["source"] == "shipped").any() else "computed",
            }
        )
    return pd.DataFrame(rows, columns=TABLES)
