"""Rows of users' own files: TSV, CSV, JSON Lines, a JSON array, one text a line; also gzipped.

Stage: ratings. In: paths. Out: rows with their lines, and what is wrong with them.
"""

import csv
import gzip
import hashlib
import io
import json
import sys
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import Path
from typing import Any

from refless.errors import FormatError

FORMATS = ("tsv", "csv", "jsonl", "lines")
ENDINGS = {".tsv": "tsv", ".csv": "csv", ".txt": "lines", ".lines": "lines"}
ENDINGS |= dict.fromkeys([".jsonl", ".ndjson", ".json"], "jsonl")
OTHERS = {
    b"PK\x03\x04": ("a zip archive or an Excel file", "unpack it, or save it as CSV (UTF-8)"),
    b"\xd0\xcf\x11\xe0": ("an Excel file", "save it as CSV (UTF-8)"),
    b"PAR1": ("a Parquet file", "write it as CSV or JSON Lines"),
}

Rows = list[tuple[int, Any]]  # on which line each begins, and its fields or its JSON value


@dataclass
class File:
    """A file as it was read: ``format``, of `FORMATS`; ``sum``, SHA-256 of its bytes; ``names`` of
    columns, or all keys of JSON; ``rows``, lists of fields or JSON objects, and the lines on which
    they begin (of an array their numbers); the ``columns`` that `refless.data.own` read."""

    path: str
    format: str
    sum: str
    names: list[str]
    rows: list[Any]
    lines: list[int]
    columns: dict[str, list[Any]] = field(default_factory=dict)


class Faults:
    """What is wrong with rows: by file, column and kind, the lines and some examples."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str, str], tuple[list[int], dict[str, None]]] = {}
        self.rows: dict[str, int] = {}  # path -> number of rows

    def add(self, path: str, line: int, column: str, what: str, value: Any = None) -> None:
        """One more row; ``what`` completes "2 of 10 ..."."""
        lines, examples = self.found.setdefault((path, column, what), ([], {}))
        lines.append(line)
        if value is not None and len(examples) < 3:
            examples[shorten(value)] = None

    def check(self) -> None:
        """FormatError with a line for each fault, if there is any."""
        said = []
        for (path, column, what), (lines, examples) in self.found.items():
            seen = f" ({', '.join(examples)})" if examples else ""
            what, colon, remedy = what.partition(": ")
            told = f"{column}: {len(lines):,} of {self.rows[path]:,} {what}{seen}{colon}{remedy}"
            said.append((path, lines[0], told))
        if said:
            path, line, first = said[0]
            more = "".join(f"\n  {where}:{at}: {told}" for where, at, told in said[1:])
            remedy = "mend these rows, or take them out"
            raise FormatError(first + more, path=path, line=line, remedy=remedy)


def shorten(value: Any) -> str:
    """A value quoted for a message, cut to 40 characters."""
    text = value if isinstance(value, str) else json.dumps(value)
    return repr(text if len(text) <= 40 else text[:37] + "...")


def files_of(paths: Iterable[str | Path]) -> list[Path]:
    """The files, each once; of a folder, those whose endings tell a table, but for hidden ones."""
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.is_dir():
            found.append(path)
            continue
        inside = [own for own in sorted(path.iterdir()) if own.name[0] != "."]
        tables = [own for own in inside if _format(own) not in ("", "lines")]
        if not tables:
            message = "the folder has no file that ends in .tsv, .csv, .jsonl, .ndjson or .json"
            raise FormatError(message, path=path, remedy="name the files one by one")
        found += tables
    return list(dict.fromkeys(found))


def _format(path: Path) -> str:
    """What a file's ending tells; nothing if it is another."""
    name = path.stem if path.suffix.lower() == ".gz" else path.name
    return ENDINGS.get(Path(name).suffix.lower(), "")


