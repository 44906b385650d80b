"""Killed, starved, or run twice at once: the same final bytes, and nothing half-written."""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import Project
from tests.drills.harm import assert_nothing_half_written, run_again, sabotaged, take_away

pytestmark = pytest.mark.slow

TASK = "huse_summarization"
RATINGS = f"results/ratings/{TASK}"
KERNEL = f"results/kernels/{TASK}/bleu.char.npz"
# stage -> (script of its job, what of its results is taken away, what is asked for)
STAGES = {
    "download": ("refless.data.fetch", ["resources/data/huse", RATINGS], f"{RATINGS}/texts.csv"),
    "ratings": ("normalize_ratings.py", [RATINGS], f"{RATINGS}/texts.csv"),
    "kernel": ("compute_kernel.py", [KERNEL], KERNEL),
    "sums": ("compute_kernel.py", ["results/kernels/dstc7/bleu.char.npz"], "kernels"),
    "prediction": (
        "predict_neighbors.py",
        [f"results/neighbors/{TASK}.csv"],
        f"results/neighbors/{TASK}.csv",
    ),
    "essays": (
        "predict_essays.py",
        ["results/essays/estimates.csv"],
        "results/essays/estimates.csv",
    ),
    "table": (
        "tabulate_bleu_neighbors_table3.py",
        ["results/tables/bleu_neighbors_table3.csv"],
        "bleu_neighbors_table3",
    ),
    "figure": (
        "plot_bleu_neighbors_thresholds.py",
        ["results/figures/bleu_neighbors_figure2.svg"],
        "bleu_neighbors_figure2",
    ),
}
# Without power every stage is tried, with a job killed by itself those that write several files.
DEEDS = [("power", stage) for stage in STAGES]
DEEDS += [("kill", stage) for stage in ("download", "kernel", "figure")]
DEEDS += [("interrupt", "kernel"), ("terminate", "kernel"), ("hangup", "kernel")]
SHARDED = ["--set-scatter", "kernel=2", "--"]


def take_stage_away(project: Project, stage: str) -> tuple[str, str]:
    """Delete a stage's results; the script that makes them, and what to ask for."""
    script, paths, target = STAGES[stage]
    take_away(project, paths)
    return script, target


@pytest.mark.parametrize(("deed", "stage"), DEEDS)
def test_a_killed_run_goes_on_to_the_same_bytes(changed: Project, deed: str, stage: str) -> None:
    if deed == "hangup" and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        pytest.skip("the tests were started by nohup: no closed terminal reaches them")
    before = changed.contents()
    script, target = take_stage_away(changed, stage)
    sabotaged(changed, script, deed, *(SHARDED if stage == "kernel" else []), target)
    assert_nothing_half_written(changed, before)
    run_again(changed, target)
    assert changed.contents() == before


def test_a_job_that_outlives_snakemake_does_no_harm(changed: Project) -> None:
    before = changed.contents()
    script, target = take_stage_away(changed, "prediction")
    sabotaged(changed, script, "orphan", target)
    run_again(changed, target)
    assert changed.contents() == before


@pytest.mark.parametrize("stage", ["download", "kernel", "figure"])
def test_a_full_disk_is_named_and_leaves_nothing(changed: Project, stage: str) -> None:
    before = changed.contents()
    script, target = take_stage_away(changed, stage)
    output = sabotaged(changed, script, "full", target)
    logs = "".join(path.read_text() for path in (changed.path / "results" / "logs").rglob("*.log"))
    assert "No space left on device" in logs + output
    assert "make room" in logs + output
    assert not list(changed.path.rglob("*.partial*"))
    assert_nothing_half_written(changed, before)
    changed.snakemake(target)
    assert changed.contents() == before


def test_two_runs_at_once(changed: Project) -> None:
    codes, told = both_at_once(changed)
    # one of the two does the work; the other is refused or finds nothing to do
    assert codes[0] == 0, told
    assert not codes[1] or "locked" in told.lower()


def test_two_runs_without_a_lock(changed: Project) -> None:
    both_at_once(changed, "--nolock")


def both_at_once(project: Project, *options: str) -> tuple[list[int], str]:
    """Exit codes and outputs of two runs; after a third, the results are what they were."""
    before = project.contents()
    _, target = take_stage_away(project, "kernel")
    with ThreadPoolExecutor() as both:
        runs = []
        for _ in range(2):
            runs.append(both.submit(project.start, "--cores", "1", *options, target))
            time.sleep(0.5)
    done = [run.result() for run in runs]
    project.snakemake(target)
    assert project.contents() == before
    return sorted(run.returncode for run in done), "".join(run.stdout for run in done)


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
    _, target = take_stage_away(changed, "table")
    tables = changed.path / "results" / "tables"
    tables.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        result = changed.start(target, preexec_fn=forgo_privilege)
    finally:
        tables.chmod(stat.S_IRWXU)
    assert result.returncode != 0, result.stdout
    assert "results/tables" in result.stdout
    assert "writable" in result.stdout or "Permission denied" in result.stdout
    assert_nothing_half_written(changed, before)
    changed.snakemake(target)
    assert changed.contents() == before
