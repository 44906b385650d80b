"""Fronts and nested choices against slow loops, and what honesty means."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.errors import StaleError
from refless.experiments.bleu_neighbors import pareto
from refless.experiments.bleu_neighbors.pareto import (
    COLUMNS,
    FRONT_COLUMNS,
    Choice,
    Settings,
    Sums,
    at_the_end,
    best,
    deal_folds,
    front,
    honest,
    pareto_rows,
    pareto_table,
    part_sums,
    predict,
    read_fronts,
    search,
    write_fronts,
    write_pareto_sums,
)
from refless.kernels import kernel
from refless.models.neighbors import NeighborsRegressor
from refless.statistics import spearman
from tests.experiments.bleu_neighbors.written import written_task
from tests.kernels.texts import random_sentences

N, TAUS = 48, [0.05, 0.15, 0.3]
KERNELS = ["bleu.char", "rouge_l.stem"]
A, B = [1, 3, 6], [0.3, 0.66, 1.0]
TEXTS = random_sentences(N, 9, seed=8)
QUALITY = np.random.default_rng(2).integers(0, 9, N) / 8
FOLD = deal_folds(N, 4, seed=1)
MATRIX = kernel("bleu.char", TEXTS, TEXTS)


def of_parts(part: np.ndarray, joined: np.ndarray, quality: np.ndarray = QUALITY) -> Sums:
    counts, sums = part_sums("bleu.char", TEXTS, quality, TAUS, part)
    return Sums(quality, part, np.array(TAUS), counts, sums, joined)


@pytest.fixture(scope="module")
def data() -> Sums:
    return of_parts(FOLD, np.arange(4))


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
    other = of_parts(FOLD, np.arange(4), changed)
    pd.testing.assert_frame_equal(search(data, A, B, without=k), search(other, A, B, without=k))
    assert not search(data, A, B).equals(search(other, A, B))


def test_rows_say_what_was_tuned_and_what_is_honest(data: Sums) -> None:
    settings = Settings(A, B, [0.3, 0.99], 3, 0.66, draws=100, seed=1)
    rows, points = pareto_rows([data], 0.15, settings)
    every = search(data, A, B)
    assert [row["rule"] for row in rows] == ["default", "coverage >= 0.3", "coverage >= 0.99"]
    assert (rows[0]["tau"], rows[0]["a"], rows[0]["b"]) == (0.15, 3, 0.66)
    assert rows[1]["tuned_spearman"] == every.loc[every["coverage"] >= 0.3, "spearman"].max()
    assert rows[1]["optimism"] == pytest.approx(rows[1]["tuned_spearman"] - rows[1]["spearman"])
    assert rows[1]["spearman_change"] == pytest.approx(rows[1]["spearman"] - rows[0]["spearman"])
    assert len(rows[1]["chosen_by_fold"].split("; ")) == 4
    assert rows[2]["n_covered"] == 0
    assert set(points["tau"]) <= set(TAUS)
    assert rows[2]["note"] != []


def test_an_honest_rho_is_the_mean_over_deals_of_the_folds() -> None:
    settings = Settings(A, B, [0.3], 3, 0.66, draws=60, seed=1)
    deals = of_parts(deal_folds(N, 12, 1), np.arange(12) % 4).deals(3, seed=1)
    (_, row), _ = pareto_rows(deals, 0.15, settings)
    alone = [pareto_rows([deal], 0.15, settings)[0][1] for deal in deals]
    rho = [one["spearman"] for one in alone]
    assert len(set(rho)) > 1
    assert row["spearman"] == pytest.approx(np.mean(rho))
    assert row["spearman_deviation"] == pytest.approx(np.std(rho, ddof=1))
    assert (row["spearman_least"], row["spearman_most"]) == pytest.approx((min(rho), max(rho)))
    assert row["deals"] == 3
    for column in ("mse", "coverage", "spearman_change"):
        assert row[column] == pytest.approx(np.mean([one[column] for one in alone]))
    # the same draws for all deals: an interval of their mean is no wider than the widest
    widths = [one["spearman_high"] - one["spearman_low"] for one in alone]
    assert 0 < row["spearman_high"] - row["spearman_low"] <= max(widths)
    assert row["tuned_spearman"] == alone[0]["tuned_spearman"]
    assert np.isnan(alone[0]["spearman_deviation"])


def test_parts_joined_to_folds_are_the_folds_themselves(data: Sums) -> None:
    parts = deal_folds(N, 12, 1)
    first, *others = of_parts(parts, np.arange(12) % 4).deals(4, seed=1)
    # a fold is the same however many parts it is joined of
    assert np.array_equal(first.fold, FOLD)
    assert len({tuple(deal.fold) for deal in (first, *others)}) == 4
    for deal in (first, *others):
        assert np.bincount(deal.fold).tolist() == [12] * 4
        assert all(len(set(deal.fold[parts == k])) == 1 for k in range(12))
        own = of_parts(deal.fold, np.arange(4))
        for without in (None, 3):
            found = search(deal, A, B, without)
            pd.testing.assert_frame_equal(found, search(own, A, B, without), rtol=1e-6)


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
    rows, _ = pareto_rows([data], 0.15, every)
    assert rows[1]["note"][0].endswith(": tau")


def test_equal_neighborhoods_have_equal_means(data: Sums) -> None:
    twin = replace(data, counts=data.counts[:, [0, 0]], sums=data.sums[:, [0, 0]])
    means, _ = pareto._means(twin, 0, None)
    assert means[0] == means[1]


def test_the_table_comes_from_files_and_says_which_are_of_other_ratings(tmp_path: Path) -> None:
    """Shipped beside computed, where a resource is missing."""
    sums = {"taus": TAUS, "folds": 4, "seed": 1}
    made = {**sums, "parts": 3}
    folder, paths = tmp_path / "ratings" / "t", [tmp_path / "t" / f"{k}.npz" for k in KERNELS]
    write_pareto_sums(paths[1], written_task(folder, TEXTS, 1 - QUALITY), KERNELS[1], {}, made)
    write_pareto_sums(paths[0], written_task(folder, TEXTS, QUALITY), KERNELS[0], {}, made)
    models = {
        name: {"kernel": kernel, "tau": 0.15, "settings": sums}
        for name, kernel in zip(("bleu", "rouge"), KERNELS, strict=True)
    }
    settings = Settings(A, B, [0.3], 3, 0.66, draws=50, seed=1)
    table, fronts, notes = pareto_table(
        ["t", "u"], [folder], paths, models, settings, {"t": {"parts": 3, "deals": 3}}
    )
    assert table.columns.tolist() == COLUMNS
    own = table[table["task"] == "t"].set_index("model")
    assert own.loc["bleu", "rule"].tolist() == ["default", "coverage >= 0.3"]
    assert own.loc["bleu", "spearman"].notna().all()
    assert own.loc["bleu", "deals"].tolist() == [pd.NA, 3]
    assert np.isnan(own.loc["rouge", "spearman"])
    assert str(paths[1]) in own.loc["rouge", "note"][0]
    assert "run again" in own.loc["rouge", "note"][0]
    assert len(table[table["task"] == "u"]) == 2
    assert len(notes) == 1
    assert set(fronts["model"]) == {"bleu"}
    published, path = tmp_path / "table.csv", tmp_path / "fronts.csv"
    published.write_text("this table")
    write_fronts(path, fronts, table, published)
    pd.testing.assert_frame_equal(read_fronts(path, published), fronts)
    published.write_text("another")
    with pytest.raises(StaleError, match="table"):
        read_fronts(path, published)


def test_equal_texts_are_in_one_fold(tmp_path: Path) -> None:
    own = list(dict.fromkeys(text for text in TEXTS if text))[:20]
    texts = [*own, *(text.upper() + " ." for text in own)]
    task = written_task(tmp_path / "t", texts, QUALITY[:40])
    settings = {"taus": TAUS, "folds": 4, "parts": 100, "seed": 1}
    write_pareto_sums(tmp_path / "sums.npz", task, "bleu.char", {}, settings)
    part = np.load(tmp_path / "sums.npz")["part"]
    assert np.array_equal(part[:20], part[20:])
    # no part without a text, and as many to each fold
    assert sorted(set(part)) == list(range(20))


def test_without_any_numbers_there_are_rows_and_no_front(tmp_path: Path) -> None:
    models = {"bleu": {"kernel": "bleu.char", "tau": 0.15, "settings": {}}}
    settings = Settings(A, B, [0.3], 3, 0.66, draws=50, seed=1)
    table, fronts, _ = pareto_table(["t"], [], [], models, settings, {})
    assert table["provenance"].tolist() == [""]
    published = tmp_path / "table.csv"
    published.write_text("")
    write_fronts(tmp_path / "fronts.csv", fronts, table, published)
    assert read_fronts(tmp_path / "fronts.csv", published).columns.tolist() == FRONT_COLUMNS
