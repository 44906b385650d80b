"""The record beside a stored file: what the file is and what it was made from. Stage: none.

``texts.csv`` has the record ``texts.json``; files that differ only in their endings share one. A
record is signed: it has its own sum. The files themselves are read by `refless.store.sealed`; here
nothing needs numpy or pandas, since the plan of a run asks for many records.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from refless.errors import FormatError
from refless.store.files import write_text

MAKE_AGAIN = "delete it and run again"


@dataclass(frozen=True)
class Output:
    """A file that is written, with what it is made from.

    path : where it is written
    inputs : path below ``results`` -> SHA-256 of the file there
    """

    path: Path
    inputs: Mapping[str, str]

    def __fspath__(self) -> str:
        return str(self.path)


Destination = str | Path | Output
"""Where a library's function writes: a path alone, where nothing is known of inputs."""


def inputs_of(destination: Destination) -> dict[str, str]:
    """Return what a file is made from, as far as it is known, as `Output` has it."""
    return dict(destination.inputs) if isinstance(destination, Output) else {}


def input_sums(paths: Iterable[str | Path]) -> dict[str, str]:
    """Return the sums of those files below ``results`` that have a record, as `Output` wants them.
    Missing or broken files are left out here; whoever reads them says what is wrong."""
    sums = {}
    for path in map(Path, paths):
        if path.is_relative_to("results") and (value := recorded_sum(path)):
            sums[path.relative_to("results").as_posix()] = value
    return sums


def record_path(path: str | Path) -> Path:
    """Return the path of a stored file's record: ``texts.json`` for ``texts.csv``."""
    path = Path(path)
    return path.with_name(path.name.removesuffix(".gz")).with_suffix(".json")


def read_record(path: str | Path, remedy: str = MAKE_AGAIN) -> dict[str, Any]:
    """Return the record of a stored file; the file itself is not read.

    remedy : what an error says one can do
    Raises FormatError: the record is missing, changed, or of another file.
    """
    path, sidecar = Path(path), record_path(path)
    try:
        record = read_signed(sidecar, remedy)
    except FormatError as error:
        message = f"its record {sidecar.name} {error.message}"
        raise FormatError(message, path=path, remedy=remedy) from error
    stored = PurePath(record["folder"], path.name)
    if path.name not in record["files"] or not f"/{path.absolute()}".endswith(f"/{stored}"):
        stored = PurePath(record["folder"], *sorted(record["files"])[:1])
        raise FormatError(f"is {stored} under another name", path=path, remedy=remedy)
    return record


def recorded_sum(path: str | Path) -> str:
    """Return the SHA-256 of a stored file according to its record; empty if it has none."""
    try:
        return str(read_record(path)["files"][Path(path).name])
    except FormatError:
        return ""


def write_signed(path: str | Path, fields: Mapping[str, Any]) -> None:
    """Write one JSON file that contains its own sum. Raises OutputError: it cannot be written."""
    write_text(json.dumps(signed(fields), sort_keys=True, ensure_ascii=False), path)


def read_signed(path: str | Path, remedy: str) -> dict[str, Any]:
    """Read what `write_signed` wrote.

    remedy : what an error says one can do
    Raises FormatError: the file is missing or changed.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        fields = {name: value for name, value in content.items() if name != "signature"}
        if content.get("signature") != signed(fields)["signature"]:
            raise ValueError("it is not what was written")
    except Exception as error:  # whatever a foreign file makes a decoder raise
        raise broken(path, error, remedy) from error
    return fields


def signed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with their ``signature``, the SHA-256 of them as one line of JSON."""
    line = json.dumps(fields, sort_keys=True, ensure_ascii=False)
    return {**fields, "signature": hashlib.sha256(line.encode()).hexdigest()}


def broken(path: str | Path, error: Exception, remedy: str) -> FormatError:
    """Return an error that says why a file could not be read or decoded."""
    why = getattr(error, "strerror", None)
    message = f"cannot be read: {why}" if why else f"is no whole file of refless: {error}"
    return FormatError(message, path=path, remedy=remedy)
