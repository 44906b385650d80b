"""Published cells beside ours: which count, how they agree, how far they vary."""

import numpy as np
import pandas as pd
import pytest

from refless.experiments.reproducibility.cells import by_table, published_cells, variation

ONE = pd.DataFrame(
    {
        "model": ["a", "a", "b", "b", "quoted"],
        "task": ["x", "y", "x", "y", "x"],
        "rho": [0.501, 0.4, np.nan, 0.501, np.nan],
        "rho_low": [0.4, 0.3, np.nan, 0.4, np.nan],
        "rho_high": [0.6, 0.5, np.nan, 0.6, np.nan],
        "star": [1, 0, np.nan, 0, np.nan],
        "paper_rho": ["0.50", "0.70", "0.30", "0.50", "0.10"],
        "paper_star": ["1", "1", "", "", ""],
        "source": ["computed", "shipped", "", "computed", ""],
        "reason": ["", "", "no_encoder", "", "quoted"],
    }
)
TWO = ONE.assign(mse=0.1, paper_mse="0.1").iloc[:1]


@pytest.fixture
def cells() -> pd.DataFrame:
    one = published_cells(ONE, ["model", "task"]).assign(paper="Paper", table="one")
    two = published_cells(TWO, [], ["mse"]).assign(paper="Paper", table="two")
    return pd.concat([one, two])


def test_each_published_value_of_a_row_counts_once(cells: pd.DataFrame) -> None:
    """Also where two rows have equal values; what is quoted from others, or another table's, does
    not."""
    assert list(zip(cells["table"], cells["item"], cells["measure"], strict=True)) == [
        *(("one", f"{model}, {task}", "rho") for model in "ab" for task in "xy"),
        *(("one", f"a, {task}", "star") for task in "xy"),
        ("two", "a", "rho"),
        ("two", "a", "star"),
    ]
    assert cells["agreement"].tolist()[:4] == ["equal", "outside", "absent", "equal"]
    assert cells["reason"].tolist()[2] == "no_encoder"
    assert cells["published"].tolist()[0] == "0.50"


def test_counts_add_up_by_table(cells: pd.DataFrame) -> None:
    found = by_table(cells).set_index("table")
    verdicts = ["equal", "inside", "outside", "absent"]
    assert found.loc["one", verdicts].tolist() == [3, 0, 2, 1]
    assert (found[verdicts].sum(axis=1) == found["cells"]).all()
    assert found.loc["all", "cells"] == found["cells"].drop("all").sum()
    pairs = np.array([[0.501, 0.5], [0.4, 0.7], [0.501, 0.5], [1, 1], [0, 1]])
    assert found.loc["one", "pearson"] == pytest.approx(np.corrcoef(pairs.T)[0, 1])


def test_variation_is_that_of_belz() -> None:
    """Two numbers, 1 and 2: s = 1 / sqrt 2, over c4 = sqrt(2 / pi); (1 + 1/8) 100 s* / 1.5."""
    expected = 1.125 * 100 * (1 / np.sqrt(2)) / np.sqrt(2 / np.pi) / 1.5
    assert variation(1, 2) == pytest.approx(expected)
    assert variation(0, 1, 1) == pytest.approx(expected)
    assert variation(2, 2) == 0
    assert np.isnan(variation(float("nan"), 1))
