"""The style of every figure, in one place, the forest plot, and curves over the data size.

Stage: figure. In: tables. Out: matplotlib figures, saved as PDF, SVG and PNG whose bytes depend on
nothing but the numbers. Each has a title inside, so that a picture may travel without its caption.
Colour and marker say what a curve is of; a full line is a method, broken lines are people; a star
is a published value.
"""

import logging
from base64 import b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
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
PUBLISHED: dict[str, Any] = {"marker": "*", "ms": 9, "mfc": "white", "ls": "none", "zorder": 5}
BAND: dict[str, Any] = {"alpha": 0.18, "lw": 0}
"""How a band of uncertainty is filled."""
TO_PASS: dict[str, Any] = {"color": "0.2", "lw": 1.0, "ls": (0, (4, 2))}
"""A line that a method has to pass."""
TITLE: dict[str, Any] = {"x": 0.01, "ha": "left", "fontsize": 10.5, "fontweight": "bold"}
TITLE_WIDTH = 80
"""Letters of a title in a line."""
PANEL_WIDTH = 24
"""Letters of a panel's title in a line."""
SUBSETS = ("pi", 80)
"""What a band over random subsets holds: the middle 80% of them."""
BAND_OF_SUBSETS = "middle 80% of random subsets"

FOREST = {"method": "label", "pearson": "value", "pearson_low": "low", "pearson_high": "high"}
BLIND = "text-blind"
METHODS = {
    "above": (PALETTE[0], "o", "lead over it above 0 (95%, uncorrected)"),
    "both": ("0.1", "D", "lead may be 0"),
    "below": (PALETTE[1], "X", "lead below 0"),
    "none": (PALETTE[5], "^", "no interval of the lead"),
    BLIND: ("0.7", "s", "text-blind methods"),
}
"""By what the interval of the lead over the best text-blind method says, how a method is drawn."""


def panels(rows: int, columns: int, height: float, title: str, **style: Any) -> tuple[Figure, Any]:
    """A figure so many inches high, in the style of all, with a title, and its panels (rows,
    columns)."""
    plt.rcdefaults()
    plt.rcParams.update(STYLE)
    style = {"figsize": (WIDTH, height), "squeeze": False, "layout": "constrained", **style}
    figure, axes = plt.subplots(rows, columns, **style)
    figure.suptitle(_in_lines(title, TITLE_WIDTH), **TITLE)
    return figure, axes


def _in_lines(text: str, letters: int) -> str:
    """A title in lines of at most so many letters, and in those that it has."""
    return "\n".join(fill(line, letters, break_on_hyphens=False) for line in text.split("\n"))


def save(figure: Figure, path: Destination, table: pd.DataFrame) -> None:
    """Write ``path`` with each of the endings pdf, svg and png, and the ``table`` that is drawn
    with csv; by their record, the report knows that they are the ones that were drawn."""
    stem = Path(path)
    inputs = inputs_of(path)
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
    figure, axes = panels(1, 1, 1.2, "Nothing to draw")
    axes[0, 0].set_axis_off()
    axes[0, 0].text(0.5, 0.5, reason, ha="center", wrap=True)
    return figure


def forest_figure(
    rows: pd.DataFrame, styles: Mapping[str, tuple[str, str, str]], title: str, pitch: float = 0.17
) -> Figure:
    """Values with their intervals, one below the other in the order of the rows.

    rows : columns down and across, the name of a row of panels and the title of a panel; label;
        style; value, low and high (NaN where there is no interval); published, if there is any;
        and to_pass, if there is any, the value of its panel that a method has to pass
    styles : by style, a colour, a marker, and what the legend says
    title : of the whole figure
    pitch : inches from a line to the next
    """
    parts = dict(iter(rows.reset_index(drop=True).groupby("down", sort=False)))
    orders = [part["label"].drop_duplicates().tolist() for part in parts.values()]
    heights = [len(order) for order in orders]
    most = rows.groupby("down")["across"].nunique().max()
    height = 1.1 + 0.3 * len(parts) + pitch * sum(heights)
    figure, axes = panels(len(parts), most, height, title, sharex=True, height_ratios=heights)
    above: dict[int, str] = {}
    for line, (name, part), order in zip(axes, parts.items(), orders, strict=True):
        titles = part["across"].drop_duplicates().tolist()
        for k, ax in enumerate(line):
            if k >= len(titles):
                ax.set_axis_off()
                continue
            _forest(ax, part[part["across"] == titles[k]], order, styles)
            if above.get(k) != titles[k]:
                ax.set_title(_in_lines(titles[k], PANEL_WIDTH), fontsize=9)
            ax.tick_params(labelleft=k == 0, labelsize=8)
            above[k] = titles[k]
        line[0].set_ylabel(name, fontweight="bold")
    for ax in axes[-1]:
        ax.set_xlabel(AXES["pearson"])
    _forest_legend(figure, rows, styles)
    return figure


