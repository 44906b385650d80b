"""Rows of the tables of BLEU Neighbors: their cells, and the published values beside them.

Stage: cell -> table. In: estimates, rows, published cells. Out: a table for `publish`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from refless.statistics import evaluate

Array = np.ndarray
Rows = list[dict[str, Any]]
Looks = Mapping[str, Mapping[str, Any]]
"""Task -> how it is shown, all tasks in order; ``published`` is its name in the paper."""

WHOLE = ("n", "stand_in", "p_below_0.01")


def with_intervals(*names: str) -> list[str]:
    """Each name, and those of the ends of its interval."""
    return [f"{name}{end}" for name in names for end in ("", "_low", "_high")]


def cells(
    estimate: Array, quality: Array, draws: int, seed: int, units: Array | None = None
) -> dict[str, Any]:
    """The columns of estimates, NaN where undefined, against quality: see `evaluate`."""
    found = evaluate(estimate, quality, draws, seed, units)
    return {
        **found.mse.columns("mse"),
        **found.spearman.columns("spearman"),
        **found.coverage.columns("coverage"),
        "p": found.p_value,
        # what the paper prints is a star at p < 0.01: without a p-value there is none
        "p_below_0.01": int(found.p_value < 0.01),
        "n": found.n,
        "reason": "" if found.n_covered else "no_neighbors",
    }


def in_order(looks: Looks, there: Iterable[str]) -> list[str]:
    """The tasks, those with numbers first."""
    there = set(there)
    return sorted(looks, key=lambda task: task not in there)


def of_our_tasks(published: pd.DataFrame, looks: Looks) -> pd.DataFrame:
    """Published cells under our names of tasks, without those of tasks that are not configured."""
    names = {look["published"]: task for task, look in looks.items() if look["published"]}
    roles = [str(name) for name in published if str(name).endswith("task")]
    table = published.assign(**{role: published[role].map(names) for role in roles})
    return table.dropna(subset=roles)


def beside_paper(
    rows: Rows, published: pd.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    """The table of these columns: our rows, then those that the paper alone has. Of each task (else
    of the whole table), rows of the paper come first.

    ``published`` has the ``keys``, by which it names one of our rows, and values as printed, which
    are shown as ``paper_<column>``.
    """
    values = [name for name in published if name not in keys]
    printed = {tuple(row[key] for key in keys): row for row in published.to_dict("records")}
    ours = {tuple(row[key] for key in keys): row for row in rows}
    found = []
    for key in [*ours, *(key for key in printed if key not in ours)]:
        row = ours.get(key, {**dict(zip(keys, key, strict=True)), "reason": "not_configured"})
        paper = printed.get(key, dict.fromkeys(values, ""))
        found.append(
            {
                **row,
                **{f"paper_{name}": paper[name] for name in values},
                "by_us": key not in printed,
            }
        )
    order = list(dict.fromkeys(row.get("task") for row in found))
    found.sort(key=lambda row: (order.index(row.get("task")), row["by_us"]))
    table = pd.DataFrame(found).reindex(columns=list(columns))
    for name in {"kernel", "source", "reason"} & set(columns):
        table[name] = table[name].astype(object).fillna("")
    for name in {*WHOLE} & set(columns):
        table[name] = table[name].astype("Int64")
    return table
