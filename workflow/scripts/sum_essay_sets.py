"""Neighbors of every test essay in every set's training essays. Stage: prediction."""

import argparse
import json
import logging
import time
from pathlib import Path

from refless.data.ratings import TEXT_COLUMNS, read_table
from refless.experiments.bleu_neighbors.essays import (
    Recipe,
    Selection,
    set_sums,
    training_points,
    training_sizes,
)
from refless.kernels import signature
from refless.scripting import run
from refless.store.files import read_json
from refless.store.signed_tables import write_numbers

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    about = read_json(arguments.ratings / "about.json")
    settings = json.loads(arguments.settings)
    recipe, selection = Recipe(**settings["recipe"]), Selection(**settings["selection"])
    texts = read_table(arguments.ratings / "texts.csv", [*TEXT_COLUMNS, "set"])
    begin = time.perf_counter()
    table = set_sums(texts, recipe, selection, arguments.threads)
    log.info("%d rows in %.1f s", len(table), time.perf_counter() - begin)
    signed = signature(recipe.kernel, about["text_sum"])
    signed |= {"task": about["task"], "reading": recipe.reading, "provenance": "computed"}
    write_numbers(
        table,
        {
            "task": about["task"],
            "malformed": about["malformed"],
            "provenance": "computed",
            "settings": settings,
            "most": training_points(texts.iloc[:0], recipe.raters)[1],
            "training": training_sizes(texts, recipe, selection),
            "signatures": [signed],
        },
        arguments.out,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--settings", required=True, help="JSON: selection and recipe")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--out", type=Path, required=True, help="CSV; a JSON is put beside it")

if __name__ == "__main__":
    run(main, parser)
