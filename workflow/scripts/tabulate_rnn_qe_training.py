"""How RNN-QE's models were trained: schedules, validation parts, time. Stage: table."""

import argparse
import json
from pathlib import Path

from refless.data.ratings import write_table
from refless.experiments.rnn_qe.outputs import read_outputs
from refless.experiments.rnn_qe.predictions import predictions_note, usable_predictions
from refless.experiments.rnn_qe.training import LEAD, markdown_table, training_table
from refless.scripting import run
from refless.store.provenance import write_signed_markdown


def main(arguments: argparse.Namespace) -> None:
    asked = json.loads(arguments.settings)
    made = {}
    if arguments.outputs is not None:
        texts = read_outputs(arguments.outputs, asked)[1]["texts"]
        for item in arguments.predictions:
            name, _, path = item.partition("=")
            usable = usable_predictions(path, asked["data"], texts)
            if usable is not None:
                made[name] = usable[1]
    table = training_table(made, arguments.names)
    write_table(table, arguments.out)
    write_signed_markdown(
        arguments.out.with_suffix(".md"),
        "RNN quality estimation, training",
        LEAD,
        markdown_table(table),
        [predictions_note(name, about) for name, about in made.items()],
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--outputs", type=Path, help="CSV of score_rnn_qe_outputs.py; none if absent")
parser.add_argument("--absent", help="why there is no CSV; then nothing is trained, either")
parser.add_argument(
    "--predictions", nargs="*", default=[], metavar="NAME=PATH", help="e.g. setup4=setup4.csv.gz"
)
parser.add_argument("--names", nargs="*", default=[], help="what has a row in any case")
parser.add_argument("--settings", required=True, help="JSON: data, neighbors")
parser.add_argument("--out", type=Path, required=True, help="CSV; a Markdown is put beside it")

if __name__ == "__main__":
    run(main, parser)
