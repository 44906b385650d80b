"""Readings, predictions, cells and curves, each from scratch again, by the definitions."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data import sources
from refless.errors import FormatError, SettingError
from refless.experiments.bleu_neighbors.leave_one_out import (
    POINT,
    READINGS,
    Truth,
    annotators_of,
    apply_thresholds,
    data_size_curve,
    human_cells,
    leave_one_out,
    matrix_neighbors,
    model_cells,
    read_truth,
    read_truths,
    threshold_curves,
)
from refless.kernels import kernel
from refless.store.tables import read_table, write_table

MIRROR = Path(os.environ.get("REFLESS_MIRROR", ""))
HUSE, WORDNET = MIRROR / "huse/summarization_raw_outputs.csv", MIRROR / "nltk/wordnet.zip"
NAN = float("nan")


def made_up(n: int = 40, seed: int = 1) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """A task of n texts: texts, ratings (labels 0 to 5 in the raw file's order), a kernel.

    The last two texts were sent out as one pair in two items each; annotator ``r005`` gives
    everything the same label.
    """
    generator = np.random.default_rng(seed)
    ids = [f"t:{i:04d}" for i in range(1, n + 1)]
    level = generator.integers(0, 5, n)
    rows = []
    for rater in range(1, 6):
        for i in generator.permutation(n):
            for copy in range(2 if i >= n - 2 else 1):
                if generator.random() < 0.7 or copy:
                    label = 3 if rater == 5 else min(5, level[i] + generator.integers(0, 3))
                    rows.append((ids[i], f"r{rater:03d}", float(label), f"{ids[i]}{'ab'[copy]}"))
    ratings = pd.DataFrame(rows, columns=["id", "rater", "label", "item"])
    ratings.insert(3, "rating", ratings["label"] / 5)
    own = {name: part["rating"].to_numpy() for name, part in ratings.groupby("id")}
    texts = pd.DataFrame(
        {
            "id": ids,
            "task": "t",
            "context": "",
            "text": ids,
            "quality": [np.mean(own[name]) for name in ids],
            "n_ratings": [len(own[name]) for name in ids],
            "system": "lm",
        }
    )
    # alike where the level is alike, on tenths so that there are ties with tau
    matrix = (
        0.9 - 0.2 * np.abs(level[:, None] - level[None, :]) + generator.integers(-2, 3, (n, n)) / 10
    )
    return texts, ratings, np.round(np.clip(matrix, 0, 1), 1)


def slow_predictions(
    matrix: np.ndarray, quality: np.ndarray, tau: float, a: int, b: float
) -> np.ndarray:
    """Leave-one-out by the letter of the paper's definitions."""
    n = len(quality)
    found = []
    for x in range(n):
        near = [quality[s] for s in range(n) if s != x and matrix[x, s] >= tau]
        inside = a <= len(near) and Fraction(len(near)) <= Fraction(str(b)) * (n - 1)
        found.append(np.mean(near) if inside else NAN)
    return np.array(found)


def slow_point(predicted: np.ndarray, quality: np.ndarray) -> tuple[float, float, int]:
    covered = ~np.isnan(predicted)
    p, q = predicted[covered], quality[covered]
    rho = NAN
    if len(p) >= 3 and len(set(p)) > 1 and len(set(q)) > 1:
        rho = stats.spearmanr(p, q).statistic
    return rho, covered.mean(), covered.sum()


# ---- readings ---------------------------------------------------------------------------------


def test_exact_means_tie_where_floating_point_does_not() -> None:
    """Two orders of the same labels: one mean on paper, two in floating point."""
    labels, other = [5.0, 3.0, 3.0, 1.0, 1.0], [5.0, 1.0, 3.0, 1.0, 3.0]
    ratings = pd.DataFrame({"id": ["a"] * 5 + ["b"] * 5, "rater": "r001", "label": labels + other})
    ratings["rating"] = ratings["label"] / 5
    means = [np.mean(np.array(part) / 5) for part in (labels, other)]
    assert means[0] != means[1]
    texts = pd.DataFrame({"id": ["a", "b"], "quality": means})
    assert read_truth(texts, ratings).quality.tolist() == means
    truth = read_truth(texts, ratings, "exact", (0, 5))
    assert truth.quality[0] == truth.quality[1] == 13 / 25
    assert (truth.points / truth.most).tolist() == truth.quality.tolist()


def test_exact_estimates_are_rounded_once() -> None:
    """Sums of labels and of neighbors are exact, so an estimate is the nearest number to it."""
    texts, ratings, matrix = made_up()
    assert len(set(texts["n_ratings"])) > 3
    truth = read_truth(texts, ratings, "exact", (0, 5))
    own = {
        name: Fraction(int(part["label"].sum()), 5 * len(part))
        for name, part in ratings.groupby("id")
    }
    table = leave_one_out(matrix, truth, 0.5)
    for i, estimate in enumerate(table["estimate"]):
        near = [own[truth.id[j]] for j in range(40) if j != i and matrix[i, j] >= 0.5]
        assert near
        assert estimate == float(sum(near) / len(near))
        assert table["quality"][i] == float(own[truth.id[i]])


def test_the_readings_that_ratings_allow() -> None:
    texts, ratings, _ = made_up()
    assert list(read_truths(texts, ratings, (0, 5))) == ["published", "exact", "item"]
    assert list(read_truths(texts, ratings, None)) == ["published", "item"]
    assert list(read_truths(texts, ratings.drop(columns="item"), None)) == ["published"]


def test_a_reading_that_cannot_be_is_refused() -> None:
    texts, ratings, _ = made_up()
    for reading, why in (("median", "published, exact, item"), ("exact", "without the scale")):
        with pytest.raises(SettingError, match=why):
            read_truth(texts, ratings, reading)
    with pytest.raises(SettingError, match="which item"):
        read_truth(texts, ratings.drop(columns="item"), "item")
    with pytest.raises(FormatError, match="scale from 0 to 3"):
        read_truth(texts, ratings, "exact", (0, 3))
    for reading in READINGS:
        with pytest.raises(FormatError, match="'t:9999'"):
            read_truth(texts, ratings.replace({"id": {texts["id"][3]: "t:9999"}}), reading)


def test_an_item_is_what_was_sent_out() -> None:
    texts, ratings, matrix = made_up()
    truth = read_truth(texts, ratings, "item")
    assert truth.id.tolist() == sorted(set(ratings["item"]))
    assert len(truth.id) == 42
    for i, item in enumerate(truth.id):
        own = ratings[ratings["item"] == item]
        assert truth.quality[i] == np.mean(own["rating"].to_numpy())
        assert texts["id"][truth.row[i]] == own["id"].iloc[0]
    assert truth.id[truth.candidate].tolist() == ratings["item"].tolist()
    # the two items of a pair are neighbors of each other, whatever the kernel's diagonal
    np.fill_diagonal(matrix, 1.0)
    table = leave_one_out(matrix, truth, tau=1.0)
    pairs = table["id"].isin(["t:0039a", "t:0039b", "t:0040a", "t:0040b"])
    assert (table.loc[pairs, "neighbors"] >= 1).all()
    assert (table["training"] == 41).all()


def test_items_may_look_like_numbers_after_a_file(tmp_path: Path) -> None:
    texts, ratings, _ = made_up()
    numbered = {item: str(i) for i, item in enumerate(sorted(set(ratings["item"])))}
    ratings["item"] = ratings["item"].map(numbered)
    write_table(ratings, tmp_path / "ratings.csv")
    truth = read_truth(texts, read_table(tmp_path / "ratings.csv", ["item"]), "item")
    expected = read_truth(texts, ratings, "item")
    assert truth.id.tolist() == expected.id.tolist()
    np.testing.assert_array_equal(truth.quality, expected.quality)


def test_texts_that_nobody_rated_are_no_candidates() -> None:
    """With malformed rows skipped, a text may lose all its labels."""
    texts, ratings, matrix = made_up()
    lost = texts["id"][7]
    texts.loc[7, ["quality", "n_ratings"]] = [NAN, 0]
    ratings = ratings[ratings["id"] != lost]
    others = np.delete(np.arange(40), 7)
    for reading in ("published", "exact"):
        truth = read_truth(texts, ratings, reading, (0, 5))
        assert truth.row.tolist() == others.tolist()
        assert lost not in truth.id
        assert truth.id[truth.candidate].tolist() == ratings["id"].tolist()
        found = apply_thresholds(leave_one_out(matrix, truth, 0.7), 3, 0.66)
        expected = slow_predictions(matrix[np.ix_(others, others)], truth.quality, 0.7, 3, 0.66)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
        assert not np.isnan(found).all()


# ---- predictions and cells --------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), [(1, 1.0), (3, 0.5), (5, 0.66), (39, 1.0)])
def test_predictions_are_those_of_the_definition(a: int, b: float) -> None:
    texts, ratings, matrix = made_up()
    truth = read_truth(texts, ratings)
    table = leave_one_out(matrix, truth, 0.7)
    expected = slow_predictions(matrix, truth.quality, 0.7, a, b)
    np.testing.assert_array_equal(apply_thresholds(table, a, b), expected)
    assert table["id"].tolist() == truth.id.tolist()
    assert (table["training"] == 39).all()


def test_a_models_cells() -> None:
    texts, ratings, matrix = made_up()
    truth = read_truth(texts, ratings)
    cells = model_cells(leave_one_out(matrix, truth, 0.7), 3, 0.5, draws=50, seed=1)
    predicted = slow_predictions(matrix, truth.quality, 0.7, 3, 0.5)
    covered = ~np.isnan(predicted)
    expected = stats.spearmanr(predicted[covered], truth.quality[covered])
    assert 3 < covered.sum() < 40
    assert cells["mse"] == np.mean((predicted[covered] - truth.quality[covered]) ** 2)
    assert cells["spearman"] == pytest.approx(expected.statistic)
    assert cells["p_value"] == pytest.approx(expected.pvalue)
    assert cells["coverage"] == covered.mean()
    assert (cells["n"], cells["n_covered"]) == (40, covered.sum())
    assert cells["p_below_0.01"] == int(expected.pvalue < 0.01) == 1
    for name in ("mse", "spearman", "coverage"):
        assert cells[f"{name}_low"] < cells[name] < cells[f"{name}_high"]
    # without a correlation there is no star
    assert model_cells(leave_one_out(matrix, truth, 2.0), 3, 0.5, 5, 1)["p_below_0.01"] == 0


def cells_of(truth: Truth, draws: int, seed: int, undefined: float = 0.0) -> dict[str, Any]:
    return human_cells(annotators_of(truth, draws, seed), len(truth.id), undefined)


def test_the_human_cells() -> None:
    texts, ratings, _ = made_up()
    truth = read_truth(texts, ratings)
    errors, rhos = [], []
    for _, own in ratings.groupby("rater"):
        wanted = texts.set_index("id")["quality"][own["id"]].to_numpy()
        errors.append(np.mean((own["rating"].to_numpy() - wanted) ** 2))
        if len(set(own["rating"])) > 1:
            rhos.append(stats.spearmanr(own["rating"], wanted).statistic)
    assert len(rhos) == 4
    cells = cells_of(truth, 20, 1)
    assert cells["human_best"]["mse"] == pytest.approx(min(errors))
    assert cells["human_best"]["spearman"] == pytest.approx(max(rhos))
    assert cells["human_average"]["mse"] == pytest.approx(np.mean(errors))
    assert cells["human_average"]["spearman"] == pytest.approx(sum(rhos) / 5)
    left_out = cells_of(truth, 20, 1, NAN)
    assert left_out["human_average"]["spearman"] == pytest.approx(np.mean(rhos))
    for row in cells.values():
        assert (row["coverage"], row["annotators"], row["n"]) == (1.0, 5, 40)


# ---- curves -----------------------------------------------------------------------------------


def test_every_point_of_the_threshold_curves_is_what_it_is_from_scratch() -> None:
    texts, ratings, matrix = made_up()
    truth = read_truth(texts, ratings)
    a_values, b_values = range(1, 25), [0.0, 0.05, 0.1, 0.29, 0.5, 0.66, 1.0]
    curves = threshold_curves(leave_one_out(matrix, truth, 0.7), a_values, b_values, 4, 0.6)
    assert curves["threshold"].tolist() == ["a"] * 24 + ["b"] * 7
    assert curves["value"].tolist() == [*a_values, *b_values]
    for row in curves.itertuples():
        a, b = (int(row.value), 0.6) if row.threshold == "a" else (4, float(row.value))
        predicted = slow_predictions(matrix, truth.quality, 0.7, a, b)
        rho, coverage, n = slow_point(predicted, truth.quality)
        assert row.spearman == pytest.approx(rho, nan_ok=True)
        assert (row.coverage, row.n_covered) == (coverage, n)
    # both ends: everything covered by little, and nothing at all
    assert curves["n_covered"].min() == 0
    assert np.isnan(curves.loc[curves["n_covered"] == 0, "spearman"]).all()
    assert curves.loc[curves["threshold"] == "a", "coverage"].is_monotonic_decreasing
    assert curves.loc[curves["threshold"] == "b", "coverage"].is_monotonic_increasing


def curve_of(matrix: np.ndarray, truth: Truth, sizes: list[int], **changes: object) -> pd.DataFrame:
    options: dict[str, object] = {"tau": 0.7, "a": 3, "b": 0.5, "subsets": 6, "seed": 5}
    options |= changes
    neighbors = matrix_neighbors(matrix, truth, options.pop("tau"))  # type: ignore[arg-type]
    return data_size_curve(neighbors, truth, sizes, **options)  # type: ignore[arg-type]


def test_every_subset_is_leave_one_out_from_scratch() -> None:
    texts, ratings, matrix = made_up()
    truth = read_truth(texts, ratings, "item")
    square = matrix[np.ix_(truth.row, truth.row)]
    curve = curve_of(matrix, truth, [4, 15, 30])
    assert curve["size"].tolist() == [4] * 6 + [15] * 6 + [30] * 6
    assert curve["subset"].tolist() == list(range(6)) * 3
    for size in (4, 15, 30):
        generator = np.random.default_rng([5, size])
        for row in curve[curve["size"] == size].itertuples():
            chosen = np.sort(generator.choice(42, size, replace=False))
            quality = truth.quality[chosen]
            predicted = slow_predictions(square[np.ix_(chosen, chosen)], quality, 0.7, 3, 0.5)
            rho, coverage, n = slow_point(predicted, quality)
            assert row.spearman == pytest.approx(rho, nan_ok=True)
            assert (row.coverage, row.n_covered) == (coverage, n)
    assert curve["n_covered"].max() > 10


@pytest.mark.parametrize("reading", READINGS)
def test_the_last_point_is_the_tables_cell(reading: str) -> None:
    texts, ratings, matrix = made_up()
    truth = read_truth(texts, ratings, reading, (0, 5))
    cells = model_cells(leave_one_out(matrix, truth, 0.7), 3, 0.5, draws=2, seed=1)
    curve = curve_of(matrix, truth, [len(truth.id)], subsets=3)
    for column in POINT:
        assert curve[column].tolist() == [cells[column]] * 3


def test_a_further_size_changes_no_other() -> None:
    texts, ratings, matrix = made_up()
    truth = read_truth(texts, ratings)
    few = curve_of(matrix, truth, [10, 30])
    more = curve_of(matrix, truth, [30, 20, 10])
    for size in (10, 30):
        one, other = (t[t["size"] == size].reset_index(drop=True) for t in (few, more))
        pd.testing.assert_frame_equal(one, other)
    # nor do fewer subsets
    fewer = curve_of(matrix, truth, [30], subsets=2)
    pd.testing.assert_frame_equal(fewer, few[few["size"] == 30][:2].reset_index(drop=True))
    assert not curve_of(matrix, truth, [30], seed=6).equals(curve_of(matrix, truth, [30]))


@pytest.mark.parametrize("size", [0, 1, 41])
def test_a_subset_that_cannot_be_drawn_is_named(size: int) -> None:
    texts, ratings, matrix = made_up()
    with pytest.raises(SettingError, match=f"subset of {size} cannot be drawn from 40"):
        curve_of(matrix, read_truth(texts, ratings), [10, size])


# ---- the published numbers --------------------------------------------------------------------

needs_mirror = pytest.mark.skipif(not HUSE.is_file(), reason="REFLESS_MIRROR has no HUSE data")


@pytest.fixture(scope="module")
def huse() -> tuple[pd.DataFrame, pd.DataFrame]:
    data = sources.load("huse", "huse_summarization", {"path": HUSE})
    return data.texts, data.ratings


PUBLISHED = [
    ("bleu.char", 0.08, "published", ("0.0213", "0.325", "0.995")),
    ("bleu.char", 0.08, "item", ("0.0214", "0.317", "0.995")),
    ("bleu.word", 0.08, "published", ("nan", "nan", "0.000")),
    ("rouge_l.stem", 0.06, "published", ("0.0226", "0.245", "0.970")),
    ("rouge_l.plain", 0.06, "published", ("0.0228", "0.238", "0.950")),
    ("meteor.nltk35", 0.18, "published", ("0.0180", "0.240", "0.121")),
]


@needs_mirror
def test_the_published_human_rows(huse: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """HUSE summarization, and what a choice moves."""
    published = cells_of(read_truth(*huse), 2, 0)
    exact = cells_of(read_truth(*huse, "exact", (0, 5)), 2, 0)
    # without the own label, which the published rows contain; equal means tie here, so that it is
    # not the 0.327 that rounding noise among the ties gives
    others = annotators_of(read_truth(*huse), 2, 0, others=True)
    average = human_cells(others, 199)["human_average"]
    assert average["spearman"] == pytest.approx(0.3277, abs=1e-4)
    left_out = cells_of(read_truth(*huse), 2, 0, NAN)
    assert f"{published['human_average']['mse']:.4f}" == "0.0802"
    assert f"{published['human_best']['mse']:.4f}" == "0.0200"
    assert (published["human_best"]["annotators"], published["human_best"]["n"]) == (93, 199)
    rhos = [cells[row]["spearman"] for cells in (published, exact) for row in sorted(cells)]
    assert [f"{rho:.4f}" for rho in rhos] == ["0.4050", "0.9205", "0.4061", "0.9233"]
    assert f"{left_out['human_average']['spearman']:.3f}" == "0.409"


@needs_mirror
@pytest.mark.parametrize(("name", "tau", "reading", "expected"), PUBLISHED)
def test_the_published_rows_of_models(
    huse: tuple[pd.DataFrame, pd.DataFrame],
    name: str,
    tau: float,
    reading: str,
    expected: tuple[str, str, str],
) -> None:
    texts = huse[0]["text"].tolist()
    options = {"wordnet": WORDNET} if name.startswith("meteor.") else {}
    matrix = kernel(name, texts, texts, **options)
    cells = model_cells(leave_one_out(matrix, read_truth(*huse, reading), tau), 5, 0.66, 2, 0)
    found = f"{cells['mse']:.4f}", f"{cells['spearman']:.3f}", f"{cells['coverage']:.3f}"
    assert found == expected
