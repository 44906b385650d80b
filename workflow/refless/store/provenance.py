"""What a run was made from: data, code, packages, settings, machine; what it cost.

Stage: report. In: the tables, the sums of the raw files, the settings, Snakemake's benchmark
files. Out: a record for machines (``provenance.json``), one line for a table's footer, a table of
time and memory by rule.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from refless.data.fetch import file_sum
from refless.data.ratings import read_table
from refless.errors import FormatError
from refless.report.published import write_markdown
from refless.store.machine import processor

# What decides numbers; the record of a run lists everything that is installed.
DECISIVE = ("numpy", "scipy", "pandas", "numba")
_CODE = ("*.py", "*.smk", "*.json", "*.yaml", "*.txt")
RESOURCE_COLUMNS = ["rule", "jobs", "seconds", "longest_seconds", "cpu_seconds", "peak_memory_mb"]


@cache
def code_sum() -> str:
    """SHA-256 of everything in this package, file by file in the order of their names."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(p for pattern in _CODE for p in folder.rglob(pattern)):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def made_by(argv: Sequence[str] | None = None) -> str:
    """One line for a table's footer: the command with its settings and seed, code, packages.

    No time, machine or absolute path is in it, so that the same inputs give the same bytes. The
    log's place is left out, since it decides nothing.
    """
    words = list(sys.argv if argv is None else argv)
    if "--log" in words:
        place = words.index("--log")
        del words[place : place + 2]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in DECISIVE)
    return (
        f"Made by `python {' '.join(map(shlex.quote, words))}`; code {code_sum()[:12]}, Python"
        f" {platform.python_version()}, {versions}; sums of the data, all settings, the machine:"
        " `results/run/provenance.json`."
    )


def write_signed_markdown(
    path: str | Path, title: str, lead: str, body: str, notes: Sequence[str]
) -> None:
    """Write a table for reading, with `made_by` as its last note, whole or not at all."""
    write_markdown(path, title, lead, body, [*notes, made_by()])


def record(
    settings: Mapping[str, Any],
    numbers: str,
    raw_files: Mapping[str, str],
    tables: Iterable[str | Path],
    command: str,
) -> dict[str, Any]:
    """What one needs to run again, as a dictionary for JSON.

    Parameters
    ----------
    settings : the whole configuration
    numbers : ``computed``, ``auto`` or ``shipped``
    raw_files : path under the mirror -> SHA-256, of the files that were verified
    tables : CSV files with a column ``provenance``
    command : what builds everything again

    Raises
    ------
    FormatError : a table cannot be read.
    """
    return {
        "command": command,
        "numbers": numbers,
        "code": {"refless": importlib.metadata.version("refless"), "sha256": code_sum()},
        "python": platform.python_version(),
        "packages": _installed(),
        "machine": machine(),
        "settings": dict(settings),
        "data": dict(sorted(raw_files.items())),
        "tables": {Path(path).stem: _table(path) for path in sorted(map(str, tables))},
    }


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


def _installed() -> dict[str, str]:
    found = {d.metadata["Name"].lower(): d.version for d in importlib.metadata.distributions()}
    return dict(sorted(found.items()))


def _table(path: str | Path) -> dict[str, Any]:
    table = read_table(path, [])
    counts: dict[str, int] = {}
    if "provenance" in table:
        counts = {
            str(k): int(n) for k, n in table["provenance"].value_counts(sort=False).items() if k
        }
    return {
        "sha256": file_sum(path),
        "rows": len(table),
        "provenance": dict(sorted(counts.items())),
    }


def resources(directory: str | Path) -> pd.DataFrame:
    """Time and memory by rule, as `RESOURCE_COLUMNS`, the longest first.

    Parameters
    ----------
    directory : Snakemake's benchmark files, ``<rule>.tsv`` or ``<rule>/**/<job>.tsv``: wall and
        CPU time in seconds, peak memory (resident set) in MB

    Raises
    ------
    FormatError : a file is no benchmark file.
    """
    directory = Path(directory)
    rows = []
    for path in sorted(directory.rglob("*.tsv")):
        rule = path.relative_to(directory).parts[0].removesuffix(".tsv")
        try:
            table = pd.read_csv(path, sep="\t", na_values=["-", "NA"])
            # a job that was over before it could be measured has no memory and no CPU time
            one = table[["s", "cpu_time", "max_rss"]].astype(float).iloc[-1]
        except (OSError, ValueError, KeyError, IndexError) as error:
            raise FormatError(
                f"is no benchmark file of Snakemake: {error}", path=path, remedy="delete it"
            ) from error
        rows.append((rule, one["s"], one["cpu_time"], one["max_rss"]))
    jobs = pd.DataFrame(rows, columns=["rule", "s", "cpu", "rss"])
    by_rule = jobs.groupby("rule")
    table = pd.DataFrame(
        {
            "jobs": by_rule.size(),
            "seconds": by_rule["s"].sum(),
            "longest_seconds": by_rule["s"].max(),
            "cpu_seconds": by_rule["cpu"].sum(),
            "peak_memory_mb": by_rule["rss"].max(),
        }
    ).reset_index()
    return table.sort_values(["seconds", "rule"], ascending=[False, True])[RESOURCE_COLUMNS]
