"""Arrays in, axes out: the look of every figure, in one place.

Stage: figure. In: tables of curves. Out: matplotlib figures, saved as PDF, SVG and PNG whose
bytes depend on nothing but the numbers.
"""

import logging
from base64 import b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from refless.store.sealed import write_sidecar
from refless.store.tables import table_text

# the log of a figure is not for every glyph of its fonts
logging.getLogger("fontTools").setLevel(logging.WARNING)

# Okabe-Ito: distinct for any colour vision, and in grey by the line style.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-.", "--", "-", ":")
HATCHES = ("////", "\\\\\\\\", "....", "||||")
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.labelsize": 10.5,
    "lines.linewidth": 1.6,
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 150,
}
LABELS = {"spearman": "Spearman's $\\rho$", "pearson": "Pearson's $r$", "coverage": "coverage"}
THRESHOLDS = {
    "a": "$a$: fewest neighbors",
    "b": "$b$: most neighbors, as a share of the training set",
}
OTHERS, ALL = (0, (6, 2)), (0, (1, 4))
"""Dashes of the lines of an average annotator."""
UNDATED = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}
"""Endings of figures; no date and no random identifiers: the same numbers give the same bytes."""
PUBLISHED: dict[str, Any] = {"marker": "D", "ms": 6, "mfc": "none", "ls": "none"}

Styles = Mapping[str, Mapping[str, Any]]
"""Data set -> how it is shown: ``name``, ``colour``, ``line``, ``marker``, as configured."""
Humans = Mapping[str, tuple[float, float]]
"""Data set -> rho of its average annotator against the others, and against all, itself included."""


def set_style() -> None:
    """Set the style of all figures."""
    plt.rcdefaults()
    plt.rcParams.update(STYLE)


def save(figure: Figure, path: str | Path, drawn: pd.DataFrame) -> None:
    """Write ``path`` with each of the endings pdf, svg and png, and what is ``drawn`` with csv; by
    their record, the report knows that they are the ones that were drawn."""
    path = Path(path)
    contents = {path.with_suffix(".csv"): table_text(drawn).encode()}
    try:
        # laid out and measured once, not once for each format
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        box = figure.get_tightbbox().padded(0.1)  # inches
        for ending, metadata in UNDATED.items():
            buffer = BytesIO()
            with plt.rc_context({"svg.hashsalt": "refless"}):
                figure.savefig(buffer, format=ending[1:], bbox_inches=box, metadata=metadata)
            contents[path.with_suffix(ending)] = buffer.getvalue()
        write_sidecar(contents, {})
    finally:
        plt.close(figure)


def as_address(figure: Figure) -> str:
    """A drawing as the address of an SVG, for a page that is one file."""
    drawn = BytesIO()
    with plt.rc_context({"svg.hashsalt": "refless"}):
        figure.savefig(drawn, format="svg", metadata=UNDATED[".svg"])
    plt.close(figure)
    return f"data:image/svg+xml;base64,{b64encode(drawn.getvalue()).decode()}"


def empty_figure(
    reason: str = "nothing to draw: table 1 of BLEU Neighbors has the reason",
) -> Figure:
    """A figure that says why there is nothing to draw."""
    set_style()
    figure, ax = plt.subplots(figsize=(8.2, 1.2))
    ax.set_axis_off()
    ax.text(0.5, 0.5, reason, ha="center", wrap=True)
    return figure


def _hollow(ax: Axes, x: float, y: float | None, colour: str, label: str = "_published") -> None:
    """A published value, if there is one, beside the curve that should meet it."""
    if y is not None:
        ax.plot(x, y, mec=colour, label=label, zorder=5, clip_on=False, **PUBLISHED)


def threshold_figure(
    curves: pd.DataFrame,
    styles: Styles,
    column: str,
    defaults: Mapping[str, float],
    human: Humans,
    published: Mapping[str, float],
) -> Figure:
    """Two panels, a on the left and b on the right: figures 2 and 3.

    curves : the columns dataset, threshold, value and ``column``
    styles : how tasks are shown
    column : ``spearman`` or ``coverage``
    defaults : the default of ``a`` and of ``b``, marked by a thin line
    human : by data set with annotators, the average one: see `Humans`; both are thin lines
    published : by data set, the paper's value at the defaults, drawn hollow
    """
    if curves.empty:
        return empty_figure()
    set_style()
    figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.2), sharey=True)
    for ax, (threshold, label) in zip(axes, THRESHOLDS.items(), strict=True):
        panel = curves[curves["threshold"] == threshold]
        for dataset, curve in panel.groupby("dataset", sort=False):
            style = styles[str(dataset)]
            _line(ax, style, curve["value"], curve[column])
            _hollow(ax, defaults[threshold], published.get(str(dataset)), style["colour"])
        ax.axvline(defaults[threshold], color="0.6", lw=0.8, ls=":", zorder=0)
        ax.set_xlabel(label)
        ax.set_xlim(panel["value"].min(), panel["value"].max())
    axes[0].set_ylabel(LABELS[column])
    return _with_annotators(figure, axes, curves, styles, human, published)


