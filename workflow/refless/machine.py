"""The machine: its processor and threads, and which packages are installed. Stage: none."""

import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from refless.errors import KernelError


def processor() -> str:
    """The processor's name."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def available_threads(threads: int | None) -> int:
    """The number of threads to use; without one, as many as this process may use: the cores it is
    bound to, or fewer where ``OMP_NUM_THREADS`` says so (Snakemake sets it from a rule's threads).
    Raises KernelError: ``threads`` is less than 1."""
    if threads is None:
        bound = hasattr(os, "sched_getaffinity")
        cores = len(os.sched_getaffinity(0)) if bound else os.cpu_count() or 1
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(cores, int(limit))) if limit.isdecimal() else cores
    if threads < 1:
        raise KernelError(f"{threads} threads were asked for", remedy="give 1 or more")
    return threads


def installed(package: str) -> bool:
    """Whether a package can be imported; it is not imported."""
    return find_spec(package) is not None


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Versions of those packages that are installed."""
    result = {}
    for package in packages:
        try:
            result[package] = version(package)
        except PackageNotFoundError:
            continue
    return result
