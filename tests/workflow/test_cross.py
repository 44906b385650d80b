"""Table 2, section 5.3, HUSE and the count of cells, with small files of all three HUSE batches."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from refless.store.signed_tables import read_numbers

from refless.report.published import read_published
from tests.conftest import ROOT, Project, small_project
from tests.workflow import small_data

pytestmark = pytest.mark.workflow

TARGETS = [f"bleu_neighbors_{name}" for name in ("table2", "section53", "huse", "agreement")]
HUSE = ["huse_dialogue", "huse_generation", "huse_summarization"]
BATCHES = {
    "huse/reddit_results_reformatted.csv": (
        "LOGP_1.0.txt",
        "HUMAN_REDDIT1.0",
        "LOGP_0.7.txt",
        "HUMAN_REDDIT0.7",
    ),
    "huse/lm_results.csv": ("LM", "HUMAN_LM"),
}


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small project that has the three HUSE batches, after the four tables."""
    project = small_project(tmp_path_factory.mktemp("three"))
    files = {name: Path(project.mirror) / name for name in BATCHES}
    for seed, (name, types) in enumerate(BATCHES.items(), start=11):
        small_data.write_huse_batch(files[name], items=80, seed=seed, types=types)
    small_data.register(project.path, files)
    project.snakemake(*TARGETS)
    return project


def table(project: Project, name: str) -> pd.DataFrame:
    return pd.read_csv(
        project.path / f"results/tables/bleu_neighbors_{name}.csv", dtype=str, keep_default_na=False
    )


def test_table2_is_filled_by_the_batches_that_are_there(three: Project) -> None:
    own = table(three, "table2")
    own = own[(own["kernel"] == "bleu.char") & own["source_task"].isin(HUSE)]
    own = own[own["target_task"].isin(HUSE)].set_index(["source_task", "target_task"])
    assert len(own) == 9
    assert set(own["provenance"]) == {"computed"}
    assert (
        own["paper_spearman"].tolist()
        == read_published(ROOT / "resources/published/bleu_neighbors_table2.csv", [])[
            "spearman"
        ].tolist()
    )
    for source in HUSE:
        for target in HUSE:
            training = 60 if source == "huse_summarization" else 80
            assert own.loc[(source, target), "n_train"] == str(training - (source == target))


def test_the_diagonal_of_table2_is_table1(three: Project) -> None:
    first = table(three, "table1")
    first = first[(first["kernel"] == "bleu.char") & (first["reading"] == "published")]
    second = table(three, "table2")
    second = second[second["kernel"] == "bleu.char"].set_index(["source_task", "target_task"])
    for row in first[first["task"].isin(HUSE)].to_dict("records"):
        diagonal = second.loc[(row["task"], row["task"])]
        for column in ("spearman", "spearman_low", "mse", "coverage", "coverage_high", "p_value"):
            assert diagonal[column] == row[column]


def test_section53_starts_from_table1s_annotators(three: Project) -> None:
    own = table(three, "section53")
    own = own[(own["model"] == "bleu") & own["task"].isin(HUSE)].set_index("task")
    first = table(three, "table1")
    people = first[(first["model"] == "human_average") & (first["reading"] == "published")]
    people = people.set_index("task")
    for task in HUSE:
        assert float(own.loc[task, "mse_all"]) == pytest.approx(float(people.loc[task, "mse"]))
        assert own.loc[task, "p_value"] != ""
        # the bootstrap draws the same candidates
        low = float(people.loc[task, "mse_low"])
        assert float(own.loc[task, "mse_all_low"]) == pytest.approx(low)


def test_section53_says_what_table1_says_of_a_missing_kernel(three: Project) -> None:
    """And has the mean over all texts all the same, which needs no kernel."""
    own, first = (
        frame[frame["model"] == "bertscore"].set_index("task")
        for frame in (table(three, "section53"), table(three, "table1"))
    )
    bleu = table(three, "section53").drop_duplicates("task").set_index("task")
    for task in [*HUSE, "dstc7"]:
        reason = first.loc[task, "note"].partition("real ratings, under its own name | ")
        assert own.loc[task, "note"] == (reason[2] or reason[0])
        assert own.loc[task, "mse_all"] == bleu.loc[task, "mse_all"] != ""
        assert own.loc[task, "mse_covered"] == ""
    assert "skip_tasks" in own.loc["dstc7", "note"]
    assert "refless-tiny" in own.loc["huse_dialogue", "note"]


def test_huse_has_a_row_for_each_model_of_a_batch(three: Project) -> None:
    own = table(three, "huse")
    own = own[own["reading"] == "published"]
    found = own.groupby("task")["system"].unique().map(sorted).to_dict()
    assert found == {
        "huse_dialogue": ["reddit_0.7", "reddit_1.0"],
        "huse_generation": ["lm"],
        "huse_summarization": ["sum"],
    }
    human = own[(own["quality"] == "human") & (own["items"] == "all")].set_index("system")
    assert human["n"].to_dict() == {"reddit_1.0": "40", "reddit_0.7": "40", "lm": "80", "sum": "60"}
    assert (human["huse"] != "").all()


def test_every_cell_is_counted_and_has_a_reason(three: Project) -> None:
    counts = table(three, "agreement").set_index(["table", "model"])
    assert counts.loc[("all", "all"), "cells"] == "123"
    cells = table(three, "agreement_cells")
    assert len(cells) == 123
    assert (cells.loc[cells["agreement"] != "equal", "note"] != "").all()
    second = cells[cells["table"] == "table 2"]
    assert (second["ours"] != "").sum() == 9  # all nine pairs are there
    text = (three.path / "results/tables/bleu_neighbors_agreement.md").read_text(encoding="utf-8")
    assert "| all | all | 123 |" in text


def test_a_second_run_does_nothing(three: Project) -> None:
    assert three.planned(*TARGETS) == {}


def test_shipped_numbers_give_the_same_tables(three: Project) -> None:
    """What `ship` writes is numbers alone, and enough for these tables without any data."""
    names = ["table2", "section53", "huse", "agreement", "agreement_cells"]
    before = {name: table(three, name) for name in names}
    for shipped in (three.path / "resources/shipped").rglob("*.*"):
        shipped.unlink()
    three.snakemake("ship")
    shipped = three.path / "resources/shipped"
    numbers = [*(shipped / "cross_task").glob("*.csv"), *shipped.glob("*/huse/items.csv")]
    assert len(numbers) >= 9 + 3
    for path in numbers:
        own, about = read_numbers(path, ["id"])
        assert about["provenance"] == "shipped"
        names_only = own.drop(columns=[c for c in ("id", "item", "system") if c in own])
        assert all(kind.kind in "fi" for kind in names_only.dtypes)
    without = Project(three.path)
    without.snakemake(*TARGETS, "--config", "numbers=shipped")
    for name in names:
        after = table(without, name)
        for frame in (after, before[name]):  # why a cell is missing is another matter in each
            if "note" in frame:
                frame.loc[frame["note"].str.contains("not available:"), "note"] = ""
        changed = [c for c in after if c != "provenance" and not after[c].equals(before[name][c])]
        assert changed == [], name
    assert set(table(without, "table2")["provenance"]) <= {"shipped", ""}
