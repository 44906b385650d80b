"""Jobs through a real Slurm of three nodes: the bytes of a local run, also after jobs, a node and
Snakemake were killed, and honest requests.

`make test-slurm` runs them beside a Slurm (see cluster.py). Slurm and the plugin look at their jobs
every few seconds, so most of the time here is waiting.
"""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from refless.store import signed
from tests.conftest import ROOT, Project, copy_project, small_project
from tests.drills.harm import SABOTEUR, take_away
from tests.slurm.cluster import INSIDE, NODES, bring_back, lose_node, wait_for

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(INSIDE not in os.environ, reason="needs a Slurm: make test-slurm"),
]

# A node has two cores in Slurm's books; a short wait suits jobs of a few seconds.
ON_SLURM = ["--workflow-profile", "profiles/slurm", "--cores", "4", "--max-threads", "2"]
ON_SLURM += ["--slurm-init-seconds-before-status-checks", "1"]
GENERIC = ["--workflow-profile", "profiles/cluster-generic", "--cores", "4", "--max-threads", "2"]
TRAINED = "results/rnn_qe/predictions/cross_domain_1_setup1/0.csv.gz"


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small project where this machine has computed what the jobs are to compute."""
    project = small_project(tmp_path_factory.mktemp("local"))
    project.snakemake(CURVE)
    return project


def results(project: Project) -> dict[str, object]:
    """Every computed file of a project; of a training, what it predicts."""
    found: dict[str, object] = dict(project.contents())
    if (project.path / TRAINED).is_file():
        found[TRAINED] = signed.verify(project.path / TRAINED)["content"]
    return found


def submitted(output: str) -> int:
    """How many jobs a run of Snakemake gave to Slurm."""
    return len(re.findall(r"(?m)^(?:Job|Submitted job) \d+ (?:has been submitted )?with ", output))


def books(project: Project) -> list[dict[str, str]]:
    """What Slurm remembers of the jobs of a project."""
    command = ["scontrol", "show", "jobs", "--oneliner"]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    jobs = [dict(word.partition("=")[::2] for word in job.split(" ")) for job in lines.splitlines()]
    return [job for job in jobs if job["WorkDir"] == str(project.path)]


def calls_of(project: Project) -> set[str]:
    """The numbers that Slurm gave when it was called to take jobs: an array has one."""
    return {job.get("ArrayJobId", job["JobId"]) for job in books(project)}


def requests(project: Project, rule: str) -> list[dict[str, str]]:
    """What Slurm was asked for by the jobs of a rule."""
    return [job for job in books(project) if job["Comment"].startswith(f"rule_{rule}")]


TASK = "huse_summarization"
KERNEL = f"results/kernels/{TASK}/bleu.char.npz"
SHARDED = ["--set-scatter", "kernel=3"]
ARRAYS = ["--slurm-array-jobs", "compute_shard"]

# A target with the options of its run, and how many jobs and calls of Slurm that is.
CURVE = f"results/curves/{TASK}/thresholds.csv"
RUNS = [
    # three shards, a job that gathers them, the curve
    pytest.param(CURVE, SHARDED, 5, 5, id="a sharded kernel"),
    # the shards are one call
    pytest.param(KERNEL, [*SHARDED, *ARRAYS], 4, 2, id="job arrays"),
    pytest.param(
        TRAINED,
        [],
        1,
        1,
        id="training",
        marks=pytest.mark.skipif(
            importlib.util.find_spec("torch") is None, reason="needs torch: make torch"
        ),
    ),
]


@pytest.mark.parametrize(("target", "options", "jobs", "calls"), RUNS)
def test_results_are_those_of_a_local_run_bit_for_bit(
    local: Project, tmp_path: Path, target: str, options: list[str], jobs: int, calls: int
) -> None:
    remote = small_project(tmp_path / "remote")
    local.snakemake(target)
    remote.snakemake(*ON_SLURM, *options, "--", target)
    assert (len(books(remote)), len(calls_of(remote))) == (jobs, calls)
    expected, found = results(local), results(remote)
    assert target in found
    assert [name for name in found if found[name] != expected[name]] == []
    assert remote.planned(*ON_SLURM, *options, "--", target) == {}
    shards = requests(remote, "compute_shard")
    assert {job["NodeList"] for job in shards} == (set(NODES) if SHARDED[0] in options else set())
    for job in shards:
        assert job["JobState"] == "COMPLETED"
        assert job["NumCPUs"] == "2"  # eight, but for --max-threads
        assert job["TimeLimit"] == "01:00:00"
    # light rules run on the login node
    for rule in ("fetch_source", "normalize_ratings"):
        assert requests(remote, rule) == []


def test_the_setting_of_numbers_reaches_the_jobs(tmp_path: Path) -> None:
    """Without raw data: a job that did not know of `quickstart` would want computed ratings."""
    project = copy_project(tmp_path / "project")
    options = ["--config", "network=False", "--until", "compute_threshold_curves"]
    output = project.snakemake(*ON_SLURM, *options, "--", "quickstart")
    assert submitted(output) >= 1
    about = signed.verify(project.path / CURVE)
    assert about["provenance"] == "shipped"


def test_the_commented_request_for_a_gpu_works(local: Project, tmp_path: Path) -> None:
    project = local.copy(tmp_path / "project")
    profile = project.path / "profiles/slurm/config.yaml"
    commented = re.search(r"(?m)^# set-resources:\n(#  .*\n)+", profile.read_text())
    assert commented
    asked = re.sub(r"(?m)^# ", "", commented[0])
    asked = asked.replace("train_rnn_qe", "compute_threshold_curves").replace(
        ": gpu\n", ": debug\n"
    )
    profile.write_text(profile.read_text().replace(commented[0], asked))
    take_away(project, [CURVE])
    project.snakemake(*ON_SLURM, "--", CURVE)
    assert results(project) == results(local)
    (job,) = requests(project, "compute_threshold_curves")
    assert any("gres:gpu" in value for value in job.values())


def test_a_generic_executor_brings_its_own_environment(local: Project, tmp_path: Path) -> None:
    """As with schedulers that start jobs in an empty environment."""
    remote = local.copy(tmp_path / "remote")
    profile = remote.path / "profiles/cluster-generic/config.yaml"
    profile.write_text(profile.read_text().replace("  sbatch ", "  sbatch --export=NONE "))
    assert "--export=NONE" in profile.read_text()
    take_away(remote, [CURVE])
    output = remote.snakemake(*GENERIC, "--", CURVE)
    assert submitted(output) == len(books(remote)) == 1
    assert results(remote) == results(local)


# ---- what goes wrong -----------------------------------------------------------------------------

SQUEUE = [*ON_SLURM, "--", KERNEL]
SACCT = ["--slurm-status-command", "sacct", *SQUEUE]


@dataclass
class Drill:
    """A run with a job that hangs just before its file takes its place."""

    project: Project
    run: subprocess.Popen[str]
    job: str  # Slurm's number of the job that hangs
    node: str

    def go_on(self) -> None:
        """Let the job finish, if it still runs."""
        (self.project.path / "drill.on").touch()

    def output(self, patience: int = 600) -> str:
        """What the run printed, once it has ended."""
        return self.run.communicate(timeout=patience)[0]


@pytest.fixture
def drill(local: Project, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Drill]:
    """A finished project in which a kernel is made again, and perhaps what hangs on it; parameter:
    the run's arguments, the target last."""
    changed = local.copy(tmp_path / "project")
    take_away(changed, {KERNEL, request.param[-1]})
    done = changed.path / "drill.done"
    told = {"SCRIPT": "compute_kernel.py", "DEED": "hang", "DONE": str(done)}
    told = {f"DRILL_{name}": value for name, value in told.items()} | {"PYTHONPATH": SABOTEUR}
    with changed.launch(*request.param, start_new_session=True, **told) as run:
        try:
            wait_for(lambda: (done.exists() and done.read_text()) or run.poll() is not None)
            assert done.exists(), run.communicate()[0]
            job, node = done.read_text().split()
            yield Drill(changed, run, job, node)
        finally:
            (changed.path / "drill.on").touch()
            run.kill()


