"""A data set as the stages after the loader see it: two signed tables in one folder.

Stage: ratings. In: what a loader returned. Out: ``texts.csv`` and ``ratings.csv`` (see
`refless.data.ratings` for their columns), and the same read back, checked against each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from refless.data.ratings import RATING_COLUMNS, TEXT_COLUMNS, RatedTexts
from refless.store import signed
from refless.store.signatures import text_sum


@dataclass(frozen=True)
class Task:
    """A data set's tables and the record of its texts.

    texts, ratings : see `refless.data.ratings`
    about : record of ``texts.csv``
    """

    texts: pd.DataFrame
    ratings: pd.DataFrame
    about: dict[str, Any]

    @property
    def name(self) -> str:
        """The data set's name."""
        return str(self.about["of"]["task"])

    @property
    def text_sum(self) -> str:
        """The sum of its texts, also where they are blanked; kernels are signed with it."""
        return str(self.about["facts"]["text_sum"])

    @property
    def scale(self) -> tuple[float, float] | None:
        """The lowest and the highest label, if it has labels."""
        scale = self.about["facts"]["scale"]
        return None if scale is None else (scale[0], scale[1])

    @property
    def provenance(self) -> str:
        """``computed`` or ``shipped``."""
        return str(self.about["provenance"])

    @property
    def notes(self) -> list[str]:
        """What a table's footer has to say of the raw data."""
        lost = self.about["facts"]["malformed"]
        if not lost:
            return []
        rows = "row" if lost == 1 else "rows"
        return [f"{self.name}: {lost} malformed {rows} of the raw files skipped (`malformed_rows`)"]


def write_task(
    name: str,
    data: RatedTexts,
    folder: str | Path,
    sources: Mapping[str, str],
    settings: Mapping[str, Any],
) -> None:
    """Write a loader's tables.

    Parameters
    ----------
    sources : name of a raw file -> its SHA-256
    settings : what the loader was told
    """
    folder = Path(folder)
    about = {
        "kind": "texts",
        "of": {"task": name},
        "made_from": dict(sources),
        "settings": dict(settings),
        "facts": {
            "text_sum": text_sum(data.texts["text"].tolist()),
            "scale": data.scale,
            "malformed": len(data.problems),
        },
    }
    _write(folder, data.texts, data.ratings, about)


def blank_task(folder: str | Path, out: str | Path) -> None:
    """Write a task's tables once more for shipping: no text, no words, only names and numbers."""
    task = read_task(folder)
    numeric = [c for c in task.texts.select_dtypes("number").columns if c not in TEXT_COLUMNS]
    texts = task.texts[TEXT_COLUMNS + numeric].assign(context="", text="")
    # which item a rating is of is a name, and the reading `item` of table 1 needs it
    kept = [column for column in (*RATING_COLUMNS, "item") if column in task.ratings]
    ratings = task.ratings[kept]
    _write(Path(out), texts, ratings, {**task.about, "provenance": "shipped"})


def _write(
    folder: Path, texts: pd.DataFrame, ratings: pd.DataFrame, about: Mapping[str, Any]
) -> None:
    signed.write(folder / "texts.csv", texts, about)
    beside = signed.identity(signed.record_of(folder / "texts.csv"))
    of_ratings = {
        "kind": "ratings",
        "of": about["of"],
        "provenance": about.get("provenance", "computed"),
        "made_from": {"texts": beside},
    }
    signed.write(folder / "ratings.csv", ratings, of_ratings)


def read_task(folder: str | Path, columns: Sequence[str] = ()) -> Task:
    """Read the tables of a data set from its folder, which has its name.

    Parameters
    ----------
    columns : further columns that its texts must have

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`; or the ratings are of other texts.
    """
    folder = Path(folder)
    of = {"task": folder.name}
    texts = signed.read(folder / "texts.csv", "texts", of=of, columns=[*TEXT_COLUMNS, *columns])
    ratings = signed.read(
        folder / "ratings.csv",
        "ratings",
        of=of,
        made_from={"texts": signed.identity(texts.about)},
        columns=RATING_COLUMNS,
    )
    return Task(texts.content, ratings.content, texts.about)
