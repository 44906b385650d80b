"""What a kernel's module hands over: its texts made ready, to be filled in block by block.

Stage: kernels (helper). In: nothing. Out: the types that kernel modules and `_blocks` agree on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

Fill = Callable[[int, int, np.ndarray], None]
"""``fill(first, last, out)`` writes the values of candidates ``first`` to ``last - 1`` against its
block of training texts to ``out``: float64, C-contiguous, shape (last - first, width of the block).
It is called from several threads at once."""


class Plan(Protocol):
    """Candidates and training texts made ready."""

    shape: tuple[int, int]
    """(candidates, training)"""

    def blocks(self) -> Iterable[tuple[int, int]]:
        """Cut the training rows into blocks, ``(start, stop)``, in order and without gaps."""
        ...

    def block(self, start: int, stop: int) -> Fill:
        """Make one block of training rows ready."""
        ...


class Index(NamedTuple):
    """Training texts made ready for any candidates that come later.

    size : how many there are
    plan : makes candidates ready
    """

    size: int
    plan: Callable[[Sequence[str]], Plan]


def even_blocks(n: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield ``(start, stop)`` of blocks of at most ``width`` rows, of nearly equal width."""
    pieces = -(-n // width)
    for piece in range(pieces):
        yield n * piece // pieces, n * (piece + 1) // pieces
