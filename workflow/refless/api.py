"""What the commands do, from Python: `compare`, `estimate` and `score`.

Ratings and outputs are files, folders of them, or a table with the same columns: of pandas, Polars
or ``datasets``, a list of rows as dictionaries, a dictionary of columns. Heavy packages are
imported once the input was read, so that a bad file is refused at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refless.data.frames import is_path, is_rows
from refless.data.user_ratings import LARGEST_RATING, UserRatings, read_ratings, read_texts
from refless.errors import FormatError, KernelError, SettingError
from refless.evaluation import (
    COMBINED,
    EPSILON,
    METHODS,
    NEIGHBORS,
    NETWORKS,
    RIDGE,
    SYSTEM_RIDGE,
    scores_texts,
)

if TYPE_CHECKING:
    from pandas import DataFrame

    from refless.evaluation.answer import Answer
    from refless.evaluation.rate import ScoreAnswer
    from refless.evaluation.report import ComparisonAnswer

    Table = DataFrame | str | Path
    Input = Table | Sequence[str | Path]

Step = Callable[[int, int, str], None]
GROUPS = ("system", "context", "mr")
"""Columns whose values have a mean each."""


def compare(
    ratings: Input,
    *,
    scale: Sequence[float] | None = None,
    kernels: Sequence[str] | None = None,
    epsilon: float = EPSILON,
    unrated: int | None = None,
    draws: int = 2000,
    seed: int = 0,
    repeats: int = 5,
    networks: bool = False,
    threads: int | None = None,
    step: Step = lambda done, number, method: None,
    **reading: Any,
) -> ComparisonAnswer:
    """Which method predicts these ratings, and what is it worth?

    ratings : columns ``text``, ``quality``; and, as far as there are any, ``context``, ``mr``,
        ``system``, ``rater``, ``references``, ``score_<name>``
    scale : lowest and highest possible rating (None: those of the ratings)
    kernels : of neighbors (None: those that can be computed here)
    epsilon : what a rater's work costs more than a method's, in the test of replacing one
    unrated : number of texts whose predictions would save ratings
    draws, seed, repeats : of the bootstrap, of what is random, of the folds at most
    networks : also train RNN-QE, which takes minutes and torch
    step : told how many methods are done, of how many, and which is next
    reading : ``columns``, ``format``, ``repeated``, ``center``, ``join``, ``raters``: as of
        `read_ratings`

    ``table`` has a row a method, kernel and split; ``pairs`` each two methods of a split.
    Raises FormatError: the ratings are not as they must be. Raises KernelError: a kernel cannot be
    computed here. Raises SettingError: a setting makes no sense.
    """
    if not 0 <= epsilon < 1:
        raise SettingError(f"epsilon is {epsilon:g}", remedy="give it from 0 to below 1, as 0.1")
    user_ratings = read_rated(ratings, scale=scale, **reading)

    from refless.evaluation import evaluate, report
    from refless.evaluation.pairs import pair_table
    from refless.evaluation.predict import ComparisonSettings, by_networks
    from refless.evaluation.read import of_user
    from refless.evaluation.replacement import replacement_table
    from refless.machine import installed

    rated = of_user(user_ratings)
    torch = installed("torch")
    why = "it needs torch, which is not installed" if networks else "not asked for"
    settings = ComparisonSettings(
        kernels=_kernels(kernels),
        draws=draws,
        seed=seed,
        repeats=repeats,
        threads=threads,
        unrated=unrated,
        left_out={} if networks and torch else {(NETWORKS, ""): why},
        networks=partial(by_networks, seed=seed, threads=threads) if networks and torch else None,
    )
    comparison = evaluate.compare(rated, settings, step)
    pairs = pair_table(rated, comparison)
    replacement, no_replacement = replacement_table(rated, comparison, epsilon)
    lines = report.answer(rated, comparison, pairs, replacement, no_replacement)
    return report.ComparisonAnswer(
        table=comparison.table,
        pairs=pairs,
        answer="\n".join(lines),
        warnings=[*report.warnings(rated, comparison, replacement)],
        rated=rated,
        comparison=comparison,
        settings=settings,
        replacement=replacement,
        epsilon=epsilon,
    )


def score(
    ratings: Input | None,
    outputs: Table | None = None,
    *,
    method: str = NEIGHBORS,
    model: str | Path | None = None,
    leave_one_out: bool = False,
    explain: int | None = None,
    kernel: str | None = None,
    tau: str | float | None = None,
    min_neighbors: int | None = None,
    max_share: float | None = None,
    threads: int | None = None,
    outputs_format: str = "",
    step: Callable[[int], None] | None = None,
    **reading: Any,
) -> ScoreAnswer:
    """What are unrated texts worth, by rated ones?

    ratings : as of `compare`; None with ``model``, a file by ``refless fit``
    outputs : column ``text``, and those that the method needs; with ``quality``, agreement is told
    method : ``neighbors``, ``ridge``, ``ridge_system``, ``combined`` or a column ``score_<name>``
    leave_one_out : predict each rated text from the others, without ``outputs``
    explain : so many nearest rated texts in a column ``nearest``
    kernel, tau, min_neighbors, max_share : of neighbors

    ``table`` has a row a text. Raises FormatError, KernelError, SettingError: as `compare`.
    """
    needed, scores = _needed(method)
    user_ratings: Any = None
    training: Any = None
    if ratings is not None:
        user_ratings = read_rated(ratings, need=["quality", *needed], **reading)
        training = rated_texts(user_ratings)
    if outputs is not None:
        columns, join = reading.get("columns"), reading.get("join")
        file = read_texts(outputs, ["quality", *scores], needed, outputs_format, columns, join)
    elif user_ratings is None or not leave_one_out or len(user_ratings.files) != 1:
        raise SettingError("no outputs", remedy="give outputs, or one table with leave_one_out")
    else:
        file = user_ratings.files[0]

    import pandas as pd

    from refless.evaluation import rate
    from refless.models.neighbors_file import load_neighbors

    texts: Any = None if outputs is None else pd.DataFrame(file.columns)
    if method == NEIGHBORS:
        settings = {
            "kernel": kernel,
            "tau": tau,
            "min_neighbors": min_neighbors,
            "max_share": max_share,
        }
        if model is None:
            fitted = rate.fit_neighbors(training, threads, step, **settings)
        else:
            fitted = load_neighbors(model, threads=threads)
        candidates = None if texts is None else texts["text"].tolist()
        scored = rate.by_neighbors(fitted, candidates, explain, step)
    else:
        scored = rate.by_model(method, training, texts, file.path)
    truth = training["quality"] if texts is None else file.columns.get("quality", [])
    answer = rate.with_agreement(scored, list(truth))
    rows = answer.table
    if texts is None:  # a text may have several rows, and no rating
        rows = rows.set_axis(training.index).astype(object).reindex(user_ratings.text_of)
    return replace(answer, file=file, table=rows)


def estimate(
    ratings: Input,
    outputs: Table | None = None,
    *,
    method: str = RIDGE,
    kernel: str | None = None,
    by: str = "system",
    scale: Sequence[float] | None = None,
    plan: float | None = None,
    all_pairs: bool = False,
    seed: int = 0,
    threads: int | None = None,
    outputs_format: str = "",
    **reading: Any,
) -> Answer:
    """The mean rating of each system, with an interval, from few ratings and many predictions.

    ratings : as of `compare`; drawn at random from all texts, or from those of each system
    outputs : all texts, or those without ratings, with the same columns (None: the unrated rows of
        ``ratings``)
    method : as of `score`; a column ``score_<name>`` is a prediction itself
    kernel : of neighbors, instead of a method
    by : the column whose values have a mean each
    plan : the width of an interval, for the number of rated texts that would give it
    all_pairs : test each two groups however many there are (False: up to 200 groups)

    ``table`` has a row a system, ``pairs`` each two of them. Raises as `compare`.
    """
    if plan is not None and not plan > 0:
        raise SettingError(f"the width is {plan:g}", remedy="give a width above 0")
    if by not in GROUPS:
        raise SettingError(f"by is {by!r}", remedy=f"take one of {', '.join(GROUPS)}")
    method = NEIGHBORS if kernel else method
    needed, scores = _needed(method)
    user_ratings = read_rated(ratings, scale=scale, need=["quality", *needed], **reading)
    training, path = rated_texts(user_ratings), user_ratings.files[0].path
    file = None
    if outputs is not None:
        names = [name for name in GROUPS if name in user_ratings.texts]
        columns, join = reading.get("columns"), reading.get("join")
        file = read_texts(outputs, [*names, *scores], needed, outputs_format, columns, join)
        if lost := [name for name in names if name not in file.columns]:
            message = f"has no column {lost[0]}, which the ratings have"
            raise FormatError(message, path=file.path, remedy="add it, or name it by --column")
        path = file.path

    import pandas as pd

    from refless.evaluation import means, rate
    from refless.models.baselines import Ngrams

    texts = user_ratings.texts
    rest = texts[texts["quality"].isna()] if file is None else pd.DataFrame(file.columns)
    # counted once for all folds
    ngrams = Ngrams([*training["text"], *rest["text"]]) if method.startswith("ridge") else None

    def make() -> rate.TextModel:
        if method != NEIGHBORS:
            return rate.text_model(method, training, ngrams)
        return rate.neighbors_model(kernel, threads)

    make().check(training, user_ratings.files[0].path)
    quality = training["quality"]
    return means.means_answer(
        training,
        rest,
        method,
        make,
        by=by,
        with_rated=file is not None,
        scale=user_ratings.scale or (quality.min(), quality.max()),
        plan=plan,
        all_pairs=all_pairs,
        seed=seed,
        path=path,
    )


def read_rated(ratings: Input, scale: Sequence[float] | None = None, **reading: Any) -> UserRatings:
    """`read_ratings` of one or several. Raises SettingError: the scale is none, or there are no
    ratings."""
    paths: Any = ratings  # one, or a sequence
    if is_path(ratings) or is_rows(ratings) or not isinstance(ratings, Sequence):
        paths = [ratings]
    if not paths:
        raise SettingError("no ratings", remedy="give a file, a folder or a table")
    return read_ratings(paths, scale=_ends(scale), **reading)


def _ends(scale: Sequence[float] | None) -> tuple[float, float] | None:
    """Lowest and highest rating, of any sequence. Raises SettingError: they are none."""
    if scale is None:
        return None
    with suppress(TypeError, ValueError):
        low, high = scale
        if -LARGEST_RATING <= low < high <= LARGEST_RATING:
            return float(low), float(high)
    remedy = "give two numbers, the lowest, then the highest"
    raise SettingError(f"--scale is {scale}", remedy=remedy)


def rated_texts(user_ratings: UserRatings) -> Any:
    """The texts that have a rating, by their numbers. Raises FormatError: none has."""
    texts = user_ratings.texts[user_ratings.texts["quality"].notna()]
    if texts.empty:
        raise FormatError(
            "no text is rated", path=user_ratings.files[0].path, remedy="give it ratings"
        )
    return texts


def _needed(method: str) -> tuple[list[str], list[str]]:
    """Columns of outputs that a method needs, and those that it may use. Raises SettingError: it is
    none."""
    if not scores_texts(method):
        remedy = f"take {', '.join(METHODS)}, or a column score_<name>"
        raise SettingError(f"there is no method {method!r}", remedy=remedy)
    if method == COMBINED:
        return [], ["score_*"]
    return [method] if method.startswith("score_") else ["system"] * (method == SYSTEM_RIDGE), []


def _kernels(names: Sequence[str] | None) -> dict[str, Mapping[str, Any]]:
    from refless.evaluation.predict import KERNELS
    from refless.kernels import lacking_package
    from refless.kernels.wordnet import find_wordnet

    kernels: dict[str, Mapping[str, Any]] = {name: {} for name in names or KERNELS}
    if not names:
        with suppress(KernelError):
            find_wordnet()
            kernels["meteor.nltk35"] = {}
    for name in kernels:
        if package := lacking_package(name):
            remedy = f"pip install {package}; in a clone of refless, make torch"
            raise KernelError(f"{name} needs {package}, which is not installed", remedy=remedy)
    return kernels
