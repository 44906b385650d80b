"""HUSE: sentences by people and models, each labelled by 20 Mechanical Turk annotators.

Stage: ratings. A batch file has one row an assignment of, say, 25 items: ``Input.IDXk``, ``CTXk``,
``TYPEk``, ``OUTk``, ``LOGPk`` and ``Answer.k`` for k = 0, 1, ...

What moves published numbers: one sentence is one pair of context and output (``unit="pair"``; in
the summarization batch two of the 200 items are the same pair, which makes 199); and quality is
`numpy.mean` of label / 5 in the order of the file, whose rounding noise breaks ties. In the
annotator rows of table 1 every label is one observation, also where an annotator saw a pair twice.
"""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from refless.data.ratings import RatedTexts, anonymise, rating_table, text_table
from refless.data.sources._raw import reading, table

WORDS = ("invalid", "rare", "specific", "average", "typical", "very typical")
LABELS = {name: k for k, word in enumerate(WORDS) for name in (word, str(k))}
SCALE = (0, len(WORDS) - 1)


def load(
    path: str | Path,
    task: str,
    unit: Literal["pair", "item"] = "pair",
    contexts: bool = True,
) -> RatedTexts:
    """Read one batch, texts in order of first appearance, labels in that of the file.

    Parameters
    ----------
    task : the data set's name, with which ids begin
    unit : what one sentence is. ``pair`` (published): one context and output, so items that are
        the same pair share a row and its labels. ``item``: one item, known by its IDX, TYPE,
        context and output (IDX alone counts within a Mechanical Turk task and repeats).
    contexts : False lets the batch lack its context columns: open-ended generation answers
        nothing.

    Returns
    -------
    RatedTexts : ``system`` is ``human`` or the model (``sum``, ``lm``, ``reddit_1.0``), of a pair
        all that wrote it, joined by ``+``. Extra columns: ``type`` (raw), ``logp`` (under the
        model; NaN where empty) and ``item`` (ids of the row's items, joined by ``+``); in
        ``ratings`` those of the item that was labelled.
    """
    items: dict[tuple[str, ...], dict[str, Any]] = {}
    given: list[tuple[dict[str, Any], str, int]] = []
    with reading(path, table(path, short=True)) as rows:
        for row in rows:
            for k in count():
                if f"Answer.{k}" not in row:
                    break
                context = row[f"Input.CTX{k}"] if contexts else row.get(f"Input.CTX{k}", "")
                kind, text = row[f"Input.TYPE{k}"], row[f"Input.OUT{k}"]
                logp = float(row[f"Input.LOGP{k}"].strip() or "nan")
                new = {"item": f"{task}:{len(items) + 1:04d}", "type": kind.strip(), "logp": logp}
                key = (row.get(f"Input.IDX{k}", ""), kind, context, text)
                item = items.setdefault(key, {**new, "context": context, "text": text})
                label = LABELS[" ".join(row[f"Answer.{k}"].split()).lower()]
                given.append((item, row["WorkerId"].strip(), label))
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for item in items.values():
        same = (item["context"], item["text"]) if unit == "pair" else (item["item"],)
        groups.setdefault(same, []).append(item)
    text_of = {item["item"]: own[0]["item"] for own in groups.values() for item in own}
    raters = anonymise(worker for _, worker, _ in given)
    rated = [
        (item, (text_of[item["item"]], rater, label))
        for (item, _, label), rater in zip(given, raters, strict=True)
    ]
    fifths: dict[str, list[float]] = {}
    for _, (name, _, label) in rated:
        fifths.setdefault(name, []).append(label / 5)
    texts = [
        {
            **own[0],
            "id": own[0]["item"],
            "quality": np.mean(fifths[own[0]["item"]]),
            "n_ratings": len(fifths[own[0]["item"]]),
            "system": "+".join(dict.fromkeys(_system(item["type"]) for item in own)),
            "type": "+".join(dict.fromkeys(item["type"] for item in own)),
            "item": "+".join(item["item"] for item in own),
        }
        for own in groups.values()
    ]
    about = pd.DataFrame([item for item, _ in rated], columns=["item", "type", "logp"])
    ratings = rating_table([row for _, row in rated], SCALE).join(about)
    return RatedTexts(text_table(texts, ["type", "logp", "item"], ["logp"]), ratings, scale=SCALE)


def _system(kind: str) -> str:
    """``human``, or the model's name: ``SUM`` is sum, ``LOGP_1.0.txt`` is reddit_1.0."""
    model = re.sub(r"^logp_", "reddit_", kind.lower().removesuffix(".txt"))
    return "human" if kind.upper().startswith("HUMAN") else model
