"""Tables as HTML: sortable, ours against the paper's, coloured by agreement.

Stage: table -> report. In: a table of ``results/tables`` (any CSV by the contract: ``x``,
``x_low``, ``x_high`` and ``paper_x`` side by side). Out: a page of its own for each table, and
`View`, with which `refless.report.page` shows the same table in the report. The templates, the
style and the script lie beside this file; a page hangs on no other file and asks for nothing.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from refless.errors import FormatError
from refless.report import catalogue
from refless.report.catalogue import Entry
from refless.report.published import EQUAL, INSIDE, MISSING, OUTSIDE, compare

FOLDER = Path(__file__).parent
VERDICTS = {
    EQUAL: "equal once rounded to the digits that were printed",
    INSIDE: "the published value lies in our 95% interval",
    OUTSIDE: "it differs, and lies outside our 95% interval or there is none",
    MISSING: "no value of ours",
}
# A column of prose may wrap, and goes last.
_PROSE = "note"


@dataclass(frozen=True)
class Column:
    """One column of a page: a column of the table with its interval and the published value.

    label : its heading
    low, high, paper : the columns that stand in its cells, if there are any
    number : whether all its values are numbers
    star : the column that is 1 where a star is put
    """

    name: str
    label: str
    low: str | None
    high: str | None
    paper: str | None
    number: bool
    star: str = ""

    @property
    def compared(self) -> bool:
        """Whether it agrees with the paper is to be shown: the end of an interval is no value."""
        return self.paper is not None and not self.name.endswith(("_low", "_high"))


@dataclass(frozen=True)
class Cell:
    """One cell.

    kind : ``text``, ``prose`` or ``number``
    value : as the CSV has it; what the column is sorted by
    shown : the value for reading
    interval : ``(low, high)`` or nothing
    paper : the published value as it was printed, or nothing
    verdict : one of `VERDICTS`, or nothing
    """

    kind: str
    value: str
    shown: str
    interval: str = ""
    paper: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class View:
    """A table for HTML.

    columns : what stands above the cells
    rows : a list of cells a row
    counts : verdict -> number of published cells, each counted once
    counted : the numbers of the rows whose cells they are
    """

    columns: list[Column]
    rows: list[list[Cell]]
    counts: dict[str, int]
    counted: frozenset[int] = frozenset()

    @property
    def compared(self) -> bool:
        """Whether any column has published values beside it."""
        return any(column.compared for column in self.columns)

    def leading(self, most: int) -> set[int]:
        """The numbers of the rows to show first: of those that count, the ones with a value of
        ours, then others with a number, in the table's order."""

        def rank(i: int) -> int:
            numbers = [cell for cell in self.rows[i] if cell.kind == "number" and cell.value]
            return 2 if not numbers else 0 if i in self.counted else 1

        return set(sorted(range(len(self.rows)), key=rank)[:most])


def read_view(path: str | Path, entry: Entry | None = None) -> View:
    """Read a table for HTML.

    Parameters
    ----------
    path : the CSV file
    entry : its entry in the catalogue: headings, whose interval stands in a cell, and which columns
        name a row of the paper: of the rows that are about the same one, the first is counted;
        without them, every row is. Rows without ``agreement`` never are.

    Raises
    ------
    FormatError : the file cannot be read, is empty, or a row is not as wide as the header.
    """
    return view_of(*_read(path), entry)


def view_of(
    header: Sequence[str], records: Sequence[dict[str, str]], entry: Entry | None = None
) -> View:
    """The same of a header and rows as they stand in a CSV file."""
    paper_row = entry.paper_row if entry else ()
    columns = _columns(header, records, entry.every_column() if entry else {})
    rows = [[_cell(column, record) for column in columns] for record in records]
    counts: Counter[str] = Counter()
    seen = set()
    counted = []
    for i, (record, row) in enumerate(zip(records, rows, strict=True)):
        of = tuple(record[name] for name in paper_row) or i
        if not record.get("agreement") or of in seen:
            continue
        seen.add(of)
        counted.append(i)
        counts.update(cell.verdict for cell in row if cell.kind == "number" and cell.verdict)
    return View(
        columns, rows, {verdict: counts[verdict] for verdict in VERDICTS}, frozenset(counted)
    )


