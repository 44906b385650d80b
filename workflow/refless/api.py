"""What the commands do, from Python: `compare`, `estimate` and `score`.

Ratings and outputs are files, folders of them, or a table with the same columns: of pandas, Polars
or ``datasets``, a list of rows as dictionaries, a dictionary of columns. Heavy packages are
imported once the input was read, so that a bad file is refused at once.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refless.citation import signature, tables_sum
from refless.data.frames import is_path, is_rows
from refless.data.user_ratings import LARGEST_RATING, UserRatings, read_ratings, read_texts
from refless.errors import FormatError, KernelError, SettingError
from refless.evaluation import EPSILON, OTHER_UNIT, RATING
from refless.methods import (
    COMBINED,
    DEFAULT_KERNEL,
    NEIGHBORS,
    NETWORKS,
    RIDGE,
    SCORE_PREFIX,
    Making,
)
from refless.methods import method as method_of

if TYPE_CHECKING:
    from pandas import DataFrame

    from refless.data.rows import File
    from refless.evaluation.answer import Answer
    from refless.evaluation.comparison_answer import ComparisonAnswer
    from refless.evaluation.rate import ScoreAnswer

    Table = DataFrame | str | Path
    Input = Table | Sequence[str | Path]

_log = logging.getLogger(__name__)
Step = Callable[[int, int, str], None]
TEXTS_A_MINUTE = 5_000
"""Rated texts that one core compares in a minute, at the least, on the machine of the handbook."""
GROUPS = ("system", "context", "mr")
"""Columns whose values have a mean each."""


def compare(
    ratings: Input,
    *,
    scale: Sequence[float] | None = None,
    kernels: Sequence[str] | None = None,
    epsilon: float = EPSILON,
    score_unit: str = OTHER_UNIT,
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
    score_unit : ``rating`` where scores are in the unit of the ratings, and are compared with
        raters as they are; ``other``: they are rescaled
    unrated : number of texts whose predictions would save ratings
    draws, seed, repeats : of the bootstrap, of what is random, of the folds at most
    networks : also train RNN-QE, which takes minutes and torch
    threads : to compute with (None: as many as the process may use)
    step : called with how many methods, or models of the learning curve, are done, how many there
        are, and which is next
    reading : ``columns``, ``format``, ``repeated``, ``center``, ``join``, ``raters``: as of
        `read_ratings`

    ``table`` has a row a method, kernel and split; ``pairs`` each two methods of a split;
    ``within`` says what is left of each within systems and contexts; ``bias`` says where scores are
    wrong; ``learning_curve`` has r of ridge by the number of ratings. ``answer`` is what the
    command prints, ``decisions`` the same as data, ``next_step`` the next command, or call.
    Raises FormatError: the ratings are not as they must be. Raises KernelError: a kernel cannot be
    computed here. Raises SettingError: a setting makes no sense.
    """
    if not isinstance(epsilon, Real) or not 0 <= epsilon < 1:
        raise SettingError(f"epsilon is {epsilon!r}", remedy="give it from 0 to below 1, as 0.1")
    _check_score_unit(score_unit)
    _check_whole("draws", draws, 1)
    _check_whole("seed", seed, 0)
    _check_whole("repeats", repeats, 1)
    if unrated is not None:
        _check_whole("unrated", unrated, 1)
    _check_reading(reading)
    user_ratings = read_rated(ratings, scale=scale, **reading)

    from refless.evaluation import evaluate
    from refless.evaluation.bias import bias_of_scores
    from refless.evaluation.comparison_answer import ComparisonAnswer
    from refless.evaluation.decisions import decide
    from refless.evaluation.evaluate import ComparisonSettings
    from refless.evaluation.learning_curve import learning_curve
    from refless.evaluation.networks import by_networks
    from refless.evaluation.next_step import Source, next_step
    from refless.evaluation.pairs import pair_table
    from refless.evaluation.read import TEXTS, of_user
    from refless.evaluation.replacement import replacement_table
    from refless.evaluation.sentences import answer_lines, warnings
    from refless.evaluation.within import within_table
    from refless.machine import installed

    rated = of_user(user_ratings)
    if score_unit == RATING and not rated.scores:
        message = "the unit of scores is given, and the ratings have no column score_<name>"
        raise SettingError(message, remedy="leave score_unit out")
    if len(rated) > TEXTS:
        minutes = round(len(rated) / TEXTS_A_MINUTE)
        _log.warning(
            "%s texts: about %s minutes of one core, one repeat", f"{len(rated):,}", minutes
        )
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
    replacement, not_tested = replacement_table(rated, comparison, epsilon, score_unit)
    decisions = decide(comparison, pairs, replacement, not_tested)
    bias = bias_of_scores(comparison)
    curve = learning_curve(rated, comparison, settings, step)
    source = Source(_paths(ratings), user_ratings.scale, reading)
    return ComparisonAnswer(
        table=comparison.table,
        pairs=pairs,
        answer="\n".join(answer_lines(rated, decisions, bias)),
        warnings=[*warnings(rated, comparison)],
        comparison=comparison,
        settings=settings,
        decisions=decisions,
        source=source,
        next_step=next_step(decisions, source, seed),
        learning_curve=curve,
        within=within_table(comparison),
        replacement=replacement,
        bias=bias,
        epsilon=epsilon,
        signature=signature(
            splits=[f"{len(folds)}*{name}" for name, folds in comparison.splits.items()],
            kernels=list(settings.kernels),
            networks="rnn_qe" if settings.networks else None,
            draws=draws,
            seed=seed,
            epsilon=epsilon,
            unit=score_unit,
            unrated=unrated,
            scale=user_ratings.scale,
            n=len(rated),
            data=tables_sum(user_ratings.texts, user_ratings.ratings),
        ),
    )


