"""USR: dialogue responses of people and models, rated by three annotators on six dimensions.

Stage: ratings. A file (Mehri and Eskenazi 2020) is an array of contexts, each with its fact, its
annotators and its responses.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from refless.data.ratings import RatedTexts, anonymise, rating_table, text_table
from refless.data.sources._raw import reading

HUMANS = ("Original Ground Truth", "New Human Generated")
DIMENSIONS = ("Understandable", "Natural", "Maintains Context", "Engaging", "Uses Knowledge")
"""All but ``Overall``, which is the quality."""


def load(path: str | Path, task: str) -> RatedTexts:
    """Read the rated responses of one data set, with whose name (``task``) ids begin.

    Returns
    -------
    RatedTexts : ``quality`` is (mean of Overall - 1) / 4; ``system`` is ``human`` for both human
        references. Extra columns: ``context_id``, ``fact`` (empty where the file says ``_nofact``),
        ``model`` (as in the file) and the means of the dimensions, which ``ratings`` has one by
        one. Blanks around texts are left off (300 of 360 end with a line feed).
    """
    texts, labels, marks = [], [], []
    with reading(path, []):
        numbered = list(enumerate(json.loads(Path(path).read_text(encoding="utf-8")), start=1))
    with reading(path, numbered) as dialogues:
        for number, dialogue in enumerate(dialogues, start=1):
            fact = (dialogue.get("fact") or "").strip()
            for response in dialogue["responses"]:
                model, overall = response["model"], response["Overall"]
                own = {name.lower().replace(" ", "_"): response[name] for name in DIMENSIONS}
                if not all(1 <= label <= 5 for label in overall):
                    raise ValueError("a label of Overall is not 1 to 5")
                slug = re.sub("[^a-z0-9.]+", "-", model.lower()).strip("-")
                row = {
                    "id": f"{task}:{number:02d}:{slug}",
                    "context": dialogue["context"].strip(),
                    "context_id": f"c{number:02d}",
                    "fact": "" if fact == "_nofact" else fact,
                    "text": response["response"].strip(),
                    "quality": (np.mean(overall) - 1) / 4,
                    "n_ratings": len(overall),
                    "system": "human" if model in HUMANS else model,
                    "model": model,
                }
                texts.append(row | {name: np.mean(given) for name, given in own.items()})
                by_rater = zip(dialogue["annotators"], overall, *own.values(), strict=True)
                for rater, label, *given in by_rater:
                    labels.append((row["id"], rater, label))
                    marks.append(dict(zip(own, given, strict=True)))
    others = [name.lower().replace(" ", "_") for name in DIMENSIONS]
    rated = rating_table(labels, (1, 5)).join(pd.DataFrame(marks, columns=others, dtype=float))
    rated["rater"] = anonymise(rated["rater"])
    table = text_table(texts, ["context_id", "fact", "model", *others], others)
    return RatedTexts(table, rated, scale=(1, 5))
