"""DSTC7 task 2: replies of ten systems and of people to 1,000 Reddit contexts, rated by judges.

Stage: ratings. The rated human response is the system ``Human`` of the responses file, lower-cased
and detokenised as the machines' are (here ``human``); the gold references are not read. TeamEC has
3,000 ratings and no texts: in all likelihood it is TeamCE's system, rated twice (see docs/data.md):
they are left out.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from refless.data.ratings import RatedTexts, anonymise, text_table
from refless.data.sources._raw import reading, table

LOW, HIGH = 1, 5
MARKS = ["relevance", "informativeness"]
MEMBER = "dstc7-task2-human_eval/dstc7-task2-{}.tsv"


def load(
    path: str | Path,
    quality: Literal[
        "relevance_informativeness_mean", "relevance", "informativeness"
    ] = "relevance_informativeness_mean",
    unit: Literal["pair", "output"] = "pair",
) -> RatedTexts:
    """Read the rated responses, in the order of the responses file.

    Parameters
    ----------
    path : the archive, which is not unpacked to disk
    quality : what a judge's label is: the mean of relevance and informativeness (as the
        organisers report), or one of the two
    unit : what one text is. ``pair``: one context and text, so outputs that are the same pair
        share a row and their judges' labels. ``output``: one output of one system.

    Returns
    -------
    RatedTexts : ``context`` is the passage that the dialogue is about (several share one);
        ``system`` names all systems of the row, joined by ``+``. Extra columns: ``context_id``,
        ``relevance`` and ``informativeness`` (means on 1..5), ``item`` (ids of the row's outputs,
        joined by ``+``). ``ratings`` has a row a judgment, in the order of the file, with
        ``relevance``, ``informativeness`` and ``item``, the output.
    """

    def member(name: str) -> Any:
        return reading(path, table(path, MEMBER.format(name), delimiter="\t", quoting=False))

    with member("context") as rows:
        contexts = {row["InstanceID"]: row["Context"] for row in rows}
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    text_of: dict[str, str] = {}
    with member("system_responses") as rows:
        for row in rows:
            of, text, system = row["InstanceID"], row["Response"], row["SystemID"]
            key = (of, text) if unit == "pair" else (of, system)
            item = _item(of, system)
            group = groups.setdefault(key, [])
            group.append({**row, "system": item.rpartition(":")[2], "item": item})
            text_of[item] = group[0]["item"]
    judged: list[tuple[str, str, str, float, float]] = []
    with member("human-eval-per-judge") as rows:
        for row in rows:
            system = row["SystemID"]
            if system == "TeamEC":
                continue
            item = _item(row["InstanceID"], system)
            marks = int(row["Relevance"]), int(row["Informativeness"])
            if not all(LOW <= mark <= HIGH for mark in marks):
                raise ValueError(f"a mark is not {LOW} to {HIGH}")
            judged.append((text_of[item], item, row["JudgeID"], *marks))

    ratings = pd.DataFrame(judged, columns=["id", "item", "rater", *MARKS])
    ratings = ratings.astype(dict.fromkeys(MARKS, float))
    ratings["rater"] = anonymise(ratings["rater"])
    ratings["label"] = ratings[quality] if quality in MARKS else ratings[MARKS].sum(axis=1) / 2
    ratings["rating"] = (ratings["label"] - LOW) / (HIGH - LOW)
    grouped = ratings.groupby("id")
    means, number = grouped[["label", *MARKS]].mean().to_dict("index"), grouped.size()
    texts = []
    for outputs in groups.values():
        first, name = outputs[0], outputs[0]["item"]
        mean = means.get(name, dict.fromkeys(["label", *MARKS], math.nan))
        texts.append(
            {
                "id": name,
                "context": contexts[first["InstanceID"]],
                "text": first["Response"],
                "quality": (mean["label"] - LOW) / (HIGH - LOW),
                "n_ratings": number.get(name, 0),
                "system": "+".join(dict.fromkeys(output["system"] for output in outputs)),
                "context_id": first["InstanceID"],
                **{mark: mean[mark] for mark in MARKS},
                "item": "+".join(output["item"] for output in outputs),
            }
        )
    ratings = ratings[["id", "rater", "label", "rating", *MARKS, "item"]]
    found = text_table(texts, ["context_id", *MARKS, "item"], MARKS)
    return RatedTexts(found, ratings, scale=(LOW, HIGH))


def _item(context: str, system: str) -> str:
    return f"dstc7:{context[:12]}:{'human' if system == 'Human' else system}"
