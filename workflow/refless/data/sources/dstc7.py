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

import re
from pathlib import Path

import numpy as np
import pandas as pd

from refless.data.ratings import RatedTexts, anonymise
from refless.data.sources._archive import read_members
from refless.data.sources._reading import (
    broken,
    decode,
    header,
    named_records,
    records,
    shorten,
    text_fault,
    whole_number,
)
from refless.errors import FormatError, Problem

QUALITIES = ("relevance_informativeness_mean", "relevance", "informativeness")
TEAM_EC = ("leave_out", "pool")
UNITS = ("pair", "wording", "output")
LOW, HIGH = 1, 5

_CONTEXTS = "dstc7-task2-context.tsv"
_RESPONSES = "dstc7-task2-system_responses.tsv"
_JUDGES = "dstc7-task2-human-eval-per-judge.tsv"
_GOLD = "dstc7-task2-gold_responses.tsv"
_WITHOUT_TEXTS = "TeamEC"
_SHORT = 12  # characters of a context's id that go into a text's id


def load(
    path: str | Path,
    quality: str = "relevance_informativeness_mean",
    team_ec: str = "leave_out",
    unit: str = "pair",
) -> RatedTexts:
    """Read the rated responses.

    Parameters
    ----------
    path : the archive
    quality : what a judge's label is: the mean of relevance and informativeness (as the
        organisers report), or one of the two
    team_ec : what becomes of the ratings of TeamEC, which has no texts: ``leave_out``, or
        ``pool``: they count as ratings of TeamCE's texts.
    unit : what one text is. ``pair``: one context and text, so outputs that are the same pair
        share a row and their judges' labels. ``wording``: the same, with contexts of one wording
        taken for one context, as HUSE's pairs are told apart. ``output``: one output, for whoever
        needs every system's outputs of every context apart.

    Returns
    -------
    RatedTexts : in the order of the responses file. ``id`` is ``dstc7:<context>:<system>``, the
        context by the first 12 characters of its id; ``context`` is the passage that the dialogue
        is about, since the file has no dialogue, and several dialogues share one;
        ``system`` is ``human`` or the name in the file; ``quality`` is (mean label - 1) / 4, NaN
        with ``n_ratings`` 0 if no judge's row was usable. Extra columns: ``context_id`` (whole),
        ``relevance`` and ``informativeness`` (means on 1..5), ``item`` (ids of the outputs in
        this row, joined by ``+``). ``ratings`` has a row a judge, in the order of the file, with
        the extra columns ``relevance``, ``informativeness`` and ``item``, the output that was
        judged. 54 times a judge rated an output twice: both ratings stand, and so do those of a
        judge who rated several outputs of a pair.

        A pair of several outputs has the id and context of its first. Its ``system`` is each of
        theirs, once, joined by ``+`` (no system's name has one): no system answers for it alone.

        Problems (such a row is not used): a row with too few or too many fields; a context,
        response or rating that has no id, or a second one of the same id; a response to an
        unknown context; an empty text or one with a NUL; a rating of an unknown text; a rating
        that is not 1, 2, 3, 4 or 5. A quotation mark is a character like any other.

    Raises
    ------
    FormatError : not this archive, or a member of it is not in its format; two contexts share
        the first 12 characters of their ids; unknown ``quality``, ``team_ec`` or ``unit``.
    """
    for option, value, known in (
        ("quality", quality, QUALITIES),
        ("team_ec", team_ec, TEAM_EC),
        ("unit", unit, UNITS),
    ):
        if value not in known:
            remedy = f"choose one of {', '.join(known)}"
            raise FormatError(f"unknown {option} {value!r}", remedy=remedy)
    members = read_members(path, [_CONTEXTS, _RESPONSES, _JUDGES])
    problems: list[Problem] = []
    contexts = _contexts(members[_CONTEXTS], f"{path}:{_CONTEXTS}", problems)
    where = f"{path}:{_RESPONSES}"
    responses = _responses(members[_RESPONSES], where, contexts, problems)
    where = f"{path}:{_JUDGES}"
    judged = _judged(members[_JUDGES], where, responses, team_ec == "pool", problems)

    ratings = pd.DataFrame(
        judged, columns=["system", "context_id", "rater", "relevance", "informativeness"]
    )
    ratings["rater"] = anonymise(ratings["rater"].tolist())
    keys = zip(ratings["system"], ratings["context_id"], strict=True)
    ratings["item"] = [_id(*key) for key in keys]
    ratings = ratings.astype({"relevance": float, "informativeness": float})
    both = (ratings["relevance"] + ratings["informativeness"]) / 2
    ratings["label"] = both if quality == QUALITIES[0] else ratings[quality]
    ratings["rating"] = (ratings["label"] - LOW) / (HIGH - LOW)

    texts, text_of = _units(responses, contexts, unit)
    ratings["id"] = ratings["item"].map(text_of)
    grouped = ratings.groupby("id")
    mean = grouped[["label", "relevance", "informativeness"]].mean().reindex(texts["id"])
    texts["task"] = "dstc7"
    texts["quality"] = (mean["label"].to_numpy(float) - LOW) / (HIGH - LOW)
    number = grouped.size().reindex(texts["id"]).fillna(0)
    texts["n_ratings"] = number.to_numpy().astype(np.int64)
    for name in ("relevance", "informativeness"):
        texts[name] = mean[name].to_numpy(float)
    order = ["id", "task", "context", "text", "quality", "n_ratings", "system", "context_id"]
    return RatedTexts(
        texts[[*order, "relevance", "informativeness", "item"]],
        ratings[["id", "rater", "label", "rating", "relevance", "informativeness", "item"]],
        problems,
        (LOW, HIGH),
    )


