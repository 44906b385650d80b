"""Rate texts beside their MR or context, without references, with a trained network.

example:
  refless qe --outputs mine.tsv --out rated.tsv
"""

import argparse

from refless.cli import files, options
from refless.errors import FormatError


def add(parser: options.Parser) -> None:
    said = "of refless train-qe (default: of dialogue systems, from 1 to 6)"
    parser.add_argument("--model", metavar="FILE", help=said)
    options.add_outputs(parser, "text and mr, such as inform(name=x), or context")
    said = "the texts with the column prediction (default: standard output)"
    parser.add_argument("--out", help=said, **options.OUT)


def run(arguments: argparse.Namespace) -> None:
    out = files.check_out(arguments.out, arguments.outputs, arguments.model)
    outputs = files.outputs_of(arguments, ["mr", "context", "quality"])

    import pandas as pd

    from refless.models.rnn_qe.saved import load_model, shipped_model
    from refless.statistics import agreement

    model, given = load_model(arguments.model or shipped_model()), pd.DataFrame(outputs.columns)
    meanings = [""] * len(given)
    if model.reads_meanings:
        names = str(model.about.get("column", "mr")), "mr", "context"
        column = next((name for name in names if name in given), "")
        if not column:
            message = "has no column mr or context, which the model was trained with"
            raise FormatError(message, path=outputs.path, remedy="add it")
        meanings = given[column].tolist()
        if blank := sum(not one.strip() for one in meanings):
            files.tell(f"warning: {blank} of {len(given)} texts have no {column}")
    try:
        rated = model.rate(meanings, given["text"].tolist())
    except FormatError as error:
        line = outputs.lines[(error.line or 1) - 1]
        remedy = f"mend it; the model reads {model.meanings}, as it was trained"
        raise FormatError(error.message, path=outputs.path, line=line, remedy=remedy) from error
    files.write(files.with_columns(outputs, rated[["prediction"]].round(6)), out)
    if seen := rated["seen"].sum():
        files.tell(f"warning: {seen} of {len(rated)} texts are among those that it was trained on")
    if "quality" in given and given["quality"].notna().any():
        prediction, truth = rated["prediction"].to_numpy(), given["quality"]
        found = agreement(prediction, truth.to_numpy(float), truth.mean())
        files.tell(files.measures_line(found))
