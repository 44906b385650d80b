"""Rated texts, and texts to rate, of users' own.

Stage: ratings. In: files (`refless.data.rows`). Out: texts to rate (`read_texts`), or one table of
rated texts in which raters are averaged (`read_ratings`).

The columns are ``text`` (may be empty), ``quality`` on any scale (empty where nobody rated it),
``context``, ``mr``, ``system``, ``rater`` (then a row is one rating, and rows of one text are put
together), ``references`` (a JSON list of texts) or ``reference*``, and ``score_<name>``.

All faults of all rows are found in one pass, and said in one line for each column and fault, before
a heavy package is imported.
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
from functools import cache
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from refless.data.rows import Faults, File, files_of, read_file, shorten
from refless.data.wording import wording
from refless.errors import FormatError

if TYPE_CHECKING:
    from pandas import DataFrame

log = logging.getLogger(__name__)

NAMES = ("text", "quality", "weight", "context", "mr", "system", "rater", "id", "references")
"""Columns that can be read, besides ``reference*`` and ``score_*``."""
RATED = ("text", "context", "mr", "system", "rater", "references")
LARGEST = 1e100
"""Ratings beyond this cannot be squared and added up."""
_MANY = re.compile(r"score_[^\ud800-\udfff]+|reference(_?\d+)?")
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


class _Bad(Exception):
    """A value that is not what its column has."""


def plain(text: str) -> str:
    """A name, or a text as its ratings are put together: blanks do not count."""
    return " ".join(text.split())


def _words(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 7.0 names what 7 does
    if isinstance(value, (list, dict)):
        raise _Bad("are lists or objects: write each as one text")
    if isinstance(value, bool) or value != value:
        raise _Bad("are neither texts nor numbers")
    if _UNWRITABLE.search(text := str(value)):
        raise _Bad("have a NUL or half a character")
    return unicodedata.normalize("NFC", text)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Bad("are no texts")
    return _words(value)


def _number(value: Any) -> float:
    """A number as it is written plainly (``3``, ``-0.5``, ``1e3``); NaN where there is none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    number = math.nan
    # Python would also read 1_000, and the digits of other scripts
    if not isinstance(value, str) or (value.isascii() and "_" not in value):
        with suppress(ValueError, OverflowError, TypeError):
            number = float(value)
    if isinstance(value, bool) or not math.isfinite(number):
        what = "words" if isinstance(value, str) and value.strip().isalpha() else "no numbers"
        raise _Bad(f"are {what}: write numbers like 3 or 0.25, and leave what is missing empty")
    if abs(number) > LARGEST:
        raise _Bad("are too large to reckon with")
    return number


def _references(value: Any) -> list[str]:
    if isinstance(value, str) and value:
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    value = [] if value in (None, "") else value
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise _Bad('are no JSON list of texts, as ["one", "two"]')
    return list(map(_text, value))


def _reader(column: str) -> Callable[[Any], Any]:
    if column in ("quality", "weight") or column.startswith("score_"):
        return _number
    if column in ("system", "rater", "id"):
        return lambda value: plain(_words(value))
    return {"text": _text, "references": _references}.get(column, _words)


def _read_columns(
    file: File,
    read: Iterable[str],
    need: Iterable[str],
    columns: Mapping[str, str],
    faults: Faults,
) -> None:
    """Read columns of a file, and find its bad rows.

    Parameters
    ----------
    read, need : names that are read if they are there, and that must be; with ``references``, also
        ``reference*`` and ``score_*``
    columns : a name of `NAMES` -> what the file calls it
    """
    own = {theirs: name for name, theirs in columns.items()}
    place: dict[str, list[str]] = {}
    for theirs in file.names:
        small = theirs.casefold()
        name = own.get(theirs) or (small if small in NAMES else theirs)
        if theirs in own or name not in columns:
            place.setdefault(name, []).append(theirs)
    wanted = {*read, *need}
    many = "references" in wanted
    used = [name for name in place if name in wanted or (many and _MANY.fullmatch(name))]
    must = dict.fromkeys([*(name for name in need if name in wanted), *columns, *used])
    if lost := [name for name in must if len(place.get(name, [])) != 1]:
        asked = ", ".join(repr(columns.get(name, name)) for name in lost)
        there = ", ".join(map(shorten, file.names[:60])) + (", ..." if file.names[60:] else "")
        message = f"not there, or there twice: {asked}; the columns are: {there}"
        told = " ".join(f"--column {name}=NAME" for name in lost)
        remedy = f"say which they are: {told} (in the configuration: columns)"
        raise FormatError(message, path=file.path, remedy=remedy)
    for name in used:
        theirs, reader = place[name][0], _reader(name)
        values = file.columns[name] = []
        for row, value in enumerate(file.cells(theirs)):
            try:
                values.append(reader(value))
            except _Bad as fault:
                values.append(None)
                faults.add(file, row, theirs, str(fault), value)


def read_texts(
    path: str | Path,
    read: Iterable[str] = (),
    need: Sequence[str] = (),
    format: str = "",
    columns: Mapping[str, str] | None = None,
) -> File:
    """Texts to rate, a row each; parameters as of `_read_columns`, but ``text`` is always needed,
    and what ``columns`` names may be missing. FormatError says what is wrong with the file.
    """
    faults = Faults()
    file = read_file(path, format, faults)
    there = {name: theirs for name, theirs in (columns or {}).items() if theirs in file.names}
    _read_columns(file, read, ["text", *need], there, faults)
    faults.check()
    if "quality" in file.columns and "rater" in file.names:
        message = "has the columns rater and quality: each row would count as a text of its own"
        remedy = "give each text once, with the mean of its ratings and no column rater"
        raise FormatError(message, path=file.path, remedy=remedy)
    return file


