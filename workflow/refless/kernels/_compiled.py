"""Machine code from Python loops, kept in the user's cache and free of Python's lock.

Stage: kernels (helper). Types are given beforehand, so that one version of every loop exists and
the time to compile it is known (seconds, once). Threads are Python's, not numba's: its parallel
loops take several times longer to compile.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from refless.store.code import kept

Loop = TypeVar("Loop", bound=Callable)


def compiled(types: Any) -> Callable[[Loop], Loop]:
    """Compile a loop for arguments of exactly these types, e.g. ``"int64(int32[::1])"``."""

    def compile_it(loop: Loop) -> Loop:
        return cast(
            Loop, kept(loop, lambda cache: numba.njit(types, nogil=True, cache=cache)(loop))
        )

    return compile_it
