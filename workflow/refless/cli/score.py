"""Predict quality from the nearest rated texts, or by ridge regression.

example:
  refless score --ratings rated.tsv --outputs mine.tsv --out predicted.tsv
  refless score --ratings rated.tsv --leave-one-out --json
  refless score --ratings rated.tsv --method ridge --outputs mine.tsv --out predicted.tsv
  tail -n +2 mine.tsv | cut -f2 | refless score --ratings rated.tsv --outputs - --format lines
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from refless import __version__
from refless.cli import files, fit, options
from refless.data.rows import File, files_of
from refless.data.wording import wording

if TYPE_CHECKING:
    from pandas import DataFrame

    from refless.models.neighbors import NeighborsRegressor

NEIGHBORS, RIDGE, SYSTEM_RIDGE = METHODS = ("neighbors", "ridge", "ridge_system")
NEAREST = 5
"""Neighbors among which a text's own text is looked for."""


def add(parser: options.Parser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    options.add_ratings(parser, "text, quality", source)
    source.add_argument("--model", metavar="FILE", help="a model that refless fit wrote")
    asked = parser.add_mutually_exclusive_group(required=True)
    options.add_outputs(parser, "text; with quality, correlations are printed", asked)
    asked.add_argument(
        "--leave-one-out", action="store_true", help="predict each rated text from the others"
    )
    said = f"{RIDGE}: on character n-grams; {SYSTEM_RIDGE}: beside the mean of the text's system"
    parser.add_argument("--method", choices=METHODS, default=NEIGHBORS, help=said)
    fit.add_model(parser)
    said = "add a column nearest: the N most similar rated texts with similarity and rating (5)"
    options.add_number(parser, "--explain", said, nargs="?", const=5, metavar="N")
    parser.add_argument("--json", action="store_true", help="write one JSON object with all")
    said = "the texts with columns added; of plain lines, these alone (default: standard output)"
    parser.add_argument("--out", help=said, **options.OUT)


def run(arguments: argparse.Namespace) -> None:
    _check(arguments)
    inputs = *(arguments.ratings or []), arguments.outputs, arguments.model
    out = files.check_out(arguments.out, *inputs)
    need = ["system"] if arguments.method == SYSTEM_RIDGE else []
    own: Any = None
    rated: Any = None
    if arguments.ratings:
        own = files.ratings_of(arguments, need=["quality", *need])
        rated = files.rated(own)
    if arguments.leave_one_out:
        given, texts, truth = own.files[0], None, rated["quality"].tolist()
        index, rows = rated.index, own.text_of
    else:
        given = files.outputs_of(arguments, ["quality"], need)
        texts = given.columns["text"]
        truth = given.columns.get("quality", [math.nan] * len(texts))
        index = rows = range(len(texts))

    import pandas as pd

    from refless.statistics import agreement

    if arguments.method == NEIGHBORS:
        facts, columns, mean = _by_neighbors(arguments, rated, texts)
    else:
        facts, columns, mean = _by_ridge(arguments.method, rated, given)
    found, quality = np.asarray(columns["prediction"], float), np.array(truth, float)
    n, covered = len(found), int((~np.isnan(found)).sum())
    facts |= {"n": n, "covered": covered, "coverage": covered / n if n else None}
    if not np.isnan(quality).all():
        facts |= agreement(found, quality, mean)
    table = pd.DataFrame(columns, index, dtype=object).reindex(rows)
    table = table.where(table.notna(), None)
    if arguments.json:
        each = enumerate(table.to_dict("records"), 1)
        facts["predictions"] = [{"row": number, **one} for number, one in each]
        files.write_json(facts, out)
    else:
        files.write(files.with_columns(given, table), out)
    _report(facts)


def _check(arguments: argparse.Namespace) -> None:
    if arguments.leave_one_out and len(files_of(arguments.ratings or [])) != 1:
        arguments.fail("--leave-one-out takes one file of --ratings, and adds columns to it")
    given = [name for name in fit.SETTINGS if getattr(arguments, name) is not None]
    if arguments.model and (given or arguments.center_raters):
        arguments.fail(f"{', '.join(given) or '--center-raters'}: settled by refless fit")
    others = ("option", "wordnet", "explain", "leave_one_out", "model")
    given += [name for name in others if getattr(arguments, name)]
    if given and arguments.method != NEIGHBORS:
        arguments.fail(f"--{given[0].replace('_', '-')} goes with --method {NEIGHBORS}")


Found = tuple[dict[str, Any], dict[str, Any], float]
"""Facts; columns that are added, with NaN where there is no prediction; the mean rating of the
training texts."""


def _by_neighbors(
    arguments: argparse.Namespace, rated: DataFrame | None, texts: list[str] | None
) -> Found:
    """``texts`` : to rate; None: each training text from the others."""
    from refless.models.neighbors_file import load, signature_line

    if rated is not None:
        model = fit.fitted(arguments, rated)
    else:
        told = fit.kernel_options(arguments)
        model = load(arguments.model, threads=arguments.threads, options=told)
    if texts is not None:
        fit.require_readable(model, texts)
    with files.progress("scoring") as step:
        found = model.leave_one_out(step) if texts is None else model.predict(texts, step)
    columns: dict[str, Any] = {"prediction": found, "neighbors": model.neighbors_}
    if arguments.explain:
        columns["nearest"] = _nearest(model, texts, arguments.explain)
    few = int((model.neighbors_ < model.min_neighbors).sum())
    facts = {
        "signature": signature_line(model, **({"leave": "one-out"} if texts is None else {})),
        "own_text_known": _beside_themselves(model, texts),
        "tau": model.tau_,
        "too_few_neighbors": few,
        "too_many_neighbors": int(np.isnan(found).sum()) - few,
    }
    return facts, columns, float(model.quality_.mean())


def _nearest(
    model: NeighborsRegressor, texts: list[str] | None, number: int
) -> list[list[dict[str, Any]]]:
    """The nearest rated texts of each candidate, most similar first; none of no similarity."""
    quality, found = model.quality_.tolist(), []
    for rows, values in zip(*model.nearest(texts, min(number, len(quality))), strict=True):
        near = zip(rows[values > 0].tolist(), values[values > 0].tolist(), strict=True)
        found.append(
            [
                {"similarity": value, "quality": quality[row], "text": model.texts_[row]}
                for row, value in near
            ]
        )
    return found


def _beside_themselves(model: NeighborsRegressor, texts: list[str] | None) -> int:
    """How many texts have their own text, once normalised, among their nearest neighbors."""
    if texts is not None:
        known = set(map(wording, model.texts_))
        texts = [text for text in texts if wording(text) in known]
    asked, number = model.texts_ if texts is None else texts, 0
    for text, near in zip(asked, _nearest(model, texts, NEAREST), strict=True):
        neighbors = [one["text"] for one in near if one["similarity"] >= model.tau_]
        number += wording(text) in map(wording, neighbors)
    return number


def _by_ridge(method: str, rated: DataFrame, given: File) -> Found:
    """As `refless compare` does; equal texts stay together where the penalty is chosen."""
    from refless.models.baselines import RidgeTfidf, SystemRidge
    from refless.models.neighbors_file import data_sum

    own, quality, texts = rated["text"].tolist(), rated["quality"].tolist(), given.columns["text"]
    groups = list(map(wording, own))
    trained = set(groups)
    model, known, seen, asked = RidgeTfidf(), [], own, texts
    if method == SYSTEM_RIDGE:
        model, known = SystemRidge(), rated["system"].tolist()
        seen = [*zip(known, own, strict=True)]
        asked = [*zip(given.columns["system"], texts, strict=True)]
    found = model.fit(seen, quality, groups).predict(asked)
    data = data_sum([own, quality, known])
    facts = {
        "signature": f"method:{method}|n:{len(own)}|data:{data}|version:{__version__}",
        "own_text_known": sum(wording(text) in trained for text in texts),
    }
    return facts, {"prediction": found}, sum(quality) / len(quality)


def _report(facts: dict[str, Any]) -> None:
    n, covered = facts["n"], facts["covered"]
    if leaked := facts["own_text_known"]:
        said = "have their own text among the rated texts that predict them"
        files.tell(f"warning: {leaked} of {n} texts {said}, so that correlations are too high")
    if n and "tau" in facts:
        few, many = facts["too_few_neighbors"], facts["too_many_neighbors"]
        said = f"{covered} of {n}; {few} with too few neighbors, {many} with too many"
        files.tell(f"coverage {covered / n:.3f} ({said}), tau {facts['tau']:g}")
    if "mse" in facts:
        files.tell(files.measures_line(facts))
    files.tell(f"signature {facts['signature']}")
