"""ASAP-SAS: short answers of pupils to ten questions (sets), scored by people. Stage: ratings.

What moves published numbers: the files are read with ``"`` quoting, as they were written (read
without, 1,263 training and 255 test essays keep quotation marks around and inside them); the
quality of a training essay is the mean of both raters; the scale is 0..3 for every set, although
six sets only use 0..2. Release 1 must not be used: its scores of set 3 are misaligned.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from refless.data.ratings import RatedTexts, rating_table, text_table
from refless.data.sources._raw import reading, table

TOP = 3  # of the scale, for every set


def load(
    train: str | Path,
    test: str | Path,
    solution: str | Path,
    raters: Literal["both", "first"] = "both",
) -> RatedTexts:
    """Read the training essays, then the public leaderboard's, with their gold scores.

    Parameters
    ----------
    raters : quality of a training essay: ``both`` (published), the mean of two ratings, or
        ``first``

    Returns
    -------
    RatedTexts : extra columns ``set``, ``part``, ``score1`` and ``score2`` (NaN in the test part).
    """
    used = ["score1", "score2"] if raters == "both" else ["score1"]
    with reading(solution, table(solution)) as rows:
        gold = {row["id"]: int(row["essay_score"]) for row in rows}
    texts: list[dict[str, Any]] = []
    labels: list[tuple[str, str, float]] = []
    for part, path in (("train", train), ("test", test)):
        with reading(path, table(path, delimiter="\t")) as rows:
            for row in rows:
                training = part == "train"
                scores = {k: int(row[k.title()]) for k in ("score1", "score2") if training}
                given = {k: scores[k] for k in used} if training else {"gold": gold[row["Id"]]}
                if not all(0 <= score <= TOP for score in (*scores.values(), *given.values())):
                    raise ValueError(f"a score is not 0 to {TOP}")
                essay = {
                    "id": f"asap_sas:{int(row['Id']):05d}",
                    "context": f"set {int(row['EssaySet'])}",
                    "text": row["EssayText"],
                    # In this order of operations: rounding noise orders ties in table 3.
                    "quality": sum(given.values()) / len(given) / TOP,
                    "n_ratings": len(given),
                    "system": "human",
                    "set": int(row["EssaySet"]),
                    "part": part,
                }
                texts.append(essay | scores)
                labels += [(essay["id"], rater, label) for rater, label in given.items()]
    table_ = text_table(texts, ["set", "part", "score1", "score2"], ["score1", "score2"])
    return RatedTexts(table_, rating_table(labels, (0, TOP)), scale=(0, TOP))
