"""The numbers that come with refless: no text in them, and enough for `make`."""

from pathlib import Path

import pandas as pd
import pytest

from refless.report.catalogue import tables
from refless.store import sealed
from tests.conftest import OFFLINE, ROOT, Project, copy_project, made_once

SHIPPED = ROOT / "resources/shipped"
FILES = sorted(path for path in SHIPPED.rglob("*.*") if path.suffix in (".csv", ".gz"))
FILES = [path for path in FILES if path.name != "manifest.csv"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SHIPPED).as_posix())
def test_a_shipped_file_is_whole_and_holds_no_text(path: Path) -> None:
    file = sealed.read(path)
    assert file.about["provenance"] == "shipped"
    for column, values in file.content.select_dtypes(["object", "str"]).items():
        # names and choices, at most
        assert values.fillna("").astype(str).str.count(r"\s").max() < 4, column
    if path.name == "texts.csv":
        assert set(file.content["text"]) == {""}
        assert file.content["context"].str.fullmatch(r"(c\d+)?").all()
    if path.name == "ratings.csv":
        assert file.content["rater"].str.fullmatch(r"r\d{3,}").all()


def cells(project: Project, name: str) -> pd.DataFrame:
    return pd.read_csv(project.path / f"results/tables/{name}.csv", dtype={"setup": str})


def test_make_needs_no_data_and_its_numbers_are_labelled(quick: Project) -> None:
    first = cells(quick, "bleu_neighbors_table1")
    there = first[first["mse"].notna()]
    assert set(there["task"]) == {"huse_summarization", "dstc7"}
    assert set(there["source"]) == {"shipped"}
    assert first.loc[first["source"].isna(), "reason"].notna().all()
    for name, column in (
        ("bleu_neighbors_table3", "n"),
        ("delta_bleu_table2", "spearman"),
        ("rnn_qe_table3", "pearson"),
    ):
        table = cells(quick, name)
        found = set(table.loc[table[column].notna() & table["source"].notna(), "source"])
        assert "shipped" in found, name
    assert (quick.path / "results/report.html").is_file()
    assert not (quick.path / "resources/data").exists()


def test_a_second_make_makes_nothing_and_says_where_the_files_are(quick: Project) -> None:
    assert quick.planned(*OFFLINE, "--", "all") == {}
    said = quick.snakemake(*OFFLINE, "--", "all")
    last = said[said.index("report   ") :].strip().splitlines()
    assert len(last) == 6
    assert str(quick.path / "results/report.html") in last[0]
    assert "shipped" in last[3]


def test_the_report_records_the_command_that_was_typed(quick: Project) -> None:
    provenance = (quick.path / "results/run/provenance.json").read_text(encoding="utf-8")
    assert "network=False" in provenance


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, mirror: str) -> Project:
    """A copy with the real data, after all of BLEU Neighbors. Only to look at."""

    def make(base: Path) -> Project:
        project = copy_project(base / "project", mirror)
        project.snakemake("bleu_neighbors")
        return project

    return made_once(tmp_path_factory, "real", make)


def test_shipped_and_computed_numbers_are_equal(real: Project) -> None:
    compared = 0
    for path in FILES:
        place = real.path / "results" / path.relative_to(SHIPPED)
        if place.is_file() and path.parts[-3] != "ratings":
            one, two = (sealed.read(p).content for p in (path, place))
            pd.testing.assert_frame_equal(one, two, check_exact=False, rtol=1e-5, atol=1e-9)
            compared += 1
    assert compared > 6


def test_shipped_and_computed_tables_agree(real: Project, quick: Project) -> None:
    for name in tables():
        if name.startswith("bleu_neighbors_"):
            one, two = (cells(project, name) for project in (real, quick))
            # why a cell is missing, and where it comes from, is another matter in each
            values = [c for c in one if c not in ("source", "reason")]
            told = {"rtol": 1e-4, "atol": 1e-9, "obj": name}
            pd.testing.assert_frame_equal(one[values], two[values], check_exact=False, **told)
