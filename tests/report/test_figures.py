"""Figures: what is drawn, and the same bytes for the same numbers."""

import json
import warnings
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from refless.report import figures
from refless.report.figures_comparison import comparison_figure
from refless.report.figures_delta_bleu import delta_bleu_figure
from refless.report.figures_reproducibility import cells_figure
from refless.store.files import file_sum

TASKS = ["huse_dialogue", "huse_generation", "huse_summarization", "dstc7"]
STYLES = {
    TASKS[0]: {"name": "dialogue", "colour": "#0072b2", "line": "-.", "marker": "o"},
    TASKS[1]: {"name": "generation", "colour": "#d55e00", "line": "--", "marker": "D"},
    TASKS[2]: {"name": "summarization", "colour": "#009e73", "line": "-", "marker": "s"},
    TASKS[3]: {"name": "dstc7", "colour": "#cc79a7", "line": ":", "marker": "X"},
}
HUMAN = {TASKS[0]: (0.8, 0.9), TASKS[2]: (0.7, 0.85), "not drawn": (0.1, 0.2)}
POINTS = {TASKS[2]: 0.325, "not drawn": 0.5}


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    with plt.rc_context():
        yield
    plt.close("all")


def curves(tasks: list[str], undefined: float = 0.3) -> pd.DataFrame:
    """Of each data set, 20 values of a and 11 of b."""
    table = pd.DataFrame({"threshold": ["a"] * 20 + ["b"] * 11})
    table["value"] = [*np.arange(1, 21), *np.linspace(0, 1, 11)]
    table = pd.concat([table.assign(dataset=dataset) for dataset in tasks], ignore_index=True)
    chance, values = np.random.default_rng(1).random((2, len(table)))
    return table.assign(spearman=np.where(chance < undefined, np.nan, values))


def sizes(tasks: list[str]) -> pd.DataFrame:
    """Of each data set, four subsets of three sizes."""
    table = pd.DataFrame({"size": np.repeat([10, 50, 100], 4), "subset": np.tile(range(4), 3)})
    table = pd.concat([table.assign(dataset=dataset) for dataset in tasks], ignore_index=True)
    table["spearman"], table["coverage"] = np.random.default_rng(2).random((2, len(table)))
    return table


def compared() -> pd.DataFrame:
    rows = [
        (dataset, split, method, "bleu.char" if method == "neighbors" else "", 0.1 * k)
        for dataset in TASKS[2:]
        for split in ("texts", "systems")
        for k, method in enumerate(["length", "neighbors", "ridge"])
    ]
    return pd.DataFrame(rows, columns=["dataset", "split", "method", "kernel", "pearson"])


def threshold_figure(table: pd.DataFrame) -> Figure:
    defaults = {"a": 5.0, "b": 0.66}
    return figures.threshold_figure(table, STYLES, "spearman", defaults, HUMAN, POINTS)


def data_size_figure(table: pd.DataFrame) -> Figure:
    return figures.data_size_figure(table, STYLES, HUMAN, {"spearman": POINTS, "coverage": {}})


def named(ax: Axes) -> dict[str, Line2D]:
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    found = {str(line.get_label()): line for line in lines}
    assert len(found) == len(lines)
    return {
        style["name"]: found[style["name"]] for style in STYLES.values() if style["name"] in found
    }


def levels(ax: Axes, colour: str) -> list[float]:
    """Heights of an axes' horizontal lines of a colour."""
    lines = [line for line in ax.get_lines() if to_hex(line.get_color()) == colour]
    flat = [np.asarray(line.get_ydata(), float) for line in lines if len(line.get_xdata()) == 2]
    return sorted(float(y[0]) for y in flat if y[0] == y[1])


def hollow(ax: Axes) -> list[tuple[float, float]]:
    lines = [line for line in ax.get_lines() if line.get_markerfacecolor() == "none"]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in lines]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: threshold_figure(curves(TASKS[2:])),
        lambda: data_size_figure(sizes(TASKS[2:])),
        lambda: comparison_figure(compared(), STYLES),
    ],
)
def test_the_same_numbers_give_the_same_bytes(tmp_path, draw):
    for folder in ("one", "two"):
        figures.save(draw(), tmp_path / folder / "figure2", pd.DataFrame({"value": [0.5]}))
    names = [f"figure2.{kind}" for kind in ("csv", "json", "pdf", "png", "svg")]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == names
    one, two = ([(tmp_path / k / name).read_bytes() for name in names] for k in ("one", "two"))
    assert one == two
    assert [content[:5] for content in one[2:]] == [b"%PDF-", b"\x89PNG\r", b"<?xml"]
    assert one[0] == b"value\n0.5\n"
    sums = json.loads(one[1])["files"]
    assert sums == {name: file_sum(tmp_path / "one" / name) for name in names if name != names[1]}


