"""A data set of one's own: three lines of configuration, and no Python."""

from __future__ import annotations

from refless.data.task import read_task
from tests.conftest import Project


def test_three_lines_are_a_data_set(fresh: Project) -> None:
    rows = "a,1,x\na,3,y\nb,5,x\n"
    (fresh.path / "ours.csv").write_text(f"text,quality,rater\n{rows}", encoding="utf-8")
    entry = "  ours:\n    loader: table\n    files: {path: ours.csv}\n"
    fresh.configure("  mine:\n    loader: table\n", f"{entry}  mine:\n    loader: table\n")
    fresh.snakemake("results/ratings/ours/texts.csv")
    made = read_task(fresh.path / "results/ratings/ours")
    assert made.texts["quality"].tolist() == [0.25, 1]
    assert len(made.ratings) == 3
