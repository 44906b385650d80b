"""Columns that tables have in common: which are text, which whole numbers, which an interval.

Stage: table. In: rows, with or without numbers. Out: a table whose columns are always the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from refless.errors import StaleError

TEXT = {
    *("kernel", "reading", "provenance", "reason"),
    *("system", "quality", "items", "rule", "chosen_by_fold"),
}
"""Empty, and not NaN, where a row has none."""
WHOLE = {
    *("n", "n_covered", "n_common", "n_train", "n_human", "annotators", "annotators_covered"),
    *("a", "stand_in", "p_below_0.01", "systems", "pairs", "ratings", "deals"),
}


def with_intervals(*names: str) -> list[str]:
    """Each name, and those of the ends of its interval."""
    return [f"{name}{end}" for name in names for end in ("", "_low", "_high")]


def not_available(error: StaleError) -> str:
    """The note of a row whose file was refused."""
    return f"not available: {error.path} {error.message}; {error.remedy}"


def tidy(rows: pd.DataFrame | Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """The rows with these columns, in this order; ``note`` is a list in every row."""
    table = pd.DataFrame(rows).reindex(columns=list(columns))
    for name in TEXT & set(columns):
        table[name] = table[name].astype(object).fillna("")
    for name in WHOLE & set(columns):
        table[name] = table[name].astype("Int64")
    table["note"] = [note if isinstance(note, list) else [] for note in table["note"]]
    return table
