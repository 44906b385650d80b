"""``refless score``: predict quality from the nearest rated texts, or by ridge regression.

Stage: outside the workflow.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from refless.cli._common import (
    TABLES,
    Commands,
    UsageError,
    add_outputs,
    add_ratings,
    check_least,
    check_out,
    command,
    outputs_of,
    require_free,
    tell,
    tell_few,
    warn_of_scale,
    with_columns,
    write,
)
from refless.cli._neighbors import (
    Training,
    add_model,
    fitted,
    kernel_options,
    progress,
    read_training,
)
from refless.data.rows import File
from refless.errors import FormatError

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from refless.models.neighbors import NeighborsRegressor
    from refless.statistics import Evaluation

NEIGHBORS, RIDGE, SYSTEM_RIDGE = METHODS = ("neighbors", "ridge", "ridge_system")
EXAMPLE = """
refless score --ratings rated.tsv --outputs mine.tsv --out predicted.tsv
refless score --ratings rated.tsv --tau auto --leave-one-out --json
refless score --ratings rated.tsv --method ridge --outputs mine.tsv --out predicted.tsv
tail -n +2 mine.tsv | cut -f2 | refless score --ratings rated.tsv --outputs - --format lines
"""


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = command(
        commands,
        "score",
        help="predict quality from the nearest rated texts, or by ridge regression",
        description="Predict each candidate's quality as the mean quality of the rated training"
        " texts that are similar to it, and make no prediction where too few or too many are; or by"
        " another method of refless compare.",
        example=EXAMPLE,
    )
    source = parser.add_mutually_exclusive_group(required=True)
    add_ratings(parser, "--train", formats=["--train-format"], instead=source)
    source.add_argument("--model", metavar="FILE", help="a model that refless fit wrote")
    candidates = parser.add_mutually_exclusive_group(required=True)
    candidates.add_argument(
        "--outputs",
        "--candidates",
        metavar="FILE",
        help=f"texts to rate: column text; with quality, correlations are printed; {TABLES}, or"
        " plain lines (.txt); - is standard input",
    )
    add_outputs(parser, "--format")
    candidates.add_argument(
        "--leave-one-out",
        action="store_true",
        help="predict each training text from the others, where there are no further rated texts;"
        " correlations come out low, see docs/score.md",
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        help=f"{RIDGE}: ridge regression on TF-IDF weights of character n-grams; {SYSTEM_RIDGE}:"
        " the mean rating of the text's system, and ridge regression on what it leaves (both files"
        " have a column system, and the candidates' systems have ratings). Kernel, tau and the"
        f" like are for {NEIGHBORS}, the default",
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
        help="the candidates with columns added (prediction; of neighbors also their number), in"
        " their own format (plain lines: a TSV of the added columns); default: - (standard output)",
    )
    parser.set_defaults(run=run)


@dataclass(frozen=True)
class Scored:
    """What a method says of the candidates.

    columns : what is added to their file; the first is ``prediction``, None where there is none
    counts : of candidates, for JSON
    signature : all that decides the predictions, in one line
    said : lines for a person
    facts : further values for JSON
    """

    columns: dict[str, list[Any]]
    counts: dict[str, Any]
    signature: str
    said: list[str]
    facts: dict[str, Any] = field(default_factory=dict)


def run(arguments: argparse.Namespace) -> None:
    """Read, predict, write, and say on standard error what a person wants to know."""
    _check(arguments)
    check_out(arguments.out, [*(arguments.ratings or []), arguments.outputs, arguments.model])
    alone, by_system = arguments.leave_one_out, arguments.method == SYSTEM_RIDGE
    train = read_training(arguments, by_system) if arguments.ratings else None
    by_neighbors = arguments.method in (None, NEIGHBORS)
    if alone:
        assert train is not None  # --leave-one-out has --ratings
        given, texts = train.own.files[0], train.texts
        truth: list[float] | None = train.quality
    else:
        need = ["system"] if by_system else []
        given = outputs_of(arguments, ["quality", "context"], need)
        texts, truth = given.columns["text"], given.columns.get("quality")
    if not arguments.json:
        more = ["neighbors"] if by_neighbors else []
        require_free(given, "prediction", *more, *(["nearest"] if arguments.explain else []))
    model = _neighbors(arguments, train) if by_neighbors else None
    if model is not None:
        scored = _by_neighbors(model, None if alone else texts, arguments)
        rated: Sequence[float] | Array = model.quality_
    else:
        assert train is not None  # --method has --ratings
        scored = _by_ridge(train, given, texts, by_system)
        rated = train.quality
    prediction = scored.columns["prediction"]
    there = [k for k, value in enumerate(truth or []) if not math.isnan(value)]
    truth = [truth[k] for k in there] if truth and there else None
    judged = [prediction[k] for k in there]
    evaluation, different = _evaluated(judged, truth, [texts[k] for k in there])
    if arguments.json:
        values = zip(*scored.columns.values(), strict=True)
        rows = [dict(zip(scored.columns, row, strict=True)) for row in values]
        numbers = _numbers(evaluation, judged, truth)
        found = {"signature": scored.signature, **scored.facts, **scored.counts, **numbers}
        content = json.dumps({**found, "predictions": rows}, ensure_ascii=False, indent=1) + "\n"
    else:
        columns = scored.columns
        if alone and train:  # a row for each of the file
            rows_of = [train.number[text] for text in train.own.text_of]
            columns = {
                name: [None if row < 0 else values[row] for row in rows_of]
                for name, values in columns.items()
            }
        content = with_columns(given, columns)
    if alone:
        _warn_of_repeats(texts)
        tell(
            "note: leaving one out pulls correlations down, below 0 where nothing is learned;"
            " refless compare does not"
        )
    else:
        _warn_of_leaks(_standing_in(model, train, texts), len(texts))
        _tell_of_contexts(train, given)
    if truth and not alone:
        warn_of_scale(rated, truth)
    write(content, arguments.out)
    for line in scored.said:
        tell(line)
    _report(evaluation, judged, truth)
    if evaluation is not None:
        tell_few(different)
    tell(f"signature {scored.signature}")


def _check(arguments: argparse.Namespace) -> None:
    if arguments.ratings == ["-"] and arguments.outputs == "-":
        raise UsageError("only one of --ratings and --outputs can be standard input")
    if arguments.leave_one_out and arguments.ratings and len(arguments.ratings) > 1:
        raise UsageError("--leave-one-out takes one file of ratings, and adds columns to it")
    if arguments.explain is not None:
        check_least("explain", arguments.explain, 1)
    if arguments.leave_one_out and arguments.outputs_format:
        raise UsageError("--format goes with --outputs; --ratings-format says that of --ratings")
    of_neighbors = ("kernel", "tau", "min_neighbors", "max_share")
    if arguments.model:
        if arguments.leave_one_out:
            raise UsageError("--leave-one-out goes with --ratings")
        for name in (*of_neighbors, "ratings_format", "method"):
            if getattr(arguments, name):
                raise UsageError(f"--{name.replace('_', '-')} was settled by refless fit")
    if arguments.method in (RIDGE, SYSTEM_RIDGE):
        of_kernels = ("option", "wordnet", "threads")
        for name in (*of_neighbors, *of_kernels, "explain", "leave_one_out"):
            given = getattr(arguments, name)
            if given is not None and given is not False and given != []:
                raise UsageError(f"--{name.replace('_', '-')} goes with --method {NEIGHBORS}")


def _neighbors(arguments: argparse.Namespace, train: Training | None) -> NeighborsRegressor:
    if train is not None:
        return fitted(arguments, train)
    from refless.models.neighbors_file import kernel_of, load

    options = kernel_options(arguments, kernel_of(arguments.model))
    return load(arguments.model, threads=arguments.threads, options=options)


def _by_neighbors(
    model: NeighborsRegressor, texts: list[str] | None, arguments: argparse.Namespace
) -> Scored:
    """``texts``: the candidates; None: each training text from the others."""
    from refless.models.neighbors import most_neighbors
    from refless.models.neighbors_file import require_unchanged, signature_line

    with progress(len(model.texts_ if texts is None else texts), "scoring") as step:
        found = model.leave_one_out(step) if texts is None else model.predict(texts, step)
    columns: dict[str, list[Any]] = {
        "prediction": [None if math.isnan(p) else float(p) for p in found],
        "neighbors": model.neighbors_.tolist(),
    }
    if arguments.explain:
        columns["nearest"] = _nearest(model, texts, arguments.explain)
    require_unchanged(model)
    n, covered = len(found), sum(p is not None for p in columns["prediction"])
    few = int((model.neighbors_ < model.min_neighbors).sum())
    many = n - covered - few
    counts = _counts(n, covered) | {"too_few_neighbors": few, "too_many_neighbors": many}
    said = [
        f"coverage {covered / n:.3f} ({covered} of {n}; {few} with fewer than"
        f" {model.min_neighbors} neighbors, {many} with more than {model.max_share:g} of the"
        " training texts)"
        if n
        else "there are no candidates, so there is nothing to predict"
    ]
    most = most_neighbors(model.max_share, len(model.texts_))
    if model.min_neighbors > most:
        said.append(
            f"warning: no text can have a prediction: it needs {model.min_neighbors} neighbors or"
            f" more (--min-neighbors), and may have {most} (--max-share)"
        )
    elif 2 * covered < n:
        said.append(
            f"warning: tau {model.tau_:g} does not suit these texts: most get no prediction."
            + (
                " It was chosen on the training texts, each counted once. Look whether these texts"
                " are of another kind, or whether training texts repeat, which all are neighbors"
                if model.tau == "auto"
                else " --tau auto chooses one on the training texts"
            )
        )
    more = {} if texts is not None else {"leave": "one-out"}
    return Scored(columns, counts, signature_line(model, **more), said, {"tau": model.tau_})


def _by_ridge(train: Training, given: File, texts: list[str], by_system: bool) -> Scored:
    """As `refless compare` does; equal texts stay together where the penalty is chosen."""
    from importlib.metadata import version

    from refless.data.wording import wording
    from refless.models.baselines import RidgeTfidf, SystemRidge
    from refless.store.files import text_sum

    systems = given.columns["system"] if by_system else None
    if systems is not None and (new := sorted(set(systems) - set(train.systems or []))):
        line = given.lines[systems.index(new[0])]
        raise FormatError(
            f"no training text is of the system {new[0]!r}",
            path=given.path,
            line=line,
            remedy=f"rate some of its texts, or take --method {RIDGE}",
        )
    model = SystemRidge() if by_system else RidgeTfidf()
    groups = [wording(text) for text in train.texts]
    # numbers, since the model would part a name at its +
    number = {name: str(k) for k, name in enumerate(dict.fromkeys(train.systems or []))}
    known, own = (None if s is None else [number[n] for n in s] for s in (train.systems, systems))
    model.fit(train.texts, train.quality, systems=known if by_system else None, groups=groups)
    found: Sequence[float] | Array = model.predict(texts, systems=own) if texts else []
    beside = (train.systems if by_system else None) or train.texts
    rows = zip(train.texts, map(repr, train.quality), beside, strict=True)
    facts = {
        "method": SYSTEM_RIDGE if by_system else RIDGE,
        "alpha": f"{model.alpha_:g}" if hasattr(model, "alpha_") else "none",
        "n": len(train.texts),
        "data": text_sum([value for row in rows for value in row])[:12],
        "version": f"refless.{version('refless')}|scikit-learn:{version('scikit-learn')}",
    }
    return Scored(
        {"prediction": [float(value) for value in found]},
        _counts(len(found), len(found)),
        "|".join(f"{name}:{value}" for name, value in facts.items()),
        [f"{len(found)} of {len(found)} predicted; refless compare says how well"],
        {"method": facts["method"]},
    )


def _counts(n: int, covered: int) -> dict[str, Any]:
    return {"n": n, "covered": covered, "coverage": covered / n if n else None}


def _standing_in(model: NeighborsRegressor | None, train: Training | None, texts: list[str]) -> int:
    """How many candidates stand among the training texts, by `data.wording`."""
    if train is None:
        from refless.models.neighbors_file import standing_in

        assert model is not None  # without --ratings there is --model
        return int(standing_in(model, texts).sum())
    from refless.data.wording import among

    return sum(among(texts, train.texts))


def _nearest(
    model: NeighborsRegressor, texts: list[str] | None, number: int
) -> list[list[dict[str, Any]]]:
    """The nearest rated texts of each candidate, most similar first; none of no similarity."""
    with progress(None, "explaining") as step:
        rows, similarity = model.nearest(texts, min(number, len(model.texts_)), step)
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


def _evaluated(
    prediction: list[float | None], truth: list[float] | None, texts: list[str]
) -> tuple[Evaluation | None, int]:
    """With equal texts drawn together; and how many different ones have a prediction."""
    if truth is None:
        return None, 0
    import numpy as np

    from refless.data.wording import numbered
    from refless.statistics import evaluate

    same, predicted = numbered(texts), _steady(prediction)
    found = evaluate(predicted, np.asarray(truth, np.float64), units=same)
    return found, len(np.unique(same[~np.isnan(predicted)]))


def _steady(prediction: list[float | None]) -> Array:
    """Predictions to twelve digits: those that differ by rounding alone tie; beside one that is
    far away, the others do not."""
    import numpy as np

    values = np.array(prediction, np.float64)
    sizes = np.abs(values[values != 0])  # NaN among them
    if np.isnan(sizes).all():
        return values
    unit = min(float(np.nanmax(sizes)), 1e6 * float(np.nanmedian(sizes)))
    steady: Array = np.round(values / unit, 12) * unit
    return steady


def _numbers(
    cell: Evaluation | None, prediction: list[float | None], truth: list[float] | None
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


def _pearson(cell: Evaluation, prediction: list[float | None], truth: list[float]) -> float:
    import numpy as np

    if math.isnan(cell.spearman.value):
        return math.nan
    pairs = np.array([_steady(prediction), truth], np.float64)
    pairs = pairs[:, ~np.isnan(pairs[0])]
    # of the largest, since squares of tiny numbers are 0
    return float(np.corrcoef(pairs / np.abs(pairs).max(axis=1, keepdims=True))[0, 1])


def _report(
    cell: Evaluation | None, prediction: list[float | None], truth: list[float] | None
) -> None:
    if cell is None or truth is None:
        return
    for name, estimate in (("Spearman", cell.spearman), ("MSE", cell.mse)):
        if math.isnan(estimate.value):
            tell(f"{name} undefined: too few predictions, or all alike")
        elif math.isnan(estimate.low):
            tell(f"{name} {estimate.value:.4g} (no interval: few texts decide it)")
        else:
            tell(f"{name} {estimate.value:.4g} (95% {estimate.low:.4g} to {estimate.high:.4g})")
    if not math.isnan(pearson := _pearson(cell, prediction, truth)):
        tell(f"Pearson {pearson:.4g}")


def _warn_of_leaks(number: int, n: int) -> None:
    if number:
        tell(
            f"warning: {number} of {n} candidates stand word for word in the training texts; their"
            " own ratings go into their predictions, so correlations are too high. Take them out;"
            " neighbors that --ratings teaches also have --leave-one-out"
        )


def _tell_of_contexts(train: Training | None, given: File) -> None:
    """How many candidates answer what training texts answer, where both files say."""
    from refless.data.wording import among

    if train is None or train.contexts is None or "context" not in given.columns:
        return
    known, asked = train.contexts, given.columns["context"]
    if number := sum(among(asked, filter(str.strip, known))):
        tell(
            f"note: {number} of {len(asked)} candidates answer contexts of the training texts. On"
            " new contexts predictions may be worth far less"
        )


def _warn_of_repeats(texts: list[str]) -> None:
    from refless.data.wording import ASIDE, wording

    if again := len(texts) - len(set(map(wording, texts))):
        tell(
            f"warning: {again} of {len(texts)} texts repeat an earlier one ({ASIDE}); ratings of"
            " the same text go into their predictions"
        )
