"""RNNLG: human sentences for MRs about restaurants (SFRest) and hotels (SFHot), unrated.

Stage: ratings. Each part of a domain (Wen et al. 2015) is comment lines beginning with ``#``, then
an array of [MR, human reference, output of a rule-based baseline]. They are the references of NEM's
outputs.
"""

import json
import re
from pathlib import Path

import pandas as pd

from refless.data import mr
from refless.data.ratings import RatedTexts


def load(train: str | Path, valid: str | Path, test: str | Path, dataset: str) -> RatedTexts:
    """Read the parts of one domain; extra columns ``part``, ``baseline``, and those of
    `mr.references`."""
    rows = []
    for part, path in (("train", train), ("valid", valid), ("test", test)):
        raw = re.sub(r"\A(#.*\n)*", "", Path(path).read_text(encoding="utf-8"))
        for number, triple in enumerate(json.loads(raw), start=1):
            meaning, text, baseline = (value.strip() for value in triple)
            rows.append((f"{dataset}:{part}:{number:04d}", meaning, text, part, baseline))
    texts = pd.DataFrame(rows, columns=["id", "context", "text", "part", "baseline"])
    return RatedTexts(mr.references(texts))
