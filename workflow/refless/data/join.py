"""More columns of a user's rows, from another file. Stage: ratings."""

import json
from collections.abc import Mapping
from typing import Any

from refless.data.rows import File, check
from refless.errors import FormatError


def join(file: File, more: File, key: str) -> None:
    """Add the columns of another file to rows that have the same value in the column ``key``; those
    that are there already stay. Raises FormatError: a file has no such column, the other has a
    value twice, or no row of it belongs to one of these."""
    for each in (file, more):
        if each.names.count(key) != 1:
            headers = ", ".join(each.names)
            message = f"has no column {key!r}, or two; the columns are: {headers}"
            raise FormatError(message, path=each.path, remedy="name another one by --on")
    names = [name for name in more.names if name not in file.names]
    added: dict[str, Mapping[str, Any]] = {}
    for line, row in zip(more.lines, map(_named(more), more.rows), strict=True):
        value = _text(row.get(key))
        if value in added:
            more.fault(line, key, "are there more than once", value)
        added[value] = row
    check([more])
    rows = list(map(_named(file), file.rows))
    if not any(_text(row.get(key)) in added for row in rows):
        message = f"no row has a {key} that {file.path} has"
        raise FormatError(message, path=more.path, remedy="compare the two columns")
    parts = [_part(added.get(_text(row.get(key)), {}), names) for row in rows]
    file.rows = [
        row | part if isinstance(row, dict) else [*row, *map(_field, part.values())]
        for row, part in zip(file.rows, parts, strict=True)
    ]
    file.names = [*file.names, *names]


def _named(file: File) -> Any:
    return lambda row: row if isinstance(row, dict) else dict(zip(file.names, row, strict=True))


def _part(row: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: row.get(name) for name in names}


def _field(value: Any) -> Any:
    """Of a table, where lists are JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
