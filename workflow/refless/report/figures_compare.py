"""The three pictures of a comparison: scores with intervals, the learning curve, systems.

Stage: figure. In: tables of a comparison (`refless.compare`). Out: matplotlib figures.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from refless.report.figures import PALETTE, empty_figure, style

GREY = "#777777"
DASHES = ("--", ":", "-.", (0, (1, 4)))
LINES = len(DASHES)
"""What needs no ratings: so many lines can be told apart."""


def scores_figure(
    table: pd.DataFrame, names: Callable[[str, str], str], trivial: Sequence[str]
) -> Figure:
    """Pearson's r of each method with its interval, one panel a split, the best on top.

    Parameters
    ----------
    table : of a comparison; rows without r are left out, and the order is that of the first split
    names : how a method and its kernel are called
    trivial : methods that are drawn in grey
    """
    there = table[table["pearson"].notna()]
    if there.empty:
        return empty_figure("no method ranks these texts at all")
    style()
    splits = list(dict.fromkeys(there["split"]))
    first = there.groupby(["method", "kernel"], sort=False)["pearson"].max().sort_values()
    place = {key: k for k, key in enumerate(first.index)}
    figure, axes = plt.subplots(
        1,
        len(splits),
        figsize=(2.2 + 2.7 * len(splits), 1.1 + 0.27 * len(place)),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, split in zip(axes[0], splits, strict=True):
        for row in there[there["split"] == split].to_dict("records"):
            y = place[row["method"], row["kernel"]]
            plain = row["method"] in trivial
            colour = GREY if plain else PALETTE[0]
            ax.plot([row["pearson_low"], row["pearson_high"]], [y, y], color=colour, lw=1.6)
            ax.plot(row["pearson"], y, "D" if plain else "o", color=colour, ms=4.5)
        ax.axvline(0, color="#bbbbbb", lw=0.8, zorder=0)
        ax.set_title(f"new {split}", fontsize=10.5)
        ax.set_xlabel("Pearson's r, 95% interval")
        ax.grid(axis="x", color="#eeeeee")
    axes[0][0].set_yticks(list(place.values()), [names(*key) for key in place])
    return figure


def curve_figure(
    curve: pd.DataFrame, lines: Sequence[tuple[str, float, float, float]], split: str
) -> Figure:
    """Pearson's r by the number of ratings.

    Parameters
    ----------
    curve : `refless.compare.curve.COLUMNS`
    lines : what needs no ratings: name, r, low, high; `LINES` at most
    """
    if curve.empty:
        return empty_figure("no learning curve was asked for")
    style()
    figure, ax = plt.subplots(figsize=(8.4, 4.2), layout="constrained")
    colours = iter(PALETTE)
    for (method, kernel), own in curve.groupby(["method", "kernel"], sort=False):
        colour = next(colours)
        x = own["ratings"].to_numpy(float)
        ax.plot(x, own["pearson"], "o-", color=colour, ms=4, label=f"{method} {kernel}".strip())
        ax.fill_between(x, own["pearson_low"], own["pearson_high"], color=colour, alpha=0.15, lw=0)
    ends = [curve["ratings"].min(), curve["ratings"].max()]
    for (name, r, low, high), colour, dashes in zip(lines, colours, DASHES, strict=False):
        ax.plot(ends, [r, r], ls=dashes, color=colour, label=name)
        ax.fill_between(ends, low, high, color=colour, alpha=0.1, lw=0)
    ax.set_xscale("log")
    ticks = sorted(set(curve["ratings"]))
    ticks = [t for k, t in enumerate(ticks) if k == 0 or t / ticks[k - 1] > 1.25]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel("ratings to learn from")
    ax.set_ylabel(f"Pearson's r, new {split}")
    ax.axhline(0, color="#bbbbbb", lw=0.8, zorder=0)
    ax.legend(fontsize=8.5, frameon=False)
    return figure


def systems_figure(systems: pd.DataFrame, name: str, split: str) -> Figure:
    """Each system's mean estimate beside people's mean, with the latter's 95% interval.

    Parameters
    ----------
    systems : columns system, quality, se, estimate; of one method and split
    name : of the method
    """
    if systems.empty:
        return empty_figure("the ratings do not tell systems apart")
    style()
    figure, ax = plt.subplots(figsize=(8.4, 4.8), layout="constrained")
    own = systems.sort_values("quality", kind="stable")
    ax.errorbar(
        own["estimate"], own["quality"], yerr=1.96 * own["se"], fmt="o", ms=4.5, lw=1,
        color=PALETTE[0], ecolor="#9bbfd8",
    )  # fmt: skip
    near = 0.035 * (own["quality"].max() - own["quality"].min() or 1)
    above = -math.inf
    for row in own.to_dict("records") if len(own) <= 25 else []:
        above = max(row["quality"], above + near)  # names do not stand on each other
        ax.annotate(
            f"  {row['system']}", (row["estimate"], above), va="center", fontsize=8, color="#333333"
        )
    low, high = ax.get_xlim()
    ax.set_xlim(low, high + 0.12 * (high - low))
    ax.set_xlabel(f"mean estimate of {name}, new {split}")
    ax.set_ylabel("people's mean rating (0 to 1), 95% interval")
    ax.grid(color="#eeeeee")
    return figure


def drawing(figure: Figure) -> str:
    """The figure as SVG; the same numbers give the same bytes."""
    buffer = io.StringIO()
    try:
        with plt.rc_context({"svg.hashsalt": "refless"}):
            figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    finally:
        plt.close(figure)
    return buffer.getvalue()
