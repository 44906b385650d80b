"""More columns of a user's rows, from another file. Stage: ratings."""

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from refless.data.rows import File, check
from refless.data.text_ids import merge_key
from refless.errors import FormatError, SettingError

Join = tuple[str | Path, str | Sequence[str]]
"""A file with more columns, and the columns, or one, that say which rows belong together."""
_Values = tuple[str, ...]


def keys_of(join: Join | None) -> list[str]:
    """The columns that say which rows belong together. Raises SettingError: there are none."""
    if join is None:
        return []
    if not join[1]:
        raise SettingError("no column to join by", remedy="name one by --on")
    return [join[1]] if isinstance(join[1], str) else list(join[1])


def join_columns(file: File, more: File, keys: Sequence[str]) -> None:
    """Add the columns of another file to rows that have the same values in the columns ``keys``, of
    which none is empty; columns that are there already stay. Values are the same by `merge_key`,
    but where the other file has two that differ in case alone, each is its own. Raises FormatError:
    a file has no such column, the other has values twice, or no row of it belongs to one of these.
    """
    for each, key in product((file, more), keys):
        if each.headers.count(key) != 1:
            message = f"has no column {key!r}, or two; the columns are: {', '.join(each.headers)}"
            raise FormatError(message, path=each.path, remedy="name another one by --on")
    names = [name for name in more.headers if name not in file.headers]
    added: dict[_Values, Mapping[str, Any]] = {}
    for line, row in zip(more.lines, map(_named(more), more.rows), strict=True):
        values = _values(row, keys)
        if values in added:
            more.fault(line, ", ".join(keys), "are there more than once", ", ".join(values))
        if all(values):
            added[values] = row
    check([more])
    spelled = _only_spelling(added)
    file_keys = []
    for row in map(_named(file), file.rows):
        values = _values(row, keys)
        file_keys.append(values if values in added else spelled.get(_folded(values)))
    if file_keys and not any(file_keys):
        message = f"no row has the {', '.join(keys)} of a row of {file.path}"
        raise FormatError(message, path=more.path, remedy="compare these columns")
    parts = []
    for values_there in file_keys:
        more_of_row = added[values_there] if values_there else {}
        parts.append({name: more_of_row.get(name) for name in names})
    file.rows = [
        row | part if isinstance(row, dict) else [*row, *map(_field, part.values())]
        for row, part in zip(file.rows, parts, strict=True)
    ]
    file.names = [*file.names, *names]


def _named(file: File) -> Any:
    """What makes a row a dictionary by headers."""
    headers = file.headers

    def named(row: Any) -> dict[str, Any]:
        values = map(row.get, file.names) if isinstance(row, dict) else row
        return dict(zip(headers, values, strict=True))

    return named


def _values(row: Mapping[str, Any], keys: Sequence[str]) -> _Values:
    return tuple(_text(row.get(key)) for key in keys)


def _folded(values: _Values) -> _Values:
    return tuple(map(merge_key, values))


def _only_spelling(many: Iterable[_Values]) -> dict[_Values, _Values]:
    """Return merge keys -> values, for those values that alone have their merge keys."""
    first: dict[_Values, _Values] = {}
    several = set()
    for values in many:
        if first.setdefault(_folded(values), values) != values:
            several.add(_folded(values))
    return {key: values for key, values in first.items() if key not in several}


def _field(value: Any) -> Any:
    """Return a value as a field of a table has it: a list or dictionary as JSON, others as such."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return " ".join(unicodedata.normalize("NFC", str(value)).split())
