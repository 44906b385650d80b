"""What the drills share: harm done to one job, and what a user types then.

Every drill starts from a finished small project, takes a stage's results away, makes one job of
that stage fail at its worst moment (see `saboteur`), and lets a user do what the last message says.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.conftest import Project

SABOTEUR = str(Path(__file__).parent / "saboteur")


def take_away(project: Project, paths: Iterable[str]) -> None:
    """Delete results, files or directories."""
    for path in paths:
        place = project.path / path
        shutil.rmtree(place) if place.is_dir() else place.unlink()


def drilled(project: Project, *arguments: str, **drill: str) -> subprocess.CompletedProcess[str]:
    """A run with the saboteur in it, who is told ``DRILL_<NAME>`` for each ``name=`` given."""
    told = {f"DRILL_{name.upper()}": value for name, value in drill.items()}
    return project.start(*arguments, PYTHONPATH=SABOTEUR, **told)


def sabotaged(project: Project, script: str, deed: str, *arguments: str, **drill: str) -> str:
    """A run in which the first job of ``script`` meets its fate; the run's output."""
    done = project.path / "drill.done"
    result = drilled(project, *arguments, script=script, deed=deed, done=str(done), **drill)
    assert done.exists(), f"the drill did not happen:\n{result.stdout}"
    assert result.returncode != 0, result.stdout
    return result.stdout


def assert_nothing_half_written(project: Project, before: dict[str, bytes]) -> None:
    """What is there under a final name is what belongs there."""
    for path, content in project.contents().items():
        if ".partial" not in path:
            assert content == before[path], f"{path} is neither absent nor whole"


def run_again(project: Project, *targets: str) -> None:
    """What a user types after a crash: the same command, after --unlock if it is locked."""
    first = project.start(*targets)
    if first.returncode:
        assert "--unlock" in first.stdout, first.stdout
        resumed = project.resume(*targets)
        assert resumed.returncode == 0, resumed.stdout
