"""The essays of the BLEU Neighbors paper (section 5.6): estimates for table 3 and what moves it.

Stage: prediction. In: rated essays with a training and a test part, in sets. Out: numbers without
text, as signed files: an estimate for each test essay from each training set, under the published
recipe and under recipes that differ from it in one choice (kind ``essay estimates``); and sums of
neighbors' scores for every set as the test set (kind ``essay set sums``).

The published recipe is `Recipe()`. The paper's text leaves its choices open; these give its nine
single-set values to the third decimal (39 test essays, so an interval is about 0.6 wide):

=========  ======================================================================================
sentences  how they are counted, see `SENTENCE_RULES`; test essays have 5 to 15 (section 4)
cut        ``cut``: training essays have 5 to 15 as well, which the paper says of test essays only;
           ``whole``: they are all used (set 4: 0.171 instead of -0.128)
raters     ``both``: quality of a training essay is (score1 + score2) / 2 / 3; ``first``: score1 / 3
           (set 2: 0.423 instead of 0.392)
kernel     characters, clipped (unclipped, set 4: 0.105); neighbors from tau = 0.08 on
means      ``floating``: `numpy.mean` over the neighbors in the order of the file, whose rounding
           noise orders ties; ``exact``: rounded once (set 1: 0.307 instead of 0.301)
reading    ``quoted`` or ``unquoted``: what the loader takes a quotation mark for (unquoted, set 1:
           0.288)
=========  ======================================================================================

Set 4's -0.128 hangs on five essays: the other 34 have all its 62 training essays as neighbors, and
so the same estimate.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task
from refless.errors import SettingError
from refless.experiments.bleu_neighbors.baselines import MAKE
from refless.models.baselines import RidgeTfidf
from refless.models.neighbors import neighbor_means
from refless.store import signed
from refless.store.signatures import sign, text_sum

log = logging.getLogger(__name__)
Array = np.ndarray

COLUMNS = ["set", "part", "score1", "score2"]
"""What the table of texts must have besides."""
TOP = 3  # of the scale of the scores, for every set
PUBLISHED, BASELINE = "published", "baseline"
BASELINES = ("length", "lookup", "ridge_tfidf")
"""What the published recipe's estimates are compared with; a constant ranks nothing."""
DIGITS = 9
"""Of the baselines' estimates: ridge regression is solved step by step, with rounding."""
ESTIMATE_COLUMNS = [
    *("choice", "variant", "train_topic", "id", "quality", "estimate", "neighbors", "training")
]

_LINE_BREAK = r"\n|\^p|<br ?/?>"  # the essays have some that were typed or converted so


def full_stops(text: str) -> int:
    """Sentences as the published numbers count them: pieces between a full stop and a blank."""
    return len(text.split(". "))


def marks(text: str) -> int:
    """Non-empty pieces between runs of ``. ! ?`` before a blank or the end, and line breaks."""
    pieces = re.split(rf"[.!?]+['\")]*(?:\s+|$)|{_LINE_BREAK}", text)
    return sum(bool(piece.strip()) for piece in pieces)


def capitals(text: str) -> int:
    """As `marks`, but a mark ends a sentence only where a capital or a digit follows (``e.g. x``).

    About what a trained splitter does, without its model.
    """
    end = rf"(?:(?<=[.!?])|(?<=[.!?]['\")]))\s+(?=['\"(]*[A-Z0-9])|{_LINE_BREAK}"
    return sum(bool(piece.strip()) for piece in re.split(end, text))


SENTENCE_RULES: dict[str, Callable[[str], int]] = {
    "full_stops": full_stops,
    "marks": marks,
    "capitals": capitals,
}


