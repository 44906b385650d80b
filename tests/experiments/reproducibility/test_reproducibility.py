"""Published cells, measures over them, and claims, on tables written here."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.errors import StaleError
from refless.experiments.reproducibility import cells as counting
from refless.experiments.reproducibility.cells import (
    agreement_measures,
    published_cells,
    read_conditions,
    read_tables,
    variation,
)
from refless.experiments.reproducibility.claims import (
    CLAIMS,
    Claim,
    Tables,
    Unknown,
    Verdict,
    above,
    findings,
    opposite,
    shares,
    within,
)
from refless.report import tables as writing
from refless.report.catalogue import Entry

ROOT = Path(__file__).parents[3]
ROWS: list[dict[str, Any]] = [
    {"model": "a", "spearman": 0.3251, "paper_spearman": "0.325", "reading": "published"},
    {"model": "a", "spearman": 0.9, "paper_spearman": "0.325", "reading": "another"},
    {"model": "b", "spearman": 0.2, "paper_spearman": "0.250", "spearman_high": 0.3},
    {"model": "c", "spearman": 0.1, "paper_spearman": "0.50", "training": "fast"},
    {"model": "d", "paper_spearman": "0.4", "reason": "no_torch", "provenance": ""},
    {"model": "e", "spearman": 0.4, "paper_spearman": "0.4", "stand_in": 1, "note": "another"},
]
DEFAULTS = {"spearman_low": 0.05, "provenance": "computed", "stand_in": 0}
DEFAULTS |= dict.fromkeys(("reading", "training", "reason", "note"), "")


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, pd.DataFrame]:
    entry = Entry("one", "A paper", "table 1", "models", paper_row=("model",))
    for module in (counting, writing):
        monkeypatch.setattr(module, "catalogue", lambda: {"one": entry})
    rows = [DEFAULTS | row for row in ROWS]
    table = pd.DataFrame([row | {"note": [row["note"]] if row["note"] else []} for row in rows])
    writing.publish("one", table, tmp_path)
    return read_tables([tmp_path / "one.csv"])


def test_each_published_cell_counts_once_by_its_first_row(tables: dict[str, pd.DataFrame]) -> None:
    found = published_cells(tables).set_index("item")
    assert found["agreement"].to_dict() == {
        "a": "equal",
        "b": "inside",
        "c": "outside",
        "d": "not available",
        "e": "not available",
    }
    assert found.loc["c", "published"] == "0.50"  # its digits as printed
    assert found["reason"].to_dict() | {"a": ""} == dict.fromkeys("abc", "") | {
        "d": "no_torch",
        "e": "stand_in",
    }
    assert found.loc["e", "note"] == ["another"]


def test_each_row_counts_where_no_column_names_a_row_of_the_paper(
    tables: dict[str, pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = Entry("one", "A paper", "table 1", "models")
    monkeypatch.setattr(counting, "catalogue", lambda: {"one": entry})
    assert published_cells(tables)["published"].tolist() == [row["paper_spearman"] for row in ROWS]


def test_measures_are_those_of_the_definitions(tables: dict[str, pd.DataFrame]) -> None:
    measures = agreement_measures(published_cells(tables))
    own = measures[(measures["table"] == "one") & (measures["item"] == "spearman")]
    value = own.set_index("measure")["value"]
    ours, paper = np.array([0.3251, 0.2, 0.1]), np.array([0.325, 0.25, 0.5])
    # by hand: two numbers have the standard deviation |difference| / sqrt(2), and c4 is 0.7979
    by_hand = 112.5 * abs(ours - paper) / math.sqrt(2) / 0.7978846 / ((ours + paper) / 2 + 1)
    assert value["mean CV*"] == pytest.approx(by_hand.mean(), rel=1e-6)
    assert value["greatest CV*"] == pytest.approx(by_hand.max(), rel=1e-6)
    assert value["Pearson's r of the cells"] == pytest.approx(np.corrcoef(ours, paper)[0, 1])
    assert value["pairs in the same order"] == pytest.approx(1 / 3)
    trained = measures[measures["item"] == "spearman, trained"].set_index("measure")["value"]
    assert trained["mean CV*"] == pytest.approx(by_hand[2])
    counts = measures[(measures["table"] == "all")].set_index("measure")["value"]
    assert [counts[f"cells {name}"] for name in ("equal", "inside", "outside")] == [1, 1, 1]


def test_variation_of_equal_numbers_is_none_and_of_nothing_unknown() -> None:
    assert variation(0.3, 0.3) == 0
    assert math.isnan(variation(float("nan"), 0.3))
    assert math.isnan(variation(-1.0, 1.0))
    assert variation(0.1, 0.2, moved=True) < variation(0.1, 0.2)


def test_labels_have_kappa() -> None:
    rows = {"ours": [1.0, 1.0, 0.0, 0.0], "published": ["1", "0", "0", "0"]}
    own = pd.DataFrame(rows).assign(published=lambda t: t["published"].astype(object))
    # observed 3 of 4, by chance 1/2 * 1/4 + 1/2 * 3/4
    assert counting._kappa(own) == pytest.approx((0.75 - 0.5) / (1 - 0.5))


def test_another_table_than_the_one_that_was_written_is_refused(
    tables: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    path = tmp_path / "one.csv"
    path.write_text(path.read_text().replace("0.3251", "0.3252"))
    with pytest.raises(StaleError):
        read_tables([path])


def test_the_conditions_can_be_read() -> None:
    table = read_conditions(ROOT / "resources/published/conditions.csv")
    assert set(table["same"]) == {"yes", "no", "partly"}
    assert not (table[["published", "here"]] == "").any(axis=None)


def test_differences_decide() -> None:
    row = {"x": 0.1, "x_low": 0.01, "x_high": 0.2, "y_low": -0.1, "y_high": 0.3}
    assert above(row, "x").holds == "yes"
    assert above(row, "x", "y").holds == "undecided"
    assert above(row, "x", least=0.3).holds == "no"
    assert above(row, "x", least=0.15).holds == "undecided"
    assert [opposite(Verdict(one, 0)).holds for one in ("yes", "no", "undecided")] == [
        "no",
        "yes",
        "undecided",
    ]


@pytest.mark.parametrize(
    ("low", "high", "holds"),
    [
        (-0.05, 0.05, "yes"),
        (0.01, 0.05, "yes"),
        (-0.2, 0.4, "undecided"),
        (0.01, 0.4, "undecided"),
        (0.1, 0.4, "no"),
        (-0.4, -0.1, "no"),
    ],
)
def test_two_are_level_only_if_a_difference_that_matters_is_excluded(
    low: float, high: float, holds: str
) -> None:
    assert within({"x": 0.02, "x_low": low, "x_high": high}, "x", 0.1).holds == holds


def verdict_of(claim: str, **tables: list[dict[str, Any]]) -> Verdict:
    """What the claim that begins so comes to on these tables."""
    (found,) = [one for one in CLAIMS if one.claim.startswith(claim)]
    rows = {name: pd.DataFrame(rows) for name, rows in tables.items()}
    return found.decide(Tables(rows))


def verdict(claim: str, **tables: list[dict[str, Any]]) -> str:
    return verdict_of(claim, **tables).holds


def summaries(model: str, **ends: tuple[float, float]) -> dict[str, Any]:
    """A row of table 1 with these intervals, each value in the middle of its own."""
    row: dict[str, Any] = {"model": model, "task": "huse_summarization", "reading": "published"}
    row |= {"provenance": "shipped", "mse": {"bleu": 0.021, "constant": 0.0238}.get(model, 0.08)}
    for name, (low, high) in ends.items():
        row |= {name: (low + high) / 2, f"{name}_low": low, f"{name}_high": high}
    return row


@pytest.mark.parametrize(
    ("rouge", "meteor", "holds"),
    [
        ((0.01, 0.2), (0.02, 0.3), "yes"),
        ((0.01, 0.2), (-0.1, 0.3), "undecided"),
        ((-0.2, -0.01), (0.02, 0.3), "no"),
    ],
)
def test_one_kernel_is_ahead_of_two_if_it_is_of_both(
    rouge: tuple, meteor: tuple, holds: str
) -> None:
    rows = [summaries("rouge", bleu_difference=rouge), summaries("meteor", bleu_difference=meteor)]
    found = verdict_of("On summaries, BLEU* as the kernel", bleu_neighbors_table1=rows)
    least = min(sum(rouge) / 2, sum(meteor) / 2)
    assert (found.holds, found.value) == (holds, pytest.approx(least))


@pytest.mark.parametrize(
    ("ends", "holds"), [((0.01, 0.2), "yes"), ((-0.1, 0.2), "undecided"), ((-0.2, -0.1), "no")]
)
def test_annotators_and_model_are_compared_on_the_same_draws(ends: tuple, holds: str) -> None:
    own = summaries("bleu", human_difference=ends, human_mse_difference=ends)
    rows = [summaries("human_average"), own, summaries("constant")]
    people = "On summaries, the average annotator has a higher"
    assert verdict(people, bleu_neighbors_table1=rows) == holds
    smaller = verdict_of("On summaries, BLEU Neighbors has a smaller", bleu_neighbors_table1=rows)
    assert (smaller.holds, smaller.value) == (holds, pytest.approx(sum(ends) / 2))


def test_the_control_of_a_smaller_error_stands_beside_it() -> None:
    claim = next(one for one in CLAIMS if "smaller squared error" in one.claim)
    own = summaries("bleu", human_mse_difference=(0.05, 0.07))
    rows = pd.DataFrame([own, summaries("human_average"), summaries("constant")])
    (note,) = findings({"bleu_neighbors_table1": rows}, [claim]).loc[0, "note"]
    assert all(figure in note for figure in ("0.0238", "0.0210", "0.0800"))
    # without it the verdict stays
    found = findings({"bleu_neighbors_table1": rows[:1]}, [claim]).loc[0]
    assert found["holds"] == "yes"
    assert "missing" in found["note"][0]
    assert len(findings({}, [claim]).loc[0, "note"]) == 1


ESSAYS = {
    "model": "bleu_neighbors",
    "paper_spearman": "0.5",
    "reason": "",
    "provenance": "computed",
}


@pytest.mark.parametrize(
    ("low", "high", "useless", "best"),
    [
        (-0.4, 0.2, "undecided", "no"),
        (-0.4, -0.1, "yes", "no"),
        (-0.2, 0.09, "yes", "no"),  # not below 0, but too small to be of use
        (0.05, 0.7, "undecided", "undecided"),
        (0.11, 0.7, "no", "undecided"),
        (0.5, 0.7, "no", "yes"),
    ],
)
def test_few_essays_leave_claims_undecided(
    low: float, high: float, useless: str, best: str
) -> None:
    own = ESSAYS | {"spearman": (low + high) / 2, "spearman_low": low, "spearman_high": high}
    quoted = ESSAYS | {"model": "wms", "paper_spearman": "0.44", "reason": "quoted"}
    rows = [*(own | {"train_topic": topic} for topic in ("4", "8")), quoted | {"provenance": ""}]
    assert verdict("Essays of set 4 are of no use", bleu_neighbors_table3=rows) == useless
    assert verdict("Trained on essays of set 8", bleu_neighbors_table3=rows) == best


def test_that_training_sets_differ_is_corrected_for_all_pairs() -> None:
    pair = {"against_is": "training set", "provenance": "computed", "n": 39}
    for corrected, holds in ((0.008, "yes"), (0.09, "undecided")):
        rows = [
            pair | {"p_value": p, "p_holm": holm} for p, holm in ((0.002, corrected), (0.5, 1.0))
        ]
        found = verdict_of("How good grades are", bleu_neighbors_table3_williams=rows)
        assert (found.holds, found.value) == (holds, corrected)


def test_training_sets_that_overlap_are_no_pair() -> None:
    pair = {"against_is": "training set", "provenance": "computed", "n": 39}
    apart = pair | {"p_value": 0.04, "p_holm": 0.04}
    union = pair | {"p_value": 0.001, "p_holm": float("nan")}
    claim = "How good grades are"
    assert verdict(claim, bleu_neighbors_table3_williams=[apart, union]) == "yes"
    with pytest.raises(Unknown, match="share no essay"):
        verdict(claim, bleu_neighbors_table3_williams=[union])


def test_covered_summaries_are_no_easier_only_if_the_interval_says_so() -> None:
    row = {"model": "bleu", "provenance": "computed", "paper_relative_difference": ""}
    row |= {"n": 200, "n_covered": 150}
    ours = row | {"task": "huse_summarization", "relative_difference": -0.01}
    theirs = row | {"task": "huse_dialogue", "provenance": ""}
    theirs["paper_relative_difference"] = "-0.156"
    for low, holds in ((-0.1, "yes"), (-0.3, "undecided")):
        ends = {"relative_difference_low": low, "relative_difference_high": 0.1}
        rows = [ours | ends, theirs]
        assert verdict("Covered summaries", bleu_neighbors_section53=rows) == holds
    rows = [ours | ends | {"n_covered": 199}, theirs]
    with pytest.raises(Unknown, match="covered"):  # one text more can hardly move a mean
        verdict("Covered summaries", bleu_neighbors_section53=rows)


@pytest.mark.parametrize(
    ("low", "high", "worse", "better"),
    [(-0.5, -0.1, "yes", "no"), (-0.5, 0.1, "undecided", "undecided"), (0.1, 0.5, "no", "yes")],
)
def test_what_more_references_do_is_tested_over_systems(
    low: float, high: float, worse: str, better: str
) -> None:
    ends = {"difference_systems_low": low, "difference_systems_high": high}
    # contexts alone would say more than nine systems can
    ends |= {"difference": (low + high) / 2, "difference_low": -0.31, "difference_high": -0.29}
    named = {"task": "dstc7", "references_a": "all", "provenance": "computed"}
    rows = [
        named | ends | {"metric_a": metric, "metric_b": metric, "references_b": fewer}
        for metric, fewer in (("bleu", "w>=0.6"), ("delta_bleu", "w>=0.6"), ("delta_bleu", "w>=0"))
    ]
    assert verdict("BLEU gets worse", delta_bleu_table2_tests=rows) == worse
    for claim in ("ΔBLEU gets better", "ΔBLEU gains from references with negative"):
        assert verdict(claim, delta_bleu_table2_tests=rows) == better


def with_all_references() -> list[dict[str, Any]]:
    """Rows of ΔBLEU in table 2 by the choices they differ in."""
    row = {"task": "dstc7", "metric": "delta_bleu", "references": "all", "provenance": "computed"}
    row |= {"rule": "smooth", "negative": 0.841}
    found = [("", -0.06), ("rule zero", -0.09), ("rule zero, centre mean", 0.24)]
    found += [("gold added", 0.9), ("rule zero, lacking written", -0.9), ("tokens blanks", 0.8)]
    return [row | {"choices": choices, "spearman": rho} for choices, rho in found]


def test_what_the_row_with_all_references_hangs_on_stands_beside_it() -> None:
    test = {"task": "dstc7", "references_a": "all", "provenance": "computed", "difference": 0.2}
    test |= dict.fromkeys(("metric_a", "metric_b"), "delta_bleu")
    test |= {"difference_systems_low": 0.1, "difference_systems_high": 0.3}
    test |= {"difference_low": 0.15, "difference_high": 0.25, "systems": 9}
    tables = {
        "delta_bleu_table2_tests": pd.DataFrame(
            [test | {"references_b": fewer} for fewer in ("w>=0.6", "w>=0")]
        ),
        "delta_bleu_table2": pd.DataFrame(with_all_references()),
    }
    asked = [one for one in CLAIMS if one.claim.startswith(("ΔBLEU gets", "ΔBLEU gains"))]
    notes = findings(tables, asked)["note"]
    assert len(notes) == 2
    for first, note in notes:
        assert "for these 9 systems" in first
        assert "yes (0.150 to 0.250)" in first
        assert "84% of the scores" in note
        assert "from -0.09 to 0.24" in note


def test_a_level_is_looked_at_where_rho_is_highest_too() -> None:
    """The paper's threshold decides, and over these systems both stand beside it."""
    named = {"task": "dstc7", "metric_a": "sbleu", "metric_b": "bleu", "provenance": "computed"}
    rows = []
    for references, half in (("w>=0.6", 0.02), ("w>=0.4", 0.2)):
        row = {**named, **dict.fromkeys(("references_a", "references_b"), references)}
        row |= {"systems": 9, "systems_needed": "", "difference": 0.01}
        for column, wide in (("difference", half), ("difference_systems", 0.3)):
            row |= {f"{column}_low": 0.01 - wide, f"{column}_high": 0.01 + wide}
        rows.append(row)
    asked = [one for one in CLAIMS if one.claim.startswith("Sentence BLEU and BLEU are about")]
    found = findings({"delta_bleu_table2_tests": pd.DataFrame(rows)}, asked).loc[0]
    assert found["holds"] == "undecided"
    (beside,) = [note for note in found["note"] if "w>=0.4" in note]
    first, second = beside.split("; ")
    assert "w>=0.6" in first
    assert "yes" in first
    assert "undecided" in second


