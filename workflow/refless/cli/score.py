"""``refless score``: predict quality as the mean rating of the nearest rated texts.

Stage: outside the workflow.
"""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING, Any

from refless.cli._common import Commands, UsageError, check_out, command, tell, write
from refless.cli._neighbors import (
    FILES,
    Training,
    add_model,
    fitted,
    kernel_options,
    progress,
    read_training,
)
from refless.data.given import FORMATS, read_given

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from refless.models.neighbors import NeighborsRegressor
    from refless.statistics import Evaluation

EXAMPLE = """
refless score --train rated.tsv --candidates mine.tsv --out predicted.tsv
refless score --train rated.tsv --tau auto --leave-one-out --json
tail -n +2 mine.tsv | cut -f2 | refless score --train rated.tsv --candidates - --format lines
"""


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = command(
        commands,
        "score",
        help="predict quality as the mean rating of the nearest rated texts",
        description="Predict each candidate's quality as the mean quality of the rated training"
        " texts that are similar to it; make no prediction where too few or too many are.",
        example=EXAMPLE,
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--train", metavar="FILE", help=f"columns {FILES}")
    source.add_argument("--model", metavar="FILE", help="a model that refless fit wrote")
    candidates = parser.add_mutually_exclusive_group(required=True)
    candidates.add_argument(
        "--candidates",
        metavar="FILE",
        help="column text; with a column quality, correlations are printed; TSV, CSV, JSON Lines"
        " or plain lines (.txt), by its ending; - is standard input",
    )
    candidates.add_argument(
        "--leave-one-out",
        action="store_true",
        help="predict each training text from the others: an honest measure where there are no"
        " further rated texts",
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="format of the candidates, whatever the ending"
    )
    add_model(parser)
    parser.add_argument(
        "--explain",
        type=int,
        nargs="?",
        const=5,
        metavar="N",
        help="add a column nearest: the N most similar rated texts with similarity and rating, as"
        " JSON (default: 5)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="write one JSON object: signature, counts, correlations and predictions",
    )
    parser.add_argument(
        "--out",
        default="-",
        metavar="FILE",
        help="the candidates with columns prediction and neighbors added, in their own format"
        " (plain lines: a TSV of these two); default: - (standard output)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, predict, write, and say on standard error what a person wants to know."""
    _check(arguments)
    check_out(arguments.out, [arguments.train, arguments.candidates, arguments.model])
    model, train = _model(arguments)
    alone = arguments.leave_one_out
    if alone:
        assert train is not None  # --leave-one-out has --train
        given, texts, row_of = train.given, train.texts, train.row_of
        truth: list[float] | None = train.quality
    else:
        given = read_given(arguments.candidates, ["text"], arguments.format or "", ["quality"])
        texts = given.texts("text")
        row_of = list(range(len(texts)))
        truth = given.numbers("quality") if "quality" in given.columns else None
    added = given.with_columns({"prediction": [], "neighbors": []}) if not texts else None

    from refless.models.neighbors_file import require_unchanged, signature_line, standing_in

    with progress(len(texts), "scoring") as step:
        prediction = model.leave_one_out(step) if alone else model.predict(texts, step)
    columns: dict[str, list[Any]] = {
        "prediction": [None if math.isnan(p) else float(p) for p in prediction],
        "neighbors": model.neighbors_.tolist(),
    }
    if arguments.explain:
        columns["nearest"] = _nearest(model, None if alone else texts, arguments.explain)
    counts = _counts(model, prediction, alone)
    signature = signature_line(model, **({"leave": "one-out"} if alone else {}))
    evaluation = _evaluated(prediction, truth)
    if arguments.json:
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        numbers = _numbers(evaluation, prediction, truth)
        found = {"signature": signature, "tau": model.tau_, **counts, **numbers}
        content = json.dumps({**found, "predictions": rows}, ensure_ascii=False, indent=1) + "\n"
    else:
        rows_of = {name: [values[k] for k in row_of] for name, values in columns.items()}
        content = added or given.with_columns(rows_of)
    if alone:
        _warn_of_repeats(texts)
    else:
        _warn_of_leaks(int(standing_in(model, texts).sum()), len(texts))
    if truth and not alone:
        _warn_of_scale(model, truth)
    require_unchanged(model)
    write(content, arguments.out)
    _report(model, counts, evaluation, prediction, truth)
    tell(f"signature {signature}")


def _check(arguments: argparse.Namespace) -> None:
    if arguments.train == "-" and arguments.candidates == "-":
        raise UsageError("only one of --train and --candidates can be standard input")
    if arguments.explain is not None and arguments.explain < 1:
        raise UsageError(f"--explain is {arguments.explain}; give a number from 1")
    if arguments.model:
        if arguments.leave_one_out:
            raise UsageError("--leave-one-out goes with --train")
        for name in ("kernel", "tau", "min_neighbors", "max_share", "train_format"):
            if getattr(arguments, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} was settled by refless fit")


def _model(arguments: argparse.Namespace) -> tuple[NeighborsRegressor, Training | None]:
    if arguments.train:
        train = read_training(arguments)
        return fitted(arguments, train), train
    from refless.models.neighbors_file import kernel_of, load

    options = kernel_options(arguments, kernel_of(arguments.model))
    return load(arguments.model, threads=arguments.threads, options=options), None


def _nearest(
    model: NeighborsRegressor, texts: list[str] | None, number: int
) -> list[list[dict[str, Any]]]:
    """The nearest rated texts of each candidate, most similar first; none of no similarity."""
    with progress(None, "explaining") as step:
        rows, similarity = model.nearest(texts, number, step)
    return [
        [
            {
                "similarity": float(value),
                "quality": float(model.quality_[row]),
                "text": model.texts_[int(row)],
            }
            for row, value in zip(own, values, strict=True)
            if row >= 0 and value > 0
        ]
        for own, values in zip(rows, similarity, strict=True)
    ]


# ---- what is said --------------------------------------------------------------------------------


def _counts(model: NeighborsRegressor, prediction: Array, alone: bool) -> dict[str, Any]:
    import numpy as np

    n = len(prediction)
    covered = int((~np.isnan(prediction)).sum())
    too_few = int((model.neighbors_ < model.min_neighbors).sum())
    return {
        "n": n,
        "covered": covered,
        "coverage": covered / n if n else None,
        "too_few_neighbors": too_few,
        "too_many_neighbors": n - covered - too_few,
    }


def _evaluated(prediction: Array, truth: list[float] | None) -> Evaluation | None:
    if truth is None:
        return None
    import numpy as np

    from refless.statistics import evaluate

    return evaluate(prediction, np.asarray(truth, np.float64))


def _numbers(
    cell: Evaluation | None, prediction: Array, truth: list[float] | None
) -> dict[str, Any]:
    """Correlations and error for JSON, null where they are undefined."""
    if cell is None or truth is None:
        return {}

    def known(value: float) -> float | None:
        return None if math.isnan(value) else float(value)

    found: dict[str, Any] = {}
    for name, estimate in (("spearman", cell.spearman), ("mse", cell.mse)):
        low, high = estimate.low, estimate.high
        found |= {
            name: known(estimate.value),
            f"{name}_low": known(low),
            f"{name}_high": known(high),
        }
    return {**found, "pearson": known(_pearson(cell, prediction, truth))}


def _pearson(cell: Evaluation, prediction: Array, truth: list[float]) -> float:
    import numpy as np

    if math.isnan(cell.spearman.value):
        return math.nan
    known = ~np.isnan(prediction)
    return float(np.corrcoef(prediction[known], np.asarray(truth)[known])[0, 1])


def _report(
    model: NeighborsRegressor,
    counts: dict[str, Any],
    cell: Evaluation | None,
    prediction: Array,
    truth: list[float] | None,
) -> None:
    n, covered = counts["n"], counts["covered"]
    share = covered / n if n else math.nan
    few, many = counts["too_few_neighbors"], counts["too_many_neighbors"]
    tell(
        f"coverage {share:.3f} ({covered} of {n}; {few} with fewer than {model.min_neighbors}"
        f" neighbors, {many} with more than {model.max_share:g} of the training texts)"
    )
    if 2 * covered < n and model.tau != "auto":
        tell(
            f"warning: tau {model.tau_:g} does not suit these texts: most get no prediction."
            " --tau auto chooses one on the training texts"
        )
    if cell is None or truth is None:
        return
    for name, estimate in (("Spearman", cell.spearman), ("MSE", cell.mse)):
        if math.isnan(estimate.value):
            tell(f"{name} undefined: too few predictions, or all alike")
        else:
            tell(f"{name} {estimate.value:.4f} (95% {estimate.low:.4f} to {estimate.high:.4f})")
    if not math.isnan(pearson := _pearson(cell, prediction, truth)):
        tell(f"Pearson {pearson:.4f}")


def _warn_of_leaks(number: int, n: int) -> None:
    if number:
        tell(
            f"warning: {number} of {n} candidates stand word for word in the training texts; their"
            " own ratings go into their predictions, so correlations are too high. Take them out,"
            " or use --leave-one-out"
        )


def _warn_of_repeats(texts: list[str]) -> None:
    if again := len(texts) - len(set(texts)):
        tell(
            f"warning: {again} of {len(texts)} texts repeat an earlier one word for word; ratings"
            " of the same text go into their predictions"
        )


def _warn_of_scale(model: NeighborsRegressor, truth: list[float]) -> None:
    import numpy as np

    low, high = float(model.quality_.min()), float(model.quality_.max())
    own = np.asarray(truth)
    outside = np.mean((own < low) | (own > high))
    width, narrow = high - low, float(np.ptp(own))
    if outside > 0.5 or (len(own) >= 10 and 0 < narrow < width / 4):
        tell(
            f"warning: the candidates' quality goes from {own.min():g} to {own.max():g}, that of"
            f" the training texts from {low:g} to {high:g}: other scales? MSE takes them as they"
            " are"
        )
