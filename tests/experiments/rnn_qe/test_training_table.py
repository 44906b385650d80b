"""The table of RNN-QE's training, on a course that is small enough to be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.errors import FormatError
from refless.experiments.rnn_qe.training import COLUMNS, markdown_table, training_table


def course(*values: tuple[float, float]) -> list[dict[str, Any]]:
    first = {"phase": "pretrain", "pass": 1, "pearson": 0.9, "spearman": 0.9, "loss": 1.0}
    return [first] + [
        {"phase": "train", "pass": n, "pearson": r, "spearman": rho, "loss": 1.0}
        for n, (r, rho) in enumerate(values, 1)
    ]


def model(seed: int, fold: int, best: int, *values: tuple[float, float]) -> dict[str, Any]:
    history = course(*values)
    return {"seed": seed, "fold": fold, "history": history, "best": history[best]}


def about(*models: dict[str, Any], schedule: str = "fast") -> dict[str, Any]:
    passes = {"name": schedule, "pretrain": 1, "train": 3, "rate": 0.001, "batch": 50}
    return {
        "settings": {"schedule": passes, "architecture": {"precision": "float32"}},
        "models": list(models),
        "seconds": 12.0,
        "machine": "a machine",
        "provenance": "shipped",
    }


TWO = (
    model(0, 0, 1, (0.4, 0.2), (0.3, 0.2), (0.1, 0.1)),
    model(0, 1, 3, (0.1, 0.0), (0.3, 0.2), (0.5, 0.1)),
)


def test_best_passes_are_each_models_own_and_the_common_pass_is_not() -> None:
    other = model(1, 0, 2, (0.0, 0.0), (0.2, 0.3), (0.2, 0.1))
    table = training_table({"setup1": about(*TWO, other)})
    assert list(table.columns) == COLUMNS
    first, second = table.to_dict("records")
    assert (first["seed"], first["models"], first["best_pass"]) == (0, 2, 2)  # of passes 1 and 3
    assert first["dev_pearson"] == pytest.approx(0.45)
    assert first["dev_spearman"] == pytest.approx(0.15)
    # sums of the means: 0.35, 0.5, 0.4; passes over everything do not count
    assert first["common_pass"] == 2
    assert first["common_pearson"] == pytest.approx(0.3)
    assert first["common_spearman"] == pytest.approx(0.2)
    assert (second["seed"], second["models"], second["common_pass"]) == (1, 1, 2)


def test_a_correlation_that_is_undefined_is_not_the_best() -> None:
    flat = model(0, 0, 2, (np.nan, np.nan), (0.2, 0.1), (0.1, 0.1))
    row = training_table({"setup1": about(flat)}).iloc[0]
    assert (row["common_pass"], row["common_pearson"]) == (2, 0.2)


def test_two_schedules_stand_side_by_side_on_the_same_seeds() -> None:
    ours = about(*TWO, model(1, 0, 1, (0.8, 0.8), (0.0, 0.0), (0.0, 0.0)))
    papers = about(*TWO, schedule="paper")
    table = training_table({"setup1": ours, "paper_setup1": papers, "setup2": ours})
    text = markdown_table(table)
    head, _, tail = text.partition("## setup1 by two schedules, the same seeds")
    assert "| setup1 | fast (1 + 3 passes) | 3 (2) |" in head
    assert "| setup1 | fast (1 + 3 passes) | 2 (1) | 2 | 0.450 / 0.150 |" in tail
    assert "| paper_setup1 | paper (1 + 3 passes) | 2 (1) | 2 | 0.450 / 0.150 |" in tail
    assert "setup2" not in tail
    assert "two schedules" not in markdown_table(training_table({"setup1": ours}))


def test_nothing_trained_is_said() -> None:
    table = training_table({"setup1": about(*TWO)}, ["curve_50_setup1", "setup1"])
    assert list(table.columns) == COLUMNS
    assert table["name"].tolist() == ["curve_50_setup1", "setup1"]
    note = "not run: `snakemake --cores 8 results/rnn_qe/predictions/curve_50_setup1.csv`"
    assert table["note"].tolist() == [note, ""]
    text = markdown_table(table)
    assert "| setup1 | fast" in text
    assert "## Not run\n\n- `snakemake --cores 8 results/rnn_qe/predictions/curve_50" in text
    nothing = training_table({}, ["setup1"])
    assert markdown_table(nothing).startswith("## Not run")


def test_predictions_without_a_course_are_refused() -> None:
    broken = {key: value for key, value in about(*TWO).items() if key != "models"}
    with pytest.raises(FormatError, match="predictions of setup3"):
        training_table({"setup3": broken})
    with pytest.raises(FormatError, match="setup3"):
        training_table({"setup3": pd.DataFrame().to_dict()})
