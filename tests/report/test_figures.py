"""Figures: what is drawn, and the same bytes for the same numbers."""

import json
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from unittest import mock

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from refless.experiments.reproducibility.cells import CELLS
from refless.report import figures, figures_bleu_neighbors
from refless.report.figures_bleu_neighbors import figure_over_sizes, figure_over_thresholds
from refless.report.figures_comparison import correlations_of_methods
from refless.report.figures_delta_bleu import reference_regimes
from refless.report.figures_reproducibility import differences
from refless.report.figures_rnn_qe import correlations_of_setups, correlations_over_size
from refless.report.names import words
from refless.store.files import file_sum

TASKS = ["huse_dialogue", "huse_generation", "huse_summarization", "dstc7"]
STYLES = {
    TASKS[0]: {"name": "dialogue", "colour": "#0072b2", "marker": "o"},
    TASKS[1]: {"name": "generation", "colour": "#d55e00", "marker": "D"},
    TASKS[2]: {"name": "summarization", "colour": "#009e73", "marker": "s"},
    TASKS[3]: {"name": "dstc7", "colour": "#cc79a7", "marker": "X"},
}
NAMES = {dataset: style["name"] for dataset, style in STYLES.items()}
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
    table = table.assign(spearman=np.where(chance < undefined, np.nan, values), coverage=1.0)
    for measure in ("spearman", "coverage"):
        table[f"{measure}_low"], table[f"{measure}_high"] = table[measure] - 0.1, table[measure]
    return table


def sizes(tasks: list[str]) -> pd.DataFrame:
    """Of each data set, four subsets of three sizes."""
    table = pd.DataFrame({"size": np.repeat([10, 50, 100], 4), "subset": np.tile(range(4), 3)})
    table = pd.concat([table.assign(dataset=dataset) for dataset in tasks], ignore_index=True)
    table["spearman"], table["coverage"] = np.random.default_rng(2).random((2, len(table)))
    return table


def compared() -> dict[str, pd.DataFrame]:
    rows = [
        (dataset, split, method, "bleu.char" if method == "neighbors" else "", 0.1 * k)
        for dataset in TASKS[2:]
        for split in ("texts", "systems", "texts_machine")
        for k, method in enumerate(["length", "neighbors", "ridge"])
    ]
    table = pd.DataFrame(rows, columns=["dataset", "split", "method", "kernel", "pearson"])
    for end in ("", "_low", "_high"):
        table[f"pearson{end}"] = table["pearson"]
        table[f"pearson_by_system{end}"] = table["pearson"] + 0.5
    leads = {"length": (np.nan, np.nan), "neighbors": (-0.1, 0.3), "ridge": (0.1, 0.3)}
    table[["difference_low", "difference_high"]] = [leads[method] for method in table["method"]]
    return {"comparison": table}


SETTINGS = {"a": 5.0, "b": 0.66, "draws": 16, "seed": 0}


def figure_of_curve(
    draw: Callable[..., tuple[Figure, pd.DataFrame]], curve: pd.DataFrame
) -> Figure:
    """A figure of BLEU Neighbors with these numbers in place of those of files."""
    values = {"average_annotators": HUMAN, "threshold_curves": curve}
    values["published_points"] = {"spearman": POINTS, "coverage": {}}
    functions = {name: mock.Mock(return_value=value) for name, value in values.items()}
    rows = mock.patch.object(figures_bleu_neighbors, "read_rows", return_value=curve)
    with rows, mock.patch.multiple(figures_bleu_neighbors.curves, **functions):
        return draw([], [], pd.DataFrame(), STYLES, settings=SETTINGS)[0]


over_thresholds = partial(figure_over_thresholds, kernel="bleu.char", column="spearman")
over_sizes = partial(figure_over_sizes, kernel="bleu.char")
threshold_figure = partial(figure_of_curve, over_thresholds)
data_size_figure = partial(figure_of_curve, over_sizes)


def named(ax: Axes) -> dict[str, Line2D]:
    lines = {str(line.get_label()): line for line in ax.get_lines()}
    names = (style["name"] for style in STYLES.values())
    return {name: lines[name] for name in names if name in lines}


def levels(ax: Axes, colour: str) -> list[float]:
    """Heights of an axes' horizontal lines of a colour."""
    lines = [line for line in ax.get_lines() if to_hex(line.get_color()) == colour]
    flat = [np.asarray(line.get_ydata(), float) for line in lines if len(line.get_xdata()) == 2]
    return sorted(float(y[0]) for y in flat if y[0] == y[1])


def dots(ax: Axes) -> list[tuple[float, float]]:
    """Where a forest has its dots, from the left."""
    (points,) = [one for one in ax.collections if isinstance(one, PathCollection)]
    return sorted((float(x), float(y)) for x, y in points.get_offsets())


