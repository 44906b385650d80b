"""What each variant changes against plain BLEU Neighbors, drawn. Stage: figure."""

import argparse
from pathlib import Path

from refless.data.ratings import read_table
from refless.experiments.bleu_neighbors.ablation import COLUMNS, PLAIN, label
from refless.report import figures
from refless.report.figures_neighbors import change_figure
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    table = read_table(arguments.table, COLUMNS)
    table = table[table["variant"] != PLAIN]
    labels = {name: label(name).replace("`", "") for name in dict.fromkeys(table["variant"])}
    figures.save(change_figure(table, labels), arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("table", type=Path, help="bleu_neighbors_ablation.csv")
parser.add_argument("--out", type=Path, required=True, help="the figure's path without ending")

if __name__ == "__main__":
    run(main, parser)
