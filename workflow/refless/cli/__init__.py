"""The command ``refless``: rate your own system's outputs.

A command is a function, whose docstring is its help. Heavy imports stay inside it, so that
``refless --help`` is quick, and a bad file is refused at once.
"""

import argparse
import inspect
import json
import logging
import os
import sys
from contextlib import suppress
from functools import partial
from typing import Any

from refless import __version__
from refless.cli.compare import compare
from refless.cli.delta_bleu import delta_bleu
from refless.cli.neighbors import METHODS, NEIGHBORS, fit, score
from refless.cli.networks import qe, train_qe
from refless.data.own import NAMES
from refless.data.rows import FORMATS
from refless.errors import ReflessError

INTERRUPTED = 130  # 128 and the number of the signal, as shells have it
OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {}
"""Names of an option, and what else argparse is told of it."""


def _option(*names: str, key: str = "", **told: Any) -> None:
    OPTIONS[key or names[0]] = names, told


def _whole(least: int, text: str) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from {least} on")
    return int(text)


def tau(text: str) -> str | float:
    """A number, or ``auto``; argparse's message has this function's name."""
    return text if text == "auto" else float(text)


def _column(text: str) -> tuple[str, str]:
    name, _, theirs = text.partition("=")
    if not theirs or not (name in NAMES or name.startswith("score_")):
        known = ", ".join(NAMES)
        message = f"{text}: write NAME=YOURS, with NAME one of {known}, score_..."
        raise argparse.ArgumentTypeError(message)
    return name, theirs


def _of_kernel(text: str) -> tuple[str, Any]:
    """A name and a value as JSON has it, or else a text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text}: write NAME=VALUE")
    with suppress(ValueError):
        return name, json.loads(value)
    return name, value


READ = "TSV, CSV, JSON Lines or a JSON array, by its ending; also gzipped; - is standard input"
FLAG: Any = {"action": "store_const", "const": True}  # None where it is not given
FROM_1: Any = {"type": partial(_whole, 1), "metavar": "N"}

said = f"rated texts: {READ}; several files, or a folder of them, make one table"
_option("--ratings", "--train", "--references", nargs="+", metavar="FILE", help=said)
_option("--ratings-format", choices=FORMATS[:-1], default="")
said = "of one text by one rater (default: refuse)"
_option("--repeated-ratings", choices=["refuse", "mean"], default="refuse", help=said)
_option("--center-raters", help="take off each rater's mean", **FLAG)
said = f"texts to rate: {READ}; or plain lines (.txt)"
_option("--outputs", "--candidates", metavar="FILE", help=said)
_option("--outputs-format", "--format", choices=FORMATS, default="")
said = "what your file calls a column, e.g. text=response; may be given several times"
_option("--column", type=_column, action="append", default=[], metavar="NAME=YOURS", help=said)
said = "lowest and highest rating there can be (default: those there are; of delta-bleu: weights)"
_option("--scale", type=float, nargs=2, metavar=("LOW", "HIGH"), help=said)
_option("--model", metavar="FILE", help="of refless fit, or of refless train-qe")
_option("--out", metavar="PATH", help="a file (default: standard output); of compare, a folder")
_option("--json", help="write one JSON object with all", **FLAG)
# of kernels and models
said = "ridge: on character n-grams; ridge_system: beside the mean of the text's system"
_option("--method", choices=METHODS, default=NEIGHBORS, help=said)
_option("--leave-one-out", help="predict each rated text from the others", **FLAG)
_option("--kernel", metavar="NAME", help="default: bleu.char")
told: Any = {"key": "--kernels", "dest": "kernels", "action": "append", "metavar": "NAME"}
_option("--kernel", help="of neighbors; may be given several times", **told)
_option("--tau", type=tau, help="similarity of a neighbor, or auto (default): chosen in training")
_option("--min-neighbors", help="fewest neighbors (default: 5)", **FROM_1)
_option("--max-share", type=float, help="most, as a share of all (default: 0.66)")
said = "of the kernel, e.g. layer=10, wordnet=PATH or model=FOLDER; may be given several times"
_option("--option", type=_of_kernel, action="append", metavar="NAME=VALUE", help=said)
_option("--explain", nargs="?", const=5, help="add so many nearest rated texts (5)", **FROM_1)
_option("--threads", help="default: all cores; of train-qe: 1", **FROM_1)
# of comparisons and networks
_option("--draws", default=2000, help="of the bootstrap (default: %(default)s)", **FROM_1)
_option("--seed", default=0, type=partial(_whole, 0), help="default: %(default)s")
_option("--repeats", default=5, help="of the folds (default: %(default)s)", **FROM_1)
_option("--no-networks", help="leave out RNN-QE (minutes)", **FLAG)
_option("--errors", help="learn from invented errors as well", **FLAG)

RATED = "--ratings-format --column --repeated-ratings"
FITTED = "--center-raters --kernel --tau --min-neighbors --max-share --option --threads"
TRIED = "--kernels --draws --repeats --seed --threads --no-networks --out"
WRITTEN = "--outputs-format --json --out"
COMMANDS = {
    compare: ("--ratings", f"{RATED} --center-raters --scale {TRIED}"),
    score: (
        "--ratings|--model --outputs|--leave-one-out",
        f"{RATED} --method {FITTED} --explain {WRITTEN}",
    ),
    fit: ("--ratings --out", f"{RATED} {FITTED}"),
    delta_bleu: ("--outputs --ratings", f"{RATED} --scale {WRITTEN}"),
    train_qe: ("--ratings --out", f"{RATED} --scale --errors --seed --threads"),
    qe: ("--outputs", f"--column --model {WRITTEN}"),
}
"""Options that must be given (of those with | between them, one), and options that may be."""


def build_parser() -> argparse.ArgumentParser:
    """The command line of ``refless``."""
    parser = argparse.ArgumentParser(prog="refless", description="Rate your own system's outputs.")
    parser.add_argument("--version", action="version", version=f"refless {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for run, (needed, others) in COMMANDS.items():
        about, _, example = inspect.cleandoc(str(run.__doc__)).partition("\n\n")
        name = run.__name__.replace("_", "-")
        command = commands.add_parser(name, help=about, description=about, epilog=example)
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        command.set_defaults(run=run, fail=command.error)
        groups = [(one.split("|"), True) for one in needed.split()]
        groups += [([one], False) for one in others.split()]
        for options, required in groups:
            group = command.add_mutually_exclusive_group(required=required)
            for option in options:
                names, told = OPTIONS[option]
                group.add_argument(*names, **told)
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
