"""Correlation over the number of rated outputs: our own models, ΔBLEU, RNN-QE.

Stage: cell -> figure. In: the learning curve of our own models, predictions of RNN-QE with fewer
rated outputs, table 3. Out: one curve a model, for the figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from refless.availability import said
from refless.experiments.rnn_qe.outputs import CURVE_COLUMNS, statistics
from refless.experiments.rnn_qe.stored import Gathered, read_curve
from refless.experiments.rnn_qe.tables import VALUES
from refless.models.rnn_qe.data import FOLDS
from refless.report import figures
from refless.report.tables import read_published as read_table3
from refless.store.signed import Signed

LABELS = {
    "bleu_neighbors": "BLEU Neighbors, text",
    "bleu_neighbors_mr": "BLEU Neighbors, MR and text",
    "delta_bleu": "ΔBLEU, rated references",
    "rnn_qe": "RNN-QE, set-up 1",
}
ROWS = {
    "dev": "Folds as in the paper, drawn anew",
    "dev_apart": "Folds where no delexicalised MR and output stand on both sides",
}
PUBLISHED = "RNN-QE, set-up 1, published"
TABLE_COLUMNS = ["setup", "reading", "pearson", "spearman", "paper_pearson", "paper_spearman"]
_READINGS = {"": "dev", "apart": "dev_apart"}
"""Reading of table 3 -> of the learning curve."""


def trained_curve(outputs: pd.DataFrame, predictions: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """RNN-QE, set-up 1, with fewer rated outputs: what `learning_curve` says of our own models.

    Parameters
    ----------
    predictions : by number of rated training outputs; fold 5 s + f is fold f of random subset s

    Returns
    -------
    DataFrame : `CURVE_COLUMNS`, pearson, spearman, mae, rmse; a row a subset
    """
    truth = outputs.set_index("id")["rating"]
    rows = []
    for size, table in predictions.items():
        test = table[table["part"] == "test"]
        for subset, own in test.groupby(test["fold"] // FOLDS):
            found = statistics(
                own["prediction"].to_numpy(np.float64), truth[own["id"]].to_numpy(np.float64)
            )
            row = {"model": "rnn_qe", "reading": "dev", "size": size, "subset": int(subset)}
            rows.append(row | found)
    table = pd.DataFrame(rows, columns=[*CURVE_COLUMNS, *VALUES])
    return table.astype({"size": int, "subset": int} | dict.fromkeys(VALUES, float))


def all_curves(
    curve: pd.DataFrame,
    outputs: pd.DataFrame,
    predictions: Mapping[str, Signed],
    table: pd.DataFrame,
) -> tuple[pd.DataFrame, dict[str, float]]:
    """The curves of `LABELS`, and the published Pearson and Spearman at their end.

    Parameters
    ----------
    curve : by `refless.experiments.rnn_qe.outputs.learning_curve`
    predictions : of ``curve_50_setup1``, ...
    table : table 3, with `TABLE_COLUMNS`
    """
    smaller = {int(name.split("_")[1]): file.content for name, file in predictions.items()}
    # set-up 1 alone learns from rated outputs and nothing else
    whole = table[table["setup"].astype(str) == "1"].fillna({"reading": ""}).set_index("reading")
    parts = [curve, trained_curve(outputs, smaller)]
    for reading, row in whole.iterrows():
        if pd.notna(row["pearson"]) and reading in _READINGS:
            name = _READINGS[str(reading)]
            size = curve.loc[curve["reading"] == name, "size"].max()
            last = {"model": "rnn_qe", "reading": name, "size": size, "subset": 0}
            parts.append(row[["pearson", "spearman"]].astype(float).to_frame().T.assign(**last))
    paper = whole.loc[[""]].iloc[0]
    published = {name: float(paper[f"paper_{name}"]) for name in ("pearson", "spearman")}
    return pd.concat(parts), published


def draw(curve: str | Path | None, given: Gathered, table: str | Path) -> Figure:
    """The figure from its files; of predictions that are of no use, nothing is drawn.

    Parameters
    ----------
    curve : the signed file; without it and outputs the figure says why
    table : the CSV of table 3

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    if curve is None or given.outputs is None:
        why = [*map(said, given.missing), "no data set"]
        return figures.empty_figure(f"not available: {why[0]}")
    curves, published = all_curves(
        read_curve(curve, given.settings),
        given.outputs.content,
        given.predictions,
        read_table3(table, TABLE_COLUMNS),
    )
    return figures.learning_curve_figure(curves, LABELS, ROWS, published, PUBLISHED)
