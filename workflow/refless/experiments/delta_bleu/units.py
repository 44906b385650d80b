"""Table 2 and figure 2 of the ΔBLEU paper: units of contexts, and rank correlations over them.

Stage: cell. In: rated responses, and statistics of each. Out: how well differences of metrics'
scores follow differences between human ratings, with intervals over contexts. An observation is a
unit of M contexts and a pair of systems; contexts are assigned to units at random, anew for each
pair, and rank correlations are averaged over assignments, which all metrics share.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from refless.compute.compiled import compiled
from refless.data.ratings import separate_items
from refless.data.task import Task
from refless.errors import SettingError
from refless.experiments.delta_bleu.dialogues import (
    ALL,
    GOOD,
    HIGH,
    METRICS,
    SINGLE,
    Counted,
    Variant,
    read_dialogues,
)
from refless.models.delta_bleu import RULES, scores
from refless.statistics import IntervalEstimate, contexts_if_enough, spearman_rows
from refless.statistics.bootstrap import ENOUGH_UNITS
from refless.statistics.measure import Measure
from refless.statistics.ranks import kendall_rows
from refless.steps import stepwise
from refless.store import sealed
from refless.store.records import Destination

Array = np.ndarray
_log = logging.getLogger(__name__)

REFERENCES = (SINGLE, HIGH, "w>=0.4", "w>=0.2", ALL)
"""Those of the table. The paper's are the first two and the last."""
WEIGHT_THRESHOLDS = (1, 0.8, 0.6, 0.4, 0.2, 0, -0.2, -0.4, -0.6, -0.8, -1)
"""Least weights of a reference, panel A of figure 2."""
ORDERS = (1, 2, 3, 4)
"""Highest orders of n-grams, panel C."""
MOST_OBSERVATIONS = 4_000_000
"""All assignments together have so many observations at most. Small units make so many each time
that fewer assignments say as much."""
_UNITS_AT_ONCE = 1 << 13
"""Units that are scored together: arrays of so many stay in a core's cache."""
_DIGITS = 12
"""Differences are rounded to so many digits where it matters whether two are equal."""
UNIT_COLUMNS = [
    "panel",
    "metric",
    "references",
    "contexts",
    "tokens",
    "rule",
    "order",
    "unit",
    *Measure("spearman").interval,
    *Measure("kendall").interval,
    "references_per_context",
    "without_good_reference",
    "n",
    Measure("spearman").draws,
]
Point = tuple[str, int, Variant]
"""A point of figure 2, or a row of table 2: its panel, for a row ``table``; the number of contexts
in a unit; and the variant."""


def table_variants() -> list[Variant]:
    """Return the variants of table 2, in the order of its rows."""
    variants = []
    for tokens, metric, references in product(("words", "blanks"), METRICS, REFERENCES):
        variants.append(Variant(metric, references, tokens=tokens))
    for rule in RULES:
        if rule != "smooth":
            variants.append(Variant("delta_bleu", rule=rule))
    for references in REFERENCES[1:-1]:
        variants.append(Variant("delta_bleu", references, GOOD))
        variants.append(Variant("bleu", references, GOOD))
    return variants


def figure_points(settings: Mapping[str, Any]) -> list[Point]:
    """Return the points of figure 2.

    Over units and orders each metric has the references of w >= 0.6, with which the paper reports
    BLEU and sBLEU best, and ΔBLEU all references as well, with which it reports that best.

    settings : ``contexts_per_unit``, which panels A and C have, and ``figure_unit_sizes``
    """
    contexts_per_unit = settings["contexts_per_unit"]
    best = [Variant(metric, HIGH) for metric in METRICS]
    best.append(Variant("delta_bleu", ALL))
    points: list[Point] = []
    for least, metric in product(WEIGHT_THRESHOLDS, METRICS):
        points.append(("threshold", contexts_per_unit, Variant(metric, f"w>={least:g}")))
    for size, variant in product(settings["figure_unit_sizes"], best):
        points.append(("unit", size, variant))
    for order, variant in product(ORDERS, best):
        points.append(("order", contexts_per_unit, replace(variant, order=order)))
    return points


def write_units(path: Destination, dataset: Task, settings: Mapping[str, Any]) -> None:
    """Compute and write what table 2 and figure 2 show of a data set.

    dataset : its texts have the column ``context_id``
    settings : those of the experiment and of the data set
    Raises FormatError: see `read_dialogues`. Raises SettingError: fewer contexts than a unit has.
    """
    # a system's outputs are its own, also where another says the same
    dialogues = read_dialogues(separate_items(dataset.texts, dataset.ratings))
    sealed.write(path, unit_rows(Counted(dialogues, max(Variant.order, *ORDERS)), settings))


