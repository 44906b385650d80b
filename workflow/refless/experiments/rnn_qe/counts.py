"""Tables 1 and 2 of the RNN-QE paper: rated outputs by system, training instances by set-up.

Stage: cell -> table. In: counts from `refless.experiments.rnn_qe.outputs.counts`. Out: tables, as
data and for reading, with the reason for each difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from refless.experiments.rnn_qe.outputs import OWN_REFERENCES
from refless.report.published import beside_published, markdown, number

DATASETS = ("bagel", "sfrest", "sfhot")
SYSTEMS = ("LOLS", "RNNLG", "TGen")
KINDS = {
    "rated": "rated outputs",
    "from_output": "outputs with 0 to 4 errors",
    "from_reference": "references by MR, likewise",
    "from_source": "source sets, likewise",
}
# Why a count under `first_part` is not the paper's, by set-up.
_REFERENCES = (
    "fewer references: the paper's file of ratings joined with references was not to be had, ours"
    " joins them by normalised MR (1,901 for its first part and 4,348 in all would give its sizes)"
)
_SOURCES = "its SFRest and SFHot training parts have two rows more than the public files"
REASONS = {
    "1": "",
    "2": "folds of the paper are a row uneven: 1,477 + 5 x 492",
    "3": _REFERENCES,
    "4": f"{_REFERENCES}; {_SOURCES}",
    "5": f"{_REFERENCES}; {_SOURCES}",
    "6": _REFERENCES,
}
_ALL = (
    "as the paper's text says: errors in all training outputs, each reference once; its own sizes"
    " come from one of the three training parts"
)


def table1(
    counts: Mapping[str, Any] | None, published: pd.DataFrame, provenance: str, absent: str = ""
) -> pd.DataFrame:
    """Rated outputs by system and data set, with totals.

    Parameters
    ----------
    counts : from `refless.experiments.rnn_qe.outputs.counts`, None if absent
    absent : why there are none
    """
    rows: list[dict[str, Any]] = []
    for system in (*SYSTEMS, "total"):
        row: dict[str, Any] = {"system": system, "provenance": provenance, "note": ""}
        if counts is None:
            row["note"] = f"not available: {absent}"
        else:
            own = counts["ratings"]
            chosen = SYSTEMS if system == "total" else (system,)
            for dataset in DATASETS:
                row[dataset] = sum(own.get(name, {}).get(dataset, 0) for name in chosen)
            row["total"] = sum(row[dataset] for dataset in DATASETS)
        rows.append(row)
    columns = [*DATASETS, "total"]
    table = beside_published(pd.DataFrame(rows), published, ["system"], columns)
    shown = [name for column in columns for name in (column, f"paper_{column}")]
    table = table.reindex(columns=["system", *shown, "agreement", "provenance", "note"])
    return table.astype(dict.fromkeys(columns, "Int64"))


def table1_markdown(table: pd.DataFrame, counts: Mapping[str, Any] | None) -> str:
    """Table 1 for reading, and how many outputs find a human reference."""
    header = ["system", *DATASETS, "total", "agreement"]
    lines = [
        [
            str(row["system"]),
            *(f"{_count(row[c])} [{row[f'paper_{c}']}]" for c in (*DATASETS, "total")),
            str(row["agreement"]),
        ]
        for row in table.to_dict("records")
    ]
    parts = [markdown(header, lines)]
    if counts is None:
        parts.append(str(table["note"].iloc[0]))
    else:
        parts.append("## Human references of the same MR")
        header = ["data set", "outputs", "with a reference", "MRs", "references"]
        names = ["dataset", "outputs", "matched", "mrs", "references"]
        parts.append(
            markdown(header, [[str(row[name]) for name in names] for row in counts["matches"]])
        )
        parts.append(
            f"{counts['repeated']} outputs repeat the MR and the text of another one; they stay in"
            f" one fold. Once delexicalised, {counts['seen']:.0%} of the test outputs have an equal"
            " one, MR and text, in their fold's training part."
        )
    return "\n\n".join(parts)


def table2(
    counts: Mapping[str, Any] | None, published: pd.DataFrame, provenance: str, absent: str = ""
) -> pd.DataFrame:
    """Training instances by set-up: the mean of the folds, from fewest to most.

    Rows ``first_part`` are those beside the paper; ``all_parts`` shows what its text says. The
    columns of `KINDS` say what the instances are, `OWN_REFERENCES` the share of test outputs of
    which a human reference is among them (means of the folds).
    """
    rows: list[dict[str, Any]] = []
    for synthesise in ("first_part", "all_parts"):
        for setup, reason in REASONS.items():
            row: dict[str, Any] = {"setup": setup, "synthesise": synthesise}
            row |= {"provenance": provenance, "note": reason}
            if synthesise == "all_parts" and setup != "1":
                row["note"] = _ALL
            if counts is None:
                rows.append(row | {"note": f"not available: {absent}", "provenance": ""})
                continue
            folds = counts["instances"][synthesise][setup]
            totals = [sum(fold[kind] for kind in KINDS) for fold in folds]
            row["training_instances"] = sum(totals) / len(totals)
            row["training_instances_fewest"] = min(totals)
            row["training_instances_most"] = max(totals)
            for kind in (*KINDS, OWN_REFERENCES):
                row[kind] = sum(fold[kind] for fold in folds) / len(folds)
            rows.append(row)
    table = beside_published(pd.DataFrame(rows), published, ["setup"], ["training_instances"])
    exact = (table["agreement"] == "equal") & (table["synthesise"] == "first_part")
    table.loc[exact, "note"] = ""
    name = "training_instances"
    columns = ["setup", "synthesise", name, f"{name}_fewest", f"{name}_most", f"paper_{name}"]
    shown = [*columns, "agreement", *KINDS, OWN_REFERENCES, "provenance", "note"]
    return table.reindex(columns=shown)


def table2_markdown(table: pd.DataFrame) -> str:
    """Table 2 for reading; reasons are numbered below."""
    reasons: dict[str, int] = {}
    header = ["set-up", "made from", "instances", "fewest to most", "paper", *KINDS.values()]
    header += ["tested with own references"]
    lines = []
    for row in table.to_dict("records"):
        low, high = (_count(row[f"training_instances_{end}"]) for end in ("fewest", "most"))
        reason = str(reasons.setdefault(row["note"], len(reasons) + 1)) if row["note"] else ""
        lines.append(
            [
                str(row["setup"]),
                f"`{row['synthesise']}`",
                _count(row["training_instances"]),
                low if low == high else f"{low} to {high}",
                _count(row["paper_training_instances"]),
                *(_count(row[kind]) for kind in KINDS),
                number(row[OWN_REFERENCES], 2),
                str(row["agreement"]),
                reason,
            ]
        )
    listed = "\n".join(f"{count}. {why}" for why, count in reasons.items())
    return f"{markdown([*header, 'agreement', 'reason'], lines)}\n\n{listed}"


def _count(value: Any) -> str:
    if value == "" or pd.isna(value):
        return "–"
    return f"{round(float(value)):,}"
