"""The figures beyond the paper: what is drawn, and that nothing is drawn where nothing is there."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from refless.report.figures_neighbors import CHANGES, change_figure, front_figure

LOOKS = {
    "first": {"name": "The first", "colour": "#0072B2", "line": "-", "marker": "o"},
    "second": {"name": "The second", "colour": "#D55E00", "line": "--", "marker": "s"},
}


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    with plt.rc_context():
        yield
    plt.close("all")


def changes() -> pd.DataFrame:
    rows = []
    for task in LOOKS:
        for number, variant in enumerate(("one", "two", "three", "none")):
            row: dict[str, object] = {"task": task, "variant": variant, "label": variant.title()}
            for column in CHANGES:
                row |= {column: number / 10, f"{column}_low": -0.1, f"{column}_high": 0.4}
            rows.append(row)
    table = pd.DataFrame(rows)
    table.loc[table["variant"] == "none", list(CHANGES)] = np.nan
    table.loc[0, ["spearman_change", "spearman_change_low", "spearman_change_high"]] = np.nan
    return table


def test_every_change_is_drawn_at_its_value() -> None:
    figure = change_figure(changes(), LOOKS)
    assert len(figure.axes) == 4
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        *("One", "Two", "Three")
    ]
    drawn = [c.lines[0].get_xdata().tolist() for c in figure.axes[0].containers]  # type: ignore[attr-defined]
    assert drawn == [[0.1, 0.2], [0.0, 0.1, 0.2]]


def test_without_numbers_it_says_so() -> None:
    table = changes().assign(coverage_change=np.nan)
    nothing = pd.DataFrame({"task": ["first"], "model": ["bleu"], "rule": [""], "n": [np.nan]})
    fronts = pd.DataFrame(columns=["task", "model"])
    for figure in (change_figure(table, LOOKS), front_figure(nothing, fronts, 0.1, LOOKS)):
        assert len(figure.axes[0].texts) == 1
        assert not figure.axes[0].lines


def test_a_front_promises_its_best_setting_with_at_least_that_coverage() -> None:
    key = {"task": "first", "model": "bleu", "n": 9, "spearman_low": 0.1, "spearman_high": 0.5}
    table = pd.DataFrame(
        [
            {**key, "rule": "default", "coverage": 0.9, "spearman": 0.2},
            {**key, "rule": "coverage >= 0.4", "coverage": 0.5, "spearman": 0.3},
        ]
    )
    fronts = pd.DataFrame(
        {"task": "first", "model": "bleu", "coverage": [0.9, 0.5], "spearman": [0.2, 0.4]}
    )
    ax = front_figure(table, fronts, 0.1, LOOKS).axes[0]
    step = next(line for line in ax.lines if len(np.atleast_1d(line.get_xdata())) == 3)
    assert step.get_drawstyle() == "steps-post"
    assert step.get_xdata().tolist() == [0.9, 0.5, 0.1]  # type: ignore[union-attr]
    assert step.get_ydata().tolist() == [0.2, 0.4, 0.4]  # type: ignore[union-attr]
    assert ax.get_title() == "The first"
