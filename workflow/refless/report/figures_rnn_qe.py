"""RNN-QE: tables 3 to 5 as a forest plot, and correlations over the data size. Stage: figure."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from refless.experiments.rnn_qe.tables import data_size
from refless.report.catalogue import catalogue
from refless.report.figures import FOREST, GREY, PALETTE, empty_figure, forest_figure, sizes_figure
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
        label=correlations["setup"].map(words()["setup"]),
        style=correlations["schedule"],
        down=correlations["table"].map(lambda name: catalogue()[name].item),
        across=correlations["configuration"].map(words()["configuration"]).fillna("all outputs"),
        published=pd.to_numeric(correlations["paper_pearson"], "coerce"),
    )
    return forest_figure(rows, _SCHEDULES), correlations


def correlations_over_size(
    outputs: Iterable[str],
    curve: Iterable[str],
    published: pd.DataFrame,
    predictions: Mapping[str, Sequence[str]],
) -> tuple[Figure, pd.DataFrame]:
    """Pearson and Spearman over the number of rated training outputs, with one standard deviation
    over subsets (see `data_size`); the paper's set-up 1, of its table 3, at the end."""
    points = data_size(outputs, curve, predictions)
    if points.empty:
        return empty_figure(_ABSENT), points
    measures, row = ("pearson", "spearman"), published[published["setup"] == "1"].iloc[0]
    printed = {name: {"rnn_qe": float(row[name])} for name in measures}
    rows = points.rename(columns={"model": "series"})
    figure, axes = sizes_figure(rows, _CURVES, measures, printed)
    axes[0].legend()
    return figure, points
