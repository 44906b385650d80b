"""How the commands read files, and write what they made."""

import csv
import io
import json
import os
import re
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from refless.api import read_rated
from refless.data.frames import BINARY_ENDINGS
from refless.data.rows import File, is_table, read_file
from refless.data.user_ratings import UserRatings, read_texts
from refless.errors import FormatError, OutputError
from refless.store.files import require_writable, whole_file, write_together, writing

_json = partial(json.dumps, ensure_ascii=False, default=str)
# but numbers are none
_FORMULA = re.compile(r"\s*[=+\-@](?![\d.]*(e[-+]?\d+)?\s*$)", re.IGNORECASE)
FIRST_WORD = 5
"""Seconds until a command away from a terminal says what it does."""
SILENCE = 10
"""Seconds between its further lines."""
STREAMS = 256
"""A shell gives the files that it opens numbers below this."""


def reading(arguments: Namespace) -> dict[str, Any]:
    """How ratings are read, as `refless.api.read_rated` takes it."""
    inputs = [*(arguments.ratings or []), getattr(arguments, "outputs", None), arguments.join]
    if inputs.count("-") > 1:
        arguments.fail("- is standard input, which can be read once: name a file for the others")
    if bool(arguments.join) != bool(arguments.on):
        arguments.fail("--join FILE and --on COLUMN go together")
    return {
        "format": arguments.ratings_format,
        "columns": dict(arguments.column),
        "scale": getattr(arguments, "scale", None),
        "repeated": arguments.repeated_ratings,
        "center": bool(getattr(arguments, "center_raters", False)),
        "join": (arguments.join, arguments.on) if arguments.join else None,
        "raters": arguments.raters,
    }


def ratings_of(arguments: Namespace, **more: Any) -> UserRatings:
    """What ``--ratings`` names; ``more`` as of `refless.api.read_rated`."""
    return read_rated(arguments.ratings, **reading(arguments), **more)


def outputs_of(
    arguments: Namespace, read: Sequence[str], need: Sequence[str] = (), *, added: Sequence[str]
) -> File:
    """What ``--outputs`` names; ``read`` and ``need`` as of `read_texts`, ``added`` as of
    `to_extend`."""
    columns = dict(arguments.column)
    join = reading(arguments)["join"] if "join" in arguments else None
    file = to_extend(arguments, arguments.outputs, arguments.outputs_format, added)
    return read_texts(file, read, need, arguments.outputs_format, columns, join)


def to_extend(arguments: Namespace, path: str, format: str, added: Sequence[str]) -> File:
    """A user's file, whose columns are to be written with those of ``added`` behind them. Raises
    FormatError, before the work begins: one of these is there already."""
    file = read_file(path, format)
    if not arguments.json:
        _refuse_columns(file, added)
    return file


def _refuse_columns(file: File, added: Iterable[str]) -> None:
    names = [] if file.format == "lines" else file.headers
    if clash := [name for name in added if name in names]:
        remedy = "rename it, or take it out: a column of this name is added"
        raise FormatError(f"already has a column {clash[0]!r}", path=file.path, remedy=remedy)


def check_out(out: str | None, *inputs: str | None) -> Path | None:
    """Where the output will be; None for standard output, by whatever name. Raises OutputError,
    before the work begins: it is an input, by whatever name, or would be one of the next call, or
    cannot be written."""
    if out in (None, "-") or _same(out, 1):
        return None
    named = [path for path in inputs if path]
    if any(_same(out, file) for path in named for file in _files_read(path)):
        message = "is an input, which would be overwritten"
        raise OutputError(message, path=out, remedy="name another file")
    if is_table(out) and any(_same(Path(out).parent, folder) for folder in named):
        message = "would be read as an input the next time"
        raise OutputError(message, path=out, remedy="name another folder")
    stream = any(_same(out, number) for number in range(2, STREAMS))
    if stream or os.path.abspath(out).startswith(("/proc/", "/dev/fd/")):
        remedy = "name a file, or redirect standard output"
        raise OutputError("is a stream, and no file", path=out, remedy=remedy)
    if Path(out).suffix.lower() in BINARY_ENDINGS:
        remedy = "let it end in .tsv, .csv, .jsonl or .json"
        raise OutputError("would be text, whatever its ending", path=out, remedy=remedy)
    require_writable(out)
    return Path(out)


def _files_read(path: str) -> Iterable[Path | int]:
    """The files that an input names: those of a folder, standard input, which is stream 0, or one
    file."""
    if os.path.isdir(path):
        return Path(path).glob("*")
    return [0 if path == "-" else Path(path)]


def _same(*files: str | Path | int) -> bool:
    """Whether two paths, or numbers of streams, are one file."""
    with suppress(OSError):
        return os.path.samestat(*map(os.stat, files))
    return False


