"""Any tidy file of rated texts: TSV, CSV or JSON Lines, with columns of fixed names.

Stage: ratings. In: one file or several. Out: a `RatedTexts`. No data set is named here: an entry in
the configuration with ``loader: table`` is a data set.

Columns, or keys of JSON objects; only the first two must be there, others are not read:

================  ================================================================================
text              the candidate
quality           how good it is, on any scale; empty where nobody rated the text
context           what the text answers
mr                the meaning representation that it expresses
system            who wrote it: a system's name, or ``human``
references        other texts for the same context or MR: a JSON list of texts
reference*        the same in columns of their own (``reference1``, ``reference_2``, ...); what
                  is no number after ``reference`` is not read
rater             who rated it; then a row is one rating, and rows of one text are put together
score_<name>      a score of the text by somebody else's metric, a number or empty
================  ================================================================================

In CSV, a field in double quotes may hold commas, quotes (twice) and line breaks. In TSV it may hold
neither tabs nor line breaks, and quotes are read as `refless.data.tsv` says.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress, starmap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.given import ENDINGS, REMEDIES
from refless.data.ratings import RatedTexts, anonymise, rating_table, text_table
from refless.data.sources import mr
from refless.data.sources._reading import (
    half_character,
    json_fault,
    json_value,
    lines,
    name_fault,
    name_of,
    named_records,
    number_of,
    read_text,
    remedied,
    require_no_array,
    require_spelling,
    shorten,
    size_fault,
    tell_unread,
    text_fault,
)
from refless.data.tsv import table_of
from refless.data.wording import wording
from refless.errors import FormatError, Problem

log = logging.getLogger(__name__)

FORMATS = {ending: kind for ending, kind in ENDINGS.items() if kind != "lines"}
REQUIRED = ["text", "quality"]
OPTIONAL = ["context", "mr", "system", "references", "rater"]
ENOUGH_OF_A_RATER = 10
"""Ratings from which on the range of a rater says something."""
UNKNOWN = "unknown"  # the system, where there is no such column
REMEDY = "give it rows with at least the columns text and quality"

# The line of a row, and its values by column.
Row = tuple[int, dict[str, Any]]
# The number of a file, and a line of it.
Where = tuple[int, int]


@dataclass
class _Text:
    """A rated text, with the qualities that were given to it, on the file's own scale.

    ``system`` is empty where the row has none.
    """

    where: Where
    context: str
    text: str
    system: str
    mr: str
    references: list[str]
    scores: dict[str, float]
    given: list[tuple[Where, str, float]] = field(default_factory=list)  # rater, quality


def load(
    path: str | Path,
    task: str,
    scale: Sequence[float] | None = None,
    format: str = "",
) -> RatedTexts:
    """Read one file; see `load_all`."""
    return load_all([path], task, scale, format)


def load_all(
    paths: Sequence[str | Path],
    task: str,
    scale: Sequence[float] | None = None,
    format: str = "",
    *,
    tell: Callable[[str], None] | None = None,
    mr_faults: Callable[[Sequence[str]], Mapping[int, str]] = lambda meanings: {},
    mrs_apart: Callable[[list[str]], Sequence[str]] | None = None,
) -> RatedTexts:
    """Read files as one table.

    Parameters
    ----------
    paths : the files
    task : the data set's name, with which ids begin
    scale : lowest and highest quality that can be given. Default: the lowest and the highest in
        the files, which the log says.
    format : tsv, csv or jsonl. Default: by a file's ending (.tsv, .csv, .jsonl, .ndjson).
    tell : takes a sentence about names that are spelt in several ways. Default: the log.
    mr_faults : what stands beside rated texts (MRs; where there are none, contexts) -> position,
        from 0, and fault of each that makes its row one that is not used. Default: anything may
        stand there.
    mrs_apart : what stands beside rated texts, as for ``mr_faults`` -> by what it is told apart,
        for raters who write it in several ways. Default: `refless.data.sources.mr.key` without the
        order of slots, else `wording`.

    Returns
    -------
    RatedTexts : in the order of the files. ``id`` is ``<task>:<number>``, five digits, from 1;
        ``quality`` is brought from the scale to [0, 1], NaN where it is empty. Without a column
        ``rater`` each row is a text with one rating (n_ratings 1), and ``ratings`` has no rows.
        With it, rows that agree in system and text, and in their MR or context (``mrs_apart``; with
        an MR, in the `wording` of their context too), are ratings of one text, whose quality is
        their mean. ``system`` is
        ``unknown`` if the file does not say. Systems and raters are told apart by `plain`, and have
        the name that stands first. ``context`` is the MR where there is no context.

        Extra columns, where the file has what they need: ``context_id`` (``c0001``, ... for each
        context, or MR, in order of first appearance); ``mr``, ``mr_key`` and ``mr_set``
        (`refless.data.sources.mr.key`; an MR in another notation is its own key); ``references``
        (a JSON list); ``score_<name>``.

        Problems (such a row is not used): an empty text or one with a NUL; a quality that is no
        finite number or not on the scale; a score that is no number; references that are no list
        of texts; a name of a system that is none; a rating without rater; a row whose references
        or scores differ from those of the same text before; in CSV, too few or too many fields;
        in JSON Lines, a line that is no JSON object.

    Raises
    ------
    FormatError : a file cannot be read, or has no column text or quality; an unknown format; a
        scale that is none, or that cannot be told since all qualities are the same; some files
        have a column rater and others have none.
    """
    low_high = _asked(scale)
    columns: dict[str, None] = {}
    rows: list[tuple[Where, dict[str, Any]]] = []
    problems: list[Problem] = []
    contents: dict[str, str | Path] = {}  # what a file says -> its path
    said: set[str] = set()  # rows of files
    twice: list[str] = []
    for number, path in enumerate(paths):
        known_format = _format(path, format)
        with remedied(REMEDIES[known_format]):
            names, found, lost = _read(path, known_format)
        says = [_content(row) for _, row in found]
        if (whole := "\n".join(says)) in contents:
            raise FormatError(
                f"has the rows of {contents[whole]}, and each would count twice",
                path=path,
                remedy="name one of the two, or take one out of the folder",
            )
        contents[whole] = path
        rated = (_says(row.get("quality")) for _, row in found)
        own = set(compress(says, rated))
        if again := len(own & said):
            twice.append(f"{again} of {shown_name(Path(path).name)}")
        said |= own
        if number and ("rater" in names) != ("rater" in columns):
            message = "some files have a column rater and others have none"
            raise FormatError(message, path=path, remedy="give it to all of them, or to none")
        columns |= dict.fromkeys(names)
        rows += [((number, line), row) for line, row in found]
        problems += lost
    rated_by = "rater" in columns
    texts: list[_Text] = []
    for where, row in rows:
        try:
            text = _text(where, row, rated_by)
            if low_high and text.given and not low_high[0] <= text.given[0][2] <= low_high[1]:
                raise FormatError(
                    f"quality {text.given[0][2]:g} is not from {low_high[0]:g} to {low_high[1]:g}"
                )
            texts.append(text)
        except FormatError as error:
            problems.append(Problem(str(paths[where[0]]), where[1], error.message))
    if rated_by:
        texts, clashes = _joined(texts, mrs_apart or _apart)
        problems += [Problem(str(paths[of]), line, said) for (of, line), said in clashes]
    named = ", ".join(map(str, paths))
    if not texts and not problems:
        raise FormatError("the file has no rows", path=named, remedy=REMEDY)
    faults = dict(mr_faults(_beside(texts)[1]))
    if any(text.system for text in texts):
        # nobody is no system: its texts would be left out together, and ranked as one
        lacking = "the text has no system, and others have one"
        faults |= {k: lacking for k, text in enumerate(texts) if not text.system}
    for k, fault in faults.items():
        problems.append(Problem(str(paths[texts[k].where[0]]), texts[k].where[1], fault))
    texts = [text for k, text in enumerate(texts) if k not in faults]
    remarks: list[str] = []

    def say(sentence: str) -> None:
        remarks.append(sentence)
        if tell:
            tell(sentence)
        else:
            log.warning("%s: %s", named, sentence)

    _spell_alike(texts, say)
    if twice:
        say(
            f"Rows of one file stand in an earlier one, too, word for word: {_few(twice)}. Each"
            " counts twice. Take them out of one file, unless they are ratings of several people."
        )
    order = {str(path): number for number, path in enumerate(paths)}
    problems.sort(key=lambda problem: (order[problem.path], problem.line))
    if low_high is None:
        qualities = [quality for text in texts for _, _, quality in text.given]
        low_high = _found(qualities, named, problems)
    table = _texts(texts, list(columns), task, low_high)
    for sentence in _about_scales(texts, paths, low_high):
        say(sentence)
    given = [*low_high, *(quality for text in texts for _, _, quality in text.given)]
    labels = all((2 * value).is_integer() for value in given)
    told = RatedTexts(table, problems=problems, ends=low_high, remarks=remarks)
    told.scale = low_high if labels else None
    if rated_by:
        told.ratings = _ratings(texts, table, low_high)
    return told


def _spell_alike(texts: list[_Text], tell: Callable[[str], None]) -> None:
    """Give each system and each rater one name, the first; where nobody says, it is `UNKNOWN`."""
    systems = _first("system", [text.system or UNKNOWN for text in texts], tell)
    raters = _first("rater", [rater for text in texts for _, rater, _ in text.given], tell)
    for text in texts:
        text.system = systems[plain(text.system or UNKNOWN)]
        text.given = [(where, raters[plain(name)], value) for where, name, value in text.given]


def _about_scales(
    texts: list[_Text], paths: Sequence[str | Path], scale: tuple[float, float]
) -> Iterator[str]:
    """What may be wrong with the scale: files that were hardly rated on one, since their lowest or
    highest ratings lie apart; raters who use the lower half alone of what all use, who order texts
    as nobody else does, or whose means differ where they had other texts; ratings that use a small
    part of it."""
    raters: dict[str, list[float]] = {}
    files: dict[int, list[float]] = {}
    for text in texts:
        for where, rater, value in text.given:
            raters.setdefault(rater, []).append(value)
            files.setdefault(where[0], []).append(value)
    every = sorted(value for values in files.values() for value in values)
    if not every:
        return
    low, high = every[0], every[-1]
    middle = every[1:-1] or every  # a mistyped rating is no scale
    least, most = middle[0], middle[-1]
    lower = {
        name: values
        for name, values in raters.items()
        if len(values) >= ENOUGH_OF_A_RATER and max(values) <= (least + most) / 2
    }
    if lower and least < most:
        yield (
            f"Raters use the lower half alone of the range of all, {least:g} to {most:g}:"
            f" {_few([*starmap(_range, lower.items())])}. If theirs is another scale, bring"
            " all to one before you trust any number here."
        )
    if turned := _turned(texts):
        yield (
            f"Where others rate high, these raters rate low: {_few(turned)}. If one of them took"
            " the scale the other way round, turn it back before you trust any number here."
        )
    panels = {frozenset(rater for _, rater, _ in text.given) for text in texts if text.given}
    if len(panels) > 1 and _differ(list(raters.values())) < 0.001:
        means = sorted(float(np.mean(values)) for values in raters.values())
        yield (
            f"Raters' means differ, {means[0]:.3g} to {means[-1]:.3g}, and not all of them rated"
            " the same texts. Where they had texts of a kind, such as a topic, what tells these"
            " apart seems to tell quality. Then bring raters to one mean."
        )
    if max(max(min(own) - low, high - max(own)) for own in files.values()) > 0.1 * (high - low):
        listed = [_range(shown_name(Path(paths[k]).name), own) for k, own in files.items()]
        yield (
            f"The files' ratings differ in range: {'; '.join(listed)}. If the scales differ, bring"
            " them to one before you trust any number here."
        )
    if high - low < 0.25 * (scale[1] - scale[0]):
        yield (
            f"The ratings are from {low:g} to {high:g}, a small part of the scale, {scale[0]:g} to"
            f" {scale[1]:g}. Say the scale that people rated on: squared errors are on it."
        )


def _turned(texts: Iterable[_Text]) -> list[str]:
    """Raters whose ratings fall as the mean of the others' rises (Pearson's r, p below 0.001)."""
    from scipy.stats import pearsonr

    beside: dict[str, list[tuple[float, float]]] = {}
    for text in texts:
        total, others = sum(value for *_, value in text.given), len(text.given) - 1
        for _, rater, value in text.given if others else []:
            beside.setdefault(rater, []).append((value, (total - value) / others))
    pairs = {rater: np.array(own).T for rater, own in beside.items()}
    return [
        rater
        for rater, own in pairs.items()
        if own.shape[1] >= ENOUGH_OF_A_RATER
        and np.ptp(own, axis=1).all()
        and pearsonr(*own, alternative="less").pvalue < 0.001
    ]


def _differ(groups: list[list[float]]) -> float:
    """P-value that the groups' means are one (one-way analysis of variance)."""
    from scipy.special import fdtrc

    values = np.concatenate([np.array(own) for own in groups])
    inside = sum(float(np.var(own)) * len(own) for own in groups)
    between = float(np.var(values)) * len(values) - inside
    free = len(groups) - 1, len(values) - len(groups)
    if between <= 0 or free[1] <= 0:
        return 1.0
    if inside <= 0:  # each has one value for all
        return 0.0
    return float(fdtrc(*free, (between / free[0]) / (inside / free[1])))


