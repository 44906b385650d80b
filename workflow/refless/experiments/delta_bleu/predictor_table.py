"""ΔBLEU as an estimate of quality, beside kernels and BLEU Neighbors: the table.

Stage: cell -> table. In: the files by `refless.experiments.delta_bleu.predictor`. Out: a row a
model on each data set, then ΔBLEU against BLEU Neighbors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from refless.experiments.delta_bleu.predictor import COLUMNS, VALUES, models
from refless.store import signed
from refless.store.signatures import signature_note

_NAMES = ["model", "variant", "kernel", "against"]
# Why a model has no estimate of any text.
_NOTHING = {
    "neighbors": "no text has enough neighbors, and not too many",
    "lookup": "no text has an equal one that it may learn from",
    "delta_bleu": "no text has a reference of positive weight",
    "kernel_mean": "no text is similar to any of its references",
}
_OF_REFERENCES = ("context_mean", "sbleu", "delta_bleu", "kernel_mean")


def read_predictors(
    paths: Sequence[str | Path],
    settings: Mapping[str, Mapping[str, Any]],
    rated: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """The rows of the data sets that have any, with ``provenance``; and notes for the footer.

    Parameters
    ----------
    settings : data set -> the settings under which they must have been made
    rated : the sums of the ratings that are there (`refless.data.task.rated_sums`); the rows must
        be made from these

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    found, notes = {}, []
    for path in paths:
        task = Path(path).parent.name
        file = signed.read(
            path,
            "predictor",
            of={"task": task},
            settings=settings[task],
            made_from=(rated or {}).get(task),
            columns=COLUMNS,
        )
        rows = file.content.astype(dict.fromkeys(_NAMES, object))
        rows[_NAMES] = rows[_NAMES].fillna("")
        found[task] = rows.assign(provenance=file.about["provenance"])
        notes += [signature_note(one, file.about) for one in file.about["signatures"]]
    return found, notes


def predictor_table(
    looks: Mapping[str, Mapping[str, Any]],
    found: Mapping[str, pd.DataFrame],
    kernels: Iterable[str],
) -> pd.DataFrame:
    """Every model on every data set, then ΔBLEU against BLEU Neighbors (column ``against``).

    Parameters
    ----------
    looks : data set -> its entry of the configuration (``note``), all in the order of the rows
    found : by `read_predictors`
    kernels : of BLEU Neighbors; a model that a file lacks gets a row without numbers
    """
    expected = pd.DataFrame(models(kernels), columns=_NAMES[:3])
    parts = []
    for task in looks:
        own = found.get(task, pd.DataFrame(columns=[*_NAMES, "provenance"]))
        single = own["against"] == ""
        rows = [expected.merge(own[single], how="left", on=_NAMES[:3]), own[~single]]
        part = pd.concat([one for one in rows if len(one)], ignore_index=True)
        notes = [_why_nothing(row) for row in part.to_dict("records")]
        parts.append(part.assign(task=task, note=pd.Series(notes, dtype=object)))
    shown = ["task", *_NAMES]
    for column in VALUES:
        shown += [column, f"{column}_low", f"{column}_high"]
    shown += ["n", "n_covered", "references", "provenance", "note"]
    table = pd.concat(parts or [pd.DataFrame(columns=shown)], ignore_index=True)
    table = table.reindex(columns=shown).astype({"n": "Int64", "n_covered": "Int64"})
    for column in (*_NAMES, "provenance"):
        table[column] = table[column].astype(object).fillna("")
    return table


def _why_nothing(row: Mapping[Any, Any]) -> list[str]:
    """Of a row that was computed and covers no text."""
    if row.get("n_covered") != 0:
        return []
    if row["against"]:
        return ["no text is covered by both"]
    if row["references"] == 0 and row["model"] in _OF_REFERENCES:
        return ["no text has a reference: a text of another system for the same context or MR"]
    return [_NOTHING.get(row["model"], "no text has an estimate")]
