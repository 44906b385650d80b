"""The command ``refless``: rate your own system's outputs.

A command is a function, whose docstring is its help. Heavy imports stay inside it, so that
``refless --help`` is quick, and a bad file is refused at once.
"""

import argparse
import inspect
import io
import logging
import sys
from functools import partial
from typing import Any

from refless import __version__
from refless.cli.compare import compare
from refless.cli.delta_bleu import delta_bleu
from refless.cli.neighbors import METHODS, NEIGHBORS, fit, score
from refless.cli.networks import qe, train_qe
from refless.data.own import NAMES
from refless.data.rows import FORMATS, shorten
from refless.errors import ReflessError

OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {}
"""Names of an option, and what else argparse is told of it."""


def _option(*names: str, key: str = "", **more: Any) -> None:
    OPTIONS[key or names[0]] = names, more


def _whole(least: int, most: int, text: str) -> int:
    # of thousands of digits Python makes no number
    if not text.isdecimal() or len(text) > 40 or not least <= int(text) <= most:
        message = f"{shorten(text)} is no whole number from {least} to {most:,}"
        raise argparse.ArgumentTypeError(message)
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


FILES = "Files: TSV, CSV, JSON Lines or array, by their ending; also gzipped; - is standard input."
FLAG: Any = {"action": "store_const", "const": True}  # None where it is not given
MOST = 2**63 - 1
"""A larger seed torch refuses."""
FROM_1: Any = {"type": partial(_whole, 1, MOST), "metavar": "N"}
DRAWS: Any = {"type": partial(_whole, 1, 100_000), "metavar": "N"}  # they are kept in memory
SEED: Any = {"type": partial(_whole, 0, MOST), "metavar": "N"}

_option("--ratings", "--train", "--references", nargs="+", help="rated texts: files, or folders")
_option("--ratings-format", choices=FORMATS[:-1], default="")
_option("--repeated-ratings", choices=["mean"], default="refuse", help="of a text by one rater")
_option("--center-raters", help="take off each rater's mean", **FLAG)
_option("--outputs", "--candidates", help="texts to rate; also plain lines (.txt)")
_option("--outputs-format", "--format", choices=FORMATS, default="")
_option("--column", type=_column, action="append", default=[], help="NAME=YOURS, as text=response")
_option("--scale", type=float, nargs=2, metavar=("LOW", "HIGH"), help="range of possible ratings")
_option("--model", help="of refless fit, or of refless train-qe")
_option("--out", help="a file, which is replaced (default: standard output); never an input")
_option("--out", key="--out:folder", help="a folder, for tables and a report; older are replaced")
_option("--out", key="--out:model", help="the model's file, which is replaced; never an input")
_option("--json", help="write one JSON object with all", **FLAG)
_option("--method", choices=METHODS, default=NEIGHBORS, help="default: %(default)s")
_option("--leave-one-out", help="predict each rated text from the others", **FLAG)
_option("--kernel", help="default: bleu.char")
_option("--kernel", key="--kernel:several", dest="kernels", action="append", help="of neighbors")
_option("--tau", type=tau, help="similarity of a neighbor, or auto (default): chosen in training")
_option("--min-neighbors", help="fewest neighbors (default: 5)", **FROM_1)
_option("--max-share", type=float, help="most, as a share of all (default: 0.66)")
_option("--explain", nargs="?", const=5, help="add so many nearest rated texts (5)", **FROM_1)
_option("--threads", help="default: all cores; of train-qe: 1", **FROM_1)
_option("--draws", **DRAWS, default=2000, help="of the bootstrap (default: %(default)s)")
_option("--seed", **SEED, default=0, help="default: %(default)s")
_option("--repeats", default=5, help="of the folds (default: %(default)s)", **FROM_1)
_option("--no-networks", help="leave out RNN-QE (minutes)", **FLAG)

READ = "--ratings-format --column --repeated-ratings"
RATED = f"{READ} --center-raters"
FITTED = "--kernel --tau --min-neighbors --max-share --threads"
TRIED = "--kernel:several --draws --repeats --seed --threads --no-networks"
WRITTEN = "--outputs-format --json --out"
COMMANDS = {
    compare: ("--ratings", f"{RATED} --scale {TRIED} --out:folder"),
    score: (
        "--ratings|--model --outputs|--leave-one-out",
        f"{RATED} --method {FITTED} --explain {WRITTEN}",
    ),
    fit: ("--ratings --out:model", f"{RATED} {FITTED}"),
    delta_bleu: ("--outputs --ratings", f"{READ} --scale {WRITTEN}"),
    train_qe: ("--ratings --out:model", f"{RATED} --scale --seed --threads"),
    qe: ("--outputs", f"--column --model {WRITTEN}"),
}
"""Options that must be given (of those with | between them, one), and options that may be."""


def build_parser() -> argparse.ArgumentParser:
    """The command line of ``refless``."""
    parser = argparse.ArgumentParser(prog="refless", description="Rate your own system's outputs.")
    parser.add_argument("--version", action="version", version=f"refless {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for run, (needed, others) in COMMANDS.items():
        about, _, rest = inspect.cleandoc(str(run.__doc__)).partition("\n\n")
        name = run.__name__.replace("_", "-")
        command = commands.add_parser(name, help=about, description=about)
        command.epilog = f"{FILES}\n\n{rest}"
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        command.set_defaults(run=run, fail=command.error)
        for one in [*needed.split(), *others.split()]:
            group = command.add_mutually_exclusive_group(required=one in needed.split())
            for option in one.split("|"):
                names, more = OPTIONS[option]
                group.add_argument(*names, **more)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Entry point: 0; 1 for a fault of the input, with a message, or a closed pipe; 130 after
    Ctrl-C. For wrong usage argparse exits with 2."""
    # where it is closed, print would write to standard output
    sys.stderr = sys.stderr or io.StringIO()
    logging.basicConfig(format="refless: %(message)s", level=logging.WARNING)
    try:
        arguments = build_parser().parse_args(argv)
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
