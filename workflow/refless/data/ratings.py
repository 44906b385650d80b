"""The tidy tables that every source becomes: rated texts, and individual ratings. Stage: ratings.

``texts`` has a row a text: ``id`` (letters, digits and ``._:-``), ``task`` (the data set),
``context`` (what the text answers, may be empty), ``text``, ``quality`` (in [0, 1]; NaN where
nobody rated it), ``n_ratings`` and ``system`` (or ``human``).

``ratings`` has a row an individual rating, in the order of the raw file (that order decides the
rounding noise of a mean, and with it some published values): ``id`` of the text, ``rater``
(``r001``, ... in order of first appearance), ``label`` on the source's own scale, and ``rating``,
the label brought to [0, 1]. A loader may add further columns behind these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from refless.errors import FormatError

TEXT_COLUMNS = ["id", "task", "context", "text", "quality", "n_ratings", "system"]
RATING_COLUMNS = ["id", "rater", "label", "rating"]


def text_table(
    rows: Sequence[dict[str, Any]], extra: Sequence[str], numbers: Sequence[str] = ()
) -> pd.DataFrame:
    """Rows as a table of rated texts with ``extra`` columns, of which ``numbers`` are floats."""
    table = pd.DataFrame(rows, columns=[*TEXT_COLUMNS, *extra])
    return table.astype({**dict.fromkeys(["quality", *numbers], float), "n_ratings": int})


def rating_table(
    rows: Sequence[tuple[str, str, float]], scale: tuple[float, float] = (0, 1)
) -> pd.DataFrame:
    """Rows of (text's id, rater, label) as a table of ratings."""
    low, high = scale
    table = pd.DataFrame(rows, columns=RATING_COLUMNS[:3]).astype({"label": float})
    return table.assign(rating=(table["label"] - low) / (high - low))


def anonymise(raters: Iterable[str]) -> list[str]:
    """``r001``, ``r002``, ... in order of first appearance."""
    seen: dict[str, str] = {}
    return [seen.setdefault(name, f"r{len(seen) + 1:03d}") for name in raters]


@dataclass
class RatedTexts:
    """What a loader returns: the two tables, and the lowest and the highest label. Without
    ``ratings``, each quality is one label."""

    texts: pd.DataFrame
    ratings: pd.DataFrame = field(default_factory=lambda: rating_table([]))
    scale: tuple[float, float] | None = None

    def check(self) -> RatedTexts:
        """Return self if both tables keep their promises.

        Raises
        ------
        FormatError : with the first row that does not.
        """
        texts, ratings = self.texts, self.ratings
        for table, wanted in ((texts, TEXT_COLUMNS), (ratings, RATING_COLUMNS)):
            if missing := [name for name in wanted if name not in table]:
                raise FormatError(f"columns {', '.join(missing)} are missing")
        written = texts["id"].astype(str).str.fullmatch(r"[A-Za-z0-9._:\-]+")
        fits = texts["quality"].between(0, 1).where(texts["n_ratings"] > 0, texts["quality"].isna())
        for table, fine, said in (
            (texts, ~texts["id"].duplicated(), "id {id!r} stands in two rows"),
            (texts, written, "id {id!r} has characters other than letters, digits, ._:-"),
            (texts, fits, "text {id!r} has quality {quality} from {n_ratings} ratings"),
            (
                ratings,
                ratings["rating"].between(0, 1),
                "rating {rating} of text {id!r}: not 0 to 1",
            ),
            (ratings, ratings["id"].isin(texts["id"]), "rated id {id!r} has no text"),
        ):
            if not fine.all():
                raise FormatError(said.format(**table[~fine.astype(bool)].iloc[0]))
        return self


def separate_items(texts: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """One row an output, where outputs that say the same share a row.

    ``item`` names a row's outputs, joined by ``+``; in ``ratings`` it is the output that was rated.
    A row of several outputs becomes as many, each with its own ``id``, ``system``, ``quality``
    (mean rating) and ``n_ratings``. Who wrote it is what its name ends in (``<...>:<system>``), or
    the system at its place.
    """
    items = [names.split("+") for names in texts["item"]] if "item" in texts else []
    if not any(len(own) > 1 for own in items):
        return texts
    authors = [_authors(*row) for row in zip(items, texts["system"], strict=True)]
    apart = texts.assign(shared=[len(own) > 1 for own in items])
    apart["item"], apart["system"] = (pd.Series(x, texts.index) for x in (items, authors))
    apart = apart.explode(["item", "system"], ignore_index=True)
    shared, own = apart.pop("shared").astype(bool), ratings.groupby("item")["rating"]
    number = apart["item"].map(own.size()).fillna(0)
    return apart.assign(
        id=apart["item"].where(shared, apart["id"]),
        quality=apart["item"].map(own.mean()).where(shared, apart["quality"]),
        n_ratings=number.where(shared, apart["n_ratings"]).astype(np.int64),
    )


def _authors(items: Sequence[str], system: str) -> list[str]:
    """Who wrote each of a row's outputs; all of the row's systems where nothing tells."""
    names = system.split("+") if len(items) > 1 else [system]
    placed = names if len(names) == len(items) else [system] * len(items)
    ends = [item.rpartition(":")[2] for item in items]
    return [end if end in names else own for end, own in zip(ends, placed, strict=True)]
