"""What the benchmarks share: texts, the clock, one line a ratio. Stage: none.

Peer and refless take turns in one process, so that what else the machine does meets both, and their
values are compared in passing: what is fast and wrong is not fast.
"""

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from refless.data.sources import load
from refless.errors import ReflessError, SourceError

Result = TypeVar("Result")
ESSAYS = {
    "train": "asap-sas/train_rel_2.tsv",
    "test": "asap-sas/public_leaderboard_rel_2.tsv",
    "solution": "asap-sas/public_leaderboard_solution.csv",
}


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--runs", type=int, default=5, help="how often each time is taken")
    options.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("REFLESS_MIRROR") or "resources/data"),
        help="directory of raw data; default: REFLESS_MIRROR, else resources/data",
    )
    return options


def timed(call: Callable[..., Result], *arguments: Any, **options: Any) -> tuple[float, Result]:
    """Make a call, and return the seconds that it takes, and what it returns."""
    begin = time.perf_counter()
    result = call(*arguments, **options)
    return time.perf_counter() - begin, result


def line(work: str, peer: str, theirs: Sequence[float], ours: Sequence[float]) -> str:
    """Return the line of one comparison: the median times of both, in microseconds, and the median,
    the least and the greatest of the ratios run by run.

    theirs, ours : seconds for the same work, one number a run
    """
    ratios = sorted(a / b for a, b in zip(theirs, ours, strict=True))
    their_time = 1e6 * statistics.median(theirs)
    our_time = 1e6 * statistics.median(ours)
    return (
        f"{work:34s} {peer:34s} {their_time:12.4g} {our_time:12.4g}"
        f" {statistics.median(ratios):10.3g} ({ratios[0]:.3g} to {ratios[-1]:.3g})"
    )


HEAD = f"{'what':34s} {'peer':34s} {'peer, µs':>12s} {'ours, µs':>12s} {'times as fast':>10s}"


def responses(data: Path) -> pd.DataFrame:
    """Return the texts of DSTC7, a row for every system's output.

    data : the folder of raw data
    Raises SourceError: the archive is missing.
    """
    archive = at_hand(data / "dstc7/dstc7-task2-human_eval.tgz")
    return load("dstc7", "dstc7", {"path": archive}, {"unit": "output"}).texts


def at_hand(path: Path) -> Path:
    """Return the path of a raw file. Raises SourceError: it is not there."""
    if not path.is_file():
        remedy = "fetch the raw data (make all), or name their directory with --data"
        raise SourceError("is not there", path=path, remedy=remedy)
    return path


def real_texts(data: Path) -> list[str]:
    """Return different texts: ASAP-SAS essays in pieces of 6 to 13 words, and DSTC7 responses.

    data : the folder of raw data
    Raises SourceError: a file is missing.
    """
    pieces: list[str] = []
    rng = random.Random(0)
    files = {name: at_hand(data / path) for name, path in ESSAYS.items()}
    for text in load("asap_sas", "asap_sas", files).texts["text"]:
        words = text.split()
        while len(words) >= 5:
            size = rng.randint(6, 13)
            pieces.append(" ".join(words[:size]))
            words = words[size:]
    return list(dict.fromkeys([*pieces, *responses(data)["text"]]))


def take(texts: Sequence[str], n: int) -> list[str]:
    """Return ``n`` different texts in random order, always the same. Where there are too few texts,
    more are made: the first half of one is put before the second half of another."""
    rng = random.Random(n)
    if n <= len(texts):
        return rng.sample(list(texts), n)
    different = dict.fromkeys(texts)
    while len(different) < n:
        first = rng.choice(texts).split()
        second = rng.choice(texts).split()
        words = first[: (len(first) + 1) // 2] + second[len(second) // 2 :]
        different[" ".join(words)] = None
    every = list(different)
    rng.shuffle(every)
    return every


def run(main: Callable[[argparse.Namespace], None], parser: argparse.ArgumentParser) -> None:
    """Run a benchmark with the arguments of the shell. An error of refless is one line."""
    try:
        main(parser.parse_args())
    except ReflessError as error:
        sys.exit(f"error: {error}")