def read_file(path: str | Path, format: str, faults: Faults) -> File:
    """The rows of a file, ``-`` for standard input; without a format its ending decides, else it is
    TSV."""
    name = "standard input" if str(path) == "-" else str(path)
    text, digest = _content(path, name)
    format = format or _format(Path(path)) or "tsv"
    rows, names, objects = _rows(text, format, name), [], format == "jsonl"
    if rows and not objects:
        names = rows.pop(0)[1]
    faults.rows[name] = len(rows)
    good: Rows = []
    for line, row in rows:
        if objects and not isinstance(row, dict):
            faults.add(name, line, "row", "are no JSON objects", row)
        elif not objects and len(row) != len(names):
            what = f"rows have not {len(names)} fields, as the header has"
            if format == "tsv":
                what += ": where texts have tabs or line breaks, write CSV or JSON Lines"
            faults.add(name, line, "row", what, f"{len(row)} fields")
        else:
            good.append((line, row))
    if objects:
        names = list(dict.fromkeys(key for _, row in good for key in row))
    if not names:
        faults.check()
        raise FormatError("has no rows", path=name, remedy="give it texts, one a row")
    return File(name, format, digest, names, [row for _, row in good], [line for line, _ in good])


def _content(path: str | Path, name: str) -> tuple[str, str]:
    """The text of a file, and its sum."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError, zlib.error) as error:
        message = f"cannot be read: {getattr(error, 'strerror', '') or error}"
        remedy = "look at its name and its folder"
        raise FormatError(message, path=name, remedy=remedy) from error
    for begin, (what, remedy) in OTHERS.items():
        if data.startswith(begin):
            raise FormatError(f"is {what}", path=name, remedy=remedy)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {data[error.start]:#04x} is not UTF-8 text"
        raise FormatError(message, path=name, line=line, remedy="save it as UTF-8") from error
    return text if "\n" in text else text.replace("\r", "\n"), digest


def _rows(text: str, format: str, path: str) -> Rows:
    """Each row with its line, the header of a table first."""
    lines = list(enumerate(text.removesuffix("\n").split("\n"), 1))
    if format == "csv":
        return _filled(_csv_rows(text, path))
    if format == "tsv":
        return _filled(_tsv_rows(lines))
    if format == "lines":
        return [(0, ["text"]), *((number, [line]) for number, line in lines if text)]
    if not text.lstrip().startswith("["):
        return [(number, _value(line)) for number, line in lines if line.strip()]
    try:
        return list(enumerate(json.loads(text), 1))
    except (ValueError, RecursionError) as error:
        line, message = getattr(error, "lineno", None), f"is no JSON: {error}"
        raise FormatError(message, path=path, line=line, remedy="mend it") from error


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def _csv_rows(text: str, path: str) -> Rows:
    csv.field_size_limit(sys.maxsize)
    parsed, start = csv.reader(io.StringIO(text, newline="\n"), strict=True), 1
    rows: Rows = []
    try:
        for fields in parsed:
            rows.append((start, fields))
            start = parsed.line_num + 1
    except csv.Error as error:
        remedy = "mend it: a quote is left open, or stands once in a text, or the file is cut"
        message = f"cannot be read as CSV from here on: {error}"
        raise FormatError(message, path=path, line=start, remedy=remedy) from error
    return rows


def _tsv_rows(lines: list[tuple[int, str]]) -> Rows:
    """A line a row; quotes are characters, unless all of them enclose fields without tabs."""
    csv.field_size_limit(sys.maxsize)
    raw = [(number, line.split("\t") if line else []) for number, line in lines]
    try:
        rows = [(n, next(csv.reader([line], delimiter="\t", strict=True))) for n, line in lines]
    except csv.Error:
        return raw
    tabs = any("\t" in field for _, fields in rows for field in fields)
    return raw if tabs else rows


def _filled(rows: Rows) -> Rows:
    """Without blank lines; but in one column, one that is not the last is an empty text."""
    rows = list(dropwhile(lambda row: not row[1], rows))
    if rows and len(rows[0][1]) == 1:
        rows = [(line, fields or [""]) for line, fields in rows[:-1]] + rows[-1:]
    return [(line, fields) for line, fields in rows if fields]
