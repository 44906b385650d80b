"""HUSE: sentences by people and models, each labelled by 20 Mechanical Turk annotators.

Stage: ratings. In: a Mechanical Turk batch file (CSV), one row an assignment of, say, 25 items:
``Input.IDXk``, ``CTXk``, ``TYPEk``, ``OUTk``, ``LOGPk`` and ``Answer.k`` for k = 0, 1, ...
Out: a `RatedTexts`, one row a sentence, its labels in the order of the file.

What moves published numbers: one sentence is one pair of context and output (``unit="pair"``; in
the summarization batch two of the 200 items are the same pair, which makes 199); and quality is
`numpy.mean` of label / 5 in the order of the file, whose rounding noise breaks ties.

The annotator rows of table 1 take every label as one observation. Six annotators saw the shared
pair twice; whether both of their labels count, their mean, the first or the last one does not show
in the published digits (0.0802 and 0.405; rho moves by less than 0.0001).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from refless.data.ratings import RatedTexts, anonymise, rating_table, text_table
from refless.data.sources._reading import (
    Record,
    broken,
    header,
    name_fault,
    of_width,
    read_text,
    records,
    shorten,
    text_fault,
)
from refless.errors import FormatError, Problem

LABELS = ("invalid", "rare", "specific", "average", "typical", "very typical")
UNITS = ("pair", "item")

_READ = re.compile(r"WorkerId$|Input\.(IDX|CTX|TYPE|OUT|LOGP)[0-9]+$|Answer\.[0-9]+$")
_COLUMN = re.compile(r"(Input\.OUT|Answer\.)([0-9]+)")


@dataclass
class _Item:
    number: int
    type: str
    context: str
    text: str
    logp: float
    labels: list[tuple[int, str, int]] = field(default_factory=list)  # (sequence, worker, label)


def load(
    path: str | Path,
    task: str,
    unit: str = "pair",
    types: Collection[str] | None = None,
    contexts: bool = True,
) -> RatedTexts:
    """Read one batch.

    Parameters
    ----------
    path : the batch file as Mechanical Turk exports it
    task : the data set's name, with which ids begin
    unit : what one sentence is. ``pair`` (published): one context and output, so items that are
        the same pair share a row and its labels. ``item``: one item, known by its IDX, TYPE,
        context and output (IDX alone counts within a Mechanical Turk task and repeats).
        HUSE's own code tells items by task and place, which gives the same 200.
    types : take only items of these raw types, e.g. ``{"LOGP_1.0.txt", "HUMAN_REDDIT1.0"}``;
        ids stay what they are without it. Default: all. (HUSE's own code reads the dialogue
        batch at three temperatures: ``LOGP_1.0.txt``, ``LOGP_0.7.txt``, ``LOGP_0.5.txt`` with
        ``HUMAN_REDDIT1.0`` and so on.)
    contexts : False lets the batch lack its context columns: open-ended generation answers
        nothing.

    Returns
    -------
    RatedTexts : texts in order of first appearance. ``id`` is ``<task>:<number>``, the number
        counting items by first appearance (a pair has its first item's). ``system`` is
        ``human`` or the model (``sum``, ``lm``, ``reddit_1.0``, ...); of a pair that several
        wrote, all of them, joined by ``+``. Extra columns: ``type`` (raw; joined likewise),
        ``logp`` (log-probability under the model, as in the file; NaN where empty, may be -inf) and
        ``item`` (ids of the items in this row, joined by ``+``). ``ratings`` has the extra
        columns ``item``, the item that was labelled, and its raw ``type`` and ``logp``; ``label``
        is 0..5.

        A sentence all of whose labels are unusable stays, unrated (quality NaN, n_ratings 0).

        Problems (such a label is not used): a row with too few or too many fields, without a
        worker, or of an assignment that stood in the file before; an item without type or of one
        that is no name; an empty text or one with a NUL; an empty or unknown label; a LOGP that is
        no number or differs from the item's first. Labels may be written in any case, or as the
        integers 0..5.

    Raises
    ------
    FormatError : not a batch file of this kind; an unknown unit.
    """
    if unit not in UNITS:
        raise FormatError(f"unknown unit {unit!r}", remedy="choose pair or item")
    raw = read_text(path)
    rows = records(raw, path)
    columns = header(rows, ["WorkerId"], path, "a Mechanical Turk batch")
    n_items = _count_items(columns, contexts, path, rows[0][0])
    # Exports leave out the empty columns at the end (Approve, Reject).
    read = [position for name, position in columns.items() if _READ.match(name)]
    body, problems = of_width(rows[1:], 1 + max(read), len(columns), path, raw)
    items, faults, workers = _collect(body, columns, n_items, str(path))
    problems = sorted(problems + faults, key=lambda problem: problem.line)
    if not items and not problems:
        raise broken("the file has a header and no assignments", path)
    rater = dict(zip(workers, anonymise(workers), strict=True))

    if types is not None:
        unknown = set(types) - {item.type for item in items}
        if unknown:
            raise FormatError(
                f"no item has type {shorten(min(unknown))}",
                path=path,
                remedy="the types here are " + ", ".join(sorted({i.type for i in items})),
            )
        items = [item for item in items if item.type in types]
    groups: dict[tuple[object, ...], list[_Item]] = {}
    for item in items:
        key = (item.context, item.text) if unit == "pair" else (item.number,)
        groups.setdefault(key, []).append(item)

    texts: list[dict[str, object]] = []
    ratings: list[tuple[int, str, str, int, str]] = []
    for group in groups.values():
        first, name = group[0], _id(task, group[0])
        labelled = sorted(
            (sequence, worker, label, _id(task, item))
            for item in group
            for sequence, worker, label in item.labels
        )
        ratings += [
            (seq, name, rater[worker], label, item) for seq, worker, label, item in labelled
        ]
        texts.append(
            {
                "id": name,
                "task": task,
                "context": first.context,
                "text": first.text,
                # In this order, and label by label: see the head of this file.
                "quality": np.mean([label / 5 for _, _, label, _ in labelled])
                if labelled
                else math.nan,
                "n_ratings": len(labelled),
                "system": "+".join(dict.fromkeys(_system(item.type) for item in group)),
                "type": "+".join(dict.fromkeys(item.type for item in group)),
                "logp": first.logp,
                "item": "+".join(_id(task, item) for item in group),
            }
        )
    ratings.sort()
    scale = (0, len(LABELS) - 1)
    table = rating_table([(name, who, label) for _, name, who, label, _ in ratings], scale)
    table["item"] = [item for *_, item in ratings]
    by_id = {_id(task, item): item for item in items}
    table["type"] = [by_id[item].type for item in table["item"]]
    table["logp"] = np.array([by_id[item].logp for item in table["item"]], dtype=float)
    return RatedTexts(text_table(texts, ["type", "logp", "item"], ["logp"]), table, problems, scale)


def _count_items(columns: dict[str, int], contexts: bool, path: str | Path, line: int) -> int:
    """Number of items in an assignment, from the header (Answer columns come in string order)."""
    found = [match for match in map(_COLUMN.fullmatch, columns) if match]
    n_items = 1 + max((int(match[2]) for match in found), default=-1)
    wanted = ["Input.TYPE", "Input.OUT", "Input.LOGP", "Answer."]
    if contexts or any(name.startswith("Input.CTX") for name in columns):
        wanted.append("Input.CTX")
    if any(name.startswith("Input.IDX") for name in columns):
        wanted.append("Input.IDX")
    for k in range(max(n_items, 1)):
        missing = [f"{name}{k}" for name in wanted if f"{name}{k}" not in columns]
        if missing:
            raise broken(f"this is not a HUSE batch: no column {missing[0]}", path, line)
    return n_items


def _collect(
    rows: list[Record], columns: dict[str, int], n_items: int, path: str
) -> tuple[list[_Item], list[Problem], list[str]]:
    """Items by first appearance with their labels, problems, and workers by first appearance."""
    items: dict[tuple[str, ...], _Item] = {}
    problems: list[Problem] = []
    workers: dict[str, None] = {}
    assignments: dict[str, int] = {}
    kinds = ["Input.TYPE", "Input.OUT", "Input.LOGP", "Answer.", "Input.CTX", "Input.IDX"]
    places = [[columns.get(f"{kind}{k}") for kind in kinds] for k in range(n_items)]
    sequence = 0
    for line, fields in rows:
        worker = fields[columns["WorkerId"]].strip()
        if not worker:
            problems.append(Problem(path, line, "the assignment has no WorkerId"))
            continue
        workers[worker] = None
        if "AssignmentId" in columns:
            assignment = fields[columns["AssignmentId"]]
            if assignment and assignment in assignments:
                before = assignments[assignment]
                message = f"assignment {shorten(assignment)} stands on line {before} already"
                problems.append(Problem(path, line, message))
                continue
            assignments[assignment] = line
        for k, place in enumerate(places):
            kind, text, logp, answer, context, index = (
                "" if position is None else fields[position] for position in place
            )
            fault = text_fault(text) or _type_fault(kind.strip())
            value, bad_logp = _number(logp)
            if not fault:
                key = (index, kind, context, text)
                item = items.get(key)
                if item is None:
                    # Counted before its label is looked at, so that ids do not hang on labels.
                    item = _Item(len(items) + 1, kind.strip(), context, text, value)
                    items[key] = item
                elif not bad_logp and not _same(value, item.logp):
                    bad_logp = f"LOGP {shorten(logp)} differs from {item.logp}, this item's first"
                label = _label(answer)
                fault = bad_logp or ("" if label is not None else f"label {shorten(answer)}")
                if not fault and label is not None:
                    item.labels.append((sequence, worker, label))
                    sequence += 1
            if fault:
                problems.append(Problem(path, line, f"item {k}: {fault}"))
    return list(items.values()), problems, list(workers)


def _type_fault(kind: str) -> str:
    if not kind:
        return "the item has no type"
    fault = name_fault(kind)
    return f"type {fault}" if fault else ""


def _label(answer: str) -> int | None:
    plain = " ".join(answer.split()).lower()
    if plain in LABELS:
        return LABELS.index(plain)
    return int(plain) if plain in {"0", "1", "2", "3", "4", "5"} else None


def _number(logp: str) -> tuple[float, str]:
    """The log-probability and, where it is none, why."""
    if not logp.strip():
        return math.nan, ""
    try:
        value = float(logp)
    except ValueError:
        value = math.nan
    return (value, "") if not math.isnan(value) else (value, f"LOGP {shorten(logp)} is no number")


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _system(kind: str) -> str:
    """``human``, or the model's name: ``SUM`` is sum, ``LOGP_1.0.txt`` is reddit_1.0."""
    if kind.upper().startswith("HUMAN"):
        return "human"
    return re.sub(r"^logp_", "reddit_", kind.lower().removesuffix(".txt"))


def comparisons(types: Collection[str]) -> dict[str, tuple[str, str]]:
    """System -> (raw type of the model's items, raw type of the human items beside them).

    A batch with one human type has it beside every model; where there are several, as at the
    three temperatures of the dialogue batch, they belong together by their number
    (``LOGP_0.7.txt`` and ``HUMAN_REDDIT0.7``).

    Raises
    ------
    FormatError : a model's type has no human type, or several.
    """
    human = [kind for kind in types if _system(kind) == "human"]
    found = {}
    for kind in types:
        if kind in human:
            continue
        beside = [name for name in human if len(human) == 1 or _numbers(name) == _numbers(kind)]
        if len(beside) != 1:
            raise FormatError(
                f"type {shorten(kind)} has {len(beside)} human types beside it",
                remedy="name the types that belong together in the option `types` of this data"
                f" set; here are {', '.join(sorted(types))}",
            )
        found[_system(kind)] = (kind, beside[0])
    return found


def _numbers(kind: str) -> list[str]:
    return re.findall(r"[0-9]+(?:\.[0-9]+)?", kind)


def _id(task: str, item: _Item) -> str:
    return f"{task}:{item.number:04d}"
