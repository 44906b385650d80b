"""The table of texts that every method reads.

A row is a text. The columns are the user's: ``text``, and as far as there are any, ``system``,
``context``, ``mr``, ``references`` (lists of texts) and ``score_<name>``. `with_keys` adds what
several methods need of them, so that it is made once for all methods.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.data import mr
from refless.data.text_ids import fold_key, label_ids, merge_key
from refless.models.rnn_qe.meaning import TEXT, kind_of_meanings, tokens_of, unordered

Array = np.ndarray

TEXT_KEY = "text_key"
"""Column: equal for texts of one fold key (`refless.data.text_ids`)."""
LOOKUP_KEY = "lookup_key"
"""Column: equal for texts that are equal once the values of their MR are slots."""
CONTEXT_KEY = "context_key"
"""Column: equal for texts that answer the same context or MR; empty for a text without."""
CONTEXT_GROUP = "context_group"
"""Column: equal for texts whose contexts are left out together, since they differ in signs or in
the values of an MR alone; empty for a text without."""
HUMAN = "human"
"""Column: whether a person wrote the text."""
SCORE = "score_"
"""What the names of columns of scores begin with."""


class PromptKind(NamedTuple):
    """What texts of a table answer: the column, empty where there is none, and how it is written,
    as of `refless.models.rnn_qe.meaning.kind_of_meanings`."""

    column: str
    kind: str


def prompt_kind(table: pd.DataFrame) -> PromptKind:
    """What the texts of a table answer."""
    column, prompts = prompts_of(table)
    return PromptKind(column, kind_of_meanings(prompts))


def with_keys(table: pd.DataFrame, prompt: PromptKind | None = None) -> pd.DataFrame:
    """The table with the columns `TEXT_KEY`, `LOOKUP_KEY`, `CONTEXT_KEY` and `CONTEXT_GROUP`; as it
    is where it has them.

    prompt : what the texts answer, as an estimator learned it from its training texts (None: by
        this table); an MR of another kind is no context

    >>> table = pd.DataFrame({"text": ["A cat!", "a cat"], "context": ["What is it?", ""]})
    >>> with_keys(table)[["text_key", "context_key", "context_group"]].to_numpy().tolist()
    [['acat', 'what is it?', 'whatisit'], ['acat', '', '']]
    """
    if TEXT_KEY in table:
        return table
    texts = table["text"].tolist()
    text_key = [fold_key(text) for text in texts]
    name, kind = prompt or prompt_kind(table)
    prompts = [prompt if isinstance(prompt, str) else "" for prompt in column(table, name)]
    if kind == TEXT:
        lookup_key = text_key
        context_key = [merge_key(prompt) for prompt in prompts]
        context_group = [fold_key(prompt) for prompt in prompts]
        if "context_id" in table:
            context_key = table["context_id"].fillna("").astype(str).tolist()
    else:
        prompts = [prompt if kind_of_meanings([prompt]) == kind else "" for prompt in prompts]
        tokens = tokens_of(prompts, texts, kind)
        lookup_key = [fold_key(" ".join(words)) for _, words in tokens]
        context_key = [mr_key(prompt, kind) for prompt in prompts]
        context_group = [unordered(triples) for triples, _ in tokens]
    keys = {TEXT_KEY: text_key, LOOKUP_KEY: lookup_key}
    return table.assign(**keys, **{CONTEXT_KEY: context_key, CONTEXT_GROUP: context_group})


def mr_key(meaning: str, kind: str) -> str:
    """One string for all spellings of an MR, its slots in any order; empty where it is blank."""
    return mr.key(meaning, ordered=False, kind=kind) if meaning.strip() else ""


def prompts_of(table: pd.DataFrame) -> tuple[str, list[str]]:
    """What each text answers, and its column: ``mr``, if that says anything, else ``context``."""
    for name in ("mr", "context"):
        if name in table and table[name].fillna("").astype(str).str.strip().any():
            return name, list(table[name].fillna("").astype(str))
    return "", [""] * len(table)


def column(table: pd.DataFrame, name: str, missing: Any = "") -> list[Any]:
    """The values of a column; where the table lacks it, ``missing`` for each text."""
    return table[name].tolist() if name in table else [missing] * len(table)


def references_of(table: pd.DataFrame) -> list[list[str]]:
    """The references of each text, perhaps none."""
    values = column(table, "references", None)
    return [json.loads(value) if isinstance(value, str) else list(value or ()) for value in values]


def score_names(table: pd.DataFrame) -> list[str]:
    """The columns of scores, in their order."""
    return [name for name in map(str, table) if name.startswith(SCORE)]


def key_numbers(keys: Sequence[str]) -> Array:
    """A number for each key, int64, equal for equal keys; each empty key has one of its own."""
    return label_ids(keys, separate_blank=True)
