"""DSTC7 task 2: replies of ten systems and of people to 1,000 Reddit contexts, rated by judges.

Stage: ratings. In: ``dstc7-task2-human_eval.tgz`` (never unpacked to disk), of which the contexts,
the systems' responses, the ratings of each judge and the gold responses are read. Out: a
`RatedTexts`; and, by `gold`, the unrated gold references.

What stands where: the rated human response is the system ``Human`` of the responses file, beside
the machines', lower-cased and detokenised as theirs are (here ``human``). The gold file holds
tokenised, cased references; letters and digits only, the human response is among them in 893
contexts (894 if one without any letter is found in an empty cell; 905 without a leading TIL).

TeamEC has 3,000 ratings and no texts. The organisers' own summary pools them: its column TeamCE
is, for every context, the mean of the six judgments of TeamCE and TeamEC. The two means correlate
by context at 0.35, where one set of texts rated twice would give 0.33 (from the judges' agreement)
and other systems give 0.06. So the two names are in all likelihood one system's outputs, rated
twice; ``team_ec="pool"`` takes them so.
"""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Literal

import pandas as pd

from refless.data.ratings import RatedTexts, anonymise
from refless.data.sources._raw import each, known, reading, table, whole, words

LOW, HIGH = 1, 5


def load(
    path: str | Path,
    quality: Literal[
        "relevance_informativeness_mean", "relevance", "informativeness"
    ] = "relevance_informativeness_mean",
    team_ec: Literal["leave_out", "pool"] = "leave_out",
    unit: Literal["pair", "wording", "output"] = "pair",
) -> RatedTexts:
    """Read the rated responses, in the order of the responses file.

    Parameters
    ----------
    path : the archive
    quality : what a judge's label is: the mean of relevance and informativeness (as the
        organisers report), or one of the two
    team_ec : what becomes of the ratings of TeamEC: ``leave_out``, or ``pool`` with TeamCE's
    unit : what one text is. ``pair``: one context and text, so outputs that are the same pair
        share a row and their judges' labels. ``wording``: the same, with contexts of one wording
        taken for one context, as HUSE has it. ``output``: one output of one system.

    Returns
    -------
    RatedTexts : ``id`` is ``dstc7:<context>:<system>`` of the first output in the row, the context
        by the first 12 characters of its id; ``context`` is the passage that the dialogue is about
        (the file has no dialogue, and several share one); ``system`` names all systems of the row,
        joined by ``+``. Extra columns: ``context_id`` (whole), ``relevance`` and
        ``informativeness`` (means on 1..5), ``item`` (ids of the row's outputs, joined by ``+``).
        ``ratings`` has a row a judgment, in the order of the file, with ``relevance``,
        ``informativeness`` and ``item``, the output; 54 times a judge rated an output twice.

    Raises
    ------
    FormatError : not this archive, or a member of it is not in its format.
    """
    contexts: dict[str, str] = {}
    responses: dict[tuple[str, str], str] = {}
    judged: list[tuple[str, str, int, int]] = []

    def context(row: dict[str, str]) -> None:
        contexts[row["InstanceID"]] = words(row["Context"])

    def response(row: dict[str, str]) -> None:
        output = known(row["InstanceID"], contexts), row["SystemID"]
        responses[output] = words(row["Response"])

    def judgment(row: dict[str, str]) -> None:
        system = row["SystemID"]
        if system == "TeamEC" and team_ec == "leave_out":
            return
        system = "TeamCE" if system == "TeamEC" else system
        output = known((row["InstanceID"], system), responses)
        marks = whole(row["Relevance"], LOW, HIGH), whole(row["Informativeness"], LOW, HIGH)
        judged.append((_id(*output), row["JudgeID"], *marks))

    for member, wanted, read in (
        ("context", ["InstanceID", "Context"], context),
        ("system_responses", ["SystemID", "InstanceID", "Response"], response),
        ("human-eval-per-judge", ["JudgeID", "Relevance", "Informativeness"], judgment),
    ):
        text = _member(path, member)
        each(path, table(path, wanted, text, delimiter="\t", quoting=False), read)

    marks = ["relevance", "informativeness"]
    ratings = pd.DataFrame(judged, columns=["item", "rater", *marks])
    ratings = ratings.astype(dict.fromkeys(marks, float))
    ratings["rater"] = anonymise(ratings["rater"])
    ratings["label"] = ratings[quality] if quality in ratings else ratings[marks].sum(axis=1) / 2
    ratings["rating"] = (ratings["label"] - LOW) / (HIGH - LOW)

    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for (of, system), text in responses.items():
        key = {"pair": (of, text), "wording": (contexts[of], text), "output": (of, system)}[unit]
        groups.setdefault(key, []).append((of, system))
    rows: list[dict[str, str]] = []
    text_of: dict[str, str] = {}
    for group in groups.values():
        ids = [_id(*output) for output in group]
        text_of |= dict.fromkeys(ids, ids[0])
        rows.append(
            {
                "id": ids[0],
                "task": "dstc7",
                "context": contexts[group[0][0]],
                "text": responses[group[0]],
                "system": "+".join(dict.fromkeys(_name(system) for _, system in group)),
                "context_id": group[0][0],
                "item": "+".join(ids),
            }
        )
    texts = pd.DataFrame(rows)
    ratings["id"] = ratings["item"].map(text_of)
    grouped = ratings.groupby("id")
    means = grouped[["label", *marks]].mean().reindex(texts["id"]).reset_index(drop=True)
    texts["quality"] = (means["label"] - LOW) / (HIGH - LOW)
    texts["n_ratings"] = grouped.size().reindex(texts["id"], fill_value=0).to_numpy()
    texts[marks] = means[marks]
    order = ["id", "task", "context", "text", "quality", "n_ratings", "system", "context_id"]
    ratings = ratings[["id", "rater", "label", "rating", *marks, "item"]]
    return RatedTexts(texts[[*order, *marks, "item"]], ratings, scale=(LOW, HIGH))


def _member(path: str | Path, name: str) -> str:
    """The text of one table in the archive."""
    with reading(path), tarfile.open(path) as archive:
        inside = archive.extractfile(f"dstc7-task2-human_eval/dstc7-task2-{name}.tsv")
        assert inside is not None
        return inside.read().decode("utf-8-sig")


def _name(system: str) -> str:
    return "human" if system == "Human" else system


def _id(context: str, system: str) -> str:
    return f"dstc7:{context[:12]}:{_name(system)}"
