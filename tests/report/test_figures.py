"""Figures: what is drawn, and the same bytes for the same numbers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from refless.errors import OutputError
from refless.report import figures
from refless.store.files import file_sum

TASKS = ["huse_dialogue", "huse_generation", "huse_summarization", "dstc7"]
DEFAULTS = {"a": 5.0, "b": 0.66}
DRAWN = pd.DataFrame({"value": [0.5]})
LOOKS = {
    task: {"name": task.removeprefix("huse_"), "colour": colour, "line": line}
    for task, colour, line in zip(
        [*TASKS, "a_new_task"],
        ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"],
        ["-.", "--", "-", ":", "-"],
        strict=True,
    )
}


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    with plt.rc_context():
        yield
    plt.close("all")


def curve(seed: int, undefined: float = 0.0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    a, b = np.arange(1, 21), np.linspace(0, 1, 11)
    table = pd.DataFrame(
        {
            "threshold": ["a"] * len(a) + ["b"] * len(b),
            "value": np.concatenate([a, b]),
            "spearman": generator.uniform(-0.2, 0.6, len(a) + len(b)),
            "coverage": generator.random(len(a) + len(b)),
        }
    )
    table.loc[generator.random(len(table)) < undefined, "spearman"] = np.nan
    return table


def sizes(seed: int, undefined: bool = False) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    table = pd.DataFrame(
        [(size, subset) for size in (10, 50, 100) for subset in range(4)],
        columns=["size", "subset"],
    )
    table["spearman"] = generator.random(len(table))
    table["coverage"] = generator.random(len(table))
    if undefined:
        table.loc[table["size"] == 10, "spearman"] = np.nan
    return table


def named(ax: Axes) -> dict[str, Line2D]:
    """The lines of an axes that stand in the legend."""
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    assert len({line.get_label() for line in lines}) == len(lines)
    return {str(line.get_label()): line for line in lines}


def legend(figure: Figure) -> list[str]:
    found = [ax.get_legend() for ax in figure.axes if ax.get_legend() is not None]
    found += figure.legends
    assert len(found) == 1
    return [text.get_text() for text in found[0].get_texts()]


# ---- saving -----------------------------------------------------------------------------------


def threshold_figure() -> Figure:
    human = {"huse_summarization": (0.3, 0.4)}
    curves = {"huse_summarization": curve(1), "dstc7": curve(2, 0.3)}
    return figures.threshold_figure(
        curves, LOOKS, "spearman", "Spearman's $\\rho$", DEFAULTS, human
    )


def data_size_figure() -> Figure:
    human = {"huse_summarization": (0.3, 0.4)}
    return figures.data_size_figure(
        {"huse_summarization": sizes(1), "dstc7": sizes(2, True)}, LOOKS, human
    )


def plain_figure() -> Figure:
    """A figure that never saw our style."""
    with plt.rc_context({"svg.hashsalt": None}):
        figure, ax = plt.subplots(figsize=(2, 1))
        ax.fill_between([0, 1, 2], [1, 3, 2], alpha=0.2)
        ax.set_title("$\\rho$")
    plt.rcParams["svg.hashsalt"] = None
    return figure


@pytest.mark.parametrize("draw", [threshold_figure, data_size_figure, plain_figure])
def test_the_same_numbers_give_the_same_bytes(tmp_path: Path, draw: object) -> None:
    first = figures.save(draw(), tmp_path / "one" / "figure2", DRAWN)  # type: ignore[operator]
    again = figures.save(draw(), tmp_path / "two" / "figure2", DRAWN)  # type: ignore[operator]
    assert [p.name for p in first] == ["figure2.pdf", "figure2.svg", "figure2.png"]
    for one, two in zip(first, again, strict=True):
        assert one.read_bytes() == two.read_bytes(), one.suffix
    # nor does the clock show, were it the same second
    assert b"CreationDate" not in first[0].read_bytes()
    assert b"dc:date" not in first[1].read_bytes()
    starts = [path.read_bytes()[:5] for path in first]
    assert starts == [b"%PDF-", b"<?xml", b"\x89PNG\r"]
    # nothing half-written, nothing else
    assert sorted(p.name for p in (tmp_path / "one").iterdir()) == sorted(
        [*(p.name for p in first), "figure2.json", "figure2.csv"]
    )
    assert (tmp_path / "one" / "figure2.csv").read_text() == "value\n0.5\n"
    sums = json.loads((tmp_path / "one" / "figure2.json").read_text())
    written = [*first, tmp_path / "one" / "figure2.csv"]
    assert sums["files"] == {path.name: file_sum(path) for path in written}
    assert (sums["inputs"], sums["told"]) == ({}, "")


def test_saving_closes_the_figure_even_if_it_fails(tmp_path: Path) -> None:
    before = plt.get_fignums()
    figures.save(plain_figure(), tmp_path / "a", DRAWN)
    assert plt.get_fignums() == before
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="cannot be written"):
        figures.save(plain_figure(), tmp_path / "file" / "a", DRAWN)
    assert plt.get_fignums() == before


def test_a_name_with_dots_keeps_them(tmp_path: Path) -> None:
    paths = figures.save(plain_figure(), tmp_path / "bleu.char", DRAWN)
    assert [p.name for p in paths] == ["bleu.char.pdf", "bleu.char.svg", "bleu.char.png"]


# ---- figures 2 and 3 --------------------------------------------------------------------------


@pytest.mark.parametrize("tasks", [TASKS[:1], TASKS[:3], ["a_new_task", *TASKS]], ids=len)
@pytest.mark.parametrize("column", ["spearman", "coverage"])
def test_one_line_a_task_and_panel(tasks: list[str], column: str) -> None:
    curves = {task: curve(seed) for seed, task in enumerate(tasks)}
    figure = figures.threshold_figure(curves, LOOKS, column, "y", DEFAULTS)
    assert len(figure.axes) == 2
    labels = [LOOKS[task]["name"] for task in tasks]
    for ax, threshold in zip(figure.axes, "ab", strict=True):
        lines = named(ax)
        assert list(lines) == labels
        for task, label in zip(tasks, labels, strict=True):
            wanted = curves[task][curves[task]["threshold"] == threshold]
            np.testing.assert_array_equal(lines[label].get_xdata(), wanted["value"])
            np.testing.assert_array_equal(lines[label].get_ydata(), wanted[column])
        # known tasks are told apart without colour
        styles = [lines[LOOKS[t]["name"]].get_linestyle() for t in tasks if t in TASKS]
        assert len(set(styles)) == len(styles)
        marks = [
            line.get_xdata()[0]  # type: ignore[index]
            for line in ax.get_lines()
            if str(line.get_label()).startswith("_")
        ]
        assert marks == [DEFAULTS[threshold]]
    assert figure.axes[0].get_ylabel() == "y"
    assert legend(figure) == labels


@pytest.mark.parametrize("undefined", [0.3, 1.0])
@pytest.mark.parametrize(
    "human",
    [None, {}, {TASKS[0]: (0.4, 0.5), TASKS[1]: (0.5, 0.6)}, {TASKS[0]: (np.nan, np.nan)}],
)
def test_undefined_points_leave_gaps_and_are_no_error(
    tmp_path: Path, undefined: float, human: dict[str, tuple[float, float]] | None
) -> None:
    curves = {task: curve(seed, undefined) for seed, task in enumerate(TASKS[:2])}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = figures.threshold_figure(curves, LOOKS, "spearman", "y", DEFAULTS, human)
        figure.savefig(tmp_path / "f.png", dpi=20)
    for ax, threshold in zip(figure.axes, "ab", strict=True):
        for table, line in zip(curves.values(), named(ax).values(), strict=True):
            wanted = table.loc[table["threshold"] == threshold, "spearman"]
            np.testing.assert_array_equal(line.get_ydata(), wanted)
        assert np.isfinite(ax.get_ylim()).all()


def levels(ax: Axes, colour: str) -> list[float]:
    """Heights of an axes' horizontal lines of a colour."""
    lines = [line for line in ax.get_lines() if to_hex(line.get_color()) == colour]
    flat = [np.asarray(line.get_ydata(), float) for line in lines if len(line.get_xdata()) == 2]
    return sorted(float(y[0]) for y in flat if y[0] == y[1])


