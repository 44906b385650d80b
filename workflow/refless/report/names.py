"""The words of tables and figures: how a person writes what CSV files write as identifiers."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from refless.report.catalogue import catalogue

Names = Mapping[str, Mapping[str, str]]
"""Column -> value -> name."""


@cache
def words() -> Names:
    """Of all columns but those of data sets and tables."""
    return dict(yaml.safe_load(Path(__file__).with_name("names.yaml").read_text("utf-8")))


def with_datasets(datasets: Mapping[str, str]) -> Names:
    """`words`, and the names of data sets, which are settings, and of tables."""
    every = {**words()["dataset"], **datasets}
    roles = dict.fromkeys(("dataset", "source_dataset", "target_dataset"), every)
    return {**words(), **roles, "table": {name: of.item for name, of in catalogue().items()}}


def plain(value: Any) -> str:
    """A value as it stands in a CSV; empty where there is none."""
    if value is None or value != value or str(value) == "<NA>":
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def join_names(names: Names, row: Mapping[Any, Any], columns: Iterable[str]) -> str:
    """What a person writes for the values of a row in these columns."""
    values = [(column, plain(row.get(column))) for column in columns]
    return ", ".join(filter(None, (names.get(name, {}).get(text, text) for name, text in values)))


def row_name(names: Names, columns: Iterable[str], text: str) -> str:
    """What a person writes for the name of a row: values of these columns, joined by commas, but
    for empty ones."""
    parts = []
    left = text.split(", ")
    for column in columns:
        if left and left[0] in names.get(column, {}):
            parts.append(names[column][left.pop(0)])
    return ", ".join(filter(None, [*parts, *left]))
