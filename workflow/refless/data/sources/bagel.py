"""BAGEL: two human utterances for each of 202 MRs of Cambridge restaurants, unrated.

Stage: ratings. For each utterance the file (Mairesse et al. 2010) has a full MR, an abstract MR
(names, places, numbers are X1, X2, ...), and the utterance with its alignment to the slots,
``-> "[name+X]X []cooks [food+Thai]Thai []food."``. They are the references of NEM's BAGEL outputs.
"""

import re
from pathlib import Path

import pandas as pd

from refless.data import mr
from refless.data.ratings import RatedTexts

_RECORD = re.compile(r'FULL_DA = (.*?)\s*\nABSTRACT_DA = (.*?)\s*\n-> "(.*)";')


def load(path: str | Path, dataset: str) -> RatedTexts:
    """Read the utterances, without alignment marks, whose ``context`` is the abstract MR; extra
    columns ``mr_full``, ``mr_abstract``, and those of `mr.references`."""
    records = _RECORD.findall(Path(path).read_text(encoding="utf-8"))
    rows = pd.DataFrame(records, columns=["mr_full", "mr_abstract", "aligned"])
    texts = rows.pop("aligned").str.replace(r"\[[^\[\]]*\]", "", regex=True).str.strip()
    rows.insert(0, "id", [f"{dataset}:{number:04d}" for number in range(1, len(rows) + 1)])
    return RatedTexts(mr.references(rows.assign(context=rows["mr_abstract"], text=texts)))