def _units(
    responses: dict[tuple[str, str], str], contexts: dict[str, str], unit: str
) -> tuple[pd.DataFrame, dict[str, str]]:
    """The texts of a unit by first appearance, and for each output's id that of its text."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for (system, context), text in responses.items():
        keys = {
            "pair": (context, text),
            "wording": (contexts[context], text),
            "output": (system, context),
        }
        groups.setdefault(keys[unit], []).append((system, context))
    rows: list[tuple[str, ...]] = []
    text_of: dict[str, str] = {}
    for group in groups.values():
        first, context = group[0]
        ids = [_id(*output) for output in group]
        text_of |= dict.fromkeys(ids, ids[0])
        systems = "+".join(dict.fromkeys(_name(system) for system, _ in group))
        text = responses[first, context]
        rows.append((ids[0], contexts[context], text, systems, context, "+".join(ids)))
    columns = ["id", "context", "text", "system", "context_id", "item"]
    return pd.DataFrame(rows, columns=columns), text_of


def gold(path: str | Path) -> pd.DataFrame:
    """Unrated gold references: columns ``context_id`` and ``text``, in the order of the file.

    A context without references (46 of 1,000) has no row. Repeated references are kept, and so
    is every character but for empty cells, which are no references.

    Raises
    ------
    FormatError : not this archive; a line without a context's id, or with one that stood before.
    """
    where = f"{path}:{_GOLD}"
    raw = decode(read_members(path, [_GOLD])[_GOLD], where)
    rows = records(raw, where, delimiter="\t", quoting=False)
    header(rows, ["InstanceID", "Reference1"], where, "DSTC7's gold responses")
    seen: dict[str, int] = {}
    found: list[tuple[str, str]] = []
    for line, fields in rows[1:]:
        context = fields[0].strip()
        if not context or context in seen:
            message = "the line has no context id"
            if context:
                message = f"context {shorten(context)} stands on line {seen[context]} already"
            raise broken(message, where, line)
        seen[context] = line
        found += [(context, text) for text in fields[1:] if text.strip()]
    return pd.DataFrame(found, columns=["context_id", "text"])


def _rows(
    data: bytes, wanted: list[str], where: str, problems: list[Problem]
) -> list[tuple[int, list[str]]]:
    """Lines of one member of the archive, the wanted columns only, in that order."""
    what = "this member of DSTC7's human evaluation"
    _, rows, faults = named_records(
        decode(data, where), where, wanted, what, delimiter="\t", quoting=False
    )
    if not rows and not faults:
        raise broken("there is a header and no rows", where)
    problems += faults
    return [(line, [named[name] for name in wanted]) for line, named in rows]


def _contexts(data: bytes, where: str, problems: list[Problem]) -> dict[str, str]:
    contexts: dict[str, str] = {}
    short: dict[str, str] = {}
    for line, (name, text) in _rows(data, ["InstanceID", "Context"], where, problems):
        fault = text_fault(text)
        if not re.fullmatch(r"[A-Za-z0-9]+", name):
            fault = f"context id {shorten(name)} is not letters and digits"
        elif name in contexts:
            fault = f"context {shorten(name)} stood before"
        if fault:
            problems.append(Problem(where, line, fault))
            continue
        if short.setdefault(name[:_SHORT], name) != name:
            raise broken(f"two contexts begin with {name[:_SHORT]}", where, line)
        contexts[name] = text
    return contexts


def _responses(
    data: bytes, where: str, contexts: dict[str, str], problems: list[Problem]
) -> dict[tuple[str, str], str]:
    """(system, context id) -> text."""
    responses: dict[tuple[str, str], str] = {}
    wanted = ["SystemID", "InstanceID", "Response"]
    for line, (system, context, text) in _rows(data, wanted, where, problems):
        fault = text_fault(text)
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", system):
            fault = f"system {shorten(system)} is no name"
        elif context not in contexts:
            fault = f"a response to the unknown context {shorten(context)}"
        elif (system, context) in responses:
            fault = f"a second response of {system} to context {shorten(context)}"
        if fault:
            problems.append(Problem(where, line, fault))
        else:
            responses[system, context] = text
    return responses


def _judged(
    data: bytes,
    where: str,
    responses: dict[tuple[str, str], str],
    pool: bool,
    problems: list[Problem],
) -> list[tuple[str, str, str, int, int]]:
    """(system, context id, judge, relevance, informativeness), in the order of the file."""
    judged: list[tuple[str, str, str, int, int]] = []
    wanted = ["JudgeID", "InstanceID", "SystemID", "Relevance", "Informativeness"]
    with_texts = {system for system, _ in responses}
    for line, (judge, context, system, *marks) in _rows(data, wanted, where, problems):
        if system == _WITHOUT_TEXTS and system not in with_texts:
            if not pool:
                continue
            system = "TeamCE"
        values = [whole_number(mark, LOW, HIGH) for mark in marks]
        relevance, informativeness = values
        if not judge.strip():
            fault = "the rating has no judge"
        elif (system, context) not in responses:
            fault = f"a rating of {shorten(system)} in context {shorten(context)}, without text"
        elif relevance is None or informativeness is None:
            fault = f"ratings {', '.join(map(shorten, marks))} are not 1 to 5"
        else:
            judged.append((system, context, judge, relevance, informativeness))
            continue
        problems.append(Problem(where, line, fault))
    return judged


def _name(system: str) -> str:
    return "human" if system == "Human" else system


def _id(system: str, context: str) -> str:
    return f"dstc7:{context[:_SHORT]}:{_name(system)}"
