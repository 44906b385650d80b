"""Figure 2 of Discriminative BLEU. Stage: figure."""

from collections.abc import Iterable, Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from refless.experiments.delta_bleu.table2 import ENDS, LEAST_WEIGHT, figure2
from refless.report.figures import AXES, GREY, empty_figure, panels

_METRICS = {
    "bleu": ("BLEU", "#0072B2", "o"),
    "sbleu": ("sentence BLEU", "#009E73", "s"),
    "delta_bleu": ("ΔBLEU", "#D55E00", "^"),
}
_LINES = {"w>=0.6": "-", "all": "--"}
"""Of the panels in which references stay the same, their lines."""
_PANELS = {
    "threshold": "(A) least weight $w$\nof a reference",
    "unit": "(B) contexts in a unit",
    "order": "(C) order of n-grams",
}


def reference_regimes(
    units: Iterable[str], published: pd.DataFrame, datasets: Mapping[str, str]
) -> tuple[Figure, pd.DataFrame]:
    """Figure 2 of ΔBLEU, a row a data set: Spearman's rho over threshold on w, unit size and order.

    units : the files of table 2
    published : columns metric, references, spearman_low and spearman_high: the paper's intervals,
        of other data, where they are not empty
    datasets : their names
    """
    points = figure2(units)
    tasks = points["dataset"].unique()
    if not len(tasks):
        return empty_figure("table 2 of ΔBLEU has the reason"), points
    intervals = published[["metric", "references", *ENDS]]
    intervals = intervals[(intervals != "").all(axis=1)]
    title = "ΔBLEU, figure 2: rho with ratings, by references, size of units and n-grams"
    figure, axes = panels(len(tasks), 3, 1.2 + 1.9 * len(tasks), title, sharey="row")
    for row, dataset in zip(axes, tasks, strict=True):
        rows = points[points["dataset"] == dataset]
        for ax, panel in zip(row, _PANELS, strict=True):
            _metric_lines(ax, panel, rows[rows["panel"] == panel])
            ax.axhline(0, color="0.7", lw=0.8, zorder=0)
        for metric, references, low, high in intervals.itertuples(index=False):
            x = _weight(LEAST_WEIGHT.get(references, references))
            colour = _METRICS[metric][1]
            row[0].plot([x] * 2, [float(low), float(high)], color=colour, lw=6, alpha=0.3)
        row[0].set_ylabel(f"{datasets[dataset]}\n{AXES['spearman']}")
        row[0].invert_xaxis()
        row[1].set_xscale("log")
        sizes = sorted(rows.loc[rows["panel"] == "unit", "unit"].unique())
        row[1].set_xticks(sizes, [f"{size:g}" for size in sizes])
        row[1].minorticks_off()
        row[2].set_xticks(sorted(rows.loc[rows["panel"] == "order", "order"].unique()))
    for ax, title in zip(axes[-1], _PANELS.values(), strict=True):
        ax.set_xlabel(title)
    handles = [Line2D([], [], color=c, marker=m, label=name) for name, c, m in _METRICS.values()]
    handles += [
        Line2D([], [], color="0.3", ls=line, label=f"B, C: {label}")
        for label, line in zip(("$w\\geq 0.6$", "all references"), _LINES.values(), strict=True)
    ]
    handles.append(
        Line2D([], [], color=GREY, lw=6, alpha=0.5, label="published interval (Twitter)")
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure, points


def _weight(references: str) -> float:
    return float(references.removeprefix("w>="))


def _metric_lines(ax: Axes, panel: str, points: pd.DataFrame) -> None:
    for shift, (metric, (_, colour, marker)) in enumerate(_METRICS.items(), start=-1):
        rows = points[points["metric"] == metric]
        if panel == "threshold":
            parts = {"-": rows.assign(threshold=rows["references"].map(_weight))}
        else:
            parts = {line: rows[rows["references"] == name] for name, line in _LINES.items()}
        for line, part in {line: part for line, part in parts.items() if len(part)}.items():
            part = part.sort_values(panel)
            # beside each other, so that intervals are told apart
            x = part[panel] * 1.06**shift if panel == "unit" else part[panel] + 0.04 * shift
            gaps = np.abs(part[ENDS].to_numpy(float).T - part["spearman"].to_numpy())
            bars = ax.errorbar(x, part["spearman"], gaps, ls=line, color=colour, marker=marker)
            plt.setp(bars[2], linewidth=0.9)