def state(job: str) -> str:
    """What Slurm's accounting says of a job."""
    command = ["sacct", "--noheader", "--parsable2", "--allocations", "--format=State", "-j", job]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def is_as(project: Project, local: Project) -> bool:
    """Whether all results have the bytes of an undisturbed run, and nothing is left to do."""
    return results(project) == results(local) and project.planned(*SQUEUE) == {}


@pytest.mark.parametrize("drill", [SQUEUE], ids=["squeue"], indirect=True)
def test_a_cancelled_job_is_reported_and_the_same_command_makes_it(
    drill: Drill, local: Project
) -> None:
    subprocess.run(["scancel", drill.job], check=True)
    output = drill.output()
    assert drill.run.returncode != 0
    assert "Error in rule compute_kernel:" in output
    assert drill.job in output
    assert state(drill.job).startswith("CANCELLED")
    drill.project.snakemake(*SQUEUE)
    assert is_as(drill.project, local)


@pytest.mark.parametrize("drill", [SACCT], ids=["sacct"], indirect=True)
def test_a_cancelled_job_that_sacct_hides_is_made_after_ctrl_c(
    drill: Drill, local: Project
) -> None:
    """The plugin is told "CANCELLED by 0", which it does not know: docs/cluster.md says what to do.
    The next questions come within 33 s of the run's begin."""
    subprocess.run(["scancel", drill.job], check=True)
    with pytest.raises(subprocess.TimeoutExpired):
        drill.output(patience=40)
    assert state(drill.job).startswith("CANCELLED")
    drill.run.send_signal(signal.SIGINT)
    drill.output()
    assert drill.run.returncode != 0
    drill.project.snakemake(*SACCT)
    assert is_as(drill.project, local)


