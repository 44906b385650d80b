"""From a table and its entry in the catalogue to CSV, Markdown and a record: one renderer.

Stage: table. In: a table by one of the experiments, the reasons of what is missing, facts of the
run. Out: ``<name>.csv`` for programs, ``<name>.md`` for people, and ``<name>.json``, by which
whoever reads the CSV knows that it is whole.
"""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from refless.availability import said
from refless.errors import FormatError
from refless.report.catalogue import Column, Entry, Section, catalogue
from refless.report.published import number, with_interval
from refless.store import inputs
from refless.store.beside import read_beside, write_beside
from refless.store.code import package_sum
from refless.store.files import write_text
from refless.store.tables import read_table, write_table

NOTES = " | "
"""Between two notes in one cell of the CSV. Nothing is split at it: in memory they are lists."""
DECISIVE = ("numpy", "scipy", "pandas", "numba")


def publish(
    name: str,
    table: pd.DataFrame,
    folder: str | Path,
    *,
    missing: Sequence[Mapping[str, Any]] = (),
    facts: Mapping[str, Any] | None = None,
    notes: Iterable[str] = (),
) -> None:
    """Write one table in all its forms.

    Parameters
    ----------
    name : its entry in the catalogue
    table : its columns ``source`` (empty where a row has no numbers) and ``note`` (a list of
        sentences; an empty one for none) are for all tables the same
    folder : where the files go
    missing : why results cannot be had, by `refless.availability.Plan.missing`; rows without
        numbers get the reasons that are about them
    facts : for the caption
    notes : lines of the Markdown's footer, e.g. signatures

    Raises
    ------
    FormatError : the entry names a column that the table has not, or one that all tables have is
        missing.
    OutputError : a file cannot be written.
    """
    entry = catalogue()[name]
    stem = Path(folder) / name
    # until every experiment names its columns so
    table = table.rename(columns={"provenance": "source"}).drop(columns="agreement", errors="ignore")
    _check(entry, table)
    table = join_reasons(table, missing, entry.match)
    caption = entry.caption.format(**(facts or {}))
    notes = list(dict.fromkeys(notes))
    written = table.assign(note=[NOTES.join(note) for note in table["note"]])
    sums = {
        f"{name}.csv": write_table(written, stem.with_suffix(".csv")),
        f"{name}.md": write_text(
            markdown_page(entry, table, caption, notes), stem.with_suffix(".md")
        ),
    }
    counts = table["source"].replace("", "not available").value_counts().sort_index()
    about = {
        "title": entry.title,
        "caption": caption,
        "rows": len(table),
        "source": {str(origin): int(n) for origin, n in counts.items()},
        "made_from": notes,
    }
    write_beside(stem.with_suffix(".json"), about, sums)
    read_record(stem.with_suffix(".csv"))  # another run may have written here meanwhile


def _check(entry: Entry, table: pd.DataFrame) -> None:
    """That what the entry shows is there: a misspelt column would be lost without a word."""
    asked = {"source", "note", *entry.match.values(), *entry.paper_row}
    for columns in (entry.columns, *(section.columns for section in entry.sections)):
        asked |= {name for name, column in columns.items() if not column.optional}
    for section in entry.sections:
        asked |= {*section.where, *section.first_of, *section.rest_of}
        asked |= {section.has, section.by, *section.pivot.get("rows", ())}
        asked |= {section.pivot.get(role, "") for role in ("columns", "value")}
    if lost := sorted(asked - {"", "reason", *map(str, table)}):
        raise FormatError(
            f"the table {entry.name} has no column {', '.join(lost)}",
            path=f"report/catalogue/ ({entry.name})",
            remedy="name one that the table's function returns, or let the function return it; it"
            f" returns {', '.join(map(str, table))}",
        )