def _paths(ratings: Input) -> list[str]:
    """Files and folders as they were named; none of a table in memory."""
    sources: Any = [ratings] if is_path(ratings) else ratings
    listed = isinstance(sources, Sequence) and all(map(is_path, sources))
    return [str(path) for path in sources] if listed else []


def score(
    ratings: Input | None,
    outputs: Table | None = None,
    *,
    method: str | None = None,
    model: str | Path | None = None,
    leave_one_out: bool = False,
    explain: int | None = None,
    kernel: str | None = None,
    tau: str | float | None = None,
    min_neighbors: int | None = None,
    max_share: float | None = None,
    new_contexts: bool = False,
    scale: Sequence[float] | None = None,
    threads: int | None = None,
    outputs_format: str = "",
    step: Callable[[int], None] | None = None,
    **reading: Any,
) -> ScoreAnswer:
    """What are unrated texts worth, by rated ones?

    ratings : as of `compare`; None with ``model``, a file by ``refless fit``
    outputs : column ``text``, and those that the method reads; with ``quality``, the answer says
        how far predictions agree with it
    method : a name of `refless.methods`, or a column ``score_<name>`` (None: ridge; neighbors
        where a setting of these is given)
    leave_one_out : predict each rated text from the others, without ``outputs``, by neighbors
    explain : so many nearest rated texts in a column ``nearest``, of neighbors
    kernel, tau, min_neighbors, max_share : of neighbors
    new_contexts : whether the outputs answer contexts that no rated text answers; then what the
        method chooses in training, it chooses by left-out contexts
    scale : lowest and highest possible rating, as of `compare`
    threads : as of `compare`
    outputs_format : of the outputs, as ``format`` of the ratings
    step : called with how many texts are done, of neighbors
    reading : as of `compare`

    ``table`` has a row a text. Raises FormatError, KernelError, SettingError: as `compare`; or
    arguments do not go together.
    """
    neighbors_settings = {
        "kernel": kernel,
        "tau": tau,
        "min_neighbors": min_neighbors,
        "max_share": max_share,
    }
    of_neighbors = {
        **neighbors_settings,
        "explain": explain,
        "leave_one_out": leave_one_out or None,
        "model": model,
    }
    name = _scoring_method(method, of_neighbors)
    outputs_columns = ["quality", *_columns_read(name)]
    for setting, value in (("explain", explain), ("min_neighbors", min_neighbors)):
        if value is not None:
            _check_whole(setting, value, 1)
    _check_inputs(ratings, outputs, model, leave_one_out)
    _check_reading(reading)
    user_ratings: Any = None
    if model is not None:
        settled = {**neighbors_settings, "new_contexts": new_contexts or None, "scale": scale}
        _check_nothing_is_settled_anew(settled, reading)
    else:
        assert ratings is not None
        needs = [column for column in method_of(name).needs if column != "context"]
        user_ratings = read_rated(ratings, scale=scale, need=["quality", *needs], **reading)
    training: Any = None if user_ratings is None else rated_texts(user_ratings)
    if outputs is None:
        file = _only_file(user_ratings)
    else:
        file = _read_outputs(outputs, outputs_columns, outputs_format, reading)

    import pandas as pd

    from refless.evaluation import rate
    from refless.evaluation.read import scale_of
    from refless.methods.table import prompts_of
    from refless.models.neighbors_file import load_neighbors

    if new_contexts and not prompts_of(training)[0]:
        message = "the ratings have no column context or mr, so no context is new"
        raise FormatError(message, remedy="leave --new-contexts out")
    if name == NEIGHBORS:
        if model is None:
            fitted = rate.fit_neighbors(training, threads, step, new_contexts, **neighbors_settings)
        else:
            fitted = load_neighbors(model, threads=threads)
        candidates = None if leave_one_out else list(file.columns["text"])
        scored = rate.by_neighbors(fitted, candidates, explain, step)
    else:
        making = Making(scale=scale_of(user_ratings), new_contexts=new_contexts, threads=threads)
        scored = rate.by_method(name, training, pd.DataFrame(file.columns), making, file.path)
    if leave_one_out:
        answer = rate.with_agreement(scored, list(training["quality"]))
        # a text may have several rows, and no rating
        rows = answer.table.astype({"neighbors": "Int64"}).set_axis(training.index)
        return replace(answer, file=file, table=rows.reindex(user_ratings.text_of))
    answer = rate.with_agreement(scored, list(file.columns.get("quality", [])))
    return replace(answer, file=file)


