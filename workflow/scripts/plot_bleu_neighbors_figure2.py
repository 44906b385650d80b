"""Spearman's rho over the thresholds a and b (figure 2 of BLEU Neighbors). Stage: figure."""

import argparse
from pathlib import Path

from refless.report import figures
from refless.data.ratings import read_table
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    columns = ["threshold", "value", "spearman", "coverage", "human_spearman"]
    curves = {path.parent.name: read_table(path, columns) for path in arguments.curves}
    figure = figures.threshold_figure(
        curves,
        "spearman",
        "Spearman's $\\rho$",
        {"a": arguments.a, "b": arguments.b},
        human={task: float(c["human_spearman"].iloc[0]) for task, c in curves.items()},
    )
    figures.save(figure, arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("curves", type=Path, nargs="*", help="<task>/*.csv, one for each task")
parser.add_argument("--a", type=int, required=True, help="the default of a, marked")
parser.add_argument("--b", type=float, required=True, help="the default of b, marked")
parser.add_argument("--out", type=Path, required=True, help="the figure's path without ending")

if __name__ == "__main__":
    run(main, parser)
