"""What curves say, in a sentence each, from the numbers that are drawn.

Stage: report. In: the table of a figure, the settings. Out: sentences.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

NEAR = 0.05
"""A rho that differs from another by less is called near it."""
Settings = Mapping[str, Any]


def sentence_of(figure: str, points: pd.DataFrame, settings: Settings) -> str:
    """The sentence of one of the figures of `WRITERS`; empty if nothing is drawn.

    points : the table that was drawn with it
    settings : the whole configuration
    """
    return WRITERS[figure](points, settings) if len(points) else ""


def _over_thresholds(points: pd.DataFrame, settings: Settings) -> str:
    """Where rho stays near that of the default thresholds, by data set."""
    a = float(settings["bleu_neighbors"]["min_neighbors"])
    b = float(settings["bleu_neighbors"]["max_share"])
    parts = []
    for dataset, curve in points.groupby("dataset", sort=False):
        of_a = curve[curve["threshold"] == "a"]
        of_b = curve[curve["threshold"] == "b"]
        first_a, last_a = near_default(of_a, a)
        first_b, last_b = near_default(of_b, b)
        flat = f"a from {first_a:g} to {last_a:g} and b from {first_b:g} to {last_b:g}"
        rho = f"{_at_default(of_a, a):.3f} on {_name(dataset, settings)}"
        parts.append(f"{rho} (less than {NEAR:g} away for {flat})")
    return f"With a = {a:g} and b = {b:g}, rho is {'; '.join(parts)}."


def near_default(curve: pd.DataFrame, default: float) -> tuple[float, float]:
    """The values of a threshold around its default, from the lowest to the highest, over which rho
    stays within `NEAR` of that at the default.

    curve : columns value and spearman, of one data set and threshold

    >>> rows = [(1, 0.1), (2, 0.31), (3, 0.3), (4, 0.33), (5, 0.2)]
    >>> near_default(pd.DataFrame(rows, columns=["value", "spearman"]), 3)
    (2.0, 4.0)
    """
    differs = ~((curve["spearman"] - _at_default(curve, default)).abs() < NEAR)
    value = curve["value"]
    away = curve.loc[differs, "value"]
    first = away[away < default].max()
    last = away[away > default].min()
    inside = value[~(value <= first) & ~(value >= last)]
    return float(inside.min()), float(inside.max())


def _at_default(curve: pd.DataFrame, default: float) -> float:
    """Rho at the default of a threshold."""
    return float(curve.loc[curve["value"].sub(default).abs() < 1e-9, "spearman"].iloc[0])


def _over_references(points: pd.DataFrame, settings: Settings) -> str:
    """With which references ΔBLEU's rho is highest, and what it is with all, by data set."""
    parts = []
    panel = points[points["panel"] == "threshold"]
    for dataset, part in panel.groupby("dataset", sort=False):
        rho = part.pivot_table("spearman", "metric", "references", sort=False)
        best = rho.loc["delta_bleu"].idxmax()
        of_best = "{:.3f}, BLEU {:.3f}".format(*rho[best][["delta_bleu", "bleu"]])
        of_all = "{:.3f}, BLEU {:.3f}".format(*rho[rho.columns[-1]][["delta_bleu", "bleu"]])
        weight = str(best).replace(">=", " ≥ ")
        parts.append(f"{weight} on {_name(dataset, settings)} ({of_best}; with all {of_all})")
    return f"ΔBLEU's rho is highest with references of {'; '.join(parts)}."


def _over_size(points: pd.DataFrame, settings: Settings) -> str:
    """Where a network leads most, and where all rated outputs train."""
    r = points.pivot_table("pearson", "model", "size")
    size = max(r.columns)
    whole = r[size]
    neighbors = f"{whole['bleu_neighbors']:.3f}"
    if "rnn_qe" not in r.index:
        return f"With all {size:,} rated outputs, r of BLEU Neighbors is {neighbors}."
    most = (r.loc["rnn_qe"] - r.loc["bleu_neighbors"]).idxmax()
    then = "{:.3f} against {:.3f}".format(*r[most][["rnn_qe", "bleu_neighbors"]])
    return (
        f"RNN-QE's r less that of BLEU Neighbors is highest with {most:,} rated outputs, {then};"
        f" with all {size:,} they are {whole['rnn_qe']:.3f} and {neighbors}, and that of the"
        f" look-up is {whole['lookup']:.3f}."
    )


def _name(dataset: Any, settings: Settings) -> str:
    return settings["data"][dataset]["name"] or str(dataset).replace("_", " ")


WRITERS = {
    "bleu_neighbors_figure2": _over_thresholds,
    "delta_bleu_figure2": _over_references,
    "rnn_qe_data_size": _over_size,
}
