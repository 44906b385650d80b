"""What every script in ``workflow/scripts`` shares: a log, and errors that a user can act on."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from refless.errors import ReflessError
from refless.store.files import writing


def run(
    main: Callable[[argparse.Namespace], None],
    parser: argparse.ArgumentParser,
    argv: list[str] | None = None,
) -> None:
    """Parse the command line, set up the log, run ``main`` and exit with 1 on a known error.

    A `ReflessError` is printed as it is; anything else keeps its traceback, in the log as well.
    A job that is cancelled (SIGTERM) removes its half-written files first.
    """
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    parser.add_argument("--log", type=Path, help="file that gets the log as well as the terminal")
    arguments = parser.parse_args(argv)
    handlers: list[logging.Handler] = [logging.StreamHandler()]
    if arguments.log is not None:
        try:
            handlers.append(_log_file(arguments.log))
        except ReflessError as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(1)
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        datefmt="%H:%M:%S",
        handlers=handlers,
        force=True,
    )
    try:
        main(arguments)
    except ReflessError as error:
        if arguments.log is not None:
            handlers[1].emit(logging.LogRecord("refless", 40, "", 0, "%s", (error,), None))
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except Exception:
        if arguments.log is not None:
            with open(arguments.log, "a", encoding="utf-8") as log:
                traceback.print_exc(file=log)
        raise


def _log_file(path: Path) -> logging.Handler:
    """A handler that writes to a new file, or OutputError."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        return logging.FileHandler(path, mode="w", encoding="utf-8")


def directories(pairs: Sequence[str]) -> dict[str, Path]:
    """``name=directory`` as an option gives it -> the directory of each name, in their order."""
    return {name: Path(place) for name, _, place in (pair.partition("=") for pair in pairs)}
