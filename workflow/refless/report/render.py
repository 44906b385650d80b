"""A table as its readers see it: one set of cells, for Markdown and for HTML.

Stage: table -> report. In: a table of ``results/tables`` and its entry in the catalogue. Out: grids
(`Part`) of one number a column: the paper's, ours, their difference, our 95% interval.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from refless.experiments.published import ABSENT, EQUAL, INSIDE, OUTSIDE, agreement_with_paper
from refless.report.catalogue import PAPER_FIRST, Column, Entry, Section, catalogue
from refless.report.names import Names, join_names, plain, row_name, with_datasets, words
from refless.statistics.measure import Measure, published_measures

FOLDER = Path(__file__).parent
VERDICTS = {
    EQUAL: "equal once rounded to the printed digits",
    INSIDE: "not rejected: the published value lies in our 95% interval",
    OUTSIDE: "different: the published value lies outside our interval, or we have no interval",
    ABSENT: "no value of ours",
}
MARKS = {EQUAL: "=", OUTSIDE: "≠"}
"""Behind a value of ours, for whoever does not see colours."""
UNMARKED = (
    "Without a mark beside a published number: it lies in our interval, so that it is not rejected,"
    " which does not prove that the two are the same."
)
EXPLAINED = ("setup", "configuration")
"""Columns whose names mean nothing to a newcomer: ``<column>_means`` says what they are."""
EXPLANATION = "explanation"
"""The column of why a number is not the published one."""
FEW = 4
"""Rows of one reason that are named, and not counted."""

TableRow = Mapping[Any, Any]


@dataclass(frozen=True)
class ShownCell:
    """One cell: its text, the value that it is sorted by, and how it agrees with the paper."""

    text: str
    value: str = ""
    verdict: str = ""


NONE = ShownCell("–")


@dataclass(frozen=True)
class Part:
    """One grid of a table.

    title : its heading
    header : the columns' headings
    numbers : whether each column holds numbers
    groups : the rows below each line
    notes : what has to be said under it
    has_numbers : whether it has a number of ours
    id : by which the report links to it, behind the name of the table; of a table that is divided
        into grids by a column, the value of that column
    """

    title: str
    header: list[str]
    numbers: list[bool]
    groups: dict[str, list[list[ShownCell]]]
    notes: list[str]
    has_numbers: bool = True
    id: str = ""

    @property
    def size(self) -> int:
        """The number of its rows."""
        return sum(map(len, self.groups.values()))

    @property
    def cells(self) -> list[ShownCell]:
        """All of its cells, row by row."""
        return [cell for rows in self.groups.values() for row in rows for cell in row]


def parts_of(entry: Entry, table: pd.DataFrame, datasets: Mapping[str, str]) -> list[Part]:
    """The grids of a table, those without any number of ours last; rows in the table's order, as
    `_part` says. ``datasets`` are names of data sets."""
    names = with_datasets(datasets)
    rows = table.to_dict("records")
    parts = []
    for section in entry.sections:
        inside = [row for row in rows if _fits(row, section.where)]
        columns = section.columns or entry.columns
        for value in dict.fromkeys(plain(row.get(section.by)) for row in inside):
            part = [row for row in inside if plain(row.get(section.by)) == value]
            parts.append(_part(section, columns, part, names))
    return sorted(parts, key=lambda part: not part.has_numbers)


def meanings_of(parts: Iterable[Part]) -> Iterator[str]:
    """Of the names of `EXPLAINED` that stand in cells of these grids, what each is: a line each."""
    text = "\n".join(cell.text for part in parts for cell in part.cells)
    for column in EXPLAINED:
        means = words()[f"{column}_means"]
        there = {name: means[value] for value, name in words()[column].items() if value in means}
        explained = [f"{name}: {meaning}" for name, meaning in there.items() if name in text]
        if explained:
            yield "; ".join(explained)


def _has_numbers(rows: Iterable[TableRow], measures: Iterable[str]) -> bool:
    return any(plain(row.get(name)) for name in measures for row in rows)


def _fits(row: TableRow, where: Mapping[str, Sequence[str]]) -> bool:
    return all(plain(row.get(name)) in values for name, values in where.items())


def _part(
    section: Section, columns: Mapping[str, Column], rows: Sequence[TableRow], names: Names
) -> Part:
    """One grid: below each line, rows with a number of ours stand before those without."""
    labels = {name: column for name, column in columns.items() if column.names}
    measures = {name: column for name, column in columns.items() if not column.names}
    lines: dict[Any, dict[str, TableRow]] = {}  # of each line of the grid, what stands side by side
    for k, row in enumerate(rows):
        key = _label(row, *next(iter(labels.items())), names) if section.across else k
        lines.setdefault(key, {})[plain(row.get(section.across))] = row
    ordered = sorted(lines.values(), key=lambda line: not _has_numbers(line.values(), measures))
    row_of_value = {plain(row.get(section.across)): row for row in rows}
    order = [*words().get(section.across, {}), *row_of_value]
    header = [column.label or name.replace("_", " ") for name, column in labels.items()]
    grid = [
        [ShownCell(_label(next(iter(line.values())), *label, names)) for label in labels.items()]
        for line in ordered
    ]
    for value in sorted(row_of_value, key=order.index):
        name = join_names(names, row_of_value[value], [section.across])
        before = f"{name}: " if section.across else name
        for name, column in measures.items():
            header += _headings(name, column, before)
            for line, cells in zip(ordered, grid, strict=True):
                cells += _cells(name, column, line.get(value, {}))
    kept = [
        k
        for k in range(len(header))
        if any(cells[k] not in (NONE, ShownCell("")) for cells in grid)
    ]
    headings = {header[k] for k in kept}
    titles = ["", *(group.title for group in section.rows or PAPER_FIRST)]
    groups: dict[str, list[list[ShownCell]]] = {title: [] for title in titles}
    for line, cells in zip(ordered, grid, strict=True):
        groups[_group(section, [*line.values()])].append([cells[k] for k in kept])
    return Part(
        title=section.title.format(value=join_names(names, rows[0], [section.by])),
        header=[header[k] + ", ours" * (f"{header[k]}, paper" in headings) for k in kept],
        numbers=[k >= len(labels) for k in kept],
        groups={title: those for title, those in groups.items() if those},
        notes=[*_notes(columns, rows, labels, names)],
        has_numbers=_has_numbers(rows, measures),
        id=section.id or plain(rows[0].get(section.by)),
    )


def _label(row: TableRow, name: str, column: Column, names: Names) -> str:
    if column.row_of:
        text = row_name(names, catalogue()[row[column.row_of]].paper_row, row[name])
    else:
        text = join_names(names, row, (name, *column.join)) or plain(row.get(name))
    return text + ("\u00a0†" if row.get(column.mark) == 1 else "")


def _headings(name: str, column: Column, before: str) -> list[str]:
    label = before + (column.label or name.replace("_", " "))
    paper = f"{before}paper" if column.paper else f"{label}, paper"
    more = [f"{before}difference", f"{before}our 95% interval"] if column.full else []
    return [paper, label, *more]


def _cells(name: str, column: Column, row: TableRow) -> list[ShownCell]:
    """The cells of a number: the paper's, ours, and in `full` their difference and our interval."""
    measure = Measure(name)
    printed = plain(row.get(column.paper or measure.published))
    value, low, high = (float(plain(row.get(end)) or "nan") for end in measure.interval)
    if column.star:
        return [
            ShownCell("*" if text == "1" else "", text) if text else NONE
            for text in (printed, plain(row.get(name)))
        ]
    digits = column.digits
    if isinstance(digits, str):
        digits = len(printed.partition(".")[2])
    text = "< 0.001" if column.p and value < 0.001 else _fixed(value, digits)
    gap = value - float(printed or "nan")
    ends = f"{_fixed(low, digits)} to {_fixed(high, digits)}"
    cells = [
        ShownCell(printed, printed),
        ShownCell(text, repr(value), agreement_with_paper(value, printed, low, high)),
        ShownCell(_fixed(gap, digits, "+"), repr(gap)),
        ShownCell(ends, repr(low)),
    ]
    values = (printed and 0.0, value, gap, low + high)
    cells = [NONE if of == "" or of != of else cell for cell, of in zip(cells, values, strict=True)]
    return cells if column.full else cells[:2]


