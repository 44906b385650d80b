"""Figure 2 of Discriminative BLEU, in the style of `refless.report.figures`.

Stage: figure. In: numbers by `refless.experiments.delta_bleu.units`. Out: a matplotlib figure.
"""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from refless.report.figures import Looks, empty_figure, style

Array = np.ndarray

METRIC_LOOKS = {
    ("bleu", ""): ("BLEU", "#0072B2", "-", "o"),
    ("sbleu", ""): ("sBLEU", "#009E73", "--", "s"),
    ("bleu_context_weighted", ""): ("BLEU, contexts weighted", "#56B4E9", ":", "v"),
    ("delta_bleu", ""): ("ΔBLEU", "#D55E00", "-", "^"),
    ("delta_bleu", "all"): ("ΔBLEU, all references (B, C)", "#E69F00", "-.", "D"),
}
DODGE = 0.012
"""How far apart, as a share of a panel's width, the intervals of two metrics stand."""


def delta_bleu_figure(numbers: Mapping[str, pd.DataFrame], looks: Looks) -> Figure:
    """Figure 2 of ΔBLEU, a row a data set: Spearman's rho over threshold on w, unit size and order.

    Parameters
    ----------
    numbers : by data set, columns kind (threshold, unit or order), metric, references, order, unit,
        spearman, spearman_low and spearman_high
    looks : how data sets are shown
    """
    if not numbers:
        return empty_figure("no data set of ΔBLEU is there")
    style()
    figure, axes = plt.subplots(
        len(numbers),
        3,
        figsize=(8.2, 0.5 + 2.3 * len(numbers)),
        squeeze=False,
        sharey="row",
        layout="constrained",
    )
    titles = {
        "threshold": "(A) least weight $w$ of a reference",
        "unit": "(B) contexts in a unit, $w\\geq 0.6$",
        "order": "(C) order of n-grams, $w\\geq 0.6$",
    }
    for line, (task, table) in zip(axes, numbers.items(), strict=True):
        for ax, kind in zip(line, titles, strict=True):
            _metric_lines(ax, kind, table[table["kind"] == kind])
            ax.axhline(0, color="0.7", lw=0.8, zorder=0)
        line[0].set_ylabel(f"{looks[task]['name']}\nSpearman's $\\rho$")
        line[0].invert_xaxis()
        line[1].set_xscale("log")
        sizes = sorted(table.loc[table["kind"] == "unit", "unit"].unique())
        line[1].set_xticks(sizes, [f"{size:g}" for size in sizes])
        line[1].minorticks_off()
        line[2].set_xticks(sorted(table.loc[table["kind"] == "order", "order"].unique()))
    for ax, title in zip(axes[-1], titles.values(), strict=True):
        ax.set_xlabel(title)
    handles, labels = axes[0, 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    return figure


def _metric_lines(ax: Axes, kind: str, table: pd.DataFrame) -> None:
    """Lines with intervals as bars, side by side: bands of four metrics would hide each other."""
    for k, ((metric, references), (label, colour, line, marker)) in enumerate(METRIC_LOOKS.items()):
        own = table[table["metric"] == metric]
        if kind == "threshold":
            own = own.assign(threshold=own["references"].str.removeprefix("w>=").astype(float))
        else:
            own = own[own["references"] == (references or "w>=0.6")]
        if own.empty or (kind == "threshold" and references):
            continue
        own = own.sort_values(kind)
        place = _dodged(own[kind].to_numpy(np.float64), kind, k - (len(METRIC_LOOKS) - 1) / 2)
        ax.plot(place, own["spearman"], line, color=colour, marker=marker, ms=3.5, label=label)
        ax.vlines(place, own["spearman_low"], own["spearman_high"], color=colour, lw=0.9, alpha=0.6)


def _dodged(place: Array, kind: str, steps: float) -> Array:
    """Places a few steps to the right; those of panel B stand on a logarithmic axis."""
    scaled = np.log(place) if kind == "unit" else place
    shift = steps * DODGE * max(np.ptp(scaled), 1e-9)
    if kind == "threshold":  # its axis runs from high to low
        shift = -shift
    return np.exp(scaled + shift) if kind == "unit" else scaled + shift
