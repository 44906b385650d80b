"""Figure 2 of ΔBLEU: what is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from refless.experiments.delta_bleu.dialogues import METRICS
from refless.report.figures_delta_bleu import METRIC_LOOKS, delta_bleu_figure

LOOKS = {"chat": {"name": "Some chat"}, "news": {"name": "News"}}
THRESHOLDS = (0.6, 0.0, -1.0)


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    with plt.rc_context():
        yield
    plt.close("all")


def numbers(seed: int) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for metric in METRICS:
        own = {"metric": metric, "order": 2, "unit": 10}
        for value in THRESHOLDS:
            rows.append({**own, "kind": "threshold", "references": f"w>={value:g}"})
        for references in ("w>=0.6", "all")[: 1 + (metric == "delta_bleu")]:
            given = {**own, "references": references}
            rows += [{**given, "kind": "unit", "unit": unit} for unit in (1, 10)]
            rows += [{**given, "kind": "order", "order": order} for order in (1, 2, 3)]
    table = pd.DataFrame(rows)
    table["spearman"] = np.random.default_rng(seed).random(len(table))
    return table.assign(spearman_low=table["spearman"] - 0.1, spearman_high=table["spearman"] + 0.1)


def test_a_row_a_data_set_and_a_line_a_metric() -> None:
    tables = {"chat": numbers(0), "news": numbers(1)}
    figure = delta_bleu_figure(tables, LOOKS)
    assert len(figure.axes) == 6
    for (task, table), axes in zip(tables.items(), np.reshape(figure.axes, (2, 3)), strict=True):
        assert axes[0].get_ylabel().startswith(LOOKS[task]["name"])
        lines = [[line for line in ax.lines if line.get_label()[0] != "_"] for ax in axes]
        assert [len(own) for own in lines] == [4, 5, 5]
        points = table[table["kind"] == "threshold"]
        for line, metric in zip(lines[0], METRICS, strict=True):
            # from the least weight up
            drawn = points.loc[points["metric"] == metric, "spearman"].tolist()[::-1]
            assert line.get_ydata().tolist() == drawn
        ends = axes[0].get_xlim()
        assert ends[0] > ends[1]
        assert [tick.get_text() for tick in axes[1].get_xticklabels()] == ["1", "10"]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [look[0] for look in METRIC_LOOKS.values()]


def test_intervals_stand_beside_each_other() -> None:
    figure = delta_bleu_figure({"chat": numbers(0)}, LOOKS)
    for ax in figure.axes:
        places = [line.get_xdata()[0] for line in ax.lines if line.get_label()[0] != "_"]
        assert len(set(places)) == len(places)


def test_without_data_sets_it_says_so() -> None:
    figure = delta_bleu_figure({}, LOOKS)
    assert [text.get_text() for text in figure.axes[0].texts] != []