def _fixed(value: float, digits: int | None, sign: str = "") -> str:
    """So many digits after the point; what is 0 then has no sign."""
    text = f"{value:{sign}z.{digits or 0}f}"
    return text if float(text) else text.lstrip("+")


def _group(section: Section, rows: Sequence[TableRow]) -> str:
    """The line below which these rows stand: the first of its section that they fit."""
    papers = [plain(row[of.published]) for row in rows for of in published_measures(row)]
    for group in section.rows or (PAPER_FIRST if papers else ()):
        if group.printed in (None, any(papers)) and _fits(rows[0], group.where):
            return group.title
    return ""


def _notes(
    columns: Mapping[str, Column],
    rows: Sequence[TableRow],
    labels: Mapping[str, Column],
    names: Names,
) -> Iterator[str]:
    """What marks mean that stand in these rows, and why rows have no number of ours."""
    if any(row.get(column.mark) == 1 for column in columns.values() for row in rows):
        yield "† sees human references of the outputs that it rates"
    reasons: dict[str, list[str]] = {}
    for row, label in zip(rows, _row_labels(rows, labels, names), strict=True):
        for word in plain(row.get("reason")).split():
            reasons.setdefault(word, []).append(label)
    for word, those in reasons.items():
        which = (
            f"{len(those)} values: " if len(those) > FEW else f"{'; '.join(dict.fromkeys(those))}: "
        )
        reason = names["reason"].get(word, word)
        yield f"– {which if len(those) < len(rows) else ''}{reason}"
    if EXPLANATION in columns:
        words_used = dict.fromkeys(plain(row.get(EXPLANATION)) for row in rows)
        yield from (f"{word}: {names['why'][word]}" for word in words_used if word in names["why"])


