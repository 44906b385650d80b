"""Table 3 of BLEU Neighbors (essays), with Williams' test and the sensitivity. Stage: table."""

import argparse
import json
from pathlib import Path

import pandas as pd

from refless.data.ratings import write_table
from refless.experiments.bleu_neighbors.essays import (
    ESTIMATE_COLUMNS,
    SECTION,
    Recipe,
)
from refless.experiments.bleu_neighbors.table1 import signature_note
from refless.experiments.bleu_neighbors.table3 import (
    KEYS,
    Numbers,
    Settings,
    lead_text,
    sensitivity_markdown,
    sensitivity_table,
    table3,
    table3_markdown,
    williams_markdown,
    williams_table,
)
from refless.report.published import read_published, skipped_rows
from refless.scripting import run
from refless.store.provenance import write_signed_markdown
from refless.store.signed_tables import read_numbers, require_settings


def main(arguments: argparse.Namespace) -> None:
    asked = json.loads(arguments.settings)
    recipe, selection = Recipe(**asked["recipe"]), asked["selection"]
    notes = []
    if arguments.estimates is None:
        numbers = Numbers(pd.DataFrame(columns=ESTIMATE_COLUMNS), recipe, "", arguments.absent)
    else:
        estimates, about = read_numbers(arguments.estimates, ESTIMATE_COLUMNS)
        require_settings(about, asked, arguments.estimates, SECTION)
        numbers = Numbers(estimates, recipe, about["provenance"])
        notes = skipped_rows(about) + [
            f"{signature_note(signature)}, read {signature['reading']}"
            for signature in about["signatures"]
        ]
    settings = Settings(arguments.a, arguments.b, arguments.draws, arguments.seed)
    published = read_published(arguments.published, KEYS)
    out = arguments.out
    table = table3(numbers, published, settings)
    test = williams_table(numbers, published, settings)
    sensitivity = sensitivity_table(numbers, asked["changes"], published, settings)
    write_table(table, out)
    write_table(test, out.with_name(f"{out.stem}_williams.csv"))
    write_table(sensitivity, out.with_name(f"{out.stem}_sensitivity.csv"))
    lead = lead_text(settings, selection)
    write_signed_markdown(
        out.with_suffix(".md"),
        "BLEU Neighbors, table 3",
        f"{lead} The published value stands in square brackets; * is p < 0.01.",
        f"{table3_markdown(table)}\n\n{williams_markdown(test)}",
        notes,
    )
    write_signed_markdown(
        out.with_name(f"{out.stem}_sensitivity.md"),
        "BLEU Neighbors, table 3: one choice changed at a time",
        f"{lead} Each line changes one choice of the published recipe and leaves the others. `n`"
        " is the number of test essays; intervals and differences are in the CSV.",
        sensitivity_markdown(sensitivity),
        notes,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--estimates", type=Path, help="CSV of predict_essays.py; none if absent")
parser.add_argument("--absent", default="no numbers are given", help="why there are no estimates")
parser.add_argument("--published", type=Path, required=True, help="the paper's table")
parser.add_argument("--settings", required=True, help="JSON: selection, recipe, changes, left_out")
parser.add_argument("--a", type=int, required=True)
parser.add_argument("--b", type=float, required=True)
parser.add_argument("--draws", type=int, default=2000)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument(
    "--out", type=Path, required=True, help="CSV; others are put beside it (_williams, ...)"
)

if __name__ == "__main__":
    run(main, parser)
