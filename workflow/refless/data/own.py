"""Rated texts, and texts to rate, of users' own.

Stage: ratings. In: files (`refless.data.rows`). Out: texts to rate, or one table of rated texts in
which raters are averaged. docs/own_ratings.md has the columns. All faults of all rows are said at
once, a line for each column and fault, before a heavy package is imported.
"""

from __future__ import annotations

import json
import logging
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from refless.data.rows import File, check, files_of, read_file, shorten
from refless.data.wording import numbers, wording
from refless.errors import FormatError

if TYPE_CHECKING:
    from pandas import DataFrame

log = logging.getLogger(__name__)

RATED = ("text", "context", "mr", "system", "rater", "references")
LARGEST = 1e100
"""Ratings beyond this cannot be squared and added up."""
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


# A reader takes a value as it stands in a file; its ValueError says what is wrong with it.


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("are no texts")
    if _UNWRITABLE.search(value):
        raise ValueError("have a NUL or half a character")
    return unicodedata.normalize("NFC", value)


def _words(value: Any) -> str:
    """A text, or a number as a name."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or value != value:
        raise ValueError("are neither texts nor numbers")
    return _text(str(value) if isinstance(value, (int, float)) else value)


def _name(value: Any) -> str:
    """Texts that differ in blanks are one name."""
    return " ".join(_words(value).split())


def _number(value: Any) -> float:
    """A number; NaN where there is none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    number = math.nan
    if not isinstance(value, bool) and "_" not in str(value):
        with suppress(ValueError):
            number = float(str(value))  # infinity where it is too large
    if math.isnan(number):
        raise ValueError("are no numbers: write 3 or 0.25, and leave what is missing empty")
    if abs(number) > LARGEST:
        raise ValueError(f"are beyond {LARGEST:g}: give them in another unit")
    return number


def _references(value: Any) -> list[str]:
    if isinstance(value, str) and value:
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    value = value or []
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError('are no JSON list of texts, as ["one", "two"]')
    return [_text(text) for text in value if text]


READERS: dict[str, Callable[[Any], Any]] = {
    "text": _text,
    "quality": _number,
    "weight": _number,
    "context": _words,
    "mr": _words,
    "system": _name,
    "rater": _name,
    "id": _name,
    "references": _references,
}
NAMES = tuple(READERS)
"""Columns that can be read, besides ``score_*``."""


def _reader(column: str) -> Callable[[Any], Any]:
    return READERS.get(column, _number if column.startswith("score_") else _words)


def _read_columns(
    file: File, read: Iterable[str], need: Iterable[str], columns: Mapping[str, str]
) -> None:
    """Read columns of a file, and find its bad rows.

    read, need : names that are read if they are there, and that must be, besides ``text``; with
        ``references``, also ``score_*``
    columns : a name of `NAMES` -> what the file calls it
    """
    own = {theirs: name for name, theirs in columns.items()}
    names = []
    for theirs in map(str.strip, file.names):
        name = theirs.casefold() if theirs.casefold() in NAMES else theirs
        names.append(own.get(theirs, "" if name in columns else name))
    need = ["text", *need]
    wanted = {*read, *need}
    if "references" in wanted:
        wanted |= {name for name in names if name.startswith("score_")}
    used = [name for name in names if name in wanted]
    if lost := [name for name in dict.fromkeys([*need, *columns, *used]) if names.count(name) != 1]:
        asked = ", ".join(repr(columns.get(name, name)) for name in lost)
        there = ", ".join(map(shorten, file.names[:60]))
        message = f"not there, or there twice: {asked}; the columns are: {there}"
        told = " ".join(f"--column {name}=NAME" for name in lost)
        remedy = f"say which they are: {told} (in the configuration: columns), or rename them here"
        if "weight" in lost:
            remedy += "; or with --scale LOW HIGH, give a column quality"
        if len(file.names) == 1 and (marks := re.findall(r"[;,\t|]", file.names[0])):
            message = f"has one column, {there}: its fields seem to be separated by {marks[0]!r}"
            remedy = "save it with commas as .csv or with tabs as .tsv, or name its format"
        raise FormatError(message, path=file.path, remedy=remedy)
    for name in used:
        at, reader = names.index(name), _reader(name)
        theirs, values = file.names[at], file.columns.setdefault(name, [])
        for line, row in zip(file.lines, file.rows, strict=True):
            value = row.get(theirs) if isinstance(row, dict) else row[at]
            try:
                values.append(reader(value))
            except ValueError as fault:
                values.append(math.nan if reader is _number else str(value))
                file.fault(line, theirs, str(fault), value)


