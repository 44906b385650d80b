"""What the readers share: rows, and one error, with file and row, for all that does not fit.

Stage: ratings. The sum of a raw file was checked right before, so nothing is repaired here.
"""

from __future__ import annotations

import csv
import io
import sys
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from refless.errors import FormatError

csv.field_size_limit(sys.maxsize)
_UNFIT = (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, FormatError)
Numbered = Iterable[tuple[int, Any]]


@contextmanager
def reading(path: str | Path, numbered: Numbered) -> Iterator[Iterator[Any]]:
    """Rows, which come with their numbers; whatever fails while one is in hand names it."""
    line: int | None = None

    def each() -> Iterator[Any]:
        nonlocal line
        for place, row in numbered:
            line = place
            yield row

    try:
        yield each()
    except (*_UNFIT, csv.Error, tarfile.TarError, zlib.error) as error:
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        said = f"cannot be read: {kind}{error}"
        if isinstance(error, FormatError):
            said, line = error.message, error.line or line
        remedy = "delete it and run again, which fetches it; or put the right one there"
        raise FormatError(said, path=path, line=line, remedy=remedy) from error


def table(
    path: str | Path,
    member: str = "",
    *,
    delimiter: str = ",",
    quoting: bool = True,
    short: bool = False,
) -> Numbered:
    """Rows of a file with a header, or of a ``member`` of an archive, by column, each with the line
    on which it begins.

    Parameters
    ----------
    quoting : False takes a quotation mark as a character like any other
    short : whether rows may leave out fields at their end, which are None
    """
    if member:
        with tarfile.open(path) as archive:
            data = archive.extractfile(member).read()  # type: ignore[union-attr]
    else:
        data = Path(path).read_bytes()
    lines = io.StringIO(data.decode("utf-8-sig"), newline="\n")
    style: Any = csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE
    reader, start = csv.DictReader(lines, delimiter=delimiter, quoting=style, strict=True), 2
    try:
        for row in reader:
            if None in row or (None in row.values() and not short):
                raise ValueError("has not as many fields as the header")
            yield start, row
            start = reader.line_num + 1
    except (csv.Error, ValueError) as error:
        raise FormatError(f"cannot be read: {error}", line=start) from error
