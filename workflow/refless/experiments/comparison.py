"""The comparison on our data sets: every method on each, and the table of all.

Stage: cell -> table. In: rated texts of a data set. Out: its rows as a signed file; the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from refless.compare.advice import recommendation, warnings
from refless.compare.compared import COLUMNS, Settings, compare
from refless.compare.rated import rated_of
from refless.data.ratings import separate_items
from refless.data.task import Task
from refless.kernels import signature
from refless.store import signed
from refless.store.signatures import sign, signature_note

NOTES = " | "
DIGITS = 6
"""The last bits of a sum of squares hang on the machine."""
NAMES = ("method", "kernel", "split", "tau", "min_neighbors", "note")
"""Columns of words, which may be empty."""


def compare_task(
    path: str | Path,
    task: Task,
    settings: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
    left_out: Mapping[str, str],
    threads: int | None = None,
) -> None:
    """Compare every method on one data set, and write what was found.

    Parameters
    ----------
    settings : ``kernels``, ``draws`` and ``seed``, as the readers will ask for them
    options : kernel -> its options
    left_out : kernel -> why it is not tried

    Raises
    ------
    FormatError : too few rated texts.
    """
    rated = rated_of(separate_items(task.texts, task.ratings))
    told = Settings(
        tuple(settings["kernels"]),
        options,
        settings["draws"],
        settings["seed"],
        curve=False,
        left_out={("neighbors", kernel): why for kernel, why in left_out.items()},
        threads=threads,
    )
    found = compare(rated, told)
    table = found.table.assign(note=[NOTES.join(note) for note in found.table["note"]])
    signed.write(
        path,
        table.round(DIGITS),
        {
            "kind": "comparison",
            "of": {"task": task.name},
            "provenance": task.provenance,
            "settings": dict(settings),
            "made_from": {"texts": task.text_sum},
            "signatures": [
                sign(["experiments/comparison.py"], task.text_sum, packages=["scikit-learn"]),
                *(
                    signature(name, task.text_sum, **options.get(name, {}))
                    for name in settings["kernels"]
                ),
            ],
            "facts": {"recommendation": recommendation(found), "warnings": warnings(rated, found)},
        },
    )


def read_comparisons(
    paths: Sequence[str | Path], settings: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """The rows of the data sets that have any, with ``provenance``; and notes for the footer.

    ``settings`` are those of each data set under which its file must have been made.

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    found, notes = {}, []
    for path in paths:
        task = Path(path).stem
        file = signed.read(
            path, "comparison", of={"task": task}, settings=settings[task], columns=COLUMNS
        )
        rows = file.content.astype(dict.fromkeys(NAMES, object))
        rows[list(NAMES)] = rows[list(NAMES)].fillna("")
        rows["note"] = pd.Series(
            [note.split(NOTES) if note else [] for note in rows["note"]], dtype=object
        )
        found[task] = rows.assign(provenance=file.about["provenance"])
        notes += [f"{task}: {sentence}" for sentence in file.about["facts"]["recommendation"]]
        notes += [signature_note(one, file.about) for one in file.about["signatures"]]
    return found, notes


def comparison_table(tasks: Sequence[str], found: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Every row of every data set; one that is not there has a row without numbers."""
    absent = {"provenance": "", "note": [[]], **dict.fromkeys(NAMES[:-1], "")}
    parts = [found[t] if t in found else pd.DataFrame(absent) for t in tasks]
    named = [part.assign(task=task) for task, part in zip(tasks, parts, strict=True)]
    order = ["task", *COLUMNS[:-1], "provenance", "note"]
    table = pd.concat(named, ignore_index=True).reindex(columns=order)
    whole = ["n", "n_covered", "systems"]
    return table.astype(dict.fromkeys(whole, "Int64"))
