"""Machine code from Python loops: the one place that knows how the kernels use numba.

Stage: kernels (helper). In: a function of arrays and numbers, and its types. Out: the function
compiled once, kept in the user's cache (`refless.store.code`), and free of Python's lock
while it runs.

Types are given beforehand, so that one version of every loop exists and the time to compile it
is known (seconds, once). Threads are Python threads, not numba's: its parallel loops take several
times longer to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from refless.store.code import kept

Loop = TypeVar("Loop", bound=Callable)


def compiled(types: Any) -> Callable[[Loop], Loop]:
    """Compile a loop for arguments of exactly these types, e.g. ``"int64(int32[::1])"``.

    ``types`` is such a string or a signature of numba's own objects.
    """

    def compile_it(loop: Loop) -> Loop:
        return cast(
            Loop, kept(loop, lambda cache: numba.njit(types, nogil=True, cache=cache)(loop))
        )

    return compile_it
