"""Rated texts, and texts to rate, of users' own.

Stage: ratings. In: files (`refless.data.rows`). Out: texts to rate (`read_texts`), or one table of
rated texts in which raters are averaged (`read_ratings`).

================  ================================================================================
text              the candidate; it may be empty
quality           how good it is, on any scale; empty where nobody rated the text
context           what the text answers
mr                the meaning representation that it expresses
system            who wrote it
references        other texts for the same context or MR: a JSON list of texts
reference*        the same in columns of their own (``reference1``, ``reference_2``, ...)
rater             who rated it; then a row is one rating, and rows of one text are put together
score_<name>      a score of the text by somebody else's metric, a number or empty
================  ================================================================================

All faults of all rows are found in one pass, and said in one line for each column and fault, before
a heavy package is imported.
"""

from __future__ import annotations

import json
import logging
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
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


def _value(column: str, value: Any) -> Any:
    if column in ("quality", "weight") or column.startswith("score_"):
        return _number(value)
    if column == "text" and not isinstance(value, str):
        raise _Bad("are no texts")
    if column == "references":
        return _references(value)
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 7.0 names what 7 does
    if isinstance(value, (bool, list, dict)) or value != value:
        raise _Bad("are neither texts nor numbers")
    if _UNWRITABLE.search(text := str(value)):
        raise _Bad("have a NUL or half a character")
    composed = unicodedata.normalize("NFC", text)
    return plain(composed) if column in ("system", "rater", "id") else composed


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
        raise _Bad("are no numbers: write them like 3 or 0.25, and leave what is missing empty")
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
    return [_value("text", text) for text in value]


