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
from refless.data.rows import FORMATS, shorten
from refless.data.user_ratings import COLUMN_NAMES
from refless.errors import ReflessError

OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {}
"""An option, and what else argparse is told of it; under a key of its own where commands differ."""
FORMER = {
    "--train": "--ratings",
    "--references": "--ratings",
    "--candidates": "--outputs",
    "--format": "--outputs-format",
}
"""Names of options that are taken, with a warning, until the next version."""


def _option(name: str, description: str, key: str = "", **more: Any) -> None:
    OPTIONS[key or name] = name, {"help": description, **more}


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
    if not theirs or not (name in COLUMN_NAMES or name.startswith("score_")):
        known = ", ".join(COLUMN_NAMES)
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
SCALE: Any = {"type": float, "nargs": 2, "metavar": ("LOW", "HIGH")}
ENDING = "(Default: that of the file's ending.)"
REPEATED = "What becomes of a rater's several ratings of a text. (Default: they are refused.)"
COLUMN = "What your files call a column, as text=response. It may be given several times."
RANGE = "The lowest and the highest possible rating."
REPLACED = "it is replaced, and is never an input."
FOLDER = "The folder for tables and a report, which replace older ones."
SEVERAL = "A similarity of two texts, for neighbors. It may be given several times."
UNRATED = "The number of texts without ratings: how many ratings predictions of them save."

_option("--ratings", "The rated texts: files, or folders of them.", nargs="+", metavar="FILE")
_option("--ratings-format", f"The format of ratings. {ENDING}", choices=FORMATS[:-1], default="")
_option("--repeated-ratings", REPEATED, choices=["mean"], default="refuse")
_option("--center-raters", "Take off each rater's mean, and put back the overall one.", **FLAG)
_option("--outputs", "The texts to rate, which may also be plain lines (.txt).", metavar="FILE")
_option("--outputs-format", f"The format of outputs. {ENDING}", choices=FORMATS, default="")
_option("--column", COLUMN, metavar="NAME=YOURS", type=_column, action="append", default=[])
_option("--scale", f"{RANGE} (Default: those that the files have.)", **SCALE)
_option("--scale", f"{RANGE} (Default: references have a weight.)", "--scale:weights", **SCALE)
_option("--model", "The model, by refless fit.", metavar="FILE")
_option(
    "--model",
    "The model, by refless train-qe. (Default: a shipped one.)",
    "--model:qe",
    metavar="FILE",
)
_option("--out", f"The file to write; {REPLACED} (Default: standard output.)", metavar="FILE")
_option("--out", f"The file of the model; {REPLACED}", "--out:model", metavar="FILE")
_option("--out", f"{FOLDER} (Default: none are written.)", "--out:folder", metavar="FOLDER")
_option("--json", "Write one JSON object with everything.", **FLAG)
_option("--method", "The method. (Default: %(default)s.)", choices=METHODS, default=NEIGHBORS)
_option("--leave-one-out", "Predict each rated text from the others.", **FLAG)
_option("--kernel", "The similarity of two texts. (Default: bleu.char.)")
_option("--kernel", SEVERAL, "--kernel:several", dest="kernels", metavar="KERNEL", action="append")
_option(
    "--tau", "The similarity of a neighbor, or auto: chosen in training. (Default: auto.)", type=tau
)
_option("--min-neighbors", "The fewest neighbors of a prediction. (Default: 5.)", **FROM_1)
_option("--max-share", "The most, as a share of all. (Default: 0.66.)", type=float, metavar="SHARE")
_option(
    "--explain",
    "Add so many nearest rated texts (5). (Default: none.)",
    **FROM_1,
    nargs="?",
    const=5,
)
_option("--threads", "The number of threads. (Default: all cores.)", **FROM_1)
_option("--threads", "The number of threads. (Default: 1.)", "--threads:1", **FROM_1)
_option("--draws", "The draws of the bootstrap. (Default: %(default)s.)", **DRAWS, default=2000)
_option("--seed", "The seed of what is random. (Default: %(default)s.)", **SEED, default=0)
_option(
    "--repeats", "The repeats of the folds, at most. (Default: %(default)s.)", **FROM_1, default=5
)
_option("--unrated", UNRATED, **FROM_1)
_option("--no-networks", "Leave out RNN-QE, which takes minutes.", **FLAG)

READ = "--ratings-format --column --repeated-ratings"
RATED = f"{READ} --center-raters"
FITTED = "--kernel --tau --min-neighbors --max-share --threads"
TRIED = "--kernel:several --draws --repeats --seed --threads --unrated --no-networks"
WRITTEN = "--outputs-format --json --out"
COMMANDS = {
    compare: ("--ratings", f"{RATED} --scale {TRIED} --out:folder"),
    score: (
        "--ratings|--model --outputs|--leave-one-out",
        f"{RATED} --method {FITTED} --explain {WRITTEN}",
    ),
    fit: ("--ratings --out:model", f"{RATED} {FITTED}"),
    delta_bleu: ("--outputs --ratings", f"{READ} --scale:weights {WRITTEN}"),
    train_qe: ("--ratings --out:model", f"{RATED} --scale --seed --threads:1"),
    qe: ("--outputs", f"--column --model:qe {WRITTEN}"),
}
"""Options that must be given (of those with | between them, one), and options that may be."""


def build_parser() -> argparse.ArgumentParser:
    """The command line of ``refless``."""
    parser = argparse.ArgumentParser(prog="refless", description="Rate your own system's outputs.")
    parser.add_argument("--version", action="version", version=f"refless {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for run, (needed, others) in COMMANDS.items():
        about, _, rest = inspect.cleandoc(str(run.__doc__)).partition("\n\n")
        verb = run.__name__.replace("_", "-")
        command = commands.add_parser(verb, help=about, description=about)
        command.epilog = f"{FILES}\n\n{rest}"
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        command.set_defaults(run=run, fail=command.error)
        for one in [*needed.split(), *others.split()]:
            group = command.add_mutually_exclusive_group(required=one in needed.split())
            for option in one.split("|"):
                name, more = OPTIONS[option]
                group.add_argument(name, **more)
    return parser


def _renamed(argument: str) -> str:
    """An argument with its option's name of today; of a former one a line says so."""
    option, sign, value = argument.partition("=")
    if option not in FORMER:
        return argument
    print(f"refless: warning: {option} is now {FORMER[option]}", file=sys.stderr)
    return FORMER[option] + sign + value


def main(argv: list[str] | None = None) -> int:
    """Entry point: 0; 1 for a fault of the input, with a message, or a closed pipe; 130 after
    Ctrl-C. For wrong usage argparse exits with 2."""
    # where it is closed, print would write to standard output
    sys.stderr = sys.stderr or io.StringIO()
    logging.basicConfig(format="refless: %(message)s", level=logging.WARNING)
    try:
        arguments = build_parser().parse_args(map(_renamed, sys.argv[1:] if argv is None else argv))
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
