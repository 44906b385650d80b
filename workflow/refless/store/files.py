"""Write files whole or not at all, and compute their checksums. Stage: none."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import Any

from refless.errors import OutputError


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Raise the operating system's errors in the block as OutputErrors about ``path``. The error of
    a closed pipe is passed on."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror or error}",
            path=path,
            remedy="make room, or make the file and its directory writable, and run again",
        ) from error


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give the block a temporary path, which is renamed to ``path`` if no error ends the block.

    Links are followed, and an old file's mode is kept. Other files are to be read before the block:
    their errors would be reported as errors of writing.

    Raises OutputError: the file cannot be written.
    """
    with writing(path):
        target, partial = _places(path)
    try:
        with writing(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                old = target.stat()
                partial.touch(0o600)  # nobody else reads what is not finished
                with suppress(OSError, AttributeError):  # others' files, and Windows
                    os.chown(partial, old.st_uid, old.st_gid)
                partial.chmod(S_IMODE(old.st_mode))
            yield partial
            os.replace(partial, target)
    finally:
        with suppress(OSError):  # which would cover up an earlier error
            partial.unlink(missing_ok=True)


def require_writable(path: str | Path) -> None:
    """Raise OutputError, before any work, where `whole_file` would; nothing is written."""
    with writing(path):
        target, partial = _places(path)
        folder = next(parent for parent in target.parents if parent.exists())
        (trial := folder / partial.name).touch()
        trial.unlink()


def _places(path: str | Path) -> tuple[Path, Path]:
    """Return the file that a path leads to, and a temporary name beside it.

    Raises OSError: there is no permission to write it. Raises OutputError: it is a folder, a pipe
    or a device.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OutputError("is no file that can be replaced", path=path, remedy="name another")
    if os.path.lexists(target):
        target.open("r+b").close()
    # The suffix stays, since matplotlib and numpy read the format off it.
    name = f".{target.stem[:40]}.{secrets.token_hex(8)}.partial{Path(path).suffix}"
    return target, target.with_name(name)


def write_text(text: str, path: str | Path) -> None:
    """Write a text as UTF-8, whole or not at all. Raises OutputError: as `whole_file`."""
    write_together({Path(path): text})


def write_together(texts: Mapping[Path, str]) -> None:
    """Write several texts as UTF-8. None gets its final name before all are written.

    texts : path -> text
    Raises OutputError: as `whole_file`.
    """
    with ExitStack() as stack:
        for path, text in texts.items():
            stack.enter_context(whole_file(path)).write_bytes(text.encode())


def json_text(value: Any) -> str:
    """Return a value as JSON with sorted keys, as it stands in a file."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def file_sum(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes, as hexadecimal digits."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
