"""ΔBLEU as an estimate of quality, beside BLEU Neighbors and kernels.

Stage: cell. In: rated texts, each with the rated texts of the same context (or of the same meaning
representation, MR, with unrated human references) as its references. Out: Spearman's rho, error and
coverage of each model, as a signed file.

=============  ==================================================================================
context_mean   mean quality of the references: what the context alone tells, without the text
sbleu          smoothed sentence BLEU against the references, whatever their quality
delta_bleu     sentence ΔBLEU against the references, weighted by their quality
kernel_mean    mean quality of the references, weighted by their similarity to the text
neighbors      BLEU Neighbors: mean quality of all similar rated texts, of whatever context
=============  ==================================================================================

A reference never comes from the system whose text is rated. Scores that are no quality become one
by a straight line fitted on other contexts (`calibrated`), so that errors can be compared. Models
cover different texts, so ΔBLEU is also compared with BLEU Neighbors on those that both cover.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.compare.rated import apart_of
from refless.data.ratings import separate_items
from refless.data.task import Task
from refless.errors import FormatError
from refless.experiments.bleu_neighbors.baselines import CONSTANT, MAKE
from refless.experiments.delta_bleu.dialogues import require_systems_apart, tokenize
from refless.kernels import kernel, signature
from refless.models.baselines import out_of_fold
from refless.models.delta_bleu import Statistics, Texts, smoothed_scores
from refless.models.neighbors import NeighborsRegressor
from refless.models.same_group import (
    ORDER,
    RULES,
    by_group,
    defined_scores,
    line,
    references,
    weights,
)
from refless.statistics import (
    Estimate,
    between_and_within,
    draw_blocks,
    evaluate,
    interval,
    spearman,
    weighted_spearman,
)
from refless.store import signed
from refless.store.signatures import sign, text_sum

log = logging.getLogger(__name__)

Array = np.ndarray

FOLDS = 10
BATCH = 500
DIGITS = 9
"""Of the baselines' estimates: ridge regression is solved step by step, with rounding."""
CENTRES = ("scale", "mean")
VALUES = (
    *("spearman", "mse", "coverage", "between_share", "within_spearman"),
    *("spearman_against", "difference"),
)
"""Columns that have an interval."""
COLUMNS = ["model", "variant", "kernel", "against", *VALUES, "n", "n_covered"]
_INTERVALS = [f"{name}_{end}" for name in VALUES for end in ("low", "high")]


def models(kernels: Iterable[str]) -> list[tuple[str, str, str]]:
    """The models that are compared: (model, variant, kernel), in the order of the rows."""
    return [
        ("context_mean", "", ""),
        ("sbleu", "", ""),
        *(("delta_bleu", _variant(rule, centre), "") for centre in CENTRES for rule in RULES),
        *((model, "", name) for name in kernels for model in ("kernel_mean", "neighbors")),
        *((name, "", "") for name in MAKE),
    ]


def _variant(rule: str, centre: str) -> str:
    return f"{rule}, centre {centre}"


@dataclass(frozen=True)
class Candidates:
    """Rated texts, which are each other's references, and references that are only that.

    texts : the rated ones, then the others
    quality : (texts,); of the others, what they are taken to be worth
    owner, group : (texts,), int64: who wrote it, and its context or MR, numbered from 0
    rated : how many of them are rated
    unit : (rated,), int64, the rated texts that are drawn together, and are calibrated by others;
        by default those of a group
    """

    texts: list[str]
    quality: Array
    owner: Array
    group: Array
    rated: int
    unit: Array | None = None

    def units(self) -> Array:
        """What is drawn together, by number."""
        return self.group[: self.rated] if self.unit is None else self.unit

    def centre(self) -> float:
        """Mean quality of the rated texts."""
        return float(self.quality[: self.rated].mean())

    def groups(self) -> int:
        """How many contexts or MRs there are."""
        return int(self.group.max()) + 1


def same_context(texts: pd.DataFrame) -> Candidates:
    """Rated texts with the column ``context_id``; two humans (``model``) are two owners."""
    rated = texts[texts["n_ratings"] > 0]
    owner = rated["model"] if "model" in rated else rated["system"]
    require_systems_apart(rated, owner)
    return Candidates(
        rated["text"].tolist(),
        rated["quality"].to_numpy(np.float64),
        pd.factorize(owner)[0].astype(np.int64),
        pd.factorize(rated["context_id"])[0].astype(np.int64),
        len(rated),
    )


