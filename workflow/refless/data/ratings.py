"""The tidy tables that every source becomes: rated texts, and individual ratings.

Stage: ratings. In: rows from a loader in ``refless.data.sources``. Out: two tables, checked.

``texts``, one row a rated text:

==========  =======  ===================================================================
id          str      unique in the table; made of letters, digits and ``._:-``
task        str      the data set, e.g. ``huse_summarization``
context     str      what the text answers (article, dialogue, MR, essay set), may be empty
text        str      the candidate itself
quality     float    in [0, 1], or NaN where nobody rated the text (``n_ratings`` 0)
n_ratings   int      number of human ratings behind ``quality``
system      str      who wrote it: a system's name, or ``human``
==========  =======  ===================================================================

``ratings``, one row an individual rating, in the order of the raw file (that order decides the
rounding noise of a floating-point mean, and with it some published values):

==========  =======  ===================================================================
id          str      the rated text
rater       str      ``r001``, ``r002``, ... in order of first appearance (no worker ids)
label       float    on the source's own scale, in whole numbers or halves
rating      float    the label brought to [0, 1]
==========  =======  ===================================================================

A loader may add further columns behind these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from refless.errors import FormatError, Problem

TEXT_COLUMNS = ["id", "task", "context", "text", "quality", "n_ratings", "system"]
RATING_COLUMNS = ["id", "rater", "label", "rating"]
_ID = re.compile(r"[A-Za-z0-9._:\-]+")


@dataclass
class RatedTexts:
    """What a loader returns: the two tables, the rows that it could not use, the labels' scale.

    ``scale`` is (lowest, highest label): rating = (label - lowest) / (highest - lowest). None where
    there are no labels, that is, no whole numbers or halves. Without ``ratings``, each quality is
    one label. Of a user's own files, ``ends`` are the lowest and the highest quality
    that there can be, whatever the ratings are, and ``remarks`` what to know before trusting them.
    """

    texts: pd.DataFrame
    ratings: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(
            {"id": [], "rater": [], "label": np.empty(0), "rating": np.empty(0)}
        )
    )
    problems: list[Problem] = field(default_factory=list)
    scale: tuple[float, float] | None = None
    ends: tuple[float, float] | None = None
    remarks: list[str] = field(default_factory=list)

    def check(self) -> RatedTexts:
        """Return self if both tables keep their promises.

        Raises
        ------
        FormatError : a column is missing, an id repeats, a quality or rating lies outside
            [0, 1], a rating has no text or is not its label on the scale. A loader's tables never
            should; a user's may.
        """
        _columns(self.texts, TEXT_COLUMNS, "texts")
        _columns(self.ratings, RATING_COLUMNS, "ratings")
        texts, ratings = self.texts, self.ratings
        if texts["id"].duplicated().any():
            name = texts.loc[texts["id"].duplicated(), "id"].iloc[0]
            raise FormatError(f"id {name!r} stands in two rows of the table of rated texts")
        for name in texts["id"]:
            if not _ID.fullmatch(str(name)):
                raise FormatError(f"id {name!r} has characters other than letters, digits, ._:-")
        quality = texts["quality"].to_numpy(float)
        rated = texts["n_ratings"].to_numpy(int) > 0
        bad = np.where(rated, ~((quality >= 0) & (quality <= 1)), ~np.isnan(quality))
        if bad.any():
            row = texts.iloc[int(np.flatnonzero(bad)[0])]
            raise FormatError(
                f"text {row['id']!r} has quality {row['quality']} from {row['n_ratings']} ratings;"
                " it must lie in [0, 1], or be empty where nobody rated the text"
            )
        value = ratings["rating"].to_numpy(float)
        bad = ~((value >= 0) & (value <= 1))
        if bad.any():
            row = ratings.iloc[int(np.flatnonzero(bad)[0])]
            raise FormatError(
                f"the rating of text {row['id']!r} by {row['rater']!r} is {row['rating']}; it must"
                " lie in [0, 1]"
            )
        if self.scale is not None:
            require_scale(ratings, self.scale)
        lost = set(ratings["id"]) - set(texts["id"])
        if lost:
            raise FormatError(f"{len(lost)} rated ids have no text, e.g. {min(lost)!r}")
        return self

    def require_clean(self, command: str = "", limit: int = 20) -> RatedTexts:
        """Return self if the loader met no malformed row.

        ``command`` names the one that reads a user's file; without, it is the workflow.

        Raises
        ------
        FormatError : with file and line of the first ``limit`` malformed rows.
        """
        if self.problems:
            shown = "\n  ".join(str(p) for p in self.problems[:limit])
            more = len(self.problems) - limit
            first = self.problems[0]
            help_of = "mend or remove these rows (leave the quality of an unrated text empty);"
            help_of += f" `refless {command} --help` names the columns"
            raise FormatError(
                f"{len(self.problems)} malformed rows:\n  {shown}"
                + (f"\n  ... and {more} more" if more > 0 else ""),
                path=first.path,
                line=first.line,
                remedy=help_of
                if command
                else "mend these rows, or set `malformed_rows: skip` in the configuration to"
                " go on without them (they are then listed beside the ratings)",
            )
        return self


def require_scale(ratings: pd.DataFrame, scale: tuple[float, float]) -> None:
    """Make sure that each rating is its label, brought from ``scale`` to [0, 1].

    Raises
    ------
    FormatError : with the first rating that is not.
    """
    low, high = scale
    label, rating = ratings["label"].to_numpy(float), ratings["rating"].to_numpy(float)
    bad = ~(np.abs((label - low) / (high - low) - rating) < 1e-9)
    if bad.any():
        row = ratings.iloc[int(np.flatnonzero(bad)[0])]
        raise FormatError(
            f"label {row['label']} of text {row['id']!r} by {row['rater']!r} does not give rating"
            f" {row['rating']} on the scale from {low:g} to {high:g}"
        )


def separate_items(texts: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """One row an output, where outputs that say the same share a row.

    Parameters
    ----------
    texts, ratings : tidy tables; where ``texts`` has no column ``item`` they are apart already.
        ``item`` names a row's outputs, joined by ``+``, and ``ratings`` has the output that was
        rated under the same name. Who wrote an output is what its name ends in
        (``<...>:<system>``); where that is none of the row's systems, the system at its place.

    Returns
    -------
    The rows of ``texts``; one of several outputs becomes as many, each with its own ``id``,
    ``system``, ``quality`` (mean rating) and ``n_ratings``; other columns are repeated.
    """
    if "item" not in texts or not texts["item"].str.contains("+", regex=False).any():
        return texts
    shared = texts["item"].str.contains("+", regex=False).to_numpy()
    items = texts["item"].str.split("+")
    authors = [_authors(*row) for row in zip(items, texts["system"], strict=True)]
    system = pd.Series(authors, texts.index, dtype=object)
    apart = texts.assign(item=items, system=system).explode(["item", "system"])
    split = np.repeat(shared, [len(own) for own in authors])
    own = ratings.groupby("item")["rating"]
    mean, number = (s.reindex(apart["item"]).to_numpy() for s in (own.mean(), own.size()))
    return apart.assign(
        id=np.where(split, apart["item"], apart["id"]),
        quality=np.where(split, mean, apart["quality"]),
        n_ratings=np.where(split, np.nan_to_num(number), apart["n_ratings"]).astype(np.int64),
    ).reset_index(drop=True)


def _authors(items: Sequence[str], system: str) -> list[str]:
    """Who wrote each of a row's outputs; all of the row's systems where nothing tells."""
    names = system.split("+")
    placed = names if len(names) == len(items) else [system] * len(items)
    ends = [item.rpartition(":")[2] for item in items]
    return [end if end in names else own for end, own in zip(ends, placed, strict=True)]


def anonymise(raters: Sequence[str]) -> list[str]:
    """``r001``, ``r002``, ... in order of first appearance."""
    seen: dict[str, str] = {}
    return [seen.setdefault(name, f"r{len(seen) + 1:03d}") for name in raters]


def text_table(
    rows: Sequence[dict[str, Any]], extra: Sequence[str], numbers: Sequence[str] = ()
) -> pd.DataFrame:
    """Rows as a table of rated texts with ``extra`` columns, of which ``numbers`` are floats."""
    table = pd.DataFrame(rows, columns=[*TEXT_COLUMNS, *extra])
    return table.astype({**dict.fromkeys(["quality", *numbers], float), "n_ratings": int})


def rating_table(
    rows: Sequence[tuple[str, str, float]], scale: tuple[float, float]
) -> pd.DataFrame:
    """Rows of (text's id, rater, label) as a table of ratings."""
    low, high = scale
    label = np.array([label for _, _, label in rows], dtype=float)
    return pd.DataFrame(
        {
            "id": [name for name, _, _ in rows],
            "rater": [rater for _, rater, _ in rows],
            "label": label,
            "rating": (label - low) / (high - low),
        }
    )


def _columns(table: pd.DataFrame, wanted: list[str], where: str) -> None:
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise FormatError(
            f"columns {', '.join(missing)} are missing"
            f" (found: {', '.join(map(str, table.columns))})",
            path=where,
        )
