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
from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from refless.data.join import Join, join_columns, keys_of
from refless.data.rows import File, check, files_of, read_file, shorten
from refless.data.text_ids import label_ids, merge_key
from refless.errors import FormatError

if TYPE_CHECKING:
    from pandas import DataFrame

_log = logging.getLogger(__name__)

SCORES = "score_*"
"""All columns of scores."""
_RATED_COLUMNS = ("text", "context", "mr", "system", "rater", "references", "reference", SCORES)
LARGEST_RATING = 1e100
"""Ratings beyond this cannot be squared and added up."""
_NO_SYSTEM = "are empty, where others are not"
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
    if abs(number) > LARGEST_RATING:
        raise ValueError(f"are beyond {LARGEST_RATING:g}: give them in another unit")
    return number


def _references(value: Any) -> list[str]:
    if isinstance(value, str) and value:
        for read in (json.loads, literal_eval):  # as JSON, or as Python prints a list
            with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
                value = read(value) if isinstance(value, str) else value
    value = [text for text in value if text is not None] if isinstance(value, list) else value or []
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(
            'are no JSON list of texts, as ["one", "two"]; if each is one text, call the column'
            " reference, as by --column reference=NAME"
        )
    return [_text(text) for text in value if text]


def _reference(value: Any) -> list[str]:
    """One text, or a list of them."""
    if value is None or isinstance(value, str):
        return [_text(value)] if value else []
    return _references(value)


_READERS: dict[str, Callable[[Any], Any]] = {
    "text": _text,
    "quality": _number,
    "weight": _number,
    "context": _words,
    "mr": _words,
    "system": _name,
    "rater": _name,
    "id": _name,
    "references": _references,
    "reference": _reference,
}
COLUMN_NAMES = tuple(_READERS)
"""Columns that can be read, besides ``score_*``."""


def _reader(column: str) -> Callable[[Any], Any]:
    return _READERS.get(column, _number if column.startswith("score_") else _words)


def _read_columns(
    file: File, read: Iterable[str], need: Iterable[str], columns: Mapping[str, str]
) -> None:
    """Read columns of a file, and find its bad rows.

    read, need : names that are read if they are there, and that must be, besides ``text``; with
        `SCORES`, also ``score_<name>``
    columns : a name of `COLUMN_NAMES` -> what the file calls it
    """
    renamed = {header: name for name, header in columns.items() if header}
    names = []
    for header in file.headers:
        name = header.casefold() if header.casefold() in COLUMN_NAMES else header
        names.append(renamed.get(header, "" if name in columns else name))
    need = ["text", *need]
    wanted = {*read, *need}
    if SCORES in wanted:
        wanted |= {name for name in names if name.startswith("score_")}
    used = [name for name in names if name in wanted]
    once = dict.fromkeys([*need, *renamed.values(), *used])
    if lost := [name for name in once if names.count(name) != 1]:
        lost_names = ", ".join(repr(columns.get(name, name)) for name in lost)
        headers = ", ".join(map(shorten, file.names[:60]))
        message = f"not there, or there twice: {lost_names}; the columns are: {headers}"
        options = " ".join(f"--column {name}=NAME" for name in lost)
        remedy = f"say which they are: {options} (in the configuration: columns), or rename them"
        if "quality" in lost:
            remedy += "; where each rater has a column: --raters NAME NAME"
        if "weight" in lost:
            remedy += "; or with --scale LOW HIGH, give a column quality"
        if len(file.names) == 1 and (marks := re.findall(r"[;,\t|]", file.names[0])):
            message = f"has one column, {headers}: its fields seem to be separated by {marks[0]!r}"
            remedy = "save it with commas as .csv or with tabs as .tsv, or name its format"
        raise FormatError(message, path=file.path, remedy=remedy)
    for name in used:
        file.columns[name] = _read_column(file, names.index(name), _reader(name))
    if "reference" in file.columns:
        _add_references(file)


