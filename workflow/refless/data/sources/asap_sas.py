"""ASAP-SAS: short answers of pupils to ten questions (sets), scored by people.

Stage: ratings. In: release 2 of the training essays, of the public leaderboard's essays (both
tab-separated) and the leaderboard's gold scores (CSV). Out: a `RatedTexts`, training part first.

What moves published numbers: the files are read with ``"`` quoting, as they were written (read
without, 1,263 training and 255 test essays keep quotation marks around and inside them); the
quality of a training essay is the mean of both raters; the scale is 0..3 for every set, although
six sets only use 0..2. Release 1 must not be used: its scores of set 3 are misaligned.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from refless.data.ratings import RatedTexts, rating_table, text_table
from refless.data.sources._reading import (
    broken,
    named_records,
    read_text,
    shorten,
    text_fault,
    whole_number,
)
from refless.errors import FormatError, Problem

RATERS = ("both", "first")
SETS = 10
TOP = 3  # of the scale, for every set

_TRAIN = ["Id", "EssaySet", "Score1", "Score2", "EssayText"]
_TEST = ["Id", "EssaySet", "EssayText"]
_SOLUTION = ["id", "essay_set", "essay_score"]


@dataclass
class _Essay:
    line: int
    number: int
    set: int
    text: str
    scores: list[int]


def load(
    train: str | Path,
    test: str | Path,
    solution: str | Path,
    raters: str = "both",
    quoting: bool = True,
) -> RatedTexts:
    """Read both parts.

    Parameters
    ----------
    train : ``train_rel_2.tsv``
    test : ``public_leaderboard_rel_2.tsv``
    solution : ``public_leaderboard_solution.csv``, joined to ``test`` on the essay's id
    raters : quality of a training essay: ``both`` (published), ``(score1 + score2) / 2 / 3``
        from two ratings; ``first``, ``score1 / 3`` from one.
    quoting : False reads a quotation mark as a character like any other (the careless reading
        that the sensitivity table compares).

    Returns
    -------
    RatedTexts : ``id`` is ``asap_sas:<the essay's own id>``, five digits; ``context`` is
        ``set 3``; ``system`` is ``human``. Extra columns: ``set`` (1..10), ``part`` (``train``
        or ``test``), ``score1`` and ``score2`` (the two raters; NaN in the test part). Raters
        are ``score1``, ``score2`` and, for the test part, ``gold``; ``label`` is 0..3.

        Problems (such an essay is not used): a row with too few or too many fields; an id that
        is no number or stood before, in either part; a set that is not 1..10; a score that is
        not 0, 1, 2 or 3; an empty text or one with a NUL; a test essay without gold score or
        with one of another set; a gold score without an essay.

    Raises
    ------
    FormatError : one of the files is not in its format; unknown ``raters``.
    """
    if raters not in RATERS:
        raise FormatError(f"unknown raters {raters!r}", remedy="choose both or first")
    problems: list[Problem] = []
    training = _essays(train, _TRAIN, ["Score1", "Score2"], quoting, problems)
    test_problems: list[Problem] = []
    testing = _essays(test, _TEST, [], quoting, test_problems)
    gold = _gold(solution, test_problems)
    known = {essay.number: essay for essay in training}

    kept: list[_Essay] = []
    for essay in testing:
        number, twin = essay.number, known.get(essay.number)
        line_set_score = gold.pop(number, None)
        if twin is not None:
            fault = f"essay {number} stands in the training part as well, on line {twin.line}"
        elif line_set_score is None:
            fault = f"essay {number} has no gold score in {Path(solution).name}"
        elif line_set_score[1] != essay.set:
            fault = f"essay {number} is of set {essay.set}, its gold score of {line_set_score[1]}"
        else:
            essay.scores = [line_set_score[2]]
            kept.append(essay)
            continue
        test_problems.append(Problem(str(test), essay.line, fault))
    test_problems += [
        Problem(str(solution), line, f"essay {number} has a gold score and no usable text")
        for number, (line, _, _) in gold.items()
    ]
    order = {str(test): 0, str(solution): 1}
    problems += sorted(test_problems, key=lambda p: (order.get(p.path, 0), p.line))
    return RatedTexts(*_tables(training, kept, raters), problems, (0, TOP))


def _essays(
    path: str | Path, wanted: list[str], scores: list[str], quoting: bool, problems: list[Problem]
) -> list[_Essay]:
    """The usable essays of one part; the others are added to ``problems``."""
    what = "a file of ASAP-SAS essays"
    _, rows, faults = named_records(
        read_text(path), path, wanted, what, delimiter="\t", quoting=quoting
    )
    essays: dict[int, _Essay] = {}
    for line, value in rows:
        number = whole_number(value["Id"], 0, 10**9)
        essay_set = whole_number(value["EssaySet"], 1, SETS)
        marks = [whole_number(value[name], 0, TOP) for name in scores]
        fault = text_fault(value["EssayText"])
        if number is None:
            fault = f"id {shorten(value['Id'])} is no number"
        elif number in essays:
            fault = f"essay {number} stands on line {essays[number].line} already"
        elif essay_set is None:
            fault = f"essay set {shorten(value['EssaySet'])} is not 1 to {SETS}"
        elif None in marks:
            name = scores[marks.index(None)]
            fault = f"{name} {shorten(value[name])} is not 0 to {TOP}"
        if fault or number is None or essay_set is None:
            faults.append(Problem(str(path), line, fault))
            continue
        whole = [mark for mark in marks if mark is not None]
        essays[number] = _Essay(line, number, essay_set, value["EssayText"], whole)
    if not essays and not faults:
        raise broken("the file has a header and no essays", path)
    problems += sorted(faults, key=lambda problem: problem.line)
    return list(essays.values())


def _gold(path: str | Path, problems: list[Problem]) -> dict[int, tuple[int, int, int]]:
    """Essay id -> (line, set, gold score)."""
    what = "the file of ASAP-SAS gold scores"
    _, rows, faults = named_records(read_text(path), path, _SOLUTION, what)
    gold: dict[int, tuple[int, int, int]] = {}
    for line, named in rows:
        values = [named[name] for name in _SOLUTION]
        number = whole_number(values[0], 0, 10**9)
        essay_set = whole_number(values[1], 1, SETS)
        score = whole_number(values[2], 0, TOP)
        if number is None or essay_set is None or score is None:
            shown = ", ".join(shorten(value) for value in values)
            faults.append(Problem(str(path), line, f"id, set and score are not numbers: {shown}"))
        elif number in gold:
            message = f"essay {number} has a gold score on line {gold[number][0]} already"
            faults.append(Problem(str(path), line, message))
        else:
            gold[number] = (line, essay_set, score)
    problems += faults
    return gold


def _tables(
    train: list[_Essay], test: list[_Essay], raters: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    used = 2 if raters == "both" else 1
    texts: list[dict[str, object]] = []
    ratings: list[tuple[str, str, float]] = []
    for part, essays, names in (
        ("train", train, ["score1", "score2"]),
        ("test", test, ["gold"]),
    ):
        for essay in essays:
            counted = essay.scores[:used]
            row = {
                "id": f"asap_sas:{essay.number:05d}",
                "task": "asap_sas",
                "context": f"set {essay.set}",
                "text": essay.text,
                # In this order of operations: rounding noise orders ties in table 3.
                "quality": sum(counted) / len(counted) / TOP,
                "n_ratings": len(counted),
                "system": "human",
                "set": essay.set,
                "part": part,
            }
            scores = dict(zip(names, essay.scores, strict=True))
            texts.append({**row, **scores})
            ratings += [(str(row["id"]), name, scores[name]) for name in names[:used]]
    columns = ["set", "part", "score1", "score2"]
    return text_table(texts, columns, columns[2:]), rating_table(ratings, (0, TOP))
