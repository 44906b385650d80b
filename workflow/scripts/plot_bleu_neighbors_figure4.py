"""Performance over the number of rated texts (figure 4 of BLEU Neighbors). Stage: figure."""

import argparse
from pathlib import Path

from refless.report import figures
from refless.data.ratings import read_table
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    columns = ["size", "subset", "spearman", "coverage"]
    curves = {path.parent.name: read_table(path, columns) for path in arguments.curves}
    figures.save(figures.data_size_figure(curves), arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("curves", type=Path, nargs="*", help="<task>/*.csv, one for each task")
parser.add_argument("--out", type=Path, required=True, help="the figure's path without ending")

if __name__ == "__main__":
    run(main, parser)
