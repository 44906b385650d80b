"""What every job of the workflow shares: a log, and errors that a user can act on.

Stage: none. A script is thin: it hands what Snakemake gave it to one function of the library,

    from refless.job import job

    with job(snakemake) as output:
        from refless.experiments.bleu_neighbors.matrices import write_kernel

        write_kernel(output(snakemake.output[0]), ...)

and imports what it needs inside, so that the log has it if that fails. So nothing heavy is imported
here.
"""

import logging
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from refless.errors import ReflessError
from refless.store.files import writing
from refless.store.records import Output, input_sums


@contextmanager
def job(snakemake: Any) -> Iterator[Callable[[str], Output]]:
    """Keep a log at ``snakemake.log``, and end with 1 and one clear message on a known error.

    A `ReflessError` is printed as it is; anything else keeps its traceback, in the log as well.
    A job that is cancelled (SIGTERM) removes its half-written files first. It gets a function that
    turns a path into an `Output`, whose record has the sums of the job's inputs.
    """
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    path = Path(snakemake.log[0])
    try:
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
        sums = input_sums(map(str, getattr(snakemake, "input", ())))
        yield lambda path: Output(Path(path), sums)
    except ModuleNotFoundError as error:
        _write_traceback(path)
        _end(
            f"{sys.executable}, which runs this job, has no package {error.name}\n  What to do:"
            " install what refless needs there (envs/lock/core.txt), or run with --sdm conda"
        )
    except ReflessError as error:
        message = f"{_subject(snakemake)}{error}" if error.path is None else str(error)
        file.emit(logging.LogRecord("refless", logging.ERROR, "", 0, "%s", (message,), None))
        _end(message)
    except Exception:
        _write_traceback(path)
        raise


def _write_traceback(path: Path) -> None:
    with open(path, "a", encoding="utf-8") as log:
        traceback.print_exc(file=log)


def _subject(snakemake: Any) -> str:
    """What the job is about, for an error that names no file: ``dataset huse, kernel meteor: ``."""
    wildcards = getattr(snakemake, "wildcards", {})
    names = ", ".join(f"{name} {value}" for name, value in wildcards.items())
    return f"{names}: " if names else ""


def _end(error: ReflessError | str) -> None:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(1)
