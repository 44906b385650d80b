"""One way of training beside another, on predictions that are small enough to be read."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from refless.availability import Reason
from refless.experiments.rnn_qe.ways import (
    COLUMNS,
    _truth,
    choice_of_schedule,
    common_scores,
    cost,
    ways_table,
)
from refless.models.rnn_qe.names import pairs, parse, training_command
from refless.report.tables import publish
from refless.store.signed import Signed

N = 60
TRUTH = np.random.default_rng(0).integers(2, 13, N) / 2
OUTPUTS = pd.DataFrame(
    {"id": [f"o{k}" for k in range(N)], "mr_number": np.arange(N), "rating": TRUTH}
)
OUTPUTS = OUTPUTS.assign(cross_domain="", cross_system="")
OUTPUTS.loc[:19, "cross_domain"] = "test"
PUBLISHED = {
    "cross_validation": pd.DataFrame({"setup": ["1", "2"], "pearson": [0.3, 0.4]}),
    "cross_domain": pd.DataFrame({"setup": ["1"], "configuration": ["2"], "pearson": [0.2]}),
    "cross_system": pd.DataFrame({"setup": [], "configuration": []}),
}
PUBLISHED = {
    name: table.assign(spearman="").astype({"setup": str}) for name, table in PUBLISHED.items()
}


def predicted(noise: float, seeds: int, passes: list[float], **facts: Any) -> Signed:
    """Predictions of all outputs by each seed; two folds whose course is ``passes`` each."""
    tables = []
    for seed in range(seeds):
        raw = TRUTH + np.random.default_rng(seed).normal(scale=noise, size=N)
        prediction = np.clip(np.round(raw * 2) / 2, 1, 6)
        tables.append(
            pd.DataFrame(
                {"seed": seed, "part": "test", "id": OUTPUTS["id"], "prediction": prediction}
            )
        )
    models = [
        {
            "seed": seed,
            "fold": fold,
            "history": [
                {"phase": "train", "pass": n, "pearson": value + fold / 100, "spearman": 0.0}
                for n, value in enumerate(passes, 1)
            ],
        }
        for seed in range(seeds)
        for fold in range(2)
    ]
    about = {
        "provenance": "computed",
        "facts": {"models": models, "seconds": 1.0, "machine": "m", **facts},
        "of": {"name": "x"},
    }
    return Signed(pd.concat(tables), about)


def test_a_row_has_what_both_ways_have() -> None:
    made = {
        "setup1": predicted(2.0, 3, [0.1, 0.3, 0.2]),
        "paper_setup1": predicted(1.0, 2, [0.1, 0.5, 0.4, 0.4, 0.4, 0.4]),
    }
    table = ways_table(made, OUTPUTS, PUBLISHED, {"draws": 200, "seed": 1})
    assert list(table.columns) == COLUMNS
    row = table.set_index("name").loc["paper_setup1"]
    assert (row["against"], row["models"], row["seeds"], row["n"]) == ("setup1", 4, 2, N)
    assert row["dev_difference"] == pytest.approx(0.2)
    assert row["cost"] == 2
    assert row["chosen"] == "name"
    means = []
    for name in ("paper_setup1", "setup1"):
        content = made[name].content
        own = [content.loc[content["seed"] == s, "prediction"].to_numpy() for s in (0, 1)]
        means.append(np.mean([scipy.stats.pearsonr(x, TRUTH).statistic for x in own]))
    assert row["pearson"] == pytest.approx(means[0])
    assert row["pearson_difference"] == pytest.approx(means[0] - means[1])
    low, high = row["pearson_difference_low"], row["pearson_difference_high"]
    assert low < row["pearson_difference"] < high
    assert row["pearson_gap"] == pytest.approx(means[0] - 0.3)
    assert row["against_pearson_gap"] == pytest.approx(means[1] - 0.3)
    assert np.isnan(row["spearman_gap"])
    # the others say what is to be trained
    rest = table[table["name"] != "paper_setup1"]
    assert (rest["provenance"] == "").all()
    assert set(rest["training"]) >= {"authors_setup1", "authors_layers_setup1", "longer_setup1"}
    assert len(table) == sum(parse(name).experiment == "cross_validation" for name, _ in pairs())


@pytest.mark.parametrize(
    ("dear", "chosen"), [([0.31, 0.31, 0.2, 0.2], "name"), ([0.3] * 4, "against")]
)
def test_what_costs_more_must_be_better(dear: list[float], chosen: str) -> None:
    made = {"setup1": predicted(1.0, 2, [0.3]), "paper_setup1": predicted(1.0, 2, dear)}
    for one in made.values():  # models differ a little
        for k, model in enumerate(one.about["facts"]["models"]):
            model["history"][0]["spearman"] = k / 1e4
    table = ways_table(made, OUTPUTS, PUBLISHED, {"draws": 200, "seed": 1})
    row = table.set_index("name").loc["paper_setup1"]
    values = [dear[0] - 0.3] * 4
    assert row["dev_difference"] == pytest.approx(np.mean(values))
    assert row["chosen"] == chosen


def test_seeds_of_one_fold_are_not_counted_as_so_many_models() -> None:
    """They share its validation part: six models that differ by fold are two observations."""
    made = {"setup1": predicted(1.0, 3, [0.3]), "paper_setup1": predicted(1.0, 3, [0.3, 0.2])}
    for model in made["paper_setup1"].about["facts"]["models"]:
        model["history"][0]["spearman"] = (0.06, 0.01)[model["fold"]]
    table = ways_table(made, OUTPUTS, PUBLISHED, {"draws": 200, "seed": 1})
    row = table.set_index("name").loc["paper_setup1"]
    half = scipy.stats.t.ppf(0.975, 1) * np.std([0.06, 0.01], ddof=1) / np.sqrt(2)
    assert row["dev_difference_low"] == pytest.approx(0.035 - half)
    # a difference so large is found four times of five, over two folds
    error = half / scipy.stats.t.ppf(0.975, 1)
    drawn = np.random.default_rng(0).normal(
        row["dev_least_detectable"], error * 2**0.5, (20_000, 2)
    )
    found = scipy.stats.ttest_1samp(drawn, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.02)
    assert (row["models"], row["chosen"]) == (6, "against")


def test_outputs_of_one_mr_are_drawn_together() -> None:
    """Four outputs that are one observation make the spread of a mean twice as large."""
    gains = []
    for often in (1, 4):
        outputs = OUTPUTS.assign(mr_number=np.arange(N) // often)
        truth, weights = _truth(outputs, "cross_validation", {"draws": 2000, "seed": 1})
        assert all(len({tuple(w) for w in own.T}) == 1 for own in np.split(weights, N // often, 1))
        level = np.repeat(np.random.default_rng(2).normal(size=N // often), often)
        means = weights @ level / weights.sum(axis=1)
        gains.append(means.std())
        assert truth.tolist() == TRUTH.tolist()
    assert gains[1] == pytest.approx(2 * gains[0], rel=0.35)


def test_captions_say_what_validation_parts_chose() -> None:
    names = ["paper_setup1", "paper_setup2", "longer_setup1", "authors_setup1", "paper_setup3"]
    table = pd.DataFrame({"name": names, "chosen": ["name", "against", "name", "name", None]})
    said = choice_of_schedule(table, "cross_validation")
    assert "the paper's schedule for `setup1`" in said
    assert re.search("configuration's [^`]* for `setup2`", said)
    assert "setup3" not in said
    assert "authors" not in said
    # where there is nothing of an experiment itself, table 3 speaks
    crossed = choice_of_schedule(table, "cross_domain")
    assert crossed != said
    assert "table 3" in crossed
    assert re.search("configuration's [^`]* for `setup2`", crossed)
    own = pd.DataFrame({"name": ["paper_cross_domain_1_setup1"], "chosen": ["against"]})
    again = choice_of_schedule(pd.concat([table, own]), "cross_domain")
    assert "`cross_domain_1_setup1`" in again
    assert "setup2" not in again
    assert "none" in choice_of_schedule(table.assign(chosen=""), "cross_system")


def test_rows_of_tables_4_and_5_stand_where_there_are_both() -> None:
    made = {
        name: predicted(1.0, 1, [0.3, 0.2])
        for name in (
            "cross_domain_2_setup1",
            "paper_cross_domain_2_setup1",
            "paper_cross_domain_1_setup1",
        )
    }
    table = ways_table(made, OUTPUTS, PUBLISHED, {"draws": 200, "seed": 1})
    crossed = table[table["name"].str.contains("cross")]
    assert crossed["name"].tolist() == ["paper_cross_domain_2_setup1"]
    assert crossed["n"].tolist() == [20]
    assert crossed["pearson_gap"].notna().all()


def test_the_common_pass_is_that_of_all_folds_of_a_seed() -> None:
    def model(seed: int, fold: int, *values: float | None) -> dict[str, Any]:
        history = [{"phase": "pretrain", "pass": 1, "pearson": 9.0, "spearman": 9.0}]
        history += [{"phase": "train", "pass": n, "pearson": v, "spearman": 0.0}
                    for n, v in enumerate(values, 1)]  # fmt: skip
        return {"seed": seed, "fold": fold, "history": history}

    # pass 2 is the best of both together; pass 4 only one has made; None is the worst
    models = [model(0, 0, 0.5, 0.4, None, 0.9), model(0, 1, 0.1, 0.4, 0.6), model(1, 0, 0.2)]
    assert common_scores(models) == {(0, 0): 0.4, (0, 1): 0.4, (1, 0): 0.2}
    facts = {"models": models}
    rows = {"0": {"pretrain": 50, "train": 10}, "1": {"pretrain": 50, "train": 20}}
    assert cost(facts, rows) == pytest.approx((90 + 110 + 60) / 3)
    assert np.isnan(cost(facts, {}))


def test_without_predictions_the_table_says_what_trains_them(tmp_path: Path) -> None:
    table = ways_table({}, None, PUBLISHED, {"draws": 200, "seed": 1})
    why = Reason("not_trained", "not run", f"{training_command('authors_setup1')} trains it")
    missing = [{"of": {"name": "authors_setup1"}, **asdict(why)}]
    publish("rnn_qe_ways", table, tmp_path, missing=missing, facts={"draws": 200, "seed": 1})
    page = (tmp_path / "rnn_qe_ways.md").read_text(encoding="utf-8")
    assert "predictions/authors_setup1.csv.gz" in page
    assert "two stacked recurrent layers" in page
