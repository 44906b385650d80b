"""The style of every figure, in one place, and the forest plot.

Stage: figure. In: tables. Out: matplotlib figures, saved as PDF, SVG and PNG whose bytes depend on
nothing but the numbers. Colour and marker say what a curve is of; a full line is a method, broken
lines are people; a hollow star is a published value.
"""

import logging
from base64 import b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from refless.store.records import Destination, inputs_of
from refless.store.sealed import write_sidecar
from refless.store.tables import table_text

# the log of a figure is not for every glyph of its fonts
logging.getLogger("fontTools").setLevel(logging.WARNING)

# Okabe-Ito: distinct for any colour vision; in grey, markers differ.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "0.55"
WIDTH = 7.0
"""Of all figures, in inches: a page's text."""
STYLE: dict[Any, Any] = {
    "font.size": 9.5,
    "axes.labelsize": 10,
    "axes.titlesize": 10,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 4,
    "errorbar.capsize": 2,
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 150,
}
AXES = {"spearman": "Spearman's $\\rho$", "pearson": "Pearson's $r$", "coverage": "coverage"}
UNDATED = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}
"""Endings of figures; no date and no random identifiers: the same numbers give the same bytes."""
PUBLISHED: dict[str, Any] = {"marker": "*", "ms": 10, "mfc": "none", "ls": "none", "zorder": 5}


FOREST = {"method": "label", "pearson": "value", "pearson_low": "low", "pearson_high": "high"}
METHODS = {
    "other": (PALETTE[0], "o", "methods that read the text"),
    "text-blind": (GREY, "s", "text-blind methods"),
}


def panels(rows: int, columns: int, height: float, **style: Any) -> tuple[Figure, Any]:
    """A figure so many inches high, in the style of all, and its panels (rows, columns)."""
    plt.rcdefaults()
    plt.rcParams.update(STYLE)
    style = {"figsize": (WIDTH, height), "squeeze": False, "layout": "constrained", **style}
    return plt.subplots(rows, columns, **style)


def save(figure: Figure, path: Destination, table: pd.DataFrame) -> None:
    """Write ``path`` with each of the endings pdf, svg and png, and the ``table`` that is drawn
    with csv; by their record, the report knows that they are the ones that were drawn."""
    stem, inputs = Path(path), inputs_of(path)
    contents = {stem.with_suffix(".csv"): table_text(table).encode()}
    try:
        # laid out and measured once, not once for each format
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        box = figure.get_tightbbox().padded(0.1)  # inches
        for ending in UNDATED:
            contents[stem.with_suffix(ending)] = _saved(figure, ending, bbox_inches=box)
        write_sidecar(contents, {}, inputs)
    finally:
        plt.close(figure)


def as_address(figure: Figure) -> str:
    """A drawing as the address of an SVG, for a page that is one file."""
    svg = _saved(figure, ".svg")
    plt.close(figure)
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"


def _saved(figure: Figure, ending: str, **options: Any) -> bytes:
    buffer = BytesIO()
    with plt.rc_context({"svg.hashsalt": "refless"}):
        figure.savefig(buffer, format=ending[1:], metadata=UNDATED[ending], **options)
    return buffer.getvalue()


def empty_figure(reason: str) -> Figure:
    """A figure that says why there is nothing to draw."""
    figure, axes = panels(1, 1, 1.2)
    axes[0, 0].set_axis_off()
    axes[0, 0].text(0.5, 0.5, f"nothing to draw: {reason}", ha="center", wrap=True)
    return figure


