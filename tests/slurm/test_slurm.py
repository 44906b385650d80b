"""Jobs through a real Slurm of one node: the same bytes as a local run, and honest requests.

Skipped where Slurm's programs or the plugin are missing (`make slurm`), or without root.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from refless.store import signed
from tests.conftest import Project, copy_project, small_project
from tests.slurm.one_node import obstacle, one_node

pytestmark = pytest.mark.slurm

# The one node has four cores in Slurm's books; a short wait suits jobs of a few seconds.
ON_SLURM = ["--workflow-profile", "profiles/slurm", "--cores", "4", "--max-threads", "2"]
ON_SLURM += ["--slurm-init-seconds-before-status-checks", "1"]
SHIPPED = ["--config", "numbers=shipped"]
GENERIC = ["--workflow-profile", "profiles/cluster-generic", "--cores", "4", "--max-threads", "2"]
TRAINED = "resources/trained/rnn_qe/predictions/setup1.csv.gz"


@pytest.fixture(scope="module", autouse=True)
def slurm() -> Iterator[None]:
    """A running Slurm of one node."""
    for plugin in ("slurm", "cluster_generic"):
        if importlib.util.find_spec(f"snakemake_executor_plugin_{plugin}") is None:
            pytest.skip("needs the plugins of Snakemake for clusters: make slurm")
    if reason := obstacle():
        pytest.skip(reason)
    with one_node():
        yield


def results(project: Project) -> dict[str, object]:
    """Every computed file of a project; of a training, what it predicts."""
    models = ("results/rnn_qe/checkpoints/", "results/rnn_qe/models/")
    found: dict[str, object] = {
        name: content for name, content in project.contents().items() if not name.startswith(models)
    }
    if (project.path / TRAINED).is_file():
        found[TRAINED] = signed.verify(project.path / TRAINED)["content"]
    return found


def submitted(output: str) -> int:
    """How many jobs a run of Snakemake gave to Slurm."""
    return len(re.findall(r"(?m)^(?:Job|Submitted job) \d+ (?:has been submitted )?with ", output))


def requests(rule: str) -> list[str]:
    """What Slurm was asked for by the jobs of a rule, from its own books."""
    jobs = subprocess.run(
        ["scontrol", "show", "jobs", "--oneliner"], stdout=subprocess.PIPE, text=True, check=True
    )
    return [job for job in jobs.stdout.splitlines() if f" Comment=rule_{rule}" in job]


# Named targets with the options of their run; one of a new stage joins here.
RUNS = [
    pytest.param(
        ["bleu_neighbors_table1", "bleu_neighbors_figure2"],
        ["--set-scatter", "kernel=3"],
        20,
        id="sharded kernels",
    ),
    pytest.param(
        [TRAINED],
        [],
        1,
        id="training",
        marks=pytest.mark.skipif(
            importlib.util.find_spec("torch") is None, reason="needs torch: make torch"
        ),
    ),
]


@pytest.mark.parametrize(("targets", "options", "jobs"), RUNS)
def test_results_are_those_of_a_local_run_bit_for_bit(
    tmp_path: Path, targets: list[str], options: list[str], jobs: int
) -> None:
    local, remote = small_project(tmp_path / "local"), small_project(tmp_path / "remote")
    local.snakemake(*targets)
    output = remote.snakemake(*ON_SLURM, *options, "--", *targets)
    assert submitted(output) >= jobs
    expected, found = results(local), results(remote)
    assert len(expected) > 5
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if found[name] != expected[name]] == []
    assert remote.planned(*ON_SLURM, *options, "--", *targets) == {}


def test_requests_of_the_rules_reach_slurm() -> None:
    """Of the jobs of the run before, which Slurm still remembers."""
    shards = requests("compute_shard")
    assert len(shards) == 3 * 2 * 3  # three data sets, two kernels, three shards
    assert len(requests("compute_kernel")) == 3 * 2
    for job in shards:
        assert " JobState=COMPLETED " in job
        assert " NumCPUs=2 " in job  # eight, but for --max-threads
        assert "TRES=cpu=2,mem=4000M," in job
        assert " TimeLimit=01:00:00 " in job
    # light rules run on the login node
    for rule in ("fetch_source", "plot_bleu_neighbors_thresholds"):
        assert requests(rule) == []


def test_the_setting_of_numbers_reaches_the_jobs(tmp_path: Path) -> None:
    """Without raw data: a job that did not know of `quickstart` would want computed ratings."""
    project = copy_project(tmp_path / "project")
    output = project.snakemake(*ON_SLURM, "--config", "network=False", "--", "quickstart")
    assert submitted(output) >= 3
    table = (project.path / "results/tables/bleu_neighbors_table1.csv").read_text()
    assert ",shipped," in table
    assert (project.path / "results/report.html").stat().st_size > 10000


def test_the_commented_request_for_a_gpu_works(tmp_path: Path) -> None:
    project = copy_project(tmp_path / "project")
    profile = project.path / "profiles/slurm/config.yaml"
    commented = re.search(r"(?m)^# set-resources:\n(#  .*\n)+", profile.read_text())
    assert commented
    asked = re.sub(r"(?m)^# ", "", commented[0])
    asked = asked.replace("train_rnn_qe", "compute_threshold_curves").replace(
        ": gpu\n", ": debug\n"
    )
    profile.write_text(profile.read_text().replace(commented[0], asked))
    curve = "results/curves/huse_summarization/thresholds.csv"
    project.snakemake(*ON_SLURM, *SHIPPED, "--", curve)
    assert (project.path / curve).is_file()
    (job,) = [job for job in requests("compute_threshold_curves") if str(project.path) in job]
    assert "gres:gpu" in job


def test_a_generic_executor_brings_its_own_environment(tmp_path: Path) -> None:
    """As with schedulers that start jobs in an empty environment."""
    local, remote = copy_project(tmp_path / "local"), copy_project(tmp_path / "remote")
    target = "results/neighbors/huse_summarization.csv"
    local.snakemake(target, *SHIPPED)
    profile = remote.path / "profiles/cluster-generic/config.yaml"
    profile.write_text(profile.read_text().replace("  sbatch ", "  sbatch --export=NONE "))
    assert "--export=NONE" in profile.read_text()
    output = remote.snakemake(*GENERIC, *SHIPPED, "--", target)
    assert submitted(output) == 1
    assert results(remote) == results(local)
