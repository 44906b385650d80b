"""Spearman and coverage as the thresholds a and b move (figures 2 and 3). Stage: cell.

From the kernel file in one pass: the thresholds choose among estimates, they change none.
"""

import argparse
from pathlib import Path

import numpy as np

from refless.experiments.bleu_neighbors.leave_one_out import (
    human_cells,
    read_truth,
    threshold_curves,
)
from refless.experiments.bleu_neighbors.stored import read_predictions
from refless.data.ratings import read_task, write_table
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    about, texts, ratings = read_task(arguments.ratings)
    truth = read_truth(texts, ratings)
    taus = {arguments.kernel.stem: arguments.tau}
    predictions, _ = read_predictions(
        arguments.kernel, {"published": truth}, taus, about["text_sum"]
    )
    a_low, a_high = arguments.a_range
    b_values = np.round(np.arange(0, 1 + arguments.b_step / 2, arguments.b_step), 10)
    curves = threshold_curves(
        predictions,
        range(a_low, a_high + 1),
        b_values,
        arguments.a,
        arguments.b,
    )
    # the average annotator, above whom the figure is shaded; no interval is needed here
    human = human_cells(truth, draws=1, seed=0)["human_average"]["spearman"]
    write_table(curves.assign(human_spearman=human), arguments.out)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--kernel", type=Path, required=True, help="kernel file (.npz)")
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--tau", type=float, required=True)
parser.add_argument("--a", type=int, required=True, help="a while b moves")
parser.add_argument("--b", type=float, required=True, help="b while a moves")
parser.add_argument("--a-range", type=int, nargs=2, default=[1, 60], metavar=("LOW", "HIGH"))
parser.add_argument("--b-step", type=float, default=0.01)
parser.add_argument("--out", type=Path, required=True, help="CSV of the curves")

if __name__ == "__main__":
    run(main, parser)
