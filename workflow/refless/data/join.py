"""More columns of a user's rows, from another file. Stage: ratings."""

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from refless.data.rows import File, check
from refless.errors import FormatError, SettingError

Join = tuple[str | Path, str | Sequence[str]]
"""A file with more columns, and the columns, or one, that say which rows belong together."""


def keys_of(join: Join | None) -> list[str]:
    """The columns that say which rows belong together. Raises SettingError: there are none."""
    if join is None:
        return []
    if not join[1]:
        raise SettingError("no column to join by", remedy="name one by --on")
    return [join[1]] if isinstance(join[1], str) else list(join[1])


def join_columns(file: File, more: File, keys: Sequence[str]) -> None:
    """Add the columns of another file to rows that have the same values in the columns ``keys``, of
    which none is empty; columns that are there already stay. Raises FormatError: a file has no such
    column, the other has values twice, or no row of it belongs to one of these."""
    for each, key in product((file, more), keys):
        if each.names.count(key) != 1:
            message = f"has no column {key!r}, or two; the columns are: {', '.join(each.names)}"
            raise FormatError(message, path=each.path, remedy="name another one by --on")
    names = [name for name in more.names if name not in file.names]
    added: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for line, row in zip(more.lines, map(_named(more), more.rows), strict=True):
        values = _values(row, keys)
        if values in added:
            more.fault(line, ", ".join(keys), "are there more than once", ", ".join(values))
        if all(values):
            added[values] = row
    check([more])
    file_keys = [_values(row, keys) for row in map(_named(file), file.rows)]
    if file_keys and added.keys().isdisjoint(file_keys):
        message = f"no row has the {', '.join(keys)} of a row of {file.path}"
        raise FormatError(message, path=more.path, remedy="compare these columns")
    parts = [{name: added.get(key, {}).get(name) for name in names} for key in file_keys]
    file.rows = [
        row | part if isinstance(row, dict) else [*row, *map(_field, part.values())]
        for row, part in zip(file.rows, parts, strict=True)
    ]
    file.names = [*file.names, *names]


def _named(file: File) -> Any:
    return lambda row: row if isinstance(row, dict) else dict(zip(file.names, row, strict=True))


def _values(row: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(_text(row.get(key)) for key in keys)


def _field(value: Any) -> Any:
    """Of a table, where lists are JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
