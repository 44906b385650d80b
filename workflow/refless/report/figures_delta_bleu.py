"""Figure 2 of Discriminative BLEU, in the style of `refless.report.figures`.

Stage: figure. In: points by `refless.experiments.delta_bleu.table2`. Out: a matplotlib figure.
"""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from refless.report.figures import Styles, empty_figure, set_style

METRIC_STYLES = {
    ("bleu", ""): ("BLEU", "#0072B2", "-", "o"),
    ("sbleu", ""): ("sBLEU", "#009E73", "--", "s"),
    ("delta_bleu", ""): ("ΔBLEU", "#D55E00", "-", "^"),
    ("delta_bleu", "all"): ("ΔBLEU, all references (B, C)", "#E69F00", "-.", "D"),
}
PANELS = {
    "threshold": "(A) least weight $w$ of a reference",
    "unit": "(B) contexts in a unit, $w\\geq 0.6$",
    "order": "(C) order of n-grams, $w\\geq 0.6$",
}


def delta_bleu_figure(points: pd.DataFrame, styles: Styles) -> Figure:
    """Figure 2 of ΔBLEU, a row a data set: Spearman's rho over threshold on w, unit size and order.

    points : columns dataset, panel (threshold, unit or order), metric, references, unit, order and
        spearman
    styles : how data sets are shown
    """
    tasks = points["dataset"].unique()
    if not len(tasks):
        return empty_figure("nothing to draw: table 2 of ΔBLEU has the reason")
    set_style()
    shape, size = (len(tasks), 3), (8.2, 0.5 + 2.3 * len(tasks))
    figure, axes = plt.subplots(
        *shape, figsize=size, squeeze=False, sharey="row", layout="constrained"
    )
    for line, dataset in zip(axes, tasks, strict=True):
        own = points[points["dataset"] == dataset]
        for ax, panel in zip(line, PANELS, strict=True):
            _metric_lines(ax, panel, own[own["panel"] == panel])
            ax.axhline(0, color="0.7", lw=0.8, zorder=0)
        line[0].set_ylabel(f"{styles[dataset]['name']}\nSpearman's $\\rho$")
        line[0].invert_xaxis()
        line[1].set_xscale("log")
        sizes = sorted(own.loc[own["panel"] == "unit", "unit"].unique())
        line[1].set_xticks(sizes, [f"{size:g}" for size in sizes])
        line[1].minorticks_off()
        line[2].set_xticks(sorted(own.loc[own["panel"] == "order", "order"].unique()))
    for ax, title in zip(axes[-1], PANELS.values(), strict=True):
        ax.set_xlabel(title)
    handles, labels = axes[0, 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    return figure


def _metric_lines(ax: Axes, panel: str, points: pd.DataFrame) -> None:
    for (metric, references), (label, colour, line, marker) in METRIC_STYLES.items():
        own = points[points["metric"] == metric]
        if panel != "threshold":
            own = own[own["references"] == (references or "w>=0.6")]
        elif references:
            continue
        else:
            own = own.assign(threshold=own["references"].str.removeprefix("w>=").astype(float))
        own = own.sort_values(panel)
        place = own[panel]
        ax.plot(place, own["spearman"], line, color=colour, marker=marker, ms=3.5, label=label)
