"""What a change makes again and what it leaves alone; the workflow from another place; the numbers
that come with refless."""

import os
import re
import shutil
import time
import tomllib
from pathlib import Path

import pandas as pd
import pytest
import yaml

from refless.data.task import read_task
from refless.report.catalogue import catalogue
from refless.report.fill import PLACE, filled, read_numbers
from refless.store import sealed
from tests.conftest import OFFLINE, ROOT, SHIPPED, Project, copy_project, made_once

RATINGS = "results/ratings/mine/ratings.csv"

# What is edited; jobs that must be planned, and jobs that must not.
EDITS = [
    (
        "workflow/refless/kernels/rouge_l.py",
        {"compute_kernel", "predict_neighbors", "bleu_neighbors_table1"},
        {"normalize_ratings", "compute_data_size_curve", "predict_essays", "score_delta_bleu"},
    ),
    (
        "workflow/refless/models/delta_bleu.py",
        {"score_delta_bleu", "delta_bleu_table2"},
        {"compute_kernel", "predict_neighbors", "predict_essays"},
    ),
    (
        "workflow/refless/data/sources/usr.py",
        {"normalize_ratings", "score_delta_bleu"},
        {"compute_kernel", "predict_essays"},
    ),
    (
        "workflow/refless/report/figures_bleu_neighbors.py",
        {"bleu_neighbors_figure2", "bleu_neighbors_figure4"},
        {"compute_data_size_curve", "predict_neighbors", "bleu_neighbors_table1"},
    ),
]
SETTINGS = [
    ("seed: 2015", "seed: 2014", {"score_delta_bleu", "delta_bleu_table2"}, {"predict_essays"}),
    ("name: TopicalChat", "name: Topical", {"delta_bleu_figure2"}, {"score_delta_bleu"}),
    (
        "tau: 0.08",
        "tau: 0.09",
        {"predict_neighbors", "bleu_neighbors_table1", "compute_data_size_curve"},
        {"rnn_qe_table3", "delta_bleu_table2", "bleu_neighbors_table3", "tabulate_comparison"},
    ),
]


def edit(project: Project, path: str, more: str) -> None:
    with open(project.path / path, "a", encoding="utf-8") as handle:
        handle.write(more)


@pytest.mark.slow
def test_an_edited_module_makes_again_what_hangs_on_it(changed):
    changed.own_modules()
    edit(changed, "workflow/refless/kernels/rouge_l.py", "\n# a comment\n")
    edit(changed, "workflow/refless/errors.py", "\nCHANGED = 1\n")
    edit(changed, "workflow/refless/kernel_registry.py", "\nCHANGED = 1\n")
    assert changed.planned("all") == {}
    for path, again, kept in EDITS:
        before = (changed.path / path).read_text(encoding="utf-8")
        edit(changed, path, "\nCHANGED = 1\n")
        planned = set(changed.planned("all"))
        assert again <= planned, path
        assert not kept & planned, path
        (changed.path / path).write_text(before, encoding="utf-8")


def test_a_changed_setting_makes_again_what_hangs_on_it(changed):
    for old, new, again, kept in SETTINGS:
        changed.change(old, new)
        planned = set(changed.planned("all"))
        assert again <= planned, new
        assert not kept & planned, new
        changed.change(new, old)
    name = "    name: summarization\n"
    changed.change(name, f'{name}    colour: "#123456"\n')
    planned = set(changed.planned("all"))
    assert "bleu_neighbors_figure2" in planned
    figures = {name for name, entry in catalogue().items() if entry.drawn_by}
    assert planned <= {*figures, "report"}


def test_a_newer_time_of_code_makes_nothing_again(changed):
    """After a checkout, or rsync: scripts and rules are newer than what they made."""
    changed.own_modules()
    later = time.time() + 60
    for path in (changed.path / "workflow").rglob("*.*"):
        os.utime(path, (later, later))
    assert changed.planned("all") == {}


@pytest.mark.slow
def test_a_kernel_asks_for_more_the_more_texts_there_are(changed):
    changed.own_modules()
    options = ["-n", "--workflow-profile", "none", "--forcerun", "compute_kernel", "--"]
    for size, memory, minutes in ((0, 2000, 60), (10_000_000, 12_000, 1060)):
        os.truncate(changed.path / "results/ratings/mine/texts.csv", size)
        told = changed.snakemake(*options, "results/neighbors/mine/bleu.char.csv")
        assert f"mem_mb={memory}," in told
        assert f"runtime={minutes}" in told


