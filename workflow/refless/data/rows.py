"""Rows of users' own files: TSV, CSV, JSON Lines, a JSON array, one text a line; also gzipped.

Stage: ratings. In: paths. Out: rows with their lines, and what is wrong with them.

Lines end at a line feed. A field of TSV has neither tabs nor line breaks; quotes around fields are
removed if no quote is left open, and some have doubled quotes inside or they are half as many as
the rows. In any other TSV a quote is a character.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from refless.errors import FormatError

ENDINGS = {".tsv": "tsv", ".csv": "csv", ".txt": "lines", ".lines": "lines"}
ENDINGS |= dict.fromkeys([".jsonl", ".ndjson", ".json"], "jsonl")
FORMATS = ("tsv", "csv", "jsonl", "lines")
_OTHERS = (
    (b"\xff\xfe|\xfe\xff", "is UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW"),
    (rb"PK\x03\x04(?=[\s\S]*xl/)|\xd0\xcf\x11\xe0", "is an Excel file", "save it as CSV (UTF-8)"),
    (rb"PK\x03\x04", "is a zip archive", "unpack it, and name the file that is in it"),
    (b"PAR1", "is a Parquet file", "write it as CSV or JSON Lines"),
    (rb"\s*\Z", "the file is empty", "name a file with rows"),
)
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_BETWEEN = re.compile(r"[\s,]*")


@dataclass
class File:
    """A file as it was read.

    names : of its columns; ``header`` and ``raw`` are the first line and the rows as written
    rows : the fields of each row, or its JSON object; ``lines``, on which each row starts
    columns : the values that `refless.data.own` read; ``bad`` are the rows in which one is missing
    total : number of rows, with those that cannot be read; ``sum``, SHA-256 of the file
    """

    path: str
    format: str
    array: bool = False
    names: list[str] = field(default_factory=list)
    header: Any = ""
    raw: list[Any] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)
    bad: set[int] = field(default_factory=set)
    total: int = 0
    sum: str = ""

    def cells(self, name: str) -> list[Any]:
        """A column as it is written."""
        if self.format == "jsonl":
            return [row.get(name) for row in self.rows]
        at = self.names.index(name)
        return [row[at] for row in self.rows]


class Faults:
    """What is wrong with rows: by file, column and kind, the lines and some examples."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str, str], tuple[File, list[int], dict[str, None]]] = {}

    def add(
        self, file: File, row: int, column: str, what: str, value: Any = None, line: int = 0
    ) -> None:
        """One more row, or line that is none; ``what`` completes "2 of 10 ..."."""
        file.bad.add(row)
        _, lines, examples = self.found.setdefault((file.path, column, what), (file, [], {}))
        lines.append(line or file.lines[row])
        if value is not None and len(examples) < 3:
            examples[shorten(value)] = None

    def check(self) -> None:
        """FormatError with a line for each fault, if there is any."""
        said = []
        for (path, column, what), (file, lines, examples) in self.found.items():
            seen = f" ({', '.join(examples)})" if examples else ""
            what, colon, remedy = what.partition(": ")
            told = f"{column}: {len(lines):,} of {file.total:,} {what}{seen}{colon}{remedy}"
            said.append((path, lines[0], told))
        if said:
            path, line, first = said[0]
            more = "".join(f"\n  {where}:{at}: {told}" for where, at, told in said[1:])
            remedy = "mend these rows, or take them out"
            raise FormatError(first + more, path=path, line=line, remedy=remedy)


def shorten(value: Any, limit: int = 40) -> str:
    """A value quoted for a message, cut to ``limit`` characters."""
    text = value if isinstance(value, str) else json.dumps(value)
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def files_of(paths: Iterable[str | Path]) -> list[Path]:
    """The files, each once; of a folder, those whose endings tell a table, but for hidden ones."""
    found: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        tables = [p for p in inside if p.name[0] != "." and _format(p, "lines") != "lines"]
        if path.is_dir() and not tables:
            message = "the folder has no file that ends in .tsv, .csv, .jsonl, .ndjson or .json"
            raise FormatError(message, path=path, remedy="name the files one by one")
        found += tables if path.is_dir() else [path]
    return list(dict.fromkeys(found))


def _format(path: Path, default: str) -> str:
    name = path.stem if path.suffix.lower() == ".gz" else path.name
    return ENDINGS.get(Path(name).suffix.lower(), default)


