"""ASAP-SAS: short answers of pupils to ten questions (sets), scored by people.

Stage: ratings. In: release 2 of the training essays, of the public leaderboard's essays (both
tab-separated) and the leaderboard's gold scores (CSV). Out: a `RatedTexts`, training part first.

What moves published numbers: the files are read with ``"`` quoting, as they were written (read
without, 1,263 training and 255 test essays keep quotation marks around and inside them); the
quality of a training essay is the mean of both raters; the scale is 0..3 for every set, although
six sets only use 0..2. Release 1 must not be used: its scores of set 3 are misaligned.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from refless.data.ratings import RatedTexts, rating_table, text_table
from refless.data.sources._raw import each, table, whole, words

TOP = 3  # of the scale, for every set


def load(
    train: str | Path,
    test: str | Path,
    solution: str | Path,
    raters: Literal["both", "first"] = "both",
    quoting: bool = True,
) -> RatedTexts:
    """Read both parts.

    Parameters
    ----------
    train, test, solution : ``train_rel_2.tsv``, ``public_leaderboard_rel_2.tsv``, and
        ``public_leaderboard_solution.csv``, joined to ``test`` on the essay's id
    raters : quality of a training essay: ``both`` (published), the mean of two ratings, or
        ``first``
    quoting : False reads a quotation mark as a character like any other

    Returns
    -------
    RatedTexts : ``id`` is ``asap_sas:<the essay's own id>``, five digits. Extra columns: ``set``
        (1..10), ``part`` (``train`` or ``test``), ``score1`` and ``score2`` (NaN in the test part).
        Raters are ``score1``, ``score2`` and, for the test part, ``gold``.

    Raises
    ------
    FormatError : one of the files is not in its format.
    """
    used = ["score1", "score2"] if raters == "both" else ["score1"]

    def gold_score(row: dict[str, str]) -> tuple[str, int]:
        return row["id"].strip(), whole(row["essay_score"], 0, TOP)

    gold = dict(each(solution, table(solution, ["id", "essay_score"]), gold_score))

    def training(row: dict[str, str]) -> dict[str, Any]:
        scores = {name: whole(row[name.title()], 0, TOP) for name in ("score1", "score2")}
        return _essay(row, "train", [scores[name] for name in used]) | scores

    def tested(row: dict[str, str]) -> dict[str, Any]:
        return _essay(row, "test", [gold[row["Id"].strip()]])

    columns = ["Id", "EssaySet", "EssayText"]
    texts = []
    for path, wanted, read in ((train, ["Score1", "Score2"], training), (test, [], tested)):
        rows = table(path, [*columns, *wanted], delimiter="\t", quoting=quoting)
        texts += each(path, rows, read)
    labels = []
    for row in texts:
        names = used if row["part"] == "train" else ["gold"]
        labels += [(row["id"], *one) for one in zip(names, row.pop("counted"), strict=True)]
    extra = ["set", "part", "score1", "score2"]
    scale = (0, TOP)
    rated = rating_table(labels, scale)
    return RatedTexts(text_table(texts, extra, extra[2:]), rated, scale=scale)


def _essay(row: dict[str, str], part: str, counted: list[int]) -> dict[str, Any]:
    number = whole(row["EssaySet"], 1, 10)
    return {
        "id": f"asap_sas:{int(row['Id']):05d}",
        "context": f"set {number}",
        "text": words(row["EssayText"]),
        # In this order of operations: rounding noise orders ties in table 3.
        "quality": sum(counted) / len(counted) / TOP,
        "n_ratings": len(counted),
        "system": "human",
        "set": number,
        "part": part,
        "counted": counted,
    }
