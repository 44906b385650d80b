"""A data set after its loader: two sealed tables in one folder (`refless.data.ratings`).

Stage: ratings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.ratings import RATING_COLUMNS, TEXT_COLUMNS, RatedTexts
from refless.data.wording import numbered
from refless.errors import FormatError, StaleError
from refless.store import sealed
from refless.store.files import text_sum


@dataclass(frozen=True)
class Task:
    """A data set's tables, and the record of its texts (``about``)."""

    texts: pd.DataFrame
    ratings: pd.DataFrame
    about: dict[str, Any]

    @property
    def name(self) -> str:
        """The data set's name."""
        return str(self.about["of"]["task"])

    @property
    def text_sum(self) -> str:
        """The sum of its texts, also where they are blanked; stored kernels name it."""
        return str(self.about["facts"]["text_sum"])

    @property
    def rated_sums(self) -> dict[str, str]:
        """What numbers about its rated texts hang on, for ``made_from``: texts, and quality to nine
        digits (the last bits of a mean may be another machine's own)."""
        rated = self.texts[self.texts["quality"].notna()]
        lines = (f"{i} {q:.9f}" for i, q in zip(rated["id"], rated["quality"], strict=True))
        return {"texts": self.text_sum, "quality": text_sum(lines)}

    @property
    def provenance(self) -> str:
        """``computed`` or ``shipped``."""
        return str(self.about["provenance"])

    @property
    def contexts(self) -> np.ndarray | None:
        """Numbers of the rated texts' contexts (`numbered`), each blank one its own; None where
        there is one alone. The bootstrap's draws hang on them, so shipped contexts keep them."""
        number = numbered(self.texts["context"][self.texts["quality"].notna()], apart=True)
        return number if len(set(number)) > 1 else None


def write_task(
    name: str, data: RatedTexts, folder: str | Path, sources: Mapping[str, str] | None = None
) -> None:
    """Write a loader's tables, from raw files of these sums."""
    facts = {"text_sum": text_sum(data.texts["text"].tolist())}
    made = {"made_from": dict(sources or {}), "facts": facts}
    _write(Path(folder), data.texts, data.ratings, {"kind": "texts", "of": {"task": name}, **made})


def blank_task(folder: str | Path, out: str | Path) -> None:
    """Write a task's tables once more for shipping: no text, no words, only names and numbers."""
    task = read_task(folder)
    numeric = [c for c in task.texts.select_dtypes("number").columns if c not in TEXT_COLUMNS]
    # of what a text answers, only that others answer the same
    both = zip(numbered(task.texts["context"], apart=True), task.texts["context"], strict=True)
    context = [f"c{number}" if context else "" for number, context in both]
    texts = task.texts[TEXT_COLUMNS + numeric].assign(context=context, text="")
    kept = [column for column in (*RATING_COLUMNS, "item") if column in task.ratings]
    _write(Path(out), texts, task.ratings[kept], {**task.about, "provenance": "shipped"})


def _write(
    folder: Path, texts: pd.DataFrame, ratings: pd.DataFrame, about: Mapping[str, Any]
) -> None:
    written = sealed.write(folder / "texts.csv", texts, about)
    own = {"kind": "ratings", "of": about["of"], "provenance": written["provenance"]}
    made_from = {"texts": sealed.identity(written)}
    sealed.write(folder / "ratings.csv", ratings, {**own, "made_from": made_from})


def read_task(folder: str | Path, columns: Sequence[str] = ()) -> Task:
    """A data set, from its folder, which has its name; ``columns`` are further ones that its texts
    must have."""
    folder = Path(folder)
    of = {"task": folder.name}
    texts = sealed.read(folder / "texts.csv", "texts", of=of, columns=TEXT_COLUMNS)
    if lacking := [name for name in columns if name not in texts.content]:
        remedy = f"take the experiment out of those of {folder.name} in the configuration"
        message = f"the texts have no {' and no '.join(lacking)}, which this experiment needs"
        raise FormatError(message, path=folder, remedy=remedy)
    made = {"texts": sealed.identity(texts.about)}
    path = folder / "ratings.csv"
    ratings = sealed.read(path, "ratings", of=of, made_from=made, columns=RATING_COLUMNS)
    return Task(texts.content, ratings.content, texts.about)


def read_whole_task(folder: str | Path, columns: Sequence[str] = ()) -> Task:
    """The same for what is computed from texts; StaleError if these came with refless, blanked."""
    task = read_task(folder, columns)
    if task.provenance == "shipped":
        remedy = "delete this folder and run again, which reads the raw data"
        raise StaleError("has no texts: it came with refless", path=folder, remedy=remedy)
    return task


def rated_sums(folders: Iterable[str | Path]) -> dict[str, dict[str, str]]:
    """Data set -> `Task.rated_sums`, by their folders; readers without ratings compare these."""
    return {task.name: task.rated_sums for task in map(read_task, folders)}


def text_sums(folders: Iterable[str | Path]) -> dict[str, str]:
    """Data set -> the sum of its texts, by the records alone of those whose folders are given."""
    abouts = [sealed.record_of(Path(folder) / "texts.csv") for folder in folders]
    return {str(about["of"]["task"]): str(about["facts"]["text_sum"]) for about in abouts}
