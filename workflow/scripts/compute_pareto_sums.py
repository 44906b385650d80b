"""Neighbors of a task's texts at many taus, in each fold's texts. Stage: prediction."""

import argparse
import json
import logging
from pathlib import Path

from refless.data.ratings import TEXT_COLUMNS, read_table
from refless.experiments.bleu_neighbors.ablation import rated
from refless.experiments.bleu_neighbors.pareto import deal_folds, fold_sums
from refless.scripting import run
from refless.store.files import read_json
from refless.store.kernel_files import kernel_arguments, sign
from refless.store.numbers import write_numbers

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    about = read_json(arguments.ratings / "about.json")
    data = rated(read_table(arguments.ratings / "texts.csv", TEXT_COLUMNS))
    settings = json.loads(arguments.settings)
    options, signed = sign(arguments.kernel, about, arguments)
    fold = deal_folds(len(data.text), settings["folds"], settings["seed"])
    found = fold_sums(
        arguments.kernel,
        data.text,
        data.quality,
        settings["taus"],
        fold,
        arguments.threads,
        **options,
    )
    write_numbers(
        {"quality": data.quality, "fold": fold, "counts": found.counts, "sums": found.sums},
        {
            "task": about["task"],
            "provenance": "computed",
            "settings": settings,
            "signatures": [signed],
        },
        arguments.out,
    )
    log.info("%s on %s: %d candidates", arguments.kernel, about["task"], len(fold))


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("kernel", help="name of a kernel, e.g. bleu.char")
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--settings", required=True, help="JSON: taus, folds, seed")
kernel_arguments(parser)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--out", type=Path, required=True, help="NPZ")

if __name__ == "__main__":
    run(main, parser)
