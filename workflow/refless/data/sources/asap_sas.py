"""ASAP-SAS: short answers of pupils to ten questions (sets), scored by people. Stage: ratings.

What moves published numbers: the files are read with ``"`` quoting, as they were written (read
without, 1,263 training and 255 test essays keep quotation marks around and inside them); the
quality of a training essay is the mean of both raters; the scale is 0..3 for every set, although
six sets only use 0..2. Release 1 must not be used: its scores of set 3 are misaligned.
"""

from pathlib import Path
from typing import Literal

import pandas as pd

from refless.data.ratings import RatedTexts

HIGHEST = 3  # of the scale, for every set


def load(
    train: str | Path,
    test: str | Path,
    solution: str | Path,
    dataset: str,
    raters: Literal["both", "first"] = "both",
) -> RatedTexts:
    """Read the training essays, then the public leaderboard's, with their gold scores.

    raters : whose mean is the quality of a training essay; published is ``both``
    Returns RatedTexts : extra columns ``set``, ``part``, ``score1``, ``score2`` (NaN in the test
        part).
    """
    parts = [pd.read_csv(path, sep="\t", dtype=str, na_filter=False) for path in (train, test)]
    essays = pd.concat(parts, ignore_index=True)
    gold = pd.read_csv(solution, dtype=str, na_filter=False).set_index("id")["essay_score"]
    scores = essays[["Score1", "Score2"]].astype(float).set_axis(["score1", "score2"], axis=1)
    tested = scores["score1"].isna()
    used = ["score1", "score2"] if raters == "both" else ["score1"]
    rated = scores[used].assign(gold=essays["Id"].map(gold).where(tested).astype(float))
    number = essays["EssaySet"].astype(int)
    texts = pd.DataFrame(
        {
            "id": dataset + ":" + essays["Id"].str.zfill(5),
            "context": "set " + number.astype(str),
            "text": essays["EssayText"],
            # In this order of operations: rounding noise orders ties in table 3.
            "quality": rated.sum(axis=1) / rated.count(axis=1) / HIGHEST,
            "n_ratings": rated.count(axis=1),
            "system": "human",
            "set": number,
            "part": tested.map({False: "train", True: "test"}),
            **scores,
        }
    )
    by_id = rated.set_index(texts["id"])
    labels = by_id.melt(var_name="rater", value_name="label", ignore_index=False)
    labels = labels.dropna().loc[texts["id"]].reset_index()
    return RatedTexts(texts, labels, scale=(0, HIGHEST))
