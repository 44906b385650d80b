"""The tidy tables that every source becomes: rated texts, and individual ratings. Stage: ratings.

``texts`` has a row a text: ``id``, ``dataset`` (its name), ``context`` (what the text answers, may
be empty), ``text``, ``quality`` (in [0, 1]; NaN where nobody rated it), ``n_ratings`` and
``system`` (or ``human``). ``ratings`` has a row a rating, in the order of the raw file (it decides
the last bits of a mean): ``id`` of the text, ``rater``, ``label`` on the source's own scale, and
``rating``, the label brought to [0, 1]. A loader may add columns behind these.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from refless.errors import FormatError

TEXT_COLUMNS = ["id", "dataset", "context", "text", "quality", "n_ratings", "system"]
RATING_COLUMNS = ["id", "rater", "label", "rating"]


def anonymise(raters: Iterable[str]) -> list[str]:
    """``r001``, ``r002``, ... in order of first appearance."""
    labels: dict[str, str] = {}
    return [labels.setdefault(name, f"r{len(labels) + 1:03d}") for name in raters]


@dataclass
class RatedTexts:
    """What a loader returns: the two tables, and the lowest and the highest label. Without
    ``ratings``, each quality is one label. `tidied` adds the columns ``dataset`` and ``rating``."""

    texts: pd.DataFrame
    ratings: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=RATING_COLUMNS))
    scale: tuple[float, float] = (0.0, 1.0)

    def tidied(self, dataset: str) -> "RatedTexts":
        """The tables with all their columns in order; FormatError names the first wrong text."""
        low, high = self.scale
        texts = self.texts.assign(dataset=dataset).astype({"quality": float, "n_ratings": int})
        ratings = self.ratings.astype({"label": float})
        ratings["rating"] = (ratings["label"] - low) / (high - low)
        quality = texts["quality"]
        fits = quality.between(0, 1).where(texts["n_ratings"] > 0, quality.isna())
        for table, valid, fault in (
            (texts, ~texts["id"].duplicated(), "stands in two rows"),
            (texts, fits, "has a quality that is not 0 to 1, or one without ratings"),
            (ratings, ratings["rating"].between(0, 1), "has a rating that is beyond the scale"),
            (ratings, ratings["id"].isin(texts["id"]), "is rated and has no text"),
        ):
            if not valid.all():
                raise FormatError(f"text {table.loc[~valid, 'id'].iloc[0]} {fault}")
        texts, ratings = _in_order(texts, TEXT_COLUMNS), _in_order(ratings, RATING_COLUMNS)
        return RatedTexts(texts, ratings, self.scale)


def _in_order(table: pd.DataFrame, first: list[str]) -> pd.DataFrame:
    return table[[*first, *table.columns.difference(first, sort=False)]]


def separate_items(texts: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """One row per output, from a table in which equal outputs share a row.

    ``item`` names a row's outputs, joined by ``+``; in ``ratings`` it is the output that was rated.
    A row of several outputs becomes as many, each with its own ``id``, ``system``, ``quality``
    (mean rating) and ``n_ratings``. Its system is the one at its place, or all of the row's where
    these are not as many.
    """
    if "item" not in texts:
        return texts
    items = [names.split("+") for names in texts["item"]]
    systems = [names.split("+") for names in texts["system"]]
    for row, outputs in enumerate(items):
        if len(systems[row]) != len(outputs):
            systems[row] = [texts["system"].iloc[row]] * len(outputs)
    lists: dict[str, Any] = {"item": items, "system": systems}
    apart = texts.assign(**lists, shared=[len(outputs) > 1 for outputs in items])
    apart = apart.explode(["item", "system"], ignore_index=True)
    shared, rated = apart.pop("shared"), ratings.groupby("item")["rating"]
    number = apart["item"].map(rated.size()).fillna(0).astype(int)
    return apart.assign(
        id=apart["item"],
        quality=apart["item"].map(rated.mean()).where(shared, apart["quality"]),
        n_ratings=number.where(shared, apart["n_ratings"]),
    )
