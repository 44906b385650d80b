"""Files, written so that nothing half-written ever stands for a result, and their sums."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from refless.errors import OutputError


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn an operating system's error in the block into an OutputError about ``path``."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror or error}",
            path=path,
            remedy="make room or make the directory writable, and run again",
        ) from error


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place if the block ends without error; an
    OutputError where it cannot be written. Read other files before: their errors would be taken
    for errors of writing."""
    path = Path(path)
    # The suffix stays, since matplotlib and numpy read the format off it.
    partial = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.partial{path.suffix}")
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield partial
            os.replace(partial, path)
    finally:
        with suppress(OSError):  # which would cover up an earlier error
            partial.unlink(missing_ok=True)


def write_text(text: str, path: str | Path) -> str:
    """Write a text as UTF-8, whole or not at all; the SHA-256 of its bytes."""
    content = text.encode()
    with whole_file(path) as partial:
        partial.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def write_together(texts: Mapping[Path, str]) -> None:
    """Write texts as UTF-8; none is put in place before all are written. Raises OutputError: as
    `whole_file`."""
    with ExitStack() as stack:
        for path, text in texts.items():
            partial = stack.enter_context(whole_file(path))
            with writing(path):
                partial.write_bytes(text.encode())


def json_text(value: Any) -> str:
    """JSON with sorted keys, as it stands in a file."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def file_sum(path: str | Path) -> str:
    """SHA-256 of a file's bytes, as hexadecimal digits."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
