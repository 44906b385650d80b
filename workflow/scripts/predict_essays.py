"""Estimate the test essays from each training set, under each recipe. Stage: prediction.

One job serves all recipes: they share the kernels, and an estimate is a matter of milliseconds.
"""

import argparse
import json
import logging
from pathlib import Path

from refless.data.ratings import TEXT_COLUMNS, read_table
from refless.data.sources import load
from refless.experiments.bleu_neighbors.essays import (
    Recipe,
    Selection,
    estimates,
    one_choice_changed,
)
from refless.kernels import signature, text_sum
from refless.scripting import run
from refless.store.files import read_json
from refless.store.signed_tables import write_numbers

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    about = read_json(arguments.ratings / "about.json")
    settings = json.loads(arguments.settings)
    base = Recipe(**settings["recipe"])
    recipes = one_choice_changed(base, settings["changes"])
    readings = {base.reading: read_table(arguments.ratings / "texts.csv", [*TEXT_COLUMNS, "set"])}
    sums = {base.reading: about["text_sum"]}
    for other in {recipe.reading for _, _, recipe in recipes} - set(readings):
        files = dict(item.split("=", 1) for item in arguments.file)
        data = load(about["task"], **files, quoting=other == "quoted")
        if arguments.malformed == "error":
            data.require_clean()
        readings[other] = data.texts
        sums[other] = text_sum(data.texts["text"].tolist())
    selection = Selection(**settings["selection"])
    table = estimates(readings, recipes, selection, settings["left_out"], arguments.threads)
    used = sorted({(recipe.kernel, recipe.reading) for _, _, recipe in recipes})
    write_numbers(
        table,
        {
            "task": about["task"],
            "malformed": about["malformed"],
            "provenance": "computed",
            "settings": settings,
            "signatures": [
                signature(kernel, sums[reading])
                | {"task": about["task"], "reading": reading, "provenance": "computed"}
                for kernel, reading in used
            ],
        },
        arguments.out,
    )
    log.info("%d recipes, %d estimates", len(recipes), len(table))


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument(
    "--file", action="append", default=[], metavar="NAME=PATH", help="a raw file of the loader"
)
parser.add_argument("--malformed", choices=["error", "skip"], default="error")
parser.add_argument("--settings", required=True, help="JSON: selection, recipe, changes, left_out")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--out", type=Path, required=True, help="CSV; a JSON is put beside it")

if __name__ == "__main__":
    run(main, parser)
