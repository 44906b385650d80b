"""Figures of what goes beyond the BLEU Neighbors paper: the ablation, and the Pareto fronts.

Stage: figure. In: the two tables. Out: matplotlib figures, in the style of `refless.report.figures`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from refless.report.figures import PALETTE, Looks, empty_figure, style

CHANGES = {
    "spearman_change": "Spearman's $\\rho$",
    "within_change": "$\\rho$ within systems",
    "mse_change": "MSE",
    "coverage_change": "coverage",
}
MODEL_LOOKS = list(zip(PALETTE, ("-", "--", "-.", ":"), ("o", "s", "^", "D"), strict=False))
"""Colour, line and marker of models, by their place."""


def change_figure(table: pd.DataFrame, looks: Looks) -> Figure:
    """A row a variant, a panel a measure: change from plain with its 95% interval.

    Parameters
    ----------
    table : columns task, variant, label, and each of CHANGES with ``_low`` and ``_high``; rows
        without a change are not drawn
    looks : how tasks are shown
    """
    there = table[table["coverage_change"].notna()]
    tasks = list(dict.fromkeys(there["task"]))
    if not tasks:
        return empty_figure("no data set has numbers for the ablation")
    labels = dict(zip(there["variant"], there["label"], strict=True))
    style()
    figure, axes = plt.subplots(
        1,
        len(CHANGES),
        figsize=(10.2, 0.6 + 0.36 * max(len(labels), 3)),
        sharey=True,
        layout="constrained",
    )
    place = {name: -row for row, name in enumerate(labels)}
    for ax, (column, title) in zip(axes, CHANGES.items(), strict=True):
        ax.axvline(0, color="0.5", lw=0.8, zorder=0)
        for number, task in enumerate(tasks):
            own = there[(there["task"] == task) & there[column].notna()]
            offset = 0.28 * ((len(tasks) - 1) / 2 - number)
            _intervals(ax, own, column, [place[v] + offset for v in own["variant"]], looks[task])
        for row in range(0, len(labels), 2):
            ax.axhspan(-row - 0.5, -row + 0.5, color="0.955", lw=0, zorder=-1)
        ax.set_title(title, fontsize=10.5)
        ax.tick_params(axis="y", length=0)
        ax.locator_params(axis="x", nbins=3)
        ax.set_ylim(-len(labels) + 0.5, 0.5)
        ax.spines["left"].set_visible(False)
    axes[0].set_yticks(list(place.values()), list(labels.values()))
    figure.supxlabel("change from plain BLEU Neighbors, with 95% interval", fontsize=10.5)
    handles = [
        Line2D([], [], color=look["colour"], marker=look["marker"], ls="", label=look["name"])
        for look in (looks[task] for task in tasks)
    ]
    figure.legend(handles=handles, loc="outside upper right", ncols=4, frameon=False)
    return figure


def _intervals(
    ax: Axes, rows: pd.DataFrame, column: str, at: list[float], look: Mapping[str, Any]
) -> None:
    value = rows[column].to_numpy(np.float64)
    low, high = (rows[f"{column}_{end}"].to_numpy(np.float64) for end in ("low", "high"))
    ax.errorbar(
        value,
        at,
        # an interval of a bootstrap may leave its estimate out
        xerr=np.clip([value - low, high - value], 0, None),
        fmt=look["marker"],
        ms=4.5,
        color=look["colour"],
        elinewidth=1.3,
    )


def front_figure(table: pd.DataFrame, fronts: pd.DataFrame, least: float, looks: Looks) -> Figure:
    """A panel a task: each model's front of coverage and Spearman, and honest values.

    Parameters
    ----------
    table : columns of ``bleu_neighbors_pareto.csv``
    fronts : columns task, model, coverage, spearman, by falling coverage within a model
    least : the coverage down to which fronts are drawn
    looks : how tasks are shown
    """
    there = table[table["n"].notna()]
    tasks = list(dict.fromkeys(there["task"]))
    if not tasks:
        return empty_figure("no data set has numbers for the Pareto fronts")
    models = dict(zip(dict.fromkeys(table["model"]), cycle(MODEL_LOOKS)))
    style()
    figure, axes = plt.subplots(
        1,
        len(tasks),
        figsize=(max(4.6 * len(tasks), 5), 3.8),
        layout="constrained",
        squeeze=False,
    )
    for ax, task in zip(axes[0], tasks, strict=True):
        own = list(dict.fromkeys(there.loc[there["task"] == task, "model"]))
        for number, model in enumerate(own):
            rows, points = (
                part[(part["task"] == task) & (part["model"] == model)] for part in (there, fronts)
            )
            shift = 0.008 * (number - (len(own) - 1) / 2)
            _front(ax, models[model], rows, points, least, shift)
        ax.axhline(0, color="0.7", lw=0.7, zorder=0)
        ax.set_title(looks[task]["name"], fontsize=10.5)
        ax.set_xlabel("coverage")
        ax.set_xlim(0.05, 1.04)
    axes[0, 0].set_ylabel("Spearman's $\\rho$")
    handles = [
        Line2D([], [], color=models[m][0], ls=models[m][1], label=m.upper())
        for m in dict.fromkeys(there["model"])
    ]
    handles += [
        Line2D([], [], color="0.35", lw=1, label="tuned on what it is measured on"),
        Line2D([], [], marker="o", label="honest, with 95% interval", color="0.35", ls=""),
        Line2D(
            [],
            [],
            marker="*",
            ms=11,
            mfc="white",
            color="0.35",
            ls="",
            label="the paper's thresholds",
        ),
    ]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize="small"
    )
    return figure


def _front(
    ax: Axes,
    look: tuple[str, str, str],
    rows: pd.DataFrame,
    points: pd.DataFrame,
    least: float,
    shift: float,
) -> None:
    colour, line, marker = look
    # What a front promises at some coverage is its best setting with at least that coverage; below
    # its last setting that is this one.
    ax.step(
        [*points["coverage"], least],
        [*points["spearman"], *points["spearman"][-1:]] or [np.nan],
        where="post",
        color=colour,
        ls=line,
        lw=1.3,
    )
    default = rows["rule"] == "default"
    honest = rows[~default & rows["spearman"].notna()]
    value = honest["spearman"].to_numpy(np.float64)
    low, high = (honest[f"spearman_{end}"].to_numpy(np.float64) for end in ("low", "high"))
    ax.errorbar(
        honest["coverage"] + shift,
        value,
        yerr=np.clip([value - low, high - value], 0, None),
        fmt=marker,
        ms=5,
        color=colour,
        elinewidth=0.9,
        alpha=0.9,
    )
    first = rows[default]
    ax.plot(first["coverage"], first["spearman"], "*", ms=12, mfc="white", mec=colour, zorder=4)
