"""Where compiled loops are kept between runs, and what makes them safe to use again.

Stage: none. A folder of the user's cache for each loop, with the sums of the files in it: machine
code that somebody or something changed would give other numbers without a word, so a folder whose
sums do not hold is emptied, and the loop compiled anew. So it is where code changed that a loop
hangs on: numba looks at the loop's own file, and constants of other files are part of the machine
code, too.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from refless.store.code import code_sum
from refless.store.files import partial_path, whole_file

log = logging.getLogger(__name__)
Loop = TypeVar("Loop")
SUMS = "sums.json"


def home() -> Path:
    """The folder of all loops: ``refless/loops`` below the user's cache (XDG_CACHE_HOME)."""
    from platformdirs import user_cache_path

    return user_cache_path("refless") / "loops"


def kept(loop: Callable, compile_it: Callable[[bool], Loop]) -> Loop:
    """A loop compiled, and kept on disk if that can be had.

    Parameters
    ----------
    compile_it : called with True to compile with numba's cache, which lies in the loop's folder
        meanwhile, and with False to compile in memory
    """
    code = loop.__code__
    name = hashlib.sha256(f"{code.co_filename}\0{loop.__qualname__}".encode()).hexdigest()[:16]
    try:
        folder = home() / f"{loop.__name__}-{name}"
        found = _sums(folder, own := code_sum(Path(code.co_filename).resolve()))
        if len(found) > 1 and found == _recorded(folder):
            with _numba_in(folder):
                compiled = compile_it(True)
            _record(folder, own)  # what numba has added
            return compiled
        fresh = partial_path(folder)
        try:
            # else numba would look for a place of its own
            fresh.mkdir(parents=True)
            with _numba_in(fresh):
                compiled = compile_it(True)
            _record(fresh, own)
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):  # another process was first
                fresh.rename(folder)
            return compiled
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except Exception as error:  # numba's cache raises whatever pickle, zlib or the disk do
        _say_once(getattr(error, "strerror", None) or type(error).__name__)
        return compile_it(False)


@contextmanager
def _numba_in(folder: Path) -> Iterator[None]:
    """numba's cache in one folder, for as long as one loop is made; others' loops stay theirs."""
    from numba import config

    settings: Any = config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        settings.CACHE_DIR = before


def _sums(folder: Path, code: str) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.suffix in {".nbi", ".nbc"})
    return {"code": code} | {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def _recorded(folder: Path) -> Any:
    try:
        return json.loads((folder / SUMS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _record(folder: Path, code: str) -> None:
    sums = _sums(folder, code)
    if sums != _recorded(folder):
        with whole_file(folder / SUMS) as partial:
            partial.write_text(json.dumps(sums), encoding="utf-8")


@cache
def _say_once(reason: str) -> None:
    log.warning(
        "compiled loops cannot be kept in %s (%s): they are compiled anew in each run. Make room"
        " or the folder writable, or set XDG_CACHE_HOME to another one.",
        home(),
        reason,
    )


if __name__ == "__main__":  # `make clean`
    shutil.rmtree(home(), ignore_errors=True)
