"""The experiments of BLEU Neighbors: readings, curves and table 1, each from scratch again."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data import sources
from refless.errors import FormatError, SettingError
from refless.experiments.bleu_neighbors.leave_one_out import (
    Truth,
    apply_thresholds,
    available_readings,
    data_size_curve,
    human_cells,
    leave_one_out,
    matrix_neighbors,
    model_cells,
    read_truth,
    read_truths,
    threshold_curves,
)
from refless.experiments.bleu_neighbors.table1 import (
    KEYS,
    NOTES,
    STAND_IN,
    Settings,
    TaskInput,
    kernel_note,
    lead_text,
    signature_note,
    table1,
    table1_markdown,
)
from refless.kernels import kernel, signature
from refless.report.published import read_published
from refless.store.tables import read_table, write_table

ROOT = Path(__file__).parents[2]
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


def test_the_published_reading_is_the_table_as_it_is() -> None:
    texts, ratings, _ = made_up()
    truth = read_truth(texts, ratings)
    assert truth.id.tolist() == texts["id"].tolist()
    assert truth.row.tolist() == list(range(40))
    np.testing.assert_array_equal(truth.quality, texts["quality"])
    assert truth.id[truth.candidate].tolist() == ratings["id"].tolist()
    np.testing.assert_array_equal(truth.rating, ratings["rating"])
    assert truth.rater.tolist() == ratings["rater"].tolist()


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
    assert available_readings(ratings, (0, 5)) == ["published", "exact", "item"]
    assert available_readings(ratings.drop(columns="item")) == ["published"]
    assert list(read_truths(texts, ratings, None)) == ["published", "item"]
    with pytest.raises(SettingError, match="without the scale"):
        read_truth(texts, ratings, "exact")
    with pytest.raises(FormatError, match="on the scale from 0 to 3"):
        read_truth(texts, ratings, "exact", (0, 3))


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


def test_a_reading_that_is_none_is_named() -> None:
    texts, ratings, _ = made_up()
    with pytest.raises(SettingError, match=r"unknown reading 'median'.*published, exact, item"):
        read_truth(texts, ratings, "median")
    with pytest.raises(SettingError, match="do not say which item"):
        read_truth(texts, ratings.drop(columns="item"), "item")


@pytest.mark.parametrize("reading", ["published", "exact", "item"])
def test_a_rating_without_a_text_is_named(reading: str) -> None:
    texts, ratings, _ = made_up()
    ratings.loc[3, "id"] = "t:9999"
    with pytest.raises(FormatError, match="'t:9999'"):
        read_truth(texts, ratings, reading)


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


def test_predictions_come_back_from_their_file(tmp_path: Path) -> None:
    """Also where a candidate has no neighbor at all."""
    texts, ratings, matrix = made_up()
    matrix[4] = 0
    table = leave_one_out(matrix, read_truth(texts, ratings), 0.7)
    assert table["neighbors"][4] == 0
    write_table(table, tmp_path / "p.csv")
    back = read_table(tmp_path / "p.csv", list(table.columns))
    np.testing.assert_array_equal(apply_thresholds(back, 1, 1.0), apply_thresholds(table, 1, 1.0))
    assert model_cells(back, 3, 0.66, 20, 1) == model_cells(table, 3, 0.66, 20, 1)


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
        assert cells[f"{name}_low"] < cells[name] < cells[f"{name}_high"]  # type: ignore[operator]
    # without a correlation there is no star
    assert model_cells(leave_one_out(matrix, truth, 2.0), 3, 0.5, 5, 1)["p_below_0.01"] == 0


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
    cells = human_cells(truth, draws=20, seed=1)
    assert cells["human_best"]["mse"] == pytest.approx(min(errors))
    assert cells["human_best"]["spearman"] == pytest.approx(max(rhos))
    assert cells["human_average"]["mse"] == pytest.approx(np.mean(errors))
    assert cells["human_average"]["spearman"] == pytest.approx(sum(rhos) / 5)
    left_out = human_cells(truth, draws=20, seed=1, undefined=NAN)
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


@pytest.mark.parametrize("reading", ["published", "exact", "item"])
def test_the_last_point_is_the_tables_cell(reading: str) -> None:
    texts, ratings, matrix = made_up()
    truth = read_truth(texts, ratings, reading, (0, 5))
    cells = model_cells(leave_one_out(matrix, truth, 0.7), 3, 0.5, draws=2, seed=1)
    curve = curve_of(matrix, truth, [len(truth.id)], subsets=3)
    for column in ("spearman", "coverage", "n_covered"):
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


# ---- table 1 ----------------------------------------------------------------------------------

SETTINGS = Settings(
    models={"bleu": ["bleu.char", "bleu.word"], "rouge": ["rouge_l.stem"]},
    a=3,
    b=0.5,
    draws=20,
    seed=1,
)
TASKS = ["huse_dialogue", "huse_summarization", "dstc7"]


@pytest.fixture(scope="module")
def paper() -> pd.DataFrame:
    return read_published(ROOT / "resources/published/bleu_neighbors_table1.csv", KEYS)


def inputs(*without: str) -> TaskInput:
    """Two readings; ``bleu.word`` has no neighbors for anyone."""
    texts, ratings, matrix = made_up()
    truths = read_truths(texts, ratings.drop(columns="item"), (0, 5))
    taus = {"bleu.char": 0.7, "bleu.word": 2.0, "rouge_l.stem": 0.8}
    predictions = {
        (name, reading): leave_one_out(matrix, truth, tau)
        for name, tau in taus.items()
        for reading, truth in truths.items()
        if name not in without
    }
    provenance = {"bleu.char": "shipped", "bleu.word": "computed", "rouge_l.stem": "computed"}
    return TaskInput(
        truths,
        predictions,
        provenance,
        ratings_provenance="shipped",
        missing={"rouge_l.stem": "somebody took it"},
        notes={"bleu.word": "a note"},
    )


@pytest.fixture(scope="module")
def table(paper: pd.DataFrame) -> pd.DataFrame:
    return table1(
        TASKS,
        {"huse_summarization": inputs(), "dstc7": inputs("rouge_l.stem")},
        {"huse_dialogue": "put the file into resources/manual"},
        {"bertscore": "no encoder here"},
        paper,
        SETTINGS,
    )


def rows(table: pd.DataFrame, **wanted: str) -> pd.DataFrame:
    for column, value in wanted.items():
        table = table[table[column] == value]
    return table.reset_index(drop=True)


def test_rows_stand_in_order_with_the_published_variant_first(table: pd.DataFrame) -> None:
    assert list(dict.fromkeys(table["task"])) == TASKS
    models = ["human_best", "human_average", "bleu", "rouge", "bertscore"]
    for task in TASKS:
        assert list(dict.fromkeys(rows(table, task=task)["model"])) == models
    bleu = rows(table, task="huse_summarization", model="bleu")
    assert bleu[["kernel", "reading"]].to_numpy().tolist() == [
        ["bleu.char", "published"],
        ["bleu.char", "exact"],
        ["bleu.word", "published"],
        ["bleu.word", "exact"],
    ]
    human = rows(table, task="huse_summarization", model="human_average")
    assert human["reading"].tolist() == ["published", "exact", "without undefined"]


def test_our_cells_are_those_of_the_experiments(table: pd.DataFrame) -> None:
    texts, ratings, matrix = made_up()
    truth = read_truth(texts, ratings)
    expected = model_cells(leave_one_out(matrix, truth, 0.7), 3, 0.5, 20, 1)
    row = rows(table, task="dstc7", model="bleu").iloc[0]
    for name, value in expected.items():
        assert row[name] == value, name
    for model, cells in human_cells(truth, 20, 1).items():
        row = rows(table, task="dstc7", model=model).iloc[0]
        for name in set(cells) & set(table.columns):
            assert row[name] == cells[name], name


def test_paper_columns_are_as_printed_and_only_where_the_paper_has_them(
    table: pd.DataFrame,
) -> None:
    row = rows(table, task="huse_summarization", model="bleu").iloc[0]
    assert row["paper_mse"] == "0.0213"
    assert row["paper_spearman"] == "0.325"
    assert row["paper_coverage"] == "0.99"
    assert row["paper_p_below_0.01"] == "1"
    # made-up data does not give the published numbers
    assert row["agreement"] == "outside"
    ours = rows(table, task="dstc7")
    assert ours["note"].str.startswith(STAND_IN).all()
    assert not rows(table, task="huse_summarization")["note"].str.contains(STAND_IN).any()
    assert (ours.filter(like="paper_") == "").all(axis=None)
    assert (ours["agreement"] == "").all()


def test_annotators_without_a_rho_are_counted(table: pd.DataFrame) -> None:
    human = rows(table, task="huse_summarization", model="human_average").set_index("reading")
    assert "1 of 5 annotators have no rho" in human["note"]["published"]
    assert "annotators gave" not in human["note"]["published"]
    assert "no rho" not in human["note"]["without undefined"]


def test_annotators_of_very_few_ratings_are_told(paper: pd.DataFrame) -> None:
    texts, ratings, _ = made_up()
    ratings.loc[0, "rater"] = "r006"
    task = TaskInput(read_truths(texts, ratings, None), {})
    found = table1(["t"], {"t": task}, {}, {}, paper, SETTINGS)
    (note,) = rows(found, model="human_best")[:1]["note"]
    assert "annotators gave from 1 to " in note
    assert "2 of 6 annotators have no rho" in note


def test_a_reason_may_have_semicolons(paper: pd.DataFrame) -> None:
    absent = {"huse_dialogue": "first; second"}
    text = table1_markdown(table1(list(absent), {}, absent, {}, paper, SETTINGS))
    assert "1. not available: first; second\n" in f"{text}\n"


def test_a_cell_that_agrees_says_so(paper: pd.DataFrame) -> None:
    cells = model_cells(inputs().predictions["bleu.char", "published"], 3, 0.5, 20, 1)
    printed = {
        "mse": f"{cells['mse']:.4f}",
        "spearman": f"{cells['spearman']:.3f}",
        "coverage": f"{cells['coverage']:.2f}",
        "p_below_0.01": str(cells["p_below_0.01"]),
    }
    for change, verdict in (
        ({}, "equal"),
        ({"spearman": f"{cells['spearman_low'] + 1e-3:.4f}"}, "inside"),
        ({"spearman": "-0.9"}, "outside"),
        # a star that we do not have is no agreement
        ({"p_below_0.01": "0"}, "outside"),
    ):
        theirs = paper.copy()
        which = (theirs["model"] == "bleu") & (theirs["task"] == "summarization")
        for column, value in (printed | change).items():
            theirs.loc[which, column] = value
        found = table1(
            ["huse_summarization"], {"huse_summarization": inputs()}, {}, {}, theirs, SETTINGS
        )
        first = rows(found, model="bleu").iloc[0]
        assert first["agreement"] == verdict, change


def test_an_absent_task_keeps_its_published_cells_and_says_why(table: pd.DataFrame) -> None:
    absent = rows(table, task="huse_dialogue")
    assert len(absent) == 5
    assert (absent["note"] == "not available: put the file into resources/manual").all()
    assert absent[["mse", "spearman", "coverage", "n"]].isna().all(axis=None)
    assert (absent["agreement"] == "not available").all()
    assert absent["paper_spearman"].tolist() == ["0.878", "0.456", "0.470", "0.342", "0.150"]
    assert (absent["provenance"] == "").all()


def test_a_stand_in_says_that_it_is_one(table: pd.DataFrame) -> None:
    word = rows(table, task="huse_summarization", kernel="bleu.word")["note"]
    assert all("a note" in note.split(NOTES) for note in word)
    signed = {"kernel": "bertscore.roberta-large", "options": {}}
    assert kernel_note(signed, 0.1) == ""
    assert kernel_note({"kernel": "bleu.char", "options": {}}, 0.08) == ""
    for changed in (
        {**signed, "options": {"rescale": False}},
        {**signed, "kernel": "bertscore.other"},
    ):
        said = kernel_note(changed, 0.25)
        assert said.startswith("a stand-in")
        assert "tau is 0.25" in said
        assert "; " not in said  # it separates notes


def test_a_stand_in_has_no_verdict_and_the_published_form_has(paper: pd.DataFrame) -> None:
    data = inputs()
    settings = replace(SETTINGS, models={"bertscore": ["bleu.char", "rouge_l.stem"]})
    signed = {"kernel": "bertscore.other", "options": {}}
    data.notes["rouge_l.stem"] = kernel_note(signed, 0.25)
    tasks = {"huse_summarization": data}
    found = rows(table1([*tasks], tasks, {}, {}, paper, settings), model="bertscore")
    assert set(rows(found, kernel="bleu.char")["agreement"]) == {"outside"}
    assert set(rows(found, kernel="rouge_l.stem")["agreement"]) == {""}
    assert (rows(found, kernel="rouge_l.stem")["paper_spearman"] == "0.225").all()


def test_a_missing_model_and_a_missing_kernel_keep_a_row_that_says_why(
    table: pd.DataFrame,
) -> None:
    bertscore = rows(table, task="huse_summarization", model="bertscore")
    assert bertscore["note"].tolist() == ["not available: no encoder here"]
    assert bertscore["paper_spearman"].tolist() == ["0.225"]
    rouge = rows(table, task="dstc7", model="rouge")
    assert rouge["kernel"].tolist() == ["rouge_l.stem"]
    assert rouge["note"][0] == NOTES.join([STAND_IN, "not available: somebody took it"])
    assert rouge[["mse", "n"]].isna().all(axis=None)


def test_without_a_covered_candidate_the_note_says_why(table: pd.DataFrame) -> None:
    word = rows(table, task="huse_summarization", kernel="bleu.word")
    assert word["coverage"].tolist() == [0.0, 0.0]
    assert word["n_covered"].tolist() == [0, 0]
    assert word[["mse", "spearman", "p_value"]].isna().all(axis=None)
    for note in word["note"]:
        assert "from 3 neighbors to 0.5" in note
        assert "the most that any has is 0" in note
    assert (word["agreement"] == "outside").all()


def test_provenance_is_each_kernels_own(table: pd.DataFrame) -> None:
    there = rows(table, task="huse_summarization")
    assert set(rows(there, kernel="bleu.char")["provenance"]) == {"shipped"}
    assert set(rows(there, kernel="rouge_l.stem")["provenance"]) == {"computed"}
    assert set(rows(there, model="human_best")["provenance"]) == {"shipped"}


def test_the_table_has_the_promised_columns_and_survives_its_file(
    table: pd.DataFrame, tmp_path: Path
) -> None:
    for column in ("mse", "spearman", "coverage"):
        for name in (column, f"{column}_low", f"{column}_high", f"paper_{column}"):
            assert name in table.columns
    for name in ("p_below_0.01", "paper_p_below_0.01", "n", "provenance", "note", "kernel"):
        assert name in table.columns
    write_table(table, tmp_path / "t.csv")
    back = pd.read_csv(tmp_path / "t.csv", dtype={"paper_spearman": str})
    np.testing.assert_array_equal(back["spearman"], table["spearman"])
    assert back["paper_spearman"].fillna("").tolist() == table["paper_spearman"].tolist()
    # counts are whole numbers in the file as well
    cells = pd.read_csv(tmp_path / "t.csv", dtype=str, keep_default_na=False)
    assert set(cells["n"]) == {"", "40"}
    assert set(cells["p_below_0.01"]) == {"", "0", "1"}


def test_tables_of_nothing_but_absent_tasks(paper: pd.DataFrame) -> None:
    """A site without any data still gets the paper's numbers and the reasons."""
    absent = {"huse_dialogue": "no data", "huse_generation": "no data"}
    found = table1(list(absent), {}, absent, {"bertscore": "no encoder"}, paper, SETTINGS)
    assert len(found) == 10
    assert (found["agreement"] == "not available").all()
    assert "– [0.575]" in table1_markdown(found)


