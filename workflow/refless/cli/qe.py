"""``refless qe``: rate texts without references, with a trained network."""

import argparse
import json

from refless.cli import files, options
from refless.errors import FormatError


def add(commands: options.Commands) -> None:
    """Describe the command."""
    parser = options.command(
        commands,
        run,
        "qe",
        help="rate texts beside their MR or context, without references, with a trained network",
        description="Rate each output, without references, on the scale of the ratings that the"
        " model was trained on. With a column quality, correlations are printed. Without --model,"
        " the model that comes with refless rates outputs of dialogue systems from 1 to 6; --card"
        " says what it was trained on and what it is worth. Rating needs torch.",
        example="refless qe --outputs mine.tsv --out rated.tsv",
    )
    parser.add_argument(
        "--model", metavar="FILE", help="of `refless train-qe` (default: the one that comes along)"
    )
    what = parser.add_mutually_exclusive_group(required=True)
    options.add_outputs(
        parser, "columns text and mr, such as inform(name=x), or context", instead=what
    )
    what.add_argument("--card", action="store_true", help="say what the model is, as JSON")
    options.add_out(parser, "the texts with the columns raw and prediction")


def run(arguments: argparse.Namespace) -> None:
    """Read, rate, write, and say what the model does not know."""
    from refless.models.rnn_qe.saved import card, load_model, read_model, shipped_model

    out = files.check_out(arguments.out, arguments.outputs, arguments.model)
    path = arguments.model or shipped_model()
    if arguments.card:
        files.write(json.dumps(card(read_model(path)), indent=2) + "\n", out)
        return
    outputs = files.outputs_of(arguments, ["mr", "context", "quality"])
    files.require_torch()

    import numpy as np

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
        line = None if error.line is None else outputs.lines[error.line - 1]
        remedy = error.remedy or f"mend it; the model reads {model.meanings}, as it was trained"
        raise FormatError(error.message, path=outputs.path, line=line, remedy=remedy) from error
    added = {"raw": rated["raw"].round(6).tolist(), "prediction": rated["prediction"].tolist()}
    files.write(files.with_columns(outputs, added), out)
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
