"""Table 2 of the ΔBLEU paper.

Stage: cell -> table. In: the files by `refless.experiments.delta_bleu.units`, and what the paper
reports. Out: a row for each metric and set of references on each data set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from refless.store import sealed

KEYS = ["task", "metric", "references", "contexts", "tokens", "rule"]
PAPER = "twitter"
"""The paper's own data, which is no data set here."""
NOT_PUBLIC = {
    "of": {"task": PAPER},
    "code": "not_public",
    "sentence": "only identifiers of the paper's tweets are public, no texts",
    "remedy": "",
}
"""Why there are no numbers of it, as `refless.report.tables.publish` wants to be told."""
SHOWN = [
    *KEYS,
    *("spearman", "spearman_low", "spearman_high", "paper_spearman_low", "paper_spearman_high"),
    *("kendall", "kendall_low", "kendall_high"),
    *("references_per_context", "without_good_reference", "n", "source"),
    "spearman_draws",
]


def read_rows(paths: Iterable[str | Path]) -> dict[str, sealed.Sealed]:
    """Data set -> its numbers. Raises as `refless.store.sealed.read`."""
    return {Path(path).parent.name: sealed.read(path) for path in paths}


def table2(
    tasks: Iterable[str], units: Mapping[str, sealed.Sealed], published: pd.DataFrame
) -> pd.DataFrame:
    """The paper's cells, then every row of each data set; one row for each without numbers.

    Parameters
    ----------
    tasks : the data sets in the order of the rows
    units : of those that are there, by `read_rows`
    published : `refless.report.published.read_published`
    """
    ends = ["spearman_low", "spearman_high"]
    paper = published.rename(columns={name: f"paper_{name}" for name in ends})
    parts = [paper.assign(task=PAPER, source="")]
    for task in tasks:
        own = pd.DataFrame([{"source": ""}])
        if task in units:
            rows = units[task].content
            own = rows[rows["panel"] == "table"].assign(source=units[task].about["provenance"])
        parts.append(own.assign(task=task))
    table = pd.concat(parts, ignore_index=True).reindex(columns=SHOWN)
    for name in [*KEYS, *(f"paper_{name}" for name in ends)]:
        table[name] = table[name].astype(object).fillna("")
    return table.astype({"n": "Int64"})


def figure2(units: Mapping[str, sealed.Sealed]) -> pd.DataFrame:
    """The points of figure 2, panel by panel."""
    shown = ["task", "panel", "metric", "references", "unit", "order", "spearman"]
    parts = [own.content.assign(task=task) for task, own in units.items()]
    table = pd.concat(parts or [pd.DataFrame(columns=shown)], ignore_index=True)
    return table.loc[table["panel"] != "table", shown]
