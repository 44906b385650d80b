"""RNN-QE: tables 3 to 5 as a forest plot, and correlations over the data size. Stage: figure."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from refless.experiments.rnn_qe.tables import data_size
from refless.report.catalogue import catalogue
from refless.report.figures import (
    BAND,
    BAND_OF_SUBSETS,
    FOREST,
    GREY,
    PALETTE,
    PUBLISHED,
    TO_PASS,
    empty_figure,
    forest_figure,
    sizes_figure,
)
from refless.report.names import plain, words

_SCHEDULES = {
    "paper": (PALETTE[1], "s", "paper's schedule"),
    "short": (PALETTE[0], "o", "short schedule"),
    "": (GREY, "^", "no network"),
}
_CURVES = {
    "bleu_neighbors": (PALETTE[0], "o", "BLEU Neighbors"),
    "rnn_qe": (PALETTE[1], "s", "RNN-QE, set-up 1"),
}
_PITCH = 0.2
"""Inches from a line to the next, which may have two schedules and a published value."""
_ABSENT = "RNN-QE's table 3 has the reason"
_KEYS = ["table", "configuration", "setup", "schedule"]
_VALUES = ["pearson", "pearson_low", "pearson_high", "paper_pearson"]


def correlations_of_setups(tables: Mapping[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Pearson's r of every row of tables 3 to 5 and the paper's, a row of panels a table, a panel a
    configuration."""
    correlations = pd.concat([table.assign(table=name) for name, table in tables.items()])
    correlations = (
        correlations.dropna(subset="pearson")
        .reindex(columns=[*_KEYS, *_VALUES])
        .reset_index(drop=True)
    )
    correlations[_KEYS] = correlations[_KEYS].map(plain)
    if correlations.empty:
        return empty_figure(_ABSENT), correlations
    rows = correlations.rename(columns=FOREST).assign(
        label=_with_meaning(correlations, "setup", ": "),
        style=correlations["schedule"],
        down=correlations["table"].map(lambda name: catalogue()[name].item),
        across=_with_meaning(correlations, "configuration", ":\n").fillna("all outputs"),
        published=pd.to_numeric(correlations["paper_pearson"], "coerce"),
    )
    title = "RNN-QE, tables 3 to 5: Pearson's r with its 95% interval, and the paper's"
    return forest_figure(rows, _SCHEDULES, title, _PITCH), correlations


def _with_meaning(rows: pd.DataFrame, column: str, between: str) -> pd.Series:
    """The names of a column, and what each means where that is said."""
    meanings = rows[column].map(words()[f"{column}_means"])
    return rows[column].map(words()[column]) + (between + meanings).fillna("")


def correlations_over_size(
    outputs: Iterable[str],
    curve: Iterable[str],
    published: pd.DataFrame,
    predictions: Mapping[str, Sequence[str]],
) -> tuple[Figure, pd.DataFrame]:
    """Pearson and Spearman over the number of rated training outputs, as bands over random subsets
    (`sizes_figure`); the paper's set-up 1, of its table 3, at the end; and a line, the look-up in
    all rated outputs. The table has means and standard deviations."""
    subsets = data_size(outputs, curve, predictions)
    measures = ["pearson", "spearman"]
    of_size = subsets.groupby(["model", "size"])[measures]
    points = of_size.mean().join(of_size.std(ddof=0).add_suffix("_sd")).reset_index()
    if subsets.empty:
        return empty_figure(_ABSENT), points
    row = published[published["setup"] == "1"].iloc[0]
    printed = {name: {"rnn_qe": float(row[name])} for name in measures}
    rows = subsets.rename(columns={"model": "series"})
    title = "RNN-QE: correlation with ratings, by the number of rated outputs that train"
    curves = rows[rows["series"].isin(_CURVES)]
    figure, axes = sizes_figure(curves, _CURVES, measures, printed, title)
    lookup = rows[rows["series"] == "lookup"].iloc[0]
    for ax, measure in zip(axes, measures, strict=True):
        ax.axhline(lookup[measure], zorder=0, **TO_PASS)
    handles: list[Artist] = [
        *(Line2D([], [], color=c, marker=m, label=name) for c, m, name in _CURVES.values()),
        Patch(color="0.3", label=BAND_OF_SUBSETS, **BAND),
        Line2D([], [], label="look-up in all rated outputs", **TO_PASS),
        Line2D([], [], mec=_CURVES["rnn_qe"][0], label="published", **PUBLISHED),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure, points
