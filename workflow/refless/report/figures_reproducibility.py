"""Ours less published, all cells. Stage: figure."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from refless.experiments.published import ABSENT, EQUAL, INSIDE, OUTSIDE
from refless.experiments.reproducibility.cells import MEASURED, kind_of_measure
from refless.report.catalogue import catalogue
from refless.report.figures import GREY, empty_figure, panels

_LOOKS = {EQUAL: ("#0072B2", "o", 9), INSIDE: (GREY, "s", 4), OUTSIDE: ("#D55E00", "X", 14)}
"""Colour, marker and its area, by agreement."""


def differences(tables: Mapping[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Ours less the published value, with intervals, a band a table: correlations on the left, and
    errors, in percent of the published one, on the right.

    tables : `reproducibility_cells`; those without ours are left out
    """
    table = tables["reproducibility_cells"]
    cells = table.assign(
        published=pd.to_numeric(table["published"], "coerce"),
        kind=table["measure"].map(kind_of_measure),
    )
    cells = cells[cells["kind"].isin(MEASURED)]
    counts = cells["agreement"].value_counts()
    cells = cells[cells["ours"].notna() & cells["published"].notna()]
    if cells.empty:
        return empty_figure("no published number has one of ours beside it"), table
    scale = np.where(cells["kind"] == "errors", 100 / cells["published"].abs(), 1)
    for name in ("ours", "ours_low", "ours_high"):
        cells[name] = (cells[name] - cells["published"]) * scale
    most = cells.groupby(["table", "kind"], sort=False).size().groupby("table", sort=False).max()
    sizes = most.clip(lower=7)
    ends = sizes.cumsum() + 4 * np.arange(1, len(sizes) + 1)
    figure, (axes,) = panels(1, 2, 1.4 + 0.025 * ends.iloc[-1], sharey=True)
    for ax, kind in zip(axes, MEASURED, strict=True):
        part = cells[cells["kind"] == kind].sort_values("ours")
        middle = part["table"].map(ends - sizes / 2)
        of_table = part.groupby("table")["ours"]
        part = part.assign(height=middle + of_table.cumcount() - of_table.transform("size") / 2)
        for agreement, (colour, marker, area) in _LOOKS.items():
            rows = part[part["agreement"] == agreement]
            interval = rows["ours_low"], rows["ours_high"]
            ax.hlines(rows["height"], *interval, colour, lw=0.6, alpha=0.6)
            ax.scatter(rows["ours"], rows["height"], area, colour, marker=marker, lw=0, zorder=3)
        for end in ends:
            ax.axhline(end + 2, color="0.9", lw=0.8, zorder=0)
        ax.axvline(0, color="0.3", lw=0.8, zorder=0)
    axes[0].set(xlabel="correlations: ours less published", xlim=(-0.6, 0.6))
    axes[1].set(xlabel="errors: ours less published,\nin % of the published", xlim=(-60, 60))
    names = [f"{catalogue()[name].paper}, {catalogue()[name].item}" for name in sizes.index]
    axes[0].set_yticks(ends - sizes / 2, names)
    axes[0].invert_yaxis()
    handles = [
        Line2D([], [], ls="none", color=c, marker=m, label=f"{name}: {counts.get(name, 0)}")
        for name, (c, m, _) in _LOOKS.items()
    ]
    handles.append(
        Line2D([], [], ls="none", label=f"{ABSENT}: {counts.get(ABSENT, 0)} (not drawn)")
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure, table
