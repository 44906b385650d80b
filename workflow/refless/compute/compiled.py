"""Python loops compiled by numba, cached on disk, without Python's global lock.

Stage: none. Types are given beforehand, so that one version of every loop exists and the time to
compile it is known (seconds, once). Threads are Python's, not numba's: its parallel loops take
several times longer to compile.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Loop = TypeVar("Loop", bound=Callable)


def compiled(types: Any) -> Callable[[Loop], Loop]:
    """Compile a loop for arguments of exactly these types, e.g. ``"int64(int32[::1])"``.

    A loop may use constants and loops of its own file only, since numba's cache notices no other
    change. Where the cache is broken or cannot be written, the loop is compiled in memory.
    """
    import numba

    def compile_it(loop: Loop) -> Loop:
        try:
            return numba.njit(types, nogil=True, cache=True)(loop)
        except Exception:  # numba's cache raises whatever pickle, zlib or the disk do
            return numba.njit(types, nogil=True)(loop)

    return compile_it


def are_indices(values: Any, shape: tuple[int, ...], first: int, stop: int) -> bool:
    """Whether these are whole numbers from ``first`` to ``stop - 1`` in an array of this shape: a
    compiled loop would read or write outside of its arrays.

    >>> are_indices([0, -1], shape=(2,), first=-1, stop=1), are_indices([0.5], (1,), 0, 1)
    (True, False)
    """
    array = np.asarray(values)
    if array.size == 0 or array.shape != shape:
        return array.shape == shape
    return array.dtype.kind in "iu" and bool(first <= array.min() and array.max() < stop)
