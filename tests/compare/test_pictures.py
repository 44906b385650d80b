"""The learning curve's picture, beside what needs no ratings."""

from __future__ import annotations

import pandas as pd

from refless.compare.curve import COLUMNS
from refless.report.figures_compare import LINES, curve_figure, drawing


def test_each_line_that_needs_no_ratings_is_drawn_in_a_way_of_its_own() -> None:
    rows = [("ridge", "", ratings, r, r - 0.1, r + 0.1) for ratings, r in ((50, 0.2), (100, 0.3))]
    lines = [(f"score {k}", k / 10, k / 10 - 0.05, k / 10 + 0.05) for k in range(LINES)]
    figure = curve_figure(pd.DataFrame(rows, columns=COLUMNS), lines, "texts")
    drawn = {line.get_label(): line for line in figure.axes[0].get_lines()}
    assert {name for name, *_ in lines} <= set(drawn)
    # matplotlib hides the dashes of its own
    ways = {str(drawn[name]._unscaled_dash_pattern) for name, *_ in lines}  # type: ignore[attr-defined]
    assert len(ways) == LINES
    assert drawing(figure).startswith("<?xml")
