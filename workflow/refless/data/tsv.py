"""Tab-separated files that users hand in: one line a row, with errors that name the line.

Quotes: some tools wrap fields in double quotes, others write the text as it is, and a text may
begin with a quote of its own. A file is taken as quoted if at least half of the fields of a column
are wholly quoted; or if there are fields such as ``"so ""be"" it"``, and no fewer than fields whose
quote is not closed. Then quotes are removed, and one that is not closed is an error. In any other
file every character counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from refless.data.sources._reading import header, lines, shorten
from refless.errors import FormatError

REMEDY = (
    "mend the file: UTF-8, the columns' names in the first line, tabs between fields; where a text"
    " has tabs or line breaks, write CSV or JSON Lines instead"
)

_QUOTED = re.compile(r'"(?:[^"]|"")*"')


@dataclass
class Table:
    """A file as it is: ``lines`` without the header, ``columns`` with values by name."""

    header: str
    lines: list[str]
    columns: dict[str, list[str]]


def table_of(text: str, name: str, required: Sequence[str]) -> Table:
    """The table of a text with a header; ``name`` is the file's, for errors.

    Raises
    ------
    FormatError : no header, a required column is missing, a column stands there twice, a quote is
        not closed, or a row has more or fewer fields than the header (the message names the line).
    """
    plain = [line.removesuffix("\n") for line in lines(text.replace("\r\n", "\n"))]
    rows = [(number, line.split("\t")) for number, line in enumerate(plain, start=1)]
    if _quoted(rows):
        for number, row in rows:
            for field in row:
                if field.startswith('"') and not _QUOTED.fullmatch(field):
                    raise FormatError(
                        f"{shorten(field)} begins with a quote that is not closed, while other"
                        " fields are quoted",
                        path=name,
                        line=number,
                        remedy='close it; a quote of the text itself is written twice: """so"" it"',
                    )
        rows = [(number, [_unquote(field) for field in row]) for number, row in rows]
    if plain and "\r" in plain[0]:
        raise FormatError(
            "has lines that end in a carriage return alone",
            path=name,
            line=1,
            remedy=f"write it with other line ends: tr '\\r' '\\n' < {quote(name)} > new.tsv",
        )
    place = header(rows, required, name, "a table of texts")
    width = len(rows[0][1])
    for number, row in rows:
        if row == [""] and width > 1:
            raise FormatError("is an empty line", path=name, line=number, remedy="take it out")
        if len(row) != width:
            message = f"{len(row)} fields where the header has {width}"
            raise FormatError(message, path=name, line=number)
    columns = {column: [row[k] for _, row in rows[1:]] for column, k in place.items()}
    return Table(plain[0], plain[1:], columns)


def _quoted(rows: list[tuple[int, list[str]]]) -> bool:
    whole: Counter[int] = Counter()  # by column
    doubled = unclosed = 0
    body = rows[1:] or rows
    for _, row in body:
        for column, field in enumerate(row):
            if field.startswith('"'):
                if _QUOTED.fullmatch(field):
                    whole[column] += 1
                    doubled += '""' in field[1:-1]
                else:
                    unclosed += 1
    return 2 * max(whole.values(), default=0) >= len(body) or 0 < doubled >= unclosed


def _unquote(field: str) -> str:
    return field[1:-1].replace('""', '"') if field.startswith('"') else field
