"""RNNLG: human sentences for MRs about restaurants (SFRest) and hotels (SFHot), unrated.

Stage: ratings. Each part of a domain (Wen et al. 2015) is comment lines beginning with ``#``, then
an array of [MR, human reference, output of a rule-based baseline]. They are the references of NEM's
outputs.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from refless.data.ratings import RatedTexts, text_table
from refless.data.sources import mr
from refless.data.sources._raw import reading


def load(
    task: str,
    train: str | Path | None = None,
    valid: str | Path | None = None,
    test: str | Path | None = None,
) -> RatedTexts:
    """Read the parts of one domain, of which some may be left out.

    Returns
    -------
    RatedTexts : extra columns ``part``, ``baseline``, and those of `mr.reference_row`.
    """
    texts = []
    for part, path in (("train", train), ("valid", valid), ("test", test)):
        if path is None:
            continue
        with reading(path, []):
            raw = re.sub(r"\A(#.*\n)*", "", Path(path).read_text(encoding="utf-8"))
            triples = list(enumerate(json.loads(raw), start=1))
        with reading(path, triples) as rows:
            for number, triple in enumerate(rows, start=1):
                meaning, text, baseline = (value.strip() for value in triple)
                row = mr.reference_row(f"{task}:{part}:{number:04d}", meaning, text)
                texts.append({**row, "part": part, "baseline": baseline})
    return RatedTexts(text_table(texts, ["part", "baseline", *mr.REFERENCE_COLUMNS]))
