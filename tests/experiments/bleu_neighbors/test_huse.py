"""HUSE's items from a data set's ratings, their file, and HUSE of each part of a batch."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.data import sources
from refless.data.task import read_task, write_task
from refless.errors import FormatError, StaleError
from refless.experiments.bleu_neighbors.huse import (
    HuseInput,
    huse_items,
    huse_table,
    read_batches,
    write_huse_items,
)
from refless.experiments.bleu_neighbors.kernel_files import write_kernel
from refless.experiments.bleu_neighbors.leave_one_out import leave_one_out, read_truth
from refless.experiments.bleu_neighbors.stored import write_predictions
from refless.experiments.bleu_neighbors.table1 import Settings
from refless.kernels import kernel
from refless.models.huse import Batch, scores
from tests.workflow import small_data

RAW = Path(os.environ.get("REFLESS_MIRROR", "")) / "huse/summarization_raw_outputs.csv"
FOUR = ["huse", "huse_q", "huse_d", "huse_logp"]


def batch(tmp_path: Path, types: tuple[str, ...] = ("HUMAN", "SUM")) -> Path:
    path = tmp_path / "batch.csv"
    small_data.write_huse_batch(path, items=60, seed=3, types=types)
    return path


def items_of(path: Path) -> pd.DataFrame:
    data = sources.load("huse", "mine", {"path": path})
    return huse_items(data.texts, data.ratings)


def test_items_know_their_text_their_labels_and_their_model(tmp_path: Path) -> None:
    path = batch(tmp_path, ("HUMAN_A1.0", "LOGP_1.0.txt", "HUMAN_A0.7", "LOGP_0.7.txt"))
    table = items_of(path)
    by_model = table.groupby("system")["by_model"].sum().to_dict()
    assert by_model == {"reddit_1.0": 15, "reddit_0.7": 15}
    single = sources.load("huse", "mine", {"path": path}, {"unit": "item"})
    own = single.texts.set_index("id")
    labels = single.ratings.groupby("id")["label"].sum()
    for row in table.to_dict("records"):
        assert row["words"] == len(own.loc[row["item"], "text"].split(" "))
        assert row["label_sum"] == labels[row["item"]]
        assert row["labels"] == own.loc[row["item"], "n_ratings"]
        assert row["logp"] == own.loc[row["item"], "logp"]
    assert "text" not in table.columns


def test_ratings_that_do_not_say_their_item_are_refused(tmp_path: Path) -> None:
    data = sources.load("huse", "mine", {"path": batch(tmp_path)})
    with pytest.raises(FormatError, match="logp"):
        huse_items(data.texts, data.ratings.drop(columns="logp"))


def test_a_batch_comes_back_from_its_files_or_is_stale(tmp_path: Path) -> None:
    data, folder = sources.load("huse", "mine", {"path": batch(tmp_path)}), tmp_path / "mine"
    write_task("mine", data, folder, {}, {})
    task = read_task(folder)
    files = [tmp_path / name for name in ("bleu.char.npz", "predicted.csv", "items.csv")]
    write_kernel(files[0], task, "bleu.char", {})
    write_predictions(files[1], task, files[:1], {"bleu.char": 0.6})
    write_huse_items(files[2], task)
    batches, notes = read_batches([folder], files[2:], files[1:2], "bleu.char", {"bleu.char": 0.6})
    pd.testing.assert_frame_equal(batches["mine"].items, huse_items(task.texts, task.ratings))
    assert len(batches["mine"].predictions) == len(task.texts)
    assert len(notes) == 1
    data.texts.loc[0, "quality"] += 0.1
    write_task("mine", data, folder, {}, {})
    write_predictions(files[1], read_task(folder), files[:1], {"bleu.char": 0.6})
    with pytest.raises(StaleError):
        read_batches([folder], files[2:], files[1:2], "bleu.char", {"bleu.char": 0.6})


def test_the_table_is_huse_of_each_part(tmp_path: Path) -> None:
    data = sources.load("huse", "mine", {"path": batch(tmp_path)})
    given = data.texts["text"].tolist()
    truth = read_truth(data.texts, data.ratings)
    estimates = leave_one_out(kernel("bleu.char", given, given), truth, 0.6)
    items = huse_items(data.texts, data.ratings)
    own = HuseInput(items, estimates, "bleu.char", "computed")
    settings = Settings(a=3, b=0.1, draws=200, seed=1)
    table = huse_table(["a", "b"], {"a": own}, settings)
    assert table["quality"].tolist() == ["human", "human", "predicted"] * 2 + [""]
    assert table["provenance"].tolist()[-1] == ""
    human, covered, predicted = (row for _, row in table[:3].iterrows())
    quality = (items["label_sum"] / items["labels"] + 1).to_numpy()
    logp, words = items["logp"].to_numpy(), items["words"].to_numpy()
    by_model = items["by_model"].to_numpy(bool)
    expected = scores(Batch(quality, logp, words, by_model))[0]
    assert human[FOUR].tolist() == pytest.approx(expected)
    count = estimates["neighbors"].to_numpy()
    inside = (count >= 3) & (count <= 0.1 * 59)
    assert covered["n"] == predicted["n"] == inside.sum() < 60
    known = estimates.set_index("id")["estimate"][inside]
    part = items["id"].isin(known.index).to_numpy()
    guess = Batch(items["id"][part].map(known).to_numpy(), logp[part], words[part], by_model[part])
    assert predicted[FOUR].tolist() == pytest.approx(scores(guess)[0])
    assert predicted["huse_difference"] == pytest.approx(predicted["huse"] - covered["huse"])
    assert predicted["huse_difference_low"] <= predicted["huse_difference_high"]


def test_too_few_covered_texts_say_so(tmp_path: Path) -> None:
    nothing = pd.DataFrame({"id": [], "estimate": [], "neighbors": [], "training": []})
    own = HuseInput(items_of(batch(tmp_path)), nothing, "bleu.char", "computed")
    table = huse_table(["a"], {"a": own}, Settings(2, 0.2, 50, 1))
    assert np.isfinite(table["huse"][0])
    assert np.isnan(table["huse"][1])
    assert "too few" in table["note"][1][0]


@pytest.mark.slow
@pytest.mark.skipif(not RAW.is_file(), reason="needs the real data: set REFLESS_MIRROR")
def test_huse_of_the_summarization_batch_by_another_road() -> None:
    """From the loader's ratings, with a classifier written out as HUSE's definition says it."""
    items = items_of(RAW)
    single = sources.load("huse", "huse_summarization", {"path": RAW}, {"unit": "item"})
    assert len(items) == 200
    quality = single.ratings.groupby("id", sort=False)["label"].apply(lambda s: np.mean(s + 1))
    quality = quality.reindex(single.texts["id"]).to_numpy()
    logp = single.texts["logp"] / single.texts["text"].map(lambda text: len(text.split(" ")))
    model = (single.texts["type"] == "SUM").to_numpy()
    both = np.column_stack([quality / np.std(quality), logp / np.std(logp)])
    errors = []
    for points in (both, both[:, :1]):
        wrong = 0
        for i in range(200):
            others = np.delete(np.arange(200), i)
            distance = np.sum((points[others] - points[i]) ** 2.0, axis=1)
            votes = model[others][distance <= np.sort(distance)[15]]
            wrong += np.bincount(votes).argmax() != model[i]
        errors.append(2 * wrong / 200)
    batch = Batch(
        ((items["label_sum"] + items["labels"]) / items["labels"]).to_numpy(),
        items["logp"].to_numpy(),
        items["words"].to_numpy(),
        items["by_model"].to_numpy(bool),
    )
    huse, q, d, _ = scores(batch)[0]
    assert [huse, q] == pytest.approx(errors)
    assert d == pytest.approx(1 + huse - q)
    assert [f"{value:.2f}" for value in (huse, q, d)] == ["0.53", "0.58", "0.95"]