def test_what_is_undecided_says_how_many_would_decide_it() -> None:
    row = {"task": "dstc7", "provenance": "computed", "systems_needed": 64.0, "difference": 0.1}
    row |= dict.fromkeys(("references_a", "references_b"), "w>=0.4")
    row |= {"metric_a": "delta_bleu", "metric_b": "bleu", "difference_systems_high": 0.3}
    for low, said in ((-0.1, 1), (0.05, 0)):
        notes = undecided(row | {"difference_systems_low": low})
        assert len(notes) == said
        assert all("64 systems" in note for note in notes)


def undecided(row: dict[str, Any]) -> list[str]:
    """What is said of a test of ΔBLEU against BLEU that decides nothing."""
    claim = next(one for one in CLAIMS if one.claim.startswith("ΔBLEU follows"))
    notes = findings({"delta_bleu_table2_tests": pd.DataFrame([row])}, [claim]).loc[0, "note"]
    return [note for note in notes if note.startswith("undecided")]


def test_an_interval_says_how_many_texts_would_do() -> None:
    """As many times more as the square of what it lacks: 2.8 standard errors are found mostly."""
    rows = [summaries("bleu", human_difference=(-0.1, 0.3)) | {"n": 200, "n_covered": 150}]
    found = verdict_of(
        "On summaries, the average annotator has a higher", bleu_neighbors_table1=rows
    )
    expected = 200 * ((1.96 + 0.84) * (0.4 / 3.92) / 0.1) ** 2
    assert found.needed.startswith(f"about {round(expected, -2):,.0f} texts")
    rows = [ESSAYS | {"train_topic": "4", "spearman": 0.1, "n": 39}]
    rows[0] |= {"spearman_low": -0.2, "spearman_high": 0.4}
    found = verdict_of("Essays of set 4", bleu_neighbors_table3=rows)
    assert (found.holds, found.needed) == ("undecided", "")  # just what is asked about


