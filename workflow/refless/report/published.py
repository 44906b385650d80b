"""Published cells beside computed ones, and the tables that people read.

Stage: cell -> table. In: our cells and ``resources/published/*.csv`` (facts from the papers).
Out: one tidy table with ours, an interval, the published value and how far the two agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.errors import FormatError
from refless.store.files import require_listed

EQUAL, INSIDE, OUTSIDE, MISSING = "equal", "inside", "outside", "not available"


def read_published(path: str | Path, keys: Sequence[str]) -> pd.DataFrame:
    """Published values as they were printed (strings, so that their precision is known).

    Raises
    ------
    FormatError : the file is not the one that comes with refless (`require_listed`), or lacks a
        column.
    """
    require_listed(path)
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read: {error}", path=path) from error
    missing = set(keys) - set(table.columns)
    if missing:
        raise FormatError(f"columns {sorted(missing)} are missing", path=path)
    return table


def compare(ours: float, published: str, low: float, high: float) -> str:
    """How one of our values stands to a published one.

    ``equal``: the same once rounded to the digits that were printed (either way at a half);
    ``inside``: the published value lies in our 95% interval; ``outside``; ``not available``.
    """
    try:
        printed = Decimal(published)
    except InvalidOperation:
        return MISSING
    if not printed.is_finite() or np.isnan(ours):
        return MISSING
    exponent = printed.as_tuple().exponent
    unit = 10.0 ** int(exponent)
    if abs(ours - float(printed)) <= unit / 2 + 1e-12:
        return EQUAL
    return INSIDE if low <= float(printed) <= high else OUTSIDE


def beside_published(
    cells: pd.DataFrame, published: pd.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    """Our rows with ``paper_<column>`` for each published column, and ``agreement``.

    ``agreement`` is the weakest of the row's cells: ``outside`` if one is, else ``not available``
    if one has no value of ours, else ``inside`` if one is not equal, else ``equal``; rows that the
    paper does not have are empty.
    """
    lookup = {tuple(row[key] for key in keys): row for row in published.to_dict("records")}
    records: list[dict[str, Any]] = []
    for cell in cells.to_dict("records"):
        row = {str(name): value for name, value in cell.items()}
        paper = lookup.get(tuple(str(row[key]) for key in keys))
        verdicts = []
        for column in columns:
            printed = "" if paper is None else paper[column]
            row[f"paper_{column}"] = printed
            if printed != "":
                ours = row.get(column)
                verdicts.append(
                    compare(
                        float("nan") if ours is None else float(ours),
                        printed,
                        float(row.get(f"{column}_low", np.nan)),
                        float(row.get(f"{column}_high", np.nan)),
                    )
                )
        row["agreement"] = ""
        if verdicts:
            order = [OUTSIDE, MISSING, INSIDE, EQUAL]
            row["agreement"] = min(verdicts, key=order.index)
        records.append(row)
    return pd.DataFrame(records)


def number(value: Any, digits: int = 3) -> str:
    """A number for reading; a dash where it is undefined."""
    if value is None or value == "" or (isinstance(value, float) and np.isnan(value)):
        return "–"
    return f"{float(value):.{digits}f}"


def with_interval(row: Mapping[str, Any], column: str, digits: int = 3, interval: str = "") -> str:
    """``0.325 (0.190, 0.447)``, or a dash; ``interval`` names another one than ``column``'s."""
    text = number(row.get(column), digits)
    low, high = (row.get(f"{interval or column}_{end}") for end in ("low", "high"))
    if text == "–" or low is None or np.isnan(float(low)) or low == high:
        return text
    return f"{text} ({number(low, digits)}, {number(high, digits)})"
