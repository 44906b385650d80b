"""Tab-separated files that users hand in: one line a row, with errors that name the line.

Quotes: some tools wrap a field in double quotes, others write the text as it is, and a text may
begin with a quote of its own. A file is taken as quoted only if every field that begins with a
quote is a whole quoted field; then the quotes are removed. Otherwise every character counts.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from refless.errors import FormatError

_QUOTED = re.compile(r'"(?:[^"]|"")*"')


@dataclass
class Table:
    """A file as it is: ``lines`` without the header, ``columns`` with values by name."""

    path: str
    header: str
    lines: list[str]
    columns: dict[str, list[str]]

    def numbers(self, name: str) -> list[float]:
        """One column as finite numbers; FormatError names the first line that is not one."""
        values = []
        for line, field in enumerate(self.columns[name], start=2):
            try:
                value = float(field)
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                raise FormatError(
                    f"{name} is {field!r}, which is not a finite number",
                    path=self.path,
                    line=line,
                    remedy="mend or remove this row",
                )
            values.append(value)
        return values


def read_tsv(path: str, required: list[str]) -> Table:
    """Read a TSV file with a header, UTF-8; ``-`` is standard input.

    Raises
    ------
    FormatError : the file is missing, is not UTF-8, has no header, lacks a required column, has
        a column twice, or a row has more or fewer fields than the header (the message names the
        line).
    """
    name = "standard input" if path == "-" else path
    try:
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=name) from error
    try:
        content = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise FormatError(
            "is not UTF-8", path=name, line=line, remedy="convert it: iconv -t UTF-8"
        ) from error
    # Only line feeds end a row: a text may hold any other character that Unicode calls a break.
    lines = content.replace("\r\n", "\n").split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    if not lines:
        raise FormatError("is empty", path=name, remedy=f"give a header with {required}")
    rows = [line.split("\t") for line in lines]
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise FormatError(
                f"{len(row)} fields where the header has {len(rows[0])}",
                path=name,
                line=line,
                remedy="a text must not contain tabs or line breaks; replace them by blanks",
            )
    opening = [field for row in rows for field in row if field.startswith('"')]
    if opening and all(_QUOTED.fullmatch(field) for field in opening):
        rows = [[_unquote(field) for field in row] for row in rows]
    header = rows[0]
    missing = [column for column in required if column not in header]
    if missing:
        raise FormatError(
            f"column {missing[0]!r} is missing (found: {', '.join(header)})",
            path=name,
            line=1,
            remedy="name the columns in the first line, separated by tabs",
        )
    if len(set(header)) != len(header):
        raise FormatError("a column's name stands there twice", path=name, line=1)
    columns = {column: [row[i] for row in rows[1:]] for i, column in enumerate(header)}
    return Table(name, lines[0], lines[1:], columns)


def _unquote(field: str) -> str:
    return field[1:-1].replace('""', '"') if field.startswith('"') else field
