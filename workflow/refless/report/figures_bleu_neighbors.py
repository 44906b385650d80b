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
    """Figures 2 and 3, from the files of a run: see `threshold_figure`."""
    tasks = read_predicted(ratings, predictions, **thresholds)
    curve = curves.threshold_curves(tasks, kernel, **thresholds)
    people = curves.average_annotators(tasks) if column == "spearman" else {}
    points = curves.published_points(published, styles)[column]
    figure = threshold_figure(curve, styles, column, thresholds, people, points)
    return figure, curve[["dataset", "threshold", "value", column]]


def threshold_figure(
    curve: pd.DataFrame,
    styles: Appearance,
    column: str,
    defaults: Mapping[str, float],
    people: Annotators,
    published: Mapping[str, float],
) -> Figure:
    """Two panels, a on the left and b on the right: figures 2 and 3.

    curve : the columns dataset, threshold, value, spearman and coverage
    styles : how data sets are shown
    column : ``spearman`` or ``coverage``
    defaults : the default of ``a`` and of ``b``, marked by a thin line
    people : of data sets with annotators
    published : by data set, the paper's value at the defaults, drawn hollow
    """
    if curve.empty:
        return empty_figure(_ABSENT)
    figure, (axes,) = panels(1, 2, 3.4, sharey=True)
    for ax, (threshold, label) in zip(axes, _THRESHOLDS.items(), strict=True):
        panel = curve[curve["threshold"] == threshold]
        ax.set_xlim(panel["value"].min(), panel["value"].max())
        for dataset, part in panel.groupby("dataset", sort=False):
            style = styles[str(dataset)]
            (line,) = ax.plot(part["value"], part[column], color=style["colour"])
            line.set(label=style["name"], marker=style["marker"], markevery=max(1, len(part) // 8))
            _annotators(ax, style, people.get(str(dataset)))
            if (value := published.get(str(dataset))) is not None:
                point = {"mec": style["colour"], "clip_on": False, **PUBLISHED}
                ax.plot(defaults[threshold], value, **point)
        ax.axvline(defaults[threshold], color="0.75", lw=0.8, zorder=0)
        ax.set_xlabel(label)
    axes[0].set_ylabel(AXES[column])
    # where few texts are covered, a rho may be anything
    heights = curve.loc[curve["coverage"] >= _LEAST_COVERAGE, column].tolist()
    heights += [rho for dataset in curve["dataset"].unique() for rho in people.get(dataset, ())]
    if np.isfinite(heights).any():
        low, high = np.nanmin(heights), np.nanmax(heights)
        axes[0].set_ylim(low - 0.05, high + 0.05)
    figure.legend(
        handles=_handles(curve["dataset"].unique(), styles, people, published),
        loc="outside lower center",
        ncols=3,
    )
    return figure


def figure_over_sizes(
    ratings: Iterable[str],
    sizes: Iterable[str],
    published: pd.DataFrame,
    styles: Appearance,
    thresholds: Mapping[str, Any],
) -> tuple[Figure, pd.DataFrame]:
    """Figure 4, from the files of a run: see `data_size_figure`."""
    curve = curves.read_data_sizes(sizes)
    people = curves.average_annotators(read_predicted(ratings, [], **thresholds))
    figure = data_size_figure(curve, styles, people, curves.published_points(published, styles))
    means = curve.drop(columns="subset").groupby(["dataset", "size"], sort=False).mean()
    return figure, means.reset_index()


def data_size_figure(
    curve: pd.DataFrame,
    styles: Appearance,
    people: Annotators,
    published: Mapping[str, Mapping[str, float]],
) -> Figure:
    """Spearman and coverage over the number of rated texts, with one standard deviation.

    curve : the columns dataset, size, subset, spearman and coverage
    people : as for `threshold_figure`, in the panel of Spearman
    published : by measure, the paper's value on all texts
    """
    if curve.empty:
        return empty_figure(_ABSENT)
    grouped = curve.groupby(["dataset", "size"], sort=False)[["spearman", "coverage"]]
    points = grouped.mean().join(grouped.std(ddof=0).add_suffix("_sd")).reset_index()
    points = points.rename(columns={"dataset": "series"})
    appearances = {
        task: (style["colour"], style["marker"], style["name"]) for task, style in styles.items()
    }
    figure, axes = sizes_figure(points, appearances, ("spearman", "coverage"), published)
    tasks = curve["dataset"].unique()
    for dataset in tasks:
        _annotators(axes[0], styles[dataset], people.get(dataset))
    handles = _handles(tasks, styles, people, published)
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _annotators(ax: Axes, style: Mapping[str, Any], both: tuple[float, float] | None) -> None:
    """A data set's average annotator as two lines, which end in its marker."""
    for rho, dashes in zip(both or (), _DASHES.values(), strict=False):
        (line,) = ax.plot([0, 1], [rho, rho], transform=ax.get_yaxis_transform(), label="_people")
        line.set(color=style["colour"], ls=dashes, lw=1.1, marker=style["marker"], mfc="white")
        line.set(markevery=[1], clip_on=False)


def _handles(
    tasks: Iterable[str], styles: Appearance, people: Annotators, published: Mapping[str, Any]
) -> list[Line2D]:
    """Of a legend: data sets by colour and marker, what else is drawn in grey."""
    handles = [
        Line2D([], [], color=style["colour"], marker=style["marker"], label=style["name"])
        for style in (styles[dataset] for dataset in tasks)
    ]
    for label, dashes in _DASHES.items() if people else ():
        handles.append(Line2D([], [], color="0.3", ls=dashes, lw=1.1, label=label))
    if published:
        handles.append(Line2D([], [], color="0.3", label="published", **PUBLISHED))
    return handles
