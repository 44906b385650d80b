"""What a job was given stands in what it writes, and whoever reads that looks again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from refless.errors import StaleError
from refless.store import inputs, signed


def run(folder: Path, quality: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs: ratings, and numbers made from them."""
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    ratings, made = "results/ratings/mine.csv", "results/numbers/mine.csv"
    table = pd.DataFrame({"id": ["a"], "quality": [quality]})
    signed.write(ratings, table, {"kind": "ratings"})
    with inputs.given([ratings, "results/gone.csv", "resources/raw.csv"], [("draws", 20)]):
        signed.write(made, table, {"kind": "numbers"})


def test_what_was_made_from_another_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "one", 0.25, monkeypatch)
    run(tmp_path / "other", 0.75, monkeypatch)
    one, other = (tmp_path / name / "results/numbers/mine.csv" for name in ("one", "other"))
    assert list(signed.record_of(one)["inputs"]) == ["../ratings/mine.csv"]
    for path in (one, other):
        signed.read(path, "numbers")
    shutil.copy(other, one)
    for read in (lambda: signed.read(one, "numbers"), lambda: signed.verify(one)):
        with pytest.raises(StaleError, match=r"ratings/mine\.csv than lies there now") as caught:
            read()
        assert "delete" in caught.value.remedy
    # what was made from is gone: nothing can be said
    (tmp_path / "one/results/ratings/mine.csv").unlink()
    signed.read(one, "numbers")


def test_records_are_the_same_in_every_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        run(tmp_path / name, 0.25, monkeypatch)
    made = [tmp_path / name / "results/numbers/mine.csv" for name in ("one", "other")]
    assert made[0].read_bytes() == made[1].read_bytes()


def test_outside_of_a_job_nothing_was_given(tmp_path: Path) -> None:
    with inputs.given([], [("draws", 20)]):
        inside = inputs.told()
    assert inside == inputs.parameter_sum([("draws", 20)]) != inputs.parameter_sum([("draws", 21)])
    assert inputs.told() == ""
    assert inputs.sums_for("results/x.csv") == {}
