"""Why cells differ, the order of rows, what of a paper came out, and what was to be expected."""

import numpy as np
import pandas as pd
import pytest
import yaml

from refless.experiments.reproducibility.cells import coefficients, published_cells
from refless.experiments.reproducibility.explanations import CAUSES, explanation
from refless.experiments.reproducibility.order import pairs_in_order
from refless.experiments.reproducibility.papers import (
    PROPERTIES,
    STATES,
    cells_of,
    expected_agreement,
    findings_upheld,
    papers_table,
)
from refless.experiments.rnn_qe.tables import DIFFERENT_SIZES
from refless.report.catalogue import catalogue
from refless.report.names import words
from refless.statistics import IntervalEstimate
from refless.statistics.measure import Measure
from refless.statistics.variation import variation_of
from tests.conftest import ROOT

PROPERTIES_FILE = ROOT / "resources/published/properties.yaml"
PARTS = yaml.safe_load(PROPERTIES_FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("row", "agreement", "short", "within", "word"),
    [
        ({"schedule": "paper"}, "equal", "outside", "", ""),
        # the schedule is a cause only where the paper's own brings a cell inside
        ({"schedule": "paper"}, "inside", "outside", "", "schedule"),
        ({"schedule": "paper"}, "inside", "inside", "", "may_be_chance"),
        ({"schedule": "paper"}, "inside", "absent", "", "may_be_chance"),
        ({"schedule": "paper"}, "outside", "outside", "", "not_known"),
        ({"schedule": "short"}, "outside", "", "", "schedule_untried"),
        ({"schedule": "short"}, "inside", "", "", "may_be_chance"),
        # what is not trained has nothing left to chance
        ({"schedule": ""}, "inside", "", "", "not_known"),
        ({"schedule": ""}, "inside", "", "yes", "unknown_folds"),
        ({"schedule": ""}, "inside", "", "no", "not_known"),
        ({}, "outside", "", "", "not_known"),
        # a table's own word, and why a row has no number
        ({"explanation": "other_data"}, "outside", "", "", "other_data"),
        ({"reason": "raw_file_missing"}, "absent", "", "", "raw_file_missing"),
    ],
)
def test_a_cause_is_one_that_was_tested(row, agreement, short, within, word):
    assert explanation(row, agreement, short, within) == word


def test_each_word_has_a_sentence():
    assert set(words()["why"]) == set(CAUSES)
    assert {word for word, _ in DIFFERENT_SIZES.values()} <= set(CAUSES)


def networks() -> pd.DataFrame:
    """Set-up 1 by both schedules, 2 by the short one; a metric with a band."""
    return pd.DataFrame(
        {
            "setup": ["bleu", "1", "1", "2"],
            "schedule": ["", "paper", "short", "short"],
            "mae": [2.2, 1.0, 1.5, 1.2],
            "mae_low": [2.0, 0.9, 1.4, 1.1],
            "mae_high": [2.4, 1.15, 1.6, 1.3],
            "mae_sd": [np.nan, 0.1, 0.2, 0.1],
            "mae_deals": [2.3, np.nan, np.nan, np.nan],
            "mae_deals_low": [2.25, np.nan, np.nan, np.nan],
            "mae_deals_high": [2.35, np.nan, np.nan, np.nan],
            "paper_mae": ["2.3", "1.1", "", "1.4"],
            "seeds": [1, 3, 3, 2],
            "provenance": "computed",
            "reason": "",
        }
    )


def test_a_cell_says_why_and_whether_random_divisions_give_it():
    cells = published_cells(networks(), ["setup", "schedule"]).set_index("item")
    assert cells["explanation"].to_dict() == {
        "bleu": "unknown_folds",
        "1, paper": "schedule",
        "2, short": "schedule_untried",
    }
    assert cells["within_deals"].tolist() == ["yes", "", ""]
    beyond = networks().assign(mae_deals_high=2.29)
    assert published_cells(beyond, ["setup"])["within_deals"].iloc[0] == "no"


def test_seeds_are_repeats_where_there_are_three():
    cells = published_cells(networks(), ["setup", "schedule"]).set_index("item")
    expected = variation_of(1.0, 0.1, 3)
    of_seeds = cells.loc["1, paper", Measure("cv_seeds").interval]
    assert of_seeds.tolist() == pytest.approx([expected.value, expected.low, expected.high])
    assert cells["cv_seeds"].isna().tolist() == [True, False, True]


def test_ends_of_a_papers_interval_are_no_cells():
    table = networks().assign(paper_mae_low="0.9")
    assert set(published_cells(table, ["setup"])["measure"]) == {"mae"}


def test_coefficients_are_left_out_where_they_are_not_defined():
    few, flat = coefficients(*np.ones((2, 2))), coefficients(np.ones(3), np.arange(3.0))
    assert few == {}
    assert set(flat) == {"alpha", "rmse"}
    labels = coefficients(np.array([1.0, 0, 1, 0]), np.array([1.0, 0, 1, 1]), labels=True)
    # one of four units disagrees, of 8 labels 5 are 1: 1 - (1/4) / (2 * 5 * 3 / 56)
    assert labels == {"alpha": pytest.approx(1 - 0.25 / (30 / 56))}
    gaps = coefficients(np.array([1.0, 2, 3]), np.array([1.0, 2, 6]))
    assert gaps["rmse"] == pytest.approx(np.sqrt(3))