@dataclass
class Own:
    """Rated texts.

    texts : a row a text: ``text``, ``quality`` (mean of its ratings on the file's scale, NaN where
        it has none), and what there is of the other columns; references are lists
    ratings : a row a rating: ``text`` (its row), ``rater`` (empty without raters), ``quality``
    text_of : the row in ``texts`` of each row of the files
    where : path and line of each text
    """

    texts: DataFrame
    ratings: DataFrame
    files: list[File]
    text_of: list[int]
    where: list[tuple[str, int]]


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
    more: Sequence[str] = (),
) -> Own:
    """Read files, or folders of them, as one table of rated texts.

    Rows of raters are ratings of one text if all else in them is equal: in contexts letters and
    digits, elsewhere all but blanks.

    Parameters
    ----------
    format, columns, need, more : as of `read_file` and `_read_columns`; ``more`` is read as well
    scale : lowest and highest rating that there can be
    repeated : what becomes of ratings of one text by one rater: ``refuse``, or ``mean``
    center : take each rater's mean off, and put the overall mean back
    rated : the column with ratings
    """
    faults, files = Faults(), []
    for path in [Path("-")] if list(paths) == ["-"] else files_of(paths):
        files.append(file := read_file(path, format, faults))
        _read_columns(file, (*RATED, rated, *more), ["text", *need], columns or {}, faults)
        taken = {*file.columns, *(columns or {}).values()}
        if unread := [name for name in file.names if not {name, name.casefold()} & taken]:
            log.warning("%s: columns that are not read: %s", path, ", ".join(unread))
        if listed := [name for name in file.columns if name.startswith("reference")]:
            parts = zip(*map(file.columns.pop, listed), strict=True)
            each = [[own if isinstance(own, list) else [own] for own in row] for row in parts]
            file.columns["references"] = [[t for own in row for t in own if t] for row in each]
    names = dict.fromkeys(name for file in files for name in file.columns)
    if "rater" in names and (without := [one for one in files if "rater" not in one.columns]):
        message, remedy = "has no column rater, and others have", "give it to all files or to none"
        raise FormatError(message, path=without[0].path, remedy=remedy)
    if center and "rater" not in names:
        told = ", ".join(file.path for file in files)
        raise FormatError("has no column rater", path=told, remedy="leave out --center-raters")
    said = [name for name in names if name not in ("rater", rated)]
    for file, name in product(files, said):
        empty: Any = [] if name == "references" else math.nan if name[:6] == "score_" else ""
        file.columns.setdefault(name, [empty] * len(file.lines))
    texts, text_of, given = _joined(files, said, rated, scale, repeated == "mean", faults)
    faults.check()
    if not texts:
        told = ", ".join(file.path for file in files)
        raise FormatError("has no rows", path=told, remedy="give it rated texts, one a row")

    import pandas as pd

    single = [(number, rater, fmean(own)) for (number, rater), own in given.items()]
    ratings = pd.DataFrame(single, columns=["text", "rater", "quality"])
    if center:
        value = ratings["quality"]
        mean = value.groupby(ratings["rater"]).transform("mean")
        ratings["quality"] = value - mean + value.mean()
    values = {name: [file.columns[name][row] for file, row in texts] for name in said}
    quality = ratings.groupby("text")["quality"].mean().reindex(range(len(texts)))
    table = pd.DataFrame({"text": values["text"], "quality": quality.astype(float), **values})
    where = [(file.path, file.lines[row]) for file, row in texts]
    return Own(table, ratings, files, text_of, where)


def _joined(
    files: Sequence[File],
    said: Sequence[str],
    rated: str,
    scale: Sequence[float] | None,
    mean: bool,
    faults: Faults,
) -> tuple[list[tuple[File, int]], list[int], dict[tuple[int, str], list[float]]]:
    """Where each text stands first; the text of each row; and its ratings by text and rater."""
    texts: list[tuple[File, int]] = []
    text_of: list[int] = []
    given: dict[tuple[int, str], list[float]] = {}
    known: dict[Any, int] = {}
    systems = any(any(file.columns.get("system", [])) for file in files)
    same, spaced = cache(wording), cache(plain)
    for file in files:
        raters = file.columns.get("rater")
        ratings = file.columns.get(rated) or [math.nan] * len(file.lines)
        forms = [
            [same(v or "") if name == "context" else spaced(str(v)) for v in file.columns[name]]
            for name in (said if raters else [])
        ]
        keys = list(zip(*forms, strict=True)) if raters else list(zip(range(len(ratings))))
        who = file.columns["system"] if systems else ["none"] * len(ratings)
        for row, (key, rating, system) in enumerate(zip(keys, ratings, who, strict=True)):
            if row in file.bad:
                continue
            rater = raters[row] if raters else ""
            number = known.get(key, len(texts)) if raters else len(texts)
            there = not math.isnan(rating)
            if there and scale and not scale[0] <= rating <= scale[1]:
                faults.add(file, row, rated, f"are not from {scale[0]:g} to {scale[1]:g}", rating)
            elif there and raters and rater == "":
                faults.add(file, row, "rater", "ratings have no rater")
            elif system == "":
                faults.add(file, row, "system", "are empty, where others are not")
            if there and rater != "" and not mean and (number, rater) in given:
                what = "rated a text again: keep one thing that was rated, fluency for example, or"
                what += " --repeated-ratings mean takes the mean"
                faults.add(file, row, "rater", what, rater)
            if number == len(texts):
                known[key] = number
                texts.append((file, row))
            text_of.append(number)
            if there:
                given.setdefault((number, rater), []).append(rating)
    return texts, text_of, given
