"""HUSE of each batch, with human and with predicted quality. Stage: table."""

import argparse
import json
from pathlib import Path

from refless.data.ratings import read_table, write_table
from refless.experiments.bleu_neighbors.huse import (
    ITEM_COLUMNS,
    HuseInput,
    huse_markdown,
    huse_table,
    lead_text,
)
from refless.experiments.bleu_neighbors.leave_one_out import PREDICTION_COLUMNS
from refless.experiments.bleu_neighbors.table1 import Settings, signature_note
from refless.scripting import run
from refless.store.files import read_json
from refless.store.provenance import write_signed_markdown
from refless.store.signed_tables import read_numbers, require_texts


def main(arguments: argparse.Namespace) -> None:
    tasks, notes = {}, []
    for items, predictions in zip(arguments.items, arguments.predictions, strict=True):
        numbers, about = read_numbers(items, ITEM_COLUMNS)
        require_texts(about, arguments.ratings, items)
        table = read_table(predictions, PREDICTION_COLUMNS)
        own = (table["kernel"] == arguments.kernel) & (table["reading"] == "published")
        predicted = read_json(predictions.with_suffix(".json"))
        kernels = [k for k in predicted["kernels"] if k["signature"]["kernel"] == arguments.kernel]
        notes += [signature_note(kernel["signature"]) for kernel in kernels]
        origins = {about["provenance"], *(kernel["provenance"] for kernel in kernels)}
        provenance = "shipped" if "shipped" in origins else "computed"
        tasks[predicted["task"]] = HuseInput(numbers, table[own], arguments.kernel, provenance)
    settings = Settings({}, arguments.a, arguments.b, arguments.draws, arguments.seed)
    absent = json.loads(arguments.absent)
    table = huse_table(arguments.tasks, tasks, absent, settings, arguments.neighbors)
    write_table(table, arguments.out)
    write_signed_markdown(
        arguments.out.with_suffix(".md"),
        "HUSE, with human and with predicted quality",
        lead_text(settings, arguments.neighbors),
        huse_markdown(table),
        notes,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tasks", nargs="*", default=[], help="all batches, in order")
parser.add_argument("--items", type=Path, nargs="*", default=[], help="CSV, one a batch")
parser.add_argument("--predictions", type=Path, nargs="*", default=[], help="CSV, one a batch")
parser.add_argument("--ratings", type=Path, nargs="*", default=[], help="directories, one a batch")
parser.add_argument("--absent", default="{}", help="JSON: batch -> why it is not available")
parser.add_argument("--kernel", required=True, help="the published kernel of BLEU Neighbors")
parser.add_argument("--neighbors", type=int, required=True, help="votes of HUSE's classifier")
parser.add_argument("--a", type=int, required=True)
parser.add_argument("--b", type=float, required=True)
parser.add_argument("--draws", type=int, default=2000)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, required=True, help="CSV; a .md is put beside it")

if __name__ == "__main__":
    run(main, parser)
