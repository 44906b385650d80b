"""Rows of users' own files and tables: TSV, CSV, JSON Lines, a JSON array, one text a line.

Stage: ratings. In: paths and tables (others: `refless.data.frames`). Out: rows with their lines,
and what is wrong with them.
"""

import csv
import io
import json
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import dropwhile
from os.path import isdir
from pathlib import Path
from typing import Any

from refless.data.frames import (
    BINARY_ENDINGS,
    TABLE,
    binary_format,
    cells_of_excel,
    is_path,
    rows_of_arrow,
    rows_of_table,
)
from refless.data.packed import PACKED_ENDINGS, read_content
from refless.errors import FormatError

_log = logging.getLogger(__name__)

FORMATS = ("tsv", "csv", "jsonl", "lines")
_ENDINGS = {".tsv": "tsv", ".csv": "csv", ".txt": "lines", ".lines": "lines"}
_ENDINGS |= dict.fromkeys([".jsonl", ".ndjson", ".json"], "jsonl")
_SEPARATOR = re.compile(r'"?sep=(.)"?[;,\t]*\n', re.IGNORECASE)
"""The first line by which Excel knows what stands between fields."""

_NumberedRows = list[tuple[int, Any]]  # on which line each begins, and its fields or its JSON value


@dataclass
class File:
    """A user's file as it was read.

    format : one of `FORMATS`
    names : of its columns; of JSON, all keys
    size : its number of rows
    rows : the good ones, as lists of fields or JSON objects
    lines : on which these begin; of a JSON array, their numbers
    columns, by_rater : read by `refless.data.user_ratings`; the latter are one rater's ratings each
    faults : (column, kind of fault) -> the lines, and some examples
    """

    path: str
    format: str
    names: list[str] = field(default_factory=list)
    size: int = 0
    rows: list[Any] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)
    by_rater: dict[str, list[float]] = field(default_factory=dict)
    faults: dict[tuple[str, str], tuple[list[int], list[str]]] = field(default_factory=dict)

    @property
    def headers(self) -> list[str]:
        """The names without blanks around them, as users know columns."""
        return [name.strip() for name in self.names]

    def values(self, place: int) -> list[Any]:
        """What the rows have in the column at a place, from 0; None where a row has not got it."""
        name = self.names[place]
        return [row.get(name) if isinstance(row, dict) else row[place] for row in self.rows]

    def fault(self, line: int, column: str, kind: str, value: Any = None) -> None:
        """One more bad row; ``kind`` completes "2 of 10 ..."."""
        lines, examples = self.faults.setdefault((column, kind), ([], []))
        lines.append(line)
        if value is not None and len(examples) < 3 and shorten(value) not in examples:
            examples.append(shorten(value))


def check(files: Iterable[File]) -> None:
    """Raise FormatError with a line for each fault of the files, if there is any."""
    messages = []
    for file in files:
        for (column, kind), (lines, examples) in file.faults.items():
            fault, colon, remedy = kind.partition(": ")
            if examples:
                fault += f" ({', '.join(examples)})"
            message = f"{column}: {len(lines):,} of {file.size:,} {fault}{colon}{remedy}"
            messages.append((file.path, lines[0], message))
    if messages:
        path, line, first = messages[0]
        more = "".join(f"\n  {file}:{row}: {message}" for file, row, message in messages[1:])
        remedy = "mend these rows, or take them out"
        raise FormatError(first + more, path=path, line=line, remedy=remedy)


def shorten(value: Any) -> str:
    """A value quoted for a message, cut to 40 characters."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return repr(text if len(text) <= 40 else text[:37] + "...")


def files_of(paths: Iterable[Any]) -> list[Any]:
    """The files, each once; of a folder, those whose endings tell a table, and a warning with the
    names of the others, but for hidden ones. What is no path stays."""
    files: dict[Any, Any] = {}
    for table_or_path in paths:
        if not is_path(table_or_path):
            files[id(table_or_path)] = table_or_path
            continue
        path = Path(table_or_path)
        inside = sorted(path.glob("[!.]*")) if isdir(path) else [path]
        tables = [file for file in inside if file == path or is_table(file)]
        if not tables:
            message = "the folder has no file that ends in .tsv, .csv, .jsonl, .ndjson, .json,"
            message += " .parquet, .feather or .xlsx"
            raise FormatError(message, path=path, remedy="name the files one by one")
        if others := [file.name for file in inside if file not in tables]:
            _log.warning("%s: not read: %s", path, ", ".join(others))
        files |= {file: file for file in tables}
    return list(files.values())


def is_table(path: str | Path) -> bool:
    """Whether a file in a folder is read, by its ending."""
    ending = _ending(path)
    return ending in BINARY_ENDINGS or _ENDINGS.get(ending, "lines") != "lines"


def _ending(path: str | Path) -> str:
    """A file's ending, of one that is packed that of what is in it."""
    name = Path(path)
    return (Path(name.stem) if name.suffix.lower() in PACKED_ENDINGS else name).suffix.lower()


