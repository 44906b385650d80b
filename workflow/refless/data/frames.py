"""Tables that are no text: of pandas and others in memory, Parquet, Feather and Excel files.

Stage: ratings. In: a table, or the content of a file. Out: the names of columns, and rows whose
values are those of JSON.
"""

import datetime
import decimal
import importlib
import io
import logging
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any

from refless.errors import FormatError

_log = logging.getLogger(__name__)

BINARY_ENDINGS = {".parquet": "Parquet", ".feather": "Feather", ".xlsx": "Excel"}
"""Ending of a file that needs ``refless[files]`` -> what its format is called."""
TABLE = "the table"
"""What messages call a table in memory."""
Rows = tuple[list[str], list[dict[str, Any]]]
_MAKES_ROWS = ("to_dicts", "to_pylist", "to_list")
"""What tables of Polars, pyarrow and ``datasets`` have."""
_EXCEL = b"PK\x03\x04"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_TIMES = (datetime.date, datetime.time)


def is_path(source: Any) -> bool:
    """Whether something is a path, and no table."""
    return isinstance(source, (str, PathLike))


def is_rows(source: Any) -> bool:
    """Whether something is a sequence of rows by column, and so a table."""
    return isinstance(source, (list, tuple)) and any(isinstance(row, Mapping) for row in source)


def rows_of_table(table: Any) -> Rows:
    """The columns and rows of a table in memory: of pandas, Polars, pyarrow or ``datasets``, a list
    of dictionaries, a dictionary of columns, or what else pandas makes a table of. Raises
    FormatError: it makes none."""
    if hasattr(table, "collect"):  # a table of Polars that was not computed yet
        table = table.collect()
    rows = table if is_rows(table) else None
    if not hasattr(table, "columns") or not hasattr(table, "itertuples"):
        for method in (name for name in _MAKES_ROWS if hasattr(table, name)):
            made = getattr(table, method)()
            rows = made if is_rows(made) or made == [] else rows
    if rows is None:
        return _rows_of_pandas(_as_pandas(table))
    if not all(isinstance(row, Mapping) for row in rows):
        message = "is a list in which some rows are no dictionaries"
        raise FormatError(message, path=TABLE, remedy="give each row as {'text': ..., ...}")
    plain_rows = [{str(name): plain(value) for name, value in row.items()} for row in rows]
    names = dict.fromkeys(name for row in plain_rows for name in row)
    return list(names) or list(map(str, getattr(table, "column_names", []))), plain_rows


def _as_pandas(table: Any) -> Any:
    import pandas as pd

    if isinstance(table, pd.DataFrame):
        return table
    kind = type(table).__name__
    remedy = "give a pandas table, a list of rows as dictionaries, or a dictionary of columns"
    if isinstance(table, Mapping):
        if several := [name for name, part in table.items() if hasattr(part, "column_names")]:
            example = f"give one of them, as data[{several[0]!r}]"
            raise FormatError("has several tables", path=TABLE, remedy=example)
        table = dict(table)
    try:
        return pd.DataFrame(table)
    except Exception as error:  # whatever pandas says of what is no table
        raise FormatError(f"is no table ({kind}): {error}", path=TABLE, remedy=remedy) from error


def _rows_of_pandas(table: Any) -> Rows:
    names = [str(name) for name in table.columns]
    columns = (table.iloc[:, place].astype(object) for place in range(len(names)))
    values = [[plain(value) for value in column] for column in columns]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
    return names, rows if names else [{} for _ in range(len(table))]


def plain(value: Any) -> Any:
    """A value as JSON has it: arrays and tuples are lists, times and differences of times are
    texts, what is missing is None, bytes are the text that they encode. Others stay."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if value == value else None
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(part) for part in value]
    if type(value).__name__ in ("datetime64", "timedelta64"):
        return str(value)
    if hasattr(value, "tolist"):  # an array, or a number of one
        listed = value.tolist()
        return value if listed is value else plain(listed)
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    """A single value that is neither JSON's nor numpy's."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if isinstance(value, _TIMES):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return str(value)
    if isinstance(value, decimal.Decimal):
        return float(value) if value.is_finite() else None
    return value


def binary_format(content: bytes) -> str:
    """The name in `BINARY_ENDINGS` of what a file is, by what it begins with; nothing if it is
    text."""
    for magic, kind in ((b"PAR1", "Parquet"), (b"ARROW1", "Feather"), (b"FEA1", "Feather")):
        if content.startswith(magic):
            return kind
    return "Excel" if content.startswith((_EXCEL, _OLD_EXCEL)) else ""


def rows_of_arrow(content: bytes, kind: str, path: str) -> Rows:
    """The columns and rows of a Parquet or Feather file. Raises FormatError: it cannot be read, or
    a package is missing."""
    with _reading(kind, path):
        module = importlib.import_module(f"pyarrow.{kind.lower()}")
        table = module.read_table(io.BytesIO(content))
        columns = [[plain(value) for value in column.to_pylist()] for column in table.columns]
    names = [str(name) for name in table.column_names]
    return names, [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def cells_of_excel(content: bytes, path: str) -> list[tuple[int, list[str]]]:
    """The rows of the first sheet, as CSV has them, each with its number; without those that are
    blank. Raises FormatError: it cannot be read, or a package is missing."""
    if content.startswith(_OLD_EXCEL):
        message = "is an Excel file of the old kind, or one with a password"
        remedy = "save it as .xlsx without a password, or as CSV"
        raise FormatError(message, path=path, remedy=remedy)
    with _reading("Excel", path):
        openpyxl = importlib.import_module("openpyxl")
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = book.sheetnames
        values = list(book.worksheets[0].iter_rows(values_only=True))
    if len(sheets) > 1:
        _log.warning("%s: not read: the sheets %s", path, ", ".join(sheets[1:]))
    rows = [list(map(_of_excel, row)) for row in values]
    width = max((place for row in rows for place, cell in enumerate(row, 1) if cell), default=0)
    padded = ((number, [*row, *[""] * width][:width]) for number, row in enumerate(rows, 1))
    return [(number, row) for number, row in padded if any(row)]


@contextmanager
def _reading(kind: str, path: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        message = f"is of {kind}, for which a package is missing: {error.name}"
        remedy = "pip install 'refless[files]', or write it as CSV (UTF-8) or JSON Lines"
        raise FormatError(message, path=path, remedy=remedy) from error
    except (ValueError, OSError, KeyError, TypeError, zipfile.BadZipFile) as error:
        message = f"cannot be read as a file of {kind}: {error}"
        raise FormatError(message, path=path, remedy="write it anew, or as CSV (UTF-8)") from error


def _of_excel(value: Any) -> str:
    """A cell as CSV has it."""
    value = plain(value)
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)
