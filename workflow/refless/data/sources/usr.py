"""USR: dialogue responses of people and models, rated by three annotators on six dimensions.

Stage: ratings. A file (Mehri and Eskenazi 2020) is an array of contexts, each with its fact, its
annotators and its responses.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from refless.data.ratings import RatedTexts, anonymise

HUMANS = ("Original Ground Truth", "New Human Generated")
DIMENSIONS = ("Understandable", "Natural", "Maintains Context", "Engaging", "Uses Knowledge")
"""All but ``Overall``, which is the quality."""


def load(path: str | Path, dataset: str) -> RatedTexts:
    """Read the rated responses.

    Returns RatedTexts : extra columns ``context_id``, ``fact`` (may be empty), ``model`` (raw) and
        the means of the dimensions, which ``ratings`` has one by one. Blanks around texts are left
        off (300 of 360 end with a line feed).
    """
    texts = []
    ratings = []
    dialogues = json.loads(Path(path).read_text(encoding="utf-8"))
    for number, dialogue in enumerate(dialogues, start=1):
        fact = (dialogue["fact"] or "").strip()
        for response in dialogue["responses"]:
            model = response["model"]
            overall = response["Overall"]
            marks = {name.lower().replace(" ", "_"): response[name] for name in DIMENSIONS}
            slug = re.sub("[^a-z0-9.]+", "-", model.lower()).strip("-")
            row = {
                "id": f"{dataset}:{number:02d}:{slug}",
                "context": dialogue["context"].strip(),
                "context_id": f"c{number:02d}",
                "fact": "" if fact == "_nofact" else fact,
                "text": response["response"].strip(),
                "quality": (np.mean(overall) - 1) / 4,
                "n_ratings": len(overall),
                "system": "human" if model in HUMANS else model,
                "model": model,
            }
            texts.append(row | {name: np.mean(labels) for name, labels in marks.items()})
            for k, rater in enumerate(dialogue["annotators"]):
                dimensions = {name: float(labels[k]) for name, labels in marks.items()}
                label = {"id": row["id"], "rater": rater, "label": overall[k]}
                ratings.append(label | dimensions)
    rated = pd.DataFrame(ratings)
    rated["rater"] = anonymise(rated["rater"])
    return RatedTexts(pd.DataFrame(texts), rated, scale=(1, 5))
