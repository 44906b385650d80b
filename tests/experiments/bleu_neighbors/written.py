"""Small data sets, written as the workflow writes them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from refless.data.ratings import RatedTexts
from refless.data.task import Task, read_task, write_task
from refless.experiments.bleu_neighbors.matrices import write_kernel
from refless.experiments.bleu_neighbors.neighbors import write_neighbors
from tests.workflow.small_data import sentences


def written_task(
    folder: Path,
    texts: list[str],
    quality: np.ndarray,
    context: list[str] | None = None,
    ratings: pd.DataFrame | None = None,
) -> Task:
    """A data set in a folder of its name, with one rating a text (NaN: none) if none are given."""
    ids = [f"{folder.name}:{i:04d}" for i in range(len(texts))]
    if ratings is None:
        rating = {"label": quality, "rating": quality}
        ratings = pd.DataFrame({"id": ids, "rater": "r001", **rating}).dropna()
    rated = pd.Series((~np.isnan(quality)).astype(float), ids)
    counts = ratings["id"].value_counts().reindex(ids).fillna(rated).astype(int)
    table = pd.DataFrame({"id": ids, "dataset": folder.name, "text": texts, "quality": quality})
    table = table.assign(context=context or "", n_ratings=counts.to_numpy(), system="")
    write_task(RatedTexts(table, ratings, scale=(0, 1)), folder, {})
    return read_task(folder)


def written_neighbors(folder: Path, dataset: Task, kernels: Mapping[str, float]) -> list[Path]:
    """Kernels of a data set, and what neighbors say at their taus, in files as a run has them."""
    paths = []
    for name, tau in kernels.items():
        matrix = folder / "kernels" / dataset.name / name / "1of1.npy"
        write_kernel(matrix, dataset, name, {})
        paths.append(folder / "neighbors" / dataset.name / f"{name}.csv")
        write_neighbors(paths[-1], dataset, name, [matrix], tau, {})
    return paths


def annotated_task(folder: Path) -> Task:
    """Forty texts in ten contexts, one without a rating; five annotators, one of whom gives
    everything the same label."""
    generator = np.random.default_rng(1)
    texts = sentences(40, 3)
    texts[7] = texts[3]  # equal texts stay neighbors of each other
    texts[11] = "nothing like it"
    ids = [f"{folder.name}:{i:04d}" for i in range(len(texts))]
    level = generator.integers(0, 5, len(texts))
    rows = []
    for rater in range(1, 6):
        for i in generator.permutation(len(texts)):
            if i != 5 and (generator.random() < 0.7 or rater == 1):
                label = 3 if rater == 5 else min(5, level[i] + generator.integers(0, 3))
                rows.append((ids[i], f"r{rater:03d}", float(label)))
    ratings = pd.DataFrame(rows, columns=["id", "rater", "label"])
    ratings["rating"] = ratings["label"] / 5
    quality = ratings.groupby("id")["rating"].apply(np.mean).reindex(ids).to_numpy()
    context = [f"context {i // 4}" for i in range(len(texts))]
    return written_task(folder, texts, quality, context, ratings)
