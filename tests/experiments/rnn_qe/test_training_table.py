"""The table of RNN-QE's training, on a course that is small enough to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.experiments.rnn_qe.training import COLUMNS, training_table
from refless.report.tables import publish


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
        "facts": {"models": list(models), "seconds": 12.0, "machine": "a machine"},
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
    assert (first["dev_pearson"], first["dev_spearman"]) == pytest.approx((0.45, 0.15))
    # sums of the means: 0.35, 0.5, 0.4; passes over everything do not count
    assert first["common_pass"] == 2
    assert (first["common_pearson"], first["common_spearman"]) == pytest.approx((0.3, 0.2))
    assert (second["seed"], second["models"], second["common_pass"]) == (1, 1, 2)


def test_a_correlation_that_is_undefined_is_not_the_best() -> None:
    flat = model(0, 0, 2, (np.nan, np.nan), (0.2, 0.1), (0.1, 0.1))
    row = training_table({"setup1": about(flat)}).iloc[0]
    assert (row["common_pass"], row["common_pearson"]) == (2, 0.2)


def test_two_schedules_name_each_other_where_the_seed_is_the_same() -> None:
    ours = about(*TWO, model(1, 0, 1, (0.8, 0.8), (0.0, 0.0), (0.0, 0.0)))
    papers = about(*TWO, schedule="paper")
    table = training_table(
        {"setup1": ours, "paper_setup1": papers, "setup2": ours}, ["setup3", "paper_setup3"]
    )
    both = table[table["other_schedule"] != ""]
    assert both[["name", "seed", "other_schedule"]].to_numpy().tolist() == [
        ["setup1", 0, "paper_setup1"],
        ["paper_setup1", 0, "setup1"],
    ]


def test_what_was_not_trained_has_a_row_and_its_reason(tmp_path: Path) -> None:
    table = training_table({"setup1": about(*TWO)}, ["curve_50_setup1", "setup1"])
    assert list(table.columns) == COLUMNS
    assert table["name"].tolist() == ["curve_50_setup1", "setup1"]
    assert table["provenance"].tolist() == ["", "shipped"]
    assert all(map(str.__contains__, table["command"], table["name"]))
    missing = [
        {"of": {"name": name}, "code": "not_trained", "sentence": f"{name} not run", "remedy": "x"}
        for name in ("curve_50_setup1", "setup1")
    ]
    publish("rnn_qe_training", table, tmp_path, missing=missing)
    written = pd.read_csv(tmp_path / "rnn_qe_training.csv", keep_default_na=False)
    assert written["note"].tolist() == ["not available: curve_50_setup1 not run; x", ""]
    text = (tmp_path / "rnn_qe_training.md").read_text()
    assert "## Not run" in text
    assert "two schedules" not in text