def same_mr(texts: pd.DataFrame, humans: Mapping[str, pd.DataFrame]) -> Candidates:
    """Rated texts with the human references of the same MR, at the top of the scale.

    Parameters
    ----------
    texts : columns ``dataset`` and ``mr_key`` besides the usual
    humans : by ``dataset``, tables with ``mr_key`` and ``text_nem``

    Raises
    ------
    FormatError : there are no human references of a data set.
    """
    lost = sorted(set(texts["dataset"]) - set(humans))
    if lost:
        raise FormatError(
            f"there are no human references for {', '.join(lost)}",
            remedy="name their data sets under delta_bleu_predictor.references,"
            " or leave it empty if texts of one context are each other's references",
        )
    keys = (texts["dataset"] + " " + texts["mr_key"]).tolist()
    owners = texts["system"].tolist()
    words, quality = texts["text"].tolist(), texts["quality"].tolist()
    known = set(keys)
    for name, table in humans.items():
        for mr, text in zip(table["mr_key"], table["text_nem"], strict=True):
            if f"{name} {mr}" in known:
                keys.append(f"{name} {mr}")
                owners.append("human")
                words.append(text)
                quality.append(1.0)
    return Candidates(
        words,
        np.array(quality, np.float64),
        pd.factorize(np.array(owners, object))[0].astype(np.int64),
        pd.factorize(np.array(keys, object))[0].astype(np.int64),
        len(texts),
    )


def sentence_scores(candidates: Candidates) -> dict[tuple[str, str], Array]:
    """(model, variant) -> score of each rated text, NaN where it is undefined: no reference, or,
    for ΔBLEU, none of positive weight."""
    counted = Texts([tokenize(text) for text in candidates.texts], ORDER)
    plain = _statistics(candidates, counted, np.ones(len(candidates.texts)))
    found = {("sbleu", ""): np.where(plain.closest >= 0, smoothed_scores(plain), np.nan)}
    for centre in CENTRES:
        middle = 0.5 if centre == "scale" else candidates.centre()
        weight = weights(candidates.quality, middle, 0.0, 1.0)
        own = _statistics(candidates, counted, weight)
        for rule in RULES:
            found["delta_bleu", _variant(rule, centre)] = defined_scores(own, rule)
    return found


def _statistics(candidates: Candidates, counted: Texts, weight: Array) -> Statistics:
    """Of each rated text against all other texts of its group, which others wrote."""
    n, groups = candidates.rated, candidates.groups()
    text = np.arange(len(candidates.texts))
    side = references(candidates.group, groups, text, candidates.owner, weight)
    owner, group = candidates.owner[:n], candidates.group[:n]
    return counted.statistics(text[:n], owner, group, side).of_others()


def context_means(candidates: Candidates) -> Array:
    """Mean quality of the references of each rated text, NaN without any."""
    return _weighted_mean(candidates, lambda rows, columns: np.ones((len(rows), len(columns))))


def kernel_means(candidates: Candidates, name: str, **options: Any) -> Array:
    """The same, weighted by the similarity; NaN where nothing is similar at all.

    Parameters
    ----------
    options : of the kernel
    """
    texts = candidates.texts

    def similarity(rows: Array, columns: Array) -> Array:
        near, far = [texts[r] for r in rows], [texts[c] for c in columns]
        return kernel(name, near, far, threads=1, **options)

    return _weighted_mean(candidates, similarity)


def _weighted_mean(candidates: Candidates, similarity: Callable[[Array, Array], Array]) -> Array:
    order, bounds = by_group(candidates.group, candidates.groups())
    found = np.full(candidates.rated, np.nan)
    for start, end in _whole_groups(bounds):
        columns = order[start:end]
        rows = columns[columns < candidates.rated]
        same = candidates.group[rows][:, None] == candidates.group[columns][None, :]
        others = candidates.owner[rows][:, None] != candidates.owner[columns][None, :]
        weight = np.where(same & others, similarity(rows, columns), 0.0)
        total = weight.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            found[rows] = np.where(total > 0, weight @ candidates.quality[columns] / total, np.nan)
    return np.round(found, 12)  # means of the same ratings tie, however they were summed


def _whole_groups(bounds: Array) -> Iterator[tuple[int, int]]:
    """Stretches of whole groups, of `BATCH` texts by and large: for a kernel that first has to
    read WordNet, a call for each group would be slow."""
    start = int(bounds[0])
    for end in map(int, bounds[1:]):
        if end - start >= BATCH or start < end == bounds[-1]:
            yield start, end
            start = end


