"""Rate texts beside their MR or context, without references, with a trained network.

example:
  refless qe --outputs mine.tsv --out rated.tsv
"""

import argparse

import numpy as np

from refless.cli import files, options
from refless.errors import FormatError


def add(parser: options.Parser) -> None:
    said = "of refless train-qe (default: of dialogue systems, from 1 to 6)"
    parser.add_argument("--model", metavar="FILE", help=said)
    what = parser.add_mutually_exclusive_group(required=True)
    options.add_outputs(parser, "text and mr, such as inform(name=x), or context", what)
    what.add_argument("--card", action="store_true", help="what the model is and is worth, as JSON")
    said = "the texts with the columns raw and prediction (default: standard output)"
    parser.add_argument("--out", help=said, **options.OUT)


def run(arguments: argparse.Namespace) -> None:
    from refless.models.rnn_qe.saved import card, load_model, read_model, shipped_model

    out = files.check_out(arguments.out, arguments.outputs, arguments.model)
    path = arguments.model or shipped_model()
    if arguments.card:
        files.write_json(card(read_model(path)), out)
        return
    outputs = files.outputs_of(arguments, ["mr", "context", "quality"])

    import pandas as pd

    from refless.models.rnn_qe.own import groups, worth, worth_lines

    model, texts = load_model(path), outputs.columns["text"]
    meanings, column = [""] * len(texts), str(model.about.get("column", "mr"))
    if model.reads_meanings:
        column = next((name for name in (column, "mr", "context") if name in outputs.columns), "")
        if not column:
            message = "has no column mr or context, which the model was trained with"
            raise FormatError(message, path=outputs.path, remedy="add it")
        meanings = outputs.columns[column]
    try:
        rated = model.rate(meanings, texts)
    except FormatError as error:
        line = outputs.lines[(error.line or 1) - 1]
        remedy = f"mend it; the model reads {model.meanings}, as it was trained"
        raise FormatError(error.message, path=outputs.path, line=line, remedy=remedy) from error
    shown = pd.DataFrame({"raw": rated["raw"].round(6), "prediction": rated["prediction"]})
    files.write(files.with_columns(outputs, shown), out)
    for number, what in (
        (rated["seen"].sum(), "are among the texts that it was trained on"),
        (rated["strange"].sum(), "have many words that it does not know"),
        (model.reads_meanings and sum(not one.strip() for one in meanings), f"have no {column}"),
    ):
        if number:
            files.tell(f"warning: {number} of {len(texts)} texts {what}: see the model's --card")
    truth = np.array(outputs.columns.get("quality", [np.nan] * len(texts)), float)
    if not np.isnan(truth).all():  # not rounded: that makes ties
        found = worth(rated["raw"].to_numpy(), truth, *groups(rated, model.meanings))
        files.tell("\n".join(worth_lines(found)))