def _range(name: str, ratings: Sequence[float]) -> str:
    return f"{name}, {min(ratings):g} to {max(ratings):g}"


def shown_name(name: str) -> str:
    """A file's name as text; a byte of it that is not UTF-8 is written ``\\xff``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _first(what: str, names: Iterable[str], tell: Callable[[str], None]) -> dict[str, str]:
    """Name as it is compared -> as it stands first; names that differ in case and marks alone are
    told."""
    first: dict[str, str] = {}
    joined: dict[str, None] = {}
    for name in names:
        if name != (before := first.setdefault(plain(name), name)):
            joined[before] = None
    if joined:
        tell(
            f"The name of a {what} is spelt in several ways, which differ in blanks or in how"
            f" letters are composed, and is taken for one name: {_few(list(joined))}."
        )
    alike: dict[str, str] = {}
    bare = {name: re.sub(r"[\W_]+", "", name.casefold()) or name for name in first}
    twins = [(alike.setdefault(own, name), name) for name, own in bare.items()]
    if apart := [f"{one} and {other}" for one, other in twins if one != other]:
        tell(
            f"Names of a {what} differ in case or marks alone, and are taken for different ones:"
            f" {_few(apart)}. If they are one, write it in one way."
        )
    return first


def _few(names: Sequence[str]) -> str:
    """At most five, in short."""
    return ", ".join(map(shorten, names[:5])) + (", ..." if len(names) > 5 else "")


# ---- the scale -----------------------------------------------------------------------------------


def _asked(scale: Sequence[float] | None) -> tuple[float, float] | None:
    if scale is None:
        return None
    values = list(scale) if isinstance(scale, (list, tuple)) else []
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(values) != 2 or len(numbers) != 2 or not -math.inf < values[0] < values[1] < math.inf:
        raise FormatError(
            f"the scale is {scale!r}", remedy="give the lowest and the highest, e.g. scale: [1, 5]"
        )
    return float(values[0]), float(values[1])


def _found(
    qualities: list[float], path: str | Path, problems: Sequence[Problem]
) -> tuple[float, float]:
    """The scale from the lowest to the highest quality."""
    if not qualities:
        return 0.0, 1.0  # nothing is rated, nothing is brought anywhere
    low, high = min(qualities), max(qualities)
    if low == high and problems:  # which may be why
        bad = problems[0]
        raise FormatError(
            bad.message, path=bad.path, line=bad.line, remedy="mend or remove the row"
        )
    if low == high:
        raise FormatError(
            f"every quality is {low:g}, so the scale cannot be told",
            path=path,
            remedy="give it: --scale 1 5, or options: {scale: [1, 5]} in the configuration",
        )
    log.warning(
        "%s: no scale is given; taken from the lowest quality, %g, to the highest, %g"
        " (options: {scale: [lowest, highest]} says it)",
        *(path, low, high),
    )
    return low, high


# ---- reading -------------------------------------------------------------------------------------


def _format(path: str | Path, asked: str) -> str:
    found = asked or FORMATS.get(Path(path).suffix.lower(), "")
    if not found and not Path(path).exists():
        raise FormatError(
            "there is no such file", path=path, remedy="look at its name and its folder"
        )
    if found not in FORMATS.values():
        what = f"unknown format {found!r}" if found else "the ending does not tell the format"
        raise FormatError(
            what,
            path=path,
            remedy="give its format, tsv, csv or jsonl: --format, or the option format",
        )
    return found


def _read(path: str | Path, format: str) -> tuple[list[str], list[Row], list[Problem]]:
    """The columns that are used, the rows, and the rows that cannot be read."""
    if format == "jsonl":
        names, rows, problems = _json_lines(path)
    elif format == "tsv":
        table = table_of(read_text(path), str(path), REQUIRED)
        names, problems = list(table.columns), []
        values = zip(*table.columns.values(), strict=True)
        rows = [
            (line, dict(zip(names, fields, strict=True))) for line, fields in enumerate(values, 2)
        ]
    else:
        what = "a table of rated texts"
        names, rows, problems = named_records(read_text(path), path, REQUIRED, what)
    _require_spelling(names, path)
    used = [name for name in names if name in {*REQUIRED, *OPTIONAL} or _many(name)]
    for name in used:
        if half_character(name):  # it would stand in the outputs
            message = f"the name of the column {shorten(name)} contains half a character"
            raise FormatError(message, path=path, remedy="write another name")
    tell_unread([name for name in names if name not in used], path)
    return used, [(line, {k: row.get(k) for k in used}) for line, row in rows], problems


def _require_spelling(names: Iterable[str], path: str | Path) -> None:
    require_spelling(names, [*REQUIRED, *OPTIONAL], path, ["reference", "score_"])


def _content(row: dict[str, Any]) -> str:
    """What a row says, in whatever format."""
    given = {name: value for name, value in row.items() if _says(value)}
    with suppress(FormatError):
        references = _references(given)
        given = {name: value for name, value in given.items() if not name.startswith("reference")}
        given["references"] = references
    return json.dumps(sorted((name, _said(value)) for name, value in given.items()))


def _says(value: object) -> bool:
    """Whether a field says anything."""
    return str(value).strip() not in ("", "None")


def _said(value: object) -> str:
    """A value in whatever format: 4 is 4.0."""
    with suppress(ValueError):
        return repr(float(str(value)))
    return str(value)


def _many(name: str) -> bool:
    """Whether a column is one of several of its kind."""
    scored = name.startswith("score_") and len(name) > 6
    return scored or bool(re.fullmatch(r"reference(_?\d+)?", name))


def _json_lines(path: str | Path) -> tuple[list[str], list[Row], list[Problem]]:
    names: dict[str, None] = {}
    rows: list[Row] = []
    problems: list[Problem] = []
    text = read_text(path)
    require_no_array(text, path)
    for number, line in enumerate(lines(text), start=1):
        if not line.strip():
            continue
        try:
            value = json_value(line)
        except (ValueError, RecursionError) as error:
            fault = f"cannot be read as JSON: {json_fault(error)}"
            problems.append(Problem(str(path), number, fault))
            continue
        if not isinstance(value, dict):
            problems.append(Problem(str(path), number, "is no JSON object"))
            continue
        if not value.keys() <= names.keys():  # each object has keys of its own
            try:
                _require_spelling(value, path)
            except FormatError as error:
                raise FormatError(
                    error.message, path=path, line=number, remedy=error.remedy
                ) from error
        names |= dict.fromkeys(value)
        rows.append((number, value))
    missing = [name for name in REQUIRED if name not in names]
    if missing and rows:
        raise FormatError(f"no object has the key {missing[0]!r}", path=path)
    return list(names), rows, problems


# ---- one row -------------------------------------------------------------------------------------


def _text(where: Where, row: dict[str, Any], rated_by: bool) -> _Text:
    """A row as a text with at most one quality."""
    text = _string(row, "text")
    context, meaning = (_string(row, name) for name in ("context", "mr"))
    fault = text_fault(text) or (text_fault(context) if context.strip() else "")
    fault = fault or (text_fault(meaning) if meaning else "")
    system = name_of(row.get("system"))
    fault = fault or (name_fault(system) if system else "")
    if "+" in system:
        fault = fault or f"the system {shorten(system)} has a + in its name; write another sign"
    if fault:
        raise FormatError(fault)
    scores = {
        name: _number(value, name) for name, value in row.items() if name.startswith("score_")
    }
    quality = _number(row["quality"], "quality")
    rater = name_of(row.get("rater"))
    if rated_by and not rater and not math.isnan(quality):
        raise FormatError("the rating has no rater")
    found = _Text(where, context, text, system, meaning, _references(row), scores)
    if not math.isnan(quality):
        found.given.append((where, rater, quality))
    return found


def _string(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if isinstance(value, (dict, list, bool)) or (isinstance(value, float) and value != value):
        raise FormatError(f"{name} {shorten(str(value))} is no text")
    if name == "text" and not isinstance(value, str):
        raise FormatError(f"text {shorten(str(value))} is no text")
    return str(value) if isinstance(value, str) else name_of(value)


def _number(value: Any, name: str) -> float:
    """A finite number; NaN where there is none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    number = number_of(value)
    if not math.isfinite(number):
        hint = "; a decimal has a point, as in 4.5" if "," in str(value) else ""
        raise FormatError(f"{name} {shorten(str(value))} is not a finite number{hint}")
    if fault := size_fault(number):
        raise FormatError(f"{name} {fault}")
    return number


