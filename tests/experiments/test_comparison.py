"""The comparison on a data set of the workflow: signed rows, and the table of all."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.data.sources import table
from refless.data.task import Task, read_task, write_task
from refless.errors import SettingError, StaleError
from refless.evaluation.read import all_splits
from refless.experiments.comparison import (
    compare_task,
    comparison_table,
    rated_task,
    read_networks,
    write_networks,
)
from refless.statistics.bootstrap import unpacked
from refless.store import sealed
from tests.evaluation.made_up import rows, write
from tests.kernels.test_bertscore import needs_torch

SETTINGS = {"kernels": ["bleu.char", "meteor.nltk35"], "draws": 400, "repeats": 2, "seed": 0}
OPTIONS: dict[str, dict[str, Any]] = {"bleu.char": {}}


def task_in(folder: Path) -> Task:
    source = write(folder / "mine.jsonl", rows(60))
    write_task(table.load(source, "mine", [1, 5]), folder / "ratings/mine", {})
    return read_task(folder / "ratings/mine")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comparison")
    out = folder / "comparison/mine.csv"
    compare_task(out, task_in(folder), SETTINGS, OPTIONS)
    return out


def table_of(path: Path) -> pd.DataFrame:
    return comparison_table(["mine"], [path])


def test_what_is_written_is_read_back(made):
    own = table_of(made)
    assert set(own["split"]) == {"texts", "systems", "contexts"}
    assert set(own["n"]) == {60}
    meteor = own[own["kernel"] == "meteor.nltk35"]
    assert meteor["provenance"].tolist() == [""] * 3
    assert meteor["reason"].tolist() == ["left_out"] * 3
    # the mean of a context that is left out
    unknown = own[(own["method"] == "context_mean") & (own["split"] == "contexts")]
    assert unknown["reason"].tolist() == ["not_applicable"]
    drawn = own[own["pearson_draws"] != ""]
    assert {len(unpacked(draws)) for draws in drawn["pearson_draws"]} == {400}
    ridge = own[(own["method"] == "ridge") & (own["split"] == "texts")].iloc[0]
    assert ridge["ratings_saved_limit"] == pytest.approx(max(ridge["pearson"], 0) ** 2, abs=2e-6)
    assert "lovely" not in made.read_text(encoding="utf-8")


def test_texts_of_machines_are_compared_alone_too(made, tmp_path):
    """As if nobody else had written; "written by a person" is a rival where it is known."""
    settings, dataset = {**SETTINGS, "kernels": []}, task_in(tmp_path)
    people = dataset.texts["system"] == "dog"
    compare_task(tmp_path / "mine.csv", dataset, settings, {}, human_systems=["dog"])
    keys = ["split", "method", "kernel"]
    both = table_of(tmp_path / "mine.csv").set_index(keys)
    human = both["pearson"]["texts", "human", ""]
    assert human == pytest.approx(both["pearson"]["contexts", "human", ""], abs=0.2)
    assert np.isnan(both["pearson_by_system"]["systems", "human", ""])
    alone = replace(dataset, texts=dataset.texts[~people].reset_index(drop=True))
    compare_task(tmp_path / "alone/mine.csv", alone, settings, {})
    expected = table_of(tmp_path / "alone/mine.csv")
    expected = expected.assign(split=expected["split"] + "_machine").set_index(keys)
    machine = both[both.index.get_level_values("split").str.endswith("_machine")]
    pd.testing.assert_frame_equal(machine, expected)
    assert set(machine["n"]) == {int((~people).sum())}
    with pytest.raises(SettingError, match="cow"):
        compare_task(tmp_path / "lost.csv", dataset, settings, {}, human_systems=["cow"])
    assert not (tmp_path / "lost.csv").exists()


def test_rows_of_networks_say_where_those_were_trained(made, tmp_path):
    """They may be shipped where everything else is computed."""
    file = sealed.read(made)
    by_network = file.content.iloc[[0]].assign(method="rnn_qe", kernel="")
    others = file.content[file.content["method"] != "rnn_qe"]
    content = pd.concat([others, by_network], ignore_index=True)
    facts = {**file.metadata, "networks": "shipped"}
    sealed.write(tmp_path / "mine.csv", content, facts)
    by_method = table_of(tmp_path / "mine.csv").groupby("method")["provenance"].unique()
    assert by_method.pop("rnn_qe").tolist() == ["shipped"]
    assert {one for own in by_method for one in own} == {"computed", ""}


@needs_torch
def test_networks_are_one_of_the_methods(tmp_path):
    dataset, file = task_in(tmp_path), tmp_path / "networks.csv"
    write_networks(file, dataset, 0, threads=1)
    write_networks(tmp_path / "two.csv", dataset, 0, threads=2)
    assert file.read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert "lovely" not in file.read_text(encoding="utf-8")
    people = ["dog"]
    compare_task(tmp_path / "mine.csv", dataset, SETTINGS, OPTIONS, file, human_systems=people)
    found = table_of(tmp_path / "mine.csv")
    own = found[found["method"] == "rnn_qe"].set_index("split")
    written = pd.read_csv(file)
    quality = dataset.texts["quality"].to_numpy()
    assert own["reason"]["texts_machine"] == "other_folds"
    for split, part in written.groupby("split"):
        known = part["estimate"].to_numpy()
        assert own.loc[split, "coverage"] == 1
        assert own.loc[split, "mse"] == pytest.approx(np.mean((known - quality) ** 2), abs=1e-5)
    # networks of other folds are not taken for those of these
    with pytest.raises(StaleError):
        compare_task(tmp_path / "mine.csv", dataset, {**SETTINGS, "seed": 1}, OPTIONS, file)
    rated = rated_task(dataset)
    (other,) = all_splits(rated, 1)["texts"]
    with pytest.raises(StaleError, match="folds"):
        read_networks(file)(rated, other)


def test_the_table_has_a_row_for_what_is_not_there(made):
    whole = comparison_table(["lost", "mine"], [made])
    assert whole["dataset"].tolist() == ["lost"] + ["mine"] * len(table_of(made))
    assert whole["provenance"][0] == ""
    assert whole["n"].isna()[0]
    assert np.isnan(whole["pearson"][0])
    assert comparison_table(["lost"], [])["dataset"].tolist() == ["lost"]
    nothing = comparison_table([], [])  # no data set takes part
    assert (len(nothing), list(nothing)) == (0, list(whole))