def _add_references(file: File) -> None:
    """Put the texts of a column ``reference`` among the references."""
    single = file.columns.pop("reference")
    lists = file.columns.get("references", [[] for _ in single])
    file.columns["references"] = [
        list(dict.fromkeys([*many, *one]))
        if isinstance(many, list) and isinstance(one, list)
        else []
        for many, one in zip(lists, single, strict=True)
    ]


def _read_raters(file: File, raters: Sequence[str]) -> None:
    """Read columns that have one rater's ratings each, into the file's ``by_rater``."""
    if lost := [name for name in raters if file.headers.count(name) != 1]:
        headers = ", ".join(map(shorten, file.names[:60]))
        message = (
            f"not there, or there twice: {', '.join(map(repr, lost))}; the columns are: {headers}"
        )
        raise FormatError(message, path=file.path, remedy="name them as they are, after --raters")
    for name in raters:
        file.by_rater[name] = _read_column(file, file.headers.index(name), _number)


def _read_column(file: File, place: int, reader: Callable[[Any], Any]) -> list[Any]:
    """A column's values as a reader takes them; its faults are noted in the file."""
    read = []
    for line, value in zip(file.lines, file.values(place), strict=True):
        try:
            read.append(reader(value))
        except ValueError as fault:
            read.append(math.nan if reader is _number else str(value))
            file.fault(line, file.headers[place], str(fault), value)
    return read


def read_texts(
    path: str | Path | DataFrame | File,
    read: Iterable[str] = (),
    need: Sequence[str] = (),
    format: str = "",
    columns: Mapping[str, str] | None = None,
    join: Join | None = None,
) -> File:
    """Texts to rate, a row each, as of `_read_columns`; but what ``columns`` names, and what
    ``join`` goes by, may be missing. FormatError says what is wrong with the file."""
    file = read_file(path, format)
    keys = keys_of(join)
    if join and {*keys} & {*file.headers}:
        join_columns(file, read_file(join[0]), keys)
    present = {name: header for name, header in (columns or {}).items() if header in file.headers}
    _read_columns(file, read, need, present)
    if any(systems := file.columns.get("system", [])):
        for line, system in zip(file.lines, systems, strict=True):
            if not system:
                file.fault(line, "system", _NO_SYSTEM)
    check([file])
    if file.rows and not any(map(str.strip, file.columns["text"])):
        _log.warning("%s: %s", file.path, _all_empty(file.size))
    if "quality" in file.columns and "rater" in map(str.casefold, file.headers):
        message = "has the columns rater and quality: each row would count as a text of its own"
        remedy = "give each text once, with the mean of its ratings and no column rater"
        raise FormatError(message, path=file.path, remedy=remedy)
    return file


@dataclass
class UserRatings:
    """Rated texts of a user's files.

    texts : a row a text: what the columns have, with references as lists, and ``quality``, the mean
        of its ratings, or NaN
    ratings : a row a rating: ``text``, the row of its text, ``rater`` and ``quality``
    files : as they were read
    text_of : which text each row of the files is
    where : file and line of each text
    scale : lowest and highest rating that there can be; None where nobody says
    """

    texts: DataFrame
    ratings: DataFrame
    files: list[File]
    text_of: list[int]
    where: list[tuple[File, int]]
    scale: Sequence[float] | None = None