def test_the_table_for_reading(table: pd.DataFrame) -> None:
    text = table1_markdown(table)
    lines = [line for line in text.split("\n") if line.startswith("| ")]
    shown = [line for line in lines if "---" not in line and not line.startswith("| model")]
    assert len(shown) == len(table)
    assert len({line.count(" | ") for line in lines}) == 1
    row = rows(table, task="huse_summarization", model="bleu").iloc[0]
    (line,) = [
        x for x in shown if "huse_summarization" in x and "`bleu.char`" in x and "| published" in x
    ]
    low, high = row["spearman_low"], row["spearman_high"]
    assert f"| {row['spearman']:.3f}* ({low:.3f}, {high:.3f}) [0.325] |" in line
    assert f"| {row['mse']:.4f} (" in line
    assert "[0.0213]" in line
    # every note is to be found, and undefined numbers are dashes
    for note in set(table["note"]) - {""}:
        for part in note.split(NOTES):
            assert f". {part}\n" in f"{text}\n"
    assert not re.search(r"\bnan\b|<NA>|None", text)


def test_notes_of_a_kernel_and_of_the_settings() -> None:
    signed = signature("rouge_l.stem", "a" * 64) | {"task": "dstc7", "provenance": "shipped"}
    note = signature_note(signed)
    assert "`rouge_l.stem` on dstc7: shipped" in note
    assert signed["fingerprint"][:12] in note
    assert "aaaaaaaaaaaa" in note
    for package, version in signed["packages"].items():
        assert f"{package} {version}" in note
    assert "20 draws, seed 1" in lead_text(SETTINGS)
    assert "a = 3, b = 0.5" in lead_text(SETTINGS)


