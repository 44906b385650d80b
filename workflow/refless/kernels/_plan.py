"""What a kernel module hands over: its texts made ready, to be filled in block by block.

Stage: kernels (helper). In: nothing. Out: the types that kernel modules and `_blocks` agree on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import numpy as np

Fill = Callable[[int, int, np.ndarray, int], None]
"""``fill(first, last, out, column)`` writes the values of candidates ``first`` to ``last - 1``
against its block of training texts to ``out[:last - first, column:column + width]``. It is called
from several threads at once. ``out`` is float64 and C-contiguous."""


class Plan(Protocol):
    """A kernel whose texts are made ready; ``plan()`` of every kernel module returns one."""

    shape: tuple[int, int]
    """(candidates, training)"""

    def blocks(self) -> Iterable[tuple[int, int]]:
        """Cut the training rows into blocks, ``(start, stop)``, in order and without gaps."""
        ...

    def block(self, start: int, stop: int) -> Fill:
        """Make one block of training rows ready."""
        ...


def even_blocks(n: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield ``(start, stop)`` of blocks of at most ``width`` rows, of nearly equal width."""
    pieces = -(-n // width)
    for piece in range(pieces):
        yield n * piece // pieces, n * (piece + 1) // pieces