def test_the_model_that_comes_with_refless_is_written_where_it_is_read(fresh, tmp_path):
    options = ["-n", "--workflow-profile", "none", "--directory", str(tmp_path)]
    (fresh.path / "mine.tsv").rename(tmp_path / "mine.tsv")
    path = fresh.path / "workflow/refless/models/rnn_qe/shipped.npz"
    assert f"output: {path}" in fresh.snakemake(*options, "train_qe_model")


@pytest.mark.parametrize(
    ("module", "code", "named"),
    [
        (
            "sitecustomize",
            "import sys\nsys.modules['refless.settings'] = None",
            "has no package refless.settings",
        ),
        ("sitecustomize", "import snakemake\nsnakemake.__version__ = '10.0.0'", "Snakemake 9"),
    ],
)
def test_another_snakemake_says_what_to_install(fresh, tmp_path, module, code, named):
    (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
    told = fresh.snakemake("-n", RATINGS, ok=False, PYTHONPATH=str(tmp_path))
    assert named in told
    assert "pip install" in told


ALONE = """
import importlib.util
import pkgutil
import sys

PLUGINS = "snakemake_logger_plugin", "snakemake_executor_plugin_slurm"
modules, spec = pkgutil.iter_modules, importlib.util.find_spec

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in WORDS:
            raise ModuleNotFoundError(f"no {name} here", name=name)

def without_plugins(path=None, prefix=""):
    return [module for module in modules(path, prefix) if not module.name.startswith(PLUGINS)]

sys.meta_path.insert(0, Refuse())
pkgutil.iter_modules = without_plugins
importlib.util.find_spec = lambda name: (
    None if name in WORDS or name.startswith(PLUGINS) else spec(name)
)
"""


def test_reading_the_rules_needs_snakemake_alone(fresh, tmp_path):
    """As where it has an environment of its own, and jobs have theirs."""
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    names = {re.split("[<>=]", line)[0] for line in needed} | {"sklearn", "markdown_it", "torch"}
    names -= {"jinja2", "pydantic", "pyyaml", "requests"}  # Snakemake's own
    code = ALONE.replace("WORDS", repr(names))
    (tmp_path / "sitecustomize.py").write_text(code, encoding="utf-8")
    alone = {"PYTHONPATH": str(tmp_path)}
    assert fresh.planned("all", **alone)["compute_kernel"] > 1
    fresh.snakemake("--lint", **alone)
    told = fresh.snakemake(RATINGS, ok=False, **alone)
    assert "has no package" in told


def elsewhere(fresh: Project, tmp_path: Path) -> Project:
    place = tmp_path / "anderswo, für $5"
    place.mkdir()
    (fresh.path / "mine.tsv").rename(place / "mine.tsv")
    return Project(place, fresh.mirror)


@pytest.mark.parametrize("way", ["snakefile", "directory"])
def test_a_run_in_another_directory(fresh, tmp_path, way):
    """One has the Snakefile elsewhere, the other the results."""
    project = elsewhere(fresh, tmp_path)
    place = project.path
    options = ["--snakefile", str(fresh.path / "Snakefile")]
    if way == "directory":
        project, options = fresh, ["--directory", str(place)]
    before = {path.name for path in fresh.path.iterdir()}
    told = ["--config", "data={mine: {options: {scale: [0, 9]}}}", "--"]
    said = project.snakemake(*options, *told, RATINGS)
    assert str(place / "results/ratings/mine") in said  # where its files are
    assert read_task(place / "results/ratings/mine").texts["quality"].max() == 4 / 9
    assert {path.name for path in fresh.path.iterdir()} - {".snakemake"} == before


def test_shipped_numbers_are_found_from_elsewhere(quick, tmp_path):
    options = ["--directory", str(tmp_path), *OFFLINE, "--"]
    quick.snakemake(*options, "bleu_neighbors_table3")
    one, two = (of.table("bleu_neighbors_table3") for of in (quick, Project(tmp_path)))
    pd.testing.assert_frame_equal(one, two)
    assert not (tmp_path / "resources").exists()


def test_a_module_of_another_workflow(fresh, tmp_path):
    """Its settings are laid over those of the checkout, under which it is planned and run."""
    project = elsewhere(fresh, tmp_path)
    (project.path / "Snakefile").write_text(
        "module ours:\n"
        f"    snakefile: {str(fresh.path / 'Snakefile')!r}\n"
        "    config: config['ours']\n"
        "use rule * from ours as ours_*\n"
        "rule theirs:\n"
        "    input: 'results/ratings/mine/texts.csv'\n"
        "    output: 'lines.txt'\n"
        "    shell: 'wc -l < {input} > {output}'\n",
        encoding="utf-8",
    )
    (project.path / "theirs.yaml").write_text(
        "ours: {network: false, comparison: , data: {mine: {options: {scale: [0, 9]}}}}\n",
        encoding="utf-8",
    )
    told = ["--configfile", "theirs.yaml", "--"]
    assert project.planned(*told, "ours_all")["ours_bleu_neighbors_table1"] == 1
    project.snakemake(*told, "lines.txt")
    assert int((project.path / "lines.txt").read_text()) > 10
    assert read_task(project.path / "results/ratings/mine").texts["quality"].max() == 4 / 9


def test_a_job_uses_the_library_of_its_own_checkout(fresh):
    """Another one is on Python's path, before anything that is installed."""
    fresh.own_modules()
    module = "workflow/refless/data/task.py"
    fresh.change('"%s: %d rated texts', '"own %s: %d texts', module)
    fresh.snakemake(RATINGS, PYTHONPATH=str(ROOT / "workflow"))
    log = (fresh.path / "results/logs/normalize_ratings/mine.log").read_text(encoding="utf-8")
    assert "own mine: " in log


@pytest.mark.slow
def test_the_same_bytes_again_and_elsewhere(small, fresh, tmp_path):
    """From nothing, behind a mirror, with another path, language, time zone and seed of hashes."""
    place = tmp_path / "mit Leerzeichen, Ümlaut, $HOME und 'Strich'"
    fresh.path.rename(place)
    project, before = Project(place, fresh.mirror), small.contents()
    tables = [path for path in before if re.match(r"results/tables/(bleu|delta)", path)]
    project.snakemake(*tables, LC_ALL="C", TZ="Asia/Kathmandu", PYTHONHASHSEED="7")
    assert set(tables) <= set(there := project.contents())
    assert [path for path in tables if there[path] != before[path]] == []


def test_the_manifest_lists_what_a_run_leaves(quick):
    """For a codecheck: every table and figure, and nothing else."""
    manifest = yaml.safe_load((ROOT / "codecheck.yml").read_text(encoding="utf-8"))["manifest"]
    results = quick.path / "results"
    there = {*results.glob("tables/*.csv"), *results.glob("figures/*.pdf")}
    assert {quick.path / entry["file"] for entry in manifest} == there


@pytest.mark.slow
def test_the_try_on_invented_data_has_every_method_and_a_report(tmp_path):
    of_runs = shutil.ignore_patterns("results", ".snakemake", "report.html")
    shutil.copytree(ROOT / ".test", tmp_path / "try", ignore=of_runs)
    project = Project(tmp_path / "try")
    told = ["-s", str(ROOT / "workflow/Snakefile"), "--configfile", "config/config.yaml"]
    project.snakemake(*told, "--", "comparison")
    table = project.table("comparison")
    assert set(table["dataset"]) == {"invented"}
    assert table.loc[table["pearson"].notna(), "method"].nunique() > 8
    project.snakemake(*told, "--report", "report.html", "--", "comparison")
    assert "comparison.svg" in (project.path / "report.html").read_text(encoding="utf-8")


FILES = sorted(path for path in SHIPPED.rglob("*.*") if path.suffix in (".csv", ".gz"))
FILES = [path for path in FILES if path.name != "manifest.csv"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SHIPPED).as_posix())
def test_a_shipped_file_is_whole_and_holds_no_text(path):
    file = sealed.read(path)
    assert file.metadata["provenance"] == "shipped"
    for column, values in file.content.select_dtypes(["object", "str"]).items():
        # names and choices, at most
        assert values.fillna("").astype(str).str.count(r"\s").max() < 4, column
    if path.name == "texts.csv":
        assert set(file.content["text"]) == {""}
        assert file.content["context"].str.fullmatch(r"(c\d+)?").all()
    if path.name == "ratings.csv":
        assert file.content["rater"].str.fullmatch(r"r\d{3,}").all()


