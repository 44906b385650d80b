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

from tests.conftest import Project, copy_project, small_project
from tests.slurm.one_node import obstacle, one_node

pytestmark = [pytest.mark.workflow, pytest.mark.slurm]

# The one node has four cores in Slurm's books; a short wait suits jobs of a few seconds.
ON_SLURM = ["--workflow-profile", "profiles/slurm", "--cores", "4", "--max-threads", "2"]
ON_SLURM += ["--slurm-init-seconds-before-status-checks", "1"]
GENERIC = ["--workflow-profile", "profiles/cluster-generic", "--cores", "4", "--max-threads", "2"]
# What a run says of itself, and nothing that is computed: of a training, all but its predictions.
NOT_RESULTS = ("logs/", "benchmarks/", "run/", "rnn_qe/checkpoints/", "rnn_qe/models/")


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


def results(project: Project) -> dict[str, bytes]:
    """Every computed file of a project."""
    root = project.path / "results"
    found = {str(path.relative_to(root)): path for path in root.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in found.items()
        if not name.startswith(NOT_RESULTS) and not re.match(r"rnn_qe/predictions/.*json", name)
    }


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
        ["results/rnn_qe/predictions/setup1.csv"],
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
    kernels = requests("compute_bleu_kernels")
    assert len(kernels) == 2 * 3  # two tasks, three shards
    for job in kernels:
        assert " JobState=COMPLETED " in job
        assert " NumCPUs=2 " in job  # eight, but for --max-threads
        assert "TRES=cpu=2,mem=4000M," in job
        assert " TimeLimit=01:00:00 " in job
    assert requests("plot_bleu_neighbors_figure2") == []  # a light rule runs on the login node
    assert requests("fetch_source") == []


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
    asked = asked.replace("train_rnn_qe", "compute_data_size_curve").replace(": gpu\n", ": debug\n")
    profile.write_text(profile.read_text().replace(commented[0], asked))
    curve = "results/curves/huse_summarization/bleu.char.data_size.csv"
    project.snakemake(*ON_SLURM, "--config", "numbers=shipped", "--", curve)
    assert (project.path / curve).is_file()
    (job,) = [job for job in requests("compute_data_size_curve") if str(project.path) in job]
    assert "gres:gpu" in job


def test_a_generic_executor_brings_its_own_environment(tmp_path: Path) -> None:
    """As with schedulers that start jobs in an empty environment."""
    local, remote = copy_project(tmp_path / "local"), copy_project(tmp_path / "remote")
    target = "results/neighbors/huse_summarization.csv"
    local.snakemake(target, REFLESS_NUMBERS="shipped")
    profile = remote.path / "profiles/cluster-generic/config.yaml"
    profile.write_text(profile.read_text().replace("  sbatch ", "  sbatch --export=NONE "))
    assert "--export=NONE" in profile.read_text()
    output = remote.snakemake(*GENERIC, "--", target, REFLESS_NUMBERS="shipped")
    assert submitted(output) == 1
    assert results(remote) == results(local)