@pytest.mark.parametrize(
    ("needed", "said"),
    [
        (64, "about 64 "),
        (123.4, "about 120 "),
        (98765, "about 99,000 "),
        (2e6, "no study "),
        (0, ""),
    ],
)
def test_how_many_are_needed_has_two_digits(needed: float, said: str) -> None:
    row = {"task": "dstc7", "provenance": "computed", "systems_needed": needed, "difference": 0.1}
    row |= dict.fromkeys(("references_a", "references_b"), "w>=0.4")
    row |= {"metric_a": "delta_bleu", "metric_b": "bleu", "difference_systems_high": 0.3}
    (note,) = undecided(row | {"difference_systems_low": -0.1}) or [""]
    assert said in note
    assert bool(note) == bool(said)


def test_errors_are_compared_on_the_same_draws() -> None:
    row = {"provenance": "shipped", "setup": "1", "reading": ""}
    for low, smaller, greater in ((-0.1, "yes", "no"), (-0.01, "undecided", "undecided")):
        gap = {"": low + 0.03, "_low": low, "_high": low + 0.06}
        ends = {f"{e}_less_constant{k}": v for e in ("mae", "rmse") for k, v in gap.items()}
        assert verdict("Set-up 1 has a smaller", rnn_qe_table3=[row | ends]) == smaller
        assert verdict("Set-up 1 has a greater", rnn_qe_table3=[row | ends]) == greater


