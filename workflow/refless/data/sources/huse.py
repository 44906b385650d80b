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

import re
from itertools import count
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from refless.data.ratings import RatedTexts, anonymise, rating_table, text_table
from refless.data.sources._raw import each, known, table, words
from refless.errors import FormatError

LABELS = ("invalid", "rare", "specific", "average", "typical", "very typical")
SCALE = (0, len(LABELS) - 1)


class _Item(NamedTuple):
    id: str
    type: str
    context: str
    text: str
    logp: float


def load(
    path: str | Path,
    task: str,
    unit: Literal["pair", "item"] = "pair",
    types: list[str] | None = None,
    contexts: bool = True,
) -> RatedTexts:
    """Read one batch, texts in order of first appearance.

    Parameters
    ----------
    path : the batch file as Mechanical Turk exports it
    task : the data set's name, with which ids begin
    unit : what one sentence is. ``pair`` (published): one context and output, so items that are
        the same pair share a row and its labels. ``item``: one item, known by its IDX, TYPE,
        context and output (IDX alone counts within a Mechanical Turk task and repeats).
    types : take only items of these raw types, e.g. ``[LOGP_1.0.txt, HUMAN_REDDIT1.0]``; ids stay
    contexts : False lets the batch lack its context columns: open-ended generation answers
        nothing.

    Returns
    -------
    RatedTexts : ``id`` is ``<task>:<number>`` of the row's first item, counting items by first
        appearance; ``system`` is ``human`` or the model (``sum``, ``lm``, ``reddit_1.0``), of a
        pair all that wrote it, joined by ``+``. Extra columns: ``type`` (raw), ``logp`` (under the
        model; NaN where empty) and ``item`` (ids of the row's items, joined by ``+``); in
        ``ratings`` those of the item that was labelled. A label is 0..5, or its word.

    Raises
    ------
    FormatError : not a batch file of this kind; no item has one of the ``types``.
    """
    items: dict[tuple[str, ...], _Item] = {}
    labels: list[tuple[_Item, str, int]] = []

    def read(row: dict[str, str]) -> None:
        worker = words(row["WorkerId"]).strip()
        for k in count():
            if f"Answer.{k}" not in row:
                return
            index, context = row.get(f"Input.IDX{k}", ""), row.get(f"Input.CTX{k}", "")
            kind, text = words(row[f"Input.TYPE{k}"]), words(row[f"Input.OUT{k}"])
            logp = float(row[f"Input.LOGP{k}"].strip() or "nan")
            name = f"{task}:{len(items) + 1:04d}"
            new = _Item(name, kind.strip(), context, text, logp)
            item = items.setdefault((index, kind, context, text), new)
            labels.append((item, worker, _label(row[f"Answer.{k}"])))

    wanted = [f"Input.{name}0" for name in ("TYPE", "OUT", "LOGP", *(["CTX"] if contexts else []))]
    each(path, table(path, ["WorkerId", "Answer.0", *wanted], short=True), read)
    raters = anonymise([worker for _, worker, _ in labels])
    there = {item.type for item in items.values()}
    if types is not None and (lost := sorted(set(types) - there)):
        remedy = f"the types here are {', '.join(sorted(there))}"
        raise FormatError(f"no item has type {lost[0]!r}", path=path, remedy=remedy)

    groups: dict[tuple[str, ...], list[_Item]] = {}
    for item in items.values():
        if types is None or item.type in types:
            key = (item.context, item.text) if unit == "pair" else (item.id,)
            groups.setdefault(key, []).append(item)
    text_of = {item.id: group[0].id for group in groups.values() for item in group}
    rated = [
        (text_of[item.id], rater, label, item)
        for (item, _, label), rater in zip(labels, raters, strict=True)
        if item.id in text_of
    ]
    fifths: dict[str, list[float]] = {}
    for name, _, label, _ in rated:
        fifths.setdefault(name, []).append(label / 5)
    texts: list[dict[str, Any]] = [
        {
            "id": group[0].id,
            "context": group[0].context,
            "text": group[0].text,
            # Label by label, in the order of the file: see the head of this file.
            "quality": np.mean(fifths[group[0].id]),
            "n_ratings": len(fifths[group[0].id]),
            "system": "+".join(dict.fromkeys(_system(item.type) for item in group)),
            "type": "+".join(dict.fromkeys(item.type for item in group)),
            "logp": group[0].logp,
            "item": "+".join(item.id for item in group),
        }
        for group in groups.values()
    ]
    found = rating_table([(name, rater, label) for name, rater, label, _ in rated], SCALE)
    found["item"] = [item.id for *_, item in rated]
    found["type"] = [item.type for *_, item in rated]
    found["logp"] = np.array([item.logp for *_, item in rated], dtype=float)
    return RatedTexts(text_table(texts, ["type", "logp", "item"], ["logp"]), found, scale=SCALE)


def _label(answer: str) -> int:
    plain = " ".join(answer.split()).lower()
    digits = [str(k) for k in range(len(LABELS))]
    return digits.index(plain) if plain in digits else LABELS.index(known(plain, LABELS))


def _system(kind: str) -> str:
    """``human``, or the model's name: ``SUM`` is sum, ``LOGP_1.0.txt`` is reddit_1.0."""
    if kind.upper().startswith("HUMAN"):
        return "human"
    return re.sub(r"^logp_", "reddit_", kind.lower().removesuffix(".txt"))