def unit_rows(counted: Counted, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of the table, with intervals, and after them the points of the figure, as
    `UNIT_COLUMNS`.

    settings : those of the experiment and of the data set
    """
    table = table_variants()
    points: list[Point] = [("table", settings["contexts_per_unit"], variant) for variant in table]
    points += figure_points(settings)
    values, tau = _correlations(counted, points, settings)
    rows: list[dict[str, Any]] = []
    for panel, size, variant in points:
        rows.append({"panel": panel, **asdict(variant), "unit": size, **values[size, variant]})
    _log.info("draws of contexts for the intervals: %d", settings["draws"])
    rho_draws, tau_draws = _correlation_draws(counted, table, settings)
    for k, variant in enumerate(table):  # whose rows come first
        row = rows[k]
        row |= Measure("spearman").cells(IntervalEstimate.of(row["spearman"], rho_draws[k]))
        row |= Measure("kendall").cells(IntervalEstimate.of(tau[k], tau_draws[k]))
        references, without_good = counted.reference_counts(variant)
        row["references_per_context"] = references
        row["without_good_reference"] = without_good
    return pd.DataFrame(rows)[UNIT_COLUMNS]


def _correlations(
    counted: Counted, points: Sequence[Point], settings: Mapping[str, Any]
) -> tuple[dict[tuple[int, Variant], dict[str, Any]], Array]:
    """Return Spearman's rho and the number of observations of each unit and variant, and Kendall's
    tau of the table's rows, (rows,): means over assignments of all contexts to units.

    points : those of the table come first
    """
    seed = settings["seed"]
    contexts = np.arange(len(counted.dialogues.output), dtype=np.int32)
    table_rows = sum(panel == "table" for panel, _, _ in points)
    values: dict[tuple[int, Variant], dict[str, Any]] = {}
    sizes = list(dict.fromkeys(size for _, size, _ in points))
    for size in stepwise("contexts in a unit", sizes):
        variants = list(dict.fromkeys(variant for _, unit, variant in points if unit == size))
        n_observations = len(contexts) // size * len(counted.dialogues.pairs)
        assignments = min(settings["assignments"], MOST_OBSERVATIONS // max(n_observations, 1))
        contexts_of = np.tile(contexts, (max(assignments, 1), 1))
        score_gaps, rating_gaps = observations(counted, variants, contexts_of, size, seed)
        rhos = _mean(spearman_rows(score_gaps, rating_gaps))
        for variant, rho in zip(variants, rhos, strict=True):
            values[size, variant] = {"spearman": rho, "n": n_observations}
        if size == settings["contexts_per_unit"]:
            tau = _mean(kendall_rows(score_gaps[:table_rows], rating_gaps))
    return values, tau


def _correlation_draws(
    counted: Counted, table: Sequence[Variant], settings: Mapping[str, Any]
) -> tuple[Array, Array]:
    """Return Spearman's rho and Kendall's tau of each variant of the table on each draw of
    contexts, (variants, draws) each; each is a mean over a draw's assignments."""
    times = settings["assignments_per_draw"]
    seed = settings["seed"]
    contexts_of = resampled_contexts(counted.dialogues.context, settings["draws"], times, seed)
    gaps = observations(counted, table, contexts_of, settings["contexts_per_unit"], seed)
    rho = spearman_rows(*gaps).reshape(len(table), -1, times)
    tau = kendall_rows(*gaps).reshape(len(table), -1, times)
    return _mean(rho), _mean(tau)


def resampled_contexts(context: Array, draws: int, assignments_per_draw: int, seed: int) -> Array:
    """Return numbers of contexts drawn with replacement, int32 (assignments, contexts); each draw
    comes ``assignments_per_draw`` times in succession.

    context : int64 (contexts,), the same number for contexts of the same wording

    Contexts of the same wording are a cluster and drawn together where there are `ENOUGH_UNITS`
    clusters; else each context is one. A draw has as many contexts as there are: some of its last
    cluster may be left over.
    """
    n = len(context)
    cluster = contexts_if_enough(context, ENOUGH_UNITS)
    if cluster is None:
        cluster = np.arange(n)
    _, cluster, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    in_order = np.argsort(cluster, kind="stable").astype(np.int32)
    clusters = np.split(in_order, np.cumsum(sizes)[:-1])
    # as many as there are contexts are always enough
    samples = np.random.default_rng(seed).choice(len(clusters), (draws, n))
    resampled = []
    for sample in samples:
        contexts = np.concatenate([clusters[k] for k in sample])
        resampled.append(contexts[:n])
    return np.repeat(resampled, assignments_per_draw, axis=0)


def observations(
    counted: Counted,
    variants: Sequence[Variant],
    contexts_of: Array,
    contexts_per_unit: int,
    seed: int,
) -> tuple[Array, Array]:
    """Return differences of scores and of mean ratings for every assignment. Which system of a
    pair a difference starts from is drawn for each unit.

    contexts_of : int32 (assignments, contexts), what an assignment divides into units of
        ``contexts_per_unit`` (the paper's M); those that do not fill a unit are left over
    seed : how contexts are dealt depends on it, on the pair and on the place among the assignments
        alone; where a difference starts, also on their number
    Returns the differences of scores, float64 (variants, assignments, observations), and those of
        mean ratings, float64 (assignments, observations)
    Raises SettingError: fewer contexts than a unit has; as `unit_sums`.
    """
    dialogues = counted.dialogues
    n_units = contexts_of.shape[1] // contexts_per_unit
    if n_units == 0:
        raise SettingError(
            f"a unit of {contexts_per_unit} contexts is larger than all {contexts_of.shape[1]} that"
            " everybody answered",
            remedy="give contexts_per_unit and figure_unit_sizes of delta_bleu, in the experiments"
            f" of this data set, no number above {contexts_of.shape[1]}",
        )
    score_gaps = np.empty((len(variants), len(contexts_of), len(dialogues.pairs) * n_units))
    rating_gaps = np.empty(score_gaps.shape[1:])
    for number, (a, b) in enumerate(dialogues.pairs):
        generator = np.random.default_rng([seed, number])
        permuted = generator.permuted(contexts_of, axis=1)[:, : n_units * contexts_per_unit]
        units = permuted.reshape(len(contexts_of), n_units, contexts_per_unit)
        sign = generator.choice(np.array([-1.0, 1.0]), (len(contexts_of), n_units))
        of_this_pair = slice(number * n_units, (number + 1) * n_units)
        # what is equal stays equal, whatever the last bits of its sums are
        rated = unit_sums(dialogues.quality[dialogues.output[:, [a, b]]], units)
        rated_apart = sign * (rated[0] - rated[1]) / contexts_per_unit
        rating_gaps[:, of_this_pair] = np.round(rated_apart, _DIGITS)
        for part, k, scored_apart in _score_gaps(counted, variants, (a, b), units):
            score_gaps[k, part, of_this_pair] = np.round(sign[part] * scored_apart, _DIGITS)
    return score_gaps, rating_gaps


def _score_gaps(
    counted: Counted, variants: Sequence[Variant], pair: tuple[int, int], units: Array
) -> Iterator[tuple[slice, int, Array]]:
    """Yield the scores of the first system of a pair less those of the second, in blocks: the
    block's assignments, the number of a variant, and its differences, (assignments, units).

    units : int32 (assignments, units, M), the contexts of each unit
    """
    a, b = pair
    first_columns, first_places = _columns(counted, variants, (a, b))
    second_columns, second_places = _columns(counted, variants, (b, a))
    step = max(1, _UNITS_AT_ONCE // units.shape[1])
    for start in range(0, len(units), step):
        part = slice(start, start + step)
        first_sums = unit_sums(first_columns, units[part])
        second_sums = unit_sums(second_columns, units[part])
        for k, variant in enumerate(variants):
            first = _scores(first_sums[first_places[k]], variant)
            second = _scores(second_sums[second_places[k]], variant)
            yield part, k, first - second


def _columns(
    counted: Counted, variants: Sequence[Variant], pair: tuple[int, int]
) -> tuple[Array, list[list[int]]]:
    """Return what makes up the scores of the first system of a pair, which are against references
    of neither of the two.

    Returns columns of `Counted.rows`, (contexts, columns), those that several metrics share once;
        and for each variant the numbers of its columns: matches and totals by order, length,
        closest; of sBLEU the smoothed score
    """
    orders = counted.max_order
    number_of: dict[bytes, int] = {}
    places = []
    for variant in variants:
        n = variant.order
        wanted = [*range(n), *range(orders, orders + n), 2 * orders, 2 * orders + 1]
        if variant.metric == "sbleu":
            wanted = [2 * orders + 1 + n]
        columns = np.ascontiguousarray(counted.rows(variant)[pair].T[wanted])
        keys = [column.tobytes() for column in columns]
        places.append([number_of.setdefault(key, len(number_of)) for key in keys])
    return np.stack([np.frombuffer(key) for key in number_of], axis=1), places


def unit_sums(columns: Array, units: Array) -> Array:
    """Return the sums of columns over units, float64 (columns, assignments, units).

    columns : float64 (contexts, columns)
    units : int32 (assignments, units, M), the contexts of each unit
    Raises SettingError: a unit names a context that there is not.
    """
    if units.min(initial=0) < 0 or units.max(initial=-1) >= len(columns):
        raise SettingError(f"units name other contexts than the {len(columns)} that there are")
    out = np.empty((columns.shape[1], *units.shape[:2]))
    _add_up(np.ascontiguousarray(columns), units, out)
    return out


@compiled("void(float64[:, ::1], int32[:, :, :], float64[:, :, ::1])")
def _add_up(columns: Array, units: Array, out: Array) -> None:
    """Put into ``out`` what `unit_sums` returns."""
    total = np.empty(columns.shape[1])
    for a in range(units.shape[0]):
        for u in range(units.shape[1]):
            total[:] = 0
            for context in units[a, u]:
                for c in range(len(total)):
                    total[c] += columns[context, c]
            out[:, a, u] = total


def _scores(total: Array, variant: Variant) -> Array:
    """Return a variant's scores, (assignments, units), those of sBLEU as sums over sentences.

    total : sums of the variant's columns (see `_columns`), (columns, assignments, units)
    """
    if variant.metric == "sbleu":
        return np.asarray(total[0])
    return scores(np.moveaxis(total, 0, -1), variant.rule)


def _mean(values: Array) -> Array:
    """Return the means over the last axis, of those values that are defined; NaN where none is."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(values, axis=-1) / defined.sum(axis=-1))
