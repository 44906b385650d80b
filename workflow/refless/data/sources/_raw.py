"""What the readers of raw files share: rows, and one error for all that does not fit.

Stage: ratings. The sum of a raw file was checked right before, so nothing is repaired here.
"""

from __future__ import annotations

import csv
import io
import sys
import tarfile
import zlib
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from refless.errors import FormatError

Row = TypeVar("Row")
Read = TypeVar("Read")
Name = TypeVar("Name")

csv.field_size_limit(sys.maxsize)
_UNFIT = (
    *(OSError, EOFError, ValueError, LookupError, TypeError, AttributeError),
    *(csv.Error, tarfile.TarError, zlib.error),
)


@contextmanager
def reading(path: str | Path, line: int | None = None) -> Iterator[None]:
    """Whatever does not fit, in the block, is a FormatError that names the file and the row."""
    try:
        yield
    except (*_UNFIT, FormatError) as error:
        if isinstance(error, FormatError):
            said, line = error.message, error.line or line
        else:
            plain = isinstance(error, (ValueError, csv.Error))
            said = f"cannot be read: {'' if plain else f'{type(error).__name__}: '}{error}"
        remedy = "delete it and run again, which fetches it; or put the right one there"
        raise FormatError(said, path=path, line=line, remedy=remedy) from error


def each(
    path: str | Path, rows: Iterable[tuple[int, Row]], read: Callable[[Row], Read]
) -> list[Read]:
    """What is read from each row, which comes with its place in the file."""
    found = []
    for line, row in rows:
        with reading(path, line):
            found.append(read(row))
    return found


def table(
    path: str | Path,
    wanted: Iterable[str],
    text: str | None = None,
    *,
    delimiter: str = ",",
    quoting: bool = True,
    short: bool = False,
) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of a file with a header, or of its ``text``, each with the line on which it begins.

    Parameters
    ----------
    wanted : columns that there must be
    quoting : False takes a quotation mark as a character like any other
    short : whether rows may leave out empty fields at the end
    """
    style: Any = csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE
    with reading(path):
        whole = Path(path).read_bytes().decode("utf-8-sig") if text is None else text
        lines = io.StringIO(whole, newline="\n")
        reader = csv.reader(lines, delimiter=delimiter, quoting=style, strict=True)
        names = [name.strip() for name in next(reader, [])]
        if missing := [name for name in wanted if name not in names]:
            raise ValueError(f"there is no column {missing[0]}")
    start = reader.line_num + 1
    while True:
        with reading(path, start):
            fields = next(reader, None)
            if fields is None:
                return
            if fields and (len(fields) > len(names) or (len(fields) < len(names) and not short)):
                raise ValueError(f"{len(fields)} fields where the header has {len(names)}")
        if fields:
            yield start, dict(zip(names, fields + [""] * (len(names) - len(fields)), strict=True))
        start = reader.line_num + 1


def words(text: str) -> str:
    """A text, if it has words that can be written."""
    if not text.strip() or "\0" in text:
        raise ValueError("the text is empty, or has a NUL")
    text.encode()  # JSON can hold half a character
    return text


def whole(text: str | int, low: int, high: int) -> int:
    """A whole number, if it lies in a range."""
    if low <= (number := int(text)) <= high and number == float(text):
        return number
    raise ValueError(f"{text} is not {low} to {high}")


def known(name: Name, names: Container[Name]) -> Name:
    """A name, if it is one of these."""
    if name not in names:
        raise ValueError(f"{name!r} is unknown")
    return name
