"""Jobs through a real Slurm of three nodes: the bytes of a local run, also after a job was
cancelled and a node was lost.

`make test-slurm` runs them beside a Slurm (see cluster.py). Slurm and the plugin look at their jobs
every few seconds, so most of the time here is waiting.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, Project, small_project
from tests.drills.test_drills import KERNEL, SABOTEUR, TASK
from tests.slurm.cluster import INSIDE, bring_back, lose_node, wait_for

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(INSIDE not in os.environ, reason="needs a Slurm: make test-slurm"),
]

# A node has two cores in Slurm's books; a short wait suits jobs of a few seconds.
ON_SLURM = ["--workflow-profile", "profiles/slurm", "--cores", "4", "--max-threads", "2"]
ON_SLURM += ["--slurm-init-seconds-before-status-checks", "1"]
CURVE = f"results/curves/{TASK}/data_size.csv"


Hanging = tuple[Project, subprocess.Popen, str, str]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = small_project(tmp_path_factory.mktemp("local"))
    project.snakemake(CURVE)
    return project


def books(project: Project) -> list[dict[str, str]]:
    lines = subprocess.check_output(["scontrol", "show", "jobs", "--oneliner"], text=True)
    jobs = [dict(word.partition("=")[::2] for word in job.split(" ")) for job in lines.splitlines()]
    return [job for job in jobs if job["WorkDir"] == str(project.path)]


def test_results_are_those_of_a_local_run_bit_for_bit(local, tmp_path):
    remote = small_project(tmp_path / "remote")
    output = remote.snakemake(*ON_SLURM, "--", CURVE)
    # a line for each job that has ended, by Snakemake's own process
    done = re.findall(r"(\d+) of \d+ done: (\w+)", output)
    assert [int(k) for k, _ in done] == list(range(1, len(done) + 1))
    assert {"compute_kernel", "compute_data_size_curve"} <= {rule for _, rule in done}
    jobs = books(remote)
    # light rules run on the login node
    assert {job["Comment"].split("_wildcards")[0] for job in jobs} == {
        "rule_compute_kernel",
        "rule_compute_data_size_curve",
    }
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    assert {job["TimeLimit"] for job in jobs} == {"01:00:00"}
    assert remote.contents() == local.contents()
    assert remote.planned(*ON_SLURM, "--", CURVE) == {}


@pytest.fixture
def hanging(local: Project, tmp_path: Path) -> Iterator[Hanging]:
    """A project, the run in which the job of a kernel hangs just before its file takes its place,
    and Slurm's number and node of that job."""
    project = local.copy(tmp_path / "project")
    (project.path / KERNEL).unlink()
    done = project.path / "drill.done"
    told = {"DRILL_SCRIPT": "compute_kernel.py", "DRILL_DEED": "hang", "DRILL_DONE": str(done)}
    told["PYTHONPATH"] = SABOTEUR
    with project.launch(*ON_SLURM, "--", KERNEL, start_new_session=True, **told) as run:
        try:
            wait_for(lambda: (done.exists() and done.read_text()) or run.poll() is not None)
            assert done.exists(), run.communicate()[0]
            job, node = done.read_text().split()
            yield project, run, job, node
        finally:
            done.with_suffix(".on").touch()
            run.kill()


def test_the_same_command_makes_a_cancelled_job(hanging, local):
    project, run, job, _ = hanging
    subprocess.run(["scancel", job], check=True)
    output, _ = run.communicate(timeout=600)
    assert run.returncode != 0
    assert "failed: compute_kernel" in output
    # what its user has cancelled is not submitted once more
    assert len(books(project)) == 1
    project.snakemake(*ON_SLURM, "--", KERNEL)
    assert project.contents() == local.contents()


def test_without_a_controller_a_run_says_so_in_a_few_lines(local, tmp_path):
    project = local.copy(tmp_path / "project")
    (project.path / KERNEL).unlink()
    nowhere = str(tmp_path / "slurm.conf")
    output = project.snakemake(*ON_SLURM, "--", KERNEL, ok=False, SLURM_CONF=nowhere)
    assert "sinfo" in output
    assert "Traceback" not in output


def test_the_executor_for_any_scheduler_gives_the_same_bytes(local, tmp_path):
    """With Slurm's commands, as docs/cluster.md has them."""
    remote = small_project(tmp_path / "remote")
    page = (ROOT / "docs/cluster.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"(?s)```yaml\n(executor: cluster-generic\n.*?)```", page)
    profile = remote.path / "profiles/slurm/config.yaml"
    kept = [
        line
        for line in profile.read_text("utf-8").splitlines()
        if not line.startswith(("executor:", "slurm-"))
    ]
    profile.write_text("\n".join([lines, *kept, ""]), encoding="utf-8")
    command = ["--workflow-profile", "profiles/slurm", "--cores", "4", "--max-threads", "2"]
    output = remote.snakemake(*command, "--", CURVE)
    assert "done: compute_kernel" in output
    assert remote.contents() == local.contents()


def test_a_node_that_is_lost_with_its_job_is_done_without(hanging, local):
    project, run, job, node = hanging
    try:
        lose_node(node, job)
        output, _ = run.communicate(timeout=600)
        assert run.returncode == 0, output
        assert project.contents() == local.contents()
    finally:
        bring_back(node)
