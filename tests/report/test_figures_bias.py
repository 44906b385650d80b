"""Favour and errors as they are drawn."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from refless.evaluation.bias import BIAS_COLUMNS, SYSTEM
from refless.report.figures_bias import bias_figure
from refless.statistics.bootstrap import IntervalEstimate
from refless.statistics.measure import measure_cells


def row(method: str, group: str, favour: float) -> dict:
    cells = measure_cells(
        favour=IntervalEstimate(favour, favour - 1, favour + 1),
        error=IntervalEstimate(2 * favour),
        error_left_out=IntervalEstimate(3 * favour),
    )
    return {"method": method, "kind": SYSTEM, "group": group, "n": 9, **cells}


def test_systems_are_drawn_by_favour_in_a_row_of_panels_for_each_score() -> None:
    rows = [row("score_b", "ant", 0.1), row("score_b", "bee", 0.4), row("score_a", "ant", 0.0)]
    learned = {"method": "ridge", "kind": SYSTEM, "group": "ant", "n": 9, "error": 0.2}
    figure = bias_figure(pd.DataFrame([*rows, learned], columns=BIAS_COLUMNS))
    favour, error, last, _ = figure.axes
    labels = [label.get_text() for label in favour.get_yticklabels()]
    assert labels == ["bee", "ant"]
    assert favour.get_ylabel() == "score_b"
    assert last.get_ylabel() == "score_a"
    assert [ax.get_title() for ax in figure.axes] == ["favour", "error", "", ""]
    assert favour.collections[1].get_offsets()[:, 0].tolist() == [0.4, 0.1]
    drawn = sorted(error.collections[1].get_offsets()[:, 0])
    assert drawn == pytest.approx(sorted([0.8, 0.2, 3 * 0.4, 3 * 0.1]))
    plt.close(figure)


def test_a_table_without_favour_says_why_nothing_is_drawn() -> None:
    learned = {"method": "ridge", "kind": SYSTEM, "group": "ant", "n": 9, "error": 0.2}
    figure = bias_figure(pd.DataFrame([learned], columns=BIAS_COLUMNS))
    assert "favour" in figure.axes[0].texts[0].get_text()
    plt.close(figure)
