"""Coverage against Spearman over the thresholds, tuned and honest, drawn. Stage: figure."""

import argparse
from pathlib import Path

from refless.data.ratings import read_table
from refless.experiments.bleu_neighbors.pareto import COLUMNS, FRONT_COLUMNS, LEAST_SHOWN
from refless.report import figures
from refless.report.figures_neighbors import front_figure
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    table = read_table(arguments.table, COLUMNS)
    fronts = read_table(arguments.front, FRONT_COLUMNS)
    figures.save(front_figure(table, fronts, LEAST_SHOWN), arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("table", type=Path, help="bleu_neighbors_pareto.csv")
parser.add_argument("front", type=Path, help="bleu_neighbors_pareto_front.csv")
parser.add_argument("--out", type=Path, required=True, help="the figure's path without ending")

if __name__ == "__main__":
    run(main, parser)
