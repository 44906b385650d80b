"""Arrays in, axes out: the look of every figure, in one place.

Stage: figure. In: tables of curves. Out: matplotlib figures, saved as PDF, SVG and PNG whose
bytes depend on nothing but the numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from refless.store.beside import write_beside
from refless.store.files import file_sum, whole_file
from refless.store.tables import write_table

# the log of a figure is not for every glyph of its fonts
logging.getLogger("fontTools").setLevel(logging.WARNING)

FORMATS = ("pdf", "svg", "png")
# Okabe-Ito: told apart with any colour vision, and in grey by the line style.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-.", "--", "-", ":")

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
    paths, sums = [], {f"{Path(stem).name}.csv": write_table(drawn, f"{stem}.csv")}
    try:
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
) -> Figure:
    """Two panels, a on the left and b on the right: figures 2 and 3.

    Parameters
    ----------
    curves : by task, the columns threshold, value and ``column``
    looks : how tasks are shown
    defaults : the default of ``a`` and of ``b``, marked by a thin line
    human : by task with annotators, the average one: see `Humans`; the region above the first value
        is shaded, the second is a thin line
    """
    if not curves:
        return empty_figure()
    style()
    figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.2), sharey=True)
    labels = {
        "a": "$a$: fewest neighbors",
        "b": "$b$: most neighbors, as a share of the training set",
    }
    tops = [float(curve[column].max()) for curve in curves.values()]
    tops += [rho for both in (human or {}).values() for rho in both]
    top = max([t for t in tops if not np.isnan(t)], default=1.0)
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
        ax.axvline(defaults[threshold], color="0.6", lw=0.8, ls=":", zorder=0)
        ax.set_xlabel(labels[threshold])
        values = pd.concat([c.loc[c["threshold"] == threshold, "value"] for c in curves.values()])
        ax.set_xlim(values.min(), values.max())
    axes[0].set_ylabel(ylabel)
    if human:
        _shade_above(axes, looks, human, top)
    figure.tight_layout()
    _legend(figure, list(curves), looks, human or {})
    return figure


def _shade_above(axes: Sequence[Axes], looks: Looks, human: Humans, top: float) -> None:
    """Shade what lies above each task's average annotator, and draw the line with the own label."""
    low, high = axes[0].get_ylim()
    high = max(high, top + 0.06 * (top - low))
    for ax in axes:
        for task, (others, published) in human.items():
            colour = looks[task]["colour"]
            ax.axhspan(others, high, color=colour, alpha=0.10, lw=0)
            ax.axhline(others, color=colour, ls=looks[task]["line"], lw=0.8)
            ax.axhline(published, color=colour, ls=(0, (1, 4)), lw=0.9)
        ax.set_ylim(low, high)


