"""What HUSE needs of each item of a batch: labels, log-probability, length. Stage: prediction."""

import argparse
import json
from pathlib import Path

from refless.data import sources
from refless.data.ratings import TEXT_COLUMNS, read_table
from refless.data.sources.huse import comparisons
from refless.experiments.bleu_neighbors.huse import huse_items
from refless.scripting import run
from refless.store.files import read_json
from refless.store.signed_tables import write_numbers


def main(arguments: argparse.Namespace) -> None:
    about = read_json(arguments.ratings / "about.json")
    texts = read_table(arguments.ratings / "texts.csv", [*TEXT_COLUMNS, "item"])
    files = dict(item.split("=", 1) for item in arguments.file)
    options = {**json.loads(arguments.options), "unit": "item"}
    data = sources.load(about["task"], **files, **options)
    if arguments.malformed == "error":
        data.require_clean()
    items = huse_items(data.texts, data.ratings, texts, comparisons(data.texts["type"].unique()))
    write_numbers(
        items,
        {
            "provenance": "computed",
            "signatures": [],  # no kernel decides these numbers
            "texts": {about["task"]: about["text_sum"]},
        },
        arguments.out,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument(
    "--file", action="append", default=[], metavar="NAME=PATH", help="a raw file of the loader"
)
parser.add_argument("--options", default="{}", help="further arguments of the loader, as JSON")
parser.add_argument("--malformed", choices=["error", "skip"], default="error")
parser.add_argument("--out", type=Path, required=True, help="CSV; a JSON is put beside it")

if __name__ == "__main__":
    run(main, parser)