def read_file(path: Any, format: str = "") -> File:
    """The rows of a file, ``-`` for standard input; without a format its ending decides, else it is
    TSV. Or of a table (`rows_of_table`), whose rows are numbered from 1. What was read stays."""
    if isinstance(path, File):
        return path
    if not is_path(path):
        return _file_of_rows(TABLE, *rows_of_table(path))
    name = "standard input" if str(path) == "-" else str(path)
    content = read_content(path, name)
    kind = binary_format(content)
    if kind in ("Parquet", "Feather"):
        return _file_of_rows(name, *rows_of_arrow(content, kind, name))
    if kind == "Excel":
        return _file_of_fields(File(name, "csv"), cells_of_excel(content, name))
    if (ending := _ending(path)) in BINARY_ENDINGS:
        message = f"ends in {ending}, and is no file of {BINARY_ENDINGS[ending]}"
        raise FormatError(message, path=name, remedy="look at what was downloaded or written")
    file = File(name, format or _ENDINGS.get(ending, "tsv"))
    return _file_of_fields(file, _rows(_text(content, name), file.format, name))


def _file_of_rows(path: str, names: list[str], rows: list[dict[str, Any]]) -> File:
    """A file of rows by column, numbered from 1."""
    return File(path, "jsonl", names, len(rows), rows, list(range(1, len(rows) + 1)))


def _file_of_fields(file: File, rows: _NumberedRows) -> File:
    """A file with its rows, the header of a table first. Raises FormatError: it has none."""
    fault = "are no JSON objects"
    if rows and file.format != "jsonl":
        file.names = rows.pop(0)[1]
        fault = f"rows have not {len(file.names)} fields, as the header has"
        if file.format == "tsv":
            fault += ": where texts have tabs or line breaks, write CSV or JSON Lines"
    file.size = len(rows)
    for line, row in rows:
        if isinstance(row, dict) or (file.names and len(row) == len(file.names)):
            file.rows.append(row)
            file.lines.append(line)
        else:
            file.fault(line, "row", fault, row if file.format == "jsonl" else f"{len(row)} fields")
    file.names = file.names or list(dict.fromkeys(key for row in file.rows for key in row))
    if not file.names:
        check([file])
        raise FormatError("has no rows", path=file.path, remedy="give it texts, one a row")
    return file


def _text(data: bytes, name: str) -> str:
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {data[error.start]:#04x} is not UTF-8 text"
        raise FormatError(message, path=name, line=line, remedy="save it as UTF-8") from error
    return text if "\n" in text else text.replace("\r", "\n")


def _rows(text: str, format: str, path: str) -> _NumberedRows:
    """Each row with its line, the header of a table first."""
    if format in ("tsv", "csv"):
        return _table(text, format, path)
    lines = list(enumerate(text.removesuffix("\n").split("\n"), 1))
    if format == "lines":
        return [(0, ["text"]), *((number, [line]) for number, line in lines if text)]
    if not text.lstrip().startswith("["):
        return [(number, _value(line)) for number, line in lines if line.strip()]
    try:
        return list(enumerate(json.loads(text), 1))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        message = f"is no JSON: {error}"
        raise FormatError(message, path=path, line=line, remedy="mend it") from error


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def _table(text: str, format: str, path: str) -> _NumberedRows:
    """Rows of a table without blank ones; but in one column, a blank line that is not the last is
    an empty text. In TSV quotes are characters, unless all of them enclose fields of one line
    without tabs."""
    csv.field_size_limit(2**31 - 1)  # of a C long on Windows
    delimiter = "," if format == "csv" else "\t"
    rows = _NumberedRows()
    first = 1
    if separator := _SEPARATOR.match(text):
        delimiter = separator[1]
        text = text[separator.end() :]
        first = 2
    start = first
    parsed = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter, strict=True)
    try:
        for fields in parsed:
            rows.append((start, fields))
            start = parsed.line_num + first
        unquoted = format == "tsv" and any({"\t", "\n"} & set("".join(row)) for _, row in rows)
    except csv.Error as error:
        unquoted = format == "tsv"
        if not unquoted:
            remedy = "mend it: a quote is left open, or stands once in a text, or the file is cut"
            message = f"cannot be read as CSV from here on: {error}"
            raise FormatError(message, path=path, line=start, remedy=remedy) from error
    if unquoted:
        lines = enumerate(text.removesuffix("\n").split("\n"), first)
        rows = [(number, line.split(delimiter) if line else []) for number, line in lines]
    rows = list(dropwhile(lambda row: not row[1], rows))
    if rows and len(rows[0][1]) == 1:
        rows = [(line, fields or [""]) for line, fields in rows[:-1]] + rows[-1:]
    return [(line, fields) for line, fields in rows if fields]
