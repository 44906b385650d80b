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

from refless.data.sources._reading import decode, header, lines, read_bytes, remedied
from refless.errors import FormatError

REMEDY = (
    "mend the file: UTF-8, the columns' names in the first line, tabs between fields and none in a"
    " text"
)

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
    with remedied(REMEDY):
        raw = sys.stdin.buffer.read() if path == "-" else read_bytes(path)
        text = decode(raw, name).replace("\r\n", "\n")
        plain = [line.removesuffix("\n") for line in lines(text)]
        rows = [(number, line.split("\t")) for number, line in enumerate(plain, start=1)]
        opening = [field for _, row in rows for field in row if field.startswith('"')]
        if all(_QUOTED.fullmatch(field) for field in opening):
            rows = [(number, [_unquote(field) for field in row]) for number, row in rows]
        place = header(rows, required, name, "a table of texts")
        width = len(rows[0][1])
        for number, row in rows:
            if len(row) != width:
                message = f"{len(row)} fields where the header has {width}"
                raise FormatError(message, path=name, line=number)
    columns = {column: [row[k] for _, row in rows[1:]] for column, k in place.items()}
    return Table(name, plain[0], plain[1:], columns)


def _unquote(field: str) -> str:
    return field[1:-1].replace('""', '"') if field.startswith('"') else field
