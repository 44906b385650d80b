"""Where the numbers of a run come from: data, code, packages, settings, machine.

Stage: report. In: records of the tables and of the raw files, the settings. Out: a record for
machines (``run/provenance.json``).
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from refless.store.code import PACKAGE, code_sum
from refless.store.machine import processor
from refless.store.sealed import record_of


def record(
    settings: Mapping[str, Any],
    data: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """What one needs to run again, as a dictionary for JSON.

    Parameters
    ----------
    settings : the whole configuration
    data : `raw_sums`
    tables : name -> the record beside a table (``files``, ``rows``, ``source``)
    """
    installed = {d.metadata["Name"].lower(): d.version for d in importlib.metadata.distributions()}
    version = importlib.metadata.version("refless")
    return {
        "command": os.environ.get("REFLESS_COMMAND", ""),  # as it was typed
        "code": {"refless": version, "sha256": code_sum(*sorted(PACKAGE.rglob("*.py")))},
        "python": platform.python_version(),
        "packages": dict(sorted(installed.items())),
        "machine": machine(),
        "settings": dict(settings),
        "data": dict(data),
        "tables": {
            name: {key: about[key] for key in ("files", "rows", "source")}
            for name, about in tables.items()
        },
    }


def raw_sums(texts: Iterable[str | Path]) -> dict[str, dict[str, str]]:
    """Data set -> raw file -> SHA-256, of the files that tables of texts were made from.

    Raises
    ------
    FormatError : a table of texts is missing or broken.
    """
    return {Path(path).parent.name: record_of(path)["facts"]["raw"] for path in texts}


def machine() -> dict[str, Any]:
    """Processor, cores that the process may use, memory in GiB, system."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": f"{processor()} ({platform.machine()})",
        "cores": cores,
        "memory_gib": round(pages * size / 2**30, 1),
        "system": platform.system(),
        "release": platform.release(),
    }