def _row_labels(rows: Sequence[TableRow], labels: Mapping[str, Column], names: Names) -> list[str]:
    """What each row is called, by as few of the first columns of names as tell all rows apart."""
    parts = [[_label(row, *label, names) for label in labels.items()] for row in rows]
    for number in range(1, len(labels)):
        short = [", ".join(filter(None, part[:number])) for part in parts]
        if len(set(short)) == len(rows):
            return short
    return [", ".join(filter(None, part)) for part in parts]


def markdown(part: Part) -> str:
    """The grid for GitHub, with its heading and what has to be said under it."""
    lines = [part.header, ["--:" if number else "---" for number in part.numbers]]
    for title, rows in part.groups.items():
        lines += [[f"**{title}**", *[""] * (len(part.header) - 1)]] if title else []
        lines += [[re.sub(r"([|*])", r"\\\1", _with_mark(cell)) for cell in row] for row in rows]
    grid = "\n".join(f"| {' | '.join(line)} |" for line in lines if part.header)
    notes = [note.replace("*", "\\*") for note in part.notes]
    return "\n\n".join(filter(None, [f"## {part.title}" * bool(part.title), grid, *notes]))


def _with_mark(cell: ShownCell) -> str:
    return f"{cell.text} {MARKS.get(cell.verdict, '')}".rstrip()


def marks_of(parts: Iterable[Part]) -> dict[str, str]:
    """Those of `MARKS` that stand in the cells of these grids, by what they mean."""
    there = {cell.verdict for part in parts for cell in part.cells}
    return {verdict: mark for verdict, mark in MARKS.items() if verdict in there}


def about_marks(parts: Iterable[Part]) -> str:
    """What the marks in these grids say, in a line; empty without any."""
    marks = [f"{mark} {VERDICTS[verdict]}." for verdict, mark in marks_of(parts).items()]
    return " ".join([*marks, UNMARKED]) if marks else ""


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
        "marks": MARKS,
        "unmarked": UNMARKED,
        "style": Markup((FOLDER / "style.css").read_text(encoding="utf-8")),
        "script": Markup((FOLDER / "table.js").read_text(encoding="utf-8")),
    }
    environment.filters["marked"] = _marked
    return environment.get_template("report.html").render(values)


def _marked(text: str) -> Markup:
    """What is `code` in Markdown is so here."""
    return Markup(re.sub(r"`(\w[^`]*)`", r"<code>\1</code>", str(escape(text))))
