"""Fronts and nested choices against slow loops, and what honesty means."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.experiments.bleu_neighbors import pareto as pareto
from refless.experiments.bleu_neighbors.pareto import (
    COLUMNS,
    Choice,
    Settings,
    Sums,
    at_the_end,
    best,
    deal_folds,
    fold_sums,
    front,
    honest,
    pareto_markdown,
    pareto_rows,
    pareto_table,
    predict,
    search,
)
from refless.kernels import kernel, signature
from refless.models.neighbors import NeighborsRegressor
from refless.statistics import spearman
from refless.store.numbers import write_numbers
from tests.kernels.texts import random_sentences

ROOT = Path(__file__).parents[2]
N, TAUS = 48, [0.05, 0.15, 0.3]
A, B = [1, 3, 6], [0.3, 0.66, 1.0]
TEXTS = random_sentences(N, 9, seed=8)
QUALITY = np.random.default_rng(2).integers(0, 9, N) / 8
FOLD = deal_folds(N, 4, seed=1)
MATRIX = kernel("bleu.char", TEXTS, TEXTS)


@pytest.fixture(scope="module")
def data() -> Sums:
    return fold_sums("bleu.char", TEXTS, QUALITY, TAUS, FOLD)


def slow(rows: np.ndarray, training: np.ndarray, tau: float, a: int, b: float) -> np.ndarray:
    """Predictions of some candidates from some training texts, one after the other."""
    out = np.full(len(rows), np.nan)
    for place, i in enumerate(rows):
        others = [j for j in training if j != i]
        near = [j for j in others if MATRIX[i, j] >= tau]
        if a <= len(near) <= b * len(others):
            out[place] = QUALITY[near].mean()
    return out


def test_folds_are_even_and_seeded() -> None:
    assert np.bincount(deal_folds(11, 4, 5)).tolist() == [3, 3, 3, 2]
    assert np.array_equal(deal_folds(11, 4, 5), deal_folds(11, 4, 5))
    assert not np.array_equal(deal_folds(50, 4, 5), deal_folds(50, 4, 6))


def test_folds_together_are_leave_one_out(data: Sums) -> None:
    assert data.counts.shape == (4, N, 3)
    assert data.counts.dtype.itemsize == 1
    model = NeighborsRegressor("bleu.char", 0.15, 3, 0.66).fit(TEXTS, QUALITY)
    np.testing.assert_allclose(predict(data, Choice(1, 3, 0.66)), model.leave_one_out(), atol=1e-6)


@pytest.mark.parametrize("without", [None, 2])
@pytest.mark.parametrize("masks", [1 << 19, 100])
def test_search_is_a_loop_over_all_settings(
    data: Sums, without: int | None, masks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pareto, "MASKS", masks)
    table = search(data, A, B, without)
    assert len(table) == 27
    rows = np.flatnonzero(without != FOLD) if without is not None else np.arange(N)
    for row in table.itertuples():
        own = slow(rows, rows, TAUS[row.tau], row.a, row.b)
        covered = ~np.isnan(own)
        assert row.coverage == pytest.approx(covered.mean())
        rho, _ = spearman(np.round(own[covered], 6), QUALITY[rows][covered])
        assert row.spearman == pytest.approx(rho, abs=1e-9, nan_ok=True)


def test_front_is_what_no_other_setting_beats() -> None:
    generator = np.random.default_rng(3)
    coverage = generator.integers(0, 12, 60) / 11
    falling = np.round(generator.uniform(0, 0.4, 60) - 0.6 * coverage, 2)
    table = pd.DataFrame({"coverage": coverage, "spearman": falling})
    table.loc[::7, "spearman"] = np.nan
    fit = table[(table["coverage"] >= pareto.LEAST_SHOWN) & table["spearman"].notna()]
    expected = {
        (one.coverage, one.spearman)
        for one in fit.itertuples()
        if not any(
            (other.coverage >= one.coverage and other.spearman > one.spearman)
            or (other.coverage > one.coverage and other.spearman >= one.spearman)
            for other in fit.itertuples()
        )
    }
    found = front(table)
    assert set(zip(found["coverage"], found["spearman"], strict=True)) == expected
    assert found["coverage"].is_monotonic_decreasing
    assert len(expected) > 3


def test_best_keeps_the_floor_and_prefers_coverage() -> None:
    table = pd.DataFrame(
        {
            "tau": [0, 1, 2, 2],
            "a": [1, 2, 3, 4],
            "b": [0.1, 0.2, 0.3, 0.4],
            "spearman": [0.9, 0.4, 0.4, np.nan],
            "coverage": [0.3, 0.5, 0.8, 1.0],
        }
    )
    assert best(table, 0.2) == Choice(0, 1, 0.1)
    assert best(table, 0.4) == Choice(2, 3, 0.3)
    assert best(table, 0.9) is None


def test_honest_predictions_are_made_with_other_folds_choices(data: Sums) -> None:
    searched = [search(data, A, B, without=k) for k in range(4)]
    prediction, choices = honest(data, searched, 0.3)
    for k in range(4):
        own = np.flatnonzero(k == FOLD)
        choice = choices[k]
        assert choice == best(searched[k], 0.3)
        assert choice is not None
        expected = slow(own, np.arange(N), TAUS[choice.tau], choice.a, choice.b)
        np.testing.assert_allclose(prediction[own], expected, atol=1e-6)
    nothing, none = honest(data, searched, 1.1)
    assert np.isnan(nothing).all()
    assert none == [None] * 4


@pytest.mark.parametrize("k", range(4))
def test_a_folds_quality_has_no_part_in_its_thresholds(data: Sums, k: int) -> None:
    changed = QUALITY.copy()
    changed[k == FOLD] = 1 - changed[k == FOLD]
    other = fold_sums("bleu.char", TEXTS, changed, TAUS, FOLD)
    pd.testing.assert_frame_equal(search(data, A, B, without=k), search(other, A, B, without=k))
    assert not search(data, A, B).equals(search(other, A, B))


def test_rows_say_what_was_tuned_and_what_is_honest(data: Sums) -> None:
    settings = Settings(A, B, [0.3, 0.99], 3, 0.66, draws=100, seed=1)
    rows, points = pareto_rows(data, 0.15, settings)
    every = search(data, A, B)
    assert [row["rule"] for row in rows] == ["default", "coverage >= 0.3", "coverage >= 0.99"]
    assert (rows[0]["tau"], rows[0]["a"], rows[0]["b"]) == (0.15, 3, 0.66)
    assert rows[1]["tuned_spearman"] == every.loc[every["coverage"] >= 0.3, "spearman"].max()
    assert rows[1]["optimism"] == pytest.approx(rows[1]["tuned_spearman"] - rows[1]["spearman"])
    assert rows[1]["spearman_change"] == pytest.approx(rows[1]["spearman"] - rows[0]["spearman"])
    assert len(rows[1]["chosen_by_fold"].split("; ")) == 4
    assert rows[2]["n_covered"] == 0
    assert set(points["tau"]) <= set(TAUS)
    key = {"task": "made_up", "model": "bleu", "kernel": "bleu.char", "provenance": "computed"}
    absent = {**key, "task": "elsewhere", "provenance": "", "note": "not available: no file"}
    table = pareto_table([{**key, **row} for row in rows] + [absent])
    assert table.columns.tolist() == COLUMNS
    text = pareto_markdown(table)
    assert "not available: no file" in text
    assert "no setting covers so much" in text


def test_a_choice_at_the_end_of_the_grid_is_named(data: Sums) -> None:
    settings = Settings([1, 3, 6], [0.3, 0.66, 1.0], [0.3], 3, 0.66, draws=100, seed=1)
    inside = Choice(1, 3, 0.66)
    assert at_the_end(data, [inside], settings) == []
    # nothing lies beyond one neighbor and all neighbors
    assert at_the_end(data, [Choice(1, 1, 1.0)], settings) == []
    assert at_the_end(data, [inside, Choice(2, 3, 0.3)], settings) == ["tau", "b"]
    assert at_the_end(data, [Choice(0, 6, 0.66)], settings) == ["tau", "a"]
    one = replace(settings, a_values=[3], b_values=[0.66])
    assert at_the_end(replace(data, taus=data.taus[:1]), [Choice(0, 3, 0.66)], one) == []
    every = replace(settings, a_values=[1], b_values=[1.0], floors=[0.7])
    rows, _ = pareto_rows(data, 0.15, every)
    assert rows[1]["note"] == "chosen at the end of the grid: tau"


def test_equal_neighborhoods_have_equal_means(data: Sums) -> None:
    twin = replace(data, counts=data.counts[:, [0, 0]], sums=data.sums[:, [0, 0]])
    means, _ = pareto._means(twin, 0, None)
    assert means[0] == means[1]


def test_what_is_shipped_of_another_quality_has_no_row(data: Sums, tmp_path: Path) -> None:
    """Computed beside shipped, where a resource is missing: both are of one task's ratings."""
    made = {"taus": TAUS, "folds": 4, "seed": 1}
    rouge = fold_sums("rouge_l.stem", TEXTS, 1 - QUALITY, TAUS, FOLD)
    for name, sums, provenance in (
        ("bleu.char", data, "computed"),
        ("rouge_l.stem", rouge, "shipped"),
    ):
        signed = signature(name, "texts") | {"task": "t", "provenance": provenance}
        about = {"task": "t", "provenance": provenance, "settings": made, "signatures": [signed]}
        arrays = {key: getattr(sums, key) for key in ("quality", "fold", "counts", "sums")}
        write_numbers(arrays, about, tmp_path / f"{name}.npz")
    grid = {"a_values": A, "b_values": B, "floors": [0.3]}
    settings = grid | {"a": 3, "b": 0.66, "draws": 50, "seed": 1}
    models = {"bleu": ["bleu.char", 0.15], "rouge": ["rouge_l.stem", 0.15]}
    missing = {"t": {"rouge_l.stem": "no file"}, "u": {k: "not there" for k, _ in models.values()}}
    files = [str(tmp_path / f"{name}.npz") for name in ("bleu.char", "rouge_l.stem")]
    subprocess.run(
        [
            *(sys.executable, ROOT / "workflow/scripts/tabulate_bleu_neighbors_pareto.py"),
            *("--tasks", "t", "u", "--numbers", *files, "--models", json.dumps(models)),
            *("--made", json.dumps(dict.fromkeys(("bleu.char", "rouge_l.stem"), made))),
            *("--settings", json.dumps(settings), "--missing", json.dumps(missing)),
            *("--folds", "4", "--front", tmp_path / "front.csv", "--out", tmp_path / "t.csv"),
        ],
        check=True,
    )
    table = pd.read_csv(tmp_path / "t.csv")
    assert table[(table["task"] == "t") & (table["model"] == "bleu")]["spearman"].notna().all()
    (refused,) = table[(table["task"] == "t") & (table["model"] == "rouge")].to_dict("records")
    assert np.isnan(refused["spearman"])
    assert "was computed from other texts or ratings" in refused["note"]
    assert set(table[table["task"] == "u"]["note"]) == {"not available: not there"}
