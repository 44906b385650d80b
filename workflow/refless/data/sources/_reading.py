"""Bytes on disk to records with true line numbers, for the loaders of this package.

Stage: ratings. In: a path. Out: text, or records with the line on which each one starts.
Errors: `FormatError` that names the file, the line and the remedy, never a bare exception.

What is decided here for all data sets: files are UTF-8 (a byte order mark is dropped); a line ends
at a line feed and nowhere else (so the numbers agree with ``grep -n``); fields may be of any size;
nothing is ever read as "missing" because of how it is spelt (``NA``, ``nan``, ``null`` are texts).
"""

from __future__ import annotations

import codecs
import csv
import json
import logging
import math
import re
import shlex
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from refless.errors import FormatError, Problem

log = logging.getLogger(__name__)

Record = tuple[int, list[str]]  # the line on which it starts, its fields

REFETCH = "delete it and run again, which fetches it; or put the right one there"
UTF_16 = "is UTF-16, not UTF-8"
STANDARD_INPUT = "standard input"
"""The path in errors, where there is none."""
_NOT_BLANK = re.compile(r"[^ \t\r\n]")
_ARRAY = re.compile(r"\s*\[\s*[{\]]")
_HALF = re.compile("[\ud800-\udfff]")
_BLANK_BEFORE_QUOTE = re.compile(r'\s+"([^"]|"")*"\s*')
_NAME = re.compile(r"[^\W_][\w .,:;()=+/-]*")


def broken(message: str, path: str | Path, line: int | None = None) -> FormatError:
    """The error of a file that is not the one that its source has."""
    return FormatError(message, path=path, line=line, remedy=REFETCH)


@contextmanager
def remedied(remedy: str) -> Iterator[None]:
    """Give errors another remedy: a user's own file is mended, not fetched again.

    One that has a remedy of its own keeps it, and UTF-16 has its own.
    """
    try:
        yield
    except FormatError as error:
        if error.remedy not in ("", REFETCH):
            raise
        there = Path(error.path or ".")
        # or a pipe, which cannot be read again
        read = error.path == STANDARD_INPUT or not (there.is_file() or there.is_dir())
        if error.path and error.path != STANDARD_INPUT and (there.is_dir() or not there.exists()):
            remedy = "look at its name and its folder"
        elif error.message == UTF_16:
            of = "" if read else f" {shlex.quote(str(error.path))} > NEW"
            remedy = f"convert it: iconv -f UTF-16 -t UTF-8{of}"
        raise FormatError(error.message, path=error.path, line=error.line, remedy=remedy) from error


def read_bytes(path: str | Path) -> bytes:
    """The whole file.

    Raises
    ------
    FormatError : it is missing, unreadable, a directory, or empty.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise broken(f"cannot be read: {error.strerror or error}", path) from error
    if not data.strip():
        raise broken("the file is empty", path)
    return data


def decode(data: bytes, path: str | Path) -> str:
    """UTF-8 bytes as text, without the byte order mark.

    Raises
    ------
    FormatError : with the line of the first byte that is not UTF-8; or the file is UTF-16.
    """
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise broken(UTF_16, path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise broken(f"byte {data[error.start]:#04x} is not UTF-8 text", path, line) from error


def whole_number(text: str, low: int, high: int) -> int | None:
    """The integer that ``text`` writes plainly (``3``, not ``3.0`` or ``+3``), if in range."""
    plain = text.strip()
    if plain.isascii() and plain.isdigit() and low <= int(plain) <= high:
        return int(plain)
    return None


def number_of(value: Any) -> float:
    """A number as it is written plainly (``3``, ``-0.5``, ``1e3``) or as JSON has it; else NaN.

    Python would also read ``1_000`` and the digits of other scripts, which other tools do not.
    """
    plain = isinstance(value, str) and value.isascii() and "_" not in value
    if plain or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        with suppress(ValueError, OverflowError):
            return float(value)
    return math.nan


LARGEST = 1e100
"""Ratings beyond this cannot be squared and added up."""


def size_fault(value: float) -> str:
    """Why a number cannot be reckoned with, or an empty string."""
    return f"{value:g} is too large to reckon with" if abs(value) > LARGEST else ""


def json_value(line: str) -> Any:
    """A line of JSON, in which no object has a key twice: the last would win without a word.

    A number that Python takes for infinite is refused: written again, it would be no JSON.

    Raises
    ------
    json.JSONDecodeError, RecursionError : it cannot be read.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise json.JSONDecodeError(f"the key {shorten(twice)} stands twice", line, 0)
        return found

    def finite(number: str) -> float:
        value = float(number)
        if math.isinf(value):
            raise json.JSONDecodeError(f"{shorten(number)} is too large", line, 0)
        return value

    return json.loads(line, object_pairs_hook=once, parse_float=finite)


def json_fault(error: ValueError | RecursionError) -> str:
    """What `json_value` could not read; a plain ValueError is of a number with too many digits."""
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return "too deep" if isinstance(error, RecursionError) else "a number has too many digits"


