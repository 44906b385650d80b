"""Where compiled loops are kept between runs: seconds of compilation in each process otherwise.

Stage: none. numba looks at the loop's own file alone, and constants of other files are part of the
machine code too; so loops lie in a folder named by the sum of all code behind them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from refless.store.code import code_sum

Loop = TypeVar("Loop")


def home() -> Path:
    """The folder of all loops: ``refless/loops`` below the user's cache (XDG_CACHE_HOME)."""
    from platformdirs import user_cache_path

    return user_cache_path("refless") / "loops"


def kept(loop: Callable, compile_it: Callable[[bool], Loop]) -> Loop:
    """A loop compiled by ``compile_it``, called with whether numba's cache is used; without one
    where that is broken or cannot be written."""
    from numba import config

    settings: Any = config
    folder = home() / code_sum(Path(loop.__code__.co_filename).resolve())[:16]
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        return compile_it(True)
    except Exception:  # numba's cache raises whatever pickle, zlib or the disk do
        shutil.rmtree(folder, ignore_errors=True)
        return compile_it(False)
    finally:
        settings.CACHE_DIR = before


if __name__ == "__main__":  # `make clean`
    shutil.rmtree(home(), ignore_errors=True)
