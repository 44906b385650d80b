"""Arrays in, axes out: the look of every figure, in one place.

Stage: figure. In: tables of curves. Out: matplotlib figures, saved as PDF, SVG and PNG whose
bytes depend on nothing but the numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from refless.store.files import file_sum, whole_file
from refless.store.sealed import write_beside
from refless.store.tables import write_table

# the log of a figure is not for every glyph of its fonts
logging.getLogger("fontTools").setLevel(logging.WARNING)

FORMATS = ("pdf", "svg", "png")
# Okabe-Ito: distinct for any colour vision, and in grey by the line style.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-.", "--", "-", ":")
HATCHES = ("////", "\\\\\\\\", "....", "||||")

Looks = Mapping[str, Mapping[str, Any]]
"""Data set -> how it is shown: ``name``, ``colour``, ``line``, ``marker``, as configured."""

Humans = Mapping[str, tuple[float, float]]
"""Data set -> rho of its average annotator against the others, and against all, itself included."""


def style() -> None:
    """Set the style of all figures."""
    plt.rcdefaults()
    plt.rcParams.update(
        {
            "font.size": 10,
            "axes.labelsize": 10.5,
            "lines.linewidth": 1.6,
            "svg.fonttype": "path",
            "pdf.fonttype": 42,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.dpi": 150,
        }
    )


def save(figure: Figure, stem: str | Path, drawn: pd.DataFrame) -> list[Path]:
    """Write ``stem`` with each of the endings pdf, svg and png, each whole or not at all.

    ``stem.csv`` has what is ``drawn``. ``stem.json`` has the sums of all these files, by which the
    report knows that they are the ones that were drawn.
    """
    paths, sums = [], {}
    try:
        sums[f"{Path(stem).name}.csv"] = write_table(drawn, f"{stem}.csv")
        # laid out and measured once, not once for each format
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        box = figure.get_tightbbox().padded(0.1)  # inches
        for ending in FORMATS:
            path = Path(f"{stem}.{ending}")
            # No date and no random identifiers in the file: the same numbers give the same bytes.
            metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(ending, {})
            with whole_file(path) as partial, plt.rc_context({"svg.hashsalt": "refless"}):
                figure.savefig(partial, bbox_inches=box, metadata=metadata)
                sums[path.name] = file_sum(partial)  # before another run can write over it
            paths.append(path)
        write_beside(f"{stem}.json", {}, sums)
    finally:
        plt.close(figure)
    return paths


def drawn(curves: Mapping[str, pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Curves by task as one table, for `save`."""
    tables = [curve[list(columns)].assign(task=task) for task, curve in curves.items()]
    return pd.concat([pd.DataFrame(columns=["task", *columns]), *tables], ignore_index=True)


def published_points(table: pd.DataFrame, column: str) -> dict[str, float]:
    """Data set -> what the paper prints of BLEU Neighbors at its thresholds and on all texts.

    ``table`` is table 1, as `refless.report.tables.read_published` has it.
    """
    own = table[(table["model"] == "bleu") & (table[f"paper_{column}"] != "")]
    return dict(zip(own["task"], own[f"paper_{column}"].astype(float), strict=True))


def _hollow(ax: Axes, x: float, y: float, colour: str, label: str = "") -> None:
    """A published value, beside the curve that should meet it."""
    look: dict[str, Any] = {"ms": 6, "mfc": "none", "ls": "none", "zorder": 5, "clip_on": False}
    ax.plot(x, y, marker="D", mec=colour, label=label or "_published", **look)


def empty_figure(reason: str = "no task with the published BLEU* kernel is there") -> Figure:
    """A figure that says why there is nothing to draw."""
    style()
    figure, ax = plt.subplots(figsize=(8.2, 1.2))
    ax.set_axis_off()
    ax.text(0.5, 0.5, reason, ha="center", wrap=True)
    return figure


def threshold_figure(
    curves: dict[str, pd.DataFrame],
    looks: Looks,
    column: str,
    ylabel: str,
    defaults: dict[str, float],
    human: Humans | None = None,
    published: Mapping[str, float] | None = None,
) -> Figure:
    """Two panels, a on the left and b on the right: figures 2 and 3.

    Parameters
    ----------
    curves : by task, the columns threshold, value and ``column``
    looks : how tasks are shown
    defaults : the default of ``a`` and of ``b``, marked by a thin line
    human : by task with annotators, the average one: see `Humans`; both are thin lines
    published : by task, the paper's value at the defaults, drawn hollow
    """
    if not curves:
        return empty_figure()
    style()
    figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.2), sharey=True)
    labels = {
        "a": "$a$: fewest neighbors",
        "b": "$b$: most neighbors, as a share of the training set",
    }
    for ax, threshold in zip(axes, ("a", "b"), strict=True):
        for task, curve in curves.items():
            part = curve[curve["threshold"] == threshold]
            ax.plot(
                part["value"],
                part[column],
                looks[task]["line"],
                color=looks[task]["colour"],
                label=looks[task]["name"],
            )
            if published and task in published:
                _hollow(ax, defaults[threshold], published[task], looks[task]["colour"])
        ax.axvline(defaults[threshold], color="0.6", lw=0.8, ls=":", zorder=0)
        ax.set_xlabel(labels[threshold])
        values = pd.concat([c.loc[c["threshold"] == threshold, "value"] for c in curves.values()])
        ax.set_xlim(values.min(), values.max())
    axes[0].set_ylabel(ylabel)
    human = {task: both for task, both in (human or {}).items() if task in curves}
    _annotators(axes, looks, human)
    figure.tight_layout()
    _legend(figure, human, published)
    return figure


