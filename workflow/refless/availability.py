"""What a run can have, what it cannot have, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """Why something cannot be had: a name for programs, a sentence for people, what to do."""

    code: str
    sentence: str
    remedy: str
