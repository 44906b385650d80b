"""The count of published cells, over finished tables written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from refless.errors import StaleError
from refless.experiments.bleu_neighbors.agreement import (
    PUBLISHED_KERNELS,
    TABLES,
    agreement_cells,
    agreement_counts,
    read_tables,
)
from refless.report.tables import publish
from refless.store.files import file_sum, write_json

PUBLISHED = Path(__file__).parents[3] / "resources/published"
LOOKS = {
    "our_dialogue": {"published": "dialogue"},
    "our_generation": {"published": "generation"},
    "our_summarization": {"published": "summarization"},
    "mine": {"published": ""},
}
NAMES = {look["published"]: task for task, look in LOOKS.items()}
HUSE = ("table 1", "bertscore", "our_dialogue")


def as_ours(name: str) -> pd.DataFrame:
    """A table of ours in which every published cell is met."""
    table = pd.read_csv(PUBLISHED / f"{name}.csv", dtype=str, keep_default_na=False)
    for key in TABLES[name].keys:
        table[key] = table[key].map(lambda value: NAMES.get(value, value))
    model = table["model"] if "model" in table else pd.Series("bleu", table.index)
    table["kernel"] = [PUBLISHED_KERNELS.get(own, "") for own in model]
    table["reading"], table["provenance"] = "published", "computed"
    table["reason"], table["note"] = "", ""
    table["stand_in"] = 0
    for column in TABLES[name].columns:
        table[f"{column}_low"], table[f"{column}_high"] = table[column], table[column]
    return table


@pytest.fixture
def ours() -> dict[str, pd.DataFrame]:
    return {name: as_ours(name) for name in TABLES}


def written(ours: dict[str, pd.DataFrame], folder: Path) -> list[Path]:
    """Our tables as files, with the record by which a reader knows that they are whole."""
    paths = []
    for name, table in ours.items():
        path = folder / f"{name}.csv"
        table.to_csv(path, index=False)
        write_json({"sha256": file_sum(path)}, path.with_suffix(".json"))
        paths.append(path)
    return paths


def cells_of(ours: dict[str, pd.DataFrame], folder: Path, looks: Any = LOOKS) -> pd.DataFrame:
    """All the way through the files, as in a run."""
    printed = [PUBLISHED / f"{name}.csv" for name in TABLES]
    return agreement_cells(*read_tables(written(ours, folder), printed), looks)


def rows_of(table: pd.DataFrame, model: str, task: str) -> pd.Series:
    return (table["model"] == model) & (table["task"] == task)


def test_every_published_cell_is_counted_once(
    ours: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    # further rows of a key show what a choice does, and do not count
    word = ours["bleu_neighbors_table1"].assign(kernel="bleu.word", spearman="0.9")
    ours["bleu_neighbors_table1"] = pd.concat([word, ours["bleu_neighbors_table1"]])
    ours["bleu_neighbors_table2"]["provenance"] = "shipped"
    table = agreement_counts(cells_of(ours, tmp_path)).set_index(["table", "model"])
    counts = table.drop(columns=["provenance", "note"])
    cells = 18 * 4 + 9 + 14 * 3
    assert counts.loc[("all", "all")].tolist() == [cells, cells, 0, 0, 0]
    assert counts.loc[("table 1", "bleu"), "cells"] == 12
    assert counts.loc[("table 2", "all"), "cells"] == 9
    assert counts.loc[("table 3", "bleu_neighbors"), "cells"] == 30
    origins = table["provenance"]
    assert origins[("table 1", "all")] == "computed"
    assert origins[("table 2", "all")] == origins[("all", "all")] == "shipped"


def test_each_cell_that_is_not_equal_has_its_reason(
    ours: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    first = ours["bleu_neighbors_table1"]
    row = rows_of(first, "bleu", "our_dialogue")
    first.loc[row, ["spearman", "spearman_low", "spearman_high"]] = ["0.480", "0.4", "0.5"]
    first.loc[row, ["mse", "mse_low", "mse_high"]] = ["0.0264", "0.02", "0.03"]
    first.loc[row, ["p_below_0.01", "p_below_0.01_low", "p_below_0.01_high"]] = ["0", "", ""]
    first.loc[rows_of(first, "rouge", "our_generation"), "reading"] = "as configured"
    first.loc[rows_of(first, "bertscore", "our_summarization"), "kernel"] = "bertscore.another"
    absent = {"kernel": "bertscore", "reading": "", "note": "no torch; a | b", "mse": ""}
    absent |= {"reason": "no_torch", "provenance": ""}
    row = rows_of(first, "bertscore", "our_dialogue")
    first.loc[row, list(absent)] = list(absent.values())
    ours["bleu_neighbors_table2"] = ours["bleu_neighbors_table2"].iloc[1:]
    cells = cells_of(ours, tmp_path)
    found = cells[cells["agreement"] != "equal"].set_index(["table", "model", "row", "column"])
    found = found.sort_index()
    bleu = found.loc[("table 1", "bleu", "our_dialogue")]
    assert bleu["agreement"].to_dict() == {
        "spearman": "inside",
        "mse": "outside",
        "p_below_0.01": "outside",
    }
    assert "0.0100" in bleu.loc["spearman", "note"][0]
    notes = found["note"]
    assert notes.map(len).min() > 0
    assert "another reading" in notes[("table 1", "rouge", "our_generation", "mse")][0]
    assert "bertscore.another" in notes[("table 1", "bertscore", "our_summarization", "mse")][0]
    assert notes[(*HUSE, "mse")] == ["no torch; a | b"]
    assert found.loc[(*HUSE, "mse"), "reason"] == "no_torch"
    missing = ("table 2", "bleu", "our_dialogue → our_dialogue", "spearman")
    assert "no such row" in notes[missing][0]
    publish("bleu_neighbors_agreement", agreement_counts(cells), tmp_path / "out")
    publish("bleu_neighbors_agreement_cells", cells, tmp_path / "out")
    text = (tmp_path / "out/bleu_neighbors_agreement_cells.md").read_text()
    assert text.count("no torch; a | b") == 1
    assert text.count("| table 2 |") == 9


def test_a_stand_in_does_not_count(ours: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    """Whatever its note says: ``stand_in`` decides."""
    first = ours["bleu_neighbors_table1"]
    row = rows_of(first, "bertscore", "our_summarization")
    first.loc[row, ["stand_in", "note"]] = [1, "another scale"]
    first.loc[rows_of(first, "bleu", "our_summarization"), "note"] = "a stand-in for nothing"
    cells = cells_of(ours, tmp_path)
    own = cells[(cells["model"] == "bertscore") & (cells["row"] == "our_summarization")]
    assert set(own["agreement"]) == {"not available"}
    assert all("another scale" in note[0] for note in own["note"])
    assert own["ours"].isna().all()
    assert (cells["agreement"] == "not available").sum() == len(own)


def test_a_published_column_that_no_data_set_has_is_not_available(
    ours: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    cells = cells_of(ours, tmp_path, {"mine": {"published": ""}})
    lost = cells["agreement"] == "not available"
    assert set(cells.loc[lost, "table"]) == {"table 1", "table 2"}
    assert lost.sum() == 18 * 4 + 9


def test_sets_that_are_all_numbers_are_found(ours: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    third = ours["bleu_neighbors_table3"]
    ours["bleu_neighbors_table3"] = third[third["train_topic"].str.isdigit()]
    cells = cells_of(ours, tmp_path)
    assert (cells["agreement"] == "not available").sum() == 3


def test_a_table_that_is_not_whole_is_refused(
    ours: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    paths = written(ours, tmp_path)
    paths[1].write_text(paths[1].read_text().replace("0.", "1.", 1))
    with pytest.raises(StaleError, match="table2"):
        read_tables(paths, [])
