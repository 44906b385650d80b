"""What every job of the workflow shares: a log, and errors that a user can act on.

Stage: none. A script is thin: it hands what Snakemake gave it to one function of the library,

    from refless.job import job

    with job(snakemake):
        ...
"""

from __future__ import annotations

import logging
import re
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from refless.errors import ReflessError, StaleError
from refless.store import inputs
from refless.store.files import writing


@contextmanager
def job(snakemake: Any) -> Iterator[None]:
    """Keep a log at ``snakemake.log``, and end with 1 and one clear message on a known error.

    A `ReflessError` is printed as it is; anything else keeps its traceback, in the log as well.
    A job that is cancelled (SIGTERM) removes its half-written files first.
    """
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        path = Path(snakemake.log[0])
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = logging.FileHandler(path, mode="w", encoding="utf-8")
    except ReflessError as error:
        _end(error)
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        datefmt="%H:%M:%S",
        handlers=[logging.StreamHandler(), file],
        force=True,
    )
    try:
        _require_settings(snakemake)
        with inputs.given(map(str, getattr(snakemake, "input", ())), _parameters(snakemake)):
            yield
    except ReflessError as error:
        said = f"{_subject(snakemake)}{error}" if error.path is None else str(error)
        file.emit(logging.LogRecord("refless", logging.ERROR, "", 0, "%s", (said,), None))
        _end(said)
    except Exception:
        with open(path, "a", encoding="utf-8") as log:
            traceback.print_exc(file=log)
        raise


def _require_settings(snakemake: Any) -> None:
    """Make sure that the ratings among a job's inputs were read as the configuration says.

    Raises
    ------
    FormatError : a table of texts is missing or broken.
    StaleError : it was made under other settings of its loader.
    """
    for path in getattr(snakemake, "input", ()):
        match = re.fullmatch(r"results/ratings/([^/]+)/texts\.csv", str(path))
        entry = snakemake.config.get("data", {}).get(match[1]) if match else None
        if entry:
            from refless.data.task import read_with
            from refless.store import signed

            asked = read_with(entry["loader"], entry.get("options") or {}, entry["files"])
            made = signed.record_of(path)["settings"]
            if made != asked:
                message = f"was made under other settings: {made}, not {asked}"
                raise StaleError(message, path=path, remedy=signed.AGAIN)


def _parameters(snakemake: Any) -> list[tuple[str, Any]]:
    """A job's parameters with their names."""
    params = getattr(snakemake, "params", None)
    return list(params.items()) if params is not None and hasattr(params, "items") else []


def _subject(snakemake: Any) -> str:
    """What the job is about, for an error that names no file: ``task huse, kernel meteor: ``."""
    wildcards = getattr(snakemake, "wildcards", {})
    said = ", ".join(f"{name} {value}" for name, value in wildcards.items())
    return f"{said}: " if said else ""


def _end(error: ReflessError | str) -> None:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(1)
