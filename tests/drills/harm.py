"""What the drills share: copies of a finished project, harm done to one job, and what a user types.

Every drill starts from a finished small project, takes a stage's results away, makes one job of
that stage fail at its worst moment (see `saboteur`), and lets a user do what the last message says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from tests.conftest import Project

SABOTEUR = str(Path(__file__).parent / "saboteur")
# What a run says of itself: when, where and for how long.
OWN_AFFAIRS = ("benchmarks", "logs", "run", "report.html", "shards")


def contents(project: Project, leave_out: Collection[str] = OWN_AFFAIRS) -> dict[str, bytes]:
    """All results by their path, but for those parts."""
    results = project.path / "results"
    return {
        str(path.relative_to(project.path)): path.read_bytes()
        for path in sorted(results.rglob("*"))
        if path.is_file() and path.relative_to(results).parts[0] not in leave_out
    }


def clone(small: Project, target: Path) -> Project:
    shutil.copytree(small.path, target, symlinks=True)
    return Project(target, small.mirror)


def take_away(project: Project, paths: Iterable[str]) -> None:
    """Delete results, files or directories."""
    for path in paths:
        place = project.path / path
        shutil.rmtree(place) if place.is_dir() else place.unlink()


def drilled(project: Project, *arguments: str, **drill: str) -> subprocess.CompletedProcess[str]:
    """A run with the saboteur in it, who is told ``DRILL_<NAME>`` for each ``name=`` given."""
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", *arguments],
        cwd=project.path,
        env={
            **os.environ,
            "REFLESS_MIRROR": project.mirror,
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": SABOTEUR,
            **{f"DRILL_{name.upper()}": value for name, value in drill.items()},
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
        timeout=300,
    )


def sabotaged(project: Project, script: str, deed: str, *arguments: str, **drill: str) -> str:
    """A run in which the first job of ``script`` meets its fate; the run's output."""
    done = project.path / "drill.done"
    result = drilled(project, *arguments, script=script, deed=deed, done=str(done), **drill)
    assert done.exists(), f"the drill did not happen:\n{result.stdout}"
    assert result.returncode != 0, result.stdout
    return result.stdout


def assert_nothing_half_written(project: Project, before: dict[str, bytes]) -> None:
    """What is there under a final name is what belongs there."""
    for path, content in contents(project).items():
        if ".partial" not in path:
            assert content == before[path], f"{path} is neither absent nor whole"


def run_again(project: Project, *targets: str, **drill: str) -> None:
    """What a user types after a crash: the same command, and --unlock if told to."""
    first = drilled(project, *targets, **drill)
    if first.returncode:
        assert "--unlock" in first.stdout, first.stdout
        project.snakemake("--unlock")
        second = drilled(project, *targets, **drill)
        assert second.returncode == 0, second.stdout
