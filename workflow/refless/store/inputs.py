"""What a job was given: each result says so, and whoever reads the result looks again.

Stage: none. In: the inputs and parameters of the running job. Out: their sums, for the record of
what it writes; later, an error where one of them is another by now.

This is how a table of another run, with a whole record of its own, is told from the one that
belongs here, and any other result as well: it was not made from what lies beside it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from refless.errors import FormatError, StaleError
from refless.store.files import file_sum

_given: dict[str, str] = {}
_told: list[str] = []


@contextmanager
def given(
    paths: Iterable[str | Path], parameters: Iterable[tuple[str, Any]] = ()
) -> Iterator[None]:
    """In the block, a job runs that was given these files, as they are now, and parameters by name.

    A file that is not there is left to its reader.
    """
    _given.update((str(path), _sum(Path(path))) for path in paths if os.path.isfile(path))
    _told.append(parameter_sum(parameters))
    try:
        yield
    finally:
        _given.clear()
        _told.clear()


def parameter_sum(parameters: Iterable[tuple[str, Any]]) -> str:
    """SHA-256 of a job's parameters, which are plain data."""
    line = json.dumps(dict(parameters), sort_keys=True, default=str)
    return hashlib.sha256(line.encode()).hexdigest()


def told() -> str:
    """`parameter_sum` of the running job; empty outside of one."""
    return _told[0] if _told else ""


def made_of(path: str | Path) -> dict[str, Any]:
    """The record of a computed result, with what its job was told and given; empty where the file
    has none.

    Of a table or figure, it is the file beside it (``.json``).

    Raises
    ------
    FormatError : the file cannot be read, or is not signed though it ends like files that are.
    """
    from refless.store import signed
    from refless.store.files import read_json

    path = Path(path)
    if path.suffix == ".json":
        record = read_json(path)
    elif path.suffix in {".csv", ".gz", ".npz", ".npy"}:
        record = signed.record_of(path)
    else:
        return {}
    if not isinstance(record, dict) or record.get("provenance") == "shipped":
        return {}
    return record


def sums_for(path: str | Path) -> dict[str, str]:
    """Sums of the job's inputs, for the record of its result ``path``.

    Of results alone, by their place as seen from there: raw files have sums of their own, and
    records are to be the same in every directory.
    """
    path = Path(path)
    return {
        Path(os.path.relpath(one, path.parent)).as_posix(): value
        for one, value in sorted(_given.items())
        if not path.is_absolute() and Path(one).parts[0] == path.parts[0]
    }


def require(recorded: Mapping[str, str], path: str | Path) -> None:
    """Make sure that what a result was made from is what lies there; what is gone is passed over.

    Raises
    ------
    StaleError : an input is another file than it was.
    """
    for place, value in recorded.items():
        one = Path(os.path.normpath(Path(path).parent / place))
        if one.is_file() and _sum(one) != value:
            raise StaleError(
                f"was made from another {one} than lies there now",
                path=path,
                remedy=f"delete {path} and run again",
            )


def _sum(path: Path) -> str:
    about = path.stat()
    return _content_sum(path, about.st_mtime_ns, about.st_size)


@cache
def _content_sum(path: Path, time: int, size: int) -> str:
    """Of a signed file, the sum of its content: when and where it was made does not matter.

    Its record alone is read; who reads the content checks it.
    """
    from refless.store import signed

    try:
        return signed.identity(signed.record_of(path))
    except FormatError:
        with suppress(OSError):
            return file_sum(path)
        return ""  # its reader says why
