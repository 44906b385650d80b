"""A table as its readers see it: one set of cells, for Markdown and for HTML.

Stage: table -> report. In: a table of ``results/tables`` and its entry in the catalogue. Out: the
cells of one grid (`Part`), each with its text: ours with its 95% interval, and the paper's value.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from refless.experiments.published import ABSENT, EQUAL, INSIDE, OUTSIDE, agreement_with_paper
from refless.report.catalogue import Column, Entry, Section
from refless.statistics.measure import PUBLISHED, Measure

FOLDER = Path(__file__).parent
VERDICTS = {
    EQUAL: "equal once rounded to the printed digits",
    INSIDE: "the published value lies in our 95% interval",
    OUTSIDE: "it differs, and lies outside our interval or there is none",
    ABSENT: "no value of ours",
}
GROUPS = ("dataset", "source_dataset")
"""Columns of data sets: those with numbers stand first."""


@dataclass(frozen=True)
class Cell:
    """One cell: its text, the value that it is sorted by, and how it agrees with the paper."""

    text: str
    value: str = ""
    verdict: str = ""
    number: bool = False


@dataclass(frozen=True)
class Part:
    """One grid of a table: a heading, the columns' headings, the rows."""

    title: str
    header: list[str]
    rows: list[list[Cell]]

    @property
    def numbers(self) -> list[bool]:
        """Of each column, whether it holds numbers."""
        return [
            all(row[i].number or not row[i].text for row in self.rows)
            for i in range(len(self.header))
        ]


def parts_of(entry: Entry, table: pd.DataFrame) -> list[Part]:
    """The grids of a table, all rows in its own order but for data sets without numbers, which come
    last."""
    table = _with_numbers_first(table)
    return [part for section in entry.sections for part in _section(entry, section, table)]


def _with_numbers_first(table: pd.DataFrame) -> pd.DataFrame:
    group = next((name for name in GROUPS if name in table), None)
    if group is None or "provenance" not in table:
        return table
    there = set(table.loc[table["provenance"].fillna("") != "", group])
    return table.iloc[(~table[group].isin(there)).argsort(kind="stable")]


def _section(entry: Entry, section: Section, table: pd.DataFrame) -> Iterable[Part]:
    for name, wanted in section.where.items():
        table = table[table[name].astype(str).isin(wanted)]
    # an entry without columns has those that the configuration names
    columns = section.columns or entry.columns or dict.fromkeys(_ours(table), Column())
    header = [column.label or name.replace("_", " ") for name, column in columns.items()]
    for value in dict.fromkeys(table[section.by]) if section.by else [None]:
        own = table if value is None else table[table[section.by] == value]
        records = own.to_dict("records")
        rows = [[_cell(row, name, column) for name, column in columns.items()] for row in records]
        for row, cells in zip(records, rows, strict=True):
            _say_why(row.get("reason"), cells)
        yield Part(section.title.format(value=value), header, rows)


def _say_why(reason: Any, cells: list[Cell]) -> None:
    """Put the reason into the first cell without a number of ours."""
    for i, cell in enumerate(cells):
        if reason and not _empty(reason) and cell.text.startswith("–"):
            cells[i] = replace(cell, text=cell.text.replace("–", f"– {reason}", 1))
            return


def _ours(table: pd.DataFrame) -> list[str]:
    beside = ("provenance", "reason")
    return [c for c in map(str, table) if c not in beside and not c.startswith(PUBLISHED)]


def _cell(row: Mapping[Any, Any], name: str, column: Column) -> Cell:
    value = None if _empty(row.get(name)) else row[name]
    digits = column.digits
    if isinstance(digits, str):
        digits = len(str(row[digits]).partition(".")[2])
    if digits is None:
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        text = "" if whole is None else f"`{whole}`" if column.code else str(whole)
        number = isinstance(value, int | float)
    else:
        text, number = with_interval(row, name, digits), True
    if value is not None and row.get(column.star) == 1:
        text += "*"
    plain = "" if value is None else str(value)
    measure = Measure(name)
    printed = row.get(measure.published)
    if _empty(printed):
        return Cell(text, plain, number=number)
    ours, low, high = (_float(row.get(end)) for end in measure.interval)
    star = "*" if str(row.get(Measure(column.star).published)) == "1" else ""
    return Cell(
        f"{text or '–'} / {printed}{star}",
        plain,
        agreement_with_paper(ours, str(printed), low, high),
        True,
    )


def _float(value: Any) -> float:
    return float("nan") if _empty(value) else float(value)


def _empty(value: Any) -> bool:
    return value is None or value is pd.NA or value != value or value == ""


def number(value: Any, digits: int) -> str:
    """A number for reading: so many digits, or two that tell where all of these were 0; a dash
    where there is none."""
    if _empty(value):
        return "–"
    value = float(value)
    tiny = 0 < abs(value) < 0.5 * 10**-digits
    return f"{value:.1e}" if tiny else f"{value:.{digits}f}"


def with_interval(row: Mapping[Any, Any], name: str, digits: int) -> str:
    """``0.325 (0.19, 0.45)``; its ends have a digit less."""
    text = number(row.get(name), digits)
    low, high = row.get(Measure(name).low), row.get(Measure(name).high)
    if text == "–" or _empty(low) or _empty(high) or low == high:
        return text
    return f"{text} ({number(low, max(0, digits - 1))}, {number(high, max(0, digits - 1))})"


def markdown(part: Part) -> str:
    """The grid for GitHub; a bar inside a cell is escaped, a value equal to the paper's marked."""
    lines = ["| " + " | ".join(part.header) + " |", "|" + " --- |" * len(part.header)]
    for row in part.rows:
        shown = (f"{cell.text} =" if cell.verdict == EQUAL else cell.text for cell in row)
        lines.append("| " + " | ".join(text.replace("|", "\\|") for text in shown) + " |")
    return "\n".join(lines)


def page(**values: Any) -> str:
    """The report from its template; what is not markup is escaped."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {
        "verdicts": VERDICTS,
        "style": Markup((FOLDER / "style.css").read_text(encoding="utf-8")),
        "script": Markup((FOLDER / "table.js").read_text(encoding="utf-8")),
    }
    environment.filters["marked"] = _marked
    return environment.get_template("report.html").render(values)


def _marked(text: str) -> Markup:
    """What is `code` in Markdown is so here."""
    return Markup(re.sub(r"`(\w[^`]*)`", r"<code>\1</code>", str(escape(text))))
