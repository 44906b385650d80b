"""Every set of essays as the test set, from every set's training essays. Stage: table."""

import argparse
import json
from pathlib import Path

from refless.data.ratings import write_table
from refless.experiments.bleu_neighbors.essays import SECTION
from refless.experiments.bleu_neighbors.table1 import signature_note
from refless.experiments.bleu_neighbors.table3 import (
    Settings,
    absent_essays_table,
    essays_markdown,
    essays_table,
)
from refless.report.published import skipped_rows
from refless.scripting import run
from refless.store.provenance import write_signed_markdown
from refless.store.signed_tables import read_numbers, require_settings


def main(arguments: argparse.Namespace) -> None:
    notes = []
    if arguments.sums is None:
        table = absent_essays_table(arguments.absent)
    else:
        sums, about = read_numbers(arguments.sums, ["essays", "id", "set", "gold", "characters"])
        require_settings(about, json.loads(arguments.settings), arguments.sums, SECTION)
        table = essays_table(
            sums,
            about["most"],
            about["training"],
            about["provenance"],
            Settings(arguments.a, arguments.b, arguments.draws, arguments.seed),
        )
        notes = [*skipped_rows(about), *map(signature_note, about["signatures"])]
    write_table(table, arguments.out)
    write_signed_markdown(
        arguments.out.with_suffix(".md"),
        "BLEU Neighbors on every set of essays",
        "Spearman's rho between estimate and gold score, each set as the test set (down), trained"
        " on each set's training essays (across; on the diagonal the set's own). Means are exact:"
        " no rounding noise orders ties, as it does in table 3 (set 3 from set 1: 0.301 there)."
        " The last column is the rho of the essay's length in characters, without any training."
        " Intervals, p-values and coverage are in the CSV.",
        essays_markdown(table),
        notes,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--sums", type=Path, help="CSV of sum_essay_sets.py; none if absent")
parser.add_argument("--absent", default="no numbers are given", help="why there are no sums")
parser.add_argument("--settings", required=True, help="JSON: selection and recipe")
parser.add_argument("--a", type=int, required=True)
parser.add_argument("--b", type=float, required=True)
parser.add_argument("--draws", type=int, default=2000)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, required=True, help="CSV; a .md is put beside it")

if __name__ == "__main__":
    run(main, parser)