def calibrated(score: Array, quality: Array, group: Array, seed: int = 0) -> Array:
    """Quality read off a score by a straight line, fitted by least squares on other groups.

    Groups are dealt at random to `FOLDS` folds; a score is calibrated by the line of all other
    folds, so no text and no context calibrates itself. NaN where the score is.
    """
    fold = _dealt(group, seed)
    there = ~np.isnan(score)
    found = np.full(len(score), np.nan)
    for k in range(FOLDS):
        fit, asked = there & (fold != k), there & (fold == k)
        if not fit.any() or not asked.any():
            continue
        slope, intercept = line(score[fit], quality[fit])
        found[asked] = intercept + slope * score[asked]
    return found


def _dealt(group: Array, seed: int) -> Array:
    """The fold of each text, those of a group together."""
    generator = np.random.default_rng(seed)
    dealt: Array = (generator.permutation(int(group.max()) + 1) % FOLDS)[group]
    return dealt


def baselines(candidates: Candidates, seed: int) -> dict[str, Array]:
    """Estimates that know nothing of a text's own context or MR, by the name in `MAKE`: they learn
    from the rated texts of other folds, which `calibrated` deals."""
    n, group = candidates.rated, candidates.units()
    fold = _dealt(group, seed)
    if len(np.unique(fold)) < 2:
        return {name: np.full(n, np.nan) for name in MAKE}
    known = candidates.texts[:n], candidates.quality[:n], fold
    systems = [str(owner) for owner in candidates.owner[:n]]
    return {
        name: out_of_fold(make, *known, systems=systems, groups=group.tolist()).round(DIGITS)
        for name, make in MAKE.items()
    }


def paired(
    score: Array, other: Array, quality: Array, group: Array, draws: int, seed: int
) -> dict[str, float]:
    """Spearman's rho of two scores on the texts that have both, and the difference.

    Parameters
    ----------
    score, other, quality : (texts,), scores NaN where undefined
    group : int64 (texts,), numbers of the groups that are drawn, whole
    draws, seed : of the bootstrap, as in `refless.statistics.evaluate`

    Returns
    -------
    dict : ``spearman``, ``spearman_against``, ``difference``, each with ``_low`` and ``_high``
        (95%), and ``n_covered``; NaN where a correlation is not defined
    """
    both = ~np.isnan(score) & ~np.isnan(other)
    scores, truth = (score[both], other[both]), quality[both]
    rho = np.array([spearman(own, truth)[0] for own in scores])
    drawn = [np.empty((2, 0))]
    if not np.isnan(rho).any():
        for whole in draw_blocks(int(group.max()) + 1, draws, seed):
            drawn.append(
                np.stack([weighted_spearman(own, truth, whole, group[both]) for own in scores])
            )
    again = np.concatenate(drawn, axis=1)
    return {
        **Estimate(float(rho[0]), *interval(again[0])).columns("spearman"),
        **Estimate(float(rho[1]), *interval(again[1])).columns("spearman_against"),
        **Estimate(float(rho[0] - rho[1]), *interval(again[0] - again[1])).columns("difference"),
        "n_covered": int(both.sum()),
    }