OTHERS, ALL = (0, (6, 2)), (0, (1, 4))
"""Dashes of the lines of an average annotator."""


def _annotators(axes: Sequence[Axes], looks: Looks, human: Humans) -> None:
    """Each task's average annotator as two lines, with and without the own label."""
    for ax in axes:
        for task, both in human.items():
            for rho, dashes in zip(both, (OTHERS, ALL), strict=True):
                ax.axhline(rho, color=looks[task]["colour"], ls=dashes, lw=0.9)


def _legend(figure: Figure, human: object, published: object) -> None:
    """A legend below the panels: curves by colour, what else is drawn in grey."""
    handles, _ = figure.axes[0].get_legend_handles_labels()
    marker = {"marker": "D", "ms": 6, "mfc": "none", "ls": "none"}
    for label, look, there in (
        ("average annotator", {"ls": OTHERS}, human),
        ("the same, own label included", {"ls": ALL}, human),
        ("published", marker, published),
    ):
        if there:
            line = matplotlib.lines.Line2D([], [], color="0.3", lw=0.9, label=label, **look)
            handles.append(line)
    figure.legend(
        handles=handles,
        frameon=False,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.02),
        fontsize="small",
        ncols=3,
        handlelength=2.6,
    )


def data_size_figure(
    curves: dict[str, pd.DataFrame],
    looks: Looks,
    human: Humans | None = None,
    published: Mapping[str, Mapping[str, float]] | None = None,
) -> Figure:
    """Spearman and coverage over the number of rated texts, one standard deviation hatched.

    ``human`` as for `threshold_figure`, in the panel of Spearman; ``published`` by panel, the
    paper's value on all texts.
    """
    if not curves:
        return empty_figure()
    style()
    figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.2))
    panels = [("spearman", "Spearman's $\\rho$"), ("coverage", "coverage")]
    for ax, (column, ylabel) in zip(axes, panels, strict=True):
        for (task, curve), hatch in zip(curves.items(), cycle(HATCHES)):
            grouped = curve.groupby("size")[column]
            mean, spread = grouped.mean(), grouped.std(ddof=0)
            look = looks[task]
            colour = look["colour"]
            ax.plot(mean.index, mean, look["line"], color=colour, label=look["name"])
            low, high = mean - spread, mean + spread
            if column == "coverage":
                low, high = low.clip(lower=0), high.clip(upper=1)
            # hatched: colours laid over each other mix to another one
            band = {"facecolor": "none", "edgecolor": colour, "alpha": 0.4, "lw": 0}
            ax.fill_between(mean.index, low, high, hatch=hatch, **band)
            if task in (points := (published or {}).get(column, {})):
                _hollow(ax, mean.index.max(), points[task], colour)
        ax.set_xlabel("rated texts")
        ax.set_ylabel(ylabel)
        _size_axis(ax, curves)
    human = {task: both for task, both in (human or {}).items() if task in curves}
    _annotators(axes[:1], looks, human)
    figure.tight_layout()
    _legend(figure, human, published)
    return figure


def _size_axis(ax: Axes, curves: dict[str, pd.DataFrame]) -> None:
    """Sizes from 0, or as powers of ten where one task has ten times the texts of another."""
    largest = [curve["size"].max() for curve in curves.values()]
    if max(largest) < 10 * min(largest):
        ax.set_xlim(left=0)
        return
    ax.set_xscale("log")
    smallest = min(curve["size"].min() for curve in curves.values())
    ax.set_xlim(0.8 * smallest, 1.25 * max(largest))
    ax.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")


def learning_curve_figure(
    curves: pd.DataFrame, labels: Mapping[str, str], published: Mapping[str, float]
) -> Figure:
    """Pearson and Spearman over the number of rated training outputs.

    Parameters
    ----------
    curves : columns model, size, pearson, spearman, and their spread (``_sd``)
    labels : model -> label, in order
    published : pearson, spearman: values drawn hollow at the end
    """
    style()
    figure, axes = plt.subplots(1, 2, figsize=(8.2, 2.9), sharey=True)
    ticks = sorted(curves["size"].unique())
    titles = {"pearson": "Pearson's $r$", "spearman": "Spearman's $\\rho$"}
    for ax, (column, title) in zip(axes, titles.items(), strict=True):
        ax.axhline(0, color="0.8", lw=0.8, zorder=0)
        for (model, label), colour, line in zip(labels.items(), PALETTE, LINES, strict=False):
            own = curves[curves["model"] == model]
            mean, spread = own[column], own[f"{column}_sd"]
            ax.plot(own["size"], mean, line, color=colour, marker="o", ms=3, label=label)
            ax.fill_between(
                own["size"], mean - spread, mean + spread, color=colour, alpha=0.2, lw=0
            )
        _hollow(ax, ticks[-1], published[column], "0.1", "published")
        ax.set_xscale("log")
        ax.minorticks_off()
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.set_ylabel(title)
        ax.set_xlabel("rated training outputs")
    axes[0].legend(frameon=False, fontsize="small")
    figure.tight_layout()
    return figure
