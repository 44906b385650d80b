"""Options that several commands have."""

import argparse
import textwrap
from collections.abc import Callable
from typing import Any

from refless.data.own import NAMES
from refless.data.rows import FORMATS
from refless.errors import SettingError

Commands = Any  # what ``add_subparsers`` returns has no public name

TABLES = "TSV, CSV, JSON Lines or a JSON array, by its ending; also gzipped; - is standard input"


def command(
    commands: Commands,
    run: Callable[[argparse.Namespace], None],
    name: str,
    help: str,
    description: str,
    example: str,
) -> argparse.ArgumentParser:
    """The parser of one command, which reads tables; its help ends with an example. Of parsed
    arguments, ``run`` does the work, and ``fail`` refuses such as do not go together."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=textwrap.fill(description),
        epilog="example:\n" + textwrap.indent(example.strip(), "  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        type=_column,
        metavar="NAME=YOURS",
        help="what your file calls a column, e.g. text=response; may be given several times",
    )
    parser.set_defaults(run=run, fail=parser.error)
    return parser


def pair(text: str) -> tuple[str, str]:
    """``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r}: write it with =")
    return name, value


def _column(text: str) -> tuple[str, str]:
    name, theirs = pair(text)
    if name not in NAMES and not name.startswith(("score_", "reference")):
        known = ", ".join(NAMES)
        raise argparse.ArgumentTypeError(f"{text}: NAME is one of {known}, score_...")
    return name, theirs


def add_number(
    parser: argparse.ArgumentParser,
    name: str,
    help: str,
    default: int | None = None,
    least: int = 1,
    **more: Any,
) -> None:
    """An option that is a whole number; SettingError for one below the ``least``."""

    def number(text: str) -> int:
        if int(text) < least:
            raise SettingError(f"{name} is {text}", remedy=f"give {least} or more")
        return int(text)

    said = help if default is None else f"{help} (default: {default})"
    parser.add_argument(name, type=number, default=default, help=said, **more)


def add_ratings(
    parser: argparse.ArgumentParser, columns: str = "text, quality", instead: Any = None
) -> None:
    """``--ratings`` and how they are read; ``instead`` is a group of which one must be given."""
    (instead or parser).add_argument(
        *("--ratings", "--train", "--references"),
        nargs="+",
        metavar="FILE",
        required=instead is None,
        help=f"columns {columns}; with rater, a row is one rating, and a text has their mean;"
        f" several files, or a folder of them, make one table; {TABLES}",
    )
    parser.add_argument("--ratings-format", choices=FORMATS[:-1], default="")
    parser.add_argument(
        "--repeated-ratings",
        choices=["refuse", "mean"],
        default="refuse",
        help="of one text by one rater (default: %(default)s)",
    )


def add_outputs(parser: argparse.ArgumentParser, columns: str, instead: Any = None) -> None:
    """``--outputs``, texts to rate, and how they are read; ``instead`` as of `add_ratings`."""
    said = f"{columns}; {TABLES}, or plain lines (.txt)"
    names = "--outputs", "--candidates"
    (instead or parser).add_argument(*names, metavar="FILE", required=instead is None, help=said)
    parser.add_argument("--outputs-format", "--format", choices=FORMATS, default="")


def add_scale(parser: argparse.ArgumentParser, help: str) -> None:
    """``--scale``."""
    parser.add_argument("--scale", type=float, nargs=2, metavar=("LOW", "HIGH"), help=help)


def add_kernels(parser: argparse.ArgumentParser) -> None:
    """What commands have that compare texts with rated ones."""
    said = "take off each rater's own mean, and put the overall mean back"
    parser.add_argument("--center-raters", action="store_true", help=said)
    parser.add_argument("--wordnet", metavar="PATH", help="WordNet 3.0, for METEOR kernels")
    add_number(parser, "--threads", "default: all cores")


def add_out(parser: argparse.ArgumentParser, help: str) -> None:
    """``--out``, where a table or a number is written."""
    parser.add_argument(
        "--out", default="-", metavar="FILE", help=f"{help} (default: -, standard output)"
    )
