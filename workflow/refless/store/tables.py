"""Tables as CSV: numbers round-trip exactly, texts stay texts, equal tables give equal bytes.

Stage: none.
"""

import csv
from pathlib import Path
from typing import Literal

import pandas as pd

from refless.errors import FormatError

STRINGS = {
    *("id", "dataset", "context", "text", "system", "rater", "item", "type", "kernel"),
    *("train_topic", "mr", "mr_key", "mr_set", "provenance", "reason", "note", "published"),
    "interval_for",
}
"""Columns that are text, also where a value looks like a number or is empty; and so are published
values, which keep their digits: 0.50 has two."""


def table_text(table: pd.DataFrame) -> str:
    """Return a table as CSV, without its index."""
    # A bare carriage return ends a row unless it is quoted, and the writer does not see that.
    strings = table.select_dtypes(["object", "str"])
    returns = any(strings[name].astype(str).str.contains("\r").any() for name in strings)
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
    return str(table.to_csv(index=False, lineterminator="\n", quoting=quoting))


def read_csv(path: str | Path) -> pd.DataFrame:
    """Read a CSV by `table_text`, plain or compressed. The columns of `STRINGS`, and those of
    published values, are texts, and in all others an empty cell is NaN.

    Raises FormatError: the file is no table.
    """
    try:
        header = pd.read_csv(path, nrows=0, lineterminator="\n").columns
        strings = {name for name in header if name in STRINGS or name.startswith("paper_")}
        return pd.read_csv(
            path,
            dtype=dict.fromkeys(strings, str),
            # a text may well be "NA" or "null": only an empty number is missing
            keep_default_na=False,
            na_values={name: [""] for name in header if name not in strings},
            # a lone carriage return belongs to a text and ends no row
            lineterminator="\n",
        )
    except ValueError as error:
        raise FormatError(f"cannot be read as a table: {error}", path=path) from error
