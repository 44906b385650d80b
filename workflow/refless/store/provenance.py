"""Where the numbers of a run come from: data, code, packages, settings, machine.

Stage: report. In: records of the tables, tables of texts, the settings. Out: a record for machines
(``run/provenance.json``).
"""

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
    texts: Iterable[str | Path],
    tables: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """What one needs to run again, as a dictionary for JSON.

    settings : the whole configuration
    texts : tables of texts, whose records have the sums of the raw files
    tables : name -> the record beside a table (``files``, ``rows``, ``source``)
    Raises FormatError: a table of texts is missing or broken.
    """
    installed = {d.metadata["Name"].lower(): d.version for d in importlib.metadata.distributions()}
    version = importlib.metadata.version("refless")
    return {
        "command": os.environ.get("REFLESS_COMMAND", ""),  # as it was typed
        "code": {"refless": version, "sha256": code_sum(*sorted(PACKAGE.rglob("*.py")))},
        "python": platform.python_version(),
        "packages": dict(sorted(installed.items())),
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "system": platform.platform(),
        },
        "settings": dict(settings),
        "data": {Path(path).parent.name: record_of(path)["facts"]["raw"] for path in texts},
        "tables": {
            name: {key: about[key] for key in ("files", "rows", "source")}
            for name, about in tables.items()
        },
    }
