"""DSTC7 task 2: replies of ten systems and of people to 1,000 Reddit contexts, rated by judges.

Stage: ratings. The rated human response is the system ``Human`` of the responses file, lower-cased
and detokenised as the machines' are; the gold references are not read. TeamEC, which has ratings
and no texts (docs/data.md), is left out.
"""

import csv
import tarfile
from pathlib import Path
from typing import Literal

import pandas as pd

from refless.data.ratings import RatedTexts, anonymise

LOW = 1
HIGH = 5
MARKS = {"relevance": "Relevance", "informativeness": "Informativeness"}


def load(
    path: str | Path,
    dataset: str,
    quality: Literal[
        "relevance_informativeness_mean", "relevance", "informativeness"
    ] = "relevance_informativeness_mean",
    unit: Literal["pair", "output"] = "pair",
) -> RatedTexts:
    """Read the rated responses, in the order of the responses file.

    quality : a judge's label: the mean of both marks (as the organisers report), or one of the two
    unit : what one text is: a ``pair`` of context and text, so that equal outputs share a row and
        their judges' labels; or an ``output`` of one system
    Returns RatedTexts : ``context`` is the passage that the dialogue is about (several share one).
        Extra columns: ``context_id``, the means of the marks, ``item`` (ids of the row's outputs);
        this and ``system`` are joined by ``+``. ``ratings`` has both marks and the ``item``.
    """
    contexts = _member(path, "context")
    outputs = _member(path, "system_responses")
    judged = _member(path, "human-eval-per-judge")
    for table in (outputs, judged):
        table["system"] = table["SystemID"].replace("Human", "human")
        table["item"] = dataset + ":" + table["InstanceID"].str[:12] + ":" + table["system"]
    same = ["InstanceID", "Response" if unit == "pair" else "SystemID"]
    outputs["id"] = outputs.groupby(same)["item"].transform("first")
    judged = judged[judged["system"] != "TeamEC"].reset_index(drop=True)
    ratings = judged.assign(**{mark: judged[name].astype(float) for mark, name in MARKS.items()})
    both = (ratings["relevance"] + ratings["informativeness"]) / 2
    ratings["label"] = ratings[quality] if quality in MARKS else both
    ratings["id"] = ratings["item"].map(outputs.set_index("item")["id"])
    ratings["rater"] = anonymise(ratings["JudgeID"])
    rows = ratings.groupby("id")
    same_text = outputs.groupby("id")
    texts = outputs.drop_duplicates("id").set_index("id")
    texts = texts[["InstanceID", "Response"]].set_axis(["context_id", "text"], axis=1)
    texts = texts.assign(
        context=texts["context_id"].map(contexts.set_index("InstanceID")["Context"]),
        quality=(rows["label"].mean() - LOW) / (HIGH - LOW),
        n_ratings=rows.size().reindex(texts.index, fill_value=0),
        system=same_text["system"].unique().str.join("+"),
        **{mark: rows[mark].mean() for mark in MARKS},
        item=same_text["item"].unique().str.join("+"),
    )
    columns = ["id", "rater", "label", *MARKS, "item"]
    return RatedTexts(texts.reset_index(), ratings[columns], scale=(LOW, HIGH))


def _member(path: str | Path, name: str) -> pd.DataFrame:
    with tarfile.open(path) as archive:
        file = archive.extractfile(f"dstc7-task2-human_eval/dstc7-task2-{name}.tsv")
        assert file is not None
        return pd.read_csv(file, sep="\t", dtype=str, na_filter=False, quoting=csv.QUOTE_NONE)
