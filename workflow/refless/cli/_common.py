"""What the commands share: their place on the command line, and how results are written.

Stage: outside the workflow (helper of ``refless.cli``).
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refless.data.own import LARGEST, NAMES, Own, read_ratings, read_texts
from refless.data.rows import FORMATS, File
from refless.errors import FormatError, OutputError, SettingError

if TYPE_CHECKING:
    from numpy import ndarray as Array

Commands = Any  # what ``add_subparsers`` returns has no public name


def command(
    commands: Commands, name: str, help: str, description: str, example: str
) -> argparse.ArgumentParser:
    """The parser of one command; its help ends with an example."""
    return commands.add_parser(
        name,
        help=help,
        description=description,
        epilog="example:\n  " + example.strip().replace("\n", "\n  "),
        formatter_class=_Help,
    )


class _Help(argparse.HelpFormatter):
    """Wraps text as always, but for the example."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("example:"):
            return text
        return super()._fill_text(text, width, indent)


class UsageError(Exception):
    """Arguments that do not go together: exit code 2."""


def tell(line: str) -> None:
    """What a person wants to know, on standard error."""
    print(line, file=sys.stderr)


TABLES = "TSV, CSV, JSON Lines or a JSON array, by its ending; also gzipped"


def add_ratings(
    parser: argparse.ArgumentParser,
    *aliases: str,
    formats: Sequence[str] = (),
    columns: str = "text, quality",
    instead: Any = None,
) -> None:
    """``--ratings``, and how they are read; ``instead`` is a group that has another option, of
    which one must be given."""
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


def add_outputs(parser: argparse.ArgumentParser, *formats: str) -> None:
    """How ``--outputs`` is read."""
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


def ratings_of(arguments: argparse.Namespace, **more: Any) -> Own:
    """What ``--ratings`` names; ``more`` as of `refless.data.own.read_ratings`."""
    return read_ratings(
        arguments.ratings,
        format=arguments.ratings_format,
        columns=_columns(arguments),
        repeated=arguments.repeated_ratings,
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
            raise UsageError(
                f"--column {name}={theirs}: write NAME=YOURS, where NAME is one of"
                f" {', '.join(NAMES)}, score_..."
            )
    return dict(pairs)


def check_scale(scale: Sequence[float] | None) -> None:
    """``--scale LOW HIGH``, where it is given."""
    if scale and not -LARGEST <= scale[0] < scale[1] <= LARGEST:
        given = " ".join(f"{end:g}" for end in scale)
        raise SettingError(f"--scale is {given}", remedy="give the lowest, then the highest")


def check_least(name: str, value: int, least: int) -> None:
    """A whole number of the command line that has a least value."""
    if value < least:
        raise SettingError(f"--{name} is {value}", remedy=f"give {least} or more")


def require_torch() -> None:
    """Known before anything is imported that needs it.

    Raises
    ------
    SettingError : torch is not installed.
    """
    if find_spec("torch") is None:
        raise SettingError(
            "RNN quality estimation needs torch, which is not installed",
            remedy="make torch, in a clone of refless; elsewhere: pip install torch",
        )


_OPEN = re.compile(r"/dev/(?:(std)(?:out|(err))|fd/(\d+))|/proc/self/fd/(\d+)")


def open_number(out: str) -> int | None:
    """The number of what ``/dev/stdout`` and the like name, which is open already; else None.

    It is written to as it is open: opened anew by its name, a file would lose what it has.
    """
    found = _OPEN.fullmatch(out)
    if not found:
        return None
    if found[1]:
        return 2 if found[2] else 1
    return int(found[3] or found[4])


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except (OSError, OverflowError):
        return False
    return True


def check_out(out: str, inputs: Iterable[str | None]) -> None:
    """Refuse a place for the output that is an input, or in a folder that is not there.

    It is called before the work begins. ``-`` is standard input or output.

    Raises
    ------
    OutputError : with what to do.
    """
    if out == "-":
        if sys.stdout is None:
            raise OutputError("standard output is closed", remedy="name a file with --out")
        return
    descriptor = open_number(out)
    if descriptor is not None:
        if not _is_open(descriptor):
            raise OutputError("is not open", path=out, remedy="name a file with --out")
        return
    path = Path(os.path.realpath(out))
    if not path.parent.is_dir():
        made = f"mkdir -p {shlex.quote(str(path.parent))}"
        raise OutputError("its folder is not there", path=out, remedy=f"make it: {made}")
    if path.is_dir():
        raise OutputError("is a folder", path=out, remedy="name a file in it")
    for given in inputs:
        if given not in (None, "-") and path == Path(os.path.realpath(given)):
            raise OutputError(
                "is an input, which would be overwritten", path=out, remedy="name another file"
            )


def check_model(out: str, inputs: Iterable[str | None]) -> Path:
    """As `check_out`, of a model, which is a file and nothing else; where it is written: a link
    stays a link.

    Raises
    ------
    OutputError : also for standard output, a pipe or a device.
    """
    path = Path(os.path.realpath(out))
    other = path.exists() and not path.is_file() and not path.is_dir()
    if out == "-" or other or open_number(out) is not None:
        raise OutputError("a model is written to a file", path=out, remedy="name a file with --out")
    check_out(out, inputs)
    return path


def require_files(ratings: Iterable[str]) -> None:
    """``-`` is no standard input where files are read twice."""
    if "-" in ratings:
        raise UsageError("--ratings names files; write standard input into one")


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
            for row, more in zip(file.raw, rows, strict=True)
        ]
        made = (
            "[" + ",\n".join(objects) + "]\n"
            if file.array
            else "".join(map("{}\n".format, objects))
        )
        # half a character has no bytes, and JSON has an escape for it
        return made.encode("utf-8", "backslashreplace").decode()
    shown = [[_shown(value) for value in row] for row in rows]
    if file.format == "csv":
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow([*file.header, *added])
        writer.writerows([*row, *more] for row, more in zip(file.raw, shown, strict=True))
        return buffer.getvalue()
    before = [[line] for line in file.raw] if file.format == "tsv" else [[]] * len(shown)
    table = [[file.header, *added] if file.format == "tsv" else list(added)]
    table += [[*row, *more] for row, more in zip(before, shown, strict=True)]
    return "".join("\t".join(row) + "\n" for row in table)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return repr(value) if isinstance(value, float) else str(value)


