"""Spearman and coverage on random subsets of the data (figure 4). Stage: cell.

Within each subset, every text is estimated from the others: from the kernel matrix, or, of a task
that is too large for one, from the texts anew. Shipped curves are checked and taken over.
"""

import argparse
import logging
import time
from pathlib import Path

from refless.experiments.bleu_neighbors.leave_one_out import data_size_curve, matrix_neighbors, read_truth
from refless.experiments.bleu_neighbors.stored import quality_sums, streamed_neighbors
from refless.kernels import signature
from refless.data.ratings import read_task
from refless.scripting import run
from refless.store.signed_tables import read_numbers, require_settings, write_numbers
from refless.store.kernel_files import read_kernel

log = logging.getLogger(__name__)
COLUMNS = ["size", "subset", "spearman", "coverage", "n_covered"]


def main(arguments: argparse.Namespace) -> None:
    about, texts, ratings = read_task(arguments.ratings)
    truth = read_truth(texts, ratings)
    n, tau = len(truth.id), arguments.tau
    wanted = arguments.sizes or range(arguments.step, n, arguments.step)
    settings = {
        "tau": tau,
        "a": arguments.a,
        "b": arguments.b,
        # the last point is everything there is
        "sizes": [size for size in wanted if arguments.a < size < n] + [n],
        "subsets": arguments.subsets,
        "seed": arguments.seed,
        "quality": quality_sums({"published": truth}),
    }
    if arguments.shipped is not None:
        curve, shipped = read_numbers(arguments.shipped, COLUMNS)
        require_settings(shipped, settings, arguments.shipped, "bleu_neighbors")
        write_numbers(curve, shipped, arguments.out)
        return
    if arguments.matrix is not None:
        matrix, signed = read_kernel(arguments.matrix, data_sum=about["text_sum"])
        neighbors = matrix_neighbors(matrix, truth, tau)
    else:
        name = arguments.stream
        signed = signature(name, about["text_sum"])
        signed |= {"task": about["task"], "provenance": "computed"}
        own = texts["text"].tolist()
        neighbors = streamed_neighbors(name, own, truth, tau, threads=arguments.threads)
    begin = time.perf_counter()
    curve = data_size_curve(
        neighbors,
        truth,
        settings["sizes"],
        a=arguments.a,
        b=arguments.b,
        subsets=arguments.subsets,
        seed=arguments.seed,
    )
    log.info("%d subsets in %.1f s", len(curve), time.perf_counter() - begin)
    facts = {"provenance": signed["provenance"], "signatures": [signed], "settings": settings}
    write_numbers(curve, facts, arguments.out)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
numbers = parser.add_mutually_exclusive_group(required=True)
numbers.add_argument("--matrix", type=Path, help="kernel file (.npz) with the matrix")
numbers.add_argument("--stream", metavar="KERNEL", help="compute this kernel for each subset")
numbers.add_argument("--shipped", type=Path, help="a curve that was shipped")
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--tau", type=float, required=True)
parser.add_argument("--a", type=int, required=True)
parser.add_argument("--b", type=float, required=True)
parser.add_argument("--step", type=int, default=25, help="between two sizes")
parser.add_argument("--sizes", type=int, nargs="*", help="sizes, in place of steps")
parser.add_argument("--subsets", type=int, default=20, help="random subsets a size")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--out", type=Path, required=True, help="CSV, a row a subset; JSON beside it")

if __name__ == "__main__":
    run(main, parser)