def test_annotators_are_lines_in_their_tasks_colour_and_are_seen() -> None:
    """Also where every annotator lies far above the curves."""
    human = {TASKS[0]: (0.8, 0.9), TASKS[2]: (0.7, 0.85), "not drawn": (0.1, 0.2)}
    curves = {task: curve(seed).assign(spearman=0.1) for seed, task in enumerate(TASKS[:3])}
    over = figures.threshold_figure(curves, LOOKS, "spearman", "y", DEFAULTS, human)
    grown = {task: sizes(seed) for seed, task in enumerate(TASKS[:3])}
    for figure, axes in (
        (over, over.axes),
        *((f, f.axes[:1]) for f in [figures.data_size_figure(grown, LOOKS, human)]),
    ):
        for ax in axes:
            for task in TASKS[:3]:
                assert levels(ax, LOOKS[task]["colour"]) == sorted(human.get(task, ()))
            assert ax.get_ylim()[1] > 0.9
        assert len(legend(figure)) == 3 + 2 * 2
    assert levels(figures.data_size_figure(grown, LOOKS, human).axes[1], "#0072b2") == []


def test_bands_of_several_tasks_are_hatched_each_in_its_way() -> None:
    figure = figures.data_size_figure({task: sizes(i) for i, task in enumerate(TASKS)}, LOOKS)
    for ax in figure.axes:
        bands = ax.collections
        assert len({band.get_hatch() for band in bands}) == len(bands) == len(TASKS)
        assert all(band.get_facecolor().size == 0 for band in bands)


