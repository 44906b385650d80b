"""``refless score`` and ``refless fit``."""

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np

from refless import __version__
from refless.cli import files
from refless.data.rows import File
from refless.data.text_ids import normalize_text
from refless.errors import KernelError

NEIGHBORS, _, SYSTEM_RIDGE = METHODS = ("neighbors", "ridge", "ridge_system")
SETTINGS = ("kernel", "tau", "min_neighbors", "max_share")
Facts = dict[str, Any]
Texts = list[str] | None  # to rate; None: the training texts, each from the others


def score(arguments: Namespace) -> None:
    """Predict quality from the nearest rated texts, or by ridge regression.

    --ratings has the columns text and quality; with rater, a row is one rating, and a text has
    their mean. --outputs has text; with quality, correlations are printed.

    example:
      refless score --ratings rated.tsv --outputs mine.tsv --out predicted.tsv
      refless score --ratings rated.tsv --method ridge --outputs mine.tsv --out predicted.tsv
    """
    _check(arguments)
    inputs = *(arguments.ratings or []), arguments.outputs, arguments.model
    arguments.out = files.check_out(arguments.out, *inputs)
    need = ["system"] if arguments.method == SYSTEM_RIDGE else []
    own: Any = arguments.ratings and files.ratings_of(arguments, need=["quality", *need])
    rated = own and files.rated(own)
    if arguments.leave_one_out:
        if not own or len(own.files) != 1:
            arguments.fail("--leave-one-out takes one file of --ratings, and adds columns to it")
        given, texts, truth = own.files[0], None, rated["quality"].tolist()
    else:
        given = files.outputs_of(arguments, ["quality"], need)
        texts, truth = given.columns["text"], given.columns.get("quality", [])

    from refless.statistics import agreement

    if arguments.method == NEIGHBORS:
        facts, columns = _by_neighbors(arguments, rated, texts)
    else:
        facts, columns = _by_ridge(arguments.method, rated, given)
    found, quality = columns["prediction"], np.array(truth, float)
    n, covered = len(found), int((~np.isnan(found)).sum())
    facts |= {"n": n, "covered": covered, "coverage": covered / n if n else None}
    if not np.isnan(quality).all():
        facts |= agreement(found, quality, facts["mean_rating"])
    if arguments.leave_one_out:  # a text may have several rows, and no rating
        columns = rated[[]].assign(**columns).astype(object).reindex(own.text_of)
    files.finish(arguments, given, columns, facts)
    if leaked := facts["own_text_known"]:
        said = "have their own text among the rated texts that predict them"
        files.tell(f"warning: {leaked} of {n} texts {said}, so that correlations are too high")
    if n and arguments.method == NEIGHBORS:
        few, many = facts["too_few_neighbors"], facts["too_many_neighbors"]
        said = f"{covered} of {n}; {few} with too few neighbors, {many} with too many"
        files.tell(f"coverage {facts['coverage']:.3f} ({said}), tau {facts['tau']:g}")
    files.tell(f"signature {facts['signature']}")


def _check(arguments: Namespace) -> None:
    """Which options go together."""
    refused = {}
    if arguments.model:
        refused = dict.fromkeys((*SETTINGS, "center_raters"), "settled by refless fit")
    if arguments.method != NEIGHBORS:
        others = *SETTINGS, "explain", "leave_one_out", "model"
        refused = dict.fromkeys(others, f"only for --method {NEIGHBORS}")
    for name, why in refused.items():
        if getattr(arguments, name) is not None:
            arguments.fail(f"--{name.replace('_', '-')}: {why}")


def _by_neighbors(arguments: Namespace, rated: Any, texts: Texts) -> tuple[Facts, Facts]:
    from refless.models.neighbors_file import load_neighbors, signature_line

    if arguments.model:
        model = load_neighbors(arguments.model, threads=arguments.threads)
    else:
        model = _fitted(arguments, rated)
    if texts is not None:
        _require_readable(model.kernel, texts)
    with files.progress("scoring") as step:
        found = model.leave_one_out(step) if texts is None else model.predict(texts, step)
    columns: dict[str, Any] = {"prediction": found, "neighbors": model.neighbors_}
    if arguments.explain:
        columns["nearest"] = _nearest(model, texts, arguments.explain)
    few = int((model.neighbors_ < model.min_neighbors).sum())
    facts = {
        "signature": signature_line(model, **({"leave": "one-out"} if texts is None else {})),
        "own_text_known": _among_neighbors(model, texts),
        "mean_rating": float(model.quality_.mean()),
        "tau": model.tau_,
        "too_few_neighbors": few,
        "too_many_neighbors": int(np.isnan(found).sum()) - few,
    }
    return facts, columns


