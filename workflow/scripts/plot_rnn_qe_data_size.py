"""Correlation over the number of rated outputs: BLEU Neighbors, ΔBLEU, RNN-QE. Stage: figure."""

import argparse
import json
from pathlib import Path

import pandas as pd

from refless.data.ratings import read_table
from refless.experiments.rnn_qe.outputs import CURVE_COLUMNS, read_outputs
from refless.experiments.rnn_qe.predictions import usable_predictions
from refless.experiments.rnn_qe.tables import trained_curve
from refless.report import figures
from refless.scripting import run
from refless.store.signed_tables import read_numbers

LABELS = {
    "bleu_neighbors": "BLEU Neighbors, text",
    "bleu_neighbors_mr": "BLEU Neighbors, MR and text",
    "delta_bleu": "ΔBLEU, rated references",
    "rnn_qe": "RNN-QE, set-up 1",
}
ROWS = {
    "dev": "The paper's folds",
    "dev_apart": "Folds where no delexicalised MR and output stand on both sides",
}
TABLE_READINGS = {"": "dev", "apart": "dev_apart"}


def main(arguments: argparse.Namespace) -> None:
    if arguments.curve is None:
        figures.save(figures.empty_figure(arguments.absent), arguments.out)
        return
    curve, _ = read_numbers(arguments.curve, [*CURVE_COLUMNS, "pearson", "spearman"])
    asked = json.loads(arguments.settings)
    outputs, about = read_outputs(arguments.outputs, asked)
    smaller = {}
    for name, path in (item.split("=", 1) for item in arguments.predictions):
        usable = usable_predictions(path, asked["data"], about["texts"])
        if usable is not None:
            smaller[int(name.split("_")[1])] = usable[0]
    columns = ["setup", "reading", "pearson", "spearman", "paper_pearson", "paper_spearman"]
    table = read_table(arguments.table, columns)
    # set-up 1 alone learns from rated outputs and nothing else
    whole = table[table["setup"].astype(str) == "1"].fillna({"reading": ""}).set_index("reading")
    parts = [curve, trained_curve(outputs, smaller)]
    for reading, row in whole.iterrows():
        if pd.notna(row["pearson"]) and reading in TABLE_READINGS:
            name = TABLE_READINGS[str(reading)]
            size = curve.loc[curve["reading"] == name, "size"].max()
            last = {"model": "rnn_qe", "reading": name, "size": size, "subset": 0}
            parts.append(row[["pearson", "spearman"]].astype(float).to_frame().T.assign(**last))
    published = {name: float(whole.loc["", f"paper_{name}"]) for name in ("pearson", "spearman")}
    figures.save(
        figures.learning_curve_figure(
            pd.concat(parts), LABELS, ROWS, published, "RNN-QE, set-up 1, published"
        ),
        arguments.out,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--curve", type=Path, help="CSV of score_rnn_qe_outputs.py; none if absent")
parser.add_argument("--absent", default="no numbers are given", help="why there is no CSV")
parser.add_argument("--outputs", type=Path, help="outputs.csv beside it")
parser.add_argument(
    "--predictions", nargs="*", default=[], metavar="NAME=PATH", help="of curve_100_setup1 ..."
)
parser.add_argument("--settings", default="{}", help="JSON: data, neighbors")
parser.add_argument("--table", type=Path, required=True, help="rnn_qe_table3.csv")
parser.add_argument("--out", type=Path, required=True, help="the figure's path without ending")

if __name__ == "__main__":
    run(main, parser)
