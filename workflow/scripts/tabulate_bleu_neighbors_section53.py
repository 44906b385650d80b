"""Section 5.3 of BLEU Neighbors: annotators on all texts and on the covered ones. Stage: table."""

import argparse
import json
from pathlib import Path

from refless.data.ratings import write_table
from refless.experiments.bleu_neighbors.section53 import (
    lead_text,
    section53,
    section53_markdown,
)
from refless.experiments.bleu_neighbors.table1 import KEYS, Settings, read_tasks
from refless.report.published import read_published
from refless.scripting import run
from refless.store.provenance import write_signed_markdown


def main(arguments: argparse.Namespace) -> None:
    models = json.loads(arguments.models)
    published = {kernels[0] for kernels in models.values()}
    missing = json.loads(arguments.missing_kernels)
    tasks, notes = read_tasks(arguments.ratings, arguments.predictions, missing, published)
    settings = Settings(models, arguments.a, arguments.b, arguments.draws, arguments.seed)
    table = section53(
        arguments.tasks,
        tasks,
        json.loads(arguments.absent),
        json.loads(arguments.missing_models),
        read_published(arguments.published, KEYS),
        settings,
    )
    write_table(table, arguments.out)
    write_signed_markdown(
        arguments.out.with_suffix(".md"),
        "BLEU Neighbors, section 5.3",
        lead_text(settings),
        section53_markdown(table),
        notes,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tasks", nargs="+", required=True, help="all tasks, in order")
parser.add_argument("--ratings", type=Path, nargs="*", default=[], help="directories, one a task")
parser.add_argument("--predictions", type=Path, nargs="*", default=[], help="CSV files")
parser.add_argument("--published", type=Path, required=True, help="what the paper says")
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