BETTER, WORSE, OPEN = (-0.2, 0.008), (0.2, 0.004), (0.2, 0.03)
"""Difference and its p; either of two errors would do to be no better, and six are counted."""


@pytest.mark.parametrize(
    ("mae", "rmse", "number", "holds", "value"),
    [
        (BETTER, BETTER, 4, "no", 0),
        (BETTER, BETTER, 3, "undecided", 0),  # of six: not more than half
        (BETTER, OPEN, 6, "undecided", 0),
        (OPEN, OPEN, 6, "undecided", 0),  # what is not shown is not shown to be absent
        (OPEN, WORSE, 4, "yes", 4 / 6),
        (WORSE, BETTER, 4, "yes", 4 / 6),
        (WORSE, WORSE, 3, "undecided", 0.5),
    ],
)
def test_most_set_ups_must_be_shown_to_be_no_better(
    mae: tuple, rmse: tuple, number: int, holds: str, value: float
) -> None:
    rows = []
    for setup in range(1, 7):
        row: dict[str, Any] = {"provenance": "shipped", "setup": str(setup), "reading": ""}
        for name, ends in zip(("mae", "rmse"), (mae, rmse), strict=True):
            ends = ends if setup <= number else OPEN
            row |= {
                f"{name}_less_constant{e}": end for e, end in zip(("", "_p"), ends, strict=True)
            }
        rows.append(row)
    found = verdict_of("On another domain, most", rnn_qe_table4=rows)
    assert (found.holds, found.value) == (holds, pytest.approx(value))