def read_ratings(
    paths: Sequence[str | Path | DataFrame],
    *,
    format: str = "",
    columns: Mapping[str, str] | None = None,
    scale: Sequence[float] | None = None,
    repeated: str = "refuse",
    center: bool = False,
    rated: str = "quality",
    need: Sequence[str] = ("quality",),
    join: Join | None = None,
    raters: Sequence[str] = (),
) -> UserRatings:
    """Read files, or folders of them, as one table of rated texts. Rows of raters are ratings of
    one text if all else in them but scores is equal, texts by `merge_key`.

    format, columns, need : as of `read_file` and `_read_columns`
    scale : as of `UserRatings`
    repeated : what becomes of ratings of one text by one rater: ``refuse``, or ``mean``
    center : take each rater's mean off, and put the overall mean back
    rated : the column with ratings
    join : as of `refless.data.join`
    raters : columns with one rater's ratings each, in the place of ``rated``
    Raises FormatError: with a line for each column and fault.
    """
    files = []
    keys = keys_of(join)
    raters = [raters] if isinstance(raters, str) else list(raters)
    columns_to_read = [*_RATED_COLUMNS, rated]
    if raters:
        columns_to_read = [name for name in _RATED_COLUMNS if name != "rater"]
        need = [name for name in need if name != rated]
    more: File | None = None
    for path in files_of(paths):
        files.append(file := read_file(path, format))
        headers = file.headers
        if join:
            more = more or read_file(join[0])
            join_columns(file, more, keys)
        _read_columns(file, columns_to_read, need, columns or {})
        _read_raters(file, raters)
        used = {*file.columns, *file.by_rater, *(columns or {}).values(), *keys, "reference"}
        if unread := [name for name in headers if name and not {name, name.casefold()} & used]:
            _log.warning("%s: columns that are not read: %s", file.path, ", ".join(unread))
    rows = _concatenate(files, rated, raters)
    if rows.where and not any(map(str.strip, rows.columns["text"])):
        _log.warning("%s: %s", files[0].path, _all_empty(len(rows.where)))
    if center and not rows.raters:
        remedy = "name it: --column rater=NAME, or leave out --center-raters"
        raise FormatError("has no column rater", path=files[0].path, remedy=remedy)
    text_of = _identify_texts(rows)
    _check_ratings(rows, text_of, rated, scale, once=repeated == "refuse")
    check(files)
    if scale is None and (far := far_rating(rows.ratings)):
        _log.warning("%s: %s", rated, far)
    texts, ratings = _average(rows, text_of, center)
    first = np.unique(text_of, return_index=True)[1]
    return UserRatings(texts, ratings, files, text_of, [rows.where[row] for row in first], scale)


def _all_empty(number: int) -> str:
    return f"all {number:,} texts are empty: --column text=NAME says which column has them"


FAR = 10
"""How many times the range of all other ratings lies between them and one that may be a code."""


def far_rating(ratings: Iterable[float]) -> str:
    """A sentence on a lowest or highest rating, such as -999, that lies far from all others, of
    which there are two values or more; nothing if none does. NaN is no rating."""
    numbers = [rating for rating in ratings if not math.isnan(rating)]
    values = sorted(set(numbers))
    for far, others in ((values[:1], values[1:]), (values[-1:], values[:-1])):
        if len(others) < 2:
            continue
        gap = max(others[0] - far[0], far[0] - others[-1])
        if gap > FAR * (others[-1] - others[0]):
            count = f"{numbers.count(far[0]):,} of {len(numbers):,} ratings"
            return (
                f"{far[0]:g} ({count}) lies far from all others, which are {others[0]:g} to"
                f" {others[-1]:g}: if it says that a rating is missing, leave the field empty"
            )
    return ""


@dataclass
class _Rows:
    """The rows of all files.

    where : the file of each row, and its line there
    columns : the values of each column, by its name
    row_of : of which row each rating is
    ratings : the value of each rating, NaN where there is none
    raters : who gave each rating; empty if no file has raters
    raters_have_columns : whether each rater has a column, so that a row has all ratings of a text
    """

    where: list[tuple[File, int]]
    columns: dict[str, list[Any]]
    row_of: list[int]
    ratings: list[float]
    raters: list[str]
    raters_have_columns: bool


def _concatenate(files: Sequence[File], rated: str, raters: Sequence[str]) -> _Rows:
    """The rows of all files; a column that a file has not is empty in its rows. Each of ``raters``
    is a column with ratings."""
    where = [(file, line) for file in files for line in file.lines]
    columns: dict[str, list[Any]] = {name: [] for file in files for name in file.columns}
    for file, (name, values) in product(files, columns.items()):
        values += file.columns.get(name, [_reader(name)("")] * len(file.lines))
    if not raters:
        ratings = columns.pop(rated, [math.nan] * len(where))
        return _Rows(
            where=where,
            columns=columns,
            row_of=list(range(len(where))),
            ratings=ratings,
            raters=columns.pop("rater", []),
            raters_have_columns=False,
        )
    by_row: list[tuple[float, ...]] = []
    for file in files:
        by_row += zip(*(file.by_rater[name] for name in raters), strict=True)
    row_of = [row for row in range(len(where)) for _ in raters]
    return _Rows(
        where=where,
        columns=columns,
        row_of=row_of,
        ratings=[*chain(*by_row)],
        raters=[*raters] * len(where),
        raters_have_columns=True,
    )


