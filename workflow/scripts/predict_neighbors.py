"""Estimate each text's quality from its neighbors, leave-one-out. Stage: prediction.

One job serves all kernels of a task: an estimate is a matter of milliseconds, a job is not.
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from refless.experiments.bleu_neighbors.leave_one_out import read_truths
from refless.experiments.bleu_neighbors.stored import read_predictions
from refless.store.files import write_json
from refless.data.ratings import read_task, write_table
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    about, texts, ratings = read_task(arguments.ratings)
    truths = read_truths(texts, ratings, about["scale"])
    taus = json.loads(arguments.taus)
    tables, notes = [], []
    for path in arguments.kernels:
        table, signature = read_predictions(path, truths, taus, about["text_sum"])
        tables.append(table)
        shipped = "shipped" in (about["provenance"], signature["provenance"])
        provenance = "shipped" if shipped else "computed"
        tau = taus[signature["kernel"]]
        notes.append({"tau": tau, "signature": signature, "provenance": provenance})
    write_table(pd.concat(tables, ignore_index=True), arguments.out)
    write_json({"task": about["task"], "kernels": notes}, arguments.out.with_suffix(".json"))


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--kernels", type=Path, nargs="+", required=True, help="kernel files (.npz)")
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--taus", required=True, help="JSON: kernel -> tau")
parser.add_argument("--out", type=Path, required=True, help="CSV; a JSON is put beside it")

if __name__ == "__main__":
    run(main, parser)