def _nearest(model: Any, texts: Texts, number: int) -> list[list[dict[str, Any]]]:
    """The nearest rated texts of each candidate, most similar first; none of no similarity."""
    found: list[list[dict[str, Any]]] = []
    number = min(number, len(model.texts_))
    for rows, values in zip(*model.nearest(texts, number), strict=True):
        found.append([])
        for row, value in zip(rows[values > 0], values[values > 0].tolist(), strict=True):
            near = {"quality": float(model.quality_[row]), "text": model.texts_[row]}
            found[-1].append({"similarity": value, **near})
    return found


def _among_neighbors(model: Any, texts: Texts) -> int:
    """How many texts have their own text, in any spelling, among their nearest neighbors."""
    asked = model.texts_ if texts is None else _seen(texts, model.texts_)
    known, own = (np.array([*map(normalize_text, some)], object) for some in (model.texts_, asked))
    rows, similarity = model.nearest(None if texts is None else asked)
    same = (known[rows] == own[:, None]) & (similarity >= model.tau_)
    return int(same.any(axis=1).sum())


def _seen(texts: Sequence[str], training: Sequence[str]) -> list[str]:
    """The texts that are among the training texts, in any spelling."""
    known = set(map(normalize_text, training))
    return [text for text in texts if normalize_text(text) in known]


def _by_ridge(method: str, rated: Any, given: File) -> tuple[Facts, Facts]:
    """As `refless compare` does; equal texts stay together where the penalty is chosen."""
    from refless.models.baselines import RidgeTfidf, SystemRidge
    from refless.models.neighbors_file import data_sum

    own, quality, texts = rated["text"].tolist(), rated["quality"].tolist(), given.columns["text"]
    model, systems, seen, asked = RidgeTfidf(), [], own, texts
    if method == SYSTEM_RIDGE:
        model, systems = SystemRidge(), rated["system"].tolist()
        seen = list(zip(systems, own, strict=True))
        asked = list(zip(given.columns["system"], texts, strict=True))
    found = model.fit(seen, quality, list(map(normalize_text, own))).predict(asked)
    signed = f"n:{len(own)}|data:{data_sum([own, quality, systems])}|version:{__version__}"
    facts = {
        "signature": f"method:{method}|{signed}",
        "own_text_known": len(_seen(texts, own)),
        "mean_rating": sum(quality) / len(quality),
    }
    return facts, {"prediction": found}


def fit(arguments: Namespace) -> None:
    """Write a model for refless score --model: tau, and the rated texts as they are.

    --ratings as of refless score.

    example:
      refless fit --ratings rated.tsv --out rated.model
      refless score --model rated.model --outputs mine.tsv --out predicted.tsv
    """
    out = files.check_out(arguments.out, *arguments.ratings) or arguments.fail("name a file: --out")
    rated = files.rated(files.ratings_of(arguments))

    from refless.models.neighbors_file import save_neighbors, signature_line

    model = _fitted(arguments, rated)
    save_neighbors(model, str(out))
    files.tell(f"signature {signature_line(model)}")


def _fitted(arguments: Namespace, rated: Any) -> Any:
    """The model of these arguments, fitted. Raises SettingError and KernelError: as its `fit`, or
    the kernel reads most of the texts as empty."""
    from refless.models.neighbors import NeighborsRegressor

    given = {name: getattr(arguments, name) for name in SETTINGS}
    settings = {"tau": "auto"} | {name: own for name, own in given.items() if own is not None}
    model = NeighborsRegressor(**settings, threads=arguments.threads)
    texts = rated["text"].tolist()
    _require_readable(model.kernel, texts)
    with files.progress("choosing tau") as step:
        return model.fit(texts, rated["quality"].tolist(), progress=step)


def _require_readable(kernel: str, texts: Sequence[str]) -> None:
    """Say how many texts a kernel cannot read; KernelError if these are most of them."""
    from refless.kernels import unread

    lost, said = unread(kernel, texts)
    if 2 * lost > len(texts):
        remedy = "take another --kernel, such as bleu.char, or embedding.MODEL for short texts"
        raise KernelError(said, remedy=remedy)
    if lost:
        files.tell(f"note: {said}")
