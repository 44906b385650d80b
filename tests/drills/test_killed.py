"""Killed, starved, or run twice at once: the same final bytes, and nothing half-written."""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.drills.harm import (
    assert_nothing_half_written,
    clone,
    contents,
    run_again,
    sabotaged,
    take_away,
)

pytestmark = [pytest.mark.workflow, pytest.mark.drill]

# stage -> (script of its jobs, what of its results is taken away)
LAST = ["results/tables/bleu_neighbors_table1.csv", "results/figures/bleu_neighbors_figure2.svg"]
STAGES = {
    "download": (
        "fetch_source.py",
        [
            "resources/data/huse",
            "results/verified/huse/summarization_raw_outputs.csv.json",
            "results/ratings/huse_summarization",
            *LAST,
        ],
    ),
    "ratings": ("normalize_ratings.py", ["results/ratings/huse_summarization", *LAST]),
    "kernel": (
        "compute_kernels.py",
        ["results/kernels/huse_summarization", "results/neighbors", *LAST],
    ),
    "prediction": ("predict_neighbors.py", ["results/neighbors", *LAST]),
    "essays": (
        "predict_essays.py",
        ["results/essays/estimates.csv", "results/tables/bleu_neighbors_table3.csv"],
    ),
    "table": ("tabulate_bleu_neighbors_table1.py", LAST),
    "figure": ("plot_bleu_neighbors_figure2.py", LAST),
}
# Without power every stage is tried, with a job killed by itself those that write several files.
DEEDS = [("power", stage) for stage in STAGES]
DEEDS += [("kill", stage) for stage in ("download", "kernel", "figure")]
TARGETS = ["bleu_neighbors_table1", "bleu_neighbors_table3", "bleu_neighbors_figure2"]
SHARDED = ["--set-scatter", "kernel=2", "--"]


@pytest.fixture
def project(small: Project, tmp_path: Path) -> Project:
    """A copy of the finished small project."""
    return clone(small, tmp_path / "project")


def take_stage_away(project: Project, stage: str) -> str:
    """Delete a stage's results; the script that makes them."""
    script, paths = STAGES[stage]
    take_away(project, paths)
    return script


@pytest.mark.parametrize(("deed", "stage"), DEEDS)
def test_a_killed_run_goes_on_to_the_same_bytes(project: Project, deed: str, stage: str) -> None:
    before = contents(project)
    script = take_stage_away(project, stage)
    sabotaged(project, script, deed, *(SHARDED if stage == "kernel" else []), *TARGETS)
    assert_nothing_half_written(project, before)
    run_again(project, *TARGETS)
    assert contents(project) == before


def test_a_job_that_outlives_snakemake_does_no_harm(project: Project) -> None:
    before = contents(project)
    script = take_stage_away(project, "prediction")
    sabotaged(project, script, "orphan", *TARGETS)
    run_again(project, *TARGETS)
    assert contents(project) == before


@pytest.mark.parametrize("stage", ["download", "kernel", "figure"])
def test_a_full_disk_is_named_and_leaves_nothing(project: Project, stage: str) -> None:
    before = contents(project)
    script = take_stage_away(project, stage)
    output = sabotaged(project, script, "full", *TARGETS)
    logs = "".join(path.read_text() for path in (project.path / "results" / "logs").rglob("*.log"))
    assert "No space left on device" in logs + output
    assert "make room" in logs + output
    assert not list(project.path.rglob("*.partial*"))
    assert_nothing_half_written(project, before)
    project.snakemake(*TARGETS)
    assert contents(project) == before


def test_two_runs_at_once(project: Project) -> None:
    before = contents(project)
    take_stage_away(project, "kernel")
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *TARGETS]
    environment = {**os.environ, "REFLESS_MIRROR": project.mirror}
    runs = []
    for _ in range(2):
        runs.append(
            subprocess.Popen(
                command,
                cwd=project.path,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        time.sleep(0.5)
    outputs = [run.communicate()[0] for run in runs]
    codes = sorted(run.returncode for run in runs)
    # one of the two does the work; the other is refused or finds nothing to do
    assert codes[0] == 0, outputs
    if codes[1]:
        assert "locked" in "".join(outputs).lower()
    assert contents(project) == before


def forgo_privilege() -> None:
    """Root may write everywhere; without these capabilities it may not (prctl, PR_CAPBSET_DROP)."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if prctl(24, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "capabilities cannot be dropped here")


def test_a_read_only_results_folder_is_named(project: Project) -> None:
    try:
        subprocess.run(["true"], preexec_fn=forgo_privilege, check=True)
    except subprocess.SubprocessError:
        pytest.skip("root may write everywhere, and may not forgo it here")
    before = contents(project)
    take_stage_away(project, "table")
    tables = project.path / "results" / "tables"
    tables.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        result = subprocess.run(
            [sys.executable, "-m", "snakemake", "--cores", "2", *TARGETS],
            cwd=project.path,
            env={**os.environ, "REFLESS_MIRROR": project.mirror},
            preexec_fn=forgo_privilege,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    finally:
        tables.chmod(stat.S_IRWXU)
    assert result.returncode != 0, result.stdout
    assert "results/tables" in result.stdout
    assert "writable" in result.stdout or "Permission denied" in result.stdout
    assert_nothing_half_written(project, before)
    project.snakemake(*TARGETS)
    assert contents(project) == before


@pytest.mark.parametrize(
    ("task", "place", "damage"),
    [
        ("huse_summarization", "kernels", "empty"),
        ("huse_summarization", "kernels", "flipped"),
        ("dstc7", "sums", "cut"),  # the neighbors of a task that is too large for matrices
    ],
)
def test_a_corrupt_kernel_file_is_refused_by_name(
    project: Project, task: str, place: str, damage: str
) -> None:
    before = contents(project)
    path = project.path / f"results/{place}/{task}/bleu.char.npz"
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 0xFF
    path.write_bytes(
        b"" if damage == "empty" else content[: len(content) // 2] if damage == "cut" else content
    )
    take_stage_away(project, "prediction")
    output = project.snakemake("bleu_neighbors_table1", ok=False)
    assert f"{task}/bleu.char.npz" in output
    assert "What to do:" in output
    assert not (project.path / f"results/neighbors/{task}.csv").exists()
    path.unlink()
    project.snakemake(*TARGETS)
    assert contents(project) == before
