"""Small data sets, written as the workflow writes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from refless.data.ratings import RatedTexts
from refless.data.task import Task, read_task, write_task


def written_task(
    folder: Path,
    texts: list[str],
    quality: np.ndarray,
    system: list[str] | None = None,
    context: list[str] | None = None,
) -> Task:
    """A data set with one rating a text (NaN: none), in a folder of its name."""
    name, n = folder.name, len(texts)
    ids = [f"{name}:{i:04d}" for i in range(n)]
    rated = ~np.isnan(quality)
    table = pd.DataFrame(
        {
            "id": ids,
            "task": name,
            "context": context or [""] * n,
            "text": texts,
            "quality": quality,
            "n_ratings": rated.astype(int),
            "system": system or [""] * n,
        }
    )
    ratings = pd.DataFrame({"id": ids, "rater": "r001", "label": quality, "rating": quality}).loc[
        rated
    ]
    write_task(name, RatedTexts(table, ratings, scale=(0, 1)), folder, {}, {})
    return read_task(folder)
