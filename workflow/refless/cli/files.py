"""How the commands read files, and write what they made."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from refless.data.own import LARGEST, Own, read_ratings, read_texts
from refless.data.rows import File
from refless.errors import FormatError, OutputError, SettingError
from refless.store.files import whole_file, writing

if TYPE_CHECKING:
    from pandas import DataFrame


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


def rated(own: Own) -> DataFrame:
    """The texts that have a rating, by their numbers. FormatError if none has."""
    texts = own.texts[own.texts["quality"].notna()]
    if texts.empty:
        raise FormatError("no text is rated", path=own.files[0].path, remedy="give it ratings")
    return texts


def outputs_of(
    arguments: argparse.Namespace, read: Sequence[str], need: Sequence[str] = ()
) -> File:
    """What ``--outputs`` names; ``read`` and ``need`` as of `refless.data.own.read_texts`."""
    columns = dict(arguments.column)
    return read_texts(arguments.outputs, read, need, arguments.outputs_format, columns)


def check_out(out: str, *inputs: str | None) -> Path:
    """Where the output will be, ``-`` or a file (of a link, where it leads to). Raises OutputError,
    before the work begins: it is an input, or no file can be there."""
    if out == "-":
        return Path(out)
    path = Path(out).resolve()
    given = [Path(one) for one in inputs if one]
    inside = [file for folder in given if folder.is_dir() for file in folder.iterdir()]
    if path in [one.resolve() for one in (*given, *inside)]:
        message = "is an input, which would be overwritten"
        raise OutputError(message, path=out, remedy="name another file")
    if path.exists() and not path.is_file():
        raise OutputError("is no file", path=out, remedy="name a file, or - for standard output")
    with writing(out):
        path.parent.mkdir(parents=True, exist_ok=True)
    return path


def with_columns(file: File, added: DataFrame) -> str:
    """A file with further columns, in its own format (JSON Lines for all JSON); of plain lines, a
    TSV of these alone. None becomes an empty field, or null in JSON; lists become JSON. Raises
    FormatError: a column is there already."""
    plain = file.format == "lines"
    if not plain and (clash := [name for name in added if name in file.names]):
        raise FormatError(f"already has a column {clash[0]!r}", path=file.path, remedy="rename it")
    rows = added.to_dict("records")
    if file.format == "jsonl":
        each = zip(file.rows, rows, strict=True)
        return "".join(f"{_json(own | more)}\n" for own, more in each)
    shown = [list(added), *([_shown(value) for value in row.values()] for row in rows)]
    given = [[]] * len(shown) if plain else [file.names, *file.rows]
    table = [own + more for own, more in zip(given, shown, strict=True)]
    buffer = io.StringIO()
    between = "," if file.format == "csv" else "\t"
    csv.writer(buffer, delimiter=between, lineterminator="\n").writerows(table)
    return buffer.getvalue()


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return _json(value) if isinstance(value, list) else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def write(content: str, out: Path) -> None:
    """To standard output, or to a file: whole or not at all."""
    # JSON may have half a character, and an escape for it
    data = content.encode("utf-8", "backslashreplace")
    if out == Path("-"):
        sys.stdout.buffer.write(data)
        return
    with whole_file(out) as partial:
        partial.write_bytes(data)


def write_json(value: Any, out: Path) -> None:
    """The same with a value as indented JSON."""
    write(json.dumps(value, ensure_ascii=False, indent=1) + "\n", out)


def tell(line: str) -> None:
    """What a person wants to know, on standard error."""
    print(line, file=sys.stderr)


def measures_line(found: Mapping[str, float | None]) -> str:
    """What `refless.statistics.agreement` found, for people."""
    values = (found[name] for name in ("pearson", "spearman", "mse", "mse_of_mean"))
    shown = ["undefined" if value is None else f"{value:.4g}" for value in values]
    line = "Pearson {}; Spearman {}; squared error {}, of the mean rating {}"
    return line.format(*shown)


@contextmanager
def progress(what: str, unit: str = "text") -> Iterator[Callable[..., None]]:
    """A bar on standard error, renewed less often where that is no terminal: ``step(done, total,
    what)``, of which ``done`` alone must be given."""
    pause = 0.1 if sys.stderr.isatty() else 15
    with tqdm(desc=what, unit=unit, leave=False, mininterval=pause, delay=pause) as bar:

        def step(done: int, total: int | None = None, what: str = "") -> None:
            bar.total = total or bar.total
            bar.set_description_str(what or bar.desc, refresh=False)
            bar.update(done - bar.n)

        yield step
