"""What the commands share: their place on the command line, and how results are written.

Stage: outside the workflow (helper of ``refless.cli``).
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refless.errors import FormatError, OutputError, SettingError

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from refless.data.given import Given

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


def check_scale(scale: Sequence[float] | None) -> None:
    """``--scale LOW HIGH``, where it is given."""
    from refless.data.sources._reading import size_fault

    if scale and not float("-inf") < scale[0] < scale[1] < float("inf"):
        given = " ".join(f"{end:g}" for end in scale)
        raise SettingError(f"--scale is {given}", remedy="give the lowest, then the highest")
    if fault := "".join(map(size_fault, scale or [])):
        raise SettingError(f"--scale: {fault}")


def check_least(name: str, value: int, least: int) -> None:
    """A whole number of the command line that has a least value."""
    if value < least:
        raise SettingError(f"--{name} is {value}", remedy=f"give {least} or more")


@contextmanager
def quiet(name: str) -> Iterator[None]:
    """What the reader has to say of a user's file stands among the warnings."""
    log = logging.getLogger(name)
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


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


def require_whole(given: Given) -> None:
    """Known before the work: what is written again has no half of a character.

    Raises
    ------
    FormatError : with the row.
    """
    from refless.data.sources._reading import half_character

    # text from bytes has none; JSON can write one
    columns = given.columns if given.format == "jsonl" else {}
    for name, values in columns.items():
        for line, value in zip(given.line_of, values, strict=True):
            if half_character(json.dumps({name: value}, ensure_ascii=False)):
                raise FormatError(
                    f"{name!r} contains half a character, which cannot be written",
                    path=given.path,
                    line=line,
                    remedy="mend or remove it",
                )


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
