"""``refless score``: predict quality from the nearest rated texts, or by ridge regression."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from refless.cli import files, options
from refless.cli._neighbors import (
    SETTINGS,
    add_model,
    beside_themselves,
    fitted,
    kernel_options,
    read_training,
    require_readable,
)
from refless.data.rows import File

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


def add(commands: options.Commands) -> None:
    """Describe the command."""
    parser = options.command(
        commands,
        run,
        "score",
        help="predict quality from the nearest rated texts, or by ridge regression",
        description="Predict each text's quality as the mean quality of the rated texts that are"
        " similar to it, and make no prediction where too few or too many are; or by ridge"
        " regression.",
        example=EXAMPLE,
    )
    source = parser.add_mutually_exclusive_group(required=True)
    options.add_ratings(parser, instead=source)
    source.add_argument("--model", metavar="FILE", help="a model that refless fit wrote")
    asked = parser.add_mutually_exclusive_group(required=True)
    columns = "texts to rate: column text; with quality, correlations are printed"
    options.add_outputs(parser, columns, instead=asked)
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
    options.add_number(parser, "--explain", said, nargs="?", const=5, metavar="N")
    parser.add_argument("--json", action="store_true", help="write one JSON object with all")
    options.add_out(
        parser,
        "the texts with columns added (prediction; of neighbors also their number), in their own"
        " format; of plain lines, a TSV of the added columns",
    )


def run(arguments: argparse.Namespace) -> None:
    """Read, predict, write, say."""
    _check(arguments)
    inputs = *(arguments.ratings or []), arguments.outputs, arguments.model
    out = files.check_out(arguments.out, *inputs)
    need = ["system"] if arguments.method == SYSTEM_RIDGE else []
    own, rated = read_training(arguments, *need) if arguments.ratings else (None, None)
    if arguments.leave_one_out and own is not None and rated is not None:
        if len(own.files) != 1:
            arguments.fail("--leave-one-out takes one file of --ratings, and adds columns to it")
        given, texts, truth = own.files[0], None, rated["quality"].tolist()
        place = {row: number for number, row in enumerate(rated.index)}
        rows = [place.get(text) for text in own.text_of]
    else:
        given = files.outputs_of(arguments, ["quality"], need)
        texts = given.columns["text"]
        truth = given.columns.get("quality", [math.nan] * len(texts))
        rows = list(range(len(texts)))
    if rated is not None and arguments.method != NEIGHBORS:
        facts, columns, mean = _by_ridge(arguments.method, rated, given)
    else:
        facts, columns, mean = _by_neighbors(arguments, rated, texts)
    facts |= _evaluated(columns["prediction"], truth, mean)
    found = {
        name: [None if row is None else values[row] for row in rows]
        for name, values in columns.items()
    }
    if arguments.json:
        each = zip(*found.values(), strict=True)
        predictions = [
            {"row": number, **dict(zip(found, values, strict=True))}
            for number, values in enumerate(each, 1)
        ]
        whole = {**facts, "predictions": predictions}
        files.write(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", out)
    else:
        files.write(files.with_columns(given, found), out)
    _report(facts)


def _check(arguments: argparse.Namespace) -> None:
    if arguments.leave_one_out and len(arguments.ratings or []) != 1:
        arguments.fail("--leave-one-out takes one file of --ratings, and adds columns to it")
    given = [name for name in SETTINGS if getattr(arguments, name) is not None]
    if arguments.model and (given or arguments.center_raters):
        arguments.fail(f"{', '.join(given) or '--center-raters'}: settled by refless fit")
    others = ("option", "wordnet", "explain", "leave_one_out", "model")
    given += [name for name in others if getattr(arguments, name)]
    if given and arguments.method != NEIGHBORS:
        arguments.fail(f"--{given[0].replace('_', '-')} goes with --method {NEIGHBORS}")


Found = tuple[dict[str, Any], dict[str, list[Any]], float]
"""Facts; columns that are added, of which ``prediction`` has None where there is none; the mean
rating of the training texts."""


def _by_neighbors(
    arguments: argparse.Namespace, rated: pd.DataFrame | None, texts: list[str] | None
) -> Found:
    """``texts`` : to rate; None: each training text from the others."""
    import numpy as np

    from refless.models.neighbors_file import load, signature_line

    if rated is not None:
        model = fitted(arguments, rated)
    else:
        options = kernel_options(arguments)
        model = load(arguments.model, threads=arguments.threads, options=options)
    if texts is not None:
        require_readable(model, texts)
    with files.progress("scoring") as step:
        found = model.leave_one_out(step) if texts is None else model.predict(texts, step)
    columns: dict[str, list[Any]] = {
        "prediction": [None if math.isnan(value) else value for value in found.tolist()],
        "neighbors": model.neighbors_.tolist(),
    }
    if arguments.explain:
        columns["nearest"] = _nearest(model, texts, arguments.explain)
    few = int((model.neighbors_ < model.min_neighbors).sum())
    facts = {
        "signature": signature_line(model, **({"leave": "one-out"} if texts is None else {})),
        "own_text_known": beside_themselves(model, texts),
        "tau": model.tau_,
        "too_few_neighbors": few,
        "too_many_neighbors": int(np.isnan(found).sum()) - few,
    }
    return facts, columns, float(model.quality_.mean())


def _nearest(
    model: NeighborsRegressor, texts: list[str] | None, number: int
) -> list[list[dict[str, Any]]]:
    """The nearest rated texts of each candidate, most similar first; none of no similarity."""
    rows, similarity = model.nearest(texts, min(number, len(model.texts_)))
    near = zip(rows.ravel().tolist(), similarity.ravel().tolist(), strict=True)
    told = [
        {"similarity": value, "quality": float(model.quality_[row]), "text": model.texts_[row]}
        for row, value in near
    ]
    return [
        [one for one in told[start : start + rows.shape[1]] if one["similarity"] > 0]
        for start in range(0, rows.size, rows.shape[1])
    ]


def _by_ridge(method: str, rated: pd.DataFrame, given: File) -> Found:
    """As `refless compare` does; equal texts stay together where the penalty is chosen."""
    from refless import __version__
    from refless.data.wording import wording
    from refless.models.baselines import RidgeTfidf, SystemRidge
    from refless.store.files import text_sum

    own, quality, texts = rated["text"].tolist(), rated["quality"].tolist(), given.columns["text"]
    groups = list(map(wording, own))
    trained = set(groups)
    model, known, seen, asked = RidgeTfidf(), [], own, texts
    if method == SYSTEM_RIDGE:
        model, known = SystemRidge(), rated["system"].tolist()
        seen = [*zip(known, own, strict=True)]
        asked = [*zip(given.columns["system"], texts, strict=True)]
    found = model.fit(seen, quality, groups).predict(asked).tolist()
    data = text_sum([*own, *map(repr, quality), *known])[:12]
    facts = {
        "signature": f"method:{method}|n:{len(own)}|data:{data}|version:{__version__}",
        "own_text_known": sum(wording(text) in trained for text in texts),
    }
    return facts, {"prediction": found}, sum(quality) / len(quality)


def _evaluated(
    prediction: Sequence[float | None], truth: Sequence[float], mean: float
) -> dict[str, Any]:
    """How many texts have a prediction; if any text is rated, correlations and squared errors of
    those that have both, None where they are undefined."""
    import numpy as np

    from refless.statistics import spearman

    given, quality = np.array(prediction, np.float64), np.array(truth, np.float64)
    n, covered = len(given), int((~np.isnan(given)).sum())
    found: dict[str, Any] = {"n": n, "covered": covered, "coverage": covered / n if n else None}
    if np.isnan(quality).all():
        return found
    there = ~np.isnan(given) & ~np.isnan(quality)
    given, quality = given[there], quality[there]
    found |= dict.fromkeys(["pearson", "spearman", "mse", "mse_of_mean"])
    if there.any():
        found["mse"] = float(((given - quality) ** 2).mean())
        found["mse_of_mean"] = float(((mean - quality) ** 2).mean())
    given = np.array([float(f"{value:.12g}") for value in given])  # rounding breaks no ties
    rho = spearman(given, quality)[0]
    if not math.isnan(rho):
        found["pearson"], found["spearman"] = float(np.corrcoef(given, quality)[0, 1]), rho
    return found


def _report(facts: dict[str, Any]) -> None:
    n, covered = facts["n"], facts["covered"]
    if leaked := facts["own_text_known"]:
        files.tell(
            f"warning: {leaked} of {n} texts have their own text among the rated texts that"
            " predict them, so that correlations are too high"
        )
    if 2 * covered < n:
        files.tell(f"warning: tau {facts['tau']:g} gives most of these texts no prediction")
    if n and "tau" in facts:
        files.tell(
            f"coverage {covered / n:.3f} ({covered} of {n}; {facts['too_few_neighbors']} with too"
            f" few neighbors, {facts['too_many_neighbors']} with too many), tau {facts['tau']:g}"
        )
    if "mse" in facts:
        names = "pearson", "spearman", "mse", "mse_of_mean"
        r, rho, mse, mean = (
            "undefined" if facts[name] is None else f"{facts[name]:.4g}" for name in names
        )
        files.tell(f"Pearson {r}; Spearman {rho}; squared error {mse}, of the mean rating {mean}")
    files.tell(f"signature {facts['signature']}")
