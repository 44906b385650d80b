"""Stored files: content, and a record of what it is and was made from.

A table has its record in the first line, arrays (``.npz``) as the member ``about``; one large array
(``.npy``) is mapped into memory, and its record follows it. See `write`, `write_beside`.
"""

import gzip
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refless.errors import FormatError, StaleError
from refless.store.files import file_sum, json_text, whole_file, write_text
from refless.store.tables import parse_table, table_text

MARK = "# refless "
AGAIN = "delete it and run again"


@dataclass(frozen=True)
class Sealed:
    """What `read` returns."""

    content: Any  # pandas.DataFrame, a dict of arrays, or an array
    about: dict[str, Any]  # the record


_inputs: dict[str, str] | None = None
"""Of the running job: place in ``results`` -> sum of the content."""


@contextmanager
def given(paths: Iterable[str | Path]) -> Iterator[None]:
    """In the block, a job runs that was given these files; they go into the records of what it
    writes below ``results``. What is not there or broken is left to its reader."""
    global _inputs
    below = [path for path in map(Path, paths) if path.is_relative_to("results")]
    sums = {path.relative_to("results").as_posix(): _content_sum(path) for path in below}
    _inputs = {path: value for path, value in sums.items() if value}
    try:
        yield
    finally:
        _inputs = None


def write(
    path: str | Path,
    content: Any,
    facts: Mapping[str, Any] | None = None,
    *,
    provenance: str = "computed",
) -> dict[str, Any]:
    """Write a DataFrame, compressed where the name ends in ``.gz``, arrays by name or an array,
    with its record, whole or not at all; the record. The same gives the same bytes.

    The record has ``facts`` that readers need, ``provenance`` (``computed``, or ``shipped`` with
    refless), the ``path`` below ``results`` and the sums of the job's ``inputs`` (empty elsewhere),
    the SHA-256 of the ``content``, and that of all this. Raises OutputError: it cannot be written.
    """
    path = Path(path)
    below = _inputs is not None and path.is_relative_to("results")
    held = content if isinstance(content, Mapping | np.ndarray) else table_text(content)
    record = {
        "path": path.relative_to("results").as_posix() if below else "",
        "inputs": _inputs if below else {},
        "provenance": provenance,
        "facts": dict(facts or {}),
        "content": _sum(held),
    }
    line = json.dumps(_signed(record), sort_keys=True, ensure_ascii=False)
    with whole_file(path) as partial, partial.open("wb") as handle:
        if isinstance(held, np.ndarray):
            np.save(handle, content)
            handle.write(line.encode())
        elif isinstance(held, Mapping):
            buffer = io.BytesIO()  # in a file, the archive would hold its size twice
            np.savez_compressed(buffer, about=line, **content)
            handle.write(buffer.getvalue())
        else:
            body = f"{MARK}{line}\n{held}".encode()
            handle.write(gzip.compress(body, mtime=0) if path.suffix == ".gz" else body)
    return record


def read(path: str | Path, remedy: str = AGAIN) -> Sealed:
    """Read a sealed file. Raises FormatError: it is missing, is not what was written, or lies in
    another one's place. Raises StaleError: an input is another now."""
    path = Path(path)
    try:
        line, content = _parts(path)
        record = _checked(json.loads(line))
        if _sum(content) != record["content"]:
            raise ValueError("its content is not what was written")
    except Exception as error:  # numpy, gzip and zipfile pass on whatever their decoders raise
        raise _broken(path, error, remedy) from error
    place = record["path"]
    if not path.as_posix().endswith(place):
        raise FormatError(f"is {place} under another name", path=path, remedy=remedy)
    for below, value in record["inputs"].items():
        one = path.parents[len(Path(place).parts) - 1] / below
        if one.is_file() and _content_sum(one) != value:
            message = f"was made from another {one} than lies there now"
            raise StaleError(message, path=path, remedy=remedy)
    return Sealed(parse_table(content, path) if isinstance(content, str) else content, record)


def record_of(path: str | Path) -> dict[str, Any]:
    """The record of a sealed file alone, checked against its own sum; the content is not."""
    path = Path(path)
    try:
        return _checked(json.loads(_parts(path, whole=False)[0]))
    except Exception as error:
        raise _broken(path, error) from error


def _content_sum(path: Path) -> str:
    """By the record alone; empty for any other file. Who reads the content checks it."""
    try:
        return str(record_of(path)["content"])
    except FormatError:
        return ""


def _parts(path: Path, whole: bool = True) -> tuple[str, Any]:
    """The line of the record, and the content: a text, arrays, or an array."""
    with path.open("rb") as handle:
        begin = handle.read(2)
    if begin == b"\x93N":
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        with path.open("rb") as handle:
            handle.seek(array.offset + array.nbytes)
            return handle.read().decode(), array
    if begin == b"PK":
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        return str(arrays.pop("about")), arrays
    with gzip.open(path, "rb") if begin == b"\x1f\x8b" else path.open("rb") as handle:
        line = handle.readline().decode().removeprefix(MARK)
        return line, handle.read().decode() if whole else ""


def _sum(content: Any) -> str:
    """SHA-256 of a text, or of name, type, shape and content of arrays, which are not copied."""
    if isinstance(content, str):
        return hashlib.sha256(content.encode()).hexdigest()
    digest = hashlib.sha256()
    for name, array in sorted((content if isinstance(content, Mapping) else {"": content}).items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _broken(path: Path, error: Exception, remedy: str = AGAIN) -> FormatError:
    why = getattr(error, "strerror", None)
    message = f"cannot be read: {why}" if why else f"is no whole file of refless: {error}"
    return FormatError(message, path=path, remedy=remedy)


def _signed(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with its own sum."""
    line = json.dumps(record, sort_keys=True, ensure_ascii=False)
    return {**record, "record": hashlib.sha256(line.encode()).hexdigest()}


def _checked(signed: Mapping[str, Any]) -> dict[str, Any]:
    """The record that was signed; ValueError where it is not what was written."""
    record = {name: value for name, value in signed.items() if name != "record"}
    if signed != _signed(record):
        raise ValueError("its record is not what was written")
    return record


def write_beside(path: str | Path, about: Mapping[str, Any], sums: Mapping[str, str]) -> None:
    """Write the record ``path`` of files beside it: what they are ``about``, their sums by name.
    Raises OutputError: it cannot be written."""
    write_text(json_text(_signed({**about, "files": dict(sums)})), path)


def read_beside(path: str | Path, *files: str) -> dict[str, Any]:
    """The record ``path``, if it and these files beside it are as written. Raises FormatError: the
    record cannot be read. Raises StaleError: a file is another than was written, or not there."""
    path = Path(path)
    try:
        record = _checked(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, AttributeError) as error:
        raise _broken(path, error) from error
    for file in (path.parent / name for name in files):
        if not file.is_file():
            raise StaleError("is missing", path=file, remedy="run again")
        if record["files"].get(file.name) != file_sum(file):
            raise StaleError("is not the file that was written", path=file, remedy=AGAIN)
    return record
