"""Files that users hand in, in any of four formats, and the same file with columns added.

Stage: outside the workflow. In: TSV, CSV, JSON Lines, or plain lines. Out: columns with the line of
each row; errors are a `FormatError` with file, line and remedy. Quotes in TSV: see
`refless.data.tsv`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refless.data.sources._reading import (
    STANDARD_INPUT,
    decode,
    half_character,
    header,
    json_fault,
    json_value,
    lines,
    name_of,
    number_of,
    of_width,
    read_bytes,
    records,
    remedied,
    require_no_array,
    require_spelling,
    shorten,
    size_fault,
    text_fault,
)
from refless.data.tsv import REMEDY as TSV_REMEDY
from refless.data.tsv import table_of
from refless.errors import FormatError

ENDINGS = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".txt": "lines",
    ".lines": "lines",
}
FORMATS = ("tsv", "csv", "jsonl", "lines")
REMEDIES = {
    "tsv": TSV_REMEDY,
    "csv": "mend the file: UTF-8, the columns' names in the first line",
    "jsonl": 'mend the file: UTF-8, one object a line, such as {"text": "..."}',
    "lines": "mend the file: UTF-8, one text a line",
}


@dataclass
class Given:
    """A file as it was read.

    columns : values by name: strings, or in JSON Lines whatever stands there, None where a key
        is missing
    line_of : the line on which each row starts
    """

    path: str
    format: str
    columns: dict[str, list[Any]]
    line_of: list[int]
    _header: Any
    _rows: list[Any]

    def texts(self, name: str, full: bool = False) -> list[str]:
        """One column as texts; FormatError names the first line that has none.

        ``full`` : whether an empty text is none; an empty rated text would be nobody's neighbor,
        and count among the training texts all the same.
        """
        of = text_fault if full else half_character
        for line, value in zip(self.line_of, self.columns[name], strict=True):
            fault = "" if isinstance(value, str) else f"{shorten(str(value))} is no text"
            if fault or (fault := of(value)):
                raise FormatError(
                    f"{name}: {fault}", path=self.path, line=line, remedy="mend or remove the row"
                )
        return self.columns[name]

    def names(self, name: str, full: bool = True) -> list[str]:
        """One column as names (`name_of`); FormatError names the first line that has none.

        ``full`` : whether an empty one is none.
        """
        found = []
        for line, value in zip(self.line_of, self.columns[name], strict=True):
            try:
                found.append(name_of(value))
                fault = "" if found[-1] or not full else "is empty"
            except FormatError as error:
                fault = error.message
            if fault:
                raise FormatError(
                    f"{name}: {fault}", path=self.path, line=line, remedy="mend or remove the row"
                )
        return found

    def numbers(self, name: str, empty: bool = False) -> list[float]:
        """One column as finite numbers; FormatError names the first line that has none.

        ``empty`` : whether a line may have none at all: NaN.
        """
        values = []
        for line, field in zip(self.line_of, self.columns[name], strict=True):
            if empty and (field is None or (isinstance(field, str) and not field.strip())):
                values.append(math.nan)
                continue
            value = number_of(field)
            if not math.isfinite(value):
                raise FormatError(
                    f"{name} is {shorten(str(field))}, which is not a finite number",
                    path=self.path,
                    line=line,
                    remedy="write it like 3 or 0.25, or remove the row",
                )
            if fault := size_fault(value):
                raise FormatError(
                    f"{name} {fault}", path=self.path, line=line, remedy="mend or remove the row"
                )
            values.append(value)
        return values

    def free(self, *names: str) -> None:
        """Columns that are to be added must not be there; FormatError if one is."""
        clash = sorted(set(names) & set(self.columns))
        if clash and self.format != "lines":
            raise FormatError(
                f"already has a column {clash[0]!r}", path=self.path, remedy="rename it"
            )

    def with_columns(self, added: Mapping[str, Sequence[Any]]) -> str:
        """The file with further columns, in its own format; of plain lines, a TSV of these alone.

        None becomes an empty field, or null in JSON Lines; lists become JSON.

        Raises
        ------
        FormatError : it has such a column already.
        """
        self.free(*added)
        rows = list(zip(*added.values(), strict=True))
        if self.format == "jsonl":
            made = (
                json.dumps({**row, **dict(zip(added, more, strict=True))}, ensure_ascii=False)
                for row, more in zip(self._rows, rows, strict=True)
            )
            return "".join(f"{line}\n" for line in made)
        shown = [[_shown(value) for value in row] for row in rows]
        if self.format == "csv":
            buffer = io.StringIO()
            writer = csv.writer(buffer, lineterminator="\n")
            writer.writerow([*self._header, *added])
            writer.writerows([*row, *more] for row, more in zip(self._rows, shown, strict=True))
            return buffer.getvalue()
        before = [[line] for line in self._rows] if self.format == "tsv" else [[]] * len(shown)
        table = [[self._header, *added] if self.format == "tsv" else list(added)]
        table += [[*row, *more] for row, more in zip(before, shown, strict=True)]
        return "".join("\t".join(row) + "\n" for row in table)


def read_given(
    path: str, required: Sequence[str], format: str = "", optional: Sequence[str] = ()
) -> Given:
    """Read a file; ``-`` is standard input.

    Parameters
    ----------
    required : columns that must be there; plain lines are a column ``text``
    format : one of `FORMATS`; without it the ending decides, and TSV where it does not tell
    optional : further columns that are read

    Raises
    ------
    FormatError : the file is missing, not UTF-8, not of this format, or lacks a column; a column
        that is read is written otherwise.
    """
    given = _read(path, required, format)
    if given.format != "lines":
        require_spelling(given.columns, [*required, *optional], given.path)
    return given


def _read(path: str, required: Sequence[str], format: str) -> Given:
    format = format or ENDINGS.get(Path(path).suffix.lower(), "tsv")
    name = STANDARD_INPUT if path == "-" else path
    with remedied(REMEDIES[format]):
        raw = sys.stdin.buffer.read() if path == "-" else read_bytes(path)
        text = decode(raw, name).replace("\r\n", "\n")
        if format != "lines":
            require_no_array(text, name)
        if format == "tsv":
            table = table_of(text, name, required)
            numbers = list(range(2, len(table.lines) + 2))
            return Given(name, format, dict(table.columns), numbers, table.header, table.lines)
        if format == "csv":
            rows = records(text, name)
            position = header(rows, required, name, "a table of texts")
            first = rows[0][1]
            rows, problems = of_width(rows[1:], len(first), len(first), name, text)
            for problem in problems[:1]:
                raise FormatError(problem.message, path=name, line=problem.line)
            fields = [values for _, values in rows]
            values = {column: [row[k] for row in fields] for column, k in position.items()}
            return Given(name, format, values, [line for line, _ in rows], first, fields)
        if format == "jsonl":
            return _json_lines(text, name, required)
        texts = [line.removesuffix("\n") for line in lines(text)]
        lacking = [column for column in required if column != "text"]
        if lacking:
            raise FormatError(
                f"plain lines have no column {lacking[0]!r}",
                path=name,
                remedy="if it is a table, let its name end in .tsv or .csv, or give its format",
            )
        return Given(name, format, {"text": texts}, list(range(1, len(texts) + 1)), "", texts)


def _json_lines(text: str, name: str, required: Sequence[str]) -> Given:
    rows: list[dict[str, Any]] = []
    line_of = []
    for number, line in enumerate(lines(text), start=1):
        if not line.strip():
            continue
        try:
            row = json_value(line)
        except (ValueError, RecursionError) as error:
            what = json_fault(error)
            raise FormatError(f"cannot be read as JSON: {what}", path=name, line=number) from error
        if not isinstance(row, dict):
            raise FormatError("is no JSON object", path=name, line=number)
        for column in required:
            if column not in row:
                raise FormatError(f"has no key {column!r}", path=name, line=number)
        rows.append(row)
        line_of.append(number)
    names = dict.fromkeys(column for row in rows for column in row)
    columns = {column: [row.get(column) for row in rows] for column in names}
    return Given(name, "jsonl", columns or {c: [] for c in required}, line_of, "", rows)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return repr(value) if isinstance(value, float) else str(value)
