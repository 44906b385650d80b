"""Small dialogues of our own, for the tests of ΔBLEU."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.ratings import RatedTexts
from refless.data.task import Task, read_task, write_task

WORDS = ["the", "a", "cat", "dog", "sat", "slept", "on", "under", "mat", "tree", "and", "it"]
SYSTEMS = ["alpha", "beta", "gamma", "delta"]


def small_texts(contexts: int = 12, seed: int = 0, humans: int = 1) -> pd.DataFrame:
    """Rated responses: the better ones share more words with the context's own sentence."""
    generator = np.random.default_rng(seed)
    rows = []
    for c in range(contexts):
        ideal = generator.choice(WORDS, 8)
        models = ["New Human Generated", "Original Ground Truth"][2 - humans :]
        for k, model in enumerate([*models, *SYSTEMS]):
            quality = 1.0 if k < humans else generator.integers(0, 13) / 12
            text = np.where(generator.random(8) < quality, ideal, generator.choice(WORDS, 8))
            rows.append(
                {
                    "id": f"t:{c}:{k}",
                    "text": " ".join(text[: generator.integers(3, 9)]) + ".",
                    "quality": quality,
                    "n_ratings": 3,
                    "system": "human" if k < humans else model,
                    "model": model,
                    "context_id": f"c{c}",
                    "context": "",
                }
            )
    return pd.DataFrame(rows)


def as_task(folder: Path, texts: pd.DataFrame, ratings: pd.DataFrame | None = None) -> Task:
    """Texts as the data set of the folder's name, written and read again."""
    texts = texts.assign(task=folder.name, context="")
    if ratings is None:
        ratings = pd.DataFrame({"id": [], "rater": [], "label": [], "rating": []})
    write_task(RatedTexts(texts, ratings), folder, {})
    return read_task(folder)


SETTINGS: dict[str, Any] = {
    "unit": 4,
    "assignments": 30,
    "draws": 100,
    "times": 2,
    "seed": 1,
    "thresholds": [0.6, 0, -1],
    "units": [1, 4],
    "orders": [1, 2, 3],
}
