"""Numbers in prose: a page names a cell of a table, and a run writes it there.

Stage: report. A page has ``<!--lookup-->0.316 (0.224, 0.390)<!--/-->``, and the list of numbers
says which cell ``lookup`` is. Sentences are of the settings that they were written for:
``<!--settings:...-->`` has their digest (`refless.plan.Plan.digest_of_findings`).
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from markdown_it import MarkdownIt
from markupsafe import Markup

from refless.errors import FormatError
from refless.report.tables import read_table

PLACE = re.compile(r"<!--(\w+)-->(.*?)<!--/-->", re.DOTALL)
SETTINGS = re.compile(r"<!--settings:(\w*)-->")
LINK = r"\[([^\]]*)\]\((?!\w+:)[^)]*\)"
NUMBER = re.compile(r"\d+\.?(\d*)")


def filled(page: str, numbers: Mapping[str, Mapping[str, Any]], tables: Path) -> str:
    """The page with the cells of today's tables, each with as many digits as stand there, and with
    its interval where one stands there.

    numbers : name -> ``from`` (a table), ``column``, and values of other columns that tell the row
    tables : folder of the tables
    Raises FormatError: there is no number of that name.
    """

    def cell(match: re.Match[str]) -> str:
        name = match[1]
        text = match[2]
        if name not in numbers:
            raise FormatError(f"there is no number {name}", remedy="add it to numbers.yaml")
        row = dict(numbers[name])
        table = read_table(tables / f"{row.pop('from')}.csv")
        column = row.pop("column")
        for key, value in row.items():
            table = table[table[key].fillna("").astype(str) == str(value)]
        columns = [column] + [f"{column}_{end}" for end in ("low", "high") if "(" in text]
        value, *ends = (_like(text, table[name]) for name in columns)
        return f"<!--{name}-->{value}{' (' + ', '.join(ends) + ')' if ends else ''}<!--/-->"

    return PLACE.sub(cell, page)


def of_settings(page: str, digest: str) -> bool:
    """Whether a page was written for these settings: their digest stands in it."""
    return SETTINGS.findall(page) == [digest]


def with_settings(page: str, digest: str) -> str:
    """The page with the digest of the settings that its sentences are of."""
    return SETTINGS.sub(f"<!--settings:{digest}-->", page)


def _like(text: str, values: pd.Series) -> str:
    """A value with as many digits as the first number in a text has, 0 without a sign; a dash if
    there is none, or not one."""
    if len(values) != 1 or pd.isna(values.item()):
        return "–"
    first = NUMBER.search(text)
    return f"{values.item():z.{len(first[1]) if first else 3}f}"


def read_numbers(path: str | Path) -> dict[str, dict[str, Any]]:
    """The list of numbers."""
    return dict(yaml.safe_load(Path(path).read_text(encoding="utf-8")))


def section(page: str, heading: str, level: int = 2) -> str:
    """The text below a heading of this level, up to the next one of it or above."""
    _, _, below = f"\n{page}".partition(f"\n{'#' * level} {heading}\n")
    return re.split(rf"(?m)^#{{1,{level}}} ", below)[0].strip()


def as_html(text: str) -> Markup:
    """Markdown as HTML, without pictures and marks of numbers. Links into the repository are their
    words alone, and nothing where they stand in brackets."""
    plain = re.sub(rf"!{LINK}|\s*\({LINK}\)|<!--.*?-->", "", text)
    plain = re.sub(LINK, r"\1", plain)
    return Markup(MarkdownIt().render(plain))
