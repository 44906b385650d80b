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
    apart,
    findings,
    positive,
    shares,
    significant,
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


@pytest.mark.parametrize(
    ("a", "b", "holds"),
    [((0.5, 0.4, 0.6), (0.2, 0.1, 0.3), "yes"), ((0.5, 0.4, 0.6), (0.4, 0.3, 0.5), "undecided")],
)
def test_intervals_decide(a: tuple, b: tuple, holds: str) -> None:
    first, second = (dict(zip(("x", "x_low", "x_high"), one, strict=True)) for one in (a, b))
    assert apart(first, second, "x").holds == holds
    assert apart(second, first, "x").holds == {"yes": "no"}.get(holds, holds)
    assert apart(first, second, "x").value == pytest.approx(a[0] - b[0])


def test_differences_and_p_values_decide() -> None:
    row = {"x": 0.1, "x_low": 0.01, "x_high": 0.2, "y_low": -0.1, "y_high": 0.3}
    assert positive(row, "x").holds == "yes"
    assert positive(row, "x", "y").holds == "undecided"
    assert [significant(p, gap, 0.01).holds for p, gap in ((0.001, 1), (0.001, -1), (0.1, 1))] == [
        "yes",
        "no",
        "undecided",
    ]


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