def render(template: str, **values: Any) -> str:
    """A page from one of the templates beside this file; what is not markup is escaped."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
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
    environment.filters["css"] = lambda verdict: verdict.rpartition(" ")[2]
    return environment


def _marked(text: str) -> Markup:
    """A caption: what is `code` and *meant* in Markdown is so here."""
    kinds = {"`": "code", "*": "em"}
    return Markup(
        re.sub(
            r"([`*])(\w[^`*]*)\1",
            lambda found: f"<{kinds[found[1]]}>{found[2]}</{kinds[found[1]]}>",
            str(escape(text)),
        )
    )


def _read(path: str | Path) -> tuple[list[str], list[dict[str, str]]]:
    try:
        with open(path, newline="", encoding="utf-8") as handle:
            header, *body = csv.reader(handle)
    except (OSError, ValueError, csv.Error) as error:
        raise FormatError(f"cannot be read as a table: {error}", path=path) from error
    for number, fields in enumerate(body, 2):
        if len(fields) != len(header):
            raise FormatError(
                f"{len(fields)} fields, but the header has {len(header)}", path=path, line=number
            )
    return header, [dict(zip(header, fields, strict=True)) for fields in body]


def _columns(
    header: Sequence[str], rows: Sequence[dict[str, str]], shown: Mapping[str, catalogue.Column]
) -> list[Column]:
    """The columns of the page: intervals and published values go into their column's cell."""
    there = set(header)
    columns = []
    for name in header:
        whose = (shown[name].interval if name in shown else "") or name
        low, high, paper = (
            own if own in there else None
            for own in (f"{whose}_low", f"{whose}_high", f"paper_{name}")
        )
        label = shown[name].label if name in shown and not shown[name].of else ""
        label = label or name.replace("_", " ")
        star = shown[name].star if name in shown else ""
        number = all(_number(row[name]) is not None for row in rows if row[name] != "")
        columns.append(Column(name, label, low, high, paper, number, star))
    taken = {own for column in columns for own in (column.low, column.high, column.paper)}
    columns = [column for column in columns if column.name not in taken]
    # a column in which no row says anything would only be in the way
    said = [c for c in columns if any(row[n] for row in rows for n in (c.name, c.paper) if n)]
    # Markdown tells columns of one heading apart by sections
    twice = Counter(column.label for column in said)
    told = [
        replace(column, label=column.name.replace("_", " ")) if twice[column.label] > 1 else column
        for column in said
    ]
    return sorted(told, key=lambda column: column.name == _PROSE)


def _cell(column: Column, row: dict[str, str]) -> Cell:
    raw = row[column.name]
    if column.name == _PROSE:
        return Cell("prose", raw, raw)
    if not column.number:
        verdict = raw if column.name == "agreement" and raw in VERDICTS else ""
        return Cell("text", raw, raw, verdict=verdict)
    paper = row[column.paper] if column.paper else ""
    low = row[column.low] if column.low else ""
    high = row[column.high] if column.high else ""
    # what a paper printed keeps its digits
    shown = raw if column.name.startswith("paper") or not raw else _short(raw)
    starred = bool(shown) and _float(row.get(column.star, "")) == 1
    between = bool(raw and low and high and low != high)
    compared = paper and column.compared
    # agreement goes by the column's own interval, whichever is shown
    own = (_float(row.get(f"{column.name}{end}", "")) for end in ("_low", "_high"))
    return Cell(
        "number",
        raw,
        f"{shown}*" if starred else shown or ("–" if paper else ""),
        f"({_short(low)}, {_short(high)})" if between else "",
        paper,
        compare(_float(raw), paper, *own) if compared else "",
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _float(text: str) -> float:
    number = _number(text)
    return float("nan") if number is None else number


def _short(text: str) -> str:
    """Whole numbers as they are, others to four digits after the point."""
    value = _float(text)
    if value.is_integer() and "." not in text and "e" not in text.lower():
        return text
    return f"{value:.2e}" if 0 < abs(value) < 0.0005 else f"{value:.4f}".rstrip("0").rstrip(".")
