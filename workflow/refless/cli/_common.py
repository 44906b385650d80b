"""What the commands share: their options, how files are read, and how results are written."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from refless.data.own import LARGEST, NAMES, Own, read_ratings, read_texts
from refless.data.rows import FORMATS, File
from refless.errors import FormatError, OutputError, SettingError

Commands = Any  # what ``add_subparsers`` returns has no public name

TABLES = "TSV, CSV, JSON Lines or a JSON array, by its ending; also gzipped; - is standard input"


class UsageError(Exception):
    """Arguments that do not go together: exit code 2."""


# ---- options -------------------------------------------------------------------------------------


def command(
    commands: Commands,
    run: Callable[[argparse.Namespace], None],
    name: str,
    help: str,
    description: str,
    example: str,
) -> argparse.ArgumentParser:
    """The parser of one command, which reads tables; its help ends with an example."""
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
    parser.set_defaults(run=run)
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
    names: str,
    help: str,
    default: int | None = None,
    least: int = 1,
    **more: Any,
) -> None:
    """An option that is a whole number; ``names`` are its own and the aliases. SettingError for one
    below the ``least``."""

    def number(text: str) -> int:
        if int(text) < least:
            raise SettingError(f"{names.split()[0]} is {text}", remedy=f"give {least} or more")
        return int(text)

    said = help if default is None else f"{help} (default: {default})"
    parser.add_argument(*names.split(), type=number, default=default, help=said, **more)


def add_threads(parser: argparse.ArgumentParser) -> None:
    """``--threads``."""
    add_number(parser, "--threads", "default: all cores")


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


def add_center(parser: argparse.ArgumentParser) -> None:
    """``--center-raters``."""
    said = "take off each rater's own mean, and put the overall mean back"
    parser.add_argument("--center-raters", action="store_true", help=said)


def add_out(parser: argparse.ArgumentParser, help: str) -> None:
    """``--out``, where a table or a number is written."""
    parser.add_argument(
        "--out", default="-", metavar="FILE", help=f"{help} (default: -, standard output)"
    )


# ---- reading -------------------------------------------------------------------------------------


def ratings_of(arguments: argparse.Namespace, **more: Any) -> Own:
    """What ``--ratings`` names; ``more`` as of `refless.data.own.read_ratings`."""
    scale = more.get("scale")
    if scale and not -LARGEST <= scale[0] < scale[1] <= LARGEST:
        given = " ".join(f"{end:g}" for end in scale)
        raise SettingError(f"--scale is {given}", remedy="give the lowest, then the highest")
    return read_ratings(
        arguments.ratings,
        format=arguments.ratings_format,
        columns=dict(arguments.column),
        repeated=arguments.repeated_ratings,
        center=getattr(arguments, "center_raters", False),
        **more,
    )


def outputs_of(
    arguments: argparse.Namespace, read: Sequence[str], need: Sequence[str] = ()
) -> File:
    """What ``--outputs`` names; ``read`` and ``need`` as of `refless.data.own.read_texts`."""
    columns = dict(arguments.column)
    return read_texts(arguments.outputs, read, need, arguments.outputs_format, columns)


def require_torch() -> None:
    """SettingError if torch is not installed, before anything is imported that needs it."""
    if find_spec("torch") is None:
        raise SettingError(
            "RNN quality estimation needs torch, which is not installed",
            remedy="make torch, in a clone of refless; elsewhere: pip install torch",
        )


# ---- writing -------------------------------------------------------------------------------------


def check_out(out: str, *inputs: str | None) -> Path:
    """Where the output will be, ``-`` or a file (of a link, where it leads to).

    Raises
    ------
    OutputError : before the work begins: it is an input, or no file can be there.
    """
    from refless.store.files import writing

    if out == "-":
        return Path(out)
    path = Path(out).resolve()
    if path in [Path(given).resolve() for given in inputs if given]:
        message = "is an input, which would be overwritten"
        raise OutputError(message, path=out, remedy="name another file")
    if path.exists() and not path.is_file():
        raise OutputError("is no file", path=out, remedy="name a file, or - for standard output")
    with writing(out):
        path.parent.mkdir(parents=True, exist_ok=True)
    return path


def with_columns(file: File, added: Mapping[str, Sequence[Any]]) -> str:
    """A file with further columns, in its own format; of plain lines, a TSV of these alone. None
    becomes an empty field, or null in JSON; lists become JSON.

    Raises
    ------
    FormatError : a column is there already.
    """
    if file.format != "lines" and (clash := [name for name in added if name in file.names]):
        raise FormatError(f"already has a column {clash[0]!r}", path=file.path, remedy="rename it")
    rows = list(zip(*added.values(), strict=True))
    if file.format == "jsonl":
        objects = [
            json.dumps(raw | dict(zip(added, row, strict=True)), ensure_ascii=False)
            for raw, row in zip(file.raw, rows, strict=True)
        ]
        if file.array:
            return "[" + ",\n".join(objects) + "]\n"
        return "".join(f"{one}\n" for one in objects)
    table = [list(added), *([_shown(value) for value in row] for row in rows)]
    given = [file.header, *file.raw]
    if file.format == "csv":
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerows([*own, *more] for own, more in zip(given, table, strict=True))
        return buffer.getvalue()
    if file.format == "tsv":
        table = [[own, *more] for own, more in zip(given, table, strict=True)]
    return "".join("\t".join(row) + "\n" for row in table)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)


def write(content: str, out: Path) -> None:
    """To standard output, or to a file: whole or not at all."""
    from refless.store.files import whole_file

    # JSON may have half a character, and an escape for it
    data = content.encode("utf-8", "backslashreplace")
    if out == Path("-"):
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    with whole_file(out) as partial:
        partial.write_bytes(data)


def tell(line: str) -> None:
    """What a person wants to know, on standard error."""
    print(line, file=sys.stderr)


@contextmanager
def progress(what: str, unit: str = "text") -> Iterator[Callable[..., None]]:
    """A bar on standard error, renewed less often where that is no terminal: ``step(done, total,
    what)``, of which ``done`` alone must be given."""
    from tqdm import tqdm

    pause = 0.1 if sys.stderr.isatty() else 15
    with tqdm(desc=what, unit=unit, leave=False, mininterval=pause, delay=pause) as bar:

        def step(done: int, total: int | None = None, what: str = "") -> None:
            bar.total = total or bar.total
            bar.set_description_str(what or bar.desc, refresh=False)
            bar.update(done - bar.n)

        yield step
