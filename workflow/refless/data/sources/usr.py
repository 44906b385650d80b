"""USR: dialogue responses of people and models, rated by three annotators on six dimensions.

Stage: ratings. In: ``tc_usr_data.json`` (TopicalChat) or ``pc_usr_data.json`` (PersonaChat), an
array of contexts, each with its fact and its responses (Mehri and Eskenazi 2020). Out: a
`RatedTexts`, quality from ``Overall``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.ratings import RatedTexts, anonymise, rating_table, text_table
from refless.data.sources._reading import (
    broken,
    half_character,
    json_array,
    name_fault,
    read_text,
    shorten,
    text_fault,
)
from refless.errors import FormatError, Problem

HUMANS = ("Original Ground Truth", "New Human Generated")
DIMENSIONS = {
    "Understandable": (0, 1),
    "Natural": (1, 3),
    "Maintains Context": (1, 3),
    "Engaging": (1, 3),
    "Uses Knowledge": (0, 1),
    "Overall": (1, 5),
}

_RESPONSES = re.compile(r'(?<!\\)"responses"\s*:')


def load(path: str | Path, task: str) -> RatedTexts:
    """Read the rated responses of one data set.

    Parameters
    ----------
    path : the JSON file
    task : the data set's name, with which ids begin

    Returns
    -------
    RatedTexts : in the order of the file. ``id`` is ``<task>:<context>:<model>``, the context by
        its number in the file, the model's name in lower case with hyphens; ``quality`` is
        (mean of Overall - 1) / 4. ``system`` is ``human`` for both human references, of which
        ``model`` tells which one it is; else the model's name. Extra columns: ``context_id``
        (``c01``, ...), ``fact`` (empty where the file says ``_nofact``), ``model`` (the name as
        in the file) and the means of the dimensions: ``understandable``, ``uses_knowledge``
        (0..1), ``natural``, ``maintains_context``, ``engaging`` (1..3). ``ratings``: label is
        Overall, 1..5, with the other dimensions as extra columns. Blanks and line feeds around a
        text, context or fact are left off (300 of 360 texts end with a line feed).

        Problems (such a response is not used): a context without text, annotators or responses;
        a response without text or model, with an empty text or one with a NUL, of a model whose
        name is none, or that has one here already; a dimension without one whole number in its
        range for each annotator.

    Raises
    ------
    FormatError : not a JSON file of this kind, with the line.
    """
    raw = read_text(path)
    dialogues = json_array(raw, path)
    if not any(isinstance(value, dict) and "responses" in value for _, _, value in dialogues):
        raise broken("this is not a USR file: no element has responses", path)
    texts: list[dict[str, Any]] = []
    ratings: list[tuple[str, str, float]] = []
    marks: list[dict[str, float]] = []
    problems: list[Problem] = []
    raters: list[str] = []
    for number, (offset, line, dialogue) in enumerate(dialogues, start=1):
        try:
            names = _annotators(dialogue)
        except FormatError as error:
            problems.append(Problem(str(path), line, error.message))
            continue
        raters += names
        fact = dialogue.get("fact")
        shared = {
            "task": task,
            "context": dialogue["context"].strip(),
            "context_id": f"c{number:02d}",
            "fact": fact.strip() if isinstance(fact, str) and fact.strip() != "_nofact" else "",
        }
        taken: set[str] = set()
        # Read once more, from where they stand, for the line of each response.
        found = _RESPONSES.search(raw, offset)
        start = len(raw) if found is None else found.end()
        for _, at, response in json_array(raw, path, start):
            try:
                scores = _scores(response, len(names))
                model = _model(response, taken)
            except FormatError as error:
                problems.append(Problem(str(path), at, error.message))
                continue
            row = {
                "id": f"{task}:{number:02d}:{_slug(model)}",
                **shared,
                "text": response["response"].strip(),
                "quality": (np.mean(scores["overall"]) - 1) / 4,
                "n_ratings": len(names),
                "system": "human" if model in HUMANS else model,
                "model": model,
            }
            means = {name: np.mean(scores[name]) for name in scores if name != "overall"}
            texts.append({**row, **means})
            for k, rater in enumerate(names):
                ratings.append((row["id"], rater, scores["overall"][k]))
                marks.append({name: float(scores[name][k]) for name in means})
    others = [_column(name) for name in DIMENSIONS if name != "Overall"]
    alias = dict(zip(raters, anonymise(raters), strict=True))
    rated = rating_table([(name, alias[rater], label) for name, rater, label in ratings], (1, 5))
    rated = rated.join(pd.DataFrame(marks, columns=others, dtype=float))
    table = text_table(texts, ["context_id", "fact", "model", *others], others)
    return RatedTexts(table, rated, problems, (1, 5))


def _column(dimension: str) -> str:
    return dimension.lower().replace(" ", "_")


def _annotators(dialogue: Any) -> list[str]:
    """The annotators of a context, checked with all else that its responses need."""
    if not isinstance(dialogue, dict):
        raise FormatError("this is not a context with its responses")
    if not isinstance(dialogue.get("context"), str) or not dialogue["context"].strip():
        raise FormatError("the context has no text")
    fault = half_character(f"{dialogue['context']} {dialogue.get('fact')}")
    if fault:
        raise FormatError(f"context or fact: {fault}")
    names = dialogue.get("annotators")
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise FormatError("the context has no annotators")
    if not isinstance(dialogue.get("responses"), list):
        raise FormatError("the context has no responses")
    return names


def _scores(response: Any, annotators: int) -> dict[str, list[int]]:
    """Ratings by dimension, in the order of the annotators."""
    if not isinstance(response, dict) or not isinstance(response.get("response"), str):
        raise FormatError("the response has no text")
    fault = text_fault(response["response"])
    if fault:
        raise FormatError(fault)
    scores = {}
    for name, (low, high) in DIMENSIONS.items():
        values = response.get(name)
        if (
            not isinstance(values, list)
            or len(values) != annotators
            or not all(type(v) is int and low <= v <= high for v in values)
        ):
            shown = shorten(str(values))
            raise FormatError(f"{name} {shown} is not {annotators} numbers from {low} to {high}")
        scores[_column(name)] = values
    return scores


def _model(response: dict[str, Any], taken: set[str]) -> str:
    model = response.get("model")
    if not isinstance(model, str) or not model.strip():
        raise FormatError("the response has no model")
    fault = name_fault(model.strip())
    if fault:
        raise FormatError(f"model {fault}")
    # told apart as ids tell them apart
    if _slug(model) in taken:
        raise FormatError(f"a second response of {shorten(model)} in this context")
    taken.add(_slug(model))
    return model


def _slug(model: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", model.lower()).strip("-")
