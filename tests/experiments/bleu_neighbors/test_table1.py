"""Table 1: which rows there are, what stands in them, and what is said of missing ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.experiments.bleu_neighbors.baselines import LABELS
from refless.experiments.bleu_neighbors.leave_one_out import (
    annotators_of,
    apply_thresholds,
    estimate_cells,
    human_cells,
    leave_one_out,
    model_cells,
    read_truth,
    read_truths,
)
from refless.experiments.bleu_neighbors.table1 import (
    KEYS,
    Settings,
    TaskInput,
    _baseline_rows,
    beside_cells,
    kernel_notes,
    reliability_table,
    table1,
)
from refless.report.published import read_published
from refless.statistics import (
    annotators_less,
    beside_annotators,
    between_and_within,
    paired_bootstrap,
    pairwise_accuracy,
    reliability,
)
from tests.experiments.bleu_neighbors.test_leave_one_out import made_up

PUBLISHED = Path(__file__).parents[3] / "resources/published/bleu_neighbors_table1.csv"
SETTINGS = Settings(
    a=3,
    b=0.5,
    draws=20,
    seed=1,
    models={"bleu": ["bleu.char", "bleu.word"], "rouge": ["rouge_l.stem"]},
)
LOOKS: dict[str, dict[str, Any]] = {
    "gone": {"published": "dialogue", "note": ""},
    "mine": {"published": "summarization", "note": ""},
    "other": {"published": "", "note": "not the paper's data"},
}
STAND_IN = {"kernel": "bertscore.other", "options": {}}


@pytest.fixture(scope="module")
def paper() -> pd.DataFrame:
    return read_published(PUBLISHED, KEYS)


def inputs(*without: str) -> TaskInput:
    """Two readings; ``bleu.word`` has no neighbors for anyone."""
    texts, ratings, matrix = made_up(60)
    truths = read_truths(texts, ratings.drop(columns="item"), (0, 5))
    taus = {"bleu.char": 0.7, "bleu.word": 2.0, "rouge_l.stem": 0.8}
    predictions, known = {}, {}
    for name in taus.keys() - {*without}:
        for reading, truth in truths.items():
            predictions[name, reading] = leave_one_out(matrix, truth, taus[name])
        origin = "shipped" if name == "bleu.char" else "computed"
        signature = {"kernel": name, "options": {}}
        known[name] = {"provenance": origin, "signature": signature, "tau": taus[name]}
    return TaskInput(truths, predictions, known, ratings_provenance="shipped")


@pytest.fixture(scope="module")
def table(paper: pd.DataFrame) -> pd.DataFrame:
    tasks = {"mine": inputs(), "other": inputs("rouge_l.stem")}
    return table1(LOOKS, tasks, paper, SETTINGS)


def rows(table: pd.DataFrame, **wanted: str) -> pd.DataFrame:
    for column, value in wanted.items():
        table = table[table[column] == value]
    return table.reset_index(drop=True)


def test_rows_stand_in_order_with_the_published_variant_first(table: pd.DataFrame) -> None:
    assert list(dict.fromkeys(table["task"])) == list(LOOKS)
    models = ["human_best", "human_average", "bleu", "rouge", "meteor", "bertscore"]
    for task in LOOKS:
        found = list(dict.fromkeys(rows(table, task=task)["model"]))
        assert found == [model for model in models if model in found]
        assert {*models[:4], "bertscore"} <= {*found}
    bleu = rows(table, task="mine", model="bleu")
    assert bleu[["kernel", "reading"]].to_numpy().tolist() == [
        ["bleu.char", "published"],
        ["bleu.char", "exact"],
        ["bleu.char", "others"],
        ["bleu.word", "published"],
        ["bleu.word", "exact"],
    ]
    human = rows(table, task="mine", model="human_average")
    assert human["reading"].tolist() == ["published", "exact", "without undefined", "others"]


def test_our_cells_are_those_of_the_experiments(table: pd.DataFrame) -> None:
    texts, ratings, matrix = made_up(60)
    truth = read_truth(texts, ratings)
    expected = human_cells(annotators_of(truth, 20, 1), len(truth.id))
    expected["bleu"] = model_cells(leave_one_out(matrix, truth, 0.7), 3, 0.5, 20, 1)
    for model, cells in expected.items():
        row = rows(table, task="other", model=model).iloc[0]
        for name in set(cells) & set(table.columns):
            assert row[name] == cells[name], name


def test_the_papers_cells_stand_as_printed_where_it_has_them(table: pd.DataFrame) -> None:
    row = rows(table, task="mine", model="bleu").iloc[0]
    printed = ["0.0213", "0.325", "0.99", "1"]
    columns = [f"paper_{name}" for name in ("mse", "spearman", "coverage", "p_below_0.01")]
    assert row[columns].tolist() == printed
    assert row["agreement"] == "outside"  # made-up data does not give the published numbers
    other = rows(table, task="other")
    assert all(note[0] == "not the paper's data" for note in other["note"])
    assert (other.filter(like="paper_") == "").all(axis=None)
    assert set(other["agreement"]) == {""}


def test_annotators_without_a_rho_or_with_few_ratings_are_told(
    table: pd.DataFrame, paper: pd.DataFrame
) -> None:
    human = rows(table, task="mine", model="human_average").set_index("reading")["note"]
    assert "1 of 5 annotators" in human["published"][0]
    assert human["without undefined"] == ["annotators without a rho left out, not counted as 0"]
    texts, ratings, _ = made_up(60)
    ratings.loc[0, "rater"] = "r006"
    task = TaskInput(read_truths(texts, ratings, None), {})
    notes = table1({"mine": LOOKS["mine"]}, {"mine": task}, paper, SETTINGS)["note"][0]
    assert "2 of 6 annotators" in notes[0]
    assert "from 1 to " in notes[1]


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "equal"),
        ({"spearman": "low"}, "inside"),
        ({"spearman": "-0.9"}, "outside"),
        ({"p_below_0.01": "0"}, "outside"),  # a star that we do not have is no agreement
    ],
)
def test_a_cell_that_agrees_says_so(
    paper: pd.DataFrame, change: dict[str, str], verdict: str
) -> None:
    cells = model_cells(inputs().predictions["bleu.char", "published"], 3, 0.5, 20, 1)
    printed = {
        "mse": f"{cells['mse']:.4f}",
        "spearman": f"{cells['spearman']:.3f}",
        "coverage": f"{cells['coverage']:.2f}",
        "p_below_0.01": str(cells["p_below_0.01"]),
    } | change
    if printed["spearman"] == "low":
        printed["spearman"] = f"{cells['spearman_low'] + 1e-3:.4f}"
    theirs = paper.copy()
    which = (theirs["model"] == "bleu") & (theirs["task"] == "summarization")
    theirs.loc[which, list(printed)] = list(printed.values())
    found = table1({"mine": LOOKS["mine"]}, {"mine": inputs()}, theirs, SETTINGS)
    assert rows(found, model="bleu")["agreement"][0] == verdict


def test_what_is_missing_keeps_its_row_and_the_papers_cells(table: pd.DataFrame) -> None:
    gone = rows(table, task="gone")
    numbers = ["mse", "spearman", "coverage", "n"]
    assert gone[numbers].isna().all(axis=None)
    assert set(gone["agreement"]) == {"not available"}
    assert set(gone["provenance"]) == {""}
    assert rows(gone, model="bleu")["paper_spearman"].tolist() == ["0.470"]
    rouge = rows(table, task="other", model="rouge")
    assert rouge[["kernel", "provenance"]].to_numpy().tolist() == [["rouge_l.stem", ""]]
    assert rouge[numbers].isna().all(axis=None)
    bertscore = rows(table, task="mine", model="bertscore")
    assert "bleu_neighbors.models.bertscore" in bertscore["note"][0][0]
    assert bertscore["paper_spearman"].tolist() == ["0.225"]


def test_without_a_data_set_there_is_no_row(table: pd.DataFrame, paper: pd.DataFrame) -> None:
    nothing = table1({}, {}, paper, SETTINGS)
    assert len(nothing) == 0
    assert {"task", "model", "mse", "paper_mse", "agreement"} <= set(nothing)


def test_without_a_covered_candidate_the_note_says_why(table: pd.DataFrame) -> None:
    word = rows(table, task="mine", kernel="bleu.word")
    assert word[["coverage", "n_covered"]].to_numpy().tolist() == [[0.0, 0], [0.0, 0]]
    assert word[["mse", "spearman", "p_value"]].isna().all(axis=None)
    assert all("from 3 neighbors to 0.5" in note[-1] for note in word["note"])
    assert set(word["agreement"]) == {"outside"}


def test_provenance_is_each_kernels_own(table: pd.DataFrame) -> None:
    mine = rows(table, task="mine").drop_duplicates("model").set_index("model")["provenance"]
    assert mine[["human_best", "bleu", "rouge"]].tolist() == ["shipped", "shipped", "computed"]


def test_a_stand_in_says_so_and_has_no_verdict(paper: pd.DataFrame) -> None:
    data = inputs()
    data.kernels["rouge_l.stem"] |= {"signature": STAND_IN, "tau": 0.25}
    settings = replace(SETTINGS, models={"bertscore": ["bleu.char", "rouge_l.stem"]})
    found = table1({"mine": LOOKS["mine"]}, {"mine": data}, paper, settings)
    found = rows(found, model="bertscore").drop_duplicates("kernel").set_index("kernel")
    assert found["agreement"].tolist() == ["outside", ""]
    assert found["stand_in"].tolist() == [0, 1]
    assert "tau is 0.25" in found["note"]["rouge_l.stem"][0]


@pytest.mark.parametrize(
    ("kernel", "options", "stand_in"),
    [
        ("bleu.char", {}, False),
        ("bertscore.roberta-large", {}, False),
        ("bertscore.roberta-large", {"prefix_space": True}, False),
        ("bertscore.roberta-large", {"rescale": False}, True),
        ("bertscore.other", {}, True),
    ],
)
def test_which_kernels_stand_in(kernel: str, options: dict[str, bool], stand_in: bool) -> None:
    assert bool(kernel_notes({"kernel": kernel, "options": options}, 0.1)) == stand_in


# ---- without one's own label; systems; baselines -------------------------------------------------


def test_annotators_and_models_are_measured_against_the_same_others(table: pd.DataFrame) -> None:
    texts, ratings, matrix = made_up(60)
    truth = read_truth(texts, ratings)
    of = truth.candidate, truth.rater, truth.rating
    estimate = apply_thresholds(leave_one_out(matrix, truth, 0.7), 3, 0.5)
    found = beside_annotators(*of, estimate, draws=5, seed=1)
    row = rows(table, task="mine", model="bleu", reading="others").iloc[0]
    assert row["spearman"] == found.spearman.value
    assert row["human_difference"] == pytest.approx(row["human_spearman"] - row["spearman"])
    assert row["difference_se"] == found.standard_error
    people = rows(table, task="mine", model="human_average", reading="others").iloc[0]
    wanted = human_cells(annotators_of(truth, 20, 1, others=True), len(truth.id))
    assert people["spearman"] == wanted["human_average"]["spearman"]
    published = rows(table, task="mine", model="human_average", reading="published").iloc[0]
    assert people["spearman"] < published["spearman"]
    # the paper's value is against all labels
    assert people["paper_spearman"] == published["paper_spearman"]
    assert {row["agreement"], people["agreement"]} == {""}


def test_rows_stand_beside_the_first_kernel_and_the_annotators_on_the_same_draws(
    paper: pd.DataFrame,
) -> None:
    found, data = with_more(paper)
    truth, units = data.truths["published"], data.units()
    assert units is not None
    bleu, rouge = (
        apply_thresholds(data.predictions[kernel, "published"], 3, 0.5)
        for kernel in ("bleu.char", "rouge_l.stem")
    )
    assert np.isnan(bleu).tolist() != np.isnan(rouge).tolist()
    published = rows(found, reading="published")
    first, second = (rows(published, model=model).iloc[0] for model in ("bleu", "rouge"))
    both = ~np.isnan(bleu) & ~np.isnan(rouge)
    rhos = [stats.spearmanr(one[both], truth.quality[both]).statistic for one in (bleu, rouge)]
    assert second["bleu_difference"] == pytest.approx(rhos[0] - rhos[1])
    # the other way round, the ends change places
    how: dict[str, Any] = {"units": units, "draws": 5, "seed": 1}
    (turned,) = paired_bootstrap([rouge], bleu, truth.quality, **how)
    assert second["bleu_difference_low"] == pytest.approx(-turned.common_spearman.high)
    assert second["bleu_difference_high"] == pytest.approx(-turned.common_spearman.low)
    assert np.isnan(first["bleu_difference"])
    people = rows(published, model="human_average").iloc[0]
    each = annotators_of(truth, 20, 1, units=units)
    for row, estimate in ((first, bleu), (second, rouge)):
        mse, rho = annotators_less(each, estimate, truth.quality, units=units, seed=1)
        assert row["human_difference"] == pytest.approx(people["spearman"] - row["spearman"])
        assert row["human_mse_difference"] == pytest.approx(people["mse"] - row["mse"])
        assert row["human_difference_low"] == rho.low
        assert row["human_mse_difference_high"] == mse.high
    # where nobody is covered, there is nothing to compare
    word = rows(published, kernel="bleu.word").iloc[0]
    assert word[["bleu_difference", "human_difference", "human_mse_difference"]].isna().all()


def test_without_annotators_or_the_first_kernel_no_row_stands_beside_them(
    paper: pd.DataFrame,
) -> None:
    data = inputs("bleu.char")
    empty = data.truths["published"].rater[:0]
    data.truths = {
        reading: replace(truth, candidate=truth.candidate[:0], rater=empty, rating=truth.rating[:0])
        for reading, truth in data.truths.items()
    }
    found = rows(table1({"mine": LOOKS["mine"]}, {"mine": data}, paper, SETTINGS), model="rouge")
    assert found["spearman"].notna().all()
    columns = ["bleu_difference", "human_difference", "human_mse_difference"]
    assert found[columns].isna().all(axis=None)


def test_what_cannot_be_told_apart_says_what_it_would_take() -> None:
    data, generator = inputs(), np.random.default_rng(1)
    quality = data.truths["published"].quality
    settings = replace(SETTINGS, draws=200)
    kinds = set()
    for noise in (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 3):
        estimate = quality + noise * generator.normal(size=len(quality))
        (row,) = beside_cells(estimate, data, settings, [])
        low, high = row["human_difference_low"], row["human_difference_high"]
        assert row["least_detectable"] == pytest.approx(2.8 * (high - low) / 3.92, rel=1e-3)
        said = any("cannot be told apart" in note for note in row["note"])
        assert said == (low <= 0 <= high)
        ratio = row["least_detectable"] / row["human_difference"]
        wanted = np.ceil(row["n_covered"] * ratio**2) if said else np.nan
        assert row["texts_needed"] == pytest.approx(wanted, nan_ok=True)
        kinds.add(said)
    assert kinds == {True, False}
    # one text alone orders nothing, and no row says that it does
    only = np.where(np.arange(len(quality)) == 3, quality, np.nan)
    assert beside_cells(only, data, settings, []) == []


def with_more(paper: pd.DataFrame) -> tuple[pd.DataFrame, TaskInput]:
    data = inputs()
    n = len(data.truths["published"].id)
    generator = np.random.default_rng(1)
    data.systems, data.contexts = ["p", "q"] * (n // 2), np.arange(n) // 2
    keys = [("constant", "texts"), ("length", "texts"), ("length", "folds")]
    keys += [("ridge_tfidf", "folds"), ("constant", "systems")]
    data.baselines = {key: generator.random(n) for key in keys}
    data.baselines_provenance = "shipped"
    return table1({"mine": LOOKS["mine"]}, {"mine": data}, paper, SETTINGS), data


def test_a_rho_over_several_systems_is_taken_apart(paper: pd.DataFrame) -> None:
    found, data = with_more(paper)
    row = rows(found, model="bleu", reading="published").iloc[0]
    estimate = apply_thresholds(data.predictions["bleu.char", "published"], 3, 0.5)
    quality = data.truths["published"].quality
    assert data.units() is not None
    how: dict[str, Any] = {"units": data.units(), "draws": 5, "seed": 1}
    apart = between_and_within(estimate, quality, data.systems, **how)
    right, pairs = pairwise_accuracy(estimate, quality, data.contexts, draws=5, seed=1)
    assert row["between_share"] == apart.between_share.value
    assert row["within_spearman_low"] == apart.within_spearman.low
    assert (row["systems"], row["system_accuracy"]) == (2, apart.system_accuracy)
    assert (row["pairwise_accuracy"], row["pairs"]) == (right.value, pairs)
    # where nobody is covered, there is nothing to take apart
    assert rows(found, kernel="bleu.word")["between_share"].isna().all()


def test_baselines_stand_below_the_models_under_their_split(paper: pd.DataFrame) -> None:
    found, data = with_more(paper)
    below = found[found["model"].isin(["constant", "length", "ridge_tfidf"])]
    assert below[["model", "reading"]].to_numpy().tolist() == [
        ["constant", "published"],
        ["length", "published"],
        ["length", "folds"],
        ["length", "others"],
        ["ridge_tfidf", "folds"],
        ["ridge_tfidf", "others"],
    ]
    assert set(below["provenance"]) == {"shipped"}
    constant, length = below.iloc[0], below.iloc[1]
    assert np.isnan(constant["spearman"])  # and a note that says why
    assert "-1" in constant["note"][0]
    quality = data.truths["published"].quality
    wanted = estimate_cells(data.baselines["length", "texts"], quality, 20, 1, data.units())
    assert length["spearman"] == wanted["spearman"]
    assert length["mse_low"] == wanted["mse_low"]


def test_the_reliability_of_each_task_has_a_row(paper: pd.DataFrame) -> None:
    data = inputs()
    found = reliability_table(LOOKS, {"mine": data}, SETTINGS).set_index("task")
    truth = data.truths["published"]
    wanted = reliability(truth.candidate, truth.rating, draws=20, seed=1)
    assert found.loc["mine", "icck_high"] == wanted.icck.high
    assert found.loc["mine", "split_half"] == wanted.split_half
    assert found.loc["mine", "provenance"] == "shipped"
    assert found.loc["gone", "provenance"] == ""
    assert np.isnan(found.loc["gone", "icck"])


def test_rows_of_refused_baselines_are_empty_and_say_why() -> None:
    rows = _baseline_rows(TaskInput({}, {}, no_baselines="seed 2020, not 1; set it back"), None)
    assert [row["model"] for row in rows] == list(LABELS)
    assert all("set it back" in row["note"][0] and not row["provenance"] for row in rows)
