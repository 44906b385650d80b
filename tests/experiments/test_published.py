"""Published cells beside ours, and claims: digits, intervals, gaps; which count, which hold."""

import numpy as np
import pandas as pd
import pytest

from refless.experiments.published import (
    ABSENT,
    EQUAL,
    INSIDE,
    OUTSIDE,
    agreement_with_paper,
    read_published,
)
from refless.experiments.reproducibility.cells import by_measure, published_cells
from refless.experiments.reproducibility.claims import claim_holds, claims_table
from refless.methods import METHODS, is_text_blind
from refless.report.catalogue import catalogue
from refless.resources import read_claims
from refless.statistics import IntervalEstimate
from refless.statistics.measure import TRAINING_FACTOR, Measure
from tests.conftest import ROOT

PUBLISHED = ROOT / "resources/published"
NAN = float("nan")


@pytest.mark.parametrize(
    ("ours", "printed", "low", "high", "claim_holds"),
    [
        (0.3254, "0.325", 0.2, 0.4, EQUAL),
        # at a half, either way of rounding is theirs
        (0.3255, "0.325", 0.2, 0.4, EQUAL),
        (0.3245, "0.325", 0.2, 0.4, EQUAL),
        (0.32551, "0.325", 0.2, 0.4, INSIDE),
        (0.32551, "0.325", 0.3252, 0.4, OUTSIDE),
        # the ends belong to the interval
        (0.2, "0.325", 0.1, 0.325, INSIDE),
        # without an interval, what is not equal lies outside
        (0.2, "0.325", NAN, NAN, OUTSIDE),
        # more printed digits are stricter
        (0.9949, "0.99", 0.98, 1.0, EQUAL),
        (0.9949, "0.990", 0.98, 1.0, INSIDE),
        # negative values and whole numbers
        (-0.1285, "-0.128", -0.5, 0.2, EQUAL),
        (39.4, "39", NAN, NAN, EQUAL),
        # nothing to compare
        (NAN, "0.325", NAN, NAN, ABSENT),
        (0.3, "", 0.2, 0.4, ABSENT),
        (0.3, "inf", 0.2, 0.4, ABSENT),
    ],
)
def test_compare(ours, printed, low, high, claim_holds):
    assert agreement_with_paper(ours, printed, low, high) == claim_holds


@pytest.mark.parametrize("path", sorted(PUBLISHED.glob("*.csv")), ids=lambda path: path.stem)
def test_every_published_table_can_be_compared_with(path):
    keys = {"model", "dataset", "source_dataset", "target_dataset", "train_topic"}
    keys |= {"metric", "references", "system", "setup", "configuration"}
    table = read_published(path)
    own = [column for column in table if column in keys]
    assert own
    assert not table.duplicated(own).any()
    for column in set(table) - keys:
        for printed in table[column]:
            # a slip of the pen would silently turn a cell into one that cannot be compared
            assert printed == "" or agreement_with_paper(0.5, printed, NAN, NAN) != ABSENT, column


ONE = pd.DataFrame(
    {
        "model": ["a", "a", "b", "b", "quoted"],
        "dataset": ["x", "y", "x", "y", "x"],
        "rho": [0.501, 0.4, np.nan, 0.501, np.nan],
        "rho_low": [0.4, 0.3, np.nan, 0.4, np.nan],
        "rho_high": [0.6, 0.5, np.nan, 0.6, np.nan],
        "star": [1, 0, np.nan, 0, np.nan],
        "paper_rho": ["0.50", "0.70", "0.30", "0.50", "0.10"],
        "paper_star": ["1", "1", "", "", ""],
        "provenance": ["computed", "shipped", "", "computed", ""],
        "reason": ["", "", "no_encoder", "", "quoted"],
    }
)
TWO = ONE.assign(mse=0.1, paper_mse="0.1").iloc[:1]


@pytest.fixture
def cells() -> pd.DataFrame:
    one = published_cells(ONE, ["model", "dataset"]).assign(paper="Paper", table="one")
    two = published_cells(TWO, [], ["mse"]).assign(paper="Paper", table="two")
    return pd.concat([one, two])


def test_each_published_value_of_a_row_counts_once(cells):
    """Also where two rows have equal values; what is quoted, or another table's, does not."""
    assert cells["table"].tolist() == ["one"] * 6 + ["two"] * 2
    assert cells["item"].tolist() == ["a, x", "a, y", "b, x", "b, y", "a, x", "a, y", "a", "a"]
    assert cells["measure"].tolist() == ["rho"] * 4 + ["star"] * 2 + ["rho", "star"]
    assert cells["agreement"].tolist()[:4] == ["equal", "outside", "absent", "equal"]
    assert cells["reason"].tolist()[2] == "no_encoder"


