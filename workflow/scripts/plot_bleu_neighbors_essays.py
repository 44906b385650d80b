"""Rho for every test set and training set of essays, as a heat map. Stage: figure."""

import argparse
from pathlib import Path

from refless.data.ratings import read_table
from refless.report import figures
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    columns = ["essays", "test_set", "train_set", "spearman", "length_spearman", "n"]
    table = read_table(arguments.table, columns)
    titles = {
        "whole": "all essays",
        "cut": f"essays of {arguments.fewest} to {arguments.most} sentences",
    }
    figure = figures.set_heat_maps(table, titles)
    figures.save(figure, arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("table", type=Path, help="bleu_neighbors_essays.csv")
parser.add_argument("--fewest", type=int, required=True, help="sentences of an essay of the cut")
parser.add_argument("--most", type=int, required=True)
parser.add_argument("--out", type=Path, required=True, help="the figure's path without ending")

if __name__ == "__main__":
    run(main, parser)
