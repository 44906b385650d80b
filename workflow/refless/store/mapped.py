"""Large arrays in one file that is mapped into memory: opening it copies nothing.

Stage: none. In: arrays, and a record of what they are. Out: a file; later, the record and the
arrays, which the system reads from the disk as they are used.

The first line is the record, in JSON, behind ``# refless mapped``. It has what the writer says
about the content, of each array the type, the shape, the place and the SHA-256 of its bytes, and
its own sum. The bytes of the arrays follow, each at a multiple of 64 from where the first one is.
There is no pickle in it: opening a file runs nothing.

What is written into the file while it is open shows in the arrays: `state` tells, see there.

The record and the length of the file are checked always. The arrays' sums are checked as well,
unless the caller says no: that reads the whole file once, at some 1.5 GB a second and core.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from refless.errors import FormatError
from refless.store.files import whole_file
from refless.store.signed import sealed, unsealed

MARK = b"# refless mapped "
ALIGNED = 64


def write(
    path: str | Path, about: Mapping[str, Any], arrays: Mapping[str, Iterable[np.ndarray]]
) -> None:
    """Write arrays with their record, whole or not at all; the same content gives the same bytes.

    Parameters
    ----------
    about : the record, for JSON; ``kind`` says what the content is
    arrays : each is one piece, or several of one dimension and type, which are put end to end; as
        the machine has them, so a file is for machines of the same order of bytes

    Raises
    ------
    OutputError : the file cannot be written.
    """
    pieces = {name: list(map(np.ascontiguousarray, each)) for name, each in arrays.items()}
    places: dict[str, dict[str, Any]] = {}
    end = 0
    for name, each in pieces.items():
        digest = hashlib.sha256()
        for piece in each:
            digest.update(as_bytes(piece))
        end += -end % ALIGNED
        places[name] = {
            "type": (each[0].dtype if each else np.dtype(np.uint8)).str,
            "shape": list(each[0].shape) if len(each) == 1 else [sum(map(len, each))],
            "at": end,
            "bytes": sum(piece.nbytes for piece in each),
            "sum": digest.hexdigest(),
        }
        end += places[name]["bytes"]
    head = MARK + sealed({**about, "arrays": places, "bytes": end}).encode() + b"\n"
    head += b"\0" * (-len(head) % ALIGNED)
    with whole_file(path) as partial, partial.open("wb") as handle:
        handle.write(head)
        for name, each in pieces.items():
            handle.write(b"\0" * (len(head) + places[name]["at"] - handle.tell()))
            for piece in each:
                handle.write(as_bytes(piece))


def read(
    path: str | Path, kind: str, *, check: bool = True, remedy: str = "make it again"
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The record and the arrays of a file; what is written to the arrays never reaches the file.

    Parameters
    ----------
    kind : what the record must say
    check : whether all bytes are compared with their sums
    remedy : what to do if the file is refused

    Raises
    ------
    FormatError : the file cannot be read, is another one, was cut short, or a byte of it changed.
    """
    try:
        with Path(path).open("rb") as handle:
            if handle.read(len(MARK)) != MARK:
                raise ValueError("it is another kind of file")
            whole = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_COPY)
        line = whole.readline()
        about = unsealed(line[len(MARK) :].decode())
        start = len(line) + -len(line) % ALIGNED
        if about["kind"] != kind:
            raise ValueError(f"it holds {about['kind']}, not {kind}")
        if len(whole) != start + about["bytes"]:
            raise ValueError(f"it has {len(whole)} bytes instead of {start + about['bytes']}")
        arrays = {
            name: np.frombuffer(
                whole, place["type"], int(np.prod(place["shape"])), start + place["at"]
            ).reshape(place["shape"])
            for name, place in about["arrays"].items()
        }
        if check:
            _check(arrays, about["arrays"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FormatError(f"cannot be used: {what}", path=path, remedy=remedy) from error
    return about, arrays


def state(path: str | Path) -> tuple[int, int, int]:
    """Which file it is, how long, and when it was last written into.

    Compared with the state before it was opened: the same file with another length or time was
    written into, and arrays may have changed. One that took its place by its name changes none.
    """
    about = Path(path).stat()
    return about.st_ino, about.st_size, about.st_mtime_ns


def as_bytes(array: np.ndarray) -> Any:
    """The bytes of an array without a copy."""
    return array.reshape(-1).view(np.uint8)


def _check(arrays: Mapping[str, np.ndarray], places: Mapping[str, Any]) -> None:
    def changed(name: str) -> bool:
        return hashlib.sha256(as_bytes(arrays[name])).hexdigest() != places[name]["sum"]

    with ThreadPoolExecutor() as pool:  # hashing runs without Python's lock
        for name, wrong in zip(arrays, pool.map(changed, arrays), strict=True):
            if wrong:
                raise ValueError(f"its part {name!r} is damaged")
