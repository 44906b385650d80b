"""Files between the stages: written so that nothing half-written ever stands for a result."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import re
import secrets
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from refless.errors import FormatError, OutputError


def partial_path(path: Path) -> Path:
    """A temporary name beside ``path``, unlike that of any other thread, process or machine."""
    # The suffix stays, since matplotlib and numpy read the format off it.
    own = f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
    return path.with_name(f".{path.stem}.{own}.partial{path.suffix}")


def remove_leftovers(path: Path) -> None:
    """Remove what processes of this machine that are no more left beside ``path`` (kill -9)."""
    pattern = (
        rf"\.{re.escape(path.stem)}\.{_host()}-(\d+)-[0-9a-f]+\.partial{re.escape(path.suffix)}"
    )
    with suppress(OSError):
        for found in path.parent.iterdir():
            match = re.fullmatch(pattern, found.name)
            if match and not _alive(int(match[1])):
                remove_partial(found)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", platform.node())


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # another user's
    return True


def remove_partial(partial: Path) -> None:
    """Remove what may be left under a temporary name, without covering up an earlier error."""
    with suppress(OSError):
        partial.unlink(missing_ok=True)


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
    """A temporary path beside ``path`` that takes its place if the block ends without error.

    Keep reading of other files out of the block: its errors would be taken for errors of writing.

    Raises
    ------
    OutputError : the file cannot be written (disk full, read-only directory).
    """
    path = Path(path)
    partial = partial_path(path)
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_leftovers(path)
            yield partial
            os.replace(partial, path)
    finally:
        remove_partial(partial)


def write_text(text: str, path: str | Path) -> str:
    """Write a text as UTF-8, whole or not at all; the SHA-256 of its bytes."""
    content = text.encode()
    with whole_file(path) as partial:
        partial.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def write_together(texts: Mapping[Path, str]) -> None:
    """Write texts as UTF-8; none is put in place before all are written.

    Raises
    ------
    OutputError : as `whole_file`.
    """
    with ExitStack() as stack:
        for path, text in texts.items():
            partial = stack.enter_context(whole_file(path))
            with writing(path):
                partial.write_bytes(text.encode())


def json_text(value: Any) -> str:
    """JSON with sorted keys, as it stands in a file."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write_json(value: Any, path: str | Path) -> None:
    """Write JSON with sorted keys, whole or not at all."""
    write_text(json_text(value), path)


def read_json(path: str | Path) -> Any:
    """Read JSON; FormatError names the file if it is missing or broken."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(
            f"cannot be read as JSON: {error}", path=path, remedy="delete it and run again"
        ) from error


def file_sum(path: str | Path) -> str:
    """sha256 of a file's bytes, as hexadecimal digits."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def sum_now(path: str | Path) -> str:
    """`file_sum`, taken once in a process while the file stays as it is: a model has gigabytes."""
    about = Path(path).stat()
    return _sum_once(str(path), about.st_size, about.st_mtime_ns, about.st_ctime_ns)


@cache
def _sum_once(path: str, *state: int) -> str:
    return file_sum(path)


LIST = "SHA256SUMS"


def require_listed(path: str | Path) -> None:
    """Make sure that a file that comes with refless is the one in the list of sums beside it.

    Raises
    ------
    FormatError : it is missing, or another one; or the list is.
    """
    path = Path(path)
    sums = {path.name: file_sum(path)} if path.is_file() else {}
    _require(path.parent, [path.name], sums, path.suffix)


def whole_list(folder: str | Path, suffix: str) -> str:
    """The list of sums of a folder that comes with refless, whose files are all as it says.

    Raises
    ------
    FormatError : as `require_as_listed`.
    """
    folder = Path(folder)
    sums = {p.as_posix(): file_sum(folder / p) for p in files_below(folder, suffix)}
    require_as_listed(folder, sums, suffix)
    return _read_list(folder)


def _read_list(folder: Path) -> str:
    try:
        return (folder / LIST).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        message = f"cannot be read: {error}"
        raise FormatError(message, path=folder / LIST, remedy=_back(folder)) from error


def _back(folder: str | Path) -> str:
    """How to get back a folder that comes with refless."""
    told = shlex.quote(str(folder))
    return (
        f"`git -C {told} checkout -- .` brings back what came with refless, and so does a fresh"
        " copy of that folder"
    )


def files_below(folder: str | Path, suffix: str = "") -> list[Path]:
    """The files below a folder, but the list of sums, as paths below it; hidden ones left out."""
    folder = Path(folder)
    below = (path.relative_to(folder) for path in folder.rglob(f"*{suffix}") if path.is_file())
    return sorted(p for p in below if p.name != LIST and all(part[0] != "." for part in p.parts))


def require_as_listed(folder: str | Path, sums: Mapping[str, str], suffix: str = "") -> None:
    """Make sure that the files below a folder that comes with refless are those in its list.

    Parameters
    ----------
    sums : path below the folder -> `file_sum`, of `files_below`
    suffix : of the files that the list has

    Raises
    ------
    FormatError : one is missing, another one, or not listed; or the list is missing.
    """
    _require(Path(folder), None, sums, suffix)


def _require(
    folder: Path, names: Sequence[str] | None, sums: Mapping[str, str], suffix: str
) -> None:
    """`require_as_listed`, of these names alone; ``suffix`` is that of all files in the list."""
    renew = f"from refless.store.files import list_sums; list_sums({str(folder)!r}, {suffix!r})"
    python = shlex.quote(sys.executable)
    meant = f"if the change is meant, `{python} -c {shlex.quote(renew)}` renews the list"
    lines = _read_list(folder).splitlines()
    listed = {name: found for found, _, name in (line.partition("  ") for line in lines)}
    for name in sorted({*listed, *sums}) if names is None else names:
        if name in sums and name not in listed:
            more = f"delete it, or move it to another place; {meant}"
            raise FormatError(f"stands not in {LIST}", path=folder / name, remedy=more)
        if name not in sums or listed[name] != sums[name]:
            said = "is missing" if name not in sums else f"is not the file that {LIST} lists"
            raise FormatError(said, path=folder / name, remedy=f"{_back(folder)}; {meant}")


def list_sums(folder: str | Path, suffix: str) -> None:
    """Write the list of sums of the files below a folder that end in ``suffix``."""
    folder = Path(folder)
    listed = (f"{file_sum(folder / p)}  {p.as_posix()}\n" for p in files_below(folder, suffix))
    with whole_file(folder / LIST) as partial:
        partial.write_text("".join(listed), encoding="utf-8")


# A text may be longer than the csv module's timid default of 128 KiB.
csv.field_size_limit(1 << 30)
