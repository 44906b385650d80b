"""Curves over the thresholds carry the average annotator, with and without the own label."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.data import sources
from refless.data.task import read_task, write_task
from refless.experiments.bleu_neighbors.curves import (
    average_annotators,
    read_curves,
    write_threshold_curves,
)
from refless.experiments.bleu_neighbors.kernel_files import write_kernel
from refless.experiments.bleu_neighbors.leave_one_out import (
    annotators_of,
    human_cells,
    read_truth,
)
from tests.workflow import small_data


def test_the_average_annotator_of_a_task_comes_with_its_curves(tmp_path: Path) -> None:
    raw = tmp_path / "batch.csv"
    small_data.write_huse_batch(raw, items=30, seed=3)
    folder = tmp_path / "ratings" / "mine"
    write_task("mine", sources.load("huse", "mine", {"path": raw}), folder, {}, {})
    task, kernel = read_task(folder), tmp_path / "bleu.char.npz"
    write_kernel(kernel, task, "bleu.char", {})
    path = tmp_path / "mine" / "thresholds.csv"
    write_threshold_curves(path, task, kernel, "bleu.char", 0.3, 2, 0.5, [1, 3], 0.5)
    settings = {"mine": {"kernel": "bleu.char", "tau": 0.3, "a": 2, "b": 0.5}}
    found = average_annotators(read_curves([path], "threshold curves", settings, [folder]))
    truth = read_truth(task.texts, task.ratings)
    wanted = [
        human_cells(annotators_of(truth, 1, 0, others=others), 30)["human_average"]["spearman"]
        for others in (True, False)
    ]
    assert found["mine"] == pytest.approx(wanted)
    assert found["mine"][0] < found["mine"][1]


def test_a_task_without_annotators_is_not_drawn() -> None:
    curve = pd.DataFrame({"human_spearman": [np.nan], "human_others": [np.nan]})
    assert average_annotators({"mine": curve}) == {}