DRAWS = np.random.default_rng(0).normal(0, 1, 400)


def test_pairs_of_rows_are_in_order_where_their_difference_is_on_the_papers_side():
    """On the draws that both have; without draws, where intervals do not overlap."""
    values = {"a": 0.0, "b": 0.3, "c": -0.5}  # the same draws, moved: every difference is certain
    estimates = {name: IntervalEstimate.of(v, DRAWS + v) for name, v in values.items()}
    estimates |= {"d": IntervalEstimate(9.0, 8.5, 9.5), "e": IntervalEstimate(0.1, -4, 4)}
    printed = {"a": "0.1", "b": "0.2", "c": "0.3", "d": "0.9", "e": "0.9"}
    rows = [{"model": k, **Measure("rho").cells(one)} for k, one in estimates.items()]
    rows += [{"model": "lost", "rho": np.nan}, {"model": "quoted", "rho": 5.0}]
    table = pd.DataFrame(rows).assign(reason=["", "", "", "", "", "raw_file_missing", "quoted"])
    table["paper_rho"] = table["model"].map(printed).fillna("0.5")
    table["rho_draws"] = table["rho_draws"].fillna("")
    (row,) = pairs_in_order(table).to_dict("records")
    # a-b as printed; a-c and b-c the other way; d above a, b, c; e among them; d and e are a tie
    counts = {"pairs": 9, "as_published": 1 + 3 + 2, "same_order": 1 + 3, "other_order": 2}
    assert row == {"measure": "rho", **counts, "undecided_order": 3}


def test_rows_of_two_data_sets_are_no_pair():
    table = pd.DataFrame({"dataset": ["x", "x", "y"], "rho": [0.1, 0.2, 0.3]})
    table = table.assign(
        paper_rho=["0.1", "0.2", "0.3"], rho_low=table["rho"], rho_high=table["rho"]
    )
    pairs = pairs_in_order(table)
    assert pairs[["pairs", "same_order"]].to_numpy().tolist() == [[1, 1]]


def test_p_counts_decided_findings_alone():
    """By hand: of seven, three hold and one does not, so P is 3 of 4."""
    holds = ["yes", "undecided", "yes", "no", "yes", "undecided", ""]
    assert list(findings_upheld(holds).values()) == [7, 3, 1, 2, 0.75]
    assert np.isnan(findings_upheld(["undecided"])["p_upheld"])


@pytest.mark.parametrize(
    ("other", "state", "agreement"),
    [
        ("code", "other", "digits"),
        ("folds", "unknown", "interval"),
        ("seeds", "other", "interval"),
        ("raters", "unknown", "interval"),
        ("data", "other", "order"),
        ("schedule", "other", "order"),
        ("encoder", "none", "digits"),
    ],
)
def test_what_is_not_the_same_decides_what_may_be_expected(other, state, agreement):
    assert expected_agreement({**dict.fromkeys(PROPERTIES, "same"), other: state}) == agreement


def test_properties_are_complete_and_of_tables_of_the_paper():
    for part in PARTS:
        assert {part[name] for name in PROPERTIES} <= set(STATES)
        assert {catalogue()[name].paper for name in part["tables"]} == {part["paper"]}
    assert len({(part["paper"], part["part"]) for part in PARTS}) == len(PARTS)


def test_parts_and_papers_have_their_cells_findings_and_pairs():
    cells = pd.DataFrame(
        {
            "paper": "RNN-QE",
            "table": ["rnn_qe_table3", "rnn_qe_table3", "rnn_qe_table4"],
            "item": ["bleu", "1, paper", "2, 1, short"],
            "schedule": ["", "paper", "short"],
            "agreement": ["equal", "inside", "outside"],
            "provenance": ["computed", "shipped", "shipped"],
            "reason": "",
        }
    )
    measures = pd.DataFrame({"paper": ["RNN-QE"] * 2 + ["all"], "pairs": [3, 1, 100]})
    counts = {"as_published": [2, 1, 0], "same_order": [1, 0, 0], "other_order": [0, 0, 0]}
    measures = measures.assign(**counts, undecided_order=[2, 1, 0])
    claims = pd.DataFrame({"paper": ["RNN-QE", "RNN-QE", "findings"], "holds": ["yes", "no", "no"]})
    tables = {"reproducibility_cells": cells, "reproducibility": measures, "claims": claims}
    rows = papers_table(tables, PROPERTIES_FILE).set_index(["paper", "part"]).loc["RNN-QE"]
    whole = rows.loc["all"]
    assert whole[["cells", "equal", "inside", "outside"]].tolist() == [3, 1, 1, 1]
    assert whole[["findings", "upheld", "p_upheld"]].tolist() == [2, 1, 0.5]
    assert whole[["pairs", "same_order", "order_share"]].tolist() == [4, 1, 0.75]
    assert rows["cells"].drop("all").sum() == 3
    for schedule, verdict in (("paper's", "inside"), ("short", "outside")):
        (part,) = (name for name in rows.index if schedule in name)
        assert rows.loc[part, verdict] == 1


def test_a_part_may_be_told_by_a_word_of_its_rows():
    cells = pd.DataFrame({"table": "t", "item": ["x, bertscore", "x, bleu"], "schedule": ""})
    for way, item in (("with", "x, bertscore"), ("without", "x, bleu")):
        chosen = cells_of({"tables": ["t"], way: "bertscore"}, cells)
        assert chosen["item"].tolist() == [item]