def write(content: str, out: str) -> None:
    from refless.store.files import whole_file

    # A link stays a link, and a pipe or a device gets the lines: only a file is replaced.
    path = Path(os.path.realpath(out))
    descriptor = open_number(out)
    try:
        if out == "-":
            sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
            sys.stdout.write(content)
            sys.stdout.flush()
        elif descriptor is not None:
            with open(descriptor, "w", encoding="utf-8", closefd=False) as opened:
                opened.write(content)
        elif path.exists() and not path.is_file():
            path.write_text(content, encoding="utf-8")
        else:
            with whole_file(path) as partial:
                partial.write_text(content, encoding="utf-8")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror or error}",
            path=out,
            remedy="make room, or name another place with --out",
        ) from error


def tell_few(different: int) -> None:
    """Whether so few texts differ that intervals over them mean little."""
    from refless.statistics import ENOUGH_UNITS

    if 0 < different < ENOUGH_UNITS:
        tell(f"note: {different} different texts are few, so the intervals are too narrow")


def warn_of_scale(rated: Sequence[float] | Array, truth: Sequence[float]) -> None:
    """Whether the candidates' quality seems to be on another scale than what was learned."""
    import numpy as np

    low, high = float(np.min(rated)), float(np.max(rated))
    own = np.asarray(truth)
    width, narrow = high - low, float(np.ptp(own))
    beyond = max(low - own.min(), own.max() - high)
    outside = np.mean((own < low) | (own > high))
    if outside > 0.5 or beyond >= width / 4 or (len(own) >= 10 and 0 < narrow < width / 4):
        tell(
            f"warning: the candidates' quality goes from {own.min():g} to {own.max():g}, that which"
            f" was learned from {low:g} to {high:g}: other scales? MSE takes them as they are"
        )
