"""Published cells beside computed ones.

Stage: cell -> table. In: our cells and ``resources/published/*.csv`` (facts from the papers). Out:
tables with both, and how they agree.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.statistics.measure import PUBLISHED, Measure
from refless.store import sealed
from refless.store.tables import STRINGS

EQUAL = "equal"
INSIDE = "inside"
OUTSIDE = "outside"
ABSENT = "absent"
_WHOLE_NUMBERS = {
    "n",
    "n_covered",
    "seeds",
    "substitute_encoder",
    "uses_references",
    "p_below_0.01",
}
_TEXTS = STRINGS | {"metric", "references", "contexts", "tokens", "rule", "method", "split"}
"""Columns of text, which may be empty, as draws and published values may."""


def read_published(path: str | Path) -> pd.DataFrame:
    """Read a table of published values as they were printed: as strings, so that their precision is
    known."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def read_rows(paths: Iterable[str | Path], columns: Sequence[str]) -> pd.DataFrame:
    """Return the rows of stored files, with the columns ``dataset`` and ``provenance``.

    paths : ``<dataset>/<name>.csv``, so that the folder names the data set
    columns : those of a table without rows, which is returned where there are no files
    Raises FormatError, StaleError: as `sealed.read`.
    """
    parts = [pd.DataFrame(columns=[*dict.fromkeys(["dataset", *columns, "provenance"])])]
    for path in map(Path, paths):
        file = sealed.read(path)
        origin = {"dataset": path.parent.name, "provenance": file.metadata["provenance"]}
        parts.append(file.content.assign(**origin))
    return pd.concat(parts[1:] or parts, ignore_index=True)


def agreement_with_paper(ours: float, published: str, low: float, high: float) -> str:
    """Return how one of our values agrees with a published one.

    It is ``equal`` if both are the same once ours is rounded to the digits that were printed, up or
    down at a half; else ``inside`` if the published value lies in our 95% interval, ``outside`` if
    not; and ``absent`` where one of the two is no number.

    ours, low, high : our value, and the ends of its interval
    published : as it was printed

    >>> agreement_with_paper(0.3249, "0.325", low=0.19, high=0.44)
    'equal'
    >>> agreement_with_paper(0.31, "0.325", low=0.19, high=0.44)
    'inside'
    """
    try:
        printed = Decimal(published)
    except InvalidOperation:
        return ABSENT
    if not printed.is_finite() or np.isnan(ours):
        return ABSENT
    last_digit = 10.0 ** int(printed.as_tuple().exponent)
    if abs(ours - float(printed)) <= last_digit / 2 + 1e-12:
        return EQUAL
    return INSIDE if low <= float(printed) <= high else OUTSIDE


def beside_published(
    cells: pd.DataFrame, published: pd.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    """Return our rows with the column ``paper_<column>`` for each published column: the value as
    printed, "" where there is none.

    keys : columns of both tables, which name a row
    columns : published columns
    """
    names = {name: Measure(name).published for name in columns}
    key_types = dict.fromkeys(keys, object)  # an empty column is of numbers
    paper = published[[*keys, *columns]].rename(columns=names).astype(key_types)
    table = cells.astype(key_types).merge(paper, "left", list(keys))
    return table.fillna(dict.fromkeys(names.values(), ""))


def merge_published(
    rows: Sequence[Mapping[str, Any]],
    published: pd.DataFrame,
    keys: list[str],
    columns: list[str],
) -> pd.DataFrame:
    """Return a table of our rows, and of those that the paper alone has, whose reason is
    ``not_configured``. In each data set, or else in the whole table, rows of the paper come first.

    rows : ours, by column
    published : by `read_published`, under our names
    keys : columns of both, which name a row
    columns : those of the table; ``paper_<column>`` of what the paper does not print is left out
    """
    printed = published[keys].astype(object)
    ours = pd.DataFrame(rows, columns=[c for c in columns if not c.startswith(PUBLISHED)])
    union = pd.concat([ours, printed.assign(reason="not_configured")]).drop_duplicates(keys)
    table = beside_published(union, published, keys, list(published.columns.difference(keys)))
    not_printed = table.merge(printed, "left", keys, indicator=True)["_merge"] == "left_only"
    dataset = pd.factorize(table["dataset"])[0] if "dataset" in table else np.zeros(len(table))
    columns = [c for c in columns if c in table]
    return with_types(table.iloc[np.lexsort([not_printed, dataset])], columns)


def with_types(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return these columns of a table in their order. Whole numbers are ``Int64``, and a text that
    is not there is ""."""
    texts = [c for c in columns if c in _TEXTS or c.startswith(PUBLISHED) or c.endswith("_draws")]
    types = dict.fromkeys(texts, object) | dict.fromkeys(_WHOLE_NUMBERS & set(columns), "Int64")
    table = table.reindex(columns=columns).reset_index(drop=True)
    return table.astype(types).fillna(dict.fromkeys(texts, ""))
