"""The one format of files between stages: content, what it is, what it was made from, its sums.

A signed file holds a table (``.csv``, ``.csv.gz``), arrays (``.npz``) or one large array, which is
mapped into memory (``.npy``), and about itself a record in JSON: in a table it is the first line,
behind ``# refless``; in an ``.npz`` the member ``about``; in an ``.npy`` it follows the array.
The record has

===========  ====================================================================================
kind         what the content is: ``texts``, ``kernel``, ``predictions``, ...
of           what it is about, by role: ``{"task": "dstc7", "kernel": "bleu.char"}``
provenance   ``computed`` or ``shipped``
settings     the settings that decided the content
made_from    by role, the sums of what it was made from (`identity`, or a sum of texts)
inputs       by place, the sums of the results that its job was given (`refless.store.inputs`)
told         the sum of the parameters of its job, empty outside of one
signatures   of the kernels and the code that decided it: see `refless.store.signatures`
facts        whatever else its readers need
content      SHA-256 of the content
record       SHA-256 of the rest of the record
===========  ====================================================================================

Whoever reads a file says what it expects. `read` refuses a file of which one bit is another, that
is something else than its name says, that was made from other texts or settings, or by other code.
That holds for computed and shipped files alike. No text goes into a shipped file.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refless.errors import FormatError, StaleError
from refless.store import inputs
from refless.store.files import whole_file

MARK = "# refless "
AGAIN = "delete it and run again; if that run names a command with --forcerun, type it"
RENEW = (
    f"{AGAIN}. That is for what was computed here; what comes with refless holds for its own code"
    " and settings: set them back, or compute it from the raw data (docs/reproduce.md), and `make"
    " ship` renews it"
)
_ROLES = ("of", "settings", "made_from")


@dataclass(frozen=True)
class Signed:
    """What `read` returns.

    content : pandas.DataFrame, a dict of arrays, or an array
    about : the record
    """

    content: Any
    about: dict[str, Any]


def write(path: str | Path, content: Any, about: Mapping[str, Any]) -> dict[str, Any]:
    """Write a table or arrays with their record, whole or not at all; the record.

    The same content and record give the same bytes.

    Parameters
    ----------
    path : ends in ``.csv``, ``.csv.gz``, ``.npz`` or ``.npy``
    content : DataFrame for a table, mapping of name to array for ``.npz``, array for ``.npy``
    about : the record, without its sums; ``kind`` is required, ``provenance`` is ``computed``
        unless it says otherwise

    Raises
    ------
    OutputError : the file cannot be written.
    """
    path = Path(path)
    record = {"provenance": "computed", "signatures": [], "facts": {}, **about}
    for role in _ROLES:
        record.setdefault(role, {})
    record |= {"inputs": inputs.sums_for(path), "told": inputs.told()}
    if path.suffix == ".npy":
        record["content"] = _array_sum(content)
        with whole_file(path) as partial, partial.open("wb") as handle:
            np.save(handle, content)
            handle.write(sealed(record).encode())
        return record
    if path.suffix == ".npz":
        arrays = {name: np.ascontiguousarray(array) for name, array in content.items()}
        record["content"] = _arrays_sum(arrays)
        buffer = io.BytesIO()
        members: dict[str, Any] = {"about": sealed(record), **arrays}
        np.savez_compressed(buffer, **members)
        body = buffer.getvalue()
    else:
        from refless.store.tables import table_text

        text = table_text(content)
        record["content"] = hashlib.sha256(text.encode()).hexdigest()
        body = f"{MARK}{sealed(record)}\n{text}".encode()
        if path.suffix == ".gz":
            body = gzip.compress(body, mtime=0)
    with whole_file(path) as partial:
        partial.write_bytes(body)
    return record


def read(
    path: str | Path,
    kind: str,
    *,
    of: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    made_from: Mapping[str, str] | None = None,
    columns: Sequence[str] = (),
    fresh: bool = True,
) -> Signed:
    """Read a signed file, if it is the one that is expected.

    Parameters
    ----------
    kind : what it must be
    of, settings, made_from : entries that its record must have with these values; entries that
        are not named here are not looked at
    columns : columns or arrays that it must have
    fresh : whether the code that decided it must be today's

    Raises
    ------
    FormatError : the file is missing, broken, of another kind, about something else, or lacks a
        column.
    StaleError : it was made from other data, under other settings or by other code.
    """
    path = Path(path)
    body, record = _open(path)
    inputs.require(record.get("inputs", {}), path)
    if record["kind"] != kind:
        raise FormatError(f"holds {record['kind']}, not {kind}", path=path, remedy=AGAIN)
    _same(record["of"], of or {}, FormatError, "is about", path)
    require_made_from(record, made_from or {}, path)
    _same(record["settings"], settings or {}, StaleError, "was made under other settings:", path)
    if fresh:
        require_fresh(record, path)
    if isinstance(body, str):
        from refless.store.tables import parse_table

        content: Any = parse_table(body, path)
    else:
        content = body
    lacking = [name for name in columns if name not in content]
    if lacking:
        raise FormatError(f"lacks {', '.join(lacking)}", path=path, remedy=AGAIN)
    return Signed(content, record)


def record_of(path: str | Path) -> dict[str, Any]:
    """The record of a signed file alone, checked against its own sum; the content is not read."""
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
        return unsealed(line)
    except Exception as error:
        raise _broken(path, error) from error


def identity(about: Mapping[str, Any]) -> str:
    """The sum by which other files name this one in their ``made_from``."""
    return str(about["content"])


def verify(path: str | Path) -> dict[str, Any]:
    """Check every byte of a signed file and the code behind it, and return its record.

    Raises
    ------
    FormatError, StaleError : as `read`.
    """
    record = _open(Path(path))[1]
    inputs.require(record.get("inputs", {}), path)
    require_fresh(record, path)
    return record


def require_made_from(about: Mapping[str, Any], asked: Mapping[str, str], path: str | Path) -> None:
    """Make sure that a file was made from the data with these sums, by role.

    Raises
    ------
    StaleError : it was made from others.
    """
    _same(about["made_from"], asked, StaleError, "was made from other data:", Path(path))


def require_fresh(about: Mapping[str, Any], path: str | Path) -> None:
    """Make sure that what a record signs is what today's code would compute.

    Of shipped numbers the versions of packages are not compared: which are installed here, if
    any, does not matter.

    Raises
    ------
    StaleError : the code or a version that decides has changed.
    """
    from refless.store.signatures import reasons_against

    packages = about["provenance"] != "shipped"
    reasons = {why for one in about["signatures"] for why in reasons_against(one, packages)}
    if reasons:
        message = "is stale: " + "; ".join(sorted(reasons))
        raise StaleError(message, path=path, remedy=RENEW)


def provenance(abouts: Iterable[Mapping[str, Any]]) -> str:
    """``shipped`` if any of what went in was shipped, else ``computed``."""
    return "shipped" if "shipped" in {about["provenance"] for about in abouts} else "computed"


def _open(path: Path) -> tuple[Any, dict[str, Any]]:
    """Content (text of a table, or arrays) and record, both checked against their sums."""
    # Over broken bytes, numpy, gzip and zipfile pass on whatever their decoders raise.
    try:
        if path.suffix == ".npy":
            array, line = _mapped(path)
            record = unsealed(line)
            if _array_sum(array) != record["content"]:
                raise ValueError("its content is not what was signed")
            return array, record
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                # numpy stops before the end of a member, where zipfile would check it
                fault = archive.testzip()
                if fault:
                    raise ValueError(f"{fault} is damaged")
            with np.load(path, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            record = unsealed(str(arrays.pop("about")))
            if _arrays_sum(arrays) != record["content"]:
                raise ValueError("its content is not what was signed")
            return arrays, record
        raw = path.read_bytes()
        if path.suffix == ".gz":
            raw = gzip.decompress(raw)
        first, _, text = raw.partition(b"\n")
        if not first.startswith(MARK.encode()):
            raise ValueError("it has no record in its first line")
        record = unsealed(first.decode().removeprefix(MARK))
        if hashlib.sha256(text).hexdigest() != record["content"]:
            raise ValueError("its content is not what was signed")
        return text.decode(), record
    except Exception as error:
        raise _broken(path, error) from error


def _mapped(path: Path) -> tuple[np.ndarray, str]:
    """The array of an ``.npy``, read as it is used, and the line of its record."""
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    with path.open("rb") as handle:
        handle.seek(array.offset + array.nbytes)
        return array, handle.read().decode()


def _broken(path: Path, error: Exception) -> FormatError:
    message = error.strerror if isinstance(error, OSError) and error.strerror else error
    return FormatError(f"is no whole signed file: {message}", path=path, remedy=RENEW)


def record_sum(record: Mapping[str, Any]) -> str:
    """SHA-256 of a record, but for its field ``record``, where this sum stands."""
    rest = {name: value for name, value in record.items() if name != "record"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def sealed(record: Mapping[str, Any]) -> str:
    """A record in one line of JSON, with its own sum."""
    whole = {**record, "record": record_sum(record)}
    return json.dumps(whole, sort_keys=True, ensure_ascii=False)


def unsealed(line: str) -> dict[str, Any]:
    """The record of such a line; ValueError where it is not what was signed."""
    record = dict(json.loads(line))
    if record.pop("record") != record_sum(record):
        raise ValueError("its record is not what was signed")
    return record


def _array_sum(array: np.ndarray) -> str:
    """SHA-256 of type, shape and content of an array in C order, which is not copied."""
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape}\n".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _arrays_sum(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _same(
    made: Mapping[str, Any],
    asked: Mapping[str, Any],
    fault: type[FormatError] | type[StaleError],
    what: str,
    path: Path,
) -> None:
    # as JSON, where a tuple is a list
    asked = json.loads(json.dumps(dict(asked)))
    differ = [name for name in asked if made.get(name) != asked[name]]
    if differ:
        shown = "; ".join(f"{name} {made.get(name)}, not {asked[name]}" for name in differ)
        raise fault(f"{what} {shown}", path=path, remedy=RENEW)