def read_published(path: str | Path, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read the CSV of a table by `publish`, if it is the one that was written.

    Raises
    ------
    FormatError : a file is missing or broken, or a column is missing.
    StaleError : the CSV is not the one that was written.
    """
    read_record(path)
    return read_table(path, columns)


def read_record(path: str | Path) -> dict[str, Any]:
    """The record beside a CSV by `publish`, if the CSV is the one that was written.

    Raises
    ------
    FormatError, StaleError : as `read_published`.
    """
    path = Path(path)
    record = read_beside(path.with_suffix(".json"), path.name)
    inputs.require(record["inputs"], path)
    return record


def join_reasons(
    table: pd.DataFrame, missing: Sequence[Mapping[str, Any]], match: Mapping[str, str]
) -> pd.DataFrame:
    """The table with ``reason`` (codes), and the sentences in ``note`` of rows without numbers.

    A reason is about a row if every entry of its ``of`` that the table has a column for (by
    ``match``, else by its own name) stands in the row. A row that comes with a ``reason`` of its
    own, e.g. ``quoted``, keeps that.
    """
    table = table.reset_index(drop=True)
    notes = [_as_list(note) for note in table.get("note", [""] * len(table))]
    codes = list(table.get("reason", [""] * len(table)))
    for i, row in enumerate(table.to_dict("records")):
        if row["source"] or codes[i]:
            continue
        found = [one for one in missing if _is_about(one["of"], row, match)]
        codes[i] = " ".join(dict.fromkeys(one["code"] for one in found))
        why = dict.fromkeys(map(said, found))
        notes[i] = [*(f"not available: {sentence}" for sentence in why), *notes[i]]
        # what nobody said a reason of: a file that was made for fewer kernels than are asked for
        notes[i] = notes[i] or ["not available: the numbers at hand were made without it"]
    table["note"] = pd.Series(notes, dtype=object)
    if "reason" in table:
        return table.assign(reason=codes)
    table.insert(list(table.columns).index("note"), "reason", codes)
    return table


def _is_about(of: Mapping[str, str], row: Mapping[Any, Any], match: Mapping[str, str]) -> bool:
    asked = {match.get(role, role): value for role, value in of.items()}
    return all(row[column] == value for column, value in asked.items() if column in row)


def _as_list(note: Any) -> list[str]:
    if isinstance(note, str):
        return [note] if note else []
    return [] if note is None or note is pd.NA or isinstance(note, float) else list(note)


def markdown_page(entry: Entry, table: pd.DataFrame, caption: str, notes: Sequence[str]) -> str:
    """The Markdown of a table: heading, caption, sections, numbered reasons, footer."""
    reasons: dict[str, int] = {}
    parts = [f"# {entry.title}", caption]
    for section in entry.sections:
        parts += _section(section, table, entry.columns, reasons)
    if reasons:
        listed = "\n".join(f"{i}. {reason}" for reason, i in reasons.items())
        parts += ["## Reasons and notes", listed]
    parts.append("\n".join(f"- {note}" for note in [*notes, made_by()]))
    return "\n\n".join(filter(None, parts)) + "\n"


def made_by() -> str:
    """One line for a footer: code and packages; no time, machine or path, so bytes repeat."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in DECISIVE)
    return (
        f"Made by refless {importlib.metadata.version('refless')}, code {package_sum()[:12]},"
        f" Python {platform.python_version()}, {versions}; sums of the data, all settings, the"
        " machine: `results/run/provenance.json`."
    )


def grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A GitHub-flavoured table; a bar inside a cell is escaped."""
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join(" --- " for _ in header) + "|"]
    for row in rows:
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    return "\n".join(lines)


def _section(
    section: Section, table: pd.DataFrame, columns: Mapping[str, Column], reasons: dict[str, int]
) -> list[str]:
    rows = _rows(section, table)
    columns = section.columns or columns or _every_column(table)
    values = list(dict.fromkeys(rows[section.by])) if section.by else [None]
    parts = []
    for value in values:
        own = rows if value is None else rows[rows[section.by] == value]
        if own.empty:
            continue
        if section.title:
            parts.append(f"## {section.title.format(value=value)}")
        parts.append(section.text)
        draw = _pivot if section.pivot else _flat
        parts.append(draw(section, own, columns, reasons))
    return parts


def _every_column(table: pd.DataFrame) -> dict[str, Column]:
    """Of an entry that names none, since they are named by the configuration."""
    beside = ("reason", "note")
    return {
        str(name): Column()
        for name in table
        if name not in beside and not str(name).startswith("paper_")
    }


def _rows(section: Section, table: pd.DataFrame) -> pd.DataFrame:
    for column, wanted in section.where.items():
        values = wanted if isinstance(wanted, list) else [wanted]
        table = table[table[column].isin(values)]
    if section.has:
        table = table[table[section.has].notna() & (table[section.has].astype(str) != "")]
    if section.first_of:
        table = table[~table.duplicated(list(section.first_of))]
    if section.rest_of:
        table = table[table.duplicated(list(section.rest_of))]
    return table


def _flat(
    section: Section,
    table: pd.DataFrame,
    columns: Mapping[str, Column],
    reasons: dict[str, int],
) -> str:
    shown = {name: column for name, column in columns.items() if name in table}
    noted = any(map(bool, table["note"]))
    header = [column.label or name.replace("_", " ") for name, column in shown.items()]
    lines = []
    for record in table.to_dict("records"):
        row = {str(name): value for name, value in record.items()}
        cells = [cell(row, name, column) for name, column in shown.items()]
        lines.append([*cells, _numbers(row["note"], reasons)] if noted else cells)
    return grid([*header, "note"] if noted else header, lines)


def _pivot(
    section: Section,
    table: pd.DataFrame,
    columns: Mapping[str, Column],
    reasons: dict[str, int],
) -> str:
    names, across = list(section.pivot["rows"]), section.pivot["columns"]
    value = section.pivot["value"]
    heads = list(dict.fromkeys(table[across]))
    lines = []
    for _, own in table.groupby(names, sort=False, dropna=False):
        first = {str(name): item for name, item in own.iloc[0].items()}
        line = [cell(first, name, columns.get(name, Column())) for name in names]
        by_head = {row[across]: row for row in own.to_dict("records")}
        for head in heads:
            row = {str(name): item for name, item in by_head.get(head, {}).items()}
            text = cell(row, value, columns.get(value, Column(digits=3))) if row else ""
            marks = _numbers(row["note"], reasons) if row else ""
            line.append(f"{text} ({marks})" if marks else text)
        lines.append(line)
    titles = [columns.get(name, Column()).label or name.replace("_", " ") for name in names]
    return grid([*titles, *map(str, heads)], lines)


def _numbers(notes: Sequence[str], reasons: dict[str, int]) -> str:
    return ", ".join(str(reasons.setdefault(note, len(reasons) + 1)) for note in notes)


def cell(row: Mapping[str, Any], name: str, column: Column) -> str:
    """One cell: ours with its interval, a star, the published value in square brackets."""
    value = row.get(name)
    if column.digits is None:
        empty = value is None or value is pd.NA or value != value or value == ""
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # whole numbers beside empty cells
        text = "" if empty else f"`{value}`" if column.code else str(value)
    else:
        full = with_interval(row, name, column.digits, column.interval)
        text = number(value, column.digits) if column.bare else full
        star = row.get(column.star)
        if text != "–" and star is not None and star is not pd.NA and star == 1:
            plain = number(value, column.digits)
            text = text.replace(plain, f"{plain}*", 1)
    if column.of and text:
        text += f" of {row[column.of]}"
    paper = "" if column.bare else row.get(f"paper_{name}", "")
    return f"{text} [{paper}]" if paper not in ("", None) and paper == paper else text
