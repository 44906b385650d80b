"""Table 2 of ΔBLEU on every task, with the tests of ΔBLEU against BLEU. Stage: table."""

import argparse
import json
from pathlib import Path

from refless.data.ratings import write_table
from refless.experiments.delta_bleu.table2 import (
    KEYS,
    LEAD,
    comparison_table,
    read_task_numbers,
    signature_notes,
    table2,
    table2_markdown,
)
from refless.experiments.delta_bleu.units import NUMBER_COLUMNS
from refless.report.published import read_published
from refless.scripting import directories, run
from refless.store.provenance import write_signed_markdown


def main(arguments: argparse.Namespace) -> None:
    absent = json.loads(arguments.absent)
    numbers = read_task_numbers(
        directories(arguments.numbers),
        absent,
        json.loads(arguments.settings),
        "units",
        NUMBER_COLUMNS,
    )
    table = table2(numbers, read_published(arguments.published, KEYS))
    tests = comparison_table(numbers)
    write_table(table, arguments.out)
    write_table(tests, arguments.out.with_name(f"{arguments.out.stem}_tests.csv"))
    write_signed_markdown(
        arguments.out.with_suffix(".md"),
        "Discriminative BLEU, table 2",
        LEAD,
        table2_markdown(table, tests, [own.task for own in numbers]),
        signature_notes(numbers),
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "--numbers", nargs="*", default=[], metavar="TASK=DIRECTORY", help="of score_delta_bleu.py"
)
parser.add_argument("--absent", default="{}", help="JSON: why a task has no numbers")
parser.add_argument("--settings", required=True, help="JSON: the settings of each task")
parser.add_argument("--published", type=Path, required=True, help="what the paper reports")
parser.add_argument(
    "--out", type=Path, required=True, help="CSV; the tests (_tests.csv) are put beside it"
)

if __name__ == "__main__":
    run(main, parser)
