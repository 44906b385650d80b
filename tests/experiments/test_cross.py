"""The count of published cells, on texts written here."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from refless.errors import FormatError
from refless.experiments.bleu_neighbors.agreement import (
    TABLES,
    agreement_cells,
    agreement_counts,
    agreement_markdown,
)
from refless.experiments.bleu_neighbors.table1 import kernel_note
from refless.experiments.bleu_neighbors.table2 import KEYS
from refless.report.published import read_published

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "resources/published"


# ---- agreement -----------------------------------------------------------------------------------


def published_tables() -> dict[str, pd.DataFrame]:
    return {name: read_published(PUBLISHED / f"{name}.csv", t.keys) for name, t in TABLES.items()}


def as_ours(name: str, published: pd.DataFrame) -> pd.DataFrame:
    """A table of ours in which every published cell is met."""
    table = published.copy()
    for key in TABLES[name].keys:
        table[key] = table[key].map(
            lambda value: (
                f"huse_{value}" if value in ("dialogue", "generation", "summarization") else value
            )
        )
    kernels = {"bleu": "bleu.char", "rouge": "rouge_l.stem", "meteor": "meteor.nltk35"}
    kernels |= {"bertscore": "bertscore.roberta-large", "bleu_neighbors": "bleu.char"}
    model = table["model"] if "model" in table else pd.Series("bleu", table.index)
    table["kernel"] = [kernels.get(name, "") for name in model]
    table["provenance"], table["note"] = "computed", ""
    if "model" in table:
        table["reading"] = "published"
    for column in TABLES[name].columns:
        table[f"{column}_low"], table[f"{column}_high"] = table[column], table[column]
    return table


def test_every_published_cell_is_counted_once() -> None:
    published = published_tables()
    ours = {name: as_ours(name, table) for name, table in published.items()}
    # further rows of a key show what a choice does, and do not count
    word = ours["bleu_neighbors_table1"].assign(kernel="bleu.word", spearman="0.9")
    ours["bleu_neighbors_table1"] = pd.concat([word, ours["bleu_neighbors_table1"]])
    counts = agreement_counts(agreement_cells(ours, published)).set_index(["table", "model"])
    cells = 18 * 4 + 9 + 14 * 3
    assert counts.loc[("all", "all")].tolist() == [cells, cells, 0, 0, 0]
    assert counts.loc[("table 1", "bleu"), "cells"] == 12
    assert counts.loc[("table 2", "all"), "cells"] == 9
    assert counts.loc[("table 3", "bleu_neighbors"), "cells"] == 30


def test_each_cell_that_is_not_equal_has_its_reason() -> None:
    published = published_tables()
    ours = {name: as_ours(name, table) for name, table in published.items()}
    first = ours["bleu_neighbors_table1"]
    row = (first["model"] == "bleu") & (first["task"] == "huse_dialogue")
    first.loc[row, ["spearman", "spearman_low", "spearman_high"]] = ["0.480", "0.4", "0.5"]
    first.loc[row, ["mse", "mse_low", "mse_high"]] = ["0.0264", "0.02", "0.03"]
    first.loc[row, ["p_below_0.01", "p_below_0.01_low", "p_below_0.01_high"]] = ["0", "", ""]
    row = (first["model"] == "rouge") & (first["task"] == "huse_generation")
    first.loc[row, "reading"] = "as configured"
    row = (first["model"] == "bertscore") & (first["task"] == "huse_summarization")
    first.loc[row, "kernel"] = "bertscore.another"
    row = (first["model"] == "bertscore") & (first["task"] == "huse_dialogue")
    first.loc[row, ["kernel", "reading", "note", "mse"]] = ["bertscore", "", "no torch", ""]
    ours["bleu_neighbors_table2"] = ours["bleu_neighbors_table2"].iloc[1:]
    cells = agreement_cells(ours, published)
    found = cells[cells["agreement"] != "equal"].set_index(["table", "model", "row", "column"])
    found = found.sort_index()
    bleu = found.loc[("table 1", "bleu", "huse_dialogue")]
    assert bleu["agreement"].to_dict() == {
        "spearman": "inside",
        "mse": "outside",
        "p_below_0.01": "outside",
    }
    assert bleu.loc["spearman", "note"].startswith("0.0100 from the paper's")
    assert bleu.loc["p_below_0.01", "note"] == "ours is 0, the paper's 1"
    notes = found["note"]
    assert "another reading" in notes[("table 1", "rouge", "huse_generation", "mse")]
    assert "bertscore.another" in notes[("table 1", "bertscore", "huse_summarization", "mse")]
    assert notes[("table 1", "bertscore", "huse_dialogue", "mse")] == "no torch"
    missing = ("table 2", "bleu", "huse_dialogue → huse_dialogue", "spearman")
    assert notes[missing] == "our table has no such row"
    assert (notes != "").all()
    text = agreement_markdown(agreement_counts(cells), cells)
    assert "bertscore.another" in text
    assert text.count("| table 2 |") == 2 + 9


def test_a_published_kernel_in_another_form_does_not_count() -> None:
    published = published_tables()
    ours = {name: as_ours(name, table) for name, table in published.items()}
    first = ours["bleu_neighbors_table1"]
    row = (first["model"] == "bertscore") & (first["task"] == "huse_summarization")
    changed = {"kernel": "bertscore.roberta-large", "options": {"rescale": False}}
    first.loc[row, "note"] = kernel_note(changed, 0.1)
    cells = agreement_cells(ours, published)
    own = cells[(cells["model"] == "bertscore") & (cells["row"] == "huse_summarization")]
    assert set(own["agreement"]) == {"not available"}
    assert own["note"].str.contains("another form: a stand-in").all()
    assert own["ours"].isna().all()
    assert (cells["agreement"] == "not available").sum() == len(own)


def test_a_published_table_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FormatError, match="source_task"):
        read_published(tmp_path / "table.csv", KEYS)
