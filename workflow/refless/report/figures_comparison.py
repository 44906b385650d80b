"""Every method on every data set, as dots. Stage: figure."""

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from refless.report.figures import Styles, empty_figure, set_style

COLUMNS = ["dataset", "split", "method", "kernel", "pearson"]


def comparison_figure(table: pd.DataFrame, styles: Styles) -> Figure:
    """Pearson's r of each method, a panel a split, a colour and a marker a data set.

    table : `COLUMNS`, a row a dot; methods in its order, from the top
    styles : how data sets are shown
    """
    if table.empty:
        return empty_figure("nothing to draw: the table has the reason")
    set_style()
    names = {dataset: style["name"] for dataset, style in styles.items()}
    there = [dataset for dataset in styles if dataset in set(table["dataset"])]
    labels = (table["method"] + " " + table["kernel"].fillna("")).str.strip()
    grid = sns.relplot(
        table.assign(name=table["dataset"].map(names), label=labels),
        x="pearson",
        y="label",
        col="split",
        hue="name",
        hue_order=[names[dataset] for dataset in there],
        palette={names[dataset]: styles[dataset]["colour"] for dataset in there},
        style="name",
        style_order=[names[dataset] for dataset in there],
        markers={names[dataset]: styles[dataset]["marker"] for dataset in there},
        height=3.8,
        aspect=0.75,
        s=34,
    )
    grid.set_axis_labels("Pearson's $r$", "")
    grid.set_titles("new {col_name}")
    for ax in grid.axes.flat:
        ax.axvline(0, color="0.7", lw=0.8, zorder=0)
        ax.grid(axis="y", color="0.93", zorder=0)
    sns.move_legend(grid, "upper center", bbox_to_anchor=(0.5, 0.02), ncols=3, title=None)
    return grid.figure