def data_size_figure(
    curves: pd.DataFrame,
    styles: Styles,
    human: Humans,
    published: Mapping[str, Mapping[str, float]],
) -> Figure:
    """Spearman and coverage over the number of rated texts, one standard deviation hatched.

    curves : the columns dataset, size, subset, spearman and coverage
    human : as for `threshold_figure`, in the panel of Spearman
    published : by panel, the paper's value on all texts
    """
    if curves.empty:
        return empty_figure()
    set_style()
    figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.2))
    for ax, column in zip(axes, ("spearman", "coverage"), strict=True):
        for (dataset, curve), hatch in zip(curves.groupby("dataset", sort=False), cycle(HATCHES)):
            style, grouped = styles[str(dataset)], curve.groupby("size")[column]
            mean, spread = grouped.mean(), grouped.std(ddof=0)
            _line(ax, style, mean.index, mean)
            low, high = mean - spread, mean + spread
            if column == "coverage":
                low, high = low.clip(lower=0), high.clip(upper=1)
            # hatched: colours laid over each other mix to another one
            band = {"facecolor": "none", "edgecolor": style["colour"], "alpha": 0.4, "lw": 0}
            ax.fill_between(mean.index, low, high, hatch=hatch, **band)
            _hollow(ax, mean.index.max(), published[column].get(str(dataset)), style["colour"])
        ax.set_xlabel("rated texts")
        ax.set_ylabel(LABELS[column])
        _size_axis(ax, curves)
    return _with_annotators(figure, axes[:1], curves, styles, human, published["spearman"])


def _line(ax: Axes, style: Mapping[str, Any], x: Any, y: Any) -> None:
    ax.plot(x, y, style["line"], color=style["colour"], label=style["name"])


def _size_axis(ax: Axes, curves: pd.DataFrame) -> None:
    """Sizes from 0, or as powers of ten where one data set has ten times the texts of another."""
    largest = curves.groupby("dataset")["size"].max()
    if largest.max() < 10 * largest.min():
        ax.set_xlim(left=0)
        return
    ax.set_xscale("log")
    ax.set_xlim(0.8 * curves["size"].min(), 1.25 * largest.max())
    ax.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")


def _with_annotators(
    figure: Figure,
    axes: Sequence[Axes],
    curves: pd.DataFrame,
    styles: Styles,
    human: Humans,
    published: Mapping[str, float],
) -> Figure:
    """Each data set's average annotator as two lines, with and without the own label; and a legend
    below the panels: curves by colour, what else is drawn in grey."""
    human = {dataset: both for dataset, both in human.items() if dataset in set(curves["dataset"])}
    for ax in axes:
        for dataset, both in human.items():
            for rho, dashes in zip(both, (OTHERS, ALL), strict=True):
                ax.axhline(rho, color=styles[dataset]["colour"], ls=dashes, lw=0.9)
    figure.tight_layout()
    handles, _ = axes[0].get_legend_handles_labels()
    for label, style, there in (
        ("average annotator", {"ls": OTHERS}, human),
        ("the same, own label included", {"ls": ALL}, human),
        ("published", PUBLISHED, published),
    ):
        if there:
            handles.append(Line2D([], [], color="0.3", lw=0.9, label=label, **style))
    place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.02), "ncols": 3}
    figure.legend(handles=handles, frameon=False, fontsize="small", handlelength=2.6, **place)
    return figure


def learning_curve_figure(curves: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Pearson and Spearman over the number of rated training outputs.

    curves : columns model, size, pearson, spearman, and their spread (``_sd``)
    printed : RNN-QE's published table 3, whose set-up 1 is drawn hollow at the end
    """
    if curves.empty:
        return empty_figure("nothing to draw: RNN-QE's table 3 has the reason")
    set_style()
    labels = {"bleu_neighbors": "BLEU Neighbors", "rnn_qe": "RNN-QE, set-up 1"}
    published = printed[printed["setup"] == "1"].iloc[0]
    figure, axes = plt.subplots(1, 2, figsize=(8.2, 2.9), sharey=True)
    ticks = sorted(curves["size"].unique())
    for ax, column in zip(axes, ("pearson", "spearman"), strict=True):
        ax.axhline(0, color="0.8", lw=0.8, zorder=0)
        for (model, label), colour, line in zip(labels.items(), PALETTE, LINES, strict=False):
            own = curves[curves["model"] == model]
            size, mean, spread = own["size"], own[column], own[f"{column}_sd"]
            ax.plot(size, mean, line, color=colour, marker="o", ms=3, label=label)
            ax.fill_between(size, mean - spread, mean + spread, color=colour, alpha=0.2, lw=0)
        _hollow(ax, ticks[-1], float(published[column]), "0.1", "published")
        ax.set_xscale("log")
        ax.minorticks_off()
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.set_ylabel(LABELS[column])
        ax.set_xlabel("rated training outputs")
    axes[0].legend(frameon=False, fontsize="small")
    figure.tight_layout()
    return figure


def intervals_figure(table: pd.DataFrame, splits: Sequence[str], grey: Sequence[str]) -> Figure:
    """Pearson's r of each method with its interval, a panel a split.

    table : columns method, split, pearson, pearson_low and pearson_high
    grey : methods that stand back
    """
    set_style()
    own = table.dropna(subset="pearson").sort_values("pearson", kind="stable")
    own = own.assign(colour=own["method"].isin(grey).map({True: "0.5", False: PALETTE[0]}))
    own["method"] = own["method"].str.replace("$", r"\$")  # no formula
    order = own["method"].drop_duplicates(keep="last")  # the best at the top
    size = 2.6 + 2.4 * len(splits), 1.2 + 0.26 * len(order)
    figure, axes = plt.subplots(1, len(splits), figsize=size, sharey=True, squeeze=False)
    for ax, split in zip(axes[0], splits, strict=True):
        ax.plot([float("nan")] * len(order), order)  # all, in this order
        one = own[own["split"] == split]
        ax.hlines(one["method"], one["pearson_low"], one["pearson_high"], one["colour"])
        ax.scatter(one["pearson"], one["method"], c=one["colour"])
        ax.axvline(0, color="0.7", lw=0.8, zorder=0)
        ax.set(title=f"new {split}", xlabel="Pearson's $r$")
    figure.tight_layout()
    return figure
