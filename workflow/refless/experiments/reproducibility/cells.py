"""Published cells beside ours, and how far they agree, over the tables of all papers.

Stage: table. In: the finished tables. Out: a row a published cell; counts, distances and
coefficients by table and measure. A cell is a published value in a row of its table; what a paper
quotes from others, or prints in two tables, is none of the second. The ends of a paper's intervals
are none either: they say how sure a value is.

Source: Belz (2025), "QRA++: Quantified Reproducibility Assessment for Common Types of Results in
Natural Language Processing".
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, pearsonr, spearmanr

from refless.experiments.published import ABSENT, EQUAL, INSIDE, OUTSIDE, agreement_with_paper
from refless.experiments.reproducibility.explanations import explanation
from refless.experiments.reproducibility.order import PAIR_COUNTS, pairs_in_order
from refless.models.rnn_qe.names import PAPER, SCHEDULES, SHORT
from refless.statistics.measure import Measure, number, published_measures
from refless.statistics.reliability import krippendorff_alpha
from refless.statistics.variation import variation, variation_of

_CORRELATIONS = ("spearman", "pearson", "kendall")
"""Measures from -1 to 1. For CV*, one is added to them, so that their scale starts at 0."""
_ERRORS = ("mse", "mae", "rmse", "relative_difference", "difference_to_bleu")
Array = np.ndarray

_ENDS = ("_low", "_high")
_KIND_OF = {"coverage": "coverages", **dict.fromkeys(_CORRELATIONS, "correlations")}
_KIND_OF |= dict.fromkeys(_ERRORS, "errors")
MEASURED = ("correlations", "errors")
_KINDS = (*MEASURED, "coverages", "counts", "stars")
AGREEMENTS = [EQUAL, INSIDE, OUTSIDE, ABSENT]
CELLS = [
    "paper",
    "table",
    "item",
    "measure",
    "published",
    *Measure("ours").interval,
    "agreement",
    "explanation",
    "within_deals",
    *Measure("deals").interval,
    "cv",
    *Measure("cv_seeds").interval,
    "schedule",
    "provenance",
    "reason",
]
COEFFICIENTS = ("pearson", "spearman", "kendall", "rmse", "alpha")
"""The coefficients by which `by_measure` compares our numbers with the published ones."""
_NEAR = (0.01, 0.05)
"""Differences of correlations, below which cells are counted."""
_COLUMNS = [
    "paper",
    "table",
    "measure",
    "cells",
    *AGREEMENTS,
    "compared",
    "median_difference",
    *[f"below_{bound}" for bound in _NEAR],
    "with_deals",
    "within_deals",
    "mean_cv",
    "cv_seeds",
    *COEFFICIENTS,
    *PAIR_COUNTS,
    "provenance",
    "reason",
]

_Row = Mapping[Any, Any]


def published_cells(
    table: pd.DataFrame, key: Sequence[str], repeats: Sequence[str] = ()
) -> pd.DataFrame:
    """Return a row for each published cell of a finished table, as `CELLS` from ``item`` on;
    ``schedule`` is that of a network's training.

    key : columns that name a row of the paper; by default the first
    repeats : published columns that are another table's
    """
    measures = [m for m in published_measures(map(str, table)) if not m.name.endswith(_ENDS)]
    key = key or list(table.columns[:1])
    rows = [row for row in table.to_dict("records") if row.get("reason") != "quoted"]
    if "source_dataset" in table:  # a data set that is estimated from itself is table 1's
        rows = [row for row in rows if row["source_dataset"] != row["target_dataset"]]
    unscheduled = [name for name in key if name != "schedule"]
    short: dict[tuple[Any, ...], _Row] = {}
    for row in rows:
        if row.get("schedule") == SHORT:
            short[_values(row, unscheduled)] = row
    cells = []
    for measure, row in product(measures, rows):
        if measure.name in repeats or row[measure.published] == "":
            continue
        names = [str(value) for value in _values(row, key) if not pd.isna(value)]
        schedule = row.get("schedule", "")
        rival = short.get(_values(row, unscheduled), {}) if schedule == PAPER else {}
        cell = _cell(row, measure, rival)
        cell["item"] = ", ".join([name for name in names if name])
        cell["schedule"] = schedule
        cells.append(cell)
    return pd.DataFrame(cells, columns=CELLS[2:])


def _values(row: _Row, columns: Sequence[str]) -> tuple[Any, ...]:
    """Return the values of a row in some columns, in the order of the columns."""
    return tuple(row[name] for name in columns)


def _cell(row: _Row, measure: Measure, short: _Row) -> dict[str, Any]:
    """Return a published value, ours, how they agree, and why they do not.

    short : for a row by the paper's schedule, the same row by the short schedule; else empty
    """
    printed = row[measure.published]
    ours = measure.estimate(row)
    by_short = measure.estimate(short)
    agreement = agreement_with_paper(ours.value, printed, ours.low, ours.high)
    short_agreement = agreement_with_paper(by_short.value, printed, by_short.low, by_short.high)
    cell = {"measure": measure.name, "published": printed, "agreement": agreement}
    cell |= dict(zip(Measure("ours").interval, (ours.value, ours.low, ours.high), strict=True))
    cell |= _band(row, measure)
    cell |= _variations(row, measure)
    cell["explanation"] = explanation(row, agreement, short_agreement, cell["within_deals"])
    explained_by = "reason" if agreement == ABSENT else "provenance"
    return {**cell, "provenance": "", "reason": "", explained_by: row.get(explained_by, "")}


def _band(row: _Row, measure: Measure) -> dict[str, Any]:
    """Return what random divisions into parts give, and whether the published value lies in their
    band: ``yes``, ``no``, or empty where there is none."""
    band = [number(row.get(name)) for name in measure.deals]
    _, low, high = band
    within = ""
    if not np.isnan(low):
        within = "yes" if low <= float(row[measure.published]) <= high else "no"
    return {"within_deals": within, **dict(zip(Measure("deals").interval, band, strict=True))}


def _variations(row: _Row, measure: Measure) -> dict[str, Any]:
    """Return CV* of the published value and ours, and of our seeds where there are three or more,
    in percent. Stars have none: they are labels and have no scale."""
    if kind_of_measure(measure.name) == "stars":
        return {"cv": np.nan}
    shift = int(measure.name in _CORRELATIONS)
    ours = measure.estimate(row).value
    cells: dict[str, Any] = {"cv": variation([ours, float(row[measure.published])], shift).value}
    seeds = row.get("seeds")
    deviation = number(row.get(measure.over_seeds))
    if seeds is not None and not pd.isna(seeds) and seeds > 2:
        of_seeds = variation_of(ours + shift, deviation, int(seeds))
        cells |= Measure("cv_seeds").cells(of_seeds)
    return cells


def kind_of_measure(measure: str) -> str:
    """Return which of `_KINDS` a measure is, by its name in a table."""
    return "stars" if measure.startswith("p_") else _KIND_OF.get(measure, "counts")


def by_measure(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how far cells agree, as `_COLUMNS`: a row for each table and measure and, over all
    tables, one for each of `_KINDS` and one for all that is `MEASURED`. Over all tables,
    correlations and what is measured have rows for networks and for all others, too.

    A row has the number of cells by agreement; how many have a number of ours; of these, the median
    absolute difference, the mean CV*, and `coefficients`; how many have a band of random divisions,
    and lie within it. What has a unit is not taken over several measures. `PAIR_COUNTS` are left
    empty.
    """
    cells = cells.assign(kind=cells["measure"].map(kind_of_measure))
    whole = cells.assign(paper="all", table="all", measure=cells["kind"])
    measured = whole[whole["kind"].isin(MEASURED)].assign(kind="measured", measure="measured")
    by_kind = {kind: whole[whole["kind"] == kind] for kind in _KINDS}
    parts = [measured, *by_kind.values()]
    for part in (measured, by_kind["correlations"]):
        trained = part["schedule"].isin(list(SCHEDULES)).to_numpy()
        networks = part[trained]
        others = part[~trained]
        parts.append(networks.assign(measure=networks["measure"] + "_networks"))
        parts.append(others.assign(measure=others["measure"] + "_others"))
    rows = []
    keys = ["paper", "table", "measure"]
    for key, group in pd.concat([cells, *parts]).groupby(keys, sort=False):
        rows.append(dict(zip(keys, key, strict=True)) | _summary(group))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _summary(group: pd.DataFrame) -> dict[str, Any]:
    """Return the row of `by_measure` of a group of cells, without its keys and its pairs."""
    row: dict[str, Any] = {word: int((group["agreement"] == word).sum()) for word in AGREEMENTS}
    row["provenance"] = "shipped" if (group["provenance"] == "shipped").any() else "computed"
    row["reason"] = ""
    if group["ours"].isna().all():
        row |= {"provenance": "", "reason": " ".join(dict.fromkeys(group["reason"]))}
    pair = group[["ours", "published"]].to_numpy(float)
    pair = pair[np.isfinite(pair).all(axis=1)]
    row["cells"] = len(group)
    row["compared"] = len(pair)
    row["with_deals"] = int((group["within_deals"] != "").sum())
    row["within_deals"] = int((group["within_deals"] == "yes").sum())
    row["mean_cv"] = group["cv"].mean()
    row["cv_seeds"] = group["cv_seeds"].mean()
    kinds = set(group["kind"])
    one_table = group["table"].iloc[0] != "all"
    gaps = np.abs(pair[:, 0] - pair[:, 1])
    if len(pair) and (kinds == {"correlations"} or one_table):
        row["median_difference"] = np.median(gaps)
    if kinds == {"correlations"}:
        row |= {f"below_{bound}": int((gaps < bound).sum()) for bound in _NEAR}
    if one_table:
        row |= coefficients(pair[:, 0], pair[:, 1], kinds == {"stars"})
    return row


