"""Any table of rated texts, with the columns of `refless.data.own`. Stage: ratings.

No data set is named here: an entry in the configuration with ``loader: table`` is a data set.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from refless.data.own import Own, plain, read_ratings
from refless.data.ratings import TEXT_COLUMNS, RatedTexts, anonymise, rating_table
from refless.data.sources import mr
from refless.data.wording import wording
from refless.errors import FormatError


def load(
    path: str | Path,
    task: str,
    scale: list[float] | None = None,
    format: str = "",
    columns: dict[str, str] | None = None,
    repeated_ratings: Literal["refuse", "mean"] = "refuse",
) -> RatedTexts:
    """Read one file; ``scale`` is the lowest and the highest quality that can be given (default:
    those in the file), ``format``, ``columns`` and ``repeated_ratings`` are as of `read_ratings`.
    """
    if scale is not None:
        _require_scale(scale, path)
    named = {"scale": scale, "format": format, "columns": columns, "repeated": repeated_ratings}
    return tidy(read_ratings([path], **named), task, scale)  # type: ignore[arg-type]


def _require_scale(scale: Sequence[float], path: str | Path) -> None:
    if len(scale) != 2 or not -math.inf < scale[0] < scale[1] < math.inf:
        remedy = "give the lowest and the highest rating that there can be, e.g. 1 and 5"
        said = " to ".join(f"{end:g}" for end in scale)
        raise FormatError(f"the ratings have no scale: {said}", path=path, remedy=remedy)


def tidy(own: Own, task: str, scale: Sequence[float] | None = None) -> RatedTexts:
    """A user's ratings as the tables of `refless.data.ratings`.

    Returns
    -------
    ``quality`` is the mean of the ratings, each brought from the scale to [0, 1]; ``context`` the
    MR where there is no context; ``system`` may be ``unknown``. Extra columns, where the file has
    what they need: ``context_id``; ``mr``, ``mr_key`` and ``mr_set`` (`mr.key`; an MR in another
    notation is its own key); ``references`` (a JSON list); ``score_*``. Without raters, ``ratings``
    is empty.

    Raises
    ------
    FormatError : no scale is given, and all ratings are the same.
    """
    given = own.ratings["quality"]
    ends = scale or ([given.min(), given.max()] if len(given) else [0, 1])
    _require_scale(ends, own.where[0][0])
    low, high = map(float, ends)
    texts, ids = own.texts.copy(), [f"{task}:{k + 1:05d}" for k in range(len(own.texts))]
    shares: list[list[float]] = [[] for _ in ids]
    for number, share in zip(own.ratings["text"], (given - low) / (high - low), strict=True):
        shares[number].append(share)
    contexts, mrs = (
        texts[name].tolist() if name in texts else [""] * len(ids) for name in ("context", "mr")
    )
    # texts that answer nothing that is known answer nothing in common
    answers = (
        wording(c) or plain(m) or k for k, (c, m) in enumerate(zip(contexts, mrs, strict=True))
    )
    first: dict[object, int] = {}
    found = texts.assign(
        id=ids,
        task=task,
        context=[context or meaning for context, meaning in zip(contexts, mrs, strict=True)],
        # rating by rating and in the file's order, which decides the last bits
        quality=[np.mean(one) if one else math.nan for one in shares],
        n_ratings=list(map(len, shares)),
        system=texts["system"].replace("", "unknown") if "system" in texts else "unknown",
        context_id=[f"c{first.setdefault(one, len(first) + 1):04d}" for one in answers],
        mr_key=[_key(meaning, True) for meaning in mrs],
        mr_set=[_key(meaning, False) for meaning in mrs],
    )
    extra = ["context_id"] if {"context", "mr"} & set(texts) else []
    extra += ["mr", "mr_key", "mr_set"] if "mr" in texts else []
    if "references" in texts:
        found["references"] = [json.dumps(one, ensure_ascii=False) for one in texts["references"]]
        extra += ["references"]
    extra += [name for name in map(str, texts) if name.startswith("score_")]
    data = RatedTexts(found[[*TEXT_COLUMNS, *extra]], scale=(low, high))
    if own.ratings["rater"].any():
        who = [np.array(ids)[own.ratings["text"]], anonymise(own.ratings["rater"]), given]
        data.ratings = rating_table(list(zip(*who, strict=True)), (low, high))
    return data


def _key(text: str, ordered: bool) -> str:
    try:
        return mr.key(text, ordered)
    except FormatError:
        return plain(text)