def _scoring_method(method: str | None, of_neighbors: Mapping[str, Any]) -> str:
    """The name of the method that texts are rated by, where these settings of neighbors may be
    given; None: not given. Raises SettingError: one is, beside another method."""
    given = [setting for setting, value in of_neighbors.items() if value is not None]
    name = method or (NEIGHBORS if given else RIDGE)
    method_of(name)  # refuses a name that there is not
    if given and name != NEIGHBORS:
        raise SettingError(
            f"{given[0]} is a setting of neighbors, and the method is {name}",
            remedy=f"leave one of the two out, or give the method {NEIGHBORS}",
        )
    return name


def _check_nothing_is_settled_anew(settled: Mapping[str, Any], reading: Mapping[str, Any]) -> None:
    """Raises SettingError: beside a model, one of its settings is given, None: not given, or an
    option of how its ratings were read."""
    named = [setting for setting, value in settled.items() if value is not None]
    for option, value in reading.items():
        if option not in ("columns", "join") and value and value != "refuse":
            named.append(option)
    if named:
        message = f"{named[0]} was settled when the model was fitted"
        raise SettingError(message, remedy="leave it out")


def _only_file(user_ratings: UserRatings) -> File:
    """The file of ratings whose texts are left out one by one. Raises SettingError: there are
    several."""
    if len(user_ratings.files) > 1:
        raise SettingError("several files have ratings", remedy="leave one out of one file")
    return user_ratings.files[0]


