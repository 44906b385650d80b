"""``refless qe``: rate texts without references, with a trained network.

Stage: outside the workflow.
"""

from __future__ import annotations

import argparse
import json
import sys

from refless.cli._common import (
    TABLES,
    Commands,
    add_columns,
    add_outputs,
    check_out,
    command,
    outputs_of,
    require_free,
    require_torch,
    tell,
    warn_of_scale,
    with_columns,
    write,
)
from refless.errors import FormatError


def add(commands: Commands) -> None:
    """Describe the command."""
    qe = command(
        commands,
        "qe",
        help="rate texts beside their MR or context, without references, with a trained network",
        description="Rate each output, without references, on the scale of the ratings that the"
        " model was trained on. With a column quality, correlations are printed. Without --model,"
        " the model that comes with refless rates outputs of dialogue systems from 1 to 6; --card"
        " says what it was trained on and what it is worth. Rating needs torch.",
        example="refless qe --outputs mine.tsv --out rated.tsv",
    )
    qe.add_argument(
        "--model",
        metavar="FILE",
        help="of `refless train-qe` (default: the one that comes along)",
    )
    what = qe.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--outputs",
        metavar="FILE",
        help="columns text and mr, such as inform(name=x), or context; may have quality;"
        f" {TABLES}, or plain lines (.txt); - is standard input",
    )
    what.add_argument("--card", action="store_true", help="say what the model is, as JSON")
    add_outputs(qe, "--format")
    add_columns(qe)
    qe.add_argument(
        "--out", default="-", metavar="FILE", help="adds raw and prediction (default: -)"
    )
    qe.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from refless.models.rnn_qe.model_file import card, read_model, shipped_model

    check_out(arguments.out, [arguments.outputs, arguments.model])
    path = arguments.model or shipped_model()
    if arguments.card:
        write(json.dumps(card(read_model(path)), indent=2) + "\n", arguments.out)
        return
    outputs = outputs_of(arguments, ["mr", "context", "quality"])
    require_free(outputs, "raw", "prediction")
    require_torch()

    import numpy as np

    from refless.models.rnn_qe.own import groups, worth, worth_lines
    from refless.models.rnn_qe.saved import load_model

    model = load_model(path)
    texts = outputs.columns["text"]
    truth = np.array(outputs.columns["quality"]) if "quality" in outputs.columns else None
    if truth is not None and np.isnan(truth).all():
        truth = None
    trained = str(model.about.get("column", "mr"))
    column = next((name for name in (trained, "mr", "context") if name in outputs.columns), "")
    if column and not model.reads_meanings:
        tell(f"note: the model was trained on texts alone; the column {column} is not read")
        column = ""
    if column not in ("", trained):
        tell(f"note: the model was trained with the column {trained}; here, {column} is read")
    if not column and model.reads_meanings:
        raise FormatError(
            "has no column mr or context, which the model was trained with",
            path=outputs.path,
            remedy="add it",
        )
    meanings = outputs.columns[column] if column else [""] * len(texts)
    try:
        raw, prediction = model.rate(meanings, texts)
    except FormatError as error:
        line = None if error.line is None else outputs.lines[error.line - 1]
        remedy = error.remedy or f"mend it; the model reads {model.meanings}, as it was trained"
        raise FormatError(error.message, path=outputs.path, line=line, remedy=remedy) from error
    added = {
        "raw": model.scale.to_digits(raw).tolist(),
        "prediction": prediction.tolist(),
    }
    write(with_columns(outputs, added), arguments.out)
    if seen := sum(model.has_seen(meanings, texts)):
        tell(
            f"warning: {seen} of {len(texts)} texts (values as slots) are among those that the"
            " model was trained on: it knows their ratings, so correlations are too high. What it"
            " is worth on others stands in its card (--card)"
        )
    blank = sum(not meaning.strip() for meaning in meanings)
    if blank and model.reads_meanings:
        tell(
            f"note: {blank} of {len(texts)} texts have no {column}, and the model was trained with"
            " one: it rates them by their words alone, and may be worth less there"
        )
    if known := model.about.get("worth"):
        where = model.about.get("tested", "texts that it did not see")
        tell(f"note: the networks of this model, each on {where}: {worth_lines(known)[0]}")
    if strange := sum(model.strange(meanings, texts)):
        tell(
            f"warning: of {strange} of {len(texts)} texts, or of what they answer, a third of the"
            " words or more are unknown to the model, or there are none: what it says of them rests"
            " on little. Train one on such texts (refless train-qe)"
        )
    unit, same = groups(meanings, texts, model.meanings)
    if truth is not None:
        warn_of_scale([model.scale.low, model.scale.high], truth[~np.isnan(truth)])
        if unrated := int(np.isnan(truth).sum()):
            tell(f"note: {unrated} of {len(texts)} texts have no quality, and do not count here")
        # as they are: rounding makes ties
        print("\n".join(worth_lines(worth(raw, truth, unit, same))), file=sys.stderr)