def _legend(figure: Figure, tasks: Sequence[str], looks: Looks, human: Humans) -> None:
    """A legend below the panels: a column a task, its curve and below it what is shaded for it."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    entries = []
    for task, handle, label in zip(tasks, handles, labels, strict=True):
        entries.append((handle, label))
        if task in human:
            colour = looks[task]["colour"]
            patch = matplotlib.patches.Patch(color=colour, alpha=0.2)
            entries.append((patch, "above its average annotator"))
            line = matplotlib.lines.Line2D([], [], color=colour, ls=(0, (1, 4)), lw=0.9)
            entries.append((line, "annotator, own label included"))
    figure.legend(
        *zip(*entries, strict=True),
        frameon=False,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.02),
        fontsize="small",
        ncols=len(tasks),
        columnspacing=1.2,
        handlelength=2.6,
    )


def data_size_figure(
    curves: dict[str, pd.DataFrame], looks: Looks, human: Humans | None = None
) -> Figure:
    """Spearman and coverage over the number of rated texts, one standard deviation shaded.

    ``human`` as for `threshold_figure`, in the panel of Spearman.
    """
    if not curves:
        return empty_figure()
    style()
    figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.2))
    panels = [("spearman", "Spearman's $\\rho$"), ("coverage", "coverage")]
    for ax, (column, ylabel) in zip(axes, panels, strict=True):
        for task, curve in curves.items():
            grouped = curve.groupby("size")[column]
            mean, spread = grouped.mean(), grouped.std(ddof=0)
            look = looks[task]
            colour = look["colour"]
            ax.plot(mean.index, mean, look["line"], color=colour, label=look["name"])
            low, high = mean - spread, mean + spread
            if column == "coverage":
                low, high = low.clip(lower=0), high.clip(upper=1)
            ax.fill_between(mean.index, low, high, color=colour, alpha=0.2, lw=0)
        ax.set_xlabel("rated texts")
        ax.set_ylabel(ylabel)
        _size_axis(ax, curves)
    human = human or {}
    top = max((rho for both in human.values() for rho in both), default=0.0)
    if human:
        _shade_above(axes[:1], looks, human, max(top, axes[0].get_ylim()[1]))
    figure.tight_layout()
    _legend(figure, list(curves), looks, human)
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


def set_heat_maps(table: pd.DataFrame, titles: dict[str, str]) -> Figure:
    """Rho for every test set (down) and training set (across), one panel for each of ``titles``.

    Parameters
    ----------
    table : columns essays (a key of ``titles``), test_set, train_set, spearman, length_spearman, n
    titles : what a panel shows

    Cells without a number stay grey; the diagonal, a set's own training essays, is framed. A last
    column, set off, has the rho of the essay's length.
    """
    # by its name: it is slow to import, and no other figure needs it
    import seaborn

    style()
    figure, axes = plt.subplots(
        1, len(titles), figsize=(10.6, 4.9), layout="constrained", squeeze=False
    )
    bound = float(np.nanmax([0.1, *table["spearman"].abs()]))
    for ax, (part, title) in zip(axes[0], titles.items(), strict=True):
        own = table[table["essays"] == part]
        rho = own.pivot_table(
            index="test_set", columns="train_set", values="spearman", dropna=False
        )
        first = own.drop_duplicates("test_set").set_index("test_set")
        sizes, sets = first["n"], len(rho.columns)
        rho["length"] = first["length_spearman"]
        ax.set_facecolor("0.85")
        seaborn.heatmap(
            rho,
            ax=ax,
            vmin=-bound,
            vmax=bound,
            cmap="vlag",
            annot=rho.round(2) + 0.0,  # no "-0.00"
            fmt=".2f",
            annot_kws={"size": 7.5},
            square=True,
            cbar=part == list(titles)[-1],
            cbar_kws={"label": "Spearman's $\\rho$", "shrink": 0.8},
        )
        ax.axvline(sets, color="white", lw=4)
        for i in range(min(len(rho), sets)):
            frame = matplotlib.patches.Rectangle(
                (i, i), 1, 1, fill=False, ec="0.15", lw=1.1, zorder=5
            )
            ax.add_patch(frame)
        known = sizes.notna()
        ax.set_yticks(
            np.arange(len(rho)) + 0.5,
            [f"{s} ({int(sizes[s])})" if known[s] else f"{s}" for s in rho.index],
            rotation=0,
        )
        ax.set_xticks(np.arange(rho.shape[1]) + 0.5, [str(s) for s in rho.columns])
        ax.tick_params(length=0)
        ax.set_title(title, fontsize=10.5)
        ax.tick_params(axis="x", rotation=0)
        ax.get_xticklabels()[-1].set(fontstyle="italic", fontsize=8.5)
        ax.set_xlabel("training essays of set, and length alone")
        ax.set_ylabel("test essays of set (their number)")
        if rho.isna().all(axis=None):
            ax.text(0.5, 0.5, "not available", transform=ax.transAxes, ha="center", va="center")
    return figure


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
        look = {"ms": 6, "mec": "0.1", "mfc": "none", "ls": "none", "zorder": 5}
        ax.plot(ticks[-1], published[column], marker="D", clip_on=False, label="published", **look)
        ax.set_xscale("log")
        ax.minorticks_off()
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.set_ylabel(title)
        ax.set_xlabel("rated training outputs")
    axes[0].legend(frameon=False, fontsize="small")
    figure.tight_layout()
    return figure
