"""How the commands read files, and write what they made."""

import csv
import io
import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from refless.data.rows import File, is_table
from refless.data.user_ratings import LARGEST_RATING, UserRatings, read_ratings, read_texts
from refless.errors import FormatError, OutputError, SettingError
from refless.store.files import require_writable, whole_file, writing

_json = partial(json.dumps, ensure_ascii=False)
STREAMS = 256
"""A shell gives the files that it opens numbers below this."""


def ratings_of(arguments: Namespace, **more: Any) -> UserRatings:
    """What ``--ratings`` names; ``more`` as of `refless.data.user_ratings.read_ratings`."""
    scale = getattr(arguments, "scale", None)
    if scale and not -LARGEST_RATING <= scale[0] < scale[1] <= LARGEST_RATING:
        message = f"--scale is {scale[0]:g} {scale[1]:g}"
        raise SettingError(message, remedy="give the lowest, then the highest")
    return read_ratings(
        arguments.ratings,
        format=arguments.ratings_format,
        columns=dict(arguments.column),
        scale=scale,
        repeated=arguments.repeated_ratings,
        center=getattr(arguments, "center_raters", False),
        **more,
    )


def rated(own: UserRatings) -> Any:
    """The texts that have a rating, by their numbers. FormatError if none has."""
    texts = own.texts[own.texts["quality"].notna()]
    if texts.empty:
        raise FormatError("no text is rated", path=own.files[0].path, remedy="give it ratings")
    return texts


def outputs_of(arguments: Namespace, read: Sequence[str], need: Sequence[str] = ()) -> File:
    """What ``--outputs`` names; ``read``, ``need`` as of `refless.data.user_ratings.read_texts`."""
    columns = dict(arguments.column)
    return read_texts(arguments.outputs, read, need, arguments.outputs_format, columns)


def check_out(out: str | None, *inputs: str | None) -> Path | None:
    """Where the output will be; None for standard output, by whatever name. Raises OutputError,
    before the work begins: it is an input, by whatever name, or would be one of the next call, or
    cannot be written."""
    if out in (None, "-") or _same(out, 1):
        return None
    read: list[Path | int] = []
    for path in filter(None, inputs):
        folder = Path(path)
        read += folder.glob("*") if os.path.isdir(folder) else [0 if path == "-" else folder]
    if any(_same(out, file) for file in read):
        message = "is an input, which would be overwritten"
        raise OutputError(message, path=out, remedy="name another file")
    if is_table(out) and any(_same(Path(out).parent, folder) for folder in filter(None, inputs)):
        message = "would be read as an input the next time"
        raise OutputError(message, path=out, remedy="name another folder")
    stream = any(_same(out, number) for number in range(2, STREAMS))
    if stream or os.path.abspath(out).startswith(("/proc/", "/dev/fd/")):
        remedy = "name a file, or redirect standard output"
        raise OutputError("is a stream, and no file", path=out, remedy=remedy)
    require_writable(out)
    return Path(out)


def _same(*files: str | Path | int) -> bool:
    """Whether two paths, or numbers of streams, are one file."""
    with suppress(OSError):
        return os.path.samestat(*map(os.stat, files))
    return False


def with_columns(file: File, added: Any) -> str:
    """A file with the columns of a table added, in its own format (JSON Lines for all JSON); of
    plain lines, a TSV of these alone. None becomes an empty field, or null in JSON; lists become
    JSON. Raises FormatError: a column is there already."""
    names, given = file.names, file.rows
    if file.format == "lines":
        names, given = [], [[] for _ in given]
    if clash := [name for name in added if name in names]:
        raise FormatError(f"already has a column {clash[0]!r}", path=file.path, remedy="rename it")
    both = zip(given, added.to_dict("records"), strict=True)
    if file.format == "jsonl":
        return "".join(f"{_json(own | more)}\n" for own, more in both)
    buffer = io.StringIO()
    between = "," if file.format == "csv" else "\t"
    table = csv.writer(buffer, delimiter=between, lineterminator="\n")
    table.writerow([*names, *added])
    for own, more in both:
        shown = [_json(value) if isinstance(value, list) else value for value in more.values()]
        table.writerow(own + shown)
    return buffer.getvalue()


def finish(arguments: Namespace, file: File, columns: Any, facts: dict[str, Any]) -> None:
    """Write a file with columns added, None for NaN; or with ``--json``, one object of facts and
    these columns. Tell how well predictions agree with ratings, if the facts say it."""
    import pandas as pd

    added = pd.DataFrame(columns, dtype=object)
    added = added.where(added.notna(), None)
    if arguments.json:
        rows = enumerate(added.to_dict("records"), 1)
        facts |= {"predictions": [{"row": number, **row} for number, row in rows]}
        content = f"{_json(facts, indent=1)}\n"
    else:
        content = with_columns(file, added)
    if arguments.out is None:
        print_out(content)
    else:
        with whole_file(arguments.out) as path:
            path.write_bytes(_encoded(content))
    if "mse" in facts:
        tell(f"where there is a prediction: {measures_line(facts)}")


def print_out(content: str) -> None:
    """Write to standard output, as UTF-8. Raises OutputError: it is full, or closed."""
    try:
        with writing("standard output"):
            if sys.stdout is None:
                raise OSError("it is closed")
            sys.stdout.buffer.write(_encoded(content))
            sys.stdout.flush()
    except (OutputError, BrokenPipeError):
        if sys.stdout is not None:  # what is left would fail again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _encoded(content: str) -> bytes:
    """JSON may have half a character, and an escape for it."""
    return content.encode("utf-8", "backslashreplace")


def tell(line: str) -> None:
    """What a person wants to know, on standard error."""
    print(line, file=sys.stderr)


def measures_line(found: Mapping[str, float | None]) -> str:
    """What `refless.statistics.agreement` found, for people."""
    values = (found[name] for name in ("pearson", "spearman", "mse", "mse_of_mean"))
    shown = ["undefined" if value is None else f"{value:.4g}" for value in values]
    return "Pearson {}; Spearman {}; squared error {}, of the mean rating {}".format(*shown)


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None]]:
    """A bar on standard error, of what takes some seconds: ``step(done, total, what)``, of which
    ``done`` alone must be given."""
    pause = 2 if sys.stderr.isatty() else 15
    with tqdm(desc=what, leave=False, mininterval=pause, delay=pause) as bar:

        def step(done: int, total: int | None = None, what: str = what) -> None:
            bar.total = total
            bar.set_description_str(what, refresh=False)
            bar.update(done - bar.n)

        yield step
