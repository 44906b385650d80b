"""Tables 1 and 2 of the RNN-QE paper: rated outputs by system, training instances by set-up.

Stage: cell -> table. In: counts from `refless.experiments.rnn_qe.outputs.counts`. Out: tables, with
a note on each difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from refless.experiments.rnn_qe.outputs import OWN_REFERENCES
from refless.experiments.rnn_qe.stored import Gathered
from refless.models.rnn_qe.data import SYNTHESISE
from refless.report.published import beside_published, read_published
from refless.report.tables import publish

KINDS = ("rated", "from_output", "from_reference", "from_source")
"""What instances are: rated outputs; and, each as it is and with 1 to 4 errors, outputs, references
of their MRs, texts of the source sets."""
# Why a count under `first_part` is not the paper's, by set-up.
_REFERENCES = (
    "fewer references: the paper's file of ratings joined with references was not to be had, ours"
    " joins them by normalised MR (1,901 for its first part and 4,348 in all would give its sizes)"
)
_SOURCES = "the training parts of the paper's source sets have two rows more than the public files"
REASONS = {
    "1": [],
    "2": ["folds of the paper are a row uneven: 1,477 + 5 x 492"],
    "3": [_REFERENCES],
    "4": [_REFERENCES, _SOURCES],
    "5": [_REFERENCES, _SOURCES],
    "6": [_REFERENCES],
}
_ALL = (
    "as the paper's text says: errors in all training outputs, each reference once; its own sizes"
    " come from one of the three training parts"
)


def table1(
    counts: Mapping[str, Any] | None,
    published: pd.DataFrame,
    datasets: Sequence[str],
    provenance: str = "computed",
) -> pd.DataFrame:
    """Rated outputs by system and data set, with totals.

    Parameters
    ----------
    counts : from `refless.experiments.rnn_qe.outputs.counts`, None if they cannot be had
    datasets : those of the human references, in order; each is a column
    """
    columns = [*datasets, "total"]
    published = published.reindex(columns=["system", *columns], fill_value="")
    by_system = {} if counts is None else counts["ratings"]
    systems = [system for system in published["system"] if system != "total"]
    systems += [system for system in by_system if system not in systems]
    rows: list[dict[str, Any]] = []
    for system in (*systems, "total"):
        row: dict[str, Any] = {"system": system, "provenance": "", "note": []}
        if counts is not None:
            row["provenance"] = provenance
            chosen = systems if system == "total" else [system]
            for dataset in datasets:
                row[dataset] = sum(by_system.get(name, {}).get(dataset, 0) for name in chosen)
            row["total"] = sum(row[dataset] for dataset in datasets)
        rows.append(row)
    table = beside_published(pd.DataFrame(rows), published, ["system"], columns)
    shown = [name for column in columns for name in (column, f"paper_{column}")]
    table = table.reindex(columns=["system", *shown, "agreement", "provenance", "note"])
    return table.astype(dict.fromkeys(columns, "Int64"))


def count_notes(counts: Mapping[str, Any]) -> list[str]:
    """How many outputs find a human reference, and how many repeat, for the footer of table 1."""
    return [
        *(
            f"{row['dataset']}: of {row['outputs']} outputs {row['matched']} have a human reference"
            f" of the same MR ({row['mrs']} MRs, {row['references']} references)"
            for row in counts["matches"]
        ),
        f"{counts['repeated']} outputs repeat the MR and the text of another one; they stay in one"
        f" fold; once delexicalised, {counts['seen']:.0%} of the test outputs have an equal one, MR"
        " and text, in their fold's training part",
    ]


def table2(
    counts: Mapping[str, Any] | None, published: pd.DataFrame, provenance: str = "computed"
) -> pd.DataFrame:
    """Training instances by set-up: the mean of the folds, from fewest to most.

    Rows ``first_part`` are those beside the paper; ``all_parts`` shows what its text says. The
    columns of `KINDS` say what the instances are, `OWN_REFERENCES` the share of test outputs of
    which a human reference is among them (means of the folds).
    """
    rows: list[dict[str, Any]] = []
    for synthesise in SYNTHESISE:
        for setup, reasons in REASONS.items():
            row: dict[str, Any] = {"setup": setup, "synthesise": synthesise}
            row |= {"provenance": "", "note": []}
            rows.append(row)
            if counts is None:
                continue
            everything = synthesise == "all_parts" and setup != "1"
            row |= {"provenance": provenance, "note": [_ALL] if everything else reasons}
            folds = counts["instances"][synthesise][setup]
            totals = [sum(fold[kind] for kind in KINDS) for fold in folds]
            row["training_instances"] = sum(totals) / len(totals)
            row["training_instances_fewest"] = min(totals)
            row["training_instances_most"] = max(totals)
            for kind in (*KINDS, OWN_REFERENCES):
                row[kind] = sum(fold[kind] for fold in folds) / len(folds)
    table = beside_published(pd.DataFrame(rows), published, ["setup"], ["training_instances"])
    exact = (table["agreement"] == "equal") & (table["synthesise"] == "first_part")
    table["note"] = [[] if same else note for same, note in zip(exact, table["note"], strict=True)]
    name = "training_instances"
    columns = ["setup", "synthesise", name, f"{name}_fewest", f"{name}_most", f"paper_{name}"]
    shown = [*columns, "agreement", *KINDS, OWN_REFERENCES, "provenance", "note"]
    return table.reindex(columns=shown)


def write_tables(
    folder: str | Path, given: Gathered, published: Sequence[str | Path], datasets: Sequence[str]
) -> None:
    """Publish tables 1 and 2.

    Parameters
    ----------
    published : the paper's two tables
    datasets : see `table1`

    Raises
    ------
    FormatError : a published table is not the one that comes with refless.
    """
    counts, provenance, notes, counted = None, "", [], []
    if given.outputs is not None:
        about = given.outputs.about
        counts, notes = about["facts"]["counts"], about["facts"]["notes"]
        provenance, counted = about["provenance"], count_notes(counts)
    first, second = published
    made = table1(counts, read_published(first, ["system"]), datasets, provenance)
    publish("rnn_qe_table1", made, folder, missing=given.missing, notes=[*notes, *counted])
    made = table2(counts, read_published(second, ["setup"]), provenance)
    publish("rnn_qe_table2", made, folder, missing=given.missing, notes=notes)