def test_what_is_measured_is_counted_apart(cells):
    """Correlations have distances in one unit; of all measures together there is none. A network is
    known by its schedule, whatever its row is called."""
    cells = cells.assign(measure=cells["measure"].replace({"rho": "spearman", "star": "p_star"}))
    network = cells["item"] == "a, x"
    cells = cells.assign(schedule=np.where(network, "short", ""))
    table = by_measure(cells).set_index(["table", "measure"])
    verdicts = ["equal", "inside", "outside", "absent"]
    assert table.loc[("one", "spearman"), verdicts].tolist() == [2, 0, 1, 1]
    assert (table[verdicts].sum(axis=1) == table["cells"]).all()
    number = table["cells"]["all"]
    assert number[["measured", "correlations", "stars"]].tolist() == [5, 5, 3]
    assert number[["measured_networks", "correlations_others"]].tolist() == [1, 4]
    assert table["below_0.05"]["all", "correlations_networks"] == 1
    for name in ("median_difference", "pearson"):
        assert np.isnan(table[name]["all", "measured"])
    assert table["median_difference"]["one", "spearman"] == pytest.approx(0.001)
    near = ["below_0.01", "below_0.05", "compared"]
    assert table.loc[("one", "spearman"), near].tolist() == [2, 2, 3]
    pairs = np.array([[0.501, 0.5], [0.4, 0.7], [0.501, 0.5]])
    expected = np.corrcoef(pairs.T)[0, 1]
    assert table["pearson"]["one", "spearman"] == pytest.approx(expected)


def test_a_value_that_stands_in_two_tables_counts_once():
    """The diagonal of BLEU Neighbors' table 2 is its table 1."""
    tasks = {"source_dataset": ["x", "x"], "target_dataset": ["x", "y"]}
    table = pd.DataFrame({**tasks, "rho": 0.5, "paper_rho": "0.5"})
    assert published_cells(table, list(tasks))["item"].tolist() == ["x, y"]


def test_a_table_without_numbers_of_ours_is_not_computed(cells):
    absent = cells[cells["agreement"] == "absent"].assign(table="absent")
    found = by_measure(pd.concat([cells, absent])).drop_duplicates("table").set_index("table")
    assert found.loc["absent", ["provenance", "reason"]].tolist() == ["", "no_encoder"]
    assert found.loc["one", ["provenance", "reason"]].tolist() == ["shipped", ""]


def test_a_label_has_no_word_for_what_a_row_lacks():
    cells = published_cells(TWO.assign(dataset=np.nan), ["model", "dataset"], ["mse"])
    assert cells["item"].iloc[0] == "a"


DRAWS = np.random.default_rng(1).normal(0, 1, 400)
# the same draws, moved: far apart beside each other, alike one by one
ROWS = {"low": DRAWS, "high": 0.5 + DRAWS, "other": 0.5 - DRAWS[:200]}


@pytest.fixture
def table() -> pd.DataFrame:
    estimates = {name: IntervalEstimate.of(own[0] - DRAWS[0], own) for name, own in ROWS.items()}
    rows = [{"model": name, **Measure("rho").cells(one)} for name, one in estimates.items()]
    table = pd.DataFrame(rows).assign(
        dataset="ours", provenance=["computed", "shipped", "computed"], reason=""
    )
    lost = {"dataset": "ours", "model": "lost", "provenance": "", "reason": "no_encoder"}
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
def test_the_interval_decides(low, high, side, bound, holds):
    assert claim_holds(IntervalEstimate(0.15, low, high), side, bound) == holds


def test_two_rows_are_compared_on_the_draws_that_both_have(table):
    row = {"dataset": "theirs", "model": "high"}
    found = decided(table, row=row, less={"model": "low"})
    assert found["ours"] == pytest.approx(0.5)
    assert (found["holds"], found["provenance"]) == ("yes", "shipped")
    assert found["ours_high"] - found["ours_low"] < 1e-6
    assert decided(table, row=row, less={"model": "other"})["holds"] == "undecided"
    # one row alone has the interval of the table
    assert decided(table, row=row, bound=-5)["holds"] == "yes"
    # another difference is taken off
    than = {"model": "other"}
    found = decided(table, row=row, less={"model": "low"}, than=than)
    assert found["ours"] == pytest.approx(2 * DRAWS[0])


