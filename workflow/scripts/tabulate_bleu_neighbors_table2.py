"""Table 2 of BLEU Neighbors: trained on one task, scored on another. Stage: table."""

import argparse
import json
from pathlib import Path

from refless.data.ratings import write_table
from refless.experiments.bleu_neighbors.table1 import Settings, signature_note
from refless.experiments.bleu_neighbors.table2 import KEYS, Pair, lead_text, table2, table2_markdown
from refless.report.published import read_published
from refless.scripting import run
from refless.store.provenance import write_signed_markdown
from refless.store.signed_tables import read_numbers, require_settings, require_texts


def main(arguments: argparse.Namespace) -> None:
    kernels = json.loads(arguments.kernels)
    settings = Settings(
        {"bleu": kernels}, arguments.a, arguments.b, arguments.draws, arguments.seed
    )
    pairs, notes = {}, []
    for path in arguments.estimates:
        table, about = read_numbers(path, ["id", "quality"])
        require_settings(about, {"tau": arguments.tau}, path, "bleu_neighbors.models")
        require_texts(about, arguments.ratings, path)
        source, target = path.stem.split(".")
        pairs[source, target] = Pair(table, about["training"], about["provenance"])
        notes += [signature_note(s) for s in about["signatures"] if s["kernel"] in kernels]
    missing = {
        (source, target): reasons
        for source, targets in json.loads(arguments.missing).items()
        for target, reasons in targets.items()
    }
    table = table2(
        arguments.tasks, pairs, missing, read_published(arguments.published, KEYS), settings
    )
    write_table(table, arguments.out)
    write_signed_markdown(
        arguments.out.with_suffix(".md"),
        "BLEU Neighbors, table 2",
        lead_text(settings),
        table2_markdown(table),
        notes,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tasks", nargs="+", required=True, help="all tasks, in order")
parser.add_argument(
    "--estimates", type=Path, nargs="*", default=[], help="CSV files called <source>.<target>.csv"
)
parser.add_argument(
    "--ratings", type=Path, nargs="*", default=[], help="directories, of the tasks that are there"
)
parser.add_argument("--missing", default="{}", help="JSON: source -> target -> kernel -> why")
parser.add_argument("--kernels", required=True, help="JSON: kernels, the published one first")
parser.add_argument("--tau", type=float, required=True)
parser.add_argument("--published", type=Path, required=True, help="the paper's table")
parser.add_argument("--a", type=int, required=True)
parser.add_argument("--b", type=float, required=True)
parser.add_argument("--draws", type=int, default=2000)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, required=True, help="CSV; a .md is put beside it")

if __name__ == "__main__":
    run(main, parser)