def predictor_numbers(
    candidates: Candidates,
    kernels: Mapping[str, float],
    min_neighbors: int,
    max_share: float,
    draws: int,
    seed: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> pd.DataFrame:
    """One row a model, with the columns `COLUMNS`, intervals over groups, and ``references``, the
    mean number of references of a text; then a row for each ΔBLEU and each BLEU Neighbors
    (``against``, its kernel) with `paired`.

    MSE is that of `calibrated` scores; `baselines` are estimates already.

    Parameters
    ----------
    kernels : name -> tau of BLEU Neighbors
    options : kernel -> its options
    """
    n = candidates.rated
    quality, group = candidates.quality[:n], candidates.units()
    found = {("context_mean", "", ""): context_means(candidates)}
    for (model, variant), score in sentence_scores(candidates).items():
        found[model, variant, ""] = score
    for name, tau in kernels.items():
        own = (options or {}).get(name, {})
        found["kernel_mean", "", name] = kernel_means(candidates, name, **own)
        regressor = NeighborsRegressor(name, tau, min_neighbors, max_share, options=own)
        regressor.fit(candidates.texts[:n], quality)
        found["neighbors", "", name] = regressor.leave_one_out()
    number = _numbers_of_references(candidates)
    ready = baselines(candidates, seed)
    found |= {(name, "", ""): estimate for name, estimate in ready.items()}
    owners = [str(owner) for owner in candidates.owner[:n]]
    rows = []
    for model, variant, name in models(kernels):
        score = found[model, variant, name]
        raw = evaluate(score, quality, draws, seed, group)
        estimate = score if model in ready else calibrated(score, quality, group, seed)
        fitted = evaluate(estimate, quality, draws, seed, group)
        row: dict[str, Any] = {"model": model, "variant": variant, "kernel": name}
        row |= fitted.mse.columns("mse") | raw.coverage.columns("coverage")
        if model != CONSTANT:  # which ranks nothing
            row |= raw.spearman.columns("spearman")
        if model not in (CONSTANT, "system_mean"):  # which knows nothing else
            fewer = max(1, draws // 4)
            apart = between_and_within(score, quality, owners, units=group, draws=fewer, seed=seed)
            row |= apart.between_share.columns("between_share")
            row |= apart.within_spearman.columns("within_spearman")
        rows.append(row | {"n": raw.n, "n_covered": raw.n_covered, "references": number})
    for (model, variant, _), score in found.items():
        if model != "delta_bleu":
            continue
        rows += [
            {"model": model, "variant": variant, "against": name, "n": n, "references": number}
            | paired(score, found["neighbors", "", name], quality, group, draws, seed)
            for name in kernels
        ]
    return pd.DataFrame(rows).reindex(columns=[*COLUMNS, *_INTERVALS, "references"])


def _numbers_of_references(candidates: Candidates) -> float:
    """Mean number of references, over the rated texts."""
    n = candidates.rated
    all_of = np.bincount(candidates.group)[candidates.group[:n]]
    pair = candidates.group * (candidates.owner.max() + 1) + candidates.owner
    own = np.bincount(pair)[pair[:n]]
    return float((all_of - own).mean())


def write_predictor(
    path: str | Path,
    task: Task,
    references: Sequence[Task],
    settings: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
) -> None:
    """Estimate the quality of a data set's texts, and write how good the estimates are.

    Texts of one context are each other's references; with ``references``, those of one MR, and
    the human references of that MR besides.

    Parameters
    ----------
    task : its texts have the column ``context_id``; or, with references, ``dataset`` (which of
        them) and ``mr_key``
    references : data sets with the columns ``mr_key`` and ``text_nem``
    settings : arguments of `predictor_numbers`, as the readers will ask for them
    options : kernel -> its options

    Raises
    ------
    FormatError : a column is missing, or there are no references of a ``dataset``.
    """
    candidates = _candidates(task, references)
    begin = time.perf_counter()
    rows = predictor_numbers(candidates, **settings, options=options)
    log.info("%d rows in %.1f s", len(rows), time.perf_counter() - begin)
    data = text_sum([task.text_sum, *candidates.texts])
    made_from = {f"references {one.name}": one.text_sum for one in references}
    signed.write(
        path,
        rows,
        {
            "kind": "predictor",
            "of": {"task": task.name},
            "provenance": signed.provenance(one.about for one in (task, *references)),
            "settings": dict(settings),
            "made_from": task.rated_sums | made_from,
            "signatures": [
                sign(["experiments/delta_bleu/predictor.py"], data, packages=["scikit-learn"]),
                *(signature(name, data, **options[name]) for name in settings["kernels"]),
            ],
        },
    )


def _candidates(task: Task, references: Sequence[Task]) -> Candidates:
    wanted = ["dataset", "mr_key"] if references else ["context_id"]
    _require_columns(task, wanted)
    # a system's outputs are its own, also where another says the same
    apart = separate_items(task.texts, task.ratings)
    apart = apart[apart["n_ratings"] > 0]
    unit = apart_of(apart)
    if not references:
        return replace(same_context(apart), unit=unit)
    for one in references:
        _require_columns(one, ["mr_key", "text_nem"])
    return replace(same_mr(apart, {one.name: one.texts for one in references}), unit=unit)


def _require_columns(task: Task, wanted: Sequence[str]) -> None:
    lacking = [name for name in wanted if name not in task.texts]
    if lacking:
        raise FormatError(
            f"the texts of {task.name} have no column {' and no '.join(lacking)}",
            remedy="mend `delta_bleu_predictor` of this data set in the configuration",
        )