def test_a_claim_without_its_number_is_undecided_and_says_so() -> None:
    def missing(tables: Tables) -> Any:
        return tables.row("nothing", model="a")

    found = findings({}, [Claim("A paper", "c", "nothing", "t", missing)])
    assert found.loc[0, "holds"] == "undecided"
    assert "nothing" in found.loc[0, "note"][0]
    assert [row["value"] for row in shares(found)] == [0, 0, 1] * 2
    with pytest.raises(Unknown):
        Tables({"one": pd.DataFrame({"x": [1]})}).rows("one", y="2")


def test_there_are_claims_of_every_paper() -> None:
    assert len(CLAIMS) >= 20
    assert {claim.paper for claim in CLAIMS} == {"BLEU Neighbors", "ΔBLEU", "RNN-QE"}
    assert len({(claim.paper, claim.claim) for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("numbers", ["computed", ""])
def test_essays_of_another_test_set_decide_nothing(numbers: str) -> None:
    """Table 3 has then no published value beside it; or no numbers at all."""
    row = {**ESSAYS, "train_topic": "4", "spearman": 0.4, "provenance": numbers}
    row |= {"spearman_low": 0.3, "spearman_high": 0.5, "coverage": 1.0, "p_below_0.01": 1}
    row |= {"paper_spearman": "" if numbers else "0.5", "paper_p_below_0.01": ""}
    for claim in ("Essays of set 4", "Every test essay", "The training sets of essays"):
        own = next(one for one in CLAIMS if one.claim.startswith(claim))
        found = findings({"bleu_neighbors_table3": pd.DataFrame([row])}, [own]).loc[0]
        assert found["holds"] == "undecided", claim
        assert found["note"], claim