def with_columns(file: File, added: Any) -> str:
    """A file with the columns of a table added, in its own format (JSON Lines for all JSON); of
    plain lines, a TSV of these alone. None becomes an empty field, or null in JSON; lists become
    JSON. Raises FormatError: a column is there already."""
    has_columns = file.format != "lines"
    names = file.names if has_columns else []
    rows = file.rows if has_columns else [[] for _ in file.rows]
    _refuse_columns(file, added)
    both = zip(rows, added.to_dict("records"), strict=True)
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
    these columns."""
    import pandas as pd

    added = pd.DataFrame(columns, dtype=object)
    added = added.where(added.notna(), None)
    if arguments.json:
        rows = enumerate(added.to_dict("records"), 1)
        facts |= {"predictions": [{"row": number, **row} for number, row in rows]}
        content = f"{_json(facts, indent=1)}\n"
    else:
        content = with_columns(file, added)
        number = _formulas(chain(*file.rows)) if file.format in ("csv", "tsv") else 0
        if number:
            note = "a spreadsheet takes them for formulas: let it import texts"
            tell(f"note: {number:,} fields begin with =, +, - or @: {note}")
    write_out(content, arguments.out)


def _formulas(cells: Iterable[Any]) -> int:
    """How many cells a spreadsheet takes for formulas."""
    return sum(isinstance(cell, str) and _FORMULA.match(cell) is not None for cell in cells)


def _no_formula(cell: Any) -> Any:
    """A cell of our own table, in which a name is text for a spreadsheet, too."""
    return f"'{cell}" if _formulas([cell]) else cell


def write_answer(answer: Any, out: Path | None, as_json: bool) -> None:
    """Write the table of a `refless.evaluation.answer.Answer`, and its pairs beside it; CSV or TSV
    by the ending. With ``as_json`` one object of both and the answer."""
    tables = {"table": answer.table, "pairs": answer.pairs}
    if as_json or out is None:
        rows = {name: json.loads(each.to_json(orient="records")) for name, each in tables.items()}
        facts = {"answer": answer.answer.splitlines(), "warnings": answer.warnings}
        facts |= {"signature": answer.signature, **rows}
        write_out(f"{_json(facts, indent=1)}\n", out)
        return
    between = "," if out.suffix == ".csv" else "\t"
    contents = {}
    for path, each in ((out, answer.table), (pairs_beside(out), answer.pairs)):
        cells = each.apply(lambda column: column.map(_no_formula))
        contents[path] = cells.to_csv(sep=between, index=False, lineterminator="\n")
    write_together(contents)


def pairs_beside(out: Path) -> Path:
    """Where pairs are written beside a table: ``means.pairs.tsv``."""
    return out.with_name(f"{out.stem}.pairs{out.suffix}")


def write_out(content: str, out: Path | None) -> None:
    """Write a file, or to standard output."""
    if out is None:
        print_out(content)
        return
    with whole_file(out) as path:
        path.write_bytes(_encoded(content))


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


@contextmanager
def progress(task: str) -> Iterator[Callable[..., None]]:
    """Says what is done for more than some seconds: on a terminal a bar, else a line after
    `FIRST_WORD` seconds and then one each `SILENCE`. ``step(done, total, task)`` moves it, of which
    ``done`` alone must be there; without a step, the time passes."""
    with tqdm(desc=task, leave=False, mininterval=2, delay=2, disable=None) as bar:
        state: dict[str, Any] = {"done": 0, "total": None, "task": task}
        ended = threading.Event()
        begun = time.monotonic()

        def step(done: int, total: int | None = None, task: str = task) -> None:
            state.update(done=done, total=total, task=task)
            bar.total = total
            bar.set_description_str(task, refresh=False)
            bar.update(done - bar.n)

        def speak() -> None:
            wait = FIRST_WORD
            while not ended.wait(wait):
                wait = SILENCE
                if bar.disable:
                    tell(_progress_words(task, state, time.monotonic() - begun))
                else:
                    bar.refresh()

        speaker = threading.Thread(target=speak, daemon=True)
        speaker.start()
        try:
            yield step
        finally:
            ended.set()
            speaker.join()


def _progress_words(task: str, state: dict[str, Any], seconds: float) -> str:
    """``comparing: ridge, 3 of 20, 15 s``; the number alone where nobody knows how many there
    are."""
    done = state["done"]
    total = state["total"]
    words = [state["task"]] if state["task"] != task else []
    if done:
        words.append(f"{done:,} of {total:,}" if total else f"{done:,}")
    return f"{task}: {', '.join([*words, f'{seconds:.0f} s'])}"