def require_no_array(text: str, path: str | Path) -> None:
    """Make sure that a file is no JSON array, which is read as a whole and not line by line.

    Raises
    ------
    FormatError : it is one.
    """
    if _ARRAY.match(text):
        remedy = "write one object a line: jq -c '.[]' FILE > FILE.jsonl"
        raise FormatError("is a JSON array, not JSON Lines", path=path, remedy=remedy)


def require_spelling(
    names: Iterable[str], known: Iterable[str], path: str | Path, ending: Iterable[str] = ()
) -> None:
    """Make sure that no column is a known one in other letters: it would be passed over.

    Parameters
    ----------
    known : the names that are read
    ending : beginnings of names that are read whatever follows

    Raises
    ------
    FormatError : ``Rater`` or ``raters`` where ``rater`` is read, and there is none.
    """
    names = list(names)
    meant = {_plain(name): name for name in known if name not in names}
    for name in names:
        right = meant.get(_plain(name), "")
        for begin in ending:
            if name.casefold().startswith(begin) and not name.startswith(begin):
                right = begin + name[len(begin) :]
        if right and name != right:
            raise FormatError(
                f"column {shorten(name)} is not read; the one that is has the name {right!r}",
                path=path,
                remedy=f"write {right!r}; or, if it is something else, give it another name",
            )


def tell_unread(names: Iterable[str], path: str | Path) -> None:
    """Say which columns of a user's file are not read, if any."""
    if listed := ", ".join(map(shorten, names)):
        log.warning("%s: columns that are not read: %s", path, listed)


def _plain(name: str) -> str:
    return name.strip().casefold().removesuffix("s")


def read_text(path: str | Path) -> str:
    """The whole file as text; see `read_bytes` and `decode` for the errors."""
    return decode(read_bytes(path), path)


def lines(text: str) -> list[str]:
    """The lines of a text with their line feeds; other line separators stay inside a line."""
    parts = text.split("\n")
    whole = [part + "\n" for part in parts[:-1]]
    return [*whole, parts[-1]] if parts[-1] else whole


@contextmanager
def _any_field_size() -> Iterator[None]:
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def records(
    text: str, path: str | Path, *, delimiter: str = ",", quoting: bool = True
) -> list[Record]:
    """Records of a delimited text, as (line on which the record starts, fields).

    Blank lines are passed over. With ``quoting=False`` a quotation mark is a character like any
    other and every line is a record.

    Raises
    ------
    FormatError : a quoted field is never closed (the file was cut short), or goes on after its
        closing quote; a blank stands before the quote of a field; or a bare carriage return ends a
        line where no line may end.
    """

    def reader(source: list[str]) -> Any:
        style: Any = csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE
        return csv.reader(source, delimiter=delimiter, quoting=style, strict=quoting)

    rows: list[Record] = []
    source = lines(text)
    start = 1
    with _any_field_size():
        parsed = reader(source)
        try:
            for fields in parsed:
                if fields:
                    if quoting and any(map(_BLANK_BEFORE_QUOTE.fullmatch, fields)):
                        own = source[start - 1 : parsed.line_num]
                        _refuse_blank_before_quote(fields, own, delimiter, path, start)
                    rows.append((start, fields))
                start = parsed.line_num + 1
        except csv.Error as error:
            if "end of data" in str(error):
                fault = (
                    "a quoted field of this record is never closed; the file seems to be cut short"
                )
            elif "\r" in source[start - 1].rstrip("\r\n"):
                fault = "a carriage return without line feed, outside of quotes"
            else:
                fault = f'{error}, in a quoted field; quotes of the text itself are doubled: ""'
            raise broken(f"cannot be read as delimited text: {fault}", path, start) from error
    return rows


def _refuse_blank_before_quote(
    fields: list[str], source: list[str], delimiter: str, path: str | Path, line: int
) -> None:
    """``5, "so"``: with the blank, the quotes are part of the text. A text may begin so, though."""
    meant = next(csv.reader(source, delimiter=delimiter, skipinitialspace=True))
    for field, other in zip(fields, meant, strict=False):
        if _BLANK_BEFORE_QUOTE.fullmatch(field) and other != field:
            raise FormatError(
                "a blank stands before a quote, which makes the quotes part of the text",
                path=path,
                line=line,
                remedy=f'take it out: {delimiter}"..." and not {delimiter} "..."; quotes of the'
                f' text itself are written so: {delimiter}"""..."""',
            )


def header(
    rows: list[Record], wanted: Iterable[str], path: str | Path, what: str
) -> dict[str, int]:
    """Column name -> position, from the first record.

    Raises
    ------
    FormatError : a wanted column is missing or a name stands twice; ``what`` says in the message
        what the file should have been.
    """
    if not rows:
        raise broken("the file has no header", path)
    names = [name.strip() for name in rows[0][1]]
    missing = [name for name in wanted if name not in names]
    if missing:
        lost = ", ".join(map(shorten, missing[:5]))
        there = ", ".join(map(shorten, names[:8])) + (", ..." if names[8:] else "")
        semicolons = "; semicolons separate no fields here" if ";" in "".join(names) else ""
        message = f"this is not {what}: no column {lost} among {there}{semicolons}"
        raise broken(message, path, rows[0][0])
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        message = f"column {shorten(twice[0])} stands twice in the header"
        raise broken(message, path, rows[0][0])
    return {name: position for position, name in enumerate(names)}


