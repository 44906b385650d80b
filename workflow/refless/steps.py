"""How far a long computation is, for the log of its job. Stage: none.

In the log of a job each step that takes its time has a line; elsewhere nobody listens.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
EVERY = 10.0
"""Seconds between two lines about the same work."""


class Steps:
    """Logs how much of a work is done, a line every so many seconds (`EVERY`)."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._last = time.monotonic()

    def __call__(self, done: int) -> None:
        if (now := time.monotonic()) - self._last >= EVERY:
            self._last = now
            _log.info("%s: %s of %s", self._what, f"{done:,}", f"{self._total:,}")


def stepwise(what: str, parts: Sequence[_T]) -> Iterator[_T]:
    """The parts of a work, one after the other; each is named in the log when its turn comes."""
    for number, part in enumerate(parts, start=1):
        _log.info("%s: %d of %d, %s", what, number, len(parts), part)
        yield part
