"""What a kernel module hands over: its texts made ready, to be filled in block by block.

Stage: kernels (helper). In: nothing. Out: the types that kernel modules and `_blocks` agree on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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


Arrays = dict[str, list[np.ndarray]]
"""Arrays by name, each in one or several pieces that lie end to end in a file."""


class Index(Protocol):
    """Training texts that are made ready once, for candidates that come later.

    A kernel module may have ``index(name, training, **options)``, which returns one, and
    ``opened(name, arrays, **options)``, which makes one of the ``arrays()`` that were kept. Its
    plans give the same bits as ``plan()`` of the module.
    """

    size: int
    """How many training texts there are."""

    def plan(self, candidates: Sequence[str]) -> Plan:
        """Make candidates ready."""
        ...

    def arrays(self) -> Arrays:
        """What the index consists of."""
        ...


def even_blocks(n: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield ``(start, stop)`` of blocks of at most ``width`` rows, of nearly equal width."""
    pieces = -(-n // width)
    for piece in range(pieces):
        yield n * piece // pieces, n * (piece + 1) // pieces
