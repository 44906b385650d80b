"""BAGEL: two human utterances for each of 202 MRs of Cambridge restaurants, unrated.

Stage: ratings. For each utterance the file (Mairesse et al. 2010) has a full MR, an abstract MR
(names, places, numbers are X1, X2, ...), and the utterance with its alignment to the slots,
``-> "[name+X]X []cooks [food+Thai]Thai []food."``. They are the references of NEM's BAGEL outputs.
"""

from __future__ import annotations

import re
from pathlib import Path

from refless.data.ratings import RatedTexts, text_table
from refless.data.sources import mr
from refless.data.sources._raw import reading

_RECORD = re.compile(r'FULL_DA = (.*?)\s*\nABSTRACT_DA = (.*?)\s*\n-> "(.*)";?\s*')


def load(path: str | Path) -> RatedTexts:
    """Read the utterances.

    Returns
    -------
    RatedTexts : ``context`` is the abstract MR; ``text`` has no alignment marks, and ``X`` for what
        the abstract MR abstracts from. Extra columns: ``mr_full``, ``mr_abstract``, and those of
        `mr.reference_row`.
    """
    texts = []
    with reading(path, []):
        records = re.split("(?m)^(?=FULL_DA)", Path(path).read_text(encoding="utf-8"))
        if len(records) == 1:
            raise ValueError("no line begins with FULL_DA")
    starts = [1 + sum(record.count("\n") for record in records[:k]) for k in range(len(records))]
    with reading(path, list(zip(starts, records, strict=True))[1:]) as rows:
        for number, record in enumerate(rows, start=1):
            if not (found := _RECORD.fullmatch(record)):
                raise ValueError("this is not a full MR, an abstract MR and an utterance")
            full, abstract, aligned = found.groups()
            text = re.sub(r"\[[^\[\]]*\]", "", aligned).strip()
            row = mr.reference_row(f"bagel:{number:04d}", abstract, text)
            texts.append({**row, "mr_full": full, "mr_abstract": abstract})
    return RatedTexts(text_table(texts, ["mr_full", "mr_abstract", *mr.REFERENCE_COLUMNS]))
