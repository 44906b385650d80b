"""The workflow from anywhere: another directory, another workflow, another checkout, any path.

What comes with it is found beside it; results and a user's files are where Snakemake runs.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT, Project, copy_project
from tests.drills.harm import SABOTEUR

RATINGS = "results/ratings/mine/ratings.csv"
TABLE = "results/tables/bleu_neighbors_table1.csv"


def elsewhere(fresh: Project, tmp_path: Path) -> Project:
    """Another directory, with a user's file and nothing else."""
    place = tmp_path / "anderswo, für $5"
    place.mkdir()
    (fresh.path / "mine.tsv").rename(place / "mine.tsv")
    return Project(place, fresh.mirror)


def names(place: Path) -> set[str]:
    return {path.name for path in place.iterdir() if path.name[0] != "."}


@pytest.mark.parametrize("way", ["snakefile", "directory"])
def test_a_run_in_another_directory(fresh: Project, tmp_path: Path, way: str) -> None:
    """One has the Snakefile elsewhere, the other the results."""
    project = elsewhere(fresh, tmp_path)
    place = project.path
    options = ["--snakefile", str(fresh.path / "Snakefile")]
    if way == "directory":
        project, options = fresh, ["--directory", str(place)]
    before = names(fresh.path), names(fresh.path / "resources")
    assert project.planned(*options, "all")["make_report"] == 1
    targets = "results/ratings/huse_summarization/texts.csv", RATINGS
    for _ in range(2):  # the second has nothing to do
        project.snakemake(*options, *targets)
    other = ["--rerun-triggers", "mtime", "--config", "data={mine: {options: {scale: [0, 8]}}}"]
    said = project.snakemake(*options, *other, "--", *targets, ok=False)
    assert f"{RATINGS}: was made under other settings" in said
    assert (place / RATINGS).is_file()
    project.snakemake(*options, "--delete-all-output", "--", *targets)
    assert not (place / RATINGS).exists()
    # downloads belong to the run
    assert names(place / "resources") == {"data"}
    assert (names(fresh.path), names(fresh.path / "resources")) == before


def test_a_folder_with_the_name_of_a_target_asks_for_nothing(tmp_path: Path) -> None:
    """`snakemake quickstart` takes what is shipped; a folder of that name is no target."""
    project = copy_project(tmp_path / "project")
    kernel = "results/kernels/huse_summarization/bleu.char.npz"
    (project.path / "quickstart").mkdir()
    found = project.planned("--directory", "quickstart", "--", kernel)
    assert found["compute_kernel"] == found["normalize_ratings"] == 1
    assert "take_huse_summarization" in project.planned("--", "quickstart")


def test_a_module_of_another_workflow(fresh: Project, tmp_path: Path) -> None:
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
        "    shell: 'wc -l < {input} > {output}'\n"
        "rule told:\n"
        "    input: 'lines.txt'\n"
        "    output: 'results/tables/theirs.json', pipe('stream')\n"
        "    shell: 'echo 1 > {output[0]}; cat {input} > {output[1]}'\n"
        "rule last:\n"
        "    input: 'stream'\n"
        "    output: 'last.txt'\n"
        "    shell: 'cat {input} > {output}'\n",
        encoding="utf-8",
    )
    (project.path / "theirs.yaml").write_text(
        "ours: {network: false, data: {mine: {options: {scale: [0, 9]}}}}\n", encoding="utf-8"
    )
    told = ["--configfile", "theirs.yaml", "--"]
    assert project.planned(*told, TABLE)["ours_tabulate_bleu_neighbors_table1"] == 1
    project.snakemake(*told, "lines.txt")
    assert int((project.path / "lines.txt").read_text()) > 10
    about = (project.path / RATINGS).with_name("texts.csv").read_text(encoding="utf-8")
    assert '"scale": [0, 9]' in about
    # what is theirs is not looked at, and what is ours is, whatever ran
    for _ in range(2):
        project.snakemake(*told, "last.txt")
    project.change("theirs.yaml", "[0, 9]", "[0, 8]")
    (project.path / "lines.txt").unlink()
    said = project.snakemake("--rerun-triggers", "mtime", *told, "lines.txt", ok=False)
    assert "texts.csv: was made under other settings" in said


def test_a_job_uses_the_library_of_its_own_checkout(fresh: Project) -> None:
    """Another one is on Python's path, before anything that is installed."""
    fresh.own_modules()
    fresh.change("workflow/refless/data/normalize.py", '"%s: %d rated texts', '"own %s: %d texts')
    fresh.snakemake(RATINGS, PYTHONPATH=str(ROOT / "workflow"))
    log = (fresh.path / "results/logs/normalize_ratings/mine.log").read_text(encoding="utf-8")
    assert "own mine: " in log


def test_a_run_within_a_job_of_another_makes_its_own_plan(fresh: Project) -> None:
    """The other's plan is in the environment that it inherits."""
    foreign = '{"numbers": "shipped", "tasks": {}, "kernels": {}, "left_out": {}}'
    assert fresh.planned(RATINGS, REFLESS_PLAN=foreign) == {"normalize_ratings": 1}


def test_any_path_and_nested_settings_of_the_command_line(fresh: Project, tmp_path: Path) -> None:
    """Snakemake hands on the numbers of such settings as strings."""
    place = tmp_path / "mit Leerzeichen, Ümlaut, $HOME und 'Strich'"
    fresh.path.rename(place)
    project = Project(place, fresh.mirror)
    project.snakemake(
        *("results/neighbors/mine.csv", "results/ratings/huse_summarization/texts.csv"),
        *("--config", "data={mine: {options: {scale: [0, 9]}}}"),
    )
    assert (place / "results/neighbors/mine.csv").is_file()
    about = (place / RATINGS).with_name("texts.csv").read_text(encoding="utf-8")
    assert '"scale": [0, 9]' in about


def test_a_run_goes_on_after_a_kill_and_an_unlock(fresh: Project) -> None:
    done = fresh.path / "drill.done"
    told = {"SCRIPT": "normalize_ratings.py", "DEED": "hang", "DONE": str(done)}
    drill = {f"DRILL_{name}": value for name, value in told.items()}
    with fresh.launch(RATINGS, PYTHONPATH=SABOTEUR, **drill) as run:
        end = time.monotonic() + 120
        while not done.exists():
            assert time.monotonic() < end
            assert run.poll() is None, run.communicate()[0]
            time.sleep(0.1)
        run.send_signal(signal.SIGKILL)
        run.wait()
        done.with_suffix(".on").touch()
    assert "--unlock" in fresh.snakemake(RATINGS, ok=False)
    resumed = fresh.resume(RATINGS)
    assert resumed.returncode == 0, resumed.stdout
    assert (fresh.path / RATINGS).is_file()
