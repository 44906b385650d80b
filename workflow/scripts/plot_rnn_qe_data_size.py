"""Correlation over the number of rated outputs: BLEU Neighbors, and RNN-QE. Stage: figure."""

import argparse
from pathlib import Path

import pandas as pd

from refless import figures
from refless.experiments.bleu_neighbors_essays import read_numbers
from refless.experiments.rnn_qe_outputs import CURVE_COLUMNS
from refless.ratings import read_table
from refless.scripting import run

LABELS = {
    ("bleu_neighbors", "dev"): "BLEU Neighbors, text",
    ("bleu_neighbors_mr", "dev"): "BLEU Neighbors, MR and text",
    ("bleu_neighbors", "dev_apart"): "text, no equal output in training",
    ("bleu_neighbors_mr", "dev_apart"): "MR and text, no equal output in training",
}
READINGS = {"": "RNN-QE, set-up 1", "apart": "RNN-QE, set-up 1, no equal output in training"}


def main(arguments: argparse.Namespace) -> None:
    if arguments.curve is None:
        figures.save(figures.empty_figure(arguments.absent), arguments.out)
        return
    curve, _ = read_numbers(arguments.curve, [*CURVE_COLUMNS, "pearson", "spearman"])
    columns = ["setup", "reading", "pearson", "spearman", "paper_pearson", "paper_spearman"]
    table = read_table(arguments.table, columns)
    # set-up 1 alone learns from rated outputs and nothing else
    own = table[(table["setup"] == "1") & table["reading"].isin(list(READINGS))]
    points = own.assign(label=own["reading"].map(READINGS), published=False)
    paper = own[own["reading"] == ""].assign(label=f"{READINGS['']}, published", published=True)
    for name in ("pearson", "spearman"):
        paper[name] = paper[f"paper_{name}"].astype(float)
    # the published one first, so that its mark stays the same whatever else is there
    points = pd.concat([paper, points[points["pearson"].notna()]])
    figures.save(
        figures.learning_curve_figure(curve, LABELS, points.assign(size=curve["size"].max())),
        arguments.out,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--curve", type=Path, help="CSV of score_rnn_qe_outputs.py; none if absent")
parser.add_argument("--absent", default="no numbers are given", help="why there is no CSV")
parser.add_argument("--table", type=Path, required=True, help="rnn_qe_table3.csv")
parser.add_argument("--out", type=Path, required=True, help="the figure's path without ending")

if __name__ == "__main__":
    run(main, parser)
