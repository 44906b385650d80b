"""Figures 2 to 4 of BLEU Neighbors. Stage: figure."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from refless.experiments.bleu_neighbors import curves
from refless.experiments.bleu_neighbors.neighbors import read_predicted
from refless.experiments.published import read_rows
from refless.report.figures import AXES, PUBLISHED, empty_figure, panels, sizes_figure

_THRESHOLDS = {
    "a": "$a$: fewest neighbors",
    "b": "$b$: most neighbors (share of the texts)",
}
_DASHES = {"average annotator": (0, (5, 2)), "the same, own label included": (0, (1, 2))}
"""The lines of an average annotator: against the others, and against all, itself included."""
_ABSENT = "table 1 of BLEU Neighbors has the reason"
_LEAST_COVERAGE = 0.1
"""Coverage from which on a curve decides how high its panel is."""

Appearance = Mapping[str, Mapping[str, Any]]
"""Data set -> ``name``, ``colour`` and ``marker``, as configured."""
Annotators = Mapping[str, tuple[float, float]]
"""Data set -> rho of its average annotator, as `_DASHES`."""


def figure_over_thresholds(
    ratings: Iterable[str],
    predictions: Iterable[str],
    published: pd.DataFrame,
    styles: Appearance,
    thresholds: Mapping[str, Any],
    kernel: str,
    column: str,
) -> tuple[Figure, pd.DataFrame]:
    """Figures 2 and 3: two panels, a on the left and b on the right.

    ratings, predictions : the files of `read_predicted`
    published : the paper's table 1, whose values at the defaults are drawn hollow
    styles : how data sets are shown
    thresholds : the default of ``a`` and of ``b``, marked by a thin line
    kernel : whose predictions are drawn
    column : ``spearman``, with the average annotator, or ``coverage``
    """
    tasks = read_predicted(ratings, predictions, **thresholds)
    curve = curves.threshold_curves(tasks, kernel, **thresholds)
    table = curve[["dataset", "threshold", "value", column]]
    if curve.empty:
        return empty_figure(_ABSENT), table
    people = curves.average_annotators(tasks) if column == "spearman" else {}
    points = curves.published_points(published, styles)[column]
    figure, (axes,) = panels(1, 2, 3.4, sharey=True)
    for ax, (threshold, label) in zip(axes, _THRESHOLDS.items(), strict=True):
        panel = curve[curve["threshold"] == threshold]
        ax.set_xlim(panel["value"].min(), panel["value"].max())
        for dataset, part in panel.groupby("dataset", sort=False):
            style = styles[str(dataset)]
            (line,) = ax.plot(part["value"], part[column], color=style["colour"])
            line.set(label=style["name"], marker=style["marker"], markevery=max(1, len(part) // 8))
            _annotators(ax, style, people.get(str(dataset)))
            if (value := points.get(str(dataset))) is not None:
                point = {"mec": style["colour"], "clip_on": False, **PUBLISHED}
                ax.plot(thresholds[threshold], value, **point)
        ax.axvline(thresholds[threshold], color="0.75", lw=0.8, zorder=0)
        ax.set_xlabel(label)
    axes[0].set_ylabel(AXES[column])
    # where few texts are covered, a rho may be anything
    heights = curve.loc[curve["coverage"] >= _LEAST_COVERAGE, column].tolist()
    heights += [rho for dataset in curve["dataset"].unique() for rho in people.get(dataset, ())]
    if np.isfinite(heights).any():
        low, high = np.nanmin(heights), np.nanmax(heights)
        axes[0].set_ylim(low - 0.05, high + 0.05)
    _legend(figure, curve["dataset"].unique(), styles, people, points)
    return figure, table


def figure_over_sizes(
    ratings: Iterable[str],
    sizes: Iterable[str],
    published: pd.DataFrame,
    styles: Appearance,
    thresholds: Mapping[str, Any],
) -> tuple[Figure, pd.DataFrame]:
    """Figure 4: Spearman and coverage over the number of rated texts, with one standard deviation.

    sizes : the files of `refless.experiments.bleu_neighbors.curves.write_data_size_curve`
    Others are as for `figure_over_thresholds`.
    """
    curve = read_rows(sizes, curves.SIZE_COLUMNS)
    grouped = curve.groupby(["dataset", "size"], sort=False)[["spearman", "coverage"]]
    means = grouped.mean()
    if curve.empty:
        return empty_figure(_ABSENT), means.reset_index()
    people = curves.average_annotators(read_predicted(ratings, [], **thresholds))
    printed = curves.published_points(published, styles)
    points = means.join(grouped.std(ddof=0).add_suffix("_sd")).reset_index()
    points = points.rename(columns={"dataset": "series"})
    appearances = {
        task: (style["colour"], style["marker"], style["name"]) for task, style in styles.items()
    }
    figure, axes = sizes_figure(points, appearances, ("spearman", "coverage"), printed)
    tasks = curve["dataset"].unique()
    for dataset in tasks:
        _annotators(axes[0], styles[dataset], people.get(dataset))
    _legend(figure, tasks, styles, people, printed)
    return figure, means.reset_index()


def _annotators(ax: Axes, style: Mapping[str, Any], both: tuple[float, float] | None) -> None:
    """A data set's average annotator as two lines, which end in its marker."""
    for rho, dashes in zip(both or (), _DASHES.values(), strict=False):
        (line,) = ax.plot([0, 1], [rho, rho], transform=ax.get_yaxis_transform(), label="_people")
        line.set(color=style["colour"], ls=dashes, lw=1.1, marker=style["marker"], mfc="white")
        line.set(markevery=[1], clip_on=False)


def _legend(
    figure: Figure,
    tasks: Iterable[str],
    styles: Appearance,
    people: Annotators,
    published: Mapping[str, Any],
) -> None:
    """Data sets by colour and marker, what else is drawn in grey."""
    handles = [
        Line2D([], [], color=style["colour"], marker=style["marker"], label=style["name"])
        for style in (styles[dataset] for dataset in tasks)
    ]
    for label, dashes in _DASHES.items() if people else ():
        handles.append(Line2D([], [], color="0.3", ls=dashes, lw=1.1, label=label))
    if published:
        handles.append(Line2D([], [], color="0.3", label="published", **PUBLISHED))
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
