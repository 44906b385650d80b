"""Machine code from Python loops: the one place that knows how the kernels use numba.

Stage: kernels (helper). In: a function of arrays and numbers, and its types. Out: the function
compiled once, kept on disk beside the module, and free of Python's lock while it runs.

Types are given beforehand, so that one version of every loop exists and the time to compile it
is known (seconds, once). Threads are Python threads, not numba's: its parallel loops take several
times longer to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Loop = TypeVar("Loop", bound=Callable)


def compiled(types: str) -> Callable[[Loop], Loop]:
    """Compile a loop for arguments of exactly these types, e.g. ``"int64(int32[::1])"``.

    Loops that call each other must stand in one file: numba keeps its compiled code by the time
    of the calling file alone.
    """

    def compile_it(loop: Loop) -> Loop:
        try:
            return cast(Loop, numba.njit(types, nogil=True, cache=True)(loop))
        except RuntimeError as error:
            # Neither the package nor the user's cache directory is writable: compile each time.
            if "cannot cache" not in str(error):
                raise
            return cast(Loop, numba.njit(types, nogil=True)(loop))

    return compile_it