def test_the_spread_of_a_difference_belongs_to_the_difference():
    """A look-up that was spread by 1.5 beside a network that was not: as it is trained, their
    difference is that of what both draw; for training anew, half as wide again."""
    generator = np.random.default_rng(3)
    shared, own = generator.normal(0, 0.05, (2, 2000))
    network, lookup = 0.5 + shared, np.tanh(np.arctanh(0.3) + shared + own)
    spread = IntervalEstimate.of(0.3, lookup).with_spread(1.5, -1, 1)
    cells = {"network": IntervalEstimate.of(0.5, network), "lookup": spread}
    rows = [{"model": name, **Measure("pearson").cells(one)} for name, one in cells.items()]
    table = pd.DataFrame(rows).assign(dataset="ours", provenance="computed", reason="")
    table[TRAINING_FACTOR] = [1.0, 1.5]
    claim = {"row": {"model": "network"}, "less": {"model": "lookup"}, "column": "pearson"}
    trained, anew = decided(table, **claim, training=1), decided(table, **claim)
    low, high = np.quantile(network - lookup, [0.025, 0.975])
    assert (trained["ours_low"], trained["ours_high"]) == pytest.approx((low, high), abs=2e-3)
    width = anew["ours_high"] - anew["ours_low"]
    assert width == pytest.approx(1.5 * (high - low), rel=0.01)
    of_best = {**claim, "less": {"model": ["lookup"], "of": "best"}}
    assert decided(table, **of_best)["ours_low"] == pytest.approx(anew["ours_low"], abs=1e-6)


def test_of_several_rivals_the_nearest_or_the_best_of_each_draw_decides(table):
    """The nearest is not always the one with the greatest value: a wide interval is near, too."""
    wide = 0.9 * DRAWS + np.random.default_rng(2).normal(0, 1, 400)
    cells = Measure("rho").cells(IntervalEstimate.of(-0.1, wide - 0.1))
    rival = {"dataset": "ours", "model": "wide", "provenance": "computed", "reason": "", **cells}
    table = pd.concat([table, pd.DataFrame([rival])], ignore_index=True).assign(coverage=1.0)
    row, several = {"dataset": "ours", "model": "high"}, ["low", "wide", "lost"]
    every = decided(table, row=row, less={"model": several, "of": "every"})
    assert every["where"].endswith("less wide")
    assert (every["ours"], every["holds"]) == (pytest.approx(0.6), "undecided")
    best = decided(table, row=row, less={"model": several, "of": "best"})
    rivals = np.maximum(np.maximum(DRAWS, wide - 0.1), 0)
    low = np.quantile(0.5 + DRAWS - rivals, 0.025)
    assert best["ours_low"] == pytest.approx(low, abs=1e-6)
    # who covers few texts is no rival
    table.loc[table["model"] == "wide", "coverage"] = 0.49
    assert decided(table, row=row, less={"model": several, "of": "every"})["holds"] == "yes"


def test_the_best_of_several_rows_has_a_wider_interval(table):
    alone = decided(table, row={"dataset": "ours", "model": "high"})
    best = decided(table, row={"dataset": "ours", "model": ["low", "high"]})
    assert best["ours"] == alone["ours"]
    assert best["ours_low"] < alone["ours_low"]
    assert best["ours_high"] > alone["ours_high"]
    # also where another difference is taken off
    more = {"less": {"model": "low"}, "than": {"model": "other"}}
    alone, best = (
        decided(table, row={"dataset": "ours", "model": model}, **more)
        for model in ("high", ["low", "high"])
    )
    assert best["ours_low"] < alone["ours_low"]


def test_without_numbers_there_is_a_reason(table):
    row = {"dataset": "theirs", "model": "high"}
    for model, reason in (("lost", "no_encoder"), ("nobody", "not_configured")):
        found = decided(table, row=row, less={"model": model})
        assert (found["holds"], found["provenance"], found["reason"]) == ("", "", reason)
    found = decided(table.assign(rho_draws=""), row=row, less={"model": "low"})
    assert found["reason"] == "no_draws"


def test_every_claim_is_complete_and_about_a_table_of_the_catalogue():
    claims = read_claims()
    needed = {"paper", "claim", "table", "row", "column", "side"}
    assert all(
        needed <= set(claim) <= needed | {"less", "bound", "than", "training"} for claim in claims
    )
    less = [claim["less"] for claim in claims if "less" in claim]
    several = [values for values in less if any(isinstance(v, list) for v in values.values())]
    assert {values.get("of") for values in several} == {"every", "best"}
    rivals = [set(values["method"]) for values in several if values["of"] == "best"]
    blind = {name for name in METHODS if is_text_blind(name)} - {"constant", "middle"}
    assert all(methods == blind for methods in rivals)
    assert {claim["side"] for claim in claims} <= {"above", "below"}
    assert {claim["table"] for claim in claims} <= set(catalogue())
    assert len({(claim["paper"], claim["claim"]) for claim in claims}) == len(claims)