def forest_figure(rows: pd.DataFrame, styles: Mapping[str, tuple[str, str, str]]) -> Figure:
    """Values with their intervals, one below the other in the order of the rows.

    rows : columns down and across, the name of a row of panels and the title of a panel; label;
        style; value, low and high (NaN where there is no interval); and published, if there is any
    styles : by style, a colour, a marker, and what the legend says
    """
    parts = dict(iter(rows.reset_index(drop=True).groupby("down", sort=False)))
    orders = [part["label"].drop_duplicates().tolist()[::-1] for part in parts.values()]
    heights, most = [len(order) for order in orders], rows.groupby("down")["across"].nunique().max()
    height = 0.8 * len(parts) + 0.16 * sum(heights)
    figure, axes = panels(len(parts), most, height, sharex=True, height_ratios=heights)
    for line, (name, part), order in zip(axes, parts.items(), orders, strict=True):
        line[0].set_ylabel(name, fontweight="bold")
        titles = [*part["across"].unique(), *[None] * most][:most]
        for ax, title in zip(line, titles, strict=True):
            if title is None:
                ax.set_axis_off()
                continue
            _forest(ax, part[part["across"] == title], order, styles)
            ax.set_title(title)
            ax.tick_params(labelleft=ax is line[0], labelbottom=True, labelsize=8.5)
    for ax in axes[-1]:
        ax.set_xlabel(AXES["pearson"])
    handles = [
        Line2D([], [], color=colour, marker=marker, label=label)
        for style, (colour, marker, label) in styles.items()
        if (rows["style"] == style).any()
    ]
    if "published" in rows:
        handles.append(Line2D([], [], color="0.1", label="published", **PUBLISHED))
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def _forest(ax: Axes, rows: pd.DataFrame, order: Sequence[str], styles: Mapping[str, Any]) -> None:
    same = rows.groupby("label")["label"]
    above = (same.transform("size") - 1) / 2 - same.cumcount()  # of several of one label
    heights = rows["label"].map({label: k for k, label in enumerate(order)}) + 0.3 * above
    for style, part in rows.groupby("style", sort=False):
        colour, marker, _ = styles[str(style)]
        height = heights[part.index]
        ax.hlines(height, part["low"], part["high"], colour, lw=1.1)
        ax.plot(part["value"], height, marker, color=colour)
    if "published" in rows:
        ax.plot(rows["published"], heights, mec="0.1", **PUBLISHED | {"ms": 7})
    ax.axvline(0, color="0.7", lw=0.8, zorder=0)
    ax.set_yticks(range(len(order)), [label.replace("$", r"\$") for label in order])  # no formula
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.grid(axis="y", color="0.93", zorder=-1)


def sizes_figure(
    points: pd.DataFrame,
    styles: Mapping[str, tuple[str, str, str]],
    measures: Sequence[str],
    published: Mapping[str, Mapping[str, float]],
) -> tuple[Figure, Sequence[Axes]]:
    """Measures over the number of rated texts, a panel each; and its panels, for more.

    points : columns series, size, and each measure with its standard deviation (``_sd``)
    styles : by series, a colour, a marker, and what the legend says
    published : by measure and series, the paper's value at the last size
    """
    figure, (axes,) = panels(1, len(measures), 3.2)
    for ax, measure in zip(axes, measures, strict=True):
        for number, (series, part) in enumerate(points.groupby("series", sort=False)):
            colour, marker, label = styles[str(series)]
            x = part["size"] * 1.04**number  # beside each other, so that bars are told apart
            spread = part[f"{measure}_sd"]
            bars = ax.errorbar(x, part[measure], spread, color=colour, marker=marker, label=label)
            plt.setp(bars[2], linewidth=0.9)
            if (value := published.get(measure, {}).get(str(series))) is not None:
                ax.plot(part["size"].iloc[-1], value, mec=colour, **PUBLISHED)
        ax.set(xscale="log", ylabel=AXES[measure], xlabel="rated texts")
        ax.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
    return figure, axes


def intervals_figure(table: pd.DataFrame, splits: Sequence[str], grey: Sequence[str]) -> Figure:
    """Pearson's r of each method with its interval, a panel a split, the best at the top.

    table : columns method, split, pearson, pearson_low and pearson_high
    grey : methods that stand back
    """
    rows = table[table["split"].isin(splits)].dropna(subset="pearson")
    rows = rows.sort_values("pearson", kind="stable", ascending=False).rename(columns=FOREST)
    style = rows["label"].isin(grey).map({True: "text-blind", False: "other"})
    return forest_figure(rows.assign(down="", across="new " + rows["split"], style=style), METHODS)
