"""Section 5.3: a row a model and data set, what needs no kernel, stand-ins, what is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.data import sources
from refless.experiments.bleu_neighbors.leave_one_out import leave_one_out, read_truth
from refless.experiments.bleu_neighbors.section53 import section53
from refless.experiments.bleu_neighbors.table1 import KEYS, Settings, TaskInput
from refless.kernels import kernel
from refless.statistics import annotator_errors, covered_errors, overall_error
from tests.workflow import small_data

COLUMNS = [*KEYS, "mse_all", "relative_difference", "above_bleu", "p_below_0.01"]
PUBLISHED = pd.DataFrame(
    [
        ["bleu", "paper", "0.0802", "", "", "0"],
        ["bleu", "away", "0.0807", "-0.156", "", "1"],
        ["more", "paper", "0.0802", "", "", ""],
    ],
    columns=COLUMNS,
)
LOOKS = {"gone": {"published": "away"}, "mine": {"published": "paper"}}


def task_input(tmp_path: Path, kernels: list[str]) -> TaskInput:
    path = tmp_path / "batch.csv"
    small_data.write_huse_batch(path, items=60, seed=3)
    data = sources.load("huse", "mine", {"path": path})
    given, truth = data.texts["text"].tolist(), read_truth(data.texts, data.ratings)
    own = TaskInput({"published": truth}, {})
    for name in kernels:
        # a kernel that needs an encoder has bleu.char's numbers
        matrix = kernel("bleu.char" if name.startswith("bertscore.") else name, given, given)
        own.predictions[name, "published"] = leave_one_out(matrix, truth, 0.6)
        signature = {"kernel": name, "options": {}}
        own.kernels[name] = {"provenance": "computed", "signature": signature, "tau": 0.6}
    return own


def test_section53_has_a_row_for_each_model_and_task(tmp_path: Path) -> None:
    other = "bertscore.other"
    own = task_input(tmp_path, ["bleu.char", "rouge_l.stem", other])
    models = {"bleu": ["bleu.char"], "rouge": ["rouge_l.stem"], "meteor": ["meteor.nltk35"]}
    models["bertscore"] = ["bertscore.roberta-large", other]
    settings = Settings(a=3, b=0.1, draws=300, seed=1, models=models)
    table = section53(LOOKS, {"mine": own}, PUBLISHED, settings)
    others = table[table["reading"] == "others"].set_index("kernel")
    table = table[table["reading"] != "others"]
    assert len(table) == 5 + 6
    rows = table.set_index(["task", "model"])
    bleu, rouge = (rows.loc[("mine", name)] for name in ("bleu", "rouge"))
    assert 0 < bleu["n_covered"] < 60
    assert bleu["difference"] == pytest.approx(bleu["mse_covered"] - bleu["mse_all"])
    assert rouge["above_bleu"] == pytest.approx(rouge["mse_covered"] - bleu["mse_covered"])
    assert np.isnan(bleu["above_bleu"])
    assert bleu["paper_mse_all"] == "0.0802"
    assert rows.loc[("gone", "bleu"), "paper_relative_difference"] == "-0.156"
    assert (table[table["task"] == "gone"]["provenance"] == "").all()
    # what needs no kernel is in every row, with the interval of the rows that have one
    by_kernel = table[table["task"] == "mine"].set_index("kernel")
    truth = own.truths["published"]
    errors = annotator_errors(truth.candidate, truth.rater, truth.rating, truth.quality)
    overall = covered_errors(errors, np.ones(60, bool), 300, 1).overall
    for name in ("value", "low", "high"):
        column = "mse_all" if name == "value" else f"mse_all_{name}"
        assert (by_kernel[column] == getattr(overall, name)).all()
    assert (by_kernel["n"] == 60).all()
    # without the own label an annotator is further away, on all texts and on covered ones
    ratings = truth.candidate, truth.rater, truth.rating, truth.quality
    without = annotator_errors(*ratings, others=True)
    assert others.loc["bleu.char", "mse_all"] == overall_error(without, 75, 1).value
    assert (others["mse_all"] > bleu["mse_all"]).all()
    assert others.loc["bleu.char", "mse_covered"] > bleu["mse_covered"]
    assert set(others["agreement"]) == {""}
    # what is missing waits for its reason; a model that is not configured says so itself
    missing = by_kernel[by_kernel["mse_covered"].isna()]
    assert list(missing.index) == ["meteor.nltk35", "bertscore.roberta-large", ""]
    assert (missing["provenance"] == "").all()
    assert "bleu_neighbors.models.more" in missing.loc["", "note"][0]
    # another kernel of the model, under its own name and without a verdict
    stand_in = by_kernel.loc[other]
    assert stand_in["model"] == "bertscore"
    assert stand_in["mse_covered"] == bleu["mse_covered"]
    assert (stand_in["stand_in"], stand_in["agreement"]) == (1, "")
    assert stand_in["note"]


def test_a_kernel_that_is_there_stands_once(tmp_path: Path) -> None:
    own = task_input(tmp_path, ["bleu.char", "bleu.word"])
    settings = Settings(2, 0.66, 50, 1, {"bleu": ["bleu.char", "bleu.word"]})
    table = section53({"mine": LOOKS["mine"]}, {"mine": own}, PUBLISHED[:2], settings)
    assert table["kernel"].tolist() == ["bleu.char"] * 2
    assert table["reading"].tolist() == ["published", "others"]


def test_without_annotators_it_says_so(tmp_path: Path) -> None:
    own = task_input(tmp_path, ["bleu.char"])
    texts = pd.DataFrame({"id": ["a", "b"], "quality": [0.1, 0.2]})
    ratings = pd.DataFrame({"id": [], "rater": [], "label": [], "rating": []})
    own.truths["published"] = read_truth(texts, ratings)
    settings = Settings(2, 0.66, 50, 1, {"bleu": ["bleu.char"]})
    (row,) = section53({"mine": LOOKS["mine"]}, {"mine": own}, PUBLISHED[:2], settings).to_dict(
        "records"
    )
    assert "annotators" in row["note"][0]
    assert np.isnan(row["mse_all"])
