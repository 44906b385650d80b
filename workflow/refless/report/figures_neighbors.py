"""Figures of what goes beyond the BLEU Neighbors paper: the ablation, and the Pareto fronts.

Stage: figure. In: the two tables. Out: matplotlib figures, in the style of `refless.report.figures`.
"""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from refless.report.figures import COLOURS, TASK_LABELS, style

CHANGES = {
    "spearman_change": "Spearman's $\\rho$",
    "within_change": "$\\rho$ within systems",
    "mse_change": "MSE",
    "coverage_change": "coverage",
}
TASK_MARKERS = {"huse_dialogue": "s", "huse_generation": "^", "huse_summarization": "o"}
MODEL_COLOURS = {"bleu": "#0072B2", "rouge": "#D55E00", "meteor": "#009E73"}
MODEL_STYLES = {"bleu": "-", "rouge": "--", "meteor": "-."}
MODEL_MARKERS = {"bleu": "o", "rouge": "s", "meteor": "^"}


def change_figure(table: pd.DataFrame, labels: Mapping[str, str]) -> Figure:
    """A row a variant, a panel a measure: change from plain with its 95% interval.

    Parameters
    ----------
    table : columns task, variant, and each of CHANGES with ``_low`` and ``_high``
    labels : variant -> its name, from the top down
    """
    there = table[table["coverage_change"].notna()]
    tasks = list(dict.fromkeys(there["task"]))
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
            _intervals(ax, own, column, [place[v] + offset for v in own["variant"]], task)
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
        Line2D([], [], color=_colour(t), marker=_marker(t), ls="", label=TASK_LABELS.get(t, t))
        for t in tasks
    ]
    if handles:
        figure.legend(handles=handles, loc="outside upper right", ncols=4, frameon=False)
    else:
        axes[0].text(0.5, 0.5, "not available", transform=axes[0].transAxes, ha="center")
    return figure


def _intervals(ax: Axes, rows: pd.DataFrame, column: str, at: list[float], task: str) -> None:
    value = rows[column].to_numpy(np.float64)
    low, high = (rows[f"{column}_{end}"].to_numpy(np.float64) for end in ("low", "high"))
    ax.errorbar(
        value,
        at,
        # an interval of a bootstrap may leave its estimate out
        xerr=np.clip([value - low, high - value], 0, None),
        fmt=_marker(task),
        ms=4.5,
        color=_colour(task),
        elinewidth=1.3,
    )


def _colour(task: str) -> str:
    return COLOURS.get(task, "0.3")


def _marker(task: str) -> str:
    return TASK_MARKERS.get(task, "D")


def front_figure(table: pd.DataFrame, fronts: pd.DataFrame, least: float) -> Figure:
    """A panel a task: each model's front of coverage and Spearman, and honest values.

    Parameters
    ----------
    table : columns of ``bleu_neighbors_pareto.csv``
    fronts : columns task, model, coverage, spearman, by falling coverage within a model
    least : the coverage down to which fronts are drawn
    """
    there = table[table["n"].notna()]
    tasks = list(dict.fromkeys(there["task"]))
    style()
    figure, axes = plt.subplots(
        1,
        max(len(tasks), 1),
        figsize=(max(4.6 * len(tasks), 5), 3.8),
        layout="constrained",
        squeeze=False,
    )
    for ax, task in zip(axes[0], tasks, strict=False):
        models = list(dict.fromkeys(there.loc[there["task"] == task, "model"]))
        for number, model in enumerate(models):
            own, points = (
                part[(part["task"] == task) & (part["model"] == model)] for part in (there, fronts)
            )
            _front(ax, model, own, points, least, 0.008 * (number - (len(models) - 1) / 2))
        ax.axhline(0, color="0.7", lw=0.7, zorder=0)
        ax.set_title(TASK_LABELS.get(task, task), fontsize=10.5)
        ax.set_xlabel("coverage")
        ax.set_xlim(0.05, 1.04)
    axes[0, 0].set_ylabel("Spearman's $\\rho$")
    if not tasks:
        axes[0, 0].text(0.5, 0.5, "not available", transform=axes[0, 0].transAxes, ha="center")
        return figure
    handles = [
        Line2D(
            [],
            [],
            color=_model(MODEL_COLOURS, m, "0.3"),
            ls=_model(MODEL_STYLES, m, ":"),
            label=m.upper(),
        )
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
    ax: Axes, model: str, rows: pd.DataFrame, points: pd.DataFrame, least: float, shift: float
) -> None:
    colour = _model(MODEL_COLOURS, model, "0.3")
    # What a front promises at some coverage is its best setting with at least that coverage; below
    # its last setting that is this one.
    ax.step(
        [*points["coverage"], least],
        [*points["spearman"], *points["spearman"][-1:]] or [np.nan],
        where="post",
        color=colour,
        ls=_model(MODEL_STYLES, model, ":"),
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
        fmt=_model(MODEL_MARKERS, model, "D"),
        ms=5,
        color=colour,
        elinewidth=0.9,
        alpha=0.9,
    )
    first = rows[default]
    ax.plot(first["coverage"], first["spearman"], "*", ms=12, mfc="white", mec=colour, zorder=4)


def _model(choices: Mapping[str, str], model: str, other: str) -> str:
    return choices.get(model, other)