def _check_inputs(
    ratings: Input | None,
    outputs: Table | None,
    model: str | Path | None,
    leave_one_out: bool,
) -> None:
    """Raises SettingError: there is nothing to learn from or to rate, or too much of it."""
    if ratings is None and model is None:
        raise SettingError("there are no ratings", remedy="give ratings, or a model of refless fit")
    if ratings is not None and model is not None:
        raise SettingError("there are ratings and a model", remedy="leave one of the two out")
    if leave_one_out and outputs is not None:
        raise SettingError(
            "there are outputs, and one text of the ratings is to be left out",
            remedy="leave out outputs, or leave_one_out",
        )
    if leave_one_out and ratings is None:
        raise SettingError(
            "a model has no file of ratings to leave a text out of",
            remedy="give ratings instead of the model",
        )
    if outputs is None and not leave_one_out:
        raise SettingError("there are no outputs", remedy="give outputs, or leave_one_out")


def estimate(
    ratings: Input,
    outputs: Table | None = None,
    *,
    method: str | None = None,
    kernel: str | None = None,
    by: str = "system",
    scale: Sequence[float] | None = None,
    score_unit: str = OTHER_UNIT,
    plan: float | None = None,
    these_outputs: bool = False,
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
    method : as of `score` (None: ridge)
    score_unit : ``rating`` where the method is a column ``score_<name>`` in the unit of the
        ratings, which is a prediction as it is; ``other``: it is mapped to ratings by a line
    kernel : of neighbors, instead of a method
    by : the column whose values have a mean each
    scale, threads, reading : as of `compare`
    outputs_format : as of `score`
    seed : of the folds, and of the range of a plan
    plan : the width of an interval, for the number of rated texts, or of contexts, that would give
        it
    these_outputs : whether the means are those of these very texts, drawn at random of which some
        are rated: with each of them rated, they are known; else of more texts of the kind, from
        contexts like these where contexts are known
    all_pairs : test each two groups however many there are (False: up to 200 groups)

    ``table`` has a row a system, ``pairs`` each two of them. Raises as `compare`.
    """
    if plan is not None and not plan > 0:
        raise SettingError(f"the width is {plan:g}", remedy="give a width above 0")
    if by not in GROUPS:
        raise SettingError(f"by is {by!r}", remedy=f"take one of {', '.join(GROUPS)}")
    if kernel is not None and method not in (None, NEIGHBORS):
        raise SettingError(
            f"kernel is a setting of neighbors, and the method is {method}",
            remedy="leave one of the two out",
        )
    name = method or (RIDGE if kernel is None else NEIGHBORS)
    reads = _columns_read(name)
    _check_score_unit(score_unit)
    if score_unit == RATING and not name.startswith(SCORE_PREFIX):
        message = f"the unit of scores is given, and the method is {name}"
        raise SettingError(message, remedy="leave score_unit out, or give a method score_<name>")
    _check_whole("seed", seed, 0)
    _check_reading(reading)
    needs = [column for column in method_of(name).needs if column != "context"]
    user_ratings = read_rated(ratings, scale=scale, need=["quality", *needs], **reading)
    training = rated_texts(user_ratings)
    path = user_ratings.files[0].path
    file = None
    if outputs is not None:
        groups = [group for group in GROUPS if group in user_ratings.texts]
        file = _read_outputs(outputs, [*groups, *reads], outputs_format, reading)
        _refuse_raters(file, reading)
        if lost := [group for group in groups if group not in file.columns]:
            message = f"has no column {lost[0]}, which the ratings have"
            raise FormatError(message, path=file.path, remedy="add it, or name it by --column")
        path = file.path

    import pandas as pd

    from refless.evaluation.estimate_means import EstimateSettings, estimate_means
    from refless.evaluation.read import scale_of

    texts = user_ratings.texts
    rest = texts[texts["quality"].isna()] if file is None else pd.DataFrame(file.columns)
    making = Making(
        kernel=kernel or DEFAULT_KERNEL,
        scale=scale_of(user_ratings),
        all_texts=[*training["text"], *rest["text"]],
        threads=threads,
    )
    settings = EstimateSettings(
        method=name,
        kernel=making.kernel,
        make=lambda new_contexts: method_of(name).make(replace(making, new_contexts=new_contexts)),
        by=by,
        score_unit=score_unit,
        plan=plan,
        these_outputs=these_outputs,
        all_pairs=all_pairs,
        seed=seed,
    )
    answer = estimate_means(training, rest, settings, file is not None, path)
    signed = signature(
        method=name,
        kernel=making.kernel if name == NEIGHBORS else None,
        unit=score_unit if name.startswith(SCORE_PREFIX) else None,
        by=by,
        these_outputs=these_outputs or None,
        plan=plan,
        all_pairs=all_pairs or None,
        seed=seed,
        scale=user_ratings.scale,
        n=len(training),
        data=tables_sum(training, rest),
    )
    return replace(answer, signature=signed)


def _columns_read(name: str) -> list[str]:
    """The columns besides ``text`` that a method reads of texts to rate. Raises SettingError: there
    is no method of this name, or it rates no new texts."""
    entry = method_of(name)
    if name == NETWORKS or "human" in entry.needs:
        raise SettingError(
            f"{name} does not rate new texts here",
            remedy="take another method; refless train-qe and refless qe are for RNN-QE",
        )
    return ["score_*"] if name == COMBINED else list(entry.reads)


def _read_outputs(
    outputs: Table, columns: Sequence[str], outputs_format: str, reading: Mapping[str, Any]
) -> File:
    """Texts to rate, with those of the columns that there are."""
    renamed = reading.get("columns")
    join = reading.get("join")
    return read_texts(outputs, columns, [], outputs_format, renamed, join)


def _refuse_raters(file: File, reading: Mapping[str, Any]) -> None:
    """Raises FormatError: outputs have a column of raters, so that a text may have several rows,
    each of which would count."""
    ignored = (reading.get("columns") or {}).get("rater") == ""
    if not ignored and "rater" in (name.strip().casefold() for name in file.names):
        remedy = "give each text once, without it; or ignore it: --column rater="
        raise FormatError("the outputs have a column rater", path=file.path, remedy=remedy)


def _check_score_unit(unit: str) -> None:
    """Raises SettingError: it is none."""
    if unit not in (OTHER_UNIT, RATING):
        raise SettingError(f"score_unit is {unit!r}", remedy=f"give {RATING}, or {OTHER_UNIT}")


def _check_whole(name: str, value: Any, least: int) -> None:
    """Raises SettingError: a number is not whole, or too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise SettingError(f"{name} is {value!r}", remedy=f"give a whole number from {least}")


def read_rated(
    ratings: Input,
    scale: Sequence[float] | None = None,
    need: Sequence[str] = ("quality",),
    rated: str = "quality",
    **reading: Any,
) -> UserRatings:
    """`read_ratings` of one or several, which have the columns that they ``need``, and in the
    column ``rated`` their ratings. Raises SettingError: the scale is none, or there are no
    ratings."""
    paths: Any = ratings  # one, or a sequence
    if is_path(ratings) or is_rows(ratings) or not isinstance(ratings, Sequence):
        paths = [ratings]
    if not paths:
        raise SettingError("no ratings", remedy="give a file, a folder or a table")
    return read_ratings(paths, scale=_ends(scale), need=need, rated=rated, **reading)


def _check_reading(reading: Mapping[str, Any]) -> None:
    """Raises SettingError: an option of how files are read is none."""
    if reading.get("repeated", "refuse") not in ("refuse", "mean"):
        message = f"repeated is {reading['repeated']!r}"
        raise SettingError(message, remedy="give 'mean', or leave it out")
    options = set(inspect.signature(read_ratings).parameters) - {"paths", "scale", "rated", "need"}
    if unknown := sorted(set(reading) - options):
        remedy = f"reading is decided by {', '.join(sorted(options))}"
        raise SettingError(f"there is no option {unknown[0]!r}", remedy=remedy)


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


def _kernels(names: Sequence[str] | None) -> dict[str, Mapping[str, Any]]:
    from refless.evaluation.evaluate import KERNELS
    from refless.kernels import lacking_package
    from refless.kernels.wordnet import find_wordnet

    names = [names] if isinstance(names, str) else names
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
