"""ΔBLEU as an estimate of quality, beside kernels and BLEU Neighbors. Stage: table."""

import argparse
import json
from pathlib import Path

from refless.data.ratings import write_table
from refless.experiments.delta_bleu.predictor import COLUMNS
from refless.experiments.delta_bleu.table2 import (
    PREDICTOR_LEAD,
    predictor_markdown,
    predictor_table,
    read_task_numbers,
    signature_notes,
)
from refless.scripting import directories, run
from refless.store.provenance import write_signed_markdown


def main(arguments: argparse.Namespace) -> None:
    numbers = read_task_numbers(
        directories(arguments.numbers),
        json.loads(arguments.absent),
        json.loads(arguments.settings),
        "predictor",
        COLUMNS,
    )
    table = predictor_table(numbers, json.loads(arguments.missing))
    write_table(table, arguments.out)
    write_signed_markdown(
        arguments.out.with_suffix(".md"),
        "ΔBLEU as an estimate of quality",
        PREDICTOR_LEAD,
        predictor_markdown(table, [own.task for own in numbers]),
        signature_notes(numbers),
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "--numbers", nargs="*", default=[], metavar="TASK=DIRECTORY", help="of predict_delta_bleu.py"
)
parser.add_argument("--absent", default="{}", help="JSON: why a task has no numbers")
parser.add_argument("--missing", default="{}", help="JSON: task -> kernel -> why it is not there")
parser.add_argument("--settings", required=True, help="JSON: the settings of each task")
parser.add_argument("--out", type=Path, required=True)

if __name__ == "__main__":
    run(main, parser)