def test_make_needs_no_data_and_its_numbers_are_labelled(quick):
    first = quick.table("bleu_neighbors_table1")
    there = first[first["mse"].notna()]
    assert set(there["dataset"]) == {"huse_summarization", "dstc7"}
    assert set(there["provenance"]) == {"shipped"}
    assert first.loc[first["provenance"].isna(), "reason"].notna().all()
    for name, column in (
        ("bleu_neighbors_table3", "n"),
        ("delta_bleu_table2", "spearman"),
        ("rnn_qe_table3", "pearson"),
    ):
        table = quick.table(name)
        found = set(table.loc[table[column].notna() & table["provenance"].notna(), "provenance"])
        assert "shipped" in found, name
    assert (quick.path / "results/report.html").is_file()
    assert not (quick.path / "resources/data").exists()


@pytest.mark.parametrize("page", ["README.md", "docs/findings.md"])
def test_counts_of_a_page_are_those_of_the_tables(quick, page):
    """How many published numbers come out, the bands, which findings hold."""
    numbers = read_numbers(ROOT / "resources/numbers.yaml")
    text = (ROOT / page).read_text("utf-8")
    counts = [m[0] for m in PLACE.finditer(text) if numbers[m[1]]["from"].startswith("reproduc")]
    assert len(counts) > 5
    assert [filled(count, numbers, quick.path / "results/tables") for count in counts] == counts


