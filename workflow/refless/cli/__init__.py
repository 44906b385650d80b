"""The command ``refless``: rate your own system's outputs.

A module is a command: its docstring is the help, ``add`` describes the arguments, ``run`` does the
work. Heavy imports stay inside ``run``, so that ``refless --help`` is quick, and a bad file is
refused at once.
"""

import argparse
import logging
import os
import sys

from refless import __version__
from refless.cli import compare, delta_bleu, fit, options, qe, score, train_qe
from refless.errors import ReflessError

COMMANDS = (compare, score, fit, delta_bleu, train_qe, qe)
INTERRUPTED = 130  # 128 and the number of the signal, as shells have it


def build_parser() -> argparse.ArgumentParser:
    """The command line of ``refless``."""
    parser = argparse.ArgumentParser(prog="refless", description="Rate your own system's outputs.")
    parser.add_argument("--version", action="version", version=f"refless {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for module in COMMANDS:
        name = module.__name__.rpartition(".")[2].replace("_", "-")
        about, _, example = str(module.__doc__).partition("\n\n")
        command = commands.add_parser(name, help=about, description=about, epilog=example)
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        command.set_defaults(run=module.run, fail=command.error)
        options.add_column(command)
        module.add(command)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Entry point: 0; 1 for a fault of the input, with a message, or a closed pipe; 130 after
    Ctrl-C. For wrong usage argparse exits with 2."""
    logging.basicConfig(format="refless: %(message)s", level=logging.WARNING)
    try:
        arguments = build_parser().parse_args(argv)
        arguments.run(arguments)
        sys.stdout.flush()
    except ReflessError as error:
        print(f"refless: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nrefless: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # nobody reads on (`| head`); what is left would fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0
