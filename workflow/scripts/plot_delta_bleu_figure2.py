"""Figure 2 of ΔBLEU: threshold on w, size of the unit, order of the n-grams. Stage: figure."""

import argparse
import json
from pathlib import Path

from refless.experiments.delta_bleu.table2 import read_task_numbers
from refless.experiments.delta_bleu.units import NUMBER_COLUMNS
from refless.report import figures
from refless.scripting import directories, run


def main(arguments: argparse.Namespace) -> None:
    found = read_task_numbers(
        directories(arguments.numbers), {}, json.loads(arguments.settings), "units", NUMBER_COLUMNS
    )
    figure = figures.delta_bleu_figure({own.task: own.rows for own in found})
    figures.save(figure, arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "--numbers", nargs="*", default=[], metavar="TASK=DIRECTORY", help="of score_delta_bleu.py"
)
parser.add_argument("--settings", required=True, help="JSON: the settings of each task")
parser.add_argument("--out", type=Path, required=True, help="the figure's path without ending")

if __name__ == "__main__":
    run(main, parser)
