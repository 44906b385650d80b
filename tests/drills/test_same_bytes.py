"""Same inputs, same bytes: in another folder, with other threads and shards, in another place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Project, small_project
from tests.drills.harm import contents

pytestmark = [pytest.mark.workflow, pytest.mark.drill]


def test_tables_are_the_same_elsewhere(small: Project, tmp_path: Path) -> None:
    """One thread a job and three shards a kernel, where the other project has two and one.

    Also another path (with a blank and an umlaut), order of jobs, language, time zone and seed of
    Python's hashes.
    """
    elsewhere = small_project(tmp_path / "einen längeren Weg entlang")
    tables = sorted(
        str(path.relative_to(small.path))
        for path in (small.path / "results/tables").iterdir()
        if path.suffix in (".csv", ".md")
    )
    assert len(tables) > 30
    elsewhere.snakemake(
        *("--cores", "2", "--max-threads", "1", "--set-scatter", "kernel=3", "--", *tables),
        LC_ALL="C",
        TZ="Asia/Kathmandu",
        PYTHONHASHSEED="7",
    )
    here, there = contents(small), contents(elsewhere)
    assert set(tables) <= set(there)
    assert [path for path, content in there.items() if here[path] != content] == []
