"""Killed, starved, or run twice at once: the same final bytes, and nothing half-written."""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import Project
from tests.drills.harm import assert_nothing_half_written, run_again, sabotaged, take_away

pytestmark = pytest.mark.slow

TASK = "huse_summarization"
LAST = ["results/tables/bleu_neighbors_table1.csv", "results/figures/bleu_neighbors_figure2.svg"]
# stage -> (script of its jobs, what of its results is taken away)
STAGES = {
    "download": ("refless.data.bring", ["resources/data/huse", f"results/ratings/{TASK}", *LAST]),
    "ratings": ("normalize_ratings.py", [f"results/ratings/{TASK}", *LAST]),
    "kernel": ("compute_kernel.py", [f"results/kernels/{TASK}", "results/neighbors", *LAST]),
    "prediction": ("predict_neighbors.py", ["results/neighbors", *LAST]),
    "essays": (
        "predict_essays.py",
        ["results/essays/estimates.csv", "results/tables/bleu_neighbors_table3.csv"],
    ),
    "table": ("tabulate_bleu_neighbors_table1.py", LAST),
    "figure": ("plot_bleu_neighbors_thresholds.py", LAST),
}
# Without power every stage is tried, with a job killed by itself those that write several files.
DEEDS = [("power", stage) for stage in STAGES]
DEEDS += [("kill", stage) for stage in ("download", "kernel", "figure")]
TARGETS = ["bleu_neighbors_table1", "bleu_neighbors_table3", "bleu_neighbors_figure2"]
SHARDED = ["--set-scatter", "kernel=2", "--"]


def take_stage_away(project: Project, stage: str) -> str:
    """Delete a stage's results; the script that makes them."""
    script, paths = STAGES[stage]
    take_away(project, paths)
    return script


@pytest.mark.parametrize(("deed", "stage"), DEEDS)
def test_a_killed_run_goes_on_to_the_same_bytes(changed: Project, deed: str, stage: str) -> None:
    before = changed.contents()
    script = take_stage_away(changed, stage)
    sabotaged(changed, script, deed, *(SHARDED if stage == "kernel" else []), *TARGETS)
    assert_nothing_half_written(changed, before)
    run_again(changed, *TARGETS)
    assert changed.contents() == before


def test_a_job_that_outlives_snakemake_does_no_harm(changed: Project) -> None:
    before = changed.contents()
    script = take_stage_away(changed, "prediction")
    sabotaged(changed, script, "orphan", *TARGETS)
    run_again(changed, *TARGETS)
    assert changed.contents() == before


@pytest.mark.parametrize("stage", ["download", "kernel", "figure"])
def test_a_full_disk_is_named_and_leaves_nothing(changed: Project, stage: str) -> None:
    before = changed.contents()
    script = take_stage_away(changed, stage)
    output = sabotaged(changed, script, "full", *TARGETS)
    logs = "".join(path.read_text() for path in (changed.path / "results" / "logs").rglob("*.log"))
    assert "No space left on device" in logs + output
    assert "make room" in logs + output
    assert not list(changed.path.rglob("*.partial*"))
    assert_nothing_half_written(changed, before)
    changed.snakemake(*TARGETS)
    assert changed.contents() == before


def test_two_runs_at_once(changed: Project) -> None:
    before = changed.contents()
    take_stage_away(changed, "kernel")
    with ThreadPoolExecutor() as both:
        runs = []
        for _ in range(2):
            runs.append(both.submit(changed.start, "--cores", "1", *TARGETS))
            time.sleep(0.5)
    done = [run.result() for run in runs]
    codes = sorted(run.returncode for run in done)
    # one of the two does the work; the other is refused or finds nothing to do
    assert codes[0] == 0, [run.stdout for run in done]
    if codes[1]:
        assert "locked" in "".join(run.stdout for run in done).lower()
    assert changed.contents() == before


def forgo_privilege() -> None:
    """Root may write everywhere; without these capabilities it may not (prctl, PR_CAPBSET_DROP)."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if prctl(24, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "capabilities cannot be dropped here")


def test_a_read_only_results_folder_is_named(changed: Project) -> None:
    try:
        subprocess.run(["true"], preexec_fn=forgo_privilege, check=True)
    except subprocess.SubprocessError:
        pytest.skip("root may write everywhere, and may not forgo it here")
    before = changed.contents()
    take_stage_away(changed, "table")
    tables = changed.path / "results" / "tables"
    tables.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        result = changed.start(*TARGETS, preexec_fn=forgo_privilege)
    finally:
        tables.chmod(stat.S_IRWXU)
    assert result.returncode != 0, result.stdout
    assert "results/tables" in result.stdout
    assert "writable" in result.stdout or "Permission denied" in result.stdout
    assert_nothing_half_written(changed, before)
    changed.snakemake(*TARGETS)
    assert changed.contents() == before
