"""The one format of stored files: content, and a record of what it is and was made from.

A sealed file holds a table (``.csv``, ``.csv.gz``), arrays (``.npz``) or one large array that is
mapped into memory (``.npy``), and about itself a record in JSON: in a table it is the first line,
behind ``# refless``; in an ``.npz`` the member ``about``; in an ``.npy`` it follows the array.
Files that people read (a table's Markdown, a figure, the report) have theirs beside them
(``.json``). A record has

===========  ====================================================================================
path         its place in ``results``, empty outside of a job
inputs       place in ``results`` -> the sum of what its job was given there
recipe       the sum of the parameters of its job: settings and code
provenance   ``computed``, or ``shipped`` if anything came with refless
content      SHA-256 of the content
record       SHA-256 of the rest of the record
===========  ====================================================================================

and whatever else its readers need: ``kind``, ``of``, ``settings``, ``made_from``, ``facts``. A
reader refuses a file of which one bit is another, that lies in another one's place, or that was
made from other inputs than lie there now. No text goes into a shipped file.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from refless.errors import FormatError, StaleError
from refless.store.files import file_sum, json_text, read_json, whole_file, write_text

MARK = "# refless "
AGAIN = "delete it and run again"
STRINGS = {
    *("id", "task", "context", "text", "system", "rater", "item", "type", "kernel"),
    *("train_topic", "mr", "mr_key", "mr_set"),
}
"""Columns that are text, also where a value looks like a number or is empty."""


@dataclass(frozen=True)
class Sealed:
    """What `read` returns.

    content : pandas.DataFrame, a dict of arrays, or an array
    about : the record
    """

    content: Any
    about: dict[str, Any]


# ---- the running job ---------------------------------------------------------------------------

_job: dict[str, Any] = {}


@contextmanager
def given(paths: Iterable[str | Path], parameters: Iterable[tuple[str, Any]]) -> Iterator[None]:
    """In the block, a job runs that was given these files and parameters; they go into the records
    of what it writes. A file that is not there is left to its reader."""
    line = json.dumps(dict(parameters), sort_keys=True, default=str)
    _job["recipe"] = hashlib.sha256(line.encode()).hexdigest()
    results = (Path(path) for path in paths if Path(path).is_file())
    _job["inputs"] = {
        path.relative_to("results").as_posix(): _identity(path)
        for path in results
        if path.is_relative_to("results")
    }
    try:
        yield
    finally:
        _job.clear()


def _about_job(path: Path) -> dict[str, Any]:
    """The entries of a record that the running job decides."""
    own = _job and path.is_relative_to("results")
    place = path.relative_to("results").as_posix() if own else ""
    return {"path": place, "inputs": {}, "recipe": "", **(_job if own else {})}


def _require_place(record: Mapping[str, Any], path: Path) -> None:
    """Make sure that a file lies where it was written, and its inputs are those that it had; what
    is gone is passed over.

    Raises
    ------
    FormatError : it is another result.
    StaleError : an input is another file than it was.
    """
    place = record.get("path", "")
    if not place:
        return
    if not path.as_posix().endswith(place):
        raise FormatError(f"is {place} under another name", path=path, remedy=AGAIN)
    results = path.parents[len(Path(place).parts) - 1]
    for below, value in record["inputs"].items():
        one = results / below
        if one.is_file() and _identity(one) != value:
            message = f"was made from another {one} than lies there now"
            raise StaleError(message, path=path, remedy=AGAIN)


def _identity(path: Path) -> str:
    about = path.stat()
    return _content_sum(path, about.st_mtime_ns, about.st_size)


@cache
def _content_sum(path: Path, *state: int) -> str:
    """Of a sealed file, the sum of its content, by its record; who reads the content checks it."""
    try:
        return identity(record_of(path))
    except FormatError:
        return file_sum(path)


# ---- sealed files ------------------------------------------------------------------------------


def write(path: str | Path, content: Any, about: Mapping[str, Any]) -> dict[str, Any]:
    """Write a table or arrays with their record, whole or not at all; the record.

    The same content and record give the same bytes.

    Parameters
    ----------
    path : ends in ``.csv``, ``.csv.gz``, ``.npz`` or ``.npy``
    content : DataFrame for a table, mapping of name to array for ``.npz``, array for ``.npy``
    about : what readers need to know

    Raises
    ------
    OutputError : the file cannot be written.
    """
    path = Path(path)
    empty = {"provenance": "computed", "of": {}, "settings": {}, "made_from": {}, "facts": {}}
    record = {**empty, **about, **_about_job(path)}
    if path.suffix == ".npy":
        record["content"] = _array_sum(content)
        with whole_file(path) as partial, partial.open("wb") as handle:
            np.save(handle, content)
            handle.write(line_of(record).encode())
        return record
    if path.suffix == ".npz":
        arrays = {name: np.ascontiguousarray(array) for name, array in content.items()}
        record["content"] = _arrays_sum(arrays)
        buffer = io.BytesIO()
        members: dict[str, Any] = {"about": line_of(record), **arrays}
        np.savez_compressed(buffer, **members)
        body = buffer.getvalue()
    else:
        text = table_text(content)
        record["content"] = hashlib.sha256(text.encode()).hexdigest()
        body = f"{MARK}{line_of(record)}\n{text}".encode()
        if path.suffix == ".gz":
            body = gzip.compress(body, mtime=0)
    with whole_file(path) as partial:
        partial.write_bytes(body)
    return record


def read(
    path: str | Path,
    kind: str = "",
    *,
    of: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    made_from: Mapping[str, str] | None = None,
    columns: Sequence[str] = (),
) -> Sealed:
    """Read a sealed file, if it is the one that is expected.

    Parameters
    ----------
    kind : what it must be, if it is given
    columns : columns or arrays that it must have
    of, settings, made_from : entries that these must have with the same values

    Raises
    ------
    FormatError : the file is missing, broken, of another kind or in another's place, or lacks a
        column.
    StaleError : it was made from other data or under other settings.
    """
    path = Path(path)
    content, record = _open(path)
    _require_place(record, path)
    if kind and record["kind"] != kind:
        raise FormatError(f"holds {record['kind']}, not {kind}", path=path, remedy=AGAIN)
    for role, values in (("of", of), ("settings", settings), ("made_from", made_from)):
        require(record, role, values or {}, path)
    if isinstance(content, str):
        content = parse_table(content, path)
    if lacking := [name for name in columns if name not in content]:
        raise FormatError(f"lacks {', '.join(lacking)}", path=path, remedy=AGAIN)
    return Sealed(content, record)


def record_of(path: str | Path) -> dict[str, Any]:
    """The record of a sealed file alone, checked against its own sum; the content is not read."""
    path = Path(path)
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as stored:
                line = str(stored["about"])
        elif path.suffix == ".npy":
            line = _mapped(path)[1]
        else:
            with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as handle:
                line = handle.readline().decode().removeprefix(MARK)
        return record_in(line)
    except Exception as error:
        raise _broken(path, error) from error


def identity(about: Mapping[str, Any]) -> str:
    """The sum by which other files name this one."""
    return str(about["content"])


def provenance(abouts: Iterable[Mapping[str, Any]]) -> str:
    """``shipped`` if any of what went in was shipped, else ``computed``."""
    return "shipped" if "shipped" in {about["provenance"] for about in abouts} else "computed"


def require(record: Mapping[str, Any], role: str, asked: Mapping[str, Any], path: Path) -> None:
    """Make sure that entries of a record have these values.

    Raises
    ------
    FormatError : it is about something else.
    StaleError : it was made from other data or under other settings.
    """
    asked = json.loads(json.dumps(dict(asked)))  # where a tuple is a list
    made = record[role]
    if differ := [name for name in asked if made.get(name) != asked[name]]:
        shown = "; ".join(f"{name} {made.get(name)}, not {asked[name]}" for name in differ)
        words = {"of": "is about", "made_from": "was made from other data:"}
        said = words.get(role, "was made under other settings:")
        fault = FormatError if role == "of" else StaleError
        raise fault(f"{said} {shown}", path=path, remedy=AGAIN)


def line_of(record: Mapping[str, Any]) -> str:
    """A record in one line of JSON, with its own sum."""
    whole = {**record, "record": record_sum(record)}
    return json.dumps(whole, sort_keys=True, ensure_ascii=False)


def record_in(line: str) -> dict[str, Any]:
    """The record of such a line; ValueError where it is not what was written."""
    record = dict(json.loads(line))
    if record.pop("record") != record_sum(record):
        raise ValueError("its record is not what was written")
    return record


def record_sum(record: Mapping[str, Any]) -> str:
    """SHA-256 of a record, but for its field ``record``, where this sum stands."""
    rest = {name: value for name, value in record.items() if name != "record"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _open(path: Path) -> tuple[Any, dict[str, Any]]:
    """Content (text of a table, or arrays) and record, both checked against their sums."""
    # Over broken bytes, numpy, gzip and zipfile pass on whatever their decoders raise.
    try:
        content: Any
        if path.suffix == ".npy":
            content, line = _mapped(path)
            record, found = record_in(line), _array_sum(content)
        elif path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as stored:
                content = {name: stored[name] for name in stored.files}
            record, found = record_in(str(content.pop("about"))), _arrays_sum(content)
        else:
            raw = path.read_bytes()
            first, _, text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).partition(
                b"\n"
            )
            if not first.startswith(MARK.encode()):
                raise ValueError("it has no record in its first line")
            record = record_in(first.decode().removeprefix(MARK))
            content, found = text.decode(), hashlib.sha256(text).hexdigest()
        if found != record["content"]:
            raise ValueError("its content is not what was written")
    except Exception as error:
        raise _broken(path, error) from error
    return content, record


def _mapped(path: Path) -> tuple[np.ndarray, str]:
    """The array of an ``.npy``, read as it is used, and the line of its record."""
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    with path.open("rb") as handle:
        handle.seek(array.offset + array.nbytes)
        return array, handle.read().decode()


def _array_sum(array: np.ndarray) -> str:
    """SHA-256 of type, shape and content of an array in C order, which is not copied."""
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape}\n".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _broken(path: Path, error: Exception) -> FormatError:
    message = error.strerror if isinstance(error, OSError) and error.strerror else error
    return FormatError(f"is no whole file of refless: {message}", path=path, remedy=AGAIN)


def _arrays_sum(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


# ---- tables ------------------------------------------------------------------------------------


def table_text(table: pd.DataFrame) -> str:
    """A table as CSV whose numbers round-trip exactly, with the same bytes everywhere."""
    # A bare carriage return ends a row unless it is quoted, and the writer does not see that.
    strings = table.select_dtypes(["object", "str"])
    returns = any(strings[name].astype(str).str.contains("\r").any() for name in strings)
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
    return str(table.to_csv(index=False, lineterminator="\n", quoting=quoting))


def parse_table(text: str, path: str | Path) -> pd.DataFrame:
    """The table of a CSV by `table_text`; FormatError, with ``path``, if it is none."""
    try:
        header = pd.read_csv(io.StringIO(text), nrows=0, lineterminator="\n").columns
        return pd.read_csv(
            io.StringIO(text),
            dtype=dict.fromkeys(STRINGS, str),
            # a text may well be "NA" or "null": only an empty number is missing
            keep_default_na=False,
            na_values={name: [""] for name in header if name not in STRINGS},
            # a lone carriage return belongs to a text and ends no row
            lineterminator="\n",
        )
    except ValueError as error:
        raise FormatError(f"cannot be read as a table: {error}", path=path) from error


def write_table(table: pd.DataFrame, path: str | Path) -> str:
    """Write a table as CSV without a record, whole or not at all; the SHA-256 of its bytes."""
    return write_text(table_text(table), path)


def read_table(path: str | Path, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a CSV by `write_table`; FormatError if it is none, or lacks one of ``columns``."""
    try:
        # no translation of line ends: a carriage return may belong to a text
        text = Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read as a table: {error}", path=path) from error
    table = parse_table(text, path)
    if lacking := [name for name in columns if name not in table.columns]:
        raise FormatError(f"has no columns {', '.join(lacking)}", path=path, remedy=AGAIN)
    return table


# ---- files that people read --------------------------------------------------------------------


def write_beside(path: str | Path, about: Mapping[str, Any], sums: Mapping[str, str]) -> None:
    """Write the record ``path`` of files beside it: what they are ``about``, their sums by name.

    Raises
    ------
    OutputError : it cannot be written.
    """
    record = {**about, "files": dict(sums), **_about_job(Path(path))}
    write_text(json_text({**record, "record": record_sum(record)}), path)


def read_beside(path: str | Path, *files: str) -> dict[str, Any]:
    """The record ``path``, if it and these files beside it are as written.

    Raises
    ------
    FormatError : the record or a file cannot be read.
    StaleError : one of them is another than was written.
    """
    path, record = Path(path), read_json(path)
    if not isinstance(record, dict) or record.get("record") != record_sum(record):
        raise StaleError("is not the file that was written", path=path, remedy=AGAIN)
    for name in files:
        file = path.parent / name
        try:
            now = file_sum(file)
        except OSError as error:
            message = f"cannot be read: {error.strerror}"
            raise FormatError(message, path=file, remedy="run again") from error
        if record["files"].get(name) != now:
            raise StaleError("is not the file that was written", path=file, remedy=AGAIN)
    return record