# ---- the published numbers --------------------------------------------------------------------

mirror = [
    pytest.mark.slow,
    pytest.mark.skipif(not HUSE.is_file(), reason="REFLESS_MIRROR has no HUSE data"),
]


@pytest.fixture(scope="module")
def huse() -> tuple[pd.DataFrame, pd.DataFrame]:
    data = sources.load("huse", "huse_summarization", {"path": HUSE})
    return data.texts, data.ratings


@pytest.mark.usefixtures("huse")
class TestPublished:
    """HUSE summarization, digit for digit."""

    pytestmark = mirror

    def test_the_human_rows(self, huse: tuple[pd.DataFrame, pd.DataFrame]) -> None:
        cells = human_cells(read_truth(*huse), draws=2, seed=0)
        assert f"{cells['human_average']['mse']:.4f}" == "0.0802"
        assert f"{cells['human_average']['spearman']:.3f}" == "0.405"
        assert f"{cells['human_best']['mse']:.4f}" == "0.0200"
        assert f"{cells['human_best']['spearman']:.5f}" == "0.92055"
        assert cells["human_best"]["annotators"] == 93
        assert cells["human_best"]["n"] == 199

    def test_what_a_choice_moves_in_the_human_rows(
        self, huse: tuple[pd.DataFrame, pd.DataFrame]
    ) -> None:
        exact = human_cells(read_truth(*huse, "exact", (0, 5)), draws=2, seed=0)
        assert f"{exact['human_average']['spearman']:.4f}" == "0.4061"
        assert f"{exact['human_best']['spearman']:.4f}" == "0.9233"
        left_out = human_cells(read_truth(*huse), draws=2, seed=0, undefined=NAN)
        assert f"{left_out['human_average']['spearman']:.3f}" == "0.409"

    @pytest.mark.parametrize(
        ("name", "tau", "reading", "expected"),
        [
            ("bleu.char", 0.08, "published", ("0.0213", "0.325", "0.995")),
            ("bleu.char", 0.08, "item", ("0.0214", "0.317", "0.995")),
            ("bleu.word", 0.08, "published", ("nan", "nan", "0.000")),
            ("rouge_l.stem", 0.06, "published", ("0.0226", "0.245", "0.970")),
            ("rouge_l.plain", 0.06, "published", ("0.0228", "0.238", "0.950")),
            ("meteor.nltk35", 0.18, "published", ("0.0180", "0.240", "0.121")),
        ],
    )
    def test_the_models_rows(
        self,
        huse: tuple[pd.DataFrame, pd.DataFrame],
        name: str,
        tau: float,
        reading: str,
        expected: tuple[str, str, str],
    ) -> None:
        texts = huse[0]["text"].tolist()
        options = {"wordnet": WORDNET} if name.startswith("meteor.") else {}
        matrix = kernel(name, texts, texts, **options)
        table = leave_one_out(matrix, read_truth(*huse, reading), tau)
        cells = model_cells(table, 5, 0.66, draws=2, seed=0)
        found = (
            f"{cells['mse']:.4f}",
            f"{cells['spearman']:.3f}",
            f"{cells['coverage']:.3f}",
        )
        assert found == expected