def test_a_second_make_makes_nothing_and_says_where_the_files_are(quick):
    assert quick.planned(*OFFLINE, "--", "all") == {}
    said = quick.snakemake(*OFFLINE, "--", "all")
    assert str(quick.path / "results/report.html") in said
    # the report has the command that was typed
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


def test_shipped_and_computed_numbers_are_equal(real):
    compared = 0
    for path in FILES:
        place = real.path / "results" / path.relative_to(SHIPPED)
        if place.is_file() and path.parts[-3] != "ratings":
            one, two = (sealed.read(p).content for p in (path, place))
            pd.testing.assert_frame_equal(one, two, check_exact=False, rtol=1e-5, atol=1e-9)
            compared += 1
    assert compared > 6


def test_shipped_and_computed_tables_agree(real, quick):
    for name in catalogue():
        if catalogue()[name].tabulated_by and name.startswith("bleu_neighbors_"):
            one, two = (project.table(name) for project in (real, quick))
            # why a cell is missing, and where it comes from, is another matter in each
            values = [c for c in one if c not in ("provenance", "reason")]
            told = {"rtol": 1e-4, "atol": 1e-9, "obj": name}
            pd.testing.assert_frame_equal(one[values], two[values], check_exact=False, **told)


TRAINED = [
    ("rnn_qe_table3", 6),
    ("rnn_qe_table5", 18),
    # five sizes, and set-up 1 on all outputs
    ("rnn_qe_data_size", 6),
]


def test_an_item_trains_its_own_networks(fresh, tmp_path):
    """With torch, or a package of its name: six set-ups, and of a table of crossed tests three
    configurations; one seed."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").touch()
    fresh.change("train: never", "train: auto")
    for item, trainings in TRAINED:
        planned = fresh.planned(item, PYTHONPATH=str(tmp_path))
        assert planned.get("train_rnn_qe", 0) == trainings, item
        assert {name for name in planned if name.startswith("rnn_qe")} == {item}
        told = fresh.snakemake("--dry-run", item, PYTHONPATH=str(tmp_path))
        assert re.search(rf"{trainings} jobs, about [0-9.]+ hours", told)  # what it costs


def test_a_figure_computes_the_kernel_that_it_shows(fresh):
    planned = fresh.planned("bleu_neighbors_figure4")  # as all that the rule draws
    assert planned["compute_kernel"] == 1 + 3 + 1  # of three data sets, one in blocks
    assert "bleu_neighbors_table1" not in planned