def _identify_texts(rows: _Rows) -> list[int]:
    """The number of each row's text. Equal texts in several rows are one if each row is a rating;
    where none says who rated it, or a row has the ratings of all raters, each row is a text."""
    if not rows.raters or rows.raters_have_columns:
        return list(range(len(rows.where)))
    forms = [
        [_form(name, value) for value in column]
        for name, column in rows.columns.items()
        if not name.startswith("score_")
    ]
    return label_ids(zip(*forms, strict=True)).tolist()


def _form(column: str, value: Any) -> Any:
    """What two values of a column share if they are one."""
    if _reader(column) is _name:
        return value
    if isinstance(value, list):
        return tuple(map(merge_key, value))
    return merge_key(value) if isinstance(value, str) else value


def _check_ratings(
    rows: _Rows, text_of: list[int], rated: str, scale: Sequence[float] | None, *, once: bool
) -> None:
    """Note in the files what is wrong with their ratings; ``once``: a rater rates a text once."""
    systems = rows.columns.get("system", [])
    pairs = set[tuple[int, str]]()
    any_system = any(systems)
    for row, (file, line) in enumerate(rows.where):
        if any_system and not systems[row]:
            file.fault(line, "system", _NO_SYSTEM)
    raters = rows.raters or [""] * len(rows.ratings)
    for row, rater, rating in zip(rows.row_of, raters, rows.ratings, strict=True):
        if math.isnan(rating):
            continue
        file, line = rows.where[row]
        text = text_of[row]
        if scale and not scale[0] <= rating <= scale[1]:
            column = rater if rater in file.by_rater else rated
            file.fault(line, column, f"are not from {scale[0]:g} to {scale[1]:g}", rating)
        if rows.raters and not rater:
            file.fault(line, "rater", "ratings have no rater")
        elif once and (text, rater) in pairs:
            repeated = "rated a text again: keep one thing that was rated, fluency for example, or"
            repeated += " --repeated-ratings mean takes the mean"
            file.fault(line, "rater", repeated, rater)
        pairs.add((text, rater))


def _average(rows: _Rows, text_of: list[int], center: bool) -> tuple[DataFrame, DataFrame]:
    """The tables `UserRatings.texts` and `UserRatings.ratings`."""
    import pandas as pd

    labels: dict[tuple[int, str], list[float]] = {}
    raters = rows.raters or [""] * len(rows.ratings)
    for row, rater, rating in zip(rows.row_of, raters, rows.ratings, strict=True):
        if not math.isnan(rating):
            labels.setdefault((text_of[row], rater), []).append(rating)
    means = [(text, rater, fmean(repeated)) for (text, rater), repeated in labels.items()]
    ratings = pd.DataFrame(means, columns=["text", "rater", "quality"])
    if center:
        quality = ratings["quality"]
        centered = quality - quality.groupby(ratings["rater"]).transform("mean") + quality.mean()
        ratings["quality"] = centered
    columns = {"text": rows.columns["text"], "quality": math.nan, **rows.columns}
    first = np.unique(text_of, return_index=True)[1]
    texts = pd.DataFrame(columns).iloc[first].reset_index(drop=True)
    texts["quality"] = ratings.groupby("text")["quality"].mean().astype(float)
    for name in (name for name in rows.columns if name.startswith("score_")):
        score = pd.Series(rows.columns[name]).groupby(np.array(text_of))
        texts[name] = score.mean().to_numpy()
        if texts_apart := int((score.max() > score.min()).sum()):
            _log.warning("%s differs between rows of %d texts: its mean counts", name, texts_apart)
    return texts, ratings
