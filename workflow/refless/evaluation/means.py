"""Tables of means from few ratings and many predictions, and what an interval of a width takes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from refless.evaluation.group_pairs import MOST_GROUPS, group_pairs, with_ranks
from refless.statistics.bootstrap import IntervalEstimate
from refless.statistics.measure import Measure
from refless.statistics.prediction_powered import (
    Mean,
    PoweredMean,
    mean_of_systems,
    powered_mean,
)
from refless.statistics.variance_components import (
    MeanPlan,
    Needed,
    VarianceComponents,
    plan_mean,
    residual_components,
)

Array = np.ndarray

ALL = "all"
"""What the row of all texts has in the column ``system``."""
MEAN_COLUMNS = [
    "system",
    "rated",
    "unrated",
    "effective_clusters",
    *Measure("rated_mean").interval,
    "rated_standard_error",
    *Measure("mean").interval,
    "standard_error",
    "weight",
    "correction",
    "rank_low",
    "rank_high",
]
"""``rated_mean`` is of ratings alone, ``mean`` also of predictions, which count ``weight``;
``effective_clusters`` are the contexts, or texts, that ratings are worth; ``correction`` is
``mean`` less the mean prediction of all texts of the system; the ranks are those that the tests of
all pairs leave open, 1 for the greatest mean."""
PLAN_COLUMNS = [
    f"{unit}_needed{end}" for unit in ("texts", "contexts") for end in ("", "_low", "_high")
]
"""The columns of a plan: the texts and contexts of
`refless.statistics.variance_components.MeanPlan` with the ends of their ranges. A number is inf
where no number is enough."""


@dataclass(frozen=True, kw_only=True)
class MeanOptions:
    """What means are asked for.

    plan : width of an interval, for `PLAN_COLUMNS`
    these_outputs : the means are those of these texts, of which the rated ones are a random sample;
        else of more texts of the kind
    all_pairs : make pairs and ranks of more than `MOST_GROUPS` systems, too
    one_context : all ratings are of one context of several, which says nothing of the others: no
        mean of more texts has an interval
    seed : of the ranges of a plan
    """

    plan: float | None = None
    these_outputs: bool = False
    all_pairs: bool = False
    one_context: bool = False
    seed: int = 0


def mean_tables(
    rated: pd.DataFrame, unrated: pd.DataFrame, options: MeanOptions
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`MEAN_COLUMNS` of each system and of `ALL`, and `group_pairs` of the systems. The mean of all
    texts is that of the systems, each by its number of texts, where each has two ratings or more
    (post-stratification); else systems count as they were rated.

    rated, unrated : ``predicted``, ``group``, ``cluster`` and, equal for equal texts,
        ``text_number``, int64; rated also ``quality``; with an index of their own each
    """
    parts = _parts(rated, unrated)
    systems = [name for name in parts if name != ALL]
    of_ratings = {}
    means = {}
    for name, (some, others) in parts.items():
        if len(some):
            blind = some.assign(predicted=0.0)
            rest = others.assign(predicted=0.0)
            of_ratings[name] = _powered(blind, rest, options)
            means[name] = _powered(some, others, options)
    rows: dict[str, Mean] = dict(means)
    alone: dict[str, Mean] = dict(of_ratings)
    stratified = bool(systems) and min(len(parts[name][0]) for name in systems) >= 2
    if stratified:
        texts = {name: sum(map(len, parts[name])) for name in systems}
        rows[ALL] = mean_of_systems({name: means[name] for name in systems}, texts)
        alone[ALL] = mean_of_systems({name: of_ratings[name] for name in systems}, texts)
        if options.one_context:
            rows[ALL] = replace(rows[ALL], effective=1.0)
            alone[ALL] = replace(alone[ALL], effective=1.0)
    cells = []
    for name, (some, others) in parts.items():
        row: dict[str, Any] = {"system": name, "rated": len(some), "unrated": len(others)}
        if name in rows:
            row |= _cells(rows[name], alone[name])
            predicted = pd.concat([some["predicted"], others["predicted"]])
            row["correction"] = rows[name].value - float(predicted.mean())
            if options.plan and rows[name].has_interval:
                centred = _within_systems(some) if stratified and name == ALL else some
                row |= _plan_cells(centred, others, options)
        cells.append(row)
    asked = options.all_pairs or len(systems) <= MOST_GROUPS
    pairs = group_pairs({name: means[name] for name in systems if name in means} if asked else {})
    columns = [*MEAN_COLUMNS, *(PLAN_COLUMNS if options.plan else [])]
    return with_ranks(pd.DataFrame(cells, columns=columns), pairs), pairs


