"""Published cells beside ours, and how far they agree, over the tables of all papers.

Stage: table. In: the finished tables. Out: a row a published cell; counts, distances and
coefficients by table and measure. A cell is a published value in a row of its table; what a paper
quotes from others, or prints in two tables, is none of the second.

Source: Belz (2025), "QRA++: Quantified Reproducibility Assessment for Common Types of Results in
Natural Language Processing".
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.published import ABSENT, EQUAL, INSIDE, OUTSIDE, agreement_with_paper
from refless.models.rnn_qe.names import SCHEDULES
from refless.statistics.measure import Measure, published_measures

_CORRELATIONS = ("spearman", "pearson", "kendall", "spearman_low", "spearman_high")
"""From -1 on: one is added for CV*, so that their scale starts at 0."""
_ERRORS = ("mse", "mae", "rmse", "relative_difference", "difference_to_bleu")
_KIND_OF = {"coverage": "coverages", **dict.fromkeys(_CORRELATIONS, "correlations")}
_KIND_OF |= dict.fromkeys(_ERRORS, "errors")
MEASURED = ("correlations", "errors")
_KINDS = (*MEASURED, "coverages", "counts", "stars")
AGREEMENTS = [EQUAL, INSIDE, OUTSIDE, ABSENT]
CELLS = [
    *("paper", "table", "item", "measure", "published", *Measure("ours").interval),
    *("agreement", "cv", "provenance", "reason"),
]
_NEAR = (0.01, 0.05)
"""Differences of correlations, below which cells are counted."""
_COLUMNS = [
    *("paper", "table", "measure", "cells", *AGREEMENTS, "compared", "median_difference"),
    *(*(f"below_{bound}" for bound in _NEAR), "mean_cv", "pearson", "provenance", "reason"),
]
_C4 = np.sqrt(2 / np.pi)
"""Expected standard deviation of two normal numbers, by the n - 1 formula, beside the true one."""


def published_cells(
    table: pd.DataFrame, key: Sequence[str], repeats: Sequence[str] = ()
) -> pd.DataFrame:
    """A row a published cell of a finished table: `CELLS` from ``item`` on, and the ``schedule`` of
    a network's training.

    key : columns that name a row of the paper; by default the first
    repeats : published columns that are another table's
    """
    measures = published_measures(map(str, table))
    key = key or list(table.columns[:1])
    cells = []
    rows = [row for row in table.to_dict("records") if row.get("reason") != "quoted"]
    if "source_dataset" in table:  # a data set that is estimated from itself is table 1's
        rows = [row for row in rows if row["source_dataset"] != row["target_dataset"]]
    for measure, row in product(measures, rows):
        if measure.name not in repeats and row[measure.published] != "":
            names = (str(row[name]) for name in key if not pd.isna(row[name]))
            item = ", ".join(filter(None, names))
            schedule = {"schedule": row.get("schedule", "")}
            cells.append({"item": item, **_cell(row, measure), **schedule})
    return pd.DataFrame(cells, columns=[*CELLS[2:], "schedule"])


def _cell(row: Mapping[Any, Any], measure: Measure) -> dict[str, Any]:
    """A published value, ours, and how they agree."""
    ours, printed = measure.estimate(row), row[measure.published]
    agreement = agreement_with_paper(ours.value, printed, ours.low, ours.high)
    cell = {"measure": measure.name, "published": printed, "agreement": agreement, "cv": np.nan}
    cell |= dict(zip(Measure("ours").interval, (ours.value, ours.low, ours.high), strict=True))
    if kind_of_measure(measure.name) != "stars":  # a star is a label: it has no scale
        cell["cv"] = variation(ours.value, float(printed), int(measure.name in _CORRELATIONS))
    explained_by = "reason" if agreement == ABSENT else "provenance"
    return {**cell, "provenance": "", "reason": "", explained_by: row.get(explained_by, "")}


def variation(ours: float, published: float, shift: float = 0) -> float:
    """CV* of two numbers in percent: (1 + 1 / 4n) 100 s* / |mean|, n = 2; NaN without ours.

    s* is their standard deviation over c4, which makes it unbiased. ``shift`` is added to both.

    Source: Belz et al. (2022), "Quantified Reproducibility Assessment of NLP Results", section 3.
    """
    pair = np.array([ours, published]) + shift
    mean = abs(pair.mean())
    if np.isnan(ours) or mean == 0:
        return float("nan")
    return float((1 + 1 / 8) * 100 * pair.std(ddof=1) / _C4 / mean)


def kind_of_measure(measure: str) -> str:
    """Which of `_KINDS` a measure is."""
    return "stars" if measure.startswith("p_") else _KIND_OF.get(measure, "counts")


def by_measure(cells: pd.DataFrame) -> pd.DataFrame:
    """A row a table and measure, and of all tables one for each of `_KINDS` and one for what is
    `MEASURED`, also for networks and all others apart, as `_COLUMNS`: the number of cells by
    agreement; how many have a number of ours; of these, the median absolute difference, the mean
    CV*, and Pearson's r of the published and our values (NaN for fewer than three). What has a unit
    is not taken over several measures.
    """
    cells = cells.assign(kind=cells["measure"].map(kind_of_measure))
    whole = cells.assign(paper="all", table="all", measure=cells["kind"])
    measured = whole[whole["kind"].isin(MEASURED)].assign(kind="measured", measure="measured")
    parts = [measured, *(whole[whole["kind"] == kind] for kind in _KINDS)]
    for part in parts[:2]:
        network = part["schedule"].isin(list(SCHEDULES)).to_numpy()
        for rows_of, name in ((part[network], "networks"), (part[~network], "others")):
            parts.append(rows_of.assign(measure=rows_of["measure"] + f"_{name}"))
    rows = []
    keys = ["paper", "table", "measure"]
    for key, group in pd.concat([cells, *parts]).groupby(keys, sort=False):
        row: dict[str, Any] = dict(zip(keys, key, strict=True))
        row |= {word: int((group["agreement"] == word).sum()) for word in AGREEMENTS}
        row["provenance"] = "shipped" if (group["provenance"] == "shipped").any() else "computed"
        row["reason"] = ""
        if group["ours"].isna().all():
            row |= {"provenance": "", "reason": " ".join(dict.fromkeys(group["reason"]))}
        pair = group[["ours", "published"]].to_numpy(float)
        pair = pair[np.isfinite(pair).all(axis=1)]
        row |= {"cells": len(group), "compared": len(pair), "mean_cv": group["cv"].mean()}
        correlation = (group["kind"] == "correlations").all()
        gaps = np.abs(pair[:, 0] - pair[:, 1])
        if len(pair) and (correlation or row["table"] != "all"):
            row["median_difference"] = np.median(gaps)
        if correlation:
            row |= {f"below_{bound}": int((gaps < bound).sum()) for bound in _NEAR}
        if len(pair) >= 3 and np.ptp(pair, axis=0).min() > 0 and row["table"] != "all":
            row["pearson"] = np.corrcoef(pair.T)[0, 1]
        rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS)


Papers = Mapping[str, tuple[str, Sequence[str], Sequence[str]]]
"""Table -> its paper, and ``key`` and ``repeats`` of `published_cells`."""


def all_cells(tables: Mapping[str, pd.DataFrame], papers: Papers) -> pd.DataFrame:
    """`CELLS` of finished tables by name."""
    return _cells_of(tables, papers)[CELLS]


def all_measures(tables: Mapping[str, pd.DataFrame], papers: Papers) -> pd.DataFrame:
    """`by_measure` of finished tables by name."""
    return by_measure(_cells_of(tables, papers))


def _cells_of(tables: Mapping[str, pd.DataFrame], papers: Papers) -> pd.DataFrame:
    parts = []
    for name, table in tables.items():
        paper, key, repeats = papers[name]
        parts.append(published_cells(table, key, repeats).assign(paper=paper, table=name))
    return pd.concat(parts, ignore_index=True)
