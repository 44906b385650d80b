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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from refless.errors import FormatError, Problem

TEXT_COLUMNS = ["id", "task", "context", "text", "quality", "n_ratings", "system"]
RATING_COLUMNS = ["id", "rater", "label", "rating"]


def _no_ratings() -> pd.DataFrame:
    return pd.DataFrame({"id": [], "rater": [], "label": np.empty(0), "rating": np.empty(0)})


@dataclass
class RatedTexts:
    """What a loader returns: the two tables, and the labels' scale.

    ``scale`` is (lowest, highest label): rating = (label - lowest) / (highest - lowest). None where
    there are no labels, that is, no whole numbers or halves. Without ``ratings``, each quality is
    one label. Of a user's own files, ``problems`` are rows that make no sense, ``ends`` the lowest
    and the highest quality that there can be.
    """

    texts: pd.DataFrame
    ratings: pd.DataFrame = field(default_factory=_no_ratings)
    problems: list[Problem] = field(default_factory=list)
    scale: tuple[float, float] | None = None
    ends: tuple[float, float] | None = None

    def check(self) -> RatedTexts:
        """Return self if both tables keep their promises.

        Raises
        ------
        FormatError : a column is missing, an id repeats, a quality or rating lies outside
            [0, 1], a rating has no text or is not its label on the scale.
        """
        texts, ratings = self.texts, self.ratings
        for table, wanted in ((texts, TEXT_COLUMNS), (ratings, RATING_COLUMNS)):
            if missing := [name for name in wanted if name not in table]:
                raise FormatError(f"columns {', '.join(missing)} are missing")
        _refuse(texts, texts["id"].duplicated(), "id {id!r} stands in two rows")
        unfit: Any = ~texts["id"].astype(str).str.fullmatch(r"[A-Za-z0-9._:\-]+")
        _refuse(texts, unfit, "id {id!r} has characters other than letters, digits, ._:-")
        rated = texts["n_ratings"] > 0
        unfit = np.where(rated, ~texts["quality"].between(0, 1), texts["quality"].notna())
        said = "text {id!r} has quality {quality} from {n_ratings} ratings; it must lie in [0, 1],"
        _refuse(texts, unfit, said + " or be empty where nobody rated the text")
        unfit = ~ratings["rating"].between(0, 1)
        _refuse(ratings, unfit, "rating {rating} of text {id!r} by {rater!r} is not in [0, 1]")
        if self.scale is not None:
            require_scale(ratings, self.scale)
        _refuse(ratings, ~ratings["id"].isin(texts["id"]), "rated id {id!r} has no text")
        return self

    def require_clean(self, command: str = "", limit: int = 20) -> RatedTexts:
        """Return self if no row of a user's own file is malformed.

        Raises
        ------
        FormatError : with file and line of the first ``limit`` malformed rows.
        """
        if self.problems:
            shown = "\n  ".join(map(str, self.problems[:limit]))
            more = len(self.problems) - limit
            first = self.problems[0]
            raise FormatError(
                f"{len(self.problems)} malformed rows:\n  {shown}"
                + (f"\n  ... and {more} more" if more > 0 else ""),
                path=first.path,
                line=first.line,
                remedy="mend or remove these rows (leave the quality of an unrated text empty);"
                f" `refless {command or 'compare'} --help` names the columns",
            )
        return self


def _refuse(table: pd.DataFrame, unfit: Any, said: str) -> None:
    """Raise FormatError, if rows are ``unfit``, with what is ``said`` of the first one."""
    if np.any(unfit):
        raise FormatError(said.format(**table[np.asarray(unfit, bool)].iloc[0]))


def require_scale(ratings: pd.DataFrame, scale: tuple[float, float]) -> None:
    """Make sure that each rating is its label, brought from ``scale`` to [0, 1]."""
    low, high = scale
    label, rating = ratings["label"].to_numpy(float), ratings["rating"].to_numpy(float)
    unfit = ~(np.abs((label - low) / (high - low) - rating) < 1e-9)
    said = "label {label} of text {id!r} by {rater!r} does not give rating {rating}"
    _refuse(ratings, unfit, f"{said} on the scale from {low:g} to {high:g}")


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


def anonymise(raters: Iterable[str]) -> list[str]:
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
    table = pd.DataFrame(rows, columns=RATING_COLUMNS[:3]).astype({"label": float})
    return table.assign(rating=(table["label"] - low) / (high - low))
