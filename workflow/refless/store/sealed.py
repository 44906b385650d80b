"""Read and write stored files, each with a record beside it: what it is and what it was made from.
Stage: none.

``texts.csv`` has the record ``texts.json``; files that differ only in their endings share one.
"""

import gzip
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.errors import FormatError, StaleError
from refless.store.files import file_sum, json_text, whole_file
from refless.store.records import (
    MAKE_AGAIN,
    Destination,
    broken,
    inputs_of,
    read_record,
    record_path,
    recorded_sum,
    signed,
)
from refless.store.tables import read_csv, table_text


class Sealed(NamedTuple):
    """A stored file, by `read`.

    content : a table of CSV, a memory-mapped array of ``.npy``, else bytes
    metadata : those that it was written with
    """

    content: Any
    metadata: dict[str, Any]


def write(path: Destination, content: Any, metadata: Mapping[str, Any] | None = None) -> None:
    """Write a table or an array, with its record; see `write_sidecar`.

    path : a table is written as CSV, compressed if the name ends in ``.gz``
    metadata : for the record, whose ``provenance`` is ``computed`` unless they have another
    Raises OutputError: the file or its record cannot be written.
    """
    file = Path(path)
    if isinstance(content, pd.DataFrame):
        content = table_text(content).encode()
        content = gzip.compress(content, mtime=0) if file.suffix == ".gz" else content
    metadata = {"provenance": "computed", **(metadata or {})}
    write_sidecar({file: content}, metadata, inputs_of(path))


def write_sidecar(
    contents: Mapping[Path, bytes | np.ndarray],
    metadata: Mapping[str, Any],
    inputs: Mapping[str, str] | None = None,
) -> None:
    """Write files that share a record, and the record.

    contents : path -> bytes, or an array for a file ``.npy``
    metadata : any values that JSON has
    inputs : what the files were made from, see `refless.store.records.Output`
    Raises OutputError: a file cannot be written.

    The record has ``metadata``, the SHA-256 of the ``files`` by name, their ``folder`` below
    ``results``, and the ``inputs`` (see `refless.store.records.Output`). Equal contents give equal
    bytes. No file gets its final name before all are written, and the record gets its own first, so
    that a killed run leaves no new file without a record.
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
        record = {"folder": folder.as_posix(), "inputs": dict(inputs or {}), "metadata": metadata}
        partial = stack.enter_context(whole_file(path))
        partial.write_text(json_text(signed({**record, "files": sums})), encoding="utf-8")


def read(path: str | Path, remedy: str = MAKE_AGAIN) -> Sealed:
    """Read a stored file.

    remedy : what an error says one can do
    Raises FormatError: the file or its record is missing, changed, or under another name. Raises
        StaleError: an input has changed since.
    """
    path, record = Path(path), read_record(path, remedy)
    try:
        value = file_sum(path)
    except OSError as error:
        raise broken(path, error, remedy) from error
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
