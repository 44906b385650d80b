"""Numbers in prose: a page names a cell of a table, and a run writes it there.

Stage: report. A page has ``<!--lookup-->0.316 (0.224, 0.390)<!--/-->``, and the list of numbers
says which cell ``lookup`` is. As a command, ``-m refless.report.fill LIST TABLES PAGE...`` writes
the cells of a folder of tables into pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from refless.errors import FormatError
from refless.report.tables import read_published
from refless.store.files import write_text

PLACE = re.compile(r"<!--(\w+)-->(.*?)<!--/-->", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.(\d+))?(%?)")


def filled(page: str, numbers: Mapping[str, Mapping[str, Any]], tables: Path) -> str:
    """The page with the cells of today's tables, each with as many digits as stand there, as a
    percentage where one stands there, and with its interval where one stands there.

    Parameters
    ----------
    numbers : name -> ``from`` (a table), ``column``, and values of other columns that tell the row
    tables : folder of the tables

    Raises
    ------
    FormatError : no such number, table or value, or not exactly one such row.
    """

    def cell(found: re.Match[str]) -> str:
        name, text = found[1], found[2]
        if name not in numbers:
            raise FormatError(f"there is no number {name}", remedy="add it to numbers.yaml")
        row = dict(numbers[name])
        path, column = tables / f"{row.pop('from')}.csv", row.pop("column")
        table = read_published(path)
        for key, value in row.items():
            table = table[table[key].fillna("").astype(str) == str(value)]
        if len(table) != 1 or pd.isna(table[column].item()):
            raise FormatError(f"has not one row with a value for the number {name}", path=path)
        columns = [column] + [f"{column}_{end}" for end in ("low", "high") if "(" in text]
        value, *ends = (_like(text, float(table[one].item())) for one in columns)
        return f"<!--{name}-->{value}{' (' + ', '.join(ends) + ')' if ends else ''}<!--/-->"

    return PLACE.sub(cell, page)


def _like(text: str, value: float) -> str:
    """A value with the digits and the unit of the first number in a text."""
    first = NUMBER.search(text)
    digits, percent = (len(first[1] or ""), first[2]) if first else (3, "")
    return f"{100 * value if percent else value:.{digits}f}{percent}"


def read_numbers(path: str | Path) -> dict[str, dict[str, Any]]:
    """The list of numbers."""
    return dict(yaml.safe_load(Path(path).read_text(encoding="utf-8")))


def section(page: str, heading: str) -> str:
    """The text below a heading of the second level, up to the next one."""
    return re.split(r"(?m)^## ", page.partition(f"## {heading}\n")[2])[0].strip()


if __name__ == "__main__":
    known = read_numbers(sys.argv[1])
    for place in map(Path, sys.argv[3:]):
        write_text(filled(place.read_text("utf-8"), known, Path(sys.argv[2])), place)
