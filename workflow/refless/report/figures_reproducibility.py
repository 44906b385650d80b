"""Published numbers against ours, all cells. Stage: figure."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from refless.report.catalogue import catalogue
from refless.report.figures import PALETTE, empty_figure, plt, set_style

PANELS = {"correlation": ("spearman", "pearson", "kendall"), "error": ("mse", "mae", "rmse")}
MARKERS = "osD^vP"


def cells_figure(cells: pd.DataFrame) -> Figure:
    """Ours over the published value, a panel a kind of measure, with intervals and the diagonal.

    cells : the table `reproducibility_cells`; those without ours are left out
    """
    cells = cells.assign(published=pd.to_numeric(cells["published"], "coerce"))
    cells = cells[cells["ours"].notna() & cells["published"].notna()]
    parts = {label: cells[cells["measure"].isin(own)] for label, own in PANELS.items()}
    parts = {label: own for label, own in parts.items() if len(own)}
    if not parts:
        return empty_figure("no published number has one of ours beside it")
    set_style()
    figure, axes = plt.subplots(1, len(parts), figsize=(4.1 * len(parts), 3.8), squeeze=False)
    tables = list(dict.fromkeys(pd.concat(parts.values())["table"]))
    handles: dict[str, Any] = {}
    for ax, (label, own) in zip(axes[0], parts.items(), strict=True):
        if label == "error":  # squared ones of ratings from 0 to 1, absolute ones of 1 to 6
            ax.set_xscale("log")
            ax.set_yscale("log")
        ends = own["published"].agg(["min", "max"])
        ax.plot(ends, ends, color="0.6", lw=0.8, zorder=0)
        for table, part in own.groupby("table", sort=False):
            entry, i = catalogue()[str(table)], tables.index(table)
            name = f"{entry.paper}, {entry.item}"
            low, high = part["ours"] - part["ours_low"], part["ours_high"] - part["ours"]
            handles[name] = ax.errorbar(
                part["published"],
                part["ours"],
                yerr=np.array([gap.clip(lower=0).fillna(0) for gap in (low, high)]),
                fmt=MARKERS[(i + i // len(PALETTE)) % len(MARKERS)],
                color=PALETTE[i % len(PALETTE)],
                ms=3.5,
                lw=0.5,
                alpha=0.75,
            )
        ax.set_xlabel(f"published {label}")
        ax.set_title(f"{len(own)} cells", fontsize=9)
    axes[0][0].set_ylabel("ours")
    figure.tight_layout()
    layout = {"ncols": 3, "fontsize": 8, "frameon": False, "bbox_to_anchor": (0.5, 0.0)}
    figure.legend(list(handles.values()), list(handles), loc="upper center", **layout)
    return figure