def read_texts(
    path: str | Path,
    read: Iterable[str] = (),
    need: Sequence[str] = (),
    format: str = "",
    columns: Mapping[str, str] | None = None,
) -> File:
    """Texts to rate, a row each, as of `_read_columns`; but what ``columns`` names may be missing.
    FormatError says what is wrong with the file."""
    file = read_file(path, format)
    names = list(map(str.strip, file.names))
    there = {name: theirs for name, theirs in (columns or {}).items() if theirs in names}
    _read_columns(file, read, need, there)
    check([file])
    if "quality" in file.columns and "rater" in map(str.casefold, names):
        message = "has the columns rater and quality: each row would count as a text of its own"
        remedy = "give each text once, with the mean of its ratings and no column rater"
        raise FormatError(message, path=file.path, remedy=remedy)
    return file


@dataclass
class Own:
    """Rated texts: what the columns have, with references as lists, and ``quality``, the mean of a
    text's ratings, or NaN; their ``ratings``, with ``text``, the number of the row, ``rater`` and
    ``quality``; which text each row of the ``files`` is; and file and line of each text."""

    texts: DataFrame
    ratings: DataFrame
    files: list[File]
    text_of: list[int]
    where: list[tuple[File, int]]


def read_ratings(
    paths: Sequence[str | Path],
    *,
    format: str = "",
    columns: Mapping[str, str] | None = None,
    scale: Sequence[float] | None = None,
    repeated: str = "refuse",
    center: bool = False,
    rated: str = "quality",
    need: Sequence[str] = ("quality",),
) -> Own:
    """Read files, or folders of them, as one table of rated texts. Rows of raters are ratings of
    one text if all else in them is equal: in contexts letters and digits, elsewhere all but blanks.

    format, columns, need : as of `read_file` and `_read_columns`
    scale : lowest and highest rating that there can be
    repeated : what becomes of ratings of one text by one rater: ``refuse``, or ``mean``
    center : take each rater's mean off, and put the overall mean back
    rated : the column with ratings
    """
    files = []
    for path in files_of(paths):
        files.append(file := read_file(path, format))
        _read_columns(file, (*RATED, rated), need, columns or {})
        taken = {*file.columns, *(columns or {}).values()}
        if unread := [name for name in file.names if not {name, name.casefold()} & taken]:
            log.warning("%s: columns that are not read: %s", path, ", ".join(unread))
    where = [(file, line) for file in files for line in file.lines]
    table: dict[str, list[Any]] = {name: [] for file in files for name in file.columns}
    for file, (name, values) in product(files, table.items()):
        values += file.columns.get(name, [_reader(name)("")] * len(file.lines))
    ratings, raters = table.pop(rated, [math.nan] * len(where)), table.pop("rater", [])
    if center and not raters:
        remedy = "name it: --column rater=NAME, or leave out --center-raters"
        raise FormatError("has no column rater", path=files[0].path, remedy=remedy)
    text_of = list(range(len(where)))
    if raters:
        forms = [
            [wording(one) if name == "context" else tuple(str(one).split()) for one in values]
            for name, values in table.items()
        ]
        text_of = numbers(zip(*forms, strict=True)).tolist()
    given: dict[tuple[int, str], list[float]] = {}
    systems = any(table.get("system", []))
    for row, (number, rating) in enumerate(zip(text_of, ratings, strict=True)):
        file, line = where[row]
        rater = raters[row] if raters else ""
        if systems and not table["system"][row]:
            file.fault(line, "system", "are empty, where others are not")
        if math.isnan(rating):
            continue
        if scale and not scale[0] <= rating <= scale[1]:
            file.fault(line, rated, f"are not from {scale[0]:g} to {scale[1]:g}", rating)
        if raters and not rater:
            file.fault(line, "rater", "ratings have no rater")
        elif repeated == "refuse" and (number, rater) in given:
            what = "rated a text again: keep one thing that was rated, fluency for example, or"
            what += " --repeated-ratings mean takes the mean"
            file.fault(line, "rater", what, rater)
        given.setdefault((number, rater), []).append(rating)
    check(files)

    import pandas as pd

    single = [(number, rater, fmean(own)) for (number, rater), own in given.items()]
    found = pd.DataFrame(single, columns=["text", "rater", "quality"])
    if center:
        own = found["quality"]
        found["quality"] = own - own.groupby(found["rater"]).transform("mean") + own.mean()
    first = np.unique(text_of, return_index=True)[1]
    rows = pd.DataFrame({"text": table["text"], "quality": math.nan, **table})
    texts = rows.iloc[first].reset_index(drop=True)
    texts["quality"] = found.groupby("text")["quality"].mean().astype(float)
    return Own(texts, found, files, text_of, [where[row] for row in first])
