"""Machine code from Python loops, kept in the user's cache and free of Python's lock.

Stage: kernels (helper). Types are given beforehand, so that one version of every loop exists and
the time to compile it is known (seconds, once). Threads are Python's, not numba's: its parallel
loops take several times longer to compile.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from refless.store.code import code_sum

Loop = TypeVar("Loop", bound=Callable)


def home() -> Path:
    """The folder of all loops: ``refless/loops`` below the user's cache (XDG_CACHE_HOME)."""
    from platformdirs import user_cache_path

    return user_cache_path("refless") / "loops"


def compiled(types: Any) -> Callable[[Loop], Loop]:
    """Compile a loop for arguments of exactly these types, e.g. ``"int64(int32[::1])"``.

    numba looks at the loop's own file alone, and constants of other files are part of the machine
    code too: so loops lie in a folder named by the sum of all code behind them. Where the cache is
    broken or cannot be written, there is none.
    """
    import numba

    settings: Any = numba.config

    def compile_it(loop: Loop) -> Loop:
        folder = home() / code_sum(Path(loop.__code__.co_filename).resolve())[:16]
        before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
        try:
            found = numba.njit(types, nogil=True, cache=True)(loop)
        except Exception:  # numba's cache raises whatever pickle, zlib or the disk do
            shutil.rmtree(folder, ignore_errors=True)
            found = numba.njit(types, nogil=True)(loop)
        finally:
            settings.CACHE_DIR = before
        return found

    return compile_it


if __name__ == "__main__":  # `make clean`
    shutil.rmtree(home(), ignore_errors=True)