def hollow(ax: Axes) -> list[tuple[float, float]]:
    lines = [line for line in ax.get_lines() if line.get_marker() == "*"]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in lines]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: threshold_figure(curves(TASKS[2:])),
        lambda: data_size_figure(sizes(TASKS[2:])),
        lambda: correlations_of_methods(compared(), NAMES)[0],
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
        # also without colour; a broken line is of people
        assert len({line.get_marker() for line in lines.values()}) == len(tasks)
        assert {line.get_linestyle() for line in lines.values()} == {"-"}


def test_annotators_and_published_values_are_in_their_place():
    """Also where every annotator lies far above the curves."""
    first = threshold_figure(curves(TASKS[:3]).assign(spearman=0.1))
    second = data_size_figure(sizes(TASKS[:3]))
    for figure, axes in ((first, first.axes), (second, second.axes[:1])):
        for ax in axes:
            for dataset in TASKS[:3]:
                assert levels(ax, STYLES[dataset]["colour"]) == sorted(HUMAN.get(dataset, ()))
            assert ax.get_ylim()[1] > 0.9
        assert len(figure.legends[0].get_texts()) == 3 + 1 + 2 + 1
    assert [hollow(ax) for ax in first.axes] == [[(5, 0.325)], [(0.66, 0.325)]]
    assert [hollow(ax) for ax in second.axes] == [[(100, 0.325)], []]


def test_a_band_is_the_interval_and_a_rho_of_few_texts_is_not_drawn():
    table = curves(TASKS[2:3], undefined=0)
    table.loc[table["value"] >= 10, "coverage"] = 0.05
    left = threshold_figure(table).axes[0]
    (line,) = named(left).values()
    assert np.isfinite(line.get_ydata()).sum() == 9
    (band,) = left.collections
    (path,) = band.get_paths()
    part = table[(table["threshold"] == "a") & (table["value"] < 10)]
    ends = set(zip(path.vertices[:, 0], path.vertices[:, 1].round(9), strict=True))
    for measure in ("spearman_low", "spearman_high"):
        assert set(zip(part["value"], part[measure].round(9), strict=True)) <= ends
    assert path.vertices[:, 0].max() == 9


def test_mean_and_middle_of_subsets_over_the_data_size():
    table = sizes(TASKS)
    for ax, column in zip(data_size_figure(table).axes, ("spearman", "coverage"), strict=True):
        bands = [one for one in ax.collections if isinstance(one, FillBetweenPolyCollection)]
        assert len(bands) == len(TASKS)
        for dataset, band in zip(TASKS, bands, strict=True):
            colour = STYLES[dataset]["colour"]
            assert to_hex(band.get_facecolor()[0]) == colour
            line = next(one for one in ax.lines if to_hex(one.get_color()) == colour)
            of_size = table[table["dataset"] == dataset].groupby("size")[column]
            np.testing.assert_allclose(np.asarray(line.get_ydata(), float), of_size.mean())
            middle = of_size.quantile([0.1, 0.9])
            vertices = band.get_paths()[0].vertices
            for (size, _), end in middle.items():
                assert np.isclose(vertices, [size, end]).all(axis=1).any()


def test_a_forest_is_sorted_and_has_the_method_that_has_to_be_passed():
    figure, drawn = correlations_of_methods(compared(), NAMES)
    assert set(drawn["split"]) == {"texts", "systems"}  # without those of machines alone
    assert [ax.get_title() for ax in figure.axes] == ["new texts", "new systems", "", ""]
    assert [ax.get_ylabel() for ax in figure.axes[::2]] == [NAMES[task] for task in TASKS[2:]]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    neighbors = "BLEU Neighbors, BLEU of characters (BLEU*)"
    assert labels == ["ridge regression", neighbors, "text-blind methods"]
    for ax, more in zip(figure.axes, (0, 0.5, 0, 0.5), strict=True):
        expected = [(more, 2), (more + 0.1, 1), (more + 0.2, 0)]
        np.testing.assert_allclose(dots(ax), expected, atol=1e-9)
        (line,) = [one for one in ax.lines if one.get_linestyle() == "--"]
        assert line.get_xdata()[0] == pytest.approx(more)
    # two data sets, two splits: one lead of each is above 0, and one may be
    leads, above, _, below, both, _ = re.findall(r"\d+", figure.get_suptitle())
    assert (leads, above, below, both) == ("8", "4", "0", "4")


def test_a_lead_is_judged_by_its_interval():
    rows = pd.DataFrame({"value": [0.3, 0.2, 0.1, 0.4, 0.5], "split": "texts"})
    rows["difference_low"] = [0.1, -0.1, -0.3, np.nan, np.nan]
    rows["difference_high"] = [0.2, 0.1, -0.2, np.nan, np.nan]
    text_blind = pd.Series([False, False, False, True, False])
    judged = figures.judged(rows, text_blind, ["split"])
    assert judged["style"].tolist() == ["above", "both", "below", figures.BLIND, "none"]
    assert judged["to_pass"].tolist() == [0.4] * 5


