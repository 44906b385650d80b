"""Any table of rated texts, with the columns of `refless.data.user_ratings`. Stage: ratings.

No data set is named here: an entry in the configuration with ``loader: table`` is a data set.
"""

import json
import math
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import Field

from refless.data import mr
from refless.data.ratings import RatedTexts, anonymise
from refless.data.text_ids import label_ids, merge_key
from refless.data.user_ratings import read_ratings
from refless.errors import FormatError


def load(
    path: str | Path,
    dataset: str,
    scale: Annotated[list[float], Field(min_length=2, max_length=2)] | None = None,
    columns: dict[str, str] | None = None,
    repeated_ratings: Literal["refuse", "mean"] = "refuse",
    raters: list[str] | None = None,
) -> RatedTexts:
    """Read one file, as `read_ratings` does.

    scale : the lowest and the highest quality that can be given (default: those in the file)
    raters : columns with one rater's ratings each, where there is no quality
    Returns RatedTexts : ``context`` is the MR where there is no context. Extra columns, where the
        file has what they need: ``context_id``; ``mr``, and those of `mr.keys`; ``references`` (a
        JSON list); ``score_*``. Without raters, ``ratings`` is empty.
    Raises FormatError: no scale is given, and all ratings are the same.
    """
    user = read_ratings(
        [path], columns=columns, scale=scale, repeated=repeated_ratings, raters=raters or []
    )
    texts = user.texts
    ratings = user.ratings
    labels = ratings["quality"] if len(ratings) else pd.Series([0.0, 1.0])
    low, high = scale or (labels.min(), labels.max())
    if not -math.inf < low < high < math.inf:
        remedy = "give the lowest and the highest rating that there can be, e.g. 1 and 5"
        raise FormatError(f"the scale is {low:g} to {high:g}", path=path, remedy=remedy)
    contexts: Any = texts.get("context", pd.Series("", texts.index))
    if "mr" in texts:
        contexts = contexts.where(contexts != "", texts["mr"])
    columns_of_texts: dict[str, Any] = {
        "id": [f"{dataset}:{row:05d}" for row in range(1, len(texts) + 1)],
        "context": contexts,
        "text": texts["text"],
        # the mean of equal ratings may be greater than they are, in its last bit
        "quality": ((texts["quality"] - low) / (high - low)).clip(0, 1),
        "n_ratings": ratings["text"].value_counts().reindex(texts.index, fill_value=0),
        "system": texts["system"].replace("", "unknown") if "system" in texts else "unknown",
    }
    rated = pd.DataFrame(columns_of_texts)
    if "context" in texts or "mr" in texts:
        numbers = label_ids(map(merge_key, contexts), separate_blank=True)
        rated["context_id"] = [f"c{number + 1:04d}" for number in numbers]
    if "mr" in texts:
        rated = rated.assign(mr=texts["mr"], **mr.keys(texts["mr"]))
    if "references" in texts:
        rated["references"] = texts["references"].map(partial(json.dumps, ensure_ascii=False))
    rated = rated.join(texts.filter(regex="^score_"))
    if not ratings["rater"].any():
        return RatedTexts(rated, scale=(low, high))
    rows = {"id": rated["id"].to_numpy()[ratings["text"]], "rater": anonymise(ratings["rater"])}
    return RatedTexts(rated, pd.DataFrame({**rows, "label": labels}), (low, high))