def _forest_legend(figure: Figure, rows: pd.DataFrame, styles: Mapping[str, Any]) -> None:
    handles = []
    if "to_pass" in rows:
        handles.append(Line2D([], [], label="best text-blind method", **TO_PASS))
    handles += [
        Line2D([], [], color=colour, marker=marker, label=label)
        for style, (colour, marker, label) in styles.items()
        if (rows["style"] == style).any()
    ]
    if "published" in rows:
        handles.append(Line2D([], [], mec="0.1", label="published", **PUBLISHED | {"ms": 7}))
    columns = 4 if len(handles) < 5 else 3
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)


def _forest(ax: Axes, rows: pd.DataFrame, order: Sequence[str], styles: Mapping[str, Any]) -> None:
    """One panel: of several rows of one label, the first is the highest."""
    same = rows.groupby("label")["label"]
    below = same.cumcount() - (same.transform("size") - 1) / 2
    below = below.mask(rows["style"] == BLIND, 0)  # they may share a line
    rows = rows.assign(height=rows["label"].map(list(order).index) + 0.34 * below)
    colours = [styles[style][0] for style in rows["style"]]
    ax.hlines(rows["height"], rows["low"], rows["high"], colours, lw=1.1)
    sns.scatterplot(
        rows, x="value", y="height", **_looks("style", styles), s=20, zorder=3, legend=False, ax=ax
    )
    if "published" in rows:
        # beside the dots, not upon them
        ax.plot(rows["published"], rows["height"] - 0.3, mec="0.1", **PUBLISHED | {"ms": 6})
    if "to_pass" in rows:
        ax.axvline(rows["to_pass"].iloc[0], zorder=0, **TO_PASS)
    ax.axvline(0, color="0.7", lw=0.8, zorder=0)
    ax.set_yticks(range(len(order)), [label.replace("$", r"\$") for label in order])  # no formula
    ax.set(ylim=(len(order) - 0.3, -0.7), xlabel="", ylabel="")
    ax.grid(axis="y", color="0.93", zorder=-1)


def _looks(column: str, styles: Mapping[str, tuple[str, str, str]]) -> dict[str, Any]:
    """How seaborn draws the values of a column: by colour and marker."""
    colours = {name: colour for name, (colour, _, _) in styles.items()}
    markers = {name: marker for name, (_, marker, _) in styles.items()}
    return {"hue": column, "palette": colours, "style": column, "markers": markers}


def sizes_figure(
    subsets: pd.DataFrame,
    styles: Mapping[str, tuple[str, str, str]],
    measures: Sequence[str],
    published: Mapping[str, Mapping[str, float]],
    title: str,
) -> tuple[Figure, Sequence[Axes]]:
    """Measures over the number of rated texts, a panel each: the mean over random subsets, and
    `SUBSETS` of them as a band. And its panels, for more.

    subsets : columns series and size, and each measure, a row a subset
    styles : by series, a colour, a marker, and what the legend says
    published : by measure and series, the paper's value at the last size
    title : of the whole figure
    """
    figure, (axes,) = panels(1, len(measures), 3.5, title, sharex=True)
    for ax, measure in zip(axes, measures, strict=True):
        options = {"dashes": False, "errorbar": SUBSETS, "err_kws": BAND, "mec": "none"}
        sns.lineplot(
            subsets, x="size", y=measure, **_looks("series", styles), **options, legend=False, ax=ax
        )
        for series, sizes in subsets.groupby("series", sort=False)["size"]:
            if (value := published.get(measure, {}).get(str(series))) is not None:
                ax.plot(sizes.max(), value, mec=styles[str(series)][0], **PUBLISHED)
        ax.set(xscale="log", ylabel=AXES[measure], xlabel="rated texts")
        ax.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
    return figure, axes


def intervals_figure(table: pd.DataFrame, splits: Sequence[str], grey: Sequence[str]) -> Figure:
    """Pearson's r of each method with its interval, a panel a split, the best at the top.

    table : columns method, split, pearson, pearson_low and pearson_high; and the interval of the
        lead over the best text-blind method, difference_low and difference_high
    grey : text-blind methods
    """
    rows = table[table["split"].isin(splits)].dropna(subset="pearson")
    rows = rows.sort_values("pearson", kind="stable", ascending=False).rename(columns=FOREST)
    rows = judged(rows, rows["label"].isin(grey), ["split"])
    title = "Pearson's r of each method (95% interval), and the best that reads no text"
    return forest_figure(rows.assign(down="", across="new " + rows["split"]), METHODS, title)


def judged(rows: pd.DataFrame, text_blind: pd.Series, panel: Sequence[str]) -> pd.DataFrame:
    """Rows of a forest with a ``style`` of `METHODS`, and ``to_pass``.

    rows : columns value, and difference_low and difference_high, the interval of the lead over the
        best text-blind method; and those of ``panel``
    text_blind : bool, of each row
    """
    low = rows["difference_low"]
    high = rows["difference_high"]
    style = pd.Series("none", rows.index).mask(low.notna(), "both")
    style = style.mask(low > 0, "above").mask(high < 0, "below").mask(text_blind, BLIND)
    best = rows["value"].where(text_blind).groupby([rows[name] for name in panel])
    return rows.assign(style=style, to_pass=best.transform("max"))
