"""What the commands share: their arguments, how files are read, and how results are written."""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def command(
    commands: Commands, name: str, help: str, description: str, example: str
) -> argparse.ArgumentParser:
    """The parser of one command; its help ends with an example."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=textwrap.fill(description),
        epilog="example:\n" + textwrap.indent(example.strip(), "  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def tell(line: str) -> None:
    """What a person wants to know, on standard error."""
    print(line, file=sys.stderr)


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


def add_ratings(
    parser: argparse.ArgumentParser,
    *aliases: str,
    formats: Sequence[str] = (),
    columns: str = "text, quality",
    instead: Any = None,
) -> None:
    """``--ratings`` and how they are read; ``instead`` is a group of which one must be given."""
    (instead or parser).add_argument(
        "--ratings",
        *aliases,
        nargs="+",
        metavar="FILE",
        required=instead is None,
        help=f"columns {columns}; with rater, a row is one rating, and a text has their mean;"
        f" several files, or a folder of them, make one table; {TABLES}",
    )
    parser.add_argument("--ratings-format", *formats, choices=FORMATS[:-1], default="", help=ENDING)
    parser.add_argument(
        "--repeated-ratings",
        choices=["refuse", "mean"],
        default="refuse",
        help="of one text by one rater (default: %(default)s)",
    )
    add_columns(parser)


ENDING = "whatever the ending says"


def add_outputs(
    parser: argparse.ArgumentParser,
    *aliases: str,
    columns: str,
    formats: Sequence[str] = (),
    instead: Any = None,
) -> None:
    """``--outputs``, texts to rate, and how they are read; ``instead`` as of `add_ratings`."""
    said = f"{columns}; {TABLES}, or plain lines (.txt)"
    (instead or parser).add_argument(
        "--outputs", *aliases, metavar="FILE", required=instead is None, help=said
    )
    parser.add_argument("--outputs-format", *formats, choices=FORMATS, default="", help=ENDING)


def add_columns(parser: argparse.ArgumentParser) -> None:
    """``--column``."""
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="NAME=YOURS",
        help="what your file calls a column, e.g. text=response; may be given several times",
    )


def add_scale(parser: argparse.ArgumentParser, help: str) -> None:
    """``--scale``."""
    parser.add_argument("--scale", type=float, nargs=2, metavar=("LOW", "HIGH"), help=help)


def add_center(parser: argparse.ArgumentParser) -> None:
    """``--center-raters``."""
    said = "take off each rater's own mean, and put the overall mean back"
    parser.add_argument("--center-raters", action="store_true", help=said)


def ratings_of(arguments: argparse.Namespace, **more: Any) -> Own:
    """What ``--ratings`` names; ``more`` as of `refless.data.own.read_ratings`."""
    scale = more.get("scale")
    if scale and not -LARGEST <= scale[0] < scale[1] <= LARGEST:
        given = " ".join(f"{end:g}" for end in scale)
        raise SettingError(f"--scale is {given}", remedy="give the lowest, then the highest")
    if arguments.ratings == ["-"] and getattr(arguments, "outputs", None) == "-":
        raise UsageError("only one of --ratings and --outputs can be standard input")
    return read_ratings(
        arguments.ratings,
        format=arguments.ratings_format,
        columns=_columns(arguments),
        repeated=arguments.repeated_ratings,
        center=getattr(arguments, "center_raters", False),
        **more,
    )


def outputs_of(
    arguments: argparse.Namespace, read: Sequence[str], need: Sequence[str] = ()
) -> File:
    """What ``--outputs`` names; ``read`` and ``need`` as of `refless.data.own.read_texts`."""
    format = arguments.outputs_format
    return read_texts(arguments.outputs, read, need, format, _columns(arguments))


def _columns(arguments: argparse.Namespace) -> dict[str, str]:
    pairs = [given.partition("=")[::2] for given in arguments.column]
    for name, theirs in pairs:
        if not theirs or not (name in NAMES or name.startswith(("score_", "reference"))):
            known = ", ".join(NAMES)
            raise UsageError(f"--column {name}={theirs}: NAME is one of {known}, score_...")
    return dict(pairs)


def require_torch() -> None:
    """Known before anything is imported that needs it; SettingError if it is not installed."""
    if find_spec("torch") is None:
        raise SettingError(
            "RNN quality estimation needs torch, which is not installed",
            remedy="make torch, in a clone of refless; elsewhere: pip install torch",
        )


def check_out(out: str, inputs: Iterable[str | None], model: bool = False) -> Path:
    """Refuse, before the work begins, a place for the output that is an input, or in a folder that
    is not there; of a ``model``, also what is no file. Returns where it is: a link stays a link.

    Raises
    ------
    OutputError : with what to do.
    """
    path = Path(os.path.realpath(out))
    if model and (out == "-" or (path.exists() and not path.is_file() and not path.is_dir())):
        raise OutputError("a model is written to a file", path=out, remedy="name a file with --out")
    if out == "-":
        if sys.stdout is None:
            raise OutputError("standard output is closed", remedy="name a file with --out")
        return path
    if not path.parent.is_dir():
        raise OutputError("its folder is not there", path=out, remedy="make it: mkdir -p")
    if path.is_dir():
        raise OutputError("is a folder", path=out, remedy="name a file in it")
    if path in [Path(os.path.realpath(given)) for given in inputs if given not in (None, "-")]:
        message = "is an input, which would be overwritten"
        raise OutputError(message, path=out, remedy="name another file")
    return path


def require_free(file: File, *names: str) -> None:
    """Columns that are to be added must not be there; FormatError if one is."""
    clash = sorted(set(names) & set(file.names))
    if clash and file.format != "lines":
        raise FormatError(f"already has a column {clash[0]!r}", path=file.path, remedy="rename it")


def with_columns(file: File, added: Mapping[str, Sequence[Any]]) -> str:
    """A file with further columns, in its own format; of plain lines, a TSV of these alone.

    None becomes an empty field, or null in JSON; lists become JSON.
    """
    rows = list(zip(*added.values(), strict=True))
    if file.format == "jsonl":
        objects = [
            json.dumps({**row, **dict(zip(added, more, strict=True))}, ensure_ascii=False)
            for row, more in zip(file.rows, rows, strict=True)
        ]
        lines = "".join(f"{one}\n" for one in objects)
        made = "[" + ",\n".join(objects) + "]\n" if file.array else lines
        # half a character has no bytes, and JSON has an escape for it
        return made.encode("utf-8", "backslashreplace").decode()
    shown = [[_shown(value) for value in row] for row in rows]
    if file.format == "csv":
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow([*file.names, *added])
        writer.writerows([*row, *more] for row, more in zip(file.rows, shown, strict=True))
        return buffer.getvalue()
    names, before = ([], [[]] * len(shown)) if file.format == "lines" else (file.names, file.rows)
    table = [[*names, *added], *([*row, *more] for row, more in zip(before, shown, strict=True))]
    return "".join("\t".join(row) + "\n" for row in table)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return repr(value) if isinstance(value, float) else str(value)


def write(content: str, out: str) -> None:
    """To standard output, or to a file: whole or not at all. A link stays a link, and a pipe or a
    device gets the lines."""
    from refless.store.files import whole_file

    path = Path(os.path.realpath(out))
    try:
        if out == "-":
            sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
            print(content, end="", flush=True)
        elif path.exists() and not path.is_file():
            path.write_text(content, encoding="utf-8")
        else:
            with whole_file(path) as partial:
                partial.write_text(content, encoding="utf-8")
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        raise OutputError(message, path=out, remedy="make room, or name another place") from error


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
