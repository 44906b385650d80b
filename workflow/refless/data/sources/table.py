"""Any table of rated texts, with the columns of `refless.data.own`. Stage: ratings.

No data set is named here: an entry in the configuration with ``loader: table`` is a data set.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from refless.data.own import Own, plain, read_ratings
from refless.data.ratings import RatedTexts, anonymise, rating_table, text_table
from refless.data.rows import Faults
from refless.data.sources import mr
from refless.data.wording import wording
from refless.errors import FormatError

UNKNOWN = "unknown"
"""The system, where there is no such column."""


def load(
    path: str | Path,
    task: str,
    scale: Sequence[float] | None = None,
    format: str = "",
    columns: Mapping[str, str] | None = None,
    repeated_ratings: str = "refuse",
) -> RatedTexts:
    """Read one file; faulty rows are problems.

    Parameters
    ----------
    task : the data set's name
    scale : lowest and highest quality that can be given. Default: those in the file.
    format, columns, repeated_ratings : as of `refless.data.own.read_ratings`

    Raises
    ------
    FormatError : the file cannot be read, or lacks text or quality; or as `tidy`.
    """
    faults = Faults()
    own = read_ratings(
        [path],
        scale=checked(scale),
        format=format,
        columns=columns,
        repeated=repeated_ratings,
        faults=faults,
    )
    data = tidy(own, task, scale)
    data.problems = faults.problems()
    return data


def checked(scale: Sequence[float] | None) -> tuple[float, float] | None:
    """A scale as it was given.

    Raises
    ------
    FormatError : it is none.
    """
    if scale is None:
        return None
    ends = [float(end) for end in scale if isinstance(end, (int, float))]
    if len(ends) != 2 or not -math.inf < ends[0] < ends[1] < math.inf:
        remedy = "give the lowest and the highest rating, e.g. scale: [1, 5]"
        raise FormatError(f"the scale is {scale!r}", remedy=remedy)
    return ends[0], ends[1]


def tidy(own: Own, task: str, scale: Sequence[float] | None = None) -> RatedTexts:
    """A user's ratings as the tables of `refless.data.ratings`.

    Returns
    -------
    ``id`` is ``<task>:<number>``; ``quality`` the mean of the ratings, each brought from the scale
    to [0, 1]; ``context`` is the MR where there is no context. Extra columns, where the file has
    what they need: ``context_id``; ``mr``, ``mr_key`` and ``mr_set`` (`mr.key`; an MR in another
    notation is its own key); ``references`` (a JSON list); ``score_*``. Without raters, ``ratings``
    is empty.

    Raises
    ------
    FormatError : no scale is given, and all ratings are the same.
    """
    given = own.ratings["quality"]
    low, high = scale or ((given.min(), given.max()) if len(given) else (0.0, 1.0))
    if low == high:
        path, remedy = own.where[0][0], "say the scale, such as 1 to 5"
        raise FormatError(
            f"every rating is {low:g}, so there is no scale", path=path, remedy=remedy
        )
    shares = ((given - low) / (high - low)).groupby(own.ratings["text"])
    # rating by rating and in the file's order, which decides the last bits
    quality = {number: np.mean(part.to_numpy()) for number, part in shares}
    contexts: dict[object, int] = {}
    names = list(map(str, own.texts))
    rows = []
    for number, values in enumerate(own.texts.itertuples(index=False, name=None)):
        row = dict(zip(names, values, strict=True))
        meaning = row.get("mr", "")
        # texts that answer nothing that is known answer nothing in common
        answered = wording(row.get("context", "")) or plain(meaning) or number
        about = {
            "id": f"{task}:{number + 1:05d}",
            "task": task,
            "context": row.get("context") or meaning,
            "quality": quality.get(number, math.nan),
            "n_ratings": len(shares.groups.get(number, [])),
            "system": row.get("system") or UNKNOWN,
            "context_id": f"c{contexts.setdefault(answered, len(contexts) + 1):04d}",
            "mr_key": _key(meaning, True),
            "mr_set": _key(meaning, False),
            "references": json.dumps(row.get("references", []), ensure_ascii=False),
        }
        rows.append(row | about)
    scores = [name for name in names if name.startswith("score_")]
    extra = ["context_id"] if {"context", "mr"} & set(names) else []
    extra += ["mr", "mr_key", "mr_set"] if "mr" in names else []
    extra += ["references"] if "references" in names else []
    table = text_table(rows, [*extra, *scores], scores)
    labels = (2 * np.array([low, high, *given]) % 1 == 0).all()
    data = RatedTexts(table, scale=(low, high) if labels else None, ends=(low, high))
    if own.ratings["rater"].any():
        single = own.ratings.assign(rater=anonymise(own.ratings["rater"].tolist()))
        single["text"] = table["id"].to_numpy()[single["text"]]
        data.ratings = rating_table(list(single.itertuples(index=False, name=None)), (low, high))
    return data


def _key(text: str, ordered: bool) -> str:
    try:
        return mr.key(text, ordered)
    except FormatError:
        return plain(text)
