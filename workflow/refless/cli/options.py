"""Options that several commands have."""

import argparse
from collections.abc import Callable
from typing import Any

from refless.data.rows import FORMATS, shorten
from refless.data.user_ratings import COLUMN_NAMES
from refless.evaluation import OTHER_UNIT, RATING

Group = argparse._ActionsContainer

MOST = 2**63 - 1
"""A larger seed torch refuses."""
FLAG: Any = {"action": "store_const", "const": True}  # None where it is not given
ENDING = "(Default: that of the file's ending.)"
RANGE = "The lowest and the highest possible rating."


def whole(least: int = 1, most: int = MOST) -> Callable[[str], int]:
    """A reader of whole numbers."""

    def read(text: str) -> int:
        # of thousands of digits Python makes no number
        if not text.isdecimal() or len(text) > 40 or not least <= int(text) <= most:
            message = f"{shorten(text)} is no whole number from {least} to {most:,}"
            raise argparse.ArgumentTypeError(message)
        return int(text)

    return read


def tau(text: str) -> str | float:
    """A number, or ``auto``; argparse's message has this function's name."""
    return text if text == "auto" else float(text)


def _column(text: str) -> tuple[str, str]:
    name, sign, header = text.partition("=")
    if not sign or not (name in COLUMN_NAMES or name.startswith("score_")):
        names = ", ".join(COLUMN_NAMES)
        message = f"{text}: write NAME=YOURS, with NAME one of {names}, score_..."
        raise argparse.ArgumentTypeError(message)
    return name, header


def add_ratings(group: Group, required: bool = True) -> None:
    """``--ratings``; in a group of options of which one must be given, ``required`` is False."""
    more: Any = {"required": True} if required else {}
    about = "The rated texts: files, or folders of them."
    group.add_argument("--ratings", help=about, nargs="+", metavar="FILE", **more)


def add_reading(command: Group, *, center: bool = True, scale: str = "") -> None:
    """How ratings are read."""
    add = command.add_argument
    add("--ratings-format", help=f"Their format. {ENDING}", choices=FORMATS[:-1], default="")
    add_column(command)
    about = "A file with more columns for ratings and outputs, such as scores."
    add("--join", help=about, metavar="FILE")
    about = "The column by which rows of --join are found. It may be given several times."
    add("--on", help=about, metavar="COLUMN", action="append", default=[])
    about = "Take the mean where a rater rated a text several times. (Default: refuse them.)"
    add("--repeated-ratings", help=about, choices=["mean"], default="refuse")
    about = "The columns that hold one rater's ratings each. They are read in place of quality."
    add("--raters", help=about, metavar="COLUMN", nargs="+", default=[])
    if center:
        about = "Take off each rater's mean, so that strict and mild raters are alike."
        add("--center-raters", help=about, **FLAG)
    if scale:
        about = f"{RANGE} (Default: {scale}.)"
        add("--scale", help=about, type=float, nargs=2, metavar=("LOW", "HIGH"))


def add_column(command: Group) -> None:
    about = "What your files call a column: text=response; text= ignores one. It may be repeated."
    more: Any = {"type": _column, "action": "append", "default": []}
    command.add_argument("--column", help=about, metavar="NAME=YOURS", **more)


def add_outputs(group: Group, required: bool = True) -> None:
    """``--outputs``, as `add_ratings`."""
    more: Any = {"required": True} if required else {}
    about = "The texts to rate, which may also be plain lines (.txt)."
    group.add_argument("--outputs", help=about, metavar="FILE", **more)


def add_written(command: Group, *, outputs: bool = True) -> None:
    """What becomes of the outputs."""
    add = command.add_argument
    if outputs:
        about = f"The format of outputs. {ENDING}"
        add("--outputs-format", help=about, choices=FORMATS, default="")
    add("--json", help="Write everything as one JSON object.", **FLAG)
    about = "The file to write; it is replaced, and is never an input. (Default: standard output.)"
    add("--out", help=about, metavar="FILE")


def add_fitting(command: Group) -> None:
    """Settings of neighbors."""
    add = command.add_argument
    add(
        "--kernel",
        help="Predict by the nearest rated texts, by this similarity. (Default of it: bleu.char.)",
    )
    about = "A rated text of this similarity or more is a neighbor. (Default: auto, tried out.)"
    add("--tau", help=about, type=tau)
    about = "Predict only from so many neighbors or more. (Default: 5.)"
    add("--min-neighbors", help=about, type=whole(), metavar="N")
    add(
        "--max-share",
        help="Predict only if no larger share of texts are neighbors. (Default: 0.66.)",
        type=float,
    )
    add_threads(command)


def add_score_unit(command: Group) -> None:
    about = "rating: scores are ratings as they are. other: fit them first. (Default: %(default)s.)"
    units = (RATING, OTHER_UNIT)
    command.add_argument("--score-unit", help=about, choices=units, default=OTHER_UNIT)


def add_threads(command: Group, default: str = "all cores") -> None:
    about = f"Compute with so many threads. (Default: {default}.)"
    command.add_argument("--threads", help=about, type=whole(), metavar="N")


def add_seed(command: Group) -> None:
    about = "The seed of what is random. (Default: %(default)s.)"
    command.add_argument("--seed", help=about, type=whole(0), metavar="N", default=0)


def add_model_out(command: Group) -> None:
    about = "The file of the model; it is replaced, and is never an input."
    command.add_argument("--out", help=about, metavar="FILE", required=True)
