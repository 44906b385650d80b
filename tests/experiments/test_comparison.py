"""The comparison on a data set of the workflow: signed rows, and the table of all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.compare.compared import COLUMNS
from refless.data.sources import table
from refless.data.task import read_task, write_task
from refless.errors import StaleError
from refless.experiments.comparison import compare_task, comparison_table, read_comparisons
from tests.compare.made_up import rows, write

SETTINGS = {"kernels": ["bleu.char"], "draws": 100, "seed": 0}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of one data set, as a signed file."""
    folder = tmp_path_factory.mktemp("comparison")
    source = write(folder / "mine.jsonl", rows(60))
    write_task("mine", table.load(source, "mine", [1, 5]), folder / "ratings/mine", {}, {})
    out = folder / "comparison/mine.csv"
    left_out = {"meteor.nltk35": "there is no WordNet"}
    compare_task(out, read_task(folder / "ratings/mine"), SETTINGS, {}, left_out)
    return out


def test_what_is_written_is_read_back(made: Path) -> None:
    found, notes = read_comparisons([made], {"mine": SETTINGS})
    own = found["mine"]
    assert list(own) == [*COLUMNS, "provenance"]
    assert set(own["provenance"]) == {"computed"}
    assert set(own["split"]) == {"texts", "systems", "contexts"}
    assert set(own["n"]) == {60}
    meteor = own[own["kernel"] == "meteor.nltk35"]
    assert meteor["note"].tolist() == [["left out: there is no WordNet"]] * 3
    ridge = own[(own["method"] == "ridge") & (own["split"] == "texts")].iloc[0]
    assert ridge["ratings_saved"] == pytest.approx(max(ridge["pearson"], 0) ** 2, abs=2e-6)
    assert any(note.startswith("mine: For texts of a new system") for note in notes)
    assert "lovely" not in made.read_text(encoding="utf-8")


def test_other_settings_are_refused(made: Path) -> None:
    with pytest.raises(StaleError):
        read_comparisons([made], {"mine": {**SETTINGS, "seed": 1}})


def test_the_table_has_a_row_for_what_is_not_there(made: Path) -> None:
    found, _ = read_comparisons([made], {"mine": SETTINGS})
    whole = comparison_table(["lost", "mine"], found)
    assert list(whole)[:4] == ["task", "method", "kernel", "split"]
    assert whole["task"].tolist() == ["lost"] + ["mine"] * len(found["mine"])
    assert whole["provenance"][0] == ""
    assert whole["note"][0] == []
    assert np.isnan(whole["pearson"][0])
    assert whole["n"][0] is pd.NA
    assert comparison_table(["lost"], {})["task"].tolist() == ["lost"]