def read_columns(
    file: File,
    read: Iterable[str],
    need: Iterable[str],
    columns: Mapping[str, str],
    faults: Faults,
) -> set[int]:
    """Read columns, and return the rows in which one of them has no value of its kind.

    Parameters
    ----------
    read, need : names that are read if they are there, and that must be; with ``references``, also
        ``reference*`` and ``score_*``
    columns : a name of `NAMES` -> what the file calls it

    Raises
    ------
    FormatError : a needed column is missing, or stands there twice.
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
    for name in (*wanted.intersection(need), *columns, *used):
        if len(place.get(name, [])) != 1:
            what = "stands there twice" if name in place else "is not there"
            there = ", ".join(map(shorten, file.names[:12])) + (", ..." if file.names[12:] else "")
            remedy = f"say which one it is: --column {name}=NAME (in the configuration: columns)"
            message = f"the column {columns.get(name, name)!r} {what}; there are: {there}"
            raise FormatError(message, path=file.path, remedy=remedy)
    bad: set[int] = set()
    for name in used:
        values = file.columns[name] = []
        for row, fields in enumerate(file.rows):
            value = fields.get(place[name][0])
            try:
                values.append(_value(name, value))
            except _Bad as fault:
                values.append(None)
                bad.add(row)
                faults.add(file, file.lines[row], place[name][0], str(fault), value)
    taken = {place[name][0] for name in used}
    file.unread = [name for name in file.names if name and name not in taken]
    return bad


def read_texts(
    path: str | Path,
    read: Iterable[str] = (),
    need: Sequence[str] = (),
    format: str = "",
    columns: Mapping[str, str] | None = None,
) -> File:
    """Texts to rate, a row each; parameters as of `read_columns`, but ``text`` is always needed,
    and what ``columns`` names may be missing.

    Raises
    ------
    FormatError : the file cannot be read, lacks a column, or has faulty rows; or its rows are
        ratings of several people, and no texts.
    """
    faults = Faults()
    file = read_file(path, format, faults)
    there = {name: theirs for name, theirs in (columns or {}).items() if theirs in file.names}
    read_columns(file, read, ["text", *need], there, faults)
    faults.check()
    if "quality" in file.columns and "rater" in file.names:
        message = "has the columns rater and quality: each row would count as a text of its own"
        remedy = "give each text once, with the mean of its ratings and no column rater"
        raise FormatError(message, path=file.path, remedy=remedy)
    return file


# ---- rated texts ---------------------------------------------------------------------------------


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
    rated: str = "quality",
    need: Sequence[str] = ("quality",),
    more: Sequence[str] = (),
    faults: Faults | None = None,
) -> Own:
    """Read files, or folders of them, as one table of rated texts.

    Rows of raters are ratings of one text if all else in them is equal: in contexts letters and
    digits, elsewhere all but blanks.

    Parameters
    ----------
    format, columns, need, more : as of `read_file` and `read_columns`; ``more`` is read as well
    scale : lowest and highest rating that there can be
    repeated : what becomes of ratings of one text by one rater: ``refuse``, or ``mean``
    rated : the column with ratings
    faults : gets all faults, and faulty rows are left out

    Raises
    ------
    FormatError : a file cannot be read, or lacks a column; there are no rows; without ``faults``,
        there are faulty rows.
    """
    found = Faults() if faults is None else faults
    files, bad = [], []
    for path in [Path("-")] if list(paths) == ["-"] else files_of(paths):
        files.append(read_file(path, format, found))
        read = (*RATED, rated, *more)
        bad.append(read_columns(files[-1], read, ["text", *need], columns or {}, found))
        if unread := ", ".join(files[-1].unread):
            log.warning("%s: columns that are not read: %s", path, unread)
    names = dict.fromkeys(name for file in files for name in file.columns)
    if "rater" in names and (without := [one for one in files if "rater" not in one.columns]):
        message, remedy = "has no column rater, and others have", "give it to all files or to none"
        raise FormatError(message, path=without[0].path, remedy=remedy)
    texts, text_of, order = _joined(files, bad, rated, scale, repeated == "mean", found)
    if faults is None:
        found.check()
    if not texts and not found.found:
        told = ", ".join(file.path for file in files)
        raise FormatError("has no rows", path=told, remedy="give it rated texts, one a row")

    import pandas as pd

    kept = ["references" if name.startswith("reference") else name for name in names]
    kept = [name for name in dict.fromkeys(kept) if name not in ("rater", rated)]
    table = pd.DataFrame({name: [one.columns.get(name, "") for one in texts] for name in kept})
    for name in kept:
        if name.startswith("score_"):
            table[name] = pd.to_numeric(table[name]).astype(float)
    means = [{rater: fmean(own) for rater, own in one.given.items()} for one in texts]
    table.insert(1, "quality", [fmean(own.values()) if own else math.nan for own in means])
    single = [(number, rater, means[number][rater]) for number, rater in dict.fromkeys(order)]
    ratings = pd.DataFrame(single, columns=["text", "rater", "quality"])
    return Own(table, ratings, files, text_of, [one.where for one in texts])


@dataclass
class _Text:
    where: tuple[str, int]
    columns: dict[str, Any]
    given: dict[str, list[float]] = field(default_factory=dict)


def _joined(
    files: Sequence[File],
    bad: Sequence[set[int]],
    rated: str,
    scale: Sequence[float] | None,
    mean: bool,
    faults: Faults,
) -> tuple[list[_Text], list[int], list[tuple[int, str]]]:
    """Each text once, with its ratings by rater; the text of each row; and text and rater of each
    rating. Faulty rows are left out."""
    texts: list[_Text] = []
    text_of, order = [], []
    known: dict[tuple[tuple[str, str], ...], int] = {}
    systems, form = any(any(file.columns.get("system", [])) for file in files), cache(wording)
    for file, row, one in _rows(files, bad):
        rater, rating = one.pop("rater", None), one.pop(rated, math.nan)
        said = {k: v for k, v in one.items() if rater is not None and v == v and v not in ("", [])}
        alike = [(k, form(v) if k == "context" else plain(str(v))) for k, v in said.items()]
        key = tuple(sorted(alike))
        number = len(texts) if rater is None else known.get(key, len(texts))
        text = texts[number] if number < len(texts) else _Text((file.path, file.lines[row]), one)
        there, fault = not math.isnan(rating), None
        if there and scale and not scale[0] <= rating <= scale[1]:
            fault = rated, f"are not from {scale[0]:g} to {scale[1]:g}", rating
        elif there and rater == "":
            fault = "rater", "ratings have no rater", None
        elif systems and not one.get("system"):
            fault = "system", "are empty, where others are not", None
        elif there and not mean and rater in text.given:
            fault = "rater", "rated a text again: --repeated-ratings mean takes the mean", rater
        if fault:
            faults.add(file, file.lines[row], *fault)
            continue
        if number == len(texts):
            known[key] = number
            texts.append(text)
        text_of.append(number)
        if there:
            text.given.setdefault(rater or "", []).append(rating)
            order.append((number, rater or ""))
    return texts, text_of, order


def _rows(
    files: Sequence[File], bad: Sequence[set[int]]
) -> Iterator[tuple[File, int, dict[str, Any]]]:
    """The good rows: values by column, all references in one list."""
    for file, without in zip(files, bad, strict=True):
        for row in sorted(set(range(len(file.rows))) - without):
            one = {name: values[row] for name, values in file.columns.items()}
            many = [one.pop(name) for name in list(one) if name.startswith("reference")]
            listed = [own if isinstance(own, list) else [own] for own in many]
            one["references"] = [text for own in listed for text in own if text]
            yield file, row, one
