"""Numbers about the rated outputs, for RNN-QE's tables: parts, metrics, own models, counts.

Stage: prediction. No text goes into what this writes.
"""

import argparse
import json
import logging
from pathlib import Path

from refless.data.ratings import read_table
from refless.experiments.rnn_qe.outputs import (
    METRICS,
    Context,
    Neighbors,
    counts,
    learning_curve,
    outputs,
)
from refless.models.rnn_qe.data import apart, cross_validation, read_texts
from refless.scripting import run
from refless.store.files import read_json
from refless.store.kernel_files import kernel_arguments, sign
from refless.store.signed_tables import write_numbers

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    settings = json.loads(arguments.settings)
    seed, neighbors = settings["data"]["seed"], Neighbors(**settings["neighbors"])
    texts = read_texts(arguments.ratings)
    metrics = read_table(arguments.ratings / "nem" / "texts.csv", list(METRICS.values()))
    about = read_json(arguments.ratings / "nem" / "about.json")
    signed = {name: sign(name, about, arguments) for name, _ in neighbors.kernels.values()}
    options = {name: own for name, (own, _) in signed.items()}
    context = Context.of(texts, neighbors, arguments.threads, options)
    table = outputs(texts, metrics, context, seed)
    log.info("%d outputs, %d columns", *table.shape)
    facts = {
        "provenance": "computed",
        "settings": settings,
        "texts": texts.digest(),
        "signatures": [signature for _, signature in signed.values()],
    }
    write_numbers(table, {**facts, "counts": counts(texts, seed)}, arguments.out / "outputs.csv")
    curve = settings["curve"]
    folds = {
        "dev": cross_validation(texts.rated, seed),
        "dev_apart": cross_validation(apart(texts.rated), seed),
    }
    write_numbers(
        learning_curve(context, folds, curve["sizes"], curve["subsets"], seed),
        facts,
        arguments.out / "curve.csv",
    )


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument(
    "--ratings", type=Path, required=True, help="directory with nem, bagel, sfrest and sfhot"
)
parser.add_argument("--settings", required=True, help="JSON: data, neighbors, curve")
parser.add_argument("--threads", type=int, default=1)
kernel_arguments(parser)
parser.add_argument("--out", type=Path, required=True, help="directory of outputs.csv, curve.csv")

if __name__ == "__main__":
    run(main, parser)