def coefficients(ours: Array, published: Array, labels: bool = False) -> dict[str, float]:
    """Return the `COEFFICIENTS` of our numbers and the published ones: Pearson, Spearman, Kendall
    (tau-b), root mean squared difference, Krippendorff's alpha. A coefficient is left out where it
    is not defined; of fewer than three cells, there is none.

    ours, published : float64 (cells,) each
    labels : the numbers are labels, which have alpha alone

    >>> coefficients(np.array([0.1, 0.2, 0.4]), np.array([0.1, 0.3, 0.4]))["kendall"]
    1.0
    """
    if len(ours) < 3:
        return {}
    by_name = {"alpha": krippendorff_alpha(np.array([ours, published]), nominal=labels)}
    if not labels:
        by_name["rmse"] = float(np.sqrt(np.mean((ours - published) ** 2)))
        if min(np.ptp(ours), np.ptp(published)) > 0:
            by_name["pearson"] = float(pearsonr(ours, published).statistic)
            by_name["spearman"] = float(spearmanr(ours, published).statistic)
            by_name["kendall"] = float(kendalltau(ours, published).statistic)
    return by_name


Papers = Mapping[str, tuple[str, Sequence[str], Sequence[str]]]
"""Table -> its paper, and ``key`` and ``repeats`` of `published_cells`."""


def all_cells(tables: Mapping[str, pd.DataFrame], papers: Papers) -> pd.DataFrame:
    """Return the published cells of all tables, as `CELLS`.

    tables : by name, by `refless.report.tables.read_table`
    """
    parts = []
    for name, table in tables.items():
        paper, key, repeats = papers[name]
        parts.append(published_cells(table, key, repeats).assign(paper=paper, table=name))
    return pd.concat(parts, ignore_index=True)[CELLS]


def all_measures(tables: Mapping[str, pd.DataFrame], papers: Papers) -> pd.DataFrame:
    """Return `by_measure` of all tables, with `pairs_in_order` of each.

    tables : by name, by `refless.report.tables.read_table`
    """
    rows = by_measure(all_cells(tables, papers)).drop(columns=PAIR_COUNTS)
    every = [pairs_in_order(table).assign(table=name) for name, table in tables.items()]
    pairs = pd.concat(every, ignore_index=True)
    pairs = pairs[pairs["measure"].map(kind_of_measure).isin(MEASURED)]
    table = rows.merge(pairs, "left", ["table", "measure"])[_COLUMNS]
    return table.astype(dict.fromkeys(PAIR_COUNTS, "Int64"))