@pytest.mark.parametrize("drill", [SQUEUE, SACCT], ids=["squeue", "sacct"], indirect=True)
def test_a_node_that_is_lost_with_its_job_is_done_without(
    drill: Drill, local: Project, request: pytest.FixtureRequest
) -> None:
    """Slurm gives the job to another node, and the run goes on as if nothing had been. With `sacct`
    the plugin may then ask Slurm for nonsense (docs/cluster.md), and the same command mends it."""
    try:
        lose_node(drill.node, drill.job)
        output = drill.output()
        if drill.run.returncode and "sacct" in request.node.name:
            assert "None assigned" in output
            drill.project.snakemake(*SACCT)
        else:
            assert drill.run.returncode == 0, output
        assert is_as(drill.project, local)
        assert state(drill.job) == "COMPLETED"
    finally:
        bring_back(drill.node)


@pytest.mark.parametrize("drill", [[*SACCT[:-1], CURVE]], ids=["sacct"], indirect=True)
def test_after_a_killed_snakemake_one_command_suffices(drill: Drill, local: Project) -> None:
    drill.run.kill()
    drill.go_on()
    wait_for(lambda: state(drill.job) == "COMPLETED")
    assert "--unlock" in drill.project.snakemake(*SACCT[:-1], CURVE, ok=False)
    resumed = drill.project.resume(*SACCT[:-1], CURVE)
    assert resumed.returncode == 0, resumed.stdout
    assert is_as(drill.project, local)


def test_more_threads_than_a_node_has_are_refused_at_once(local: Project, tmp_path: Path) -> None:
    """docs/cluster.md says what to type then."""
    changed = local.copy(tmp_path / "project")
    take_away(changed, [KERNEL])
    wide = [word for word in ON_SLURM if word not in ("--max-threads", "2")]
    output = changed.snakemake(*wide, "--set-threads", "compute_kernel=8", "--", KERNEL, ok=False)
    refusal = "Requested node configuration is not available"
    assert refusal in output
    handbook = (ROOT / "docs/cluster.md").read_text(encoding="utf-8")
    assert refusal in " ".join(handbook.split())
    assert {job["JobState"] for job in books(changed)} <= {"FAILED"}
