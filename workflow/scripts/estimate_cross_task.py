"""Estimate the texts of one task from the rated texts of another. Stage: prediction."""

import argparse
import logging
import time
from pathlib import Path

from refless.data.ratings import TEXT_COLUMNS, read_table
from refless.experiments.bleu_neighbors.table2 import cross_estimates
from refless.kernels import signature, text_sum
from refless.scripting import run
from refless.store.files import read_json
from refless.store.signed_tables import write_numbers

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    places = arguments.source, arguments.target
    source, target = (read_table(place / "texts.csv", TEXT_COLUMNS) for place in places)
    abouts = [read_json(place / "about.json") for place in places]
    names = [about["task"] for about in abouts]
    sums = [about["text_sum"] for about in abouts]
    same = names[0] == names[1]
    begin = time.perf_counter()
    table = cross_estimates(
        arguments.kernels, source, target, arguments.tau, same=same, threads=arguments.threads
    )
    training = int(source["quality"].notna().sum()) - same
    seconds = time.perf_counter() - begin
    log.info("%s to %s: %d x %d in %.2f s", *names, len(table), training, seconds)
    signatures = [
        signature(kernel, text_sum(sums)) | {"task": " → ".join(names), "provenance": "computed"}
        for kernel in arguments.kernels
    ]
    about = {
        "provenance": "computed",
        "signatures": signatures,
        "training": training,
        "settings": {"tau": arguments.tau},
        "texts": dict(zip(names, sums, strict=True)),
    }
    write_numbers(table, about, arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("kernels", nargs="+", help="names of kernels, e.g. bleu.char")
parser.add_argument("--source", type=Path, required=True, help="directory of the task that trains")
parser.add_argument("--target", type=Path, required=True, help="directory of the task to score")
parser.add_argument("--tau", type=float, required=True)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--out", type=Path, required=True, help="CSV; a JSON is put beside it")

if __name__ == "__main__":
    run(main, parser)
