"""Table 1 of BLEU Neighbors: models and annotators on each task. Stage: table."""

import argparse
import json
from pathlib import Path

from refless.experiments.bleu_neighbors import (
    PREDICTION_COLUMNS,
    read_truths,
)
from refless.experiments.bleu_neighbors_table1 import (
    KEYS,
    Settings,
    TaskInput,
    kernel_note,
    lead_text,
    signature_note,
    table1,
    table1_markdown,
)
from refless.files import read_json
from refless.published import read_published, skipped_rows, write_markdown
from refless.ratings import read_table, read_task, write_table
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    tasks, skipped = {}, []
    missing = json.loads(arguments.missing_kernels)
    for directory in arguments.ratings:
        about, texts, ratings = read_task(directory)
        truths = read_truths(texts, ratings, about["scale"])
        skipped += skipped_rows(about)
        tasks[about["task"]] = TaskInput(
            truths, {}, {}, about["provenance"], missing.get(about["task"], {})
        )
    signatures = {}
    for path in arguments.predictions:
        about = read_json(path.with_suffix(".json"))
        task = tasks[about["task"]]
        for (kernel, reading), rows in read_table(path, PREDICTION_COLUMNS).groupby(
            ["kernel", "reading"]
        ):
            task.predictions[kernel, reading] = rows
        for note in about["kernels"]:
            signature = note["signature"]
            task.provenance[signature["kernel"]] = note["provenance"]
            task.notes[signature["kernel"]] = kernel_note(signature, note["tau"])
            signatures[signature["kernel"], about["task"]] = signature
    settings = Settings(
        json.loads(arguments.models), arguments.a, arguments.b, arguments.draws, arguments.seed
    )
    table = table1(
        arguments.tasks,
        tasks,
        json.loads(arguments.absent),
        json.loads(arguments.missing_models),
        read_published(arguments.published, KEYS),
        settings,
    )
    write_table(table, arguments.out)
    write_markdown(
        arguments.out.with_suffix(".md"),
        "BLEU Neighbors, table 1",
        lead_text(settings),
        table1_markdown(table),
        [*skipped, *map(signature_note, signatures.values())],
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tasks", nargs="+", required=True, help="all tasks, in order")
parser.add_argument("--ratings", type=Path, nargs="*", default=[], help="directories, one a task")
parser.add_argument("--predictions", type=Path, nargs="*", default=[], help="CSV files")
parser.add_argument("--published", type=Path, required=True, help="the paper's table")
parser.add_argument("--models", required=True, help="JSON: model -> kernels, published one first")
parser.add_argument("--absent", default="{}", help="JSON: task -> why it is not available")
parser.add_argument("--missing-models", default="{}", help="JSON: model -> why it is missing")
parser.add_argument(
    "--missing-kernels", default="{}", help="JSON: task -> kernel -> why it is missing"
)
parser.add_argument("--a", type=int, required=True)
parser.add_argument("--b", type=float, required=True)
parser.add_argument("--draws", type=int, default=2000)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, required=True, help="CSV; a .md is put beside it")

if __name__ == "__main__":
    run(main, parser)
