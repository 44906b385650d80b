"""RNNLG: human sentences for MRs about restaurants (SFRest) and hotels (SFHot), unrated.

Stage: ratings. In: ``train.json``, ``valid.json`` and ``test.json`` of one domain (Wen et al.
2015): comment lines beginning with ``#``, then an array of [MR, human reference, output of a
rule-based baseline]. Out: a `RatedTexts` without ratings: the human references of NEM's outputs.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from refless.data.ratings import RatedTexts, text_table
from refless.data.sources import mr
from refless.data.sources._raw import each, reading, words


def load(
    task: str,
    train: str | Path | None = None,
    valid: str | Path | None = None,
    test: str | Path | None = None,
) -> RatedTexts:
    """Read the parts of one domain, of which some may be left out.

    Returns
    -------
    RatedTexts : ``id`` is ``<task>:<part>:<row>``, four digits, from 1; ``context`` is the MR as
        written. Extra columns: ``part``, ``baseline`` (the baseline's output), and those of
        `mr.reference_row`. Blanks around a text are left off.

    Raises
    ------
    FormatError : a file is not in this format.
    """

    def read(one: tuple[str, int, list[str]]) -> dict[str, Any]:
        part, number, triple = one
        meaning, text, baseline = (words(value).strip() for value in triple)
        row = mr.reference_row(f"{task}:{part}:{number:04d}", meaning, text)
        return {**row, "part": part, "baseline": baseline}

    rows = []
    for part, path in (("train", train), ("valid", valid), ("test", test)):
        if path is not None:
            with reading(path):
                raw = re.sub(r"\A(#.*\n)*", "", Path(path).read_text(encoding="utf-8"))
                triples = [(n, (part, n, one)) for n, one in enumerate(json.loads(raw), start=1)]
            rows += each(path, triples, read)
    extra = ["part", "baseline", "mr_key", "mr_set", "text_nem"]
    return RatedTexts(text_table(rows, extra))
