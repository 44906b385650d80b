"""Copies of the project in which Snakemake can run without touching the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.workflow import small_data, small_dialogues

ROOT = Path(__file__).parents[1]
PARTS = ["Snakefile", "workflow", "config", "profiles", "envs", "resources"]


# ΔBLEU on as few contexts as the small dialogues have, and without the data sets that are not among
# them.
DIALOGUES = [
    ("dstc7: {unit: 100, units: [1, 2, 5, 10, 20, 50, 100]", "dstc7: {unit: 4, units: [1, 4]"),
    (
        "usr_topicalchat: {unit: 10, units: [1, 2, 3, 5, 10, 20]",
        "usr_topicalchat: {unit: 4, units: [4]",
    ),
    ("    usr_personachat: {unit: 10, units: [1, 2, 3, 5, 10, 20], gold: false}\n", ""),
    ("[dstc7, usr_topicalchat, usr_personachat, nem]", "[dstc7, usr_topicalchat, nem]"),
    ("assignments: 1000", "assignments: 20"),
]


@dataclass
class Project:
    """A copy of the project and the mirror that it is told of (empty for none)."""

    path: Path
    mirror: str = ""

    def snakemake(self, *arguments: str, ok: bool = True, **environment: str) -> str:
        """Run Snakemake in the copy; its whole output, or a failure that shows it."""
        result = subprocess.run(
            [sys.executable, "-m", "snakemake", "--cores", "2", *arguments],
            cwd=self.path,
            # No test is to download an encoder, wherever it runs.
            env={
                **os.environ,
                "REFLESS_MIRROR": self.mirror,
                "HF_HUB_OFFLINE": "1",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        assert (result.returncode == 0) == ok, result.stdout
        return result.stdout

    def planned(self, *arguments: str, **environment: str) -> dict[str, int]:
        """The jobs that a dry run plans, by rule, with their number."""
        output = self.snakemake("--dry-run", *arguments, **environment)
        table = output.rpartition("Job stats:")[2].split("total")[0] if "total" in output else ""
        return {name: int(n) for name, n in re.findall(r"^(\w+)\s+(\d+)$", table, re.MULTILINE)}

    def touch(self, path: str) -> None:
        """Make a file newer than everything that was built so far."""
        os.utime(self.path / path)


def copy_project(target: Path, mirror: str = "") -> Project:
    """A copy of the checkout without results and raw data."""
    target.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "data")
            shutil.copytree(ROOT / part, target / part, ignore=ignore)
        else:
            shutil.copy2(ROOT / part, target / part)
    return Project(target, mirror)


def small_project(base: Path) -> Project:
    """A project with two HUSE batches, dialogues, essays and rated outputs of our own.

    They lie behind a mirror of its own.

    METEOR is left out, since it needs WordNet. BERTScore has an encoder of our own, which is
    nowhere until a test puts it somewhere.
    """
    mirror = base / "mirror"
    files = {
        "huse/summarization_raw_outputs.csv": mirror / "huse/summarization_raw_outputs.csv",
        "huse/reddit_results_reformatted.csv": mirror / "huse/reddit_results_reformatted.csv",
    }
    for seed, path in enumerate(files.values()):
        small_data.write_huse_batch(path, items=60, seed=seed)
    names = "train_rel_2.tsv", "public_leaderboard_rel_2.tsv", "public_leaderboard_solution.csv"
    essays = {f"asap-sas/{name}": mirror / "asap-sas" / name for name in names}
    small_data.write_essays(*essays.values())
    files |= essays | small_dialogues.write_dialogues(mirror)
    chat = mirror / "dstc7/dstc7-task2-human_eval.tgz"
    small_data.write_dstc7(chat, contexts=24, seed=7)
    files["dstc7/dstc7-task2-human_eval.tgz"] = chat
    files |= {
        str(path.relative_to(mirror)): path for path in small_data.write_rated_outputs(mirror)
    }
    project = copy_project(base / "project", str(mirror))
    small_data.register(project.path, files)
    config = project.path / "config" / "config.yaml"
    settings = config.read_text()
    settings, changed = re.subn(r"(?m)^    meteor: .*\n", "", settings)
    assert changed == 1
    settings = settings.replace(", bleu.char.unclipped]", "]")
    settings, changed = re.subn(
        r"(?m)^      kernels: \[bertscore.*\n      taus: .*\n",
        "      kernels: [bertscore.refless-tiny]\n      taus: {bertscore.refless-tiny: 0.9}\n",
        settings,
    )
    assert changed == 1
    settings = settings.replace(
        "\nkernels: {}\n", "\nkernels: {bertscore.refless-tiny: {layer: 2}}\n"
    )
    settings = settings.replace("[bleu, rouge, meteor]", "[bleu, rouge]")
    for old, new in DIALOGUES:
        assert old in settings
        settings = settings.replace(old, new)
    settings = settings.replace("sizes: [50, 100, 200, 400, 800]", "sizes: [50, 100]")
    settings = settings.replace("seeds: 5, device: cpu", "seeds: 1, device: cpu")
    config.write_text(settings)
    return project


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small project in which everything has been built once."""
    project = small_project(tmp_path_factory.mktemp("small"))
    project.snakemake("all")
    return project


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    """A small project in which nothing has been built."""
    return small_project(tmp_path)


@pytest.fixture(scope="session")
def mirror() -> str:
    """The directory with the real data; the test is skipped where none is set."""
    place = os.environ.get("REFLESS_MIRROR", "")
    if not Path(place or "/nowhere").is_dir():
        pytest.skip("needs the real data: set REFLESS_MIRROR to a directory that has it")
    return place


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many drills (marker ``drill``) were tried and passed; a failed one lost something."""
    ran = [
        report
        for outcome in ("passed", "failed", "error")
        for report in terminalreporter.stats.get(outcome, [])
        if "drill" in report.keywords and (report.when == "call" or outcome == "error")
    ]
    if ran:
        passed = sum(report.passed for report in ran)
        terminalreporter.write_line(
            f"drills: {len(ran)} tried, {passed} passed, {len(ran) - passed} failed"
        )
