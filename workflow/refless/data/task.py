"""A data set after its loader: two sealed tables in one folder (`refless.data.ratings`).

Stage: ratings.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.ratings import RatedTexts
from refless.data.text_ids import text_ids
from refless.errors import FormatError, StaleError
from refless.store import sealed
from refless.store.records import MAKE_AGAIN, recorded_sum

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Task:
    """A data set's tables, and the ``metadata`` of its texts."""

    name: str
    texts: pd.DataFrame
    ratings: pd.DataFrame
    metadata: dict[str, Any]

    @property
    def contexts(self) -> np.ndarray | None:
        """Numbers of the rated texts' contexts (`text_ids`), each blank one its own; None if there
        is one alone. The bootstrap's draws hang on them, so shipped contexts keep them."""
        number = text_ids(self.texts["context"][self.texts["quality"].notna()], separate_blank=True)
        return number if len(set(number)) > 1 else None


def write_task(
    data: RatedTexts, folder: str | Path, raw: Mapping[str, str], provenance: str = "computed"
) -> None:
    """Write a loader's tables into a folder; ``raw`` has the sums of its raw files, by name."""
    folder = Path(folder)
    texts, ratings = folder / "texts.csv", folder / "ratings.csv"
    sealed.write(texts, data.texts, {"raw": dict(raw), "provenance": provenance})
    metadata = {"texts": recorded_sum(texts), "provenance": provenance}
    sealed.write(ratings, data.ratings, metadata)
    _log.info("%s: %d rated texts, %d ratings", folder.name, len(data.texts), len(data.ratings))


def read_task(folder: str | Path, columns: Sequence[str] = (), whole: bool = False) -> Task:
    """A data set, from its folder, which has its name; ``columns`` are further ones that its texts
    must have; ``whole``: StaleError if they came with refless, blanked."""
    folder = Path(folder)
    texts = sealed.read(folder / "texts.csv")
    if whole and texts.metadata["provenance"] == "shipped":
        remedy = "delete this folder and run again, which reads the raw data"
        raise StaleError("has no texts: it came with refless", path=folder, remedy=remedy)
    if lacking := [name for name in columns if name not in texts.content]:
        remedy = f"take the experiment out of those of {folder.name} in the configuration"
        message = f"the texts have no {' and no '.join(lacking)}, which this experiment needs"
        raise FormatError(message, path=folder, remedy=remedy)
    ratings = sealed.read(folder / "ratings.csv")
    if ratings.metadata["texts"] != recorded_sum(folder / "texts.csv"):
        raise StaleError("has ratings of other texts", path=folder, remedy=MAKE_AGAIN)
    return Task(folder.name, texts.content, ratings.content, texts.metadata)
