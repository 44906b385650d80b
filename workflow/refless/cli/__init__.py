"""The command ``refless``: rate your own system's outputs.

A command is a function, whose docstring is its help, and another that adds its options. Heavy
imports stay inside them, so that ``refless --help`` is quick, and a bad file is refused at once.
"""

import argparse
import inspect
import io
import logging
import re
import sys
from collections.abc import Iterable
from itertools import chain
from typing import Any

from refless import __version__
from refless.cli import compare, delta_bleu, estimate, neighbors, networks
from refless.errors import ReflessError

COMMANDS = {
    compare.compare: compare.add_arguments,
    estimate.estimate: estimate.add_arguments,
    neighbors.score: neighbors.add_score_arguments,
    neighbors.fit: neighbors.add_fit_arguments,
    delta_bleu.delta_bleu: delta_bleu.add_arguments,
    networks.train_qe: networks.add_train_arguments,
    networks.qe: networks.add_qe_arguments,
}
FORMER = {
    "--train": "--ratings",
    "--references": "--ratings",
    "--candidates": "--outputs",
    "--format": "--outputs-format",
}
"""Names of options that are taken, with a warning, until the next version."""
MISTAKEN = {"--output": "--out (the file to write) or --outputs (the texts to rate)"}
"""Options that there are not -> what may be meant."""
FILES = """Files: TSV, CSV, JSON Lines or array, by their ending; also packed: .gz, .bz2, .xz, .zst;
with refless[files] Parquet, Feather and Excel. - is standard input."""


class _Parser(argparse.ArgumentParser):
    """For which all numbers below 0 are values of options, also ``-1e1``."""

    def __init__(self, *words: Any, **settings: Any) -> None:
        super().__init__(*words, **settings)
        number = r"-(\d+\.?\d*|\.\d+)(e[-+]?\d+)?"
        self._negative_number_matcher = re.compile(number + "$", re.IGNORECASE)


def build_parser() -> argparse.ArgumentParser:
    """The command line of ``refless``."""
    parser = _Parser(prog="refless", description="Rate your own system's outputs.")
    parser.add_argument("--version", action="version", version=f"refless {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for run, add_arguments in COMMANDS.items():
        about, _, rest = inspect.cleandoc(str(run.__doc__)).partition("\n\n")
        verb = run.__name__.replace("_", "-")
        command = commands.add_parser(verb, help=about, description=about)
        command.epilog = f"{FILES}\n\n{rest}"
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        command.set_defaults(run=run, fail=command.error)
        add_arguments(command)
    return parser


def _as_of_today(argument: str) -> list[str]:
    """An argument with its option's name of today; of a former one a line says so. Of an option
    that takes two values, ``--scale=1 5`` is ``--scale 1 5``."""
    option, sign, value = argument.partition("=")
    if option == "--scale" and sign:
        return [option, value]
    if option not in FORMER:
        return [argument]
    print(f"refless: warning: {option} is now {FORMER[option]}", file=sys.stderr)
    return [FORMER[option] + sign + value]


def _refuse_mistaken(parser: argparse.ArgumentParser, given: Iterable[str]) -> None:
    """Exit as argparse does for wrong usage where an option is one of `MISTAKEN`."""
    for word in given:
        option = word.partition("=")[0]
        if option in MISTAKEN:
            parser.error(f"there is no option {option}: do you mean {MISTAKEN[option]}?")


def main(argv: list[str] | None = None) -> int:
    """Entry point: 0; 1 for a fault of the input, with a message, or a closed pipe; 130 after
    Ctrl-C. For wrong usage argparse exits with 2."""
    # where it is closed, print would write to standard output
    sys.stderr = sys.stderr or io.StringIO()
    logging.basicConfig(format="refless: %(message)s", level=logging.WARNING)
    try:
        parser = build_parser()
        given = sys.argv[1:] if argv is None else argv
        _refuse_mistaken(parser, given)
        arguments = parser.parse_args([*chain(*map(_as_of_today, given))])
        arguments.run(arguments)
    except ReflessError as error:
        print(f"refless: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nrefless: interrupted", file=sys.stderr)
        return 130  # as shells have it: 128 and the number of the signal
    except BrokenPipeError:  # nobody reads on (`| head`)
        return 1
    return 0
