"""The record of what an experiment finds about the rated texts of a data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refless.data.task import Task


def record(kind: str, task: Task, settings: Mapping[str, Any], **of: str) -> dict[str, Any]:
    """For `refless.store.sealed.write`; ``of`` names it further, besides the data set."""
    return {
        "kind": kind,
        "of": {"task": task.name, **of},
        "provenance": task.provenance,
        "settings": dict(settings),
        "made_from": task.rated_sums,
    }