def test_text_blind_methods_share_a_line_and_the_best_has_its_interval():
    tables = compared()
    more = tables["comparison"].query("method == 'length'").assign(method="words", pearson=-0.1)
    tables["comparison"] = pd.concat([tables["comparison"], more])
    ax = correlations_of_methods(tables, NAMES)[0].axes[0]
    assert [height for value, height in dots(ax) if value <= 1e-9] == [2, 2]
    intervals = next(one for one in ax.collections if not isinstance(one, PathCollection))
    drawn = [segment[0][1] for segment in intervals.get_segments() if len(segment)]
    assert drawn.count(2) == 1


def test_schedules_of_a_setup_are_beside_each_other_and_the_paper_is_hollow():
    rows = [("1", "paper", 0.3, "0.273"), ("1", "short", 0.28, ""), ("lookup", "", 0.31, "")]
    table = pd.DataFrame(rows, columns=["setup", "schedule", "pearson", "paper_pearson"])
    table[["pearson_low", "pearson_high"]] = 0.2, 0.4
    crossed = pd.concat([table.assign(configuration=k) for k in (1, 2)])
    tables = {"rnn_qe_table3": table, "rnn_qe_table4": crossed}
    figure, drawn = correlations_of_setups(tables)
    assert len(drawn) == 9
    titles = [ax.get_title() for ax in figure.axes if ax.axison]
    meanings = words()["configuration_means"]
    assert titles[0] == "all outputs"
    for title, number in zip(titles[1:], "12", strict=True):
        assert " ".join(title.split()) == f"configuration {number}: {meanings[number]}"
    heights = dict(dots(figure.axes[0]))
    assert heights[0.28] > heights[0.3]
    assert np.mean([heights[0.28], heights[0.3]]) == pytest.approx(0)
    assert heights[0.31] == 1
    (x, _), *others = [one for one in hollow(figure.axes[0]) if np.isfinite(one[0])]
    assert (x, others) == (0.273, [])


def test_intervals_are_in_the_order_of_the_best_and_names_are_no_formulas():
    rows = [("a", "ridge", 0.1), ("b", "ridge", 0.2), ("b", r"$\no$", 0.3), ("a", "length", 0.15)]
    table = pd.DataFrame(rows, columns=["split", "method", "pearson"])
    table[["pearson_low", "pearson_high"]] = 0.0, 0.4
    table[["difference_low", "difference_high"]] = -0.1, 0.1
    figure = figures.intervals_figure(table, ["a", "b"], ["length"])
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == [r"\$\no\$", "ridge", "length"]
    assert figures.as_address(figure).startswith("data:image/svg")


def test_cells_are_differences_and_errors_are_in_percent():
    cells = pd.DataFrame({"measure": ["spearman", "mse", "n"], "published": ["0.3", "0.02", "5"]})
    cells = cells.assign(ours=[0.33, 0.021, 5], ours_low=[0.2, 0.01, 5], ours_high=[0.4, np.nan, 5])
    cells["agreement"] = ["inside", "outside", "equal"]
    cells = cells.assign(table="bleu_neighbors_table1", explanation="")
    absent = {"measure": "spearman", "published": "0.1", "agreement": "absent"}
    absent |= {"table": "bleu_neighbors_table2", "explanation": "not_public"}
    cells = pd.concat([cells, pd.DataFrame([absent])], ignore_index=True)
    figure, _ = differences({"reproducibility_cells": cells})
    points = [
        one for ax in figure.axes for one in ax.collections if isinstance(one, PathCollection)
    ]
    values = [value for part in points for value in part.get_offsets()[:, 0].tolist()]
    assert values == pytest.approx([0.03, 5])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["equal: 0", "inside: 1", "outside: 1", "absent: 1 (not drawn)"]
    # a table without any of ours has a band, which says why
    bands = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert ["1 inside, 1 outside" in bands[0], "1 absent" in bands[1]] == [True, True]
    (why,) = figure.axes[0].texts
    assert " ".join(why.get_text().split()) == words()["reason"]["not_public"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: over_thresholds([], [], pd.DataFrame(), {}, settings=SETTINGS)[0],
        lambda: over_sizes([], [], pd.DataFrame(), {}, settings=SETTINGS)[0],
        lambda: correlations_of_methods({"comparison": compared()["comparison"].iloc[:0]}, {})[0],
        lambda: reference_regimes([], pd.DataFrame(), {})[0],
        lambda: differences({"reproducibility_cells": pd.DataFrame(columns=CELLS)})[0],
        lambda: correlations_over_size([], [], pd.DataFrame(), {})[0],
    ],
)
def test_without_numbers_a_figure_says_so(draw):
    assert draw().axes[0].texts