def _references(row: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name, value in row.items():
        if not name.startswith("reference") or value is None or value == "":
            continue
        if name == "references":
            found += _listed(value)
        elif isinstance(value, str):
            found.append(value)
        else:
            raise FormatError(f"{name} {shorten(str(value))} is no text")
    for reference in found:
        if fault := text_fault(reference):
            raise FormatError(f"references: {fault}")
    return found


def _listed(value: Any) -> list[str]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise FormatError('references are no JSON list of texts, as ["one", "two"]')
    return value


def _joined(
    texts: list[_Text], mrs_apart: Callable[[list[str]], Sequence[str]]
) -> tuple[list[_Text], list[tuple[Where, str]]]:
    """Each text once, with all its ratings; and rows that do not fit to an earlier one."""
    known: dict[tuple[str, ...], _Text] = {}
    clashes = []
    column, beside = _beside(texts)
    apart = dict(zip(beside, mrs_apart(beside), strict=True))
    for text in texts:
        own = getattr(text, column)
        more = wording(text.context) if column == "mr" else ""
        key = apart.get(own, own), more, plain(text.system), plain(text.text)
        before = known.setdefault(key, text)
        if before is not text:
            try:
                _join(before, text)
            except FormatError as error:
                clashes.append((text.where, error.message))
    return list(known.values()), clashes


def _beside(texts: list[_Text]) -> tuple[str, list[str]]:
    """What stands beside texts: the column, ``mr`` or, where rated texts have none, ``context``;
    and its values, nothing where nobody rated the text."""
    column = "mr" if any(text.mr.strip() for text in texts if text.given) else "context"
    return column, [getattr(text, column) if text.given else "" for text in texts]


def _apart(meanings: list[str]) -> list[str]:
    found = []
    for meaning in meanings:
        try:
            found.append(mr.key(meaning, False))
        except FormatError:
            found.append(wording(meaning))
    return found


def _join(before: _Text, again: _Text) -> None:
    """A further rating of a text."""
    same = all(
        value == again.scores.get(name, math.nan)
        or (math.isnan(value) and math.isnan(again.scores.get(name, math.nan)))
        for name, value in before.scores.items()
    )
    if not same or before.references != again.references:
        raise FormatError(
            f"references or scores differ from those of the text on line {before.where[1]}"
        )
    known = {plain(rater): where for where, rater, _ in before.given}
    for _, rater, _ in again.given:
        if (where := known.get(plain(rater))) is not None:
            raise FormatError(
                f"{shorten(rater)} rated this text already, on line {where[1]}: leave one of"
                " the two, or give their mean in one row"
            )
    before.given += again.given


# ---- tables --------------------------------------------------------------------------------------


def _texts(
    texts: list[_Text], columns: list[str], task: str, scale: tuple[float, float]
) -> pd.DataFrame:
    low, high = scale
    contexts: dict[object, int] = {}
    rows = []
    for number, text in enumerate(texts, start=1):
        # rating by rating and in this order, as everywhere
        qualities = [(quality - low) / (high - low) for _, _, quality in text.given]
        context = text.context or text.mr
        # texts that answer nothing that is known answer nothing in common
        answered = wording(text.context) or plain(text.mr) or number
        row = {
            "id": f"{task}:{number:05d}",
            "task": task,
            "context": context,
            "text": text.text,
            "quality": np.mean(qualities) if qualities else math.nan,
            "n_ratings": len(qualities),
            "system": text.system,
            "context_id": f"c{contexts.setdefault(answered, len(contexts) + 1):04d}",
            "mr": text.mr,
            "mr_key": _mr_key(text.mr, True),
            "mr_set": _mr_key(text.mr, False),
            "references": json.dumps(text.references, ensure_ascii=False),
        }
        rows.append({**row, **text.scores})
    extra = ["context_id"] if {"context", "mr"} & set(columns) else []
    extra += ["mr", "mr_key", "mr_set"] if "mr" in columns else []
    extra += ["references"] if any(name.startswith("reference") for name in columns) else []
    scores = [name for name in columns if name.startswith("score_")]
    return text_table(rows, [*extra, *scores], scores)


def plain(text: str) -> str:
    """A text as it is compared with others: its letters composed (NFC), and no blank that only
    stands somewhere else."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _mr_key(text: str, ordered: bool) -> str:
    """The key of an MR; one in another notation is told apart by its wording."""
    try:
        return mr.key(text, ordered)
    except FormatError:
        return " ".join(text.split())


def _ratings(texts: list[_Text], table: pd.DataFrame, scale: tuple[float, float]) -> pd.DataFrame:
    """The individual ratings in the order of the files."""
    rows = sorted(
        (where, name, rater, quality)
        for name, text in zip(table["id"], texts, strict=True)
        for where, rater, quality in text.given
    )
    raters = anonymise([rater for _, _, rater, _ in rows])
    named = zip(rows, raters, strict=True)
    return rating_table([(name, rater, label) for (_, name, _, label), rater in named], scale)
