"""Whom a score favours at equal true quality, and by how much it misses, as a forest plot.

Stage: figure. In: `refless.evaluation.bias.bias_table`. Out: a matplotlib figure.
"""

import pandas as pd
from matplotlib.figure import Figure

from refless.evaluation.bias import SYSTEM
from refless.report.figures import PALETTE, empty_figure, forest_figure
from refless.statistics.measure import Measure

PANELS = {"favour": "favour", "error": "error", "error_left_out": "error"}
"""Quantity -> the title of its panel."""
STYLES = {
    "favour": (PALETTE[0], "o", "favour, at equal true quality"),
    "error": (PALETTE[1], "s", "error, system in training"),
    "error_left_out": (PALETTE[2], "^", "error, system left out"),
}
UNIT = "units of ratings"


def bias_figure(table: pd.DataFrame) -> Figure:
    """Favour and both errors of each system with their intervals, a row of panels a score, in the
    order of favour; methods that have no favour are not drawn.

    table : `refless.evaluation.bias.BIAS_COLUMNS`
    """
    systems = table[(table["kind"] == SYSTEM) & table["favour"].notna()]
    if systems.empty:
        return empty_figure("no score has a favour of a system")
    order = systems.sort_values("favour", ascending=False, kind="stable")
    parts = []
    for quantity, panel in PANELS.items():
        columns = dict(zip(Measure(quantity).interval, ("value", "low", "high"), strict=True))
        part = order[["method", "group", *columns]].rename(columns=columns)
        parts.append(part.assign(style=quantity, across=panel).dropna(subset="value"))
    rows = pd.concat(parts).rename(columns={"method": "down", "group": "label"})
    rows = rows.sort_values("down", key=lambda down: down.map(_places(table)), kind="stable")
    title = "Whom scores favour at equal true quality, and how far predictions miss"
    figure = forest_figure(rows, STYLES, title)
    for ax in figure.axes:
        if ax.get_xlabel():
            ax.set_xlabel(UNIT)
    return figure


def _places(table: pd.DataFrame) -> dict[str, int]:
    """The place of each method in a table."""
    return {name: place for place, name in enumerate(table["method"].unique())}
