"""``refless score``: predict quality from the nearest rated texts, or by ridge regression."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from refless.cli._common import (
    Commands,
    UsageError,
    add_number,
    add_outputs,
    add_ratings,
    check_out,
    command,
    outputs_of,
    progress,
    require_free,
    tell,
    with_columns,
    write,
)
from refless.cli._neighbors import (
    add_model,
    beside_themselves,
    fitted,
    kernel_options,
    read_training,
    require_readable,
)
from refless.data.rows import File
from refless.errors import FormatError

if TYPE_CHECKING:
    import pandas as pd

    from refless.models.neighbors import NeighborsRegressor

NEIGHBORS, RIDGE, SYSTEM_RIDGE = METHODS = ("neighbors", "ridge", "ridge_system")
EXAMPLE = """
refless score --ratings rated.tsv --outputs mine.tsv --out predicted.tsv
refless score --ratings rated.tsv --leave-one-out --json
refless score --ratings rated.tsv --method ridge --outputs mine.tsv --out predicted.tsv
tail -n +2 mine.tsv | cut -f2 | refless score --ratings rated.tsv --outputs - --format lines
"""


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = command(
        commands,
        "score",
        help="predict quality from the nearest rated texts, or by ridge regression",
        description="Predict each text's quality as the mean quality of the rated texts that are"
        " similar to it, and make no prediction where too few or too many are; or by ridge"
        " regression.",
        example=EXAMPLE,
    )
    source = parser.add_mutually_exclusive_group(required=True)
    add_ratings(parser, "--train", formats=["--train-format"], instead=source)
    source.add_argument("--model", metavar="FILE", help="a model that refless fit wrote")
    asked = parser.add_mutually_exclusive_group(required=True)
    columns = "texts to rate: column text; with quality, correlations are printed"
    formats = ["--format"]
    add_outputs(parser, "--candidates", columns=columns, formats=formats, instead=asked)
    asked.add_argument(
        "--leave-one-out",
        action="store_true",
        help="predict each rated text from the others; correlations come out low",
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default=NEIGHBORS,
        help=f"{RIDGE}: on TF-IDF weights of character n-grams; {SYSTEM_RIDGE}: the mean rating of"
        f" the text's system, and ridge on what it leaves (default: {NEIGHBORS})",
    )
    add_model(parser)
    said = "add a column nearest: the N most similar rated texts with similarity and rating (5)"
    add_number(parser, "--explain", said, nargs="?", const=5, metavar="N")
    parser.add_argument("--json", action="store_true", help="write one JSON object with all")
    parser.add_argument(
        "--out",
        default="-",
        metavar="FILE",
        help="the texts with columns added (prediction; of neighbors also their number), in their"
        " own format (plain lines: a TSV of the added columns); default: - (standard output)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, predict, write, and say on standard error what a person wants to know."""
    _check(arguments)
    check_out(arguments.out, [*(arguments.ratings or []), arguments.outputs, arguments.model])
    by_system, alone = arguments.method == SYSTEM_RIDGE, arguments.leave_one_out
    own, rated = read_training(arguments, by_system) if arguments.ratings else (None, None)
    if alone:
        assert own is not None  # --leave-one-out has --ratings
        assert rated is not None
        given, texts, truth = own.files[0], rated["text"].tolist(), rated["quality"].tolist()
        place = {row: number for number, row in enumerate(rated.index)}
        rows = [place.get(text, -1) for text in own.text_of]
    else:
        given = outputs_of(arguments, ["quality"], ["system"] if by_system else [])
        texts = given.columns["text"]
        truth = given.columns.get("quality", [math.nan] * len(texts))
        rows = list(range(len(texts)))
    if not arguments.json:
        require_free(given, "prediction", "neighbors", "nearest")
    if arguments.method == NEIGHBORS:
        facts, columns = _by_neighbors(arguments, rated, None if alone else texts)
    else:
        assert rated is not None  # --model goes with neighbors
        facts, columns = _by_ridge(rated, given, by_system)
    found = {
        name: [None if row < 0 else values[row] for row in rows] for name, values in columns.items()
    }
    numbers = _evaluated(columns["prediction"], truth, facts.pop("mean"))
    if arguments.json:
        each = zip(*found.values(), strict=True)
        entries = [
            {"row": k, **dict(zip(found, values, strict=True))} for k, values in enumerate(each, 1)
        ]
        whole = {**facts, **numbers, "predictions": entries}
        write(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", arguments.out)
    else:
        write(with_columns(given, found), arguments.out)
    _report(facts, numbers)


def _check(arguments: argparse.Namespace) -> None:
    settings = ("kernel", "tau", "min_neighbors", "max_share")
    if arguments.leave_one_out and len(arguments.ratings or []) != 1:
        raise UsageError("--leave-one-out takes one file of --ratings, and adds columns to it")
    if arguments.leave_one_out and arguments.outputs_format:
        raise UsageError("--format goes with --outputs; --ratings-format says that of --ratings")
    if arguments.model:
        for name in (*settings, "ratings_format", "center_raters"):
            if getattr(arguments, name):
                raise UsageError(f"--{name.replace('_', '-')} was settled by refless fit")
    if arguments.method != NEIGHBORS:
        for name in (*settings, "option", "wordnet", "explain", "leave_one_out", "model"):
            if getattr(arguments, name) not in (None, False, []):
                raise UsageError(f"--{name.replace('_', '-')} goes with --method {NEIGHBORS}")


Found = tuple[dict[str, Any], dict[str, list[Any]]]
"""Facts for JSON and for a person; columns that are added, of which the first is ``prediction``,
None where there is none."""


def _by_neighbors(
    arguments: argparse.Namespace, rated: pd.DataFrame | None, texts: list[str] | None
) -> Found:
    """``texts`` : to rate; None: each training text from the others."""
    from refless.models.neighbors_file import kernel_of, load, signature_line

    if rated is not None:
        model = fitted(arguments, rated)
    else:
        options = kernel_options(arguments, kernel_of(arguments.model))
        model = load(arguments.model, threads=arguments.threads, options=options)
    own = list(model.texts_) if texts is None else texts
    if texts:
        require_readable(model.kernel, texts, dict(model.options or {}))
    with progress("scoring") as step:
        found = model.leave_one_out(step) if texts is None else model.predict(texts, step)
    columns: dict[str, list[Any]] = {
        "prediction": [None if math.isnan(p) else float(p) for p in found],
        "neighbors": model.neighbors_.tolist(),
    }
    if arguments.explain:
        columns["nearest"] = _nearest(model, texts, arguments.explain)
    n, covered = len(found), sum(p is not None for p in columns["prediction"])
    few = int((model.neighbors_ < model.min_neighbors).sum())
    if leaked := beside_themselves(model, own, texts is None):
        tell(
            f"warning: {leaked} of {n} texts have their own text among their neighbors, whose"
            " rating goes into the prediction, so that correlations are too high"
        )
    if 2 * covered < n:
        tell(f"warning: tau {model.tau_:g} gives most of these texts no prediction")
    facts = {
        "signature": signature_line(model, **({} if texts is not None else {"leave": "one-out"})),
        "tau": model.tau_,
        "n": n,
        "covered": covered,
        "coverage": covered / n if n else None,
        "too_few_neighbors": few,
        "too_many_neighbors": n - covered - few,
    }
    return {**facts, "mean": float(model.quality_.mean())}, columns


def _nearest(
    model: NeighborsRegressor, texts: list[str] | None, number: int
) -> list[list[dict[str, Any]]]:
    """The nearest rated texts of each candidate, most similar first; none of no similarity."""
    rows, similarity = model.nearest(texts, min(number, len(model.texts_)))
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


def _by_ridge(rated: pd.DataFrame, given: File, by_system: bool) -> Found:
    """As `refless compare` does; equal texts stay together where the penalty is chosen."""
    from refless import __version__
    from refless.data.wording import wording
    from refless.models.baselines import RidgeTfidf, SystemRidge
    from refless.store.files import text_sum

    texts, own, quality = given.columns["text"], rated["text"].tolist(), rated["quality"].tolist()
    known = rated["system"].tolist() if by_system else []
    model = SystemRidge() if by_system else RidgeTfidf()
    more: dict[str, Any] = {"groups": list(map(wording, own))}
    systems = None
    if by_system:  # numbers, since the model would look at the signs of a name
        number = {name: f"s{k}" for k, name in enumerate(dict.fromkeys(known))}
        for row, name in enumerate(given.columns["system"]):
            if name not in number:
                message, remedy = f"no training text is of the system {name!r}", f"--method {RIDGE}"
                raise FormatError(message, path=given.path, line=given.lines[row], remedy=remedy)
        systems = [number[name] for name in given.columns["system"]]
        more["systems"] = [number[name] for name in known]
    model.fit(own, quality, **more)
    found = model.predict(texts, systems=systems).tolist() if texts else []
    trained = set(map(wording, own))
    if leaked := sum(wording(text) in trained for text in texts):
        tell(
            f"warning: {leaked} of {len(texts)} texts are among the training texts, so that"
            " correlations are too high"
        )
    data = text_sum([*own, *map(repr, quality), *known])[:12]
    method = SYSTEM_RIDGE if by_system else RIDGE
    facts = {
        "signature": f"method:{method}|n:{len(own)}|data:{data}|version:{__version__}",
        "method": method,
        "n": len(found),
        "covered": len(found),
        "coverage": 1.0 if found else None,
    }
    return {**facts, "mean": sum(quality) / len(quality)}, {"prediction": found}


def _evaluated(
    prediction: Sequence[float | None], truth: Sequence[float], mean: float
) -> dict[str, float | None]:
    """Correlations and squared errors of the rated texts that have a prediction, None where they
    are undefined; nothing if no text is rated."""
    import numpy as np

    from refless.statistics import spearman

    given, quality = np.array(prediction, np.float64), np.array(truth, np.float64)
    if np.isnan(quality).all():
        return {}
    there = ~np.isnan(given) & ~np.isnan(quality)
    quality = quality[there]
    given = np.array([float(f"{value:.12g}") for value in given[there]])  # rounding breaks no ties
    rho = spearman(given, quality)[0]
    values = {
        "pearson": np.corrcoef(given, quality)[0, 1] if not math.isnan(rho) else math.nan,
        "spearman": rho,
        "mse": ((given - quality) ** 2).mean() if there.any() else math.nan,
        "mse_of_mean": ((mean - quality) ** 2).mean() if there.any() else math.nan,
    }
    return {name: None if math.isnan(value) else float(value) for name, value in values.items()}


def _report(facts: dict[str, Any], numbers: dict[str, float | None]) -> None:
    n, covered = facts["n"], facts["covered"]
    if "tau" in facts and n:
        tell(
            f"coverage {covered / n:.3f} ({covered} of {n}; {facts['too_few_neighbors']} with too"
            f" few neighbors, {facts['too_many_neighbors']} with too many), tau {facts['tau']:g}"
        )
    if numbers:
        r, rho, mse, mean = ("undefined" if v is None else f"{v:.4g}" for v in numbers.values())
        tell(f"Pearson {r}; Spearman {rho}; squared error {mse}, of the mean rating {mean}")
    tell(f"signature {facts['signature']}")
