"""Stored files, each with a record beside it: what it is and what it was made from. Stage: none.

``texts.csv`` has the record ``texts.json``; files that differ only in their endings share one.
"""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.errors import FormatError, StaleError
from refless.store.files import file_sum, json_text, whole_file, write_text
from refless.store.tables import read_csv, table_text

MAKE_AGAIN = "delete it and run again"


class Sealed(NamedTuple):
    """What `read` returns: a table of CSV, a mapped array of ``.npy``, else bytes."""

    content: Any
    metadata: dict[str, Any]


_inputs: dict[str, str] = {}
"""Of the running job: path below ``results`` -> sum of the file."""


@contextmanager
def job_inputs(paths: Iterable[str | Path]) -> Iterator[None]:
    """Declare the files that the job in the block reads: the sums of those below ``results`` go
    into the records of what it writes. Missing or broken files are left to their reader."""
    for path in map(Path, paths):
        if path.is_relative_to("results") and (value := recorded_sum(path)):
            _inputs[path.relative_to("results").as_posix()] = value
    try:
        yield
    finally:
        _inputs.clear()


def record_path(path: str | Path) -> Path:
    """Where the record of a stored file lies."""
    path = Path(path)
    return path.with_name(path.name.removesuffix(".gz")).with_suffix(".json")


def write(path: str | Path, content: Any, metadata: Mapping[str, Any] | None = None) -> None:
    """Write a table as CSV (compressed if the name ends in ``.gz``) or an array, with its record;
    see `write_sidecar`. Its ``provenance`` is ``computed`` unless the metadata have another."""
    if isinstance(content, pd.DataFrame):
        content = table_text(content).encode()
        content = gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content
    write_sidecar({Path(path): content}, {"provenance": "computed", **(metadata or {})})


def write_sidecar(contents: Mapping[Path, bytes | np.ndarray], metadata: Mapping[str, Any]) -> None:
    """Write files that share a record, and the record. Raises OutputError: a file cannot be
    written.

    The record has ``metadata``, the SHA-256 of the ``files`` by name, their ``folder`` below
    ``results``, and the ``inputs`` of the job. Equal contents give equal bytes. No file gets its
    final name before all are written, and the record gets its own first, so that a killed run
    leaves no new file without a record.
    """
    path, sums = record_path(next(iter(contents))), {}
    folder = path.parent.relative_to("results") if path.is_relative_to("results") else Path()
    with ExitStack() as stack:  # puts in place what was entered last first
        for file, content in contents.items():
            partial = stack.enter_context(whole_file(file))
            with partial.open("wb") as handle:
                if isinstance(content, bytes):
                    handle.write(content)
                else:
                    np.save(handle, content, allow_pickle=False)
            sums[file.name] = file_sum(partial)
        record = {"folder": folder.as_posix(), "inputs": _inputs, "metadata": metadata}
        partial = stack.enter_context(whole_file(path))
        partial.write_text(json_text(_signed({**record, "files": sums})), encoding="utf-8")


def read(path: str | Path, remedy: str = MAKE_AGAIN) -> Sealed:
    """Read a stored file. Raises FormatError: it or its record is missing, changed, or under
    another name. Raises StaleError: an input has changed since."""
    path, record = Path(path), read_record(path, remedy)
    try:
        value = file_sum(path)
    except OSError as error:
        raise _broken(path, error, remedy) from error
    if value != record["files"][path.name]:
        message = f"is not the file that its record {record_path(path).name} is of"
        raise FormatError(message, path=path, remedy=remedy)
    root = path.absolute().parents[len(PurePath(record["folder"]).parts)]
    for below, expected in record["inputs"].items():
        if recorded_sum(root / below) not in ("", expected):
            message = f"was made from another {root / below} than lies there now"
            raise StaleError(message, path=path, remedy=remedy)
    if path.suffix == ".npy":
        return Sealed(np.load(path, mmap_mode="r", allow_pickle=False), record["metadata"])
    table = path.suffix in (".csv", ".gz")
    return Sealed(read_csv(path) if table else path.read_bytes(), record["metadata"])


def read_record(path: str | Path, remedy: str = MAKE_AGAIN) -> dict[str, Any]:
    """The record of a stored file; the file itself is not read. Raises FormatError: the record is
    missing, changed, or of another file."""
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
    """The sum of a stored file according to its record; empty if it has none."""
    try:
        return str(read_record(path)["files"][Path(path).name])
    except FormatError:
        return ""


def write_signed(path: str | Path, fields: Mapping[str, Any]) -> None:
    """Write one JSON file that contains its own sum. Raises OutputError: it cannot be written."""
    write_text(json.dumps(_signed(fields), sort_keys=True, ensure_ascii=False), path)


def read_signed(path: str | Path, remedy: str) -> dict[str, Any]:
    """What `write_signed` wrote. Raises FormatError: it is missing or changed."""
    try:
        signed = json.loads(Path(path).read_text(encoding="utf-8"))
        fields = {name: value for name, value in signed.items() if name != "signature"}
        if signed.get("signature") != _signed(fields)["signature"]:
            raise ValueError("it is not what was written")
    except Exception as error:  # whatever a foreign file makes a decoder raise
        raise _broken(path, error, remedy) from error
    return fields


def _signed(fields: Mapping[str, Any]) -> dict[str, Any]:
    line = json.dumps(fields, sort_keys=True, ensure_ascii=False)
    return {**fields, "signature": hashlib.sha256(line.encode()).hexdigest()}


def _broken(path: str | Path, error: Exception, remedy: str) -> FormatError:
    why = getattr(error, "strerror", None)
    message = f"cannot be read: {why}" if why else f"is no whole file of refless: {error}"
    return FormatError(message, path=path, remedy=remedy)
