"""The options that several commands have."""

import argparse
from typing import Any

from refless.data.own import NAMES
from refless.data.rows import FORMATS
from refless.errors import SettingError

Parser = argparse.ArgumentParser

MANY: dict[str, Any] = {"action": "append", "default": []}
"""An option that may be given several times."""
OUT: dict[str, Any] = {"default": "-", "metavar": "FILE"}
SCALE: dict[str, Any] = {"type": float, "nargs": 2, "metavar": ("LOW", "HIGH")}
SCALE |= {"help": "lowest and highest rating there can be (default: those in the ratings)"}
TABLES = "TSV, CSV, JSON Lines or a JSON array, by its ending; also gzipped; - is standard input"


def pair(text: str) -> tuple[str, str]:
    """``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r}: write it with =")
    return name, value


def _column(text: str) -> tuple[str, str]:
    name, theirs = pair(text)
    if name not in NAMES and not name.startswith("score_"):
        known = ", ".join(NAMES)
        raise argparse.ArgumentTypeError(f"{text}: NAME is one of {known}, score_...")
    return name, theirs


def add_column(parser: Parser) -> None:
    """``--column``."""
    said = "what your file calls a column, e.g. text=response; may be given several times"
    parser.add_argument("--column", type=_column, metavar="NAME=YOURS", help=said, **MANY)


def add_number(
    parser: Parser, name: str, help: str, default: int | None = None, least: int = 1, **more: Any
) -> None:
    """An option that is a whole number; SettingError for one below the ``least``."""

    def number(text: str) -> int:
        if int(text) < least:
            raise SettingError(f"{name} is {text}", remedy=f"give {least} or more")
        return int(text)

    said = help if default is None else f"{help} (default: {default})"
    parser.add_argument(name, type=number, default=default, help=said, **more)


def add_ratings(parser: Parser, columns: str, instead: Any = None) -> None:
    """``--ratings`` and how they are read; ``instead`` is a group of which one must be given."""
    names = "--ratings", "--train", "--references"
    said = f"columns {columns}; with rater, a row is one rating, and a text has their mean;"
    said += f" several files, or a folder of them, make one table; {TABLES}"
    told: dict[str, Any] = {"nargs": "+", "metavar": "FILE", "help": said}
    (instead or parser).add_argument(*names, required=instead is None, **told)
    parser.add_argument("--ratings-format", choices=FORMATS[:-1], default="")
    said = "of one text by one rater (default: %(default)s)"
    ways = "refuse", "mean"
    parser.add_argument("--repeated-ratings", choices=ways, default="refuse", help=said)


def add_outputs(parser: Parser, columns: str, instead: Any = None) -> None:
    """``--outputs``, texts to rate, and how they are read; ``instead`` as of `add_ratings`."""
    names = "--outputs", "--candidates"
    said = f"columns {columns}; {TABLES}, or plain lines (.txt)"
    (instead or parser).add_argument(*names, metavar="FILE", required=instead is None, help=said)
    parser.add_argument("--outputs-format", "--format", choices=FORMATS, default="")


def add_kernels(parser: Parser) -> None:
    """What commands have that compare texts with rated ones."""
    parser.add_argument("--center-raters", action="store_true", help="take off each rater's mean")
    parser.add_argument("--wordnet", metavar="PATH", help="WordNet 3.0, for METEOR kernels")
    add_number(parser, "--threads", "default: all cores")
