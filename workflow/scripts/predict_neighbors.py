"""Estimate each text's quality from its neighbors, leave-one-out. Stage: prediction.

One job serves all kernels of a task: an estimate is a matter of milliseconds, a job is not.
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from refless.experiments.bleu_neighbors import predictions
from refless.files import write_json
from refless.ratings import read_task, write_table
from refless.scripting import run
from refless.store import read_kernel


def main(arguments: argparse.Namespace) -> None:
    about, texts, ratings = read_task(arguments.ratings)
    taus = json.loads(arguments.taus)
    tables, notes = [], []
    for path in arguments.kernels:
        matrix, signature = read_kernel(path, data_sum=about["text_sum"])
        name = signature["kernel"]
        tables.append(predictions(name, matrix, texts, ratings, taus[name]))
        shipped = "shipped" in (about["provenance"], signature["provenance"])
        provenance = "shipped" if shipped else "computed"
        notes.append({"tau": taus[name], "signature": signature, "provenance": provenance})
    write_table(pd.concat(tables, ignore_index=True), arguments.out)
    write_json({"task": about["task"], "kernels": notes}, arguments.out.with_suffix(".json"))


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--kernels", type=Path, nargs="+", required=True, help="kernel files (.npz)")
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--taus", required=True, help="JSON: kernel -> tau")
parser.add_argument("--out", type=Path, required=True, help="CSV; a JSON is put beside it")

if __name__ == "__main__":
    run(main, parser)