def read_file(path: str | Path, format: str, faults: Faults) -> File:
    """The rows of a file, ``-`` for standard input; without a format its ending decides, else it is
    TSV."""
    name = "standard input" if str(path) == "-" else str(path)
    if format not in ("", *FORMATS):
        known = f"give one of {', '.join(FORMATS)}"
        raise FormatError(f"unknown format {format!r}", path=name, remedy=known)
    file = File(name, format or _format(Path(path), "tsv"))
    text = _content(path, file)
    file.array = file.format == "jsonl" and text.lstrip()[:1] == "["
    for line, raw, fields in _records(file, text):
        if not file.names and file.format != "jsonl":
            file.header, file.names = raw, [one.strip() for one in fields]
            continue
        file.total += 1
        if file.format == "jsonl" and not isinstance(fields, dict):
            faults.add(file, -1, "row", "are no JSON objects", raw, line)
        elif file.format != "jsonl" and len(fields) != len(file.names):
            what = f"rows have not {len(file.names)} fields, as the header has"
            if file.format == "tsv":
                what += ": where texts have tabs or line breaks, write CSV or JSON Lines"
            faults.add(file, -1, "row", what, f"{len(fields)} fields", line)
        else:
            file.lines.append(line)
            file.raw.append(raw)
            file.rows.append(fields)
    if file.format == "jsonl":
        file.names = list(dict.fromkeys(key for row in file.rows for key in row))
    return file


def _content(path: str | Path, file: File) -> str:
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
        file.sum = hashlib.sha256(data).hexdigest()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError) as error:
        message = f"cannot be read: {getattr(error, 'strerror', '') or error}"
        remedy = "look at its name and its folder"
        raise FormatError(message, path=file.path, remedy=remedy) from error
    for begin, message, remedy in _OTHERS:
        if re.match(begin, data):
            raise FormatError(message, path=file.path, remedy=remedy)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {data[error.start]:#04x} is not UTF-8 text"
        raise FormatError(message, path=file.path, line=line, remedy="save it as UTF-8") from error
    return text if "\n" in text else text.replace("\r", "\n")


def _records(file: File, text: str) -> Iterator[tuple[int, Any, Any]]:
    """Line, record as it is written, and its fields, or the value that JSON has."""
    lines = text.removesuffix("\n").split("\n")
    if file.format == "lines":
        yield 0, "", ["text"]
        yield from ((number, line, [line]) for number, line in enumerate(lines, 1))
    elif file.format == "jsonl":
        read = _array(file, text) if file.array else _json_lines(lines)
        yield from ((number, value, value) for number, value in read)
    elif file.format == "csv":
        csv.field_size_limit(sys.maxsize)
        parsed, start = csv.reader(io.StringIO(text, newline="\n"), strict=True), 1
        try:
            for fields in parsed:
                if fields:
                    yield start, fields, fields
                start = parsed.line_num + 1
        except csv.Error as error:
            raise _broken(file, start, "CSV") from error
    else:
        rows = [line.split("\t") for line in lines]
        begun = [one for row in rows for one in row if one[:1] == '"']
        some = any('""' in one[1:-1] for one in begun) or 2 * len(begun) >= len(rows) - 1
        quoted = some and all(map(_QUOTED.fullmatch, begun))
        for number, (line, row) in enumerate(zip(lines, rows, strict=True), 1):
            if quoted:
                row = [f[1:-1].replace('""', '"') if f[:1] == '"' else f for f in row]
            if line or (len(rows[0]) == 1 and number < len(rows)):
                yield number, line, row


def _array(file: File, text: str) -> Iterator[tuple[int, Any]]:
    at, counted, number, decoder = text.index("[") + 1, 0, 1, json.JSONDecoder()
    while text[(at := _BETWEEN.match(text, at).end()) : at + 1] != "]":  # type: ignore[union-attr]
        number, counted = number + text.count("\n", counted, at), at
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise _broken(file, number, "JSON") from error
        yield number, value


def _json_lines(lines: list[str]) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, 1):
        value: Any = line
        with suppress(ValueError, RecursionError):
            value = json.loads(line)
        if line.strip():
            yield number, value


def _broken(file: File, line: int, kind: str) -> FormatError:
    message = f"cannot be read as {kind} from here on"
    remedy = "mend it: a quote is left open, or stands in a text once, or the file was cut short"
    return FormatError(message, path=file.path, line=line, remedy=remedy)