@pytest.mark.parametrize(("tasks", "undefined"), [(TASKS[:1], 1.0), (TASKS, 0.3)])
def test_one_line_a_task_and_panel(tasks, undefined):
    table = curves(tasks, undefined)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = threshold_figure(table)
        figure.canvas.draw()
    for ax, threshold in zip(figure.axes, "ab", strict=True):
        lines = named(ax)
        assert len(lines) == len(tasks)
        for dataset, line in zip(tasks, lines.values(), strict=True):
            wanted = table[(table["threshold"] == threshold) & (table["dataset"] == dataset)]
            np.testing.assert_array_equal(line.get_xydata(), wanted[["value", "spearman"]])
        # also without colour
        assert len({line.get_linestyle() for line in lines.values()}) == len(tasks)


def test_annotators_and_published_values_are_in_their_place():
    """Also where every annotator lies far above the curves."""
    first = threshold_figure(curves(TASKS[:3]).assign(spearman=0.1))
    second = data_size_figure(sizes(TASKS[:3]))
    for figure, axes in ((first, first.axes), (second, second.axes[:1])):
        for ax in axes:
            for dataset in TASKS[:3]:
                assert levels(ax, STYLES[dataset]["colour"]) == sorted(HUMAN.get(dataset, ()))
            assert ax.get_ylim()[1] > 0.9
        assert len(figure.legends[0].get_texts()) == 3 + 2 + 1
    assert [hollow(ax) for ax in first.axes] == [[(5, 0.325)], [(0.66, 0.325)]]
    assert [hollow(ax) for ax in second.axes] == [[(100, 0.325)], []]


def test_means_and_spread_over_the_data_size():
    table = sizes(TASKS)
    for ax, column in zip(data_size_figure(table).axes, ("spearman", "coverage"), strict=True):
        bands = ax.collections
        assert len({band.get_hatch() for band in bands}) == len(TASKS)
        for dataset, line, band in zip(TASKS, named(ax).values(), bands, strict=True):
            of_size = table[table["dataset"] == dataset].groupby("size")[column]
            mean, spread = of_size.mean(), of_size.std(ddof=0)
            np.testing.assert_allclose(line.get_xydata(), mean.reset_index())
            corners = band.get_paths()[0].vertices
            for n, middle in mean.items():
                heights = corners[corners[:, 0] == n, 1]
                low, high = middle - spread[n], middle + spread[n]
                if column == "coverage":  # a share cannot leave [0, 1]
                    low, high = max(low, 0), min(high, 1)
                assert (heights.min(), heights.max()) == pytest.approx((low, high))


def test_tasks_of_different_magnitude_share_a_logarithmic_axis():
    few, many = sizes(TASKS[:1]), sizes(TASKS[1:2])
    many["size"] *= 50
    many.loc[many["size"] == 500, "spearman"] = np.nan
    for table, scale in ((many, "linear"), (pd.concat([few, many]), "log")):
        for ax in data_size_figure(table).axes:
            assert ax.get_xscale() == scale
            assert ax.get_xlim()[0] < 10
            assert ax.get_xlim()[1] > 5000


def test_every_method_is_a_dot_in_the_panel_of_its_split():
    table = compared()
    figure = comparison_figure(table, STYLES)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["length", "neighbors bleu.char", "ridge"]
    for ax, split in zip(figure.axes, ("texts", "systems"), strict=True):
        dots = np.concatenate([one.get_offsets() for one in ax.collections])
        wanted = table[table["split"] == split]["pearson"]
        np.testing.assert_allclose(sorted(dots[:, 0]), sorted(wanted))


def test_intervals_are_in_the_order_of_the_best_and_names_are_no_formulas():
    rows = [("a", "ridge", 0.1), ("b", "ridge", 0.2), ("b", r"$\no$", 0.3), ("a", "length", 0.15)]
    table = pd.DataFrame(rows, columns=["split", "method", "pearson"])
    table[["pearson_low", "pearson_high"]] = 0.0, 0.4
    figure = figures.intervals_figure(table, ["a", "b"], ["length"])
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["length", "ridge", r"\$\no\$"]
    assert figures.as_address(figure).startswith("data:image/svg")


def test_published_cells_have_a_panel_a_kind_of_measure():
    cells = pd.DataFrame({"measure": ["spearman", "mse"], "published": ["0.325", "0.02"]})
    cells = cells.assign(ours=[0.33, 0.021], ours_low=[0.2, 0.01], ours_high=[0.4, np.nan])
    figure = cells_figure(cells.assign(table="bleu_neighbors_table1"))
    assert [ax.get_xscale() for ax in figure.axes] == ["linear", "log"]
    assert len(figure.legends[0].get_texts()) == 1


@pytest.mark.parametrize(
    "draw",
    [
        lambda: threshold_figure(pd.DataFrame()),
        lambda: data_size_figure(pd.DataFrame()),
        lambda: comparison_figure(compared().iloc[:0], STYLES),
        lambda: delta_bleu_figure(pd.DataFrame({"dataset": []}), STYLES),
        lambda: cells_figure(pd.DataFrame(columns=["measure", "published", "ours"])),
        lambda: figures.learning_curve_figure(pd.DataFrame(), pd.DataFrame()),
    ],
)
def test_without_numbers_a_figure_says_so(draw):
    assert draw().axes[0].texts
