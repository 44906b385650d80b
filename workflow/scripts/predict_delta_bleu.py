"""Estimate quality by ΔBLEU, kernels and BLEU Neighbors from the same context. Stage: cell."""

import argparse
import json
import logging
import time
from pathlib import Path

from refless.data.ratings import RATING_COLUMNS, TEXT_COLUMNS, read_table, separate_items
from refless.experiments.delta_bleu.predictor import (
    MODULES,
    predictor_numbers,
    same_context,
    same_mr,
)
from refless.kernels import code_signature, signature, text_sum
from refless.scripting import run
from refless.store.files import read_json
from refless.store.signed_tables import write_numbers

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    about = read_json(arguments.ratings / "about.json")
    settings = json.loads(arguments.settings)
    if arguments.references:
        columns = [*TEXT_COLUMNS, "dataset", "mr_key"]
        humans = {
            directory.name: read_table(directory / "texts.csv", ["mr_key", "text_nem"])
            for directory in arguments.references
        }
        candidates = same_mr(read_table(arguments.ratings / "texts.csv", columns), humans)
    else:
        columns = [*TEXT_COLUMNS, "context_id"]
        texts = read_table(arguments.ratings / "texts.csv", columns)
        ratings = read_table(arguments.ratings / "ratings.csv", RATING_COLUMNS)
        candidates = same_context(separate_items(texts, ratings))
    begin = time.perf_counter()
    wordnet = {} if arguments.wordnet is None else {"wordnet": str(arguments.wordnet)}
    options = {k: wordnet if k.startswith("meteor.") else {} for k in settings["kernels"]}
    rows = predictor_numbers(candidates, **settings, options=options)
    log.info("%d models in %.1f s", len(rows), time.perf_counter() - begin)
    data = text_sum([about["text_sum"], *candidates.texts])
    signed = [code_signature(MODULES, data)]
    signed += [signature(kernel, data, **own) for kernel, own in options.items()]
    mark = {"task": about["task"], "provenance": "computed"}
    write_numbers(
        rows,
        {
            "provenance": "computed",
            "settings": settings,
            "signatures": [own | mark for own in signed],
        },
        arguments.out,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument(
    "--references",
    type=Path,
    nargs="*",
    default=[],
    help="directories of human references by MR, named like the data sets in the ratings",
)
parser.add_argument("--wordnet", type=Path, help="WordNet 3.0 in nltk's layout, for METEOR")
parser.add_argument("--settings", required=True, help="JSON: kernels, min_neighbors, ...")
parser.add_argument("--out", type=Path, required=True, help="CSV; a JSON is put beside it")

if __name__ == "__main__":
    run(main, parser)
