"""Ours less published, all cells. Stage: figure."""

from collections.abc import Mapping
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from refless.experiments.published import ABSENT, EQUAL, INSIDE, OUTSIDE
from refless.experiments.reproducibility.cells import MEASURED, kind_of_measure
from refless.report.catalogue import catalogue
from refless.report.figures import GREY, empty_figure, panels
from refless.report.names import words

_LOOKS = {EQUAL: ("#0072B2", "o", 16), INSIDE: (GREY, "s", 9), OUTSIDE: ("#D55E00", "X", 24)}
"""Colour, marker and its area, by agreement."""
_ENDS = ("ours_low", "ours_high")
_LEAST = 9
"""Lines of a band that has fewer cells, so that its name fits."""
_GAP = 4
"""Lines between two bands."""


def differences(tables: Mapping[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Ours less the published value, with intervals, a band a table: correlations on the left, and
    errors, in percent of the published one, on the right. Of a table without any number of ours,
    the band says why.

    tables : `reproducibility_cells`; those without ours are left out
    """
    table = tables["reproducibility_cells"]
    cells = table.assign(
        published=pd.to_numeric(table["published"], "coerce"),
        kind=table["measure"].map(kind_of_measure),
    )
    measured = cells[cells["kind"].isin(MEASURED)]
    cells = measured[measured["ours"].notna() & measured["published"].notna()]
    if cells.empty:
        return empty_figure("no published number has one of ours beside it"), table
    scale = np.where(cells["kind"] == "errors", 100 / cells["published"].abs(), 1)
    cells = cells.assign(
        **{name: (cells[name] - cells["published"]) * scale for name in ("ours", *_ENDS)}
    )
    names = measured["table"].drop_duplicates().tolist()
    of_kind = cells.groupby(["table", "kind"], sort=False).size()
    sizes = of_kind.groupby("table").max().reindex(names, fill_value=0).clip(lower=_LEAST)
    ends = sizes.cumsum() + _GAP * np.arange(1, len(sizes) + 1)
    middles = ends - sizes / 2
    title = "Published correlations and errors: ours less the paper's, with our 95% interval"
    figure, (axes,) = panels(1, 2, 1.7 + 0.025 * ends.iloc[-1], title, sharey=True)
    for ax, kind in zip(axes, MEASURED, strict=True):
        _differences(ax, cells[cells["kind"] == kind], middles)
        for end in ends:
            ax.axhline(end + _GAP / 2, color="0.9", lw=0.8, zorder=0)
        ax.axvline(0, color="0.3", lw=0.8, zorder=0)
    axes[0].set(xlabel="correlations: ours less published", xlim=(-0.6, 0.6), xticks=(-0.5, 0, 0.5))
    axes[1].set(xlabel="errors: ours less published,\nin % of the published", xlim=(-60, 60))
    axes[1].set_xticks((-50, 0, 50))
    counts = measured.groupby(["table", "agreement"]).size()
    axes[0].set_yticks(
        middles, [f"{_name(of)}\n{_counted(counts[of])}" for of in names], fontsize=8
    )
    axes[0].set_ylim(ends.iloc[-1] + _GAP / 2, _GAP / 2)
    for name in set(names) - set(cells["table"]):
        _say_why(axes[0], middles[name], measured.loc[measured["table"] == name, "explanation"])
    _legend(figure, measured["agreement"].value_counts())
    return figure, table


def _differences(ax: Axes, cells: pd.DataFrame, middles: pd.Series) -> None:
    """The cells of one kind, in each band from the lowest difference to the highest."""
    cells = cells.sort_values("ours")
    of_table = cells.groupby("table")["ours"]
    below = of_table.cumcount() - of_table.transform("size") / 2
    cells = cells.assign(height=cells["table"].map(middles) + below)
    for agreement, (colour, marker, area) in _LOOKS.items():
        rows = cells[cells["agreement"] == agreement]
        ax.hlines(rows["height"], rows[_ENDS[0]], rows[_ENDS[1]], colour, lw=0.6, alpha=0.6)
        ax.scatter(rows["ours"], rows["height"], area, colour, marker=marker, lw=0, zorder=3)


def _name(table: str) -> str:
    return f"{catalogue()[table].paper}, {catalogue()[table].item}"


def _counted(counts: pd.Series) -> str:
    """E.g. ``13 equal, 6 absent``."""
    there = (name for name in (*_LOOKS, ABSENT) if counts.get(name, 0))
    return ", ".join(f"{counts[name]} {name}" for name in there)


def _say_why(ax: Axes, height: float, reasons: pd.Series) -> None:
    """In a band without numbers, from the left panel into the right one, why there are none."""
    codes = dict.fromkeys(" ".join(reasons.fillna("")).split())
    text = fill(" ".join(words()["reason"].get(code, code) for code in codes), 78)
    box = {"fc": "white", "ec": "none", "pad": 1}
    reason = ax.text(
        -0.58, height, text, fontsize=8, style="italic", va="center", bbox=box, zorder=4
    )
    reason.set_in_layout(False)  # it may reach into the next panel
    ax.set_zorder(1)
    ax.patch.set_visible(False)


def _legend(figure: Figure, counts: pd.Series) -> None:
    handles = [
        Line2D([], [], ls="none", color=c, marker=m, label=f"{name}: {counts.get(name, 0)}")
        for name, (c, m, _) in _LOOKS.items()
    ]
    absent = f"{ABSENT}: {counts.get(ABSENT, 0)} (not drawn)"
    handles.append(Line2D([], [], ls="none", label=absent))
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
