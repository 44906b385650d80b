"""The record (``.json``) beside files that people read: a table, a figure, the report.

Stage: none. In: the sums of what a job has written. Out: their record; later, an error where one of
them is another file by now. Files that another stage reads are signed (`refless.store.signed`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from refless.errors import FormatError, StaleError
from refless.store import inputs, signed
from refless.store.files import file_sum, read_json, write_json


def write_beside(path: str | Path, about: Mapping[str, Any], sums: Mapping[str, str]) -> None:
    """Write the record ``path`` of files beside it, by name: what they are ``about``, their sums,
    what the job was given and told, and the record's own sum.

    Raises
    ------
    OutputError : it cannot be written.
    """
    record = {**about, "files": dict(sums), "inputs": inputs.sums_for(path), "told": inputs.told()}
    write_json({**record, "record": signed.record_sum(record)}, path)


def read_beside(path: str | Path, *files: str) -> dict[str, Any]:
    """The record ``path``, if it and these files beside it (without any: all) are as written.

    Raises
    ------
    FormatError : the record or a file cannot be read.
    StaleError : one of them is another than was written.
    """
    record = read_json(path)
    sums = record["files"] if _whole(record) else {}
    for name in files or sums or [Path(path).name]:
        file = Path(path).parent / name
        try:
            now = file_sum(file)
        except FileNotFoundError:
            remedy = signed.AGAIN.partition(" and ")[2]
            raise FormatError("is missing", path=file, remedy=remedy) from None
        except OSError as error:
            raise FormatError(
                f"cannot be read: {error.strerror}",
                path=file,
                remedy=f"make it a file that you may read, or {signed.AGAIN}",
            ) from error
        if sums.get(name) != now:
            raise StaleError("is not the file that was written", path=file, remedy=signed.AGAIN)
    return record


def _whole(record: Any) -> bool:
    """Whether this is a record with its own sum."""
    if not isinstance(record, dict):
        return False
    with suppress(ValueError):  # half a character cannot be summed
        return bool(record.get("record") == signed.record_sum(record))
    return False