def _parts(
    rated: pd.DataFrame, unrated: pd.DataFrame
) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """The rated and the other texts of `ALL`, and of each system if there are several."""
    of_rated = {str(name): rows for name, rows in rated.groupby("group", sort=False)}
    of_unrated = {str(name): rows for name, rows in unrated.groupby("group", sort=False)}
    parts = {ALL: (rated, unrated)}
    systems = sorted({*of_rated, *of_unrated})
    for name in systems if len(systems) > 1 else []:
        parts[name] = of_rated.get(name, rated[:0]), of_unrated.get(name, unrated[:0])
    return parts


def _powered(rated: pd.DataFrame, unrated: pd.DataFrame, options: MeanOptions) -> PoweredMean:
    cluster = np.concatenate([part["cluster"] for part in (rated, unrated)])
    text = np.concatenate([part["text_number"] for part in (rated, unrated)])
    quality = rated["quality"].to_numpy(float)
    predicted = rated["predicted"].to_numpy(float)
    others = unrated["predicted"].to_numpy(float)
    numbers = rated.index.to_numpy() if options.these_outputs else None
    mean = powered_mean(quality, predicted, others, cluster, text, numbers)
    return replace(mean, effective=1.0) if options.one_context else mean


def _cells(mean: Mean, of_ratings: Mean) -> dict[str, float]:
    """The numbers of a row."""
    cells: dict[str, float] = {"effective_clusters": mean.effective, "weight": mean.weight}
    for name, error, one in (
        ("rated_mean", "rated_standard_error", of_ratings),
        ("mean", "standard_error", mean),
    ):
        cells |= Measure(name).cells(IntervalEstimate(one.value, *one.interval))
        cells[error] = one.error if one.has_interval else float("nan")
    return cells


def _within_systems(rated: pd.DataFrame) -> pd.DataFrame:
    """Ratings and predictions less the means of their systems, which are no error of a mean in
    which systems count by their texts; spread so that the variance is that within systems."""
    columns = ["quality", "predicted"]
    means = rated.groupby("group")[columns].transform("mean")
    freedom = len(rated) - rated["group"].nunique()
    scale = ((len(rated) - 1) / freedom) ** 0.5
    return rated.assign(**{name: scale * (rated[name] - means[name]) for name in columns})


def _plan_cells(
    rated: pd.DataFrame, unrated: pd.DataFrame, options: MeanOptions
) -> dict[str, float]:
    """`PLAN_COLUMNS` of a mean; clusters are its contexts."""
    quality = rated["quality"].to_numpy(float)
    predicted = rated["predicted"].to_numpy(float)
    context = rated["cluster"].to_numpy()
    every = np.concatenate([context, unrated["cluster"]])
    plan = plan_mean(
        VarianceComponents.of(quality, context),
        residual_components(quality, predicted, context),
        np.unique(every, return_counts=True)[1],
        options.plan or 0.0,
        options.these_outputs,
        seed=options.seed,
    )
    # more contexts make no mean of these outputs more certain
    needed = plan.texts if options.these_outputs else [*plan.texts, *plan.contexts]
    return dict(zip(PLAN_COLUMNS, needed, strict=False))


def plan_of(row: Mapping[str, float]) -> MeanPlan:
    """The plan of a row with `PLAN_COLUMNS`.

    >>> numbers = [74.0, 64.0, 92.0, 12.0, 9.0, 16.0]
    >>> plan_of(dict(zip(PLAN_COLUMNS, numbers, strict=True))).texts
    Needed(number=74.0, low=64.0, high=92.0)
    """
    numbers = [float(row[name]) for name in PLAN_COLUMNS]
    return MeanPlan(Needed(*numbers[:3]), Needed(*numbers[3:]))
