"""Published cells beside ours, and how far they agree: QRA++ types I to III.

Stage: table. In: the finished tables that have published columns. Out: a row a published cell; and
coefficients of variation, correlations and agreement of labels over them.

A cell of a paper's table is counted once, from the first row of its key: the row that stands for
the paper's own choices. Later rows of the key show what a choice does, and do not count. A row that
its table repeats with the same numbers, as RNN-QE's metrics under each configuration, counts once.

Source: Belz (2025), "QRA++: Quantified Reproducibility Assessment for Common Types of Results in
Natural Language Processing".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.report.catalogue import Entry, catalogue
from refless.report.published import EQUAL, INSIDE, MISSING, OUTSIDE, compare
from refless.report.published import read_published as read_printed
from refless.report.tables import read_published
from refless.statistics import spearman

PAPER = "paper_"
SHIFTED = ("spearman", "pearson", "kendall")
"""Measures from -1 on: one is added, so that their scale starts at 0."""
LABELS = ("p_below_0.01",)
"""Measures that are labels: a star or none."""
CELLS = [
    *("paper", "table", "item", "measure", "published", "ours", "ours_low", "ours_high"),
    *("agreement", "cv", "cv_unmoved", "trained", "provenance", "reason", "note"),
]
MEASURES = ["type", "paper", "table", "item", "measure", "value", "n", "provenance", "note"]
C4 = np.sqrt(2 / np.pi)
"""Expected standard deviation of two normal numbers, by the n - 1 formula, beside the true one."""

Row = dict[str, Any]


def read_tables(paths: Sequence[str | Path]) -> dict[str, pd.DataFrame]:
    """The finished tables by name; published values as they were printed, text never NaN.

    Raises
    ------
    FormatError, StaleError : as `refless.report.tables.read_published`.
    """
    tables = {}
    for path in map(Path, paths):
        table = read_published(path)
        printed = [str(name) for name in table if str(name).startswith(PAPER)]
        if printed:  # 0.50 has two digits, whatever a number makes of it
            again = pd.read_csv(path, dtype=str, keep_default_na=False, usecols=printed)
            table = table.assign(**{name: again[name].astype(object) for name in printed})
        for name in table.select_dtypes(["object", "str"]):
            table[name] = table[name].astype(object).fillna("")
        for name in {"reason", "note", "provenance", "reading"} & set(table):
            table[name] = table[name].astype(object).fillna("")
        tables[path.stem] = table
    return tables


def read_conditions(path: str | Path) -> pd.DataFrame:
    """The conditions of measurement, paper and here, as they were written down.

    Raises
    ------
    FormatError : the file is missing, or a column is.
    """
    table = read_printed(path, ["experiment", "condition", "same", "published", "here"])
    notes: pd.Series = pd.Series([[]] * len(table), dtype=object)
    return table.assign(provenance="computed", note=notes)


def published_cells(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """A row a published cell, as `CELLS`, in the order of the tables."""
    entries = {name: catalogue()[name] for name in tables}
    rows = [
        row
        for name, entry in entries.items()
        if entry.repeats is not True
        for row in _cells_of(entry, tables[name])
    ]
    return pd.DataFrame(rows, columns=CELLS)


def _cells_of(entry: Entry, table: pd.DataFrame) -> Iterator[Row]:
    keys = list(entry.paper_row)  # without them, each row is one of the paper
    measures = [str(name).removeprefix(PAPER) for name in table if str(name).startswith(PAPER)]
    repeated = entry.repeats if isinstance(entry.repeats, (list, tuple)) else ()
    measures = [measure for measure in measures if measure not in repeated]
    rows = table[~table.duplicated(keys)] if keys else table
    if len(keys) > 1:  # what a table repeats, ours as the paper's, is one result
        same = [*keys[:1], *measures, *(PAPER + measure for measure in measures)]
        rows = rows[~(rows.duplicated(same) & rows[measures].notna().any(axis=1))]
    first = [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]
    for measure in measures:
        for row in first:
            if (printed := row[PAPER + measure]) != "":
                named = keys or [str(table.columns[0])]
                item = ", ".join(str(row[key]) for key in named if row[key] != "")
                yield {
                    "paper": entry.paper,
                    "table": entry.name,
                    "item": item,
                    "measure": measure,
                    **_beside(row, measure, printed),
                }


def _beside(row: Row, measure: str, printed: str) -> Row:
    if row.get("stand_in") == 1:  # no reproduction of the published cell, however near
        row = {"note": row["note"], "reason": "stand_in"}
    ours, low, high = (
        np.nan if row.get(name) in (None, "") else float(row[name])
        for name in (measure, f"{measure}_low", f"{measure}_high")
    )
    verdict = compare(ours, printed, low, high)
    label, moved = measure in LABELS, measure.partition("_ci95")[0] in SHIFTED
    return {
        "published": printed,
        "ours": ours,
        "ours_low": low,
        "ours_high": high,
        "agreement": verdict,
        "cv": np.nan if label else variation(ours, float(printed), moved),
        "cv_unmoved": np.nan if label else variation(ours, float(printed)),
        "trained": int(bool(row.get("training"))),
        "provenance": row.get("provenance", "") if verdict != MISSING else "",
        "reason": row.get("reason", "") if verdict == MISSING else "",
        "note": [row["note"]] if verdict != EQUAL and row.get("note") else [],
    }


def variation(ours: float, published: float, moved: bool = False) -> float:
    """CV* of two numbers in percent: (1 + 1 / 4n) 100 s* / |mean|, n = 2; NaN without ours.

    s* is their standard deviation over c4, which makes it unbiased. ``moved`` adds one to both.

    Source: Belz et al. (2022), "Quantified Reproducibility Assessment of NLP Results", section 3.
    """
    pair = np.array([ours, published]) + moved
    mean = abs(pair.mean())
    if np.isnan(ours) or mean == 0:
        return float("nan")
    return float((1 + 1 / 8) * 100 * pair.std(ddof=1) / C4 / mean)


def agreement_measures(cells: pd.DataFrame) -> pd.DataFrame:
    """Types I to III of QRA++ for every table and measure, as `MEASURES`.

    Type I: mean and greatest CV*, and how many cells are equal, inside our interval, outside, not
    available. Type II: Pearson's r and Spearman's rho between the published and our cells, and the
    share of pairs that stand in the same order. Type III: Cohen's kappa of labels. Where some rows
    were trained, their cells are also counted apart (item ``<measure>, trained``): metrics that
    come out exactly would hide them.
    """
    rows: list[Row] = []
    groups: list[tuple[str, str, str, pd.DataFrame]] = []
    for table, own in cells.groupby("table", sort=False):
        paper, table = own["paper"].iloc[0], str(table)
        groups.append((paper, table, "all", own))
        for name, part in own.groupby("measure", sort=False):
            groups.append((paper, table, str(name), part))
            if 0 < part["trained"].sum() < len(part):
                groups.append((paper, table, f"{name}, trained", part[part["trained"] == 1]))
    groups.append(("all", "all", "all", cells))
    for paper, table, measure, own in groups:
        there = own[own["ours"].notna()]
        found: list[tuple[str, str, float, int]] = []
        if measure == "all":
            for verdict in (EQUAL, INSIDE, OUTSIDE, MISSING):
                count = int((own["agreement"] == verdict).sum())
                found.append(("I", f"cells {verdict}", count, len(own)))
        if measure in LABELS:
            found.append(("III", "kappa", _kappa(there), len(there)))
        elif (cv := there["cv"].dropna()).size:
            found.append(("I", "mean CV*", float(cv.mean()), len(cv)))
            found.append(("I", "greatest CV*", float(cv.max()), len(cv)))
            unmoved = there["cv_unmoved"].dropna()
            if not np.array_equal(unmoved, cv):
                found.append(("I", "mean CV*, not moved by 1", float(unmoved.mean()), len(unmoved)))
            if measure != "all":
                found += _type_two(there)
        shipped = (own["provenance"] == "shipped").any()
        rows += [
            {
                "type": kind,
                "paper": paper,
                "table": table,
                "item": measure,
                "measure": name,
                "value": value,
                "n": n,
                "provenance": "shipped" if shipped else "computed",
                "note": [],
            }
            for kind, name, value, n in found
            if not np.isnan(value)
        ]
    return pd.DataFrame(rows, columns=MEASURES)


def _type_two(cells: pd.DataFrame) -> list[tuple[str, str, float, int]]:
    ours, published = cells["ours"].to_numpy(float), cells["published"].to_numpy(float)
    n = len(cells)
    if n < 3 or np.ptp(ours) == 0 or np.ptp(published) == 0:
        return []
    pairs = [
        (ours[i] - ours[j]) * (published[i] - published[j])
        for i, j in combinations(range(n), 2)
        if published[i] != published[j]
    ]
    same = float(np.mean([product > 0 for product in pairs]))
    return [
        ("II", "Pearson's r of the cells", float(np.corrcoef(ours, published)[0, 1]), n),
        ("II", "Spearman's rho of the cells", spearman(ours, published)[0], n),
        ("II", "pairs in the same order", same, len(pairs)),
    ]


def _kappa(cells: pd.DataFrame) -> float:
    """Cohen's kappa of labels 0 and 1; NaN where chance alone agrees everywhere."""
    ours, published = cells["ours"].to_numpy(float), cells["published"].to_numpy(float)
    if len(cells) == 0:
        return float("nan")
    agreed = float((ours == published).mean())
    a, b = ours.mean(), published.mean()
    chance = a * b + (1 - a) * (1 - b)
    return float("nan") if chance == 1 else (agreed - chance) / (1 - chance)
