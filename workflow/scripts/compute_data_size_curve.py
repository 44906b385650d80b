"""Spearman and coverage on random subsets of the data (figure 4). Stage: cell."""

import argparse
from pathlib import Path

from refless.experiments.bleu_neighbors import data_size_curve, read_truth
from refless.ratings import read_task, write_table
from refless.scripting import run
from refless.store import read_kernel


def main(arguments: argparse.Namespace) -> None:
    about, texts, ratings = read_task(arguments.ratings)
    truth = read_truth(texts, ratings)
    matrix, _ = read_kernel(arguments.kernel, data_sum=about["text_sum"])
    n = len(truth.id)
    # the last point is everything there is
    sizes = [size for size in range(arguments.step, n, arguments.step) if size > arguments.a]
    curve = data_size_curve(
        matrix,
        truth,
        [*sizes, n],
        tau=arguments.tau,
        a=arguments.a,
        b=arguments.b,
        subsets=arguments.subsets,
        seed=arguments.seed,
    )
    write_table(curve, arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--kernel", type=Path, required=True, help="kernel file (.npz)")
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--tau", type=float, required=True)
parser.add_argument("--a", type=int, required=True)
parser.add_argument("--b", type=float, required=True)
parser.add_argument("--step", type=int, default=25, help="between two sizes")
parser.add_argument("--subsets", type=int, default=20, help="random subsets a size")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, required=True, help="CSV, one row a subset")

if __name__ == "__main__":
    run(main, parser)
