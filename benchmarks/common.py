"""What the benchmarks share: texts, the clock, the machine, where a record goes. Stage: none."""

from __future__ import annotations

import argparse
import os
import platform
import random
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from refless.data.sources import load
from refless.errors import ReflessError, SourceError
from refless.store.files import list_sums, write_json
from refless.store.machine import load_average, processor, versions

Result = TypeVar("Result")


def parser(description: str, name: str) -> argparse.ArgumentParser:
    """The options of every benchmark; ``name`` is that of the record."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--runs", type=int, default=5, help="how often each time is taken")
    found.add_argument("--out", type=Path, default=Path(f"results/benchmarks/{name}.json"))
    found.add_argument(
        "--record",
        type=Path,
        nargs="?",
        const=Path(f"resources/benchmarks/{name}.json"),
        help="write the record here as well, for the README and the report",
    )
    return found


def add_data(options: argparse.ArgumentParser) -> None:
    """The option that says where raw data are."""
    options.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("REFLESS_MIRROR") or "resources/data"),
        help="directory of raw data; default: REFLESS_MIRROR, else resources/data",
    )


def write(record: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Write the record where the options say."""
    for path in filter(None, (arguments.out, arguments.record)):
        write_json(record, path)
    if arguments.record:
        list_sums(arguments.record.parent, ".json")


def machine(packages: Sequence[str]) -> dict[str, Any]:
    """What the times are taken on, and how busy it is before."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": processor(),
        "cores": cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": versions(packages),
        "load_average": load_average(),
    }


def cores() -> int:
    """How many cores this process may use."""
    bound = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if bound else os.cpu_count() or 1


def timed(call: Callable[..., Result], *given: Any, **options: Any) -> tuple[float, Result]:
    """Seconds that a call takes, and what it returns."""
    begin = time.perf_counter()
    result = call(*given, **options)
    return time.perf_counter() - begin, result


def responses(data: Path) -> pd.DataFrame:
    """The texts of DSTC7, a row for every system's output."""
    archive = at_hand(data / "dstc7/dstc7-task2-human_eval.tgz")
    return load("dstc7", "dstc7", {"path": archive}, {"unit": "output"}).texts


def at_hand(path: Path) -> Path:
    """A raw file, or SourceError where it is not there."""
    if not path.is_file():
        remedy = "fetch the raw data (make all), or name their directory with --data"
        raise SourceError("is not there", path=path, remedy=remedy)
    return path


def real_texts(data: Path) -> tuple[list[str], dict[str, Any]]:
    """Texts of ASAP-SAS and DSTC7 in a folder laid out as ``resources/sources.csv`` says.

    Essays are cut into pieces of 6 to 13 words, which are about as long as the summaries of HUSE.
    Each text is there once. Returns them, and where they are from.

    Raises
    ------
    SourceError : a file is missing.
    """
    essays = {
        "train": data / "asap-sas/train_rel_2.tsv",
        "test": data / "asap-sas/public_leaderboard_rel_2.tsv",
        "solution": data / "asap-sas/public_leaderboard_solution.csv",
    }
    found: list[str] = []
    rng = random.Random(0)
    files = {name: at_hand(path) for name, path in essays.items()}
    for text in load("asap_sas", "asap_sas", files).texts["text"]:
        words = text.split()
        while len(words) >= 5:
            size = rng.randint(6, 13)
            found.append(" ".join(words[:size]))
            words = words[size:]
    found = list(dict.fromkeys([*found, *responses(data)["text"]]))
    source = "ASAP-SAS essays in pieces of 6 to 13 words and DSTC7 responses"
    return found, {"source": source, "real": True, "different": len(found)}


def take(texts: Sequence[str], n: int) -> list[str]:
    """``n`` different texts in random order, always the same.

    Beyond what there is, the first half of one is put before the second half of another.
    """
    rng = random.Random(n)
    if n <= len(texts):
        return rng.sample(list(texts), n)
    found = dict.fromkeys(texts)
    while len(found) < n:
        first, second = rng.choice(texts).split(), rng.choice(texts).split()
        found[" ".join(first[: (len(first) + 1) // 2] + second[len(second) // 2 :])] = None
    every = list(found)
    rng.shuffle(every)
    return every


def run(main: Callable[[argparse.Namespace], None], parser: argparse.ArgumentParser) -> None:
    """Run a benchmark with the arguments of the shell; a known error is one message."""
    try:
        main(parser.parse_args())
    except ReflessError as error:
        sys.exit(f"error: {error}")
