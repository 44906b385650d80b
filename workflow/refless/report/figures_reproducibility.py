"""Published numbers against ours, all cells. Stage: figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from refless.report.catalogue import catalogue
from refless.report.figures import PALETTE, empty_figure, plt, style

COLUMNS = ["paper", "table", "measure", "published", "ours", "ours_low", "ours_high"]
PANELS = {
    "correlation": ("spearman", "pearson", "kendall"),
    "error": ("mse", "mae", "rmse"),
}
MARKERS = "osD^vP"


def cells_figure(cells: pd.DataFrame) -> Figure:
    """Ours over the published value, a panel a kind of measure, with intervals and the diagonal.

    Parameters
    ----------
    cells : the columns `COLUMNS`, a row a published cell; cells without ours are left out
    """
    cells = cells[cells["ours"].notna() & pd.to_numeric(cells["published"], "coerce").notna()]
    panels = {
        label: own for label, own in ((k, _of(cells, m)) for k, m in PANELS.items()) if len(own)
    }
    if not panels:
        return empty_figure("no published number has one of ours beside it")
    style()
    figure, axes = plt.subplots(1, len(panels), figsize=(4.1 * len(panels), 3.8), squeeze=False)
    tables = list(dict.fromkeys(pd.concat(panels.values())["table"]))
    for ax, (label, own) in zip(axes[0], panels.items(), strict=True):
        values = np.r_[own["published"], own["ours"], own["ours_low"], own["ours_high"]]
        values = values[~np.isnan(values)]
        logarithmic = values.min() > 0 and values.max() > 50 * values.min()
        if logarithmic:
            ax.set_xscale("log")
            ax.set_yscale("log")
        ends = np.array([own["published"].min(), own["published"].max()])
        ax.plot(ends, ends, color="0.6", lw=0.8, zorder=0)
        for i, table in enumerate(tables):
            part = own[own["table"] == table]
            if part.empty:
                continue
            low, high = (
                (sign * (part["ours"] - part[f"ours_{end}"])).clip(lower=0).fillna(0)
                for sign, end in ((1, "low"), (-1, "high"))
            )
            ax.errorbar(
                part["published"],
                part["ours"],
                yerr=np.array([low, high]),
                fmt=MARKERS[(i + i // len(PALETTE)) % len(MARKERS)],
                color=PALETTE[i % len(PALETTE)],
                ms=3.5,
                lw=0.5,
                alpha=0.75,
                label=f"{catalogue()[table].paper}, {catalogue()[table].item}",
            )
        ax.set_xlabel(f"published {label}")
        ax.set_title(f"{len(own)} cells", fontsize=9)
    axes[0][0].set_ylabel("ours")
    found: dict[str, Any] = {}
    for ax in axes[0]:
        handles, labels = ax.get_legend_handles_labels()
        found.update(zip(labels, handles, strict=True))
    figure.tight_layout()
    figure.legend(
        list(found.values()), list(found), loc="upper center", ncols=3, fontsize=8,
        frameon=False, bbox_to_anchor=(0.5, 0.0),
    )  # fmt: skip
    return figure


def _of(cells: pd.DataFrame, measures: tuple[str, ...]) -> pd.DataFrame:
    own = cells[cells["measure"].isin(measures)]
    return own.assign(published=own["published"].astype(float))
