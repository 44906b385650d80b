"""Published cells beside computed ones.

Stage: cell -> table. In: our cells and ``resources/published/*.csv`` (facts from the papers).
Out: one tidy table with ours and the published value.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np
import pandas as pd

from refless.errors import FormatError

EQUAL, INSIDE, OUTSIDE, MISSING = "equal", "inside", "outside", "absent"


def read_published(path: str | Path, keys: Sequence[str]) -> pd.DataFrame:
    """Published values as they were printed (strings, so that their precision is known).

    Raises
    ------
    FormatError : the file cannot be read, or lacks a column.
    """
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
    ``inside``: the published value lies in our 95% interval; ``outside``; ``absent``.
    """
    try:
        printed = Decimal(published)
    except InvalidOperation:
        return MISSING
    if not printed.is_finite() or np.isnan(ours):
        return MISSING
    unit = 10.0 ** int(printed.as_tuple().exponent)
    if abs(ours - float(printed)) <= unit / 2 + 1e-12:
        return EQUAL
    return INSIDE if low <= float(printed) <= high else OUTSIDE


def beside_published(
    cells: pd.DataFrame, published: pd.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    """Our rows with ``paper_<column>`` for each published column, as printed; "" where there is no
    such cell."""
    lookup = published.set_index(list(keys))[list(columns)].add_prefix("paper_")
    lookup.index = lookup.index.map(str if len(keys) == 1 else lambda key: tuple(map(str, key)))
    own = cells[list(keys)].astype(object).map(str)
    index = pd.Index(own[keys[0]]) if len(keys) == 1 else pd.MultiIndex.from_frame(own)
    found = lookup.reindex(index).fillna("").set_axis(cells.index)
    return cells.drop(columns=found.columns, errors="ignore").join(found)