@dataclass(frozen=True)
class Recipe:
    """One reading of table 3; the defaults are the published one (see the module)."""

    reading: str = "quoted"
    sentences: str = "full_stops"
    cut: str = "cut"
    raters: str = "both"
    kernel: str = "bleu.char"
    tau: float = 0.08
    means: str = "floating"

    def check(self) -> Recipe:
        """Return self, or raise SettingError for a choice that is none."""
        allowed: dict[str, Sequence[str]] = {
            "reading": ("quoted", "unquoted"),
            "sentences": tuple(SENTENCE_RULES),
            "cut": ("cut", "whole"),
            "raters": ("both", "first"),
            "means": ("floating", "exact"),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise SettingError(
                    f"{name} is {getattr(self, name)!r}; choose one of {', '.join(values)}"
                )
        if not 0 < self.tau <= 1:
            raise SettingError(f"tau is {self.tau}; it must lie in (0, 1]")
        return self


@dataclass(frozen=True)
class Selection:
    """Which essays table 3 is about: the test set, and from how many to how many sentences."""

    test_set: int = 3
    fewest: int = 5
    most: int = 15


def one_choice_changed(
    base: Recipe, changes: Mapping[str, Sequence[Any]]
) -> list[tuple[str, str, Recipe]]:
    """The base as ``("published", "")``, then (choice, variant, recipe) for each other value.

    Raises
    ------
    SettingError : ``changes`` names no choice of a recipe, or no value of one.
    """
    known = {field.name for field in fields(Recipe)}
    recipes = [(PUBLISHED, "", base.check())]
    for choice, values in changes.items():
        if choice not in known:
            raise SettingError(f"{choice!r} is no choice of a recipe ({', '.join(sorted(known))})")
        for value in values:
            if value != getattr(base, choice):
                recipes.append((choice, f"{value}", replace(base, **{choice: value}).check()))
    return recipes


def topics(
    sets: Sequence[int], test_set: int, left_out: Sequence[Sequence[int]]
) -> dict[str, list[int]]:
    """Name -> sets that train: each set but the tested one, then all but those of ``left_out``.

    Their names are those of the published table: ``8``, ``all_but_3``, ``all_but_3_and_1``.
    """
    found = {str(number): [number] for number in sets if number != test_set}
    for out in left_out:
        name = "all_but_" + "_and_".join(map(str, out))
        found[name] = [number for number in sets if number not in out]
    return found


def training_quality(essays: pd.DataFrame, raters: str) -> Array:
    """Quality of training essays in [0, 1], shape (n,), in the order of operations that counts.

    Dividing by 2 and then by 3 rounds otherwise than dividing by 6, and that noise orders ties.
    """
    points, most = training_points(essays, raters)
    return points / (most / TOP) / TOP


def training_points(essays: pd.DataFrame, raters: str) -> tuple[Array, int]:
    """Scores of training essays as whole numbers, shape (n,), and what one of them is at most."""
    score1 = essays["score1"].to_numpy(np.float64)
    if raters == "first":
        return score1, TOP
    return score1 + essays["score2"].to_numpy(np.float64), 2 * TOP


def in_cut(essays: pd.DataFrame, rule: str, selection: Selection) -> Array:
    """Whether each essay has as many sentences as it should, shape (n,), bool."""
    count = essays["text"].map(SENTENCE_RULES[rule]).to_numpy(np.int64)
    return (count >= selection.fewest) & (count <= selection.most)


def estimates(
    readings: Mapping[str, pd.DataFrame],
    recipes: Sequence[tuple[str, str, Recipe]],
    selection: Selection,
    left_out: Sequence[Sequence[int]],
    threads: int | None = None,
) -> pd.DataFrame:
    """Estimates of the test essays from each training set, under each recipe.

    Parameters
    ----------
    readings : ``quoted``, and ``unquoted`` if a recipe asks for it: the loader's table of texts
    recipes : from `one_choice_changed`
    left_out : combinations of sets besides the single ones, see `topics`

    Returns
    -------
    DataFrame : `ESTIMATE_COLUMNS`; choice, variant (of the recipe), train_topic, id, quality (gold
        score / 3), estimate (NaN without a neighbor), neighbors and training (their numbers). With
        the recipe `PUBLISHED` come `BASELINES` of the same training essays: their choice is
        `BASELINE`, and they have no neighbors

    Raises
    ------
    SettingError : a recipe asks for a reading that is not given.

    Source: Ethayarajh & Sadigh (2020), sections 4 and 5.6.
    """
    from refless.kernels import kernel

    tables = []
    matrices: dict[tuple[str, str], Array] = {}
    for choice, variant, recipe in recipes:
        if recipe.reading not in readings:
            raise SettingError(f"the essays were not read {recipe.reading}")
        texts = readings[recipe.reading]
        test = texts[(texts["part"] == "test") & (texts["set"] == selection.test_set)]
        train = texts[texts["part"] == "train"]
        # All test essays of the set and all training essays at once: recipes choose among them.
        if (recipe.reading, recipe.kernel) not in matrices:
            matrices[recipe.reading, recipe.kernel] = kernel(
                recipe.kernel, test["text"].tolist(), train["text"].tolist(), threads=threads
            )
        tested = in_cut(test, recipe.sentences, selection)
        trained = np.ones(len(train), bool)
        if recipe.cut == "cut":
            trained = in_cut(train, recipe.sentences, selection)
        matrix = matrices[recipe.reading, recipe.kernel][tested]
        points, most = training_quality(train, recipe.raters), 1
        if recipe.means == "exact":
            points, most = training_points(train, recipe.raters)
        for name, members in topics(_sets(train), selection.test_set, left_out).items():
            columns = np.flatnonzero(trained & train["set"].isin(members).to_numpy())
            own = matrix[:, columns]
            estimate, neighbors = neighbor_means(own, points[columns], recipe.tau, most=most)
            table = pd.DataFrame(
                {
                    "choice": choice,
                    "variant": variant,
                    "train_topic": name,
                    "id": test["id"].to_numpy()[tested],
                    "quality": test["quality"].to_numpy(np.float64)[tested],
                    "estimate": estimate,
                    "neighbors": neighbors,
                    "training": len(columns),
                }
            )
            tables.append(table)
            if choice != PUBLISHED or not len(columns):
                continue
            quality = training_quality(train.iloc[columns], recipe.raters)
            for baseline in BASELINES:
                model = MAKE[baseline]().fit(train["text"].iloc[columns].tolist(), quality)
                estimate = model.predict(test["text"][tested].tolist()).round(DIGITS)
                told = table.assign(choice=BASELINE, variant=baseline, neighbors=0)
                tables.append(told.assign(estimate=estimate))
    return pd.concat(tables, ignore_index=True)[ESTIMATE_COLUMNS]


def _sets(essays: pd.DataFrame) -> list[int]:
    return sorted(int(number) for number in essays["set"].unique())


def set_sums(
    texts: pd.DataFrame, recipe: Recipe, selection: Selection, threads: int | None = None
) -> pd.DataFrame:
    """Neighbors of every test essay in every set's training essays.

    Columns: essays (``whole``: all of them; ``cut``: only test and training essays of the wanted
    number of sentences), id, set, gold (0..3), characters (the length of the essay), then for each
    set k ``neighbors_k`` and ``points_k``, the sum of their scores, whole numbers, so that no order
    of summing shows; and ``ridge_k``, what ridge regression on the set's training essays estimates.
    """
    from refless.kernels import neighbor_sums

    test, train = texts[texts["part"] == "test"], texts[texts["part"] == "train"]
    tested = in_cut(test, recipe.sentences, selection)
    trained = in_cut(train, recipe.sentences, selection)
    points, _ = training_points(train, recipe.raters)
    tables = []
    for part in ("whole", "cut"):
        rows = test if part == "whole" else test[tested]
        table = pd.DataFrame({"essays": part, "id": rows["id"].to_numpy()})
        table["set"] = rows["set"].to_numpy(np.int64)
        table["gold"] = np.rint(rows["quality"].to_numpy(np.float64) * TOP).astype(np.int64)
        table["characters"] = rows["text"].str.len().to_numpy(np.int64)
        for number in _sets(train):
            own = (train["set"] == number).to_numpy() & (trained | (part == "whole"))
            counts, sums = neighbor_sums(
                recipe.kernel,
                rows["text"].tolist(),
                train["text"][own].tolist(),
                points[own],
                [recipe.tau],
                threads=threads,
            )
            table[f"neighbors_{number}"] = counts[:, 0]
            table[f"points_{number}"] = np.rint(sums[:, 0]).astype(np.int64)
            table[f"ridge_{number}"] = np.nan
            if own.any() and len(rows):
                ridge = RidgeTfidf().fit(train["text"][own].tolist(), points[own])
                table[f"ridge_{number}"] = ridge.predict(rows["text"].tolist()).round(DIGITS)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def training_sizes(
    texts: pd.DataFrame, recipe: Recipe, selection: Selection
) -> dict[str, dict[str, int]]:
    """Training essays behind `set_sums`: ``whole`` or ``cut`` -> set -> their number."""
    train = texts[texts["part"] == "train"]
    trained = in_cut(train, recipe.sentences, selection)
    return {
        part: {
            str(number): int(((train["set"] == number) & (trained | (part == "whole"))).sum())
            for number in _sets(train)
        }
        for part in ("whole", "cut")
    }


def write_estimates(
    path: str | Path,
    task: Task,
    read_again: Callable[[bool], pd.DataFrame],
    settings: Mapping[str, Any],
    threads: int | None = None,
) -> None:
    """Write `estimates` of the recipe and of those that differ from it in one choice.

    Parameters
    ----------
    task : its texts have `COLUMNS`; they were read as the recipe says
    read_again : the table of texts, read with quotes (True) or without; called only if a recipe
        asks for another reading
    settings : ``selection`` (of `Selection`), ``recipe`` (of `Recipe`), ``changes`` (choice ->
        values), ``left_out`` (see `topics`)

    Raises
    ------
    SettingError : a choice that is none.
    """
    base, selection = Recipe(**settings["recipe"]), Selection(**settings["selection"])
    recipes = one_choice_changed(base, settings["changes"])
    readings = {base.reading: task.texts}
    sums = {base.reading: task.text_sum}
    for reading in sorted({recipe.reading for *_, recipe in recipes} - {base.reading}):
        readings[reading] = read_again(reading == "quoted")
        sums[reading] = text_sum(readings[reading]["text"].tolist())
    table = estimates(readings, recipes, selection, settings["left_out"], threads)
    used = sorted({(recipe.kernel, recipe.reading) for *_, recipe in recipes})
    made_from = {f"texts {reading}": value for reading, value in sums.items()}
    _write(path, table, "essay estimates", task, settings, made_from, used, {})
    log.info("%d recipes, %d estimates", len(recipes), len(table))


def write_set_sums(
    path: str | Path, task: Task, settings: Mapping[str, Any], threads: int | None = None
) -> None:
    """Write `set_sums`, with `training_sizes` and the greatest score among the facts.

    Parameters
    ----------
    task : its texts have `COLUMNS`
    settings : ``selection`` and ``recipe``
    """
    recipe, selection = Recipe(**settings["recipe"]).check(), Selection(**settings["selection"])
    begin = time.perf_counter()
    table = set_sums(task.texts, recipe, selection, threads)
    log.info("%d rows in %.1f s", len(table), time.perf_counter() - begin)
    facts = {
        "most": training_points(task.texts.iloc[:0], recipe.raters)[1],
        "training": training_sizes(task.texts, recipe, selection),
    }
    made_from = {f"texts {recipe.reading}": task.text_sum}
    used = [(recipe.kernel, recipe.reading)]
    _write(path, table, "essay set sums", task, settings, made_from, used, facts)


def _write(
    path: str | Path,
    table: pd.DataFrame,
    kind: str,
    task: Task,
    settings: Mapping[str, Any],
    made_from: Mapping[str, str],
    used: Sequence[tuple[str, str]],
    facts: Mapping[str, Any],
) -> None:
    """Write one of the tables, signed by the kernels used (with their readings) and this module."""
    from refless.kernels import signature

    signatures = [
        signature(kernel, made_from[f"texts {reading}"]) | {"reading": reading}
        for kernel, reading in used
    ]
    about = {
        "kind": kind,
        "of": {"task": task.name},
        "provenance": task.provenance,
        "settings": settings,
        "made_from": made_from,
        "signatures": [
            *signatures,
            sign(
                ["experiments/bleu_neighbors/essays.py", "models/baselines.py"],
                task.text_sum,
                packages=["scikit-learn"],
            ),
        ],
        "facts": {**facts, "notes": task.notes},
    }
    signed.write(path, table, about)
