"""A data set after its loader: two sealed tables in one folder. Stage: ratings.

Their columns are those of `refless.data.ratings`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.ratings import RATING_COLUMNS, TEXT_COLUMNS, RatedTexts
from refless.data.wording import wording
from refless.errors import FormatError, StaleError
from refless.store import sealed


@dataclass(frozen=True)
class Task:
    """A data set's tables, and the record of its texts (``about``)."""

    name: str
    texts: pd.DataFrame
    ratings: pd.DataFrame
    about: dict[str, Any]

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest rating that there can be; (0, 1) where nobody says."""
        low, high = self.about["facts"]["scale"] or (0.0, 1.0)
        return low, high

    @property
    def provenance(self) -> str:
        """``computed`` or ``shipped``."""
        return str(self.about["provenance"])

    @property
    def contexts(self) -> np.ndarray | None:
        """`numbered` contexts of the rated texts; None where there is one alone. The draws of a
        bootstrap hang on these numbers, so shipped contexts keep them."""
        number = numbered(self.texts["context"][self.texts["quality"].notna()])
        return number if len(set(number)) > 1 else None


def numbered(contexts: Iterable[str]) -> np.ndarray:
    """Number of each context by first appearance, int64 (n,): one for all of one `wording`, and for
    each blank one its own, since nothing in common is known of what they answer."""
    first: dict[object, int] = {}
    named = (wording(context) or row for row, context in enumerate(contexts))
    return np.array([first.setdefault(name, len(first)) for name in named], np.int64)


def write_task(data: RatedTexts, folder: str | Path, raw: Mapping[str, str]) -> None:
    """Write a loader's tables; ``raw`` has the sums of the raw files, by name."""
    _write(Path(folder), data, {"raw": dict(raw), "scale": data.scale})


def blank_task(folder: str | Path, out: str | Path) -> None:
    """Write a task's tables once more for shipping: no text, no words, only names and numbers."""
    task = read_task(folder)
    numeric = [c for c in task.texts.select_dtypes("number").columns if c not in TEXT_COLUMNS]
    # of what a text answers, only that others answer the same
    both = zip(numbered(task.texts["context"]), task.texts["context"], strict=True)
    context = [f"c{number}" if context else "" for number, context in both]
    texts = task.texts[TEXT_COLUMNS + numeric].assign(context=context, text="")
    kept = [column for column in (*RATING_COLUMNS, "item") if column in task.ratings]
    data = RatedTexts(texts, task.ratings[kept])
    _write(Path(out), data, task.about["facts"], provenance="shipped")


def _write(
    folder: Path, data: RatedTexts, facts: Mapping[str, Any], provenance: str = "computed"
) -> None:
    written = sealed.write(folder / "texts.csv", data.texts, facts, provenance=provenance)
    of = {"texts": written["content"]}
    sealed.write(folder / "ratings.csv", data.ratings, of, provenance=provenance)


def read_task(folder: str | Path, columns: Sequence[str] = ()) -> Task:
    """A data set, from its folder, which has its name; ``columns`` are further ones that its texts
    must have."""
    folder = Path(folder)
    texts = sealed.read(folder / "texts.csv")
    if lacking := [name for name in columns if name not in texts.content]:
        remedy = f"take the experiment out of those of {folder.name} in the configuration"
        message = f"the texts have no {' and no '.join(lacking)}, which this experiment needs"
        raise FormatError(message, path=folder, remedy=remedy)
    ratings = sealed.read(folder / "ratings.csv")
    if ratings.about["facts"]["texts"] != texts.about["content"]:
        raise StaleError("has ratings of other texts", path=folder, remedy=sealed.AGAIN)
    return Task(folder.name, texts.content, ratings.content, texts.about)


def read_whole_task(folder: str | Path, columns: Sequence[str] = ()) -> Task:
    """The same for what is computed from texts; StaleError if these came with refless, blanked."""
    task = read_task(folder, columns)
    if task.provenance == "shipped":
        remedy = "delete this folder and run again, which reads the raw data"
        raise StaleError("has no texts: it came with refless", path=folder, remedy=remedy)
    return task
