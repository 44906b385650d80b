"""The command ``refless``: rate your own system's outputs.

Each command is a module with a function ``add(commands)``, which describes its arguments and sets
``run``. Heavy imports stay inside ``run``, so that ``refless --help`` is quick, and so that a bad
file is refused at once.
"""

from __future__ import annotations

import argparse
import io
import logging
import sys

from refless import __version__
from refless.cli import compare, delta_bleu, fit, qe, score, train_qe
from refless.cli._common import UsageError
from refless.errors import ReflessError

COMMANDS = (compare, score, fit, delta_bleu, train_qe, qe)
INTERRUPTED = 130  # 128 and the number of the signal, as shells have it


def build_parser() -> argparse.ArgumentParser:
    """The command line of ``refless``."""
    parser = argparse.ArgumentParser(prog="refless", description="Rate your own system's outputs.")
    parser.add_argument("--version", action="version", version=f"refless {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for command in COMMANDS:
        command.add(commands)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Entry point: 0; 1 for a fault of the input, with a message, or a closed pipe; 2 for wrong
    usage (from argparse as well); 130 after Ctrl-C."""
    if sys.stderr is None:  # closed; `print` would put messages among the results
        sys.stderr = io.StringIO()
    logging.basicConfig(format="refless: %(message)s", level=logging.WARNING)
    try:
        arguments = build_parser().parse_args(argv)
        arguments.run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except UsageError as error:
        print(f"refless: {error} (--help has an example)", file=sys.stderr)
        return 2
    except ReflessError as error:
        print(f"refless: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nrefless: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # the reader of our output went away (`| head`); there is nobody left to tell
        sys.stderr.close()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
