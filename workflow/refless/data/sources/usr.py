"""USR: dialogue responses of people and models, rated by three annotators on six dimensions.

Stage: ratings. In: ``tc_usr_data.json`` (TopicalChat) or ``pc_usr_data.json`` (PersonaChat), an
array of contexts, each with its fact and its responses (Mehri and Eskenazi 2020). Out: a
`RatedTexts`, quality from ``Overall``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.ratings import RatedTexts, anonymise, rating_table, text_table
from refless.data.sources._raw import each, reading, whole, words

HUMANS = ("Original Ground Truth", "New Human Generated")
DIMENSIONS = {
    "Understandable": (0, 1),
    "Natural": (1, 3),
    "Maintains Context": (1, 3),
    "Engaging": (1, 3),
    "Uses Knowledge": (0, 1),
    "Overall": (1, 5),
}


def load(path: str | Path, task: str) -> RatedTexts:
    """Read the rated responses of one data set, with whose name (``task``) ids begin.

    Returns
    -------
    RatedTexts : ``id`` is ``<task>:<context>:<model>``; ``quality`` is (mean of Overall - 1) / 4;
        ``system`` is ``human`` for both human references, of which ``model`` says which one it is.
        Extra columns: ``context_id`` (``c01``, ...), ``fact`` (empty where the file says
        ``_nofact``), ``model`` (as in the file) and the means of the dimensions; in ``ratings`` the
        dimensions. Blanks around texts are left off (300 of 360 end with a line feed).

    Raises
    ------
    FormatError : the file is not in this format.
    """
    with reading(path):
        dialogues = list(enumerate(json.loads(Path(path).read_text(encoding="utf-8")), start=1))
    texts: list[dict[str, Any]] = []
    ratings: list[tuple[str, str, float]] = []
    marks: list[dict[str, int]] = []

    def read(one: tuple[int, dict[str, Any]]) -> None:
        number, dialogue = one
        fact = (dialogue.get("fact") or "").strip()
        for response in dialogue["responses"]:
            scores = {
                dimension.lower().replace(" ", "_"): [whole(v, *ends) for v in response[dimension]]
                for dimension, ends in DIMENSIONS.items()
            }
            overall, model = scores.pop("overall"), response["model"]
            name = f"{task}:{number:02d}:{re.sub('[^a-z0-9.]+', '-', model.lower()).strip('-')}"
            row = {
                "id": name,
                "context": words(dialogue["context"]).strip(),
                "context_id": f"c{number:02d}",
                "fact": "" if fact == "_nofact" else fact,
                "text": words(response["response"]).strip(),
                "quality": (np.mean(overall) - 1) / 4,
                "n_ratings": len(overall),
                "system": "human" if model in HUMANS else model,
                "model": model,
            }
            texts.append(row | {dimension: np.mean(own) for dimension, own in scores.items()})
            raters = dialogue["annotators"]
            ratings.extend((name, *one) for one in zip(raters, overall, strict=True))
            by_rater = zip(*scores.values(), strict=True)
            marks.extend(dict(zip(scores, own, strict=True)) for own in by_rater)

    each(path, ((number, (number, dialogue)) for number, dialogue in dialogues), read)
    others = list(marks[0]) if marks else []
    rated = rating_table(ratings, (1, 5)).join(pd.DataFrame(marks, dtype=float))
    rated["rater"] = anonymise(rated["rater"])
    table = text_table(texts, ["context_id", "fact", "model", *others], others)
    return RatedTexts(table, rated, scale=(1, 5))
