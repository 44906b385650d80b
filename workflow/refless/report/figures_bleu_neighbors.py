"""Figures 2 to 4 of BLEU Neighbors. Stage: figure."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from refless.experiments.bleu_neighbors import curves
from refless.experiments.bleu_neighbors.neighbors import read_predicted
from refless.experiments.published import read_rows
from refless.report.figures import (
    AXES,
    BAND,
    BAND_OF_SUBSETS,
    PUBLISHED,
    empty_figure,
    panels,
    sizes_figure,
)
from refless.report.names import words
from refless.statistics.measure import Measure

_THRESHOLDS = {
    "a": "$a$: fewest neighbors",
    "b": "$b$: most neighbors (share of the texts)",
}
_DASHES = {"average annotator": (0, (5, 2)), "the same, own label included": (0, (1, 2))}
"""The lines of an average annotator: against the others, and against all, itself included."""
_ABSENT = "table 1 of BLEU Neighbors has the reason"
_LEAST_COVERAGE = 0.2
"""Coverage below which no rho is drawn: of few texts, it may be anything."""
_SHARE_OF_DRAWS = 8
"""The band has a bootstrap at each value of a threshold, with so many times fewer draws than a cell
of a table."""
_TITLES = {
    "spearman": "BLEU Neighbors, figure 2: Spearman's rho with ratings, as a threshold moves",
    "coverage": "BLEU Neighbors, figure 3: share of texts with an estimate, as a threshold moves",
}

Appearance = Mapping[str, Mapping[str, Any]]
"""Data set -> ``name``, ``colour`` and ``marker``, as configured."""
Annotators = Mapping[str, tuple[float, float]]
"""Data set -> rho of its average annotator, as `_DASHES`."""


def figure_over_thresholds(
    ratings: Iterable[str],
    predictions: Iterable[str],
    published: pd.DataFrame,
    styles: Appearance,
    kernel: str,
    settings: Mapping[str, Any],
    column: str,
) -> tuple[Figure, pd.DataFrame]:
    """Figures 2 and 3: two panels, a on the left and b on the right, with 95% intervals as bands.

    ratings, predictions : the files of `read_predicted`
    published : the paper's table 1, whose values at the defaults are drawn hollow
    styles : how data sets are shown
    kernel : whose predictions are drawn
    settings : the default of ``a`` and of ``b``, marked by a thin line; ``draws`` and ``seed`` of
        the bootstrap of tables
    column : ``spearman``, with the average annotator, or ``coverage``
    """
    thresholds = _thresholds(settings)
    draws = max(1, settings["draws"] // _SHARE_OF_DRAWS)
    tasks = read_predicted(ratings, predictions, **thresholds)
    curve = curves.threshold_curves(tasks, kernel, thresholds, draws, settings["seed"])
    interval = Measure(column).interval
    table = curve[["dataset", "threshold", "value", *interval]]
    if curve.empty:
        return empty_figure(_ABSENT), table
    if column == "spearman":
        curve = curve.assign(**curve[interval].where(curve["coverage"] >= _LEAST_COVERAGE))
    people = curves.average_annotators(tasks) if column == "spearman" else {}
    points = curves.published_points(published, styles)[column]
    title = f"{_TITLES[column]} ({words()['kernel'][kernel]})"
    figure, (axes,) = panels(1, 2, 3.8, title, sharey=True)
    for ax, (threshold, label) in zip(axes, _THRESHOLDS.items(), strict=True):
        panel = curve[curve["threshold"] == threshold]
        for dataset, part in panel.groupby("dataset", sort=False):
            style = styles[str(dataset)]
            _line_in_band(ax, part["value"], part[interval], style)
            _annotators(ax, style, people.get(str(dataset)))
            if (value := points.get(str(dataset))) is not None:
                ax.plot(thresholds[threshold], value, mec=style["colour"], **PUBLISHED)
        ax.axvline(thresholds[threshold], color="0.75", lw=0.8, zorder=0)
        ax.set(xlabel=label, xlim=(panel["value"].min(), panel["value"].max()))
    axes[0].set_ylabel(AXES[column])
    _legend(figure, curve["dataset"].unique(), styles, people, points, "95% interval")
    return figure, table


def _thresholds(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: settings[name] for name in _THRESHOLDS}


def _line_in_band(ax: Axes, x: pd.Series, values: pd.DataFrame, style: Mapping[str, Any]) -> None:
    """A curve in its band; ``values`` has three columns, the value and both ends."""
    value, low, high = (values[name] for name in values)
    ax.fill_between(x, low, high, color=style["colour"], **BAND)
    (line,) = ax.plot(x, value, color=style["colour"], label=style["name"])
    line.set(marker=style["marker"], markevery=max(1, len(x) // 8))


def figure_over_sizes(
    ratings: Iterable[str],
    sizes: Iterable[str],
    published: pd.DataFrame,
    styles: Appearance,
    kernel: str,
    settings: Mapping[str, Any],
) -> tuple[Figure, pd.DataFrame]:
    """Figure 4: Spearman and coverage over the number of rated texts, as `sizes_figure` has them.

    sizes : the files of `refless.experiments.bleu_neighbors.curves.write_data_size_curve`
    Others are as for `figure_over_thresholds`.
    """
    curve = read_rows(sizes, curves.SIZE_COLUMNS)
    means = curve.groupby(["dataset", "size"], sort=False)[["spearman", "coverage"]].mean()
    if curve.empty:
        return empty_figure(_ABSENT), means.reset_index()
    people = curves.average_annotators(read_predicted(ratings, [], **_thresholds(settings)))
    printed = curves.published_points(published, styles)
    looks = {
        task: (style["colour"], style["marker"], style["name"]) for task, style in styles.items()
    }
    title = "BLEU Neighbors, figure 4: rho and coverage, by the number of rated texts"
    title += f" ({words()['kernel'][kernel]})"
    rows = curve.rename(columns={"dataset": "series"})
    measures = ("spearman", "coverage")
    figure, axes = sizes_figure(rows, looks, measures, printed, title)
    tasks = curve["dataset"].unique()
    for dataset in tasks:
        _annotators(axes[0], styles[dataset], people.get(dataset))
    _legend(figure, tasks, styles, people, printed, BAND_OF_SUBSETS)
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
    band: str,
) -> None:
    """Data sets by colour and marker, what else is drawn in grey."""
    handles: list[Artist] = [
        Line2D([], [], color=style["colour"], marker=style["marker"], label=style["name"])
        for style in (styles[dataset] for dataset in tasks)
    ]
    handles.append(Patch(color="0.3", label=band, **BAND))
    for label, dashes in _DASHES.items() if people else ():
        handles.append(Line2D([], [], color="0.3", ls=dashes, lw=1.1, label=label))
    if published:
        handles.append(Line2D([], [], mec="0.3", label="published", **PUBLISHED))
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
