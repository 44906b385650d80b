"""HUSE: sentences by people and models, each labelled by 20 Mechanical Turk annotators.

Stage: ratings. What moves published numbers: one sentence is one pair of context and output (in the
summarization batch two of the 200 items are the same pair, which makes 199); and quality is
`numpy.mean` of label / 5 in the order of the file, whose rounding noise breaks ties. In the
annotator rows of table 1 every label is one observation, also where an annotator saw a pair twice.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from refless.data.ratings import RatedTexts, anonymise

WORDS = ("invalid", "rare", "specific", "average", "typical", "very typical")
LABELS = {name: k for k, word in enumerate(WORDS) for name in (word, str(k))}


def load(path: str | Path, dataset: str) -> RatedTexts:
    """Read one batch: a row an assignment of, say, 25 items (``Input.OUTk``, ``Answer.k``, ...).

    Returns RatedTexts : extra columns ``type`` (raw), ``logp`` (under the model; NaN where empty)
        and ``item``; of what all have that wrote a pair, ``system``, ``type`` and ``item`` are
        joined by ``+``. ``ratings`` has them of the item that was labelled.
    """
    batch = pd.read_csv(path, dtype=str, na_filter=False)
    number = int(batch.columns.str.startswith("Answer.").sum())
    labelled = pd.DataFrame(
        {
            "rater": row["WorkerId"].strip(),
            "label": LABELS[" ".join(row[f"Answer.{k}"].split()).lower()],
            "number": row.get(f"Input.IDX{k}", ""),  # counts within an assignment, and repeats
            "type": row[f"Input.TYPE{k}"].strip(),
            "context": row.get(f"Input.CTX{k}", ""),  # open-ended generation answers nothing
            "text": row[f"Input.OUT{k}"],
            "logp": float(row[f"Input.LOGP{k}"].strip() or "nan"),
        }
        for row in batch.to_dict("records")
        for k in range(number)
    )
    labelled["rater"] = anonymise(labelled["rater"])
    items = labelled.groupby(["number", "type", "context", "text"], sort=False).ngroup()
    labelled["item"] = [f"{dataset}:{item + 1:04d}" for item in items]
    labelled["id"] = labelled.groupby(["context", "text"])["item"].transform("first")
    labelled["system"] = labelled["type"].map(_system)
    rows = labelled.groupby("id")
    texts = labelled.drop_duplicates("id").set_index("id")[["context", "text", "type", "logp"]]
    texts = texts.assign(
        quality=rows["label"].agg(lambda labels: np.mean(labels.to_numpy() / 5)),
        n_ratings=rows.size(),
        **{name: rows[name].unique().str.join("+") for name in ("system", "type", "item")},
    )
    ratings = labelled[["id", "rater", "label", "item", "type", "logp"]]
    return RatedTexts(texts.reset_index(), ratings, scale=(0, 5))


def _system(kind: str) -> str:
    """``human``, or the model's name: ``SUM`` is sum, ``LOGP_1.0.txt`` is reddit_1.0."""
    model = re.sub(r"^logp_", "reddit_", kind.lower().removesuffix(".txt"))
    return "human" if model.startswith("human") else model