def test_what_is_drawn_is_one_table() -> None:
    found = figures.drawn({"one": sizes(1), "two": sizes(2)}, ["size", "coverage"])
    assert list(found) == ["task", "size", "coverage"]
    assert found["task"].tolist() == ["one"] * 12 + ["two"] * 12
    assert found["coverage"].tolist()[12:] == sizes(2)["coverage"].tolist()
    assert list(figures.drawn({}, ["size"])) == ["task", "size"]


# ---- figure 4 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("tasks", [TASKS[:1], TASKS], ids=len)
def test_means_and_spread_over_the_data_size(tasks: list[str]) -> None:
    curves = {task: sizes(seed) for seed, task in enumerate(tasks)}
    figure = figures.data_size_figure(curves, LOOKS)
    for ax, column in zip(figure.axes, ("spearman", "coverage"), strict=True):
        lines = named(ax)
        assert list(lines) == [LOOKS[task]["name"] for task in tasks]
        for task, line, band in zip(tasks, lines.values(), ax.collections, strict=True):
            drawn = [curves[task].query("size == @n")[column].to_numpy() for n in (10, 50, 100)]
            assert list(line.get_xdata()) == [10, 50, 100]
            np.testing.assert_allclose(line.get_ydata(), [part.mean() for part in drawn])
            corners = band.get_paths()[0].vertices
            for n, part in zip((10, 50, 100), drawn, strict=True):
                heights = corners[corners[:, 0] == n, 1]
                low, high = part.mean() - part.std(), part.mean() + part.std()
                if column == "coverage":  # a share cannot leave [0, 1]
                    low, high = max(low, 0), min(high, 1)
                assert heights.min() == pytest.approx(low)
                assert heights.max() == pytest.approx(high)
    assert legend(figure) == [LOOKS[task]["name"] for task in tasks]


def test_tasks_of_different_magnitude_share_a_logarithmic_axis() -> None:
    few, many = sizes(1), sizes(2)
    many["size"] *= 50
    for curves, scale in (({"dstc7": many}, "linear"), ({TASKS[0]: few, "dstc7": many}, "log")):
        figure = figures.data_size_figure(curves, LOOKS)
        figure.canvas.draw()
        for ax in figure.axes:
            assert ax.get_xscale() == scale
            low, high = ax.get_xlim()
            assert low < 10
            assert high > 5000
    assert "1,000" in [label.get_text() for label in figure.axes[0].get_xticklabels()]


def test_a_size_at_which_nothing_is_defined_is_a_gap() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = figures.data_size_figure({"dstc7": sizes(1, undefined=True)}, LOOKS)
        figure.canvas.draw()
    (line,) = named(figure.axes[0]).values()
    assert np.isnan(line.get_ydata()).tolist() == [True, False, False]  # type: ignore[arg-type]
