"""Claims: on which side the interval lies, of one row or of two on the same draws."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.experiments.reproducibility.claims import claims_table, read_claims, verdict
from refless.report.catalogue import catalogue
from refless.statistics import Estimate

LISTED = Path(__file__).parents[3] / "resources/published/claims.yaml"
DRAWS = np.random.default_rng(1).normal(0, 1, 400)
ROWS = {
    # the same draws, moved: far apart beside each other, alike one by one
    "low": 0.0 + DRAWS,
    "high": 0.5 + DRAWS,
    "other": 0.5 - DRAWS[:200],
}


@pytest.fixture
def table() -> pd.DataFrame:
    rows = [
        {"task": "ours", "model": name, **Estimate.of(own[0] - DRAWS[0], own).columns("rho")}
        for name, own in ROWS.items()
    ]
    table = pd.DataFrame(rows).assign(source=["computed", "shipped", "computed"], reason="")
    lost = {"task": "ours", "model": "lost", "source": "", "reason": "no_encoder"}
    return pd.concat([table, pd.DataFrame([lost])], ignore_index=True)


def decided(table: pd.DataFrame, **claim: object) -> pd.Series:
    whole = {"paper": "A", "claim": "b", "table": "t", "column": "rho", "side": "above", **claim}
    return claims_table([whole], {"t": table}, {"theirs": "ours"}).iloc[0]


@pytest.mark.parametrize(
    ("low", "high", "side", "bound", "holds"),
    [
        (0.1, 0.2, "above", 0.0, "yes"),
        (0.1, 0.2, "below", 0.0, "no"),
        (0.1, 0.2, "below", 0.3, "yes"),
        (0.1, 0.2, "above", 0.15, "undecided"),
        (0.0, 0.2, "above", 0.0, "undecided"),
        (np.nan, np.nan, "above", 0.0, "undecided"),
    ],
)
def test_the_interval_decides(low: float, high: float, side: str, bound: float, holds: str) -> None:
    assert verdict(Estimate(0.15, low, high), side, bound) == holds


def test_two_rows_are_compared_on_the_draws_that_both_have(table: pd.DataFrame) -> None:
    row = {"task": "theirs", "model": "high"}
    found = decided(table, row=row, less={"model": "low"})
    assert found["ours"] == pytest.approx(0.5)
    assert (found["holds"], found["source"]) == ("yes", "shipped")
    assert found["ours_high"] - found["ours_low"] < 1e-6
    assert decided(table, row=row, less={"model": "other"})["holds"] == "undecided"
    # one row alone has the interval of the table
    assert decided(table, row=row, bound=-5)["holds"] == "yes"
    # of several, the one with the greatest value
    assert decided(table, row=row, less={"model": ["low", "high", "lost"]})["ours"] == 0


@pytest.mark.parametrize(
    ("model", "reason"), [("lost", "no_encoder"), ("nobody", "not_configured")]
)
def test_without_numbers_there_is_a_reason(table: pd.DataFrame, model: str, reason: str) -> None:
    found = decided(table, row={"task": "theirs", "model": "high"}, less={"model": model})
    assert (found["holds"], found["source"], found["reason"]) == ("", "", reason)
    kept = table.assign(rho_draws="")
    found = decided(kept, row={"task": "theirs", "model": "high"}, less={"model": "low"})
    assert found["reason"] == "no_draws"


def test_every_claim_is_complete_and_about_a_table_of_the_catalogue() -> None:
    claims = read_claims(LISTED)
    needed = {"paper", "claim", "table", "row", "column", "side"}
    assert all(needed <= set(claim) <= needed | {"less", "bound"} for claim in claims)
    assert {claim["side"] for claim in claims} <= {"above", "below"}
    assert {claim["table"] for claim in claims} <= set(catalogue())
    assert len({(claim["paper"], claim["claim"]) for claim in claims}) == len(claims)
