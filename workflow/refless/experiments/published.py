"""Published cells beside computed ones.

Stage: cell -> table. In: our cells and ``resources/published/*.csv`` (facts from the papers). Out:
tables with both, and how they agree.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

EQUAL, INSIDE, OUTSIDE, ABSENT = "equal", "inside", "outside", "absent"
_WHOLE = {"n", "substitute_encoder", "p_below_0.01"}
_WORDS = {
    *(
        "dataset",
        "metric",
        "references",
        "contexts",
        "tokens",
        "rule",
        "kernel",
        "provenance",
        "reason",
    ),
    *("method", "split", "pearson_draws", "pearson_by_system_draws", "interval_for"),
}
"""Columns of whole numbers, and of words, which may be empty, as published values may."""


def read_published(path: str | Path) -> pd.DataFrame:
    """Published values as they were printed (strings, so that their precision is known)."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def agreement_with_paper(ours: float, published: str, low: float, high: float) -> str:
    """How one of our values stands to a published one.

    ``equal``: the same once rounded to the digits that were printed (either way at a half);
    ``inside``: the published value lies in our 95% interval; ``outside``; ``absent``.
    """
    try:
        printed = Decimal(published)
    except InvalidOperation:
        return ABSENT
    if not printed.is_finite() or np.isnan(ours):
        return ABSENT
    unit = 10.0 ** int(printed.as_tuple().exponent)
    if abs(ours - float(printed)) <= unit / 2 + 1e-12:
        return EQUAL
    return INSIDE if low <= float(printed) <= high else OUTSIDE


def beside_published(
    cells: pd.DataFrame, published: pd.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    """Our rows with ``paper_<column>`` for each published column, as printed; "" where there is no
    such cell."""
    names = {name: f"paper_{name}" for name in columns}
    words = dict.fromkeys(keys, object)  # an empty column is of numbers
    paper = published[[*keys, *columns]].rename(columns=names).astype(words)
    table = cells.astype(words).merge(paper, "left", list(keys))
    return table.fillna(dict.fromkeys(names.values(), ""))


def measure_columns(*names: str) -> list[str]:
    """Columns of each name: the value, its interval, and what the paper prints."""
    ends = "{}", "{}_low", "{}_high", "paper_{}"
    return [end.format(name) for name in names for end in ends]


def merge_published(
    rows: Sequence[Mapping[str, Any]],
    published: pd.DataFrame,
    keys: list[str],
    columns: list[str],
) -> pd.DataFrame:
    """The table of these columns, without ``paper_<column>`` for what is not printed: our rows, and
    those that the paper alone has. Of each data set (else of the whole table), rows of the paper
    come first. ``published`` has the ``keys``, by which it names one of our rows.
    """
    printed = published[keys].astype(object)
    ours = pd.DataFrame(rows, columns=[c for c in columns if not c.startswith("paper_")])
    whole = pd.concat([ours, printed.assign(reason="not_configured")]).drop_duplicates(keys)
    table = beside_published(whole, published, keys, list(published.columns.difference(keys)))
    by_us = table.merge(printed, "left", keys, indicator=True)["_merge"] == "left_only"
    dataset = pd.factorize(table["dataset"])[0] if "dataset" in table else np.zeros(len(table))
    columns = [c for c in columns if c in table]
    return with_types(table.iloc[np.lexsort([by_us, dataset])], columns)


def with_types(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """These columns in order, with `_WHOLE` numbers as such, and words "" where there are none."""
    words = [c for c in columns if c in _WORDS or c.startswith("paper_")]
    types = dict.fromkeys(words, object) | dict.fromkeys(_WHOLE & set(columns), "Int64")
    table = table.reindex(columns=columns).reset_index(drop=True)
    return table.astype(types).fillna(dict.fromkeys(words, ""))