def of_width(
    rows: list[Record], low: int, high: int, path: str | Path, text: str
) -> tuple[list[Record], list[Problem]]:
    """Records with ``low`` to ``high`` fields, and a problem for each of the others.

    Raises
    ------
    FormatError : the file stops in the middle of its last record.
    """
    good, problems = [], []
    for line, fields in rows:
        if low <= len(fields) <= high:
            good.append((line, fields))
            continue
        if len(fields) < low and line == rows[-1][0] and not text.endswith("\n"):
            where = f"after {len(fields)} of this record's {high} fields"
            raise broken(f"the file stops {where}; it seems to be cut short", path, line)
        message = f"{len(fields)} fields where the header has {high}"
        problems.append(Problem(str(path), line, message))
    return good, problems


def named_records(
    text: str,
    path: str | Path,
    wanted: Iterable[str],
    what: str,
    *,
    delimiter: str = ",",
    quoting: bool = True,
) -> tuple[list[str], list[tuple[int, dict[str, str]]], list[Problem]]:
    """The columns of a delimited text, its records as line and values by column, and problems.

    Problems : records of another width than the header. Errors : see `records`, `header` and
    `of_width`.
    """
    rows = records(text, path, delimiter=delimiter, quoting=quoting)
    columns = header(rows, wanted, path, what)
    width = len(rows[0][1])
    body, problems = of_width(rows[1:], width, width, path, text)
    named = [(line, {name: fields[k] for name, k in columns.items()}) for line, fields in body]
    return list(columns), named, problems


def json_array(text: str, path: str | Path, start: int = 0) -> list[tuple[int, int, Any]]:
    """Elements of the JSON array that begins at ``start``: (offset, line, value).

    Raises
    ------
    FormatError : there is no array at ``start``, or it is not closed, with the line.
    """
    decoder = json.JSONDecoder()
    elements: list[tuple[int, int, Any]] = []
    position, line, counted = _blank(text, start), 1, 0

    def fail(message: str, at: int) -> FormatError:
        return broken(message, path, text.count("\n", 0, at) + 1)

    if text[position : position + 1] != "[":
        raise fail("this is not a JSON array", position)
    position = _blank(text, position + 1)
    if text[position : position + 1] == "]":
        return elements
    while True:
        line, counted = line + text.count("\n", counted, position), position
        try:
            value, end = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError) as error:
            at = getattr(error, "pos", position)
            raise fail(f"cannot be read as JSON: {getattr(error, 'msg', error)}", at) from error
        elements.append((position, line, value))
        position = _blank(text, end)
        mark = text[position : position + 1]
        if mark == "]":
            return elements
        if mark != ",":
            raise fail("the JSON array is not closed; the file seems to be cut short", position)
        position = _blank(text, position + 1)


def _blank(text: str, position: int) -> int:
    """The first position from ``position`` on that is not JSON white space."""
    found = _NOT_BLANK.search(text, position)
    return found.start() if found else len(text)


def shorten(value: str, limit: int = 40) -> str:
    """A value quoted for an error message, cut to ``limit`` characters."""
    return repr(value if len(value) <= limit else value[: limit - 3] + "...")


def name_of(value: Any) -> str:
    """Who or what a field names, without blanks around it; empty where there is nobody.

    A JSON number names what its digits do: 7 and 7.0 are one name.

    Raises
    ------
    FormatError : a list, an object, true, false or no number.
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise FormatError(f"{shorten(str(value))} is no name")
    return str(value).strip()


def name_fault(name: str) -> str:
    """Why the name of a system cannot be used, or an empty string.

    Names go into tables, which people open in spreadsheets, and into pages: one must begin with a
    letter or a digit, so that it is no formula, and have no markup or control character.
    """
    # marks that are put together with the letter before them belong to it
    letters = "".join(sign for sign in name if not unicodedata.category(sign).startswith("M"))
    if _NAME.fullmatch(letters):
        return ""
    return (
        f"{shorten(name)} is no name of a system: one begins with a letter or a digit, and has"
        " letters, digits, blanks and _ . , : ; ( ) = + / -"
    )


def text_fault(text: str) -> str:
    """Why a candidate text cannot be used, or an empty string.

    An empty or blank text was seen by nobody, a NUL is the mark of a damaged file, and half a
    character (see `half_character`) can be written nowhere. All else is kept to the letter: other
    control characters, blanks at the ends, the words ``nan`` or ``NA``.
    """
    if not text.strip():
        return "the text is empty"
    if "\0" in text:
        return "the text contains a NUL character"
    return half_character(text)


def half_character(text: str) -> str:
    """The fault of a text with half of a surrogate pair, or an empty string.

    JSON can write one (``"\\ud83d"``), UTF-8 cannot.
    """
    return "the text contains half a character" if _HALF.search(text) else ""
