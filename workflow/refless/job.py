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
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from refless.errors import ReflessError
from refless.store.files import writing
from refless.store.records import Output, input_sums

_log = logging.getLogger(__name__)


class _LogFile(logging.FileHandler):
    """A log; what it has no room for goes to standard error."""

    def handleError(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


@contextmanager
def job(snakemake: Any) -> Iterator[Callable[[str], Output]]:
    """Keep a log at ``snakemake.log``, and end with 1 and one clear message on a known error.

    The log says what the job is about when it begins, and how it ended: with a `ReflessError` as it
    is, with anything else as a traceback. Snakemake shows the log of a failed job, so standard
    error has nothing of it; without a log, standard error has all. A job that is cancelled
    (SIGTERM) removes its half-written files first. It gets a function that turns a path into an
    `Output`, whose record has the sums of the job's inputs.
    """
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    begin = time.monotonic()
    try:
        _open_log(snakemake.log[0] if snakemake.log else None)
    except ReflessError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    subject = _subject(snakemake)
    rule = getattr(snakemake, "rule", "")
    if rule:
        _log.info("%s %s", rule, subject.removesuffix(": "))
    try:
        sums = input_sums(map(str, getattr(snakemake, "input", ())))
        yield lambda path: Output(Path(path), sums)
        if rule:
            _log.info("done in %.0f s", time.monotonic() - begin)
    except SystemExit:
        _log.warning("stopped after %.0f s", time.monotonic() - begin)
        raise
    except ModuleNotFoundError as error:
        _log.error(
            "%s, which runs this job, has no package %s\n  What to do: install what refless needs"
            " there (envs/lock/core.txt), or run with --sdm conda",
            sys.executable,
            error.name,
        )
        sys.exit(1)
    except ReflessError as error:
        _log.error("%s%s", "" if error.path else subject, error)
        sys.exit(1)
    except Exception:
        _log.exception("unexpected error")
        sys.exit(1)


def _open_log(path: str | None) -> None:
    """Send what is logged to a file, or to standard error. Raises OutputError: it cannot be
    written."""
    if path is None:
        handler: logging.Handler = logging.StreamHandler()
    else:
        with writing(path):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            handler = _LogFile(path, mode="w", encoding="utf-8")
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        datefmt="%H:%M:%S",
        handlers=[handler],
        force=True,
    )


def _subject(snakemake: Any) -> str:
    """What the job is about, for an error that names no file: ``dataset huse, kernel meteor: ``."""
    wildcards = getattr(snakemake, "wildcards", {})
    names = ", ".join(f"{name} {value}" for name, value in wildcards.items())
    return f"{names}: " if names else ""
