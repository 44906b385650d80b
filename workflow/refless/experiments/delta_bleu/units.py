"""Table 2 and figure 2 of the ΔBLEU paper: units of contexts, and rank correlations over them.

Stage: cell. In: rated responses, and statistics of each (by
`refless.experiments.delta_bleu.dialogues`). Out: how well differences of metrics' scores follow
differences between human ratings, with intervals, and tests of metrics against each other; two
signed files.

An observation is a unit of M contexts and a pair of systems: the difference of the two systems'
scores on these contexts, and the difference of their mean ratings. Contexts are assigned to units
at random, anew for each pair, and rank correlations are averaged over assignments, which all
metrics share.

So 36 pairs of 9 systems make hundreds of observations, but no more than 9 systems. Of a correlation
over all of them,

- ``_systems_low`` and ``_high`` are a 95% interval with systems and contexts drawn anew: what is
  asked is whether the metric would do as well on other systems. Each draw has as many systems, with
  replacement; a pair of two different ones counts as often as its two were drawn together, and a
  system drawn twice makes no pair with itself. References stay those of all systems;
- ``_low`` and ``_high`` are one over contexts, the systems staying. In both, contexts of one
  wording are drawn together;
- ``_ci95_low`` and ``_high``, the paper's form, take observations for independent;
- ``_within_pairs`` is without the mean of each pair, on both sides: whether the metric tells on
  which contexts a system is ahead by more;
- ``_without_one_low`` and ``_high`` are the extremes with one system left out, for the rows of the
  paper's table.

Pairwise accuracy is the share of pairs, all contexts together, of which a metric says as the
ratings do which system is ahead; two that are level are right only where both say so (Deutsch et
al. 2023).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.data.ratings import separate_items
from refless.data.task import Task
from refless.errors import SettingError
from refless.experiments.delta_bleu.dialogues import (
    ALL,
    CONTROL,
    HIGH,
    IGNORED,
    METRICS,
    SINGLE,
    Cell,
    Counted,
    narrowest,
    read_dialogues,
)
from refless.models.delta_bleu import scores_by_order
from refless.statistics import (
    ENOUGH_UNITS,
    bootstrap_p_value,
    fisher_interval,
    holm_by,
    interval,
    kendall_rows,
    least_detectable,
    needed,
    ordered,
    spearman_rows,
    williams,
)
from refless.store import signed
from refless.store.signatures import sign, text_sum

log = logging.getLogger(__name__)

Array = np.ndarray

RULES = ("smooth", "zero", "floor", "signed")
REFERENCES = (SINGLE, HIGH, "w>=0.4", "w>=0.2", ALL)
"""Those of the table. The paper's are the first two and the last; the others are where metrics do
best, chosen with a look at the results."""
MOST_OBSERVATIONS = 4_000_000
"""Of a point of the figure over all assignments: small units make so many observations each time
that fewer assignments say as much."""
BLOCK = 1 << 13
"""Units that are scored together: arrays of so many stay in a core's cache."""
DIGITS = 12
"""To which differences are rounded where it matters whether two are equal."""
CELL_KEYS = [field.name for field in fields(Cell)]
NUMBER_COLUMNS = [
    *("kind", *CELL_KEYS, "references_per_context", "fallback_share", "unit", "spearman", "n"),
    *("systems", "pairs", "contexts", "assignments"),
]
TEST_COLUMNS = [
    *("metric_a", "references_a", "rule_a", "centre_a", "gold_a", "lacking_a"),
    *("metric_b", "references_b", "tokens"),
    *("spearman_a", "spearman_b", "spearman_ab", "difference"),
    *("difference_systems_low", "difference_systems_high", "p_systems", "p_holm"),
    *("least_detectable", "systems", "systems_needed"),
    *("difference_low", "difference_high", "p_bootstrap", "williams_t", "p_williams", "n"),
]


def plain_pool(contexts: Array, assignments: int) -> Array:
    """The same contexts for every assignment, int32 (assignments, contexts)."""
    return np.broadcast_to(contexts.astype(np.int32), (assignments, len(contexts)))


def bootstrap_pool(contexts: Array, wording: Array, draws: int, times: int, seed: int) -> Array:
    """Contexts drawn with replacement, each draw ``times`` in succession.

    Those of one ``wording``, shape (contexts,), are drawn together where there are `ENOUGH_UNITS`
    wordings, until there are as many contexts as before: an assignment deals out that many. Of the
    last wording, some may be left over.
    """
    n = len(contexts)
    if len(np.unique(wording)) < ENOUGH_UNITS:
        wording = np.arange(n)
    _, own, sizes = np.unique(wording, return_inverse=True, return_counts=True)
    order, start = np.argsort(own, kind="stable"), np.cumsum(sizes) - sizes
    again = []
    # as many as there are contexts are always enough
    for drawn in np.random.default_rng(seed).choice(len(sizes), (draws, n)):
        size = sizes[drawn]
        first = np.repeat(start[drawn] - (np.cumsum(size) - size), size)[:n]
        again.append(contexts[order[first + np.arange(n)]].astype(np.int32))
    return np.repeat(again, times, axis=0)


class Deal(NamedTuple):
    """Contexts in the order in which a pair's assignments take them, and the generator's state
    after dealing, from which signs are drawn."""

    contexts: Array
    state: Mapping[str, Any]


class Observations(NamedTuple):
    """What correlations are taken of.

    m : float64 (cells, assignments, observations), differences of scores
    q : float64 (assignments, observations), differences of mean ratings
    sign : float64 (assignments, observations), -1 where the second system of the pair comes first
    negative : float64 (cells,), share of the scores with a numerator that is not positive
    """

    m: Array
    q: Array
    sign: Array
    negative: Array

    def in_fixed_order(self, cells: int) -> Observations:
        """The same of the first so many cells, with the first system of each pair first."""
        once = np.ones(self.q.shape)
        return Observations(
            self.m[:cells] * self.sign, self.q * self.sign, once, self.negative[:cells]
        )


def observations(
    counted: Counted,
    cells: Sequence[Cell],
    pool: Array,
    unit: int,
    seed: int,
    threads: int = 1,
    deals: dict[int, Deal] | None = None,
) -> Observations:
    """Differences of scores and of ratings for every assignment.

    Parameters
    ----------
    pool : int32 (assignments, contexts), what an assignment deals out to units; contexts that do
        not fill a unit are left over
    unit : M, contexts in a unit
    seed : an assignment hangs on it, on the pair and on its place among the assignments, and on
        nothing else
    deals : of this pool and seed, by pair: kept for the next call, which need not deal again

    Raises
    ------
    SettingError : fewer contexts than a unit has.
    """
    from refless.experiments.delta_bleu.sum_units import sum_units  # compiled

    own = counted.dialogues
    n_units = pool.shape[1] // unit
    if n_units == 0:
        raise SettingError(
            f"a unit of {unit} contexts is larger than all {pool.shape[1]} that every system and"
            f" every human answered, all of them rated{narrowest(own.without)}",
            remedy="give unit and units of delta_bleu, in the experiments of this data set, no"
            f" number above {pool.shape[1]}, or leave out who answered others",
        )
    quality = own.quality[own.output].T  # systems, contexts
    m = np.empty((len(cells), len(pool), len(own.pairs) * n_units))
    q, signs = np.empty(m.shape[1:]), np.empty(m.shape[1:])
    negative = np.empty((len(cells), len(own.pairs)))
    for cell in cells:  # in this thread, so that no two make the same statistics
        counted.rows(cell)

    def one(number: int) -> None:
        a, b = own.pairs[number]
        generator = np.random.default_rng([seed, number])
        known = None if deals is None else deals.get(number)
        if known is None:
            known = Deal(generator.permuted(pool, axis=1), generator.bit_generator.state)
            if deals is not None:
                deals[number] = known
        generator.bit_generator.state = known.state
        dealt = known.contexts[:, : n_units * unit]
        units = np.ascontiguousarray(dealt).reshape(len(pool), n_units, unit)
        sign = generator.choice(np.array([-1.0, 1.0]), (len(pool), n_units))
        place = slice(number * n_units, (number + 1) * n_units)
        signs[:, place] = sign
        rated = sum_units(quality[[a, b]], units)
        # equal means stay equal, whatever the last bits of their sums are
        q[:, place] = np.round(sign * (rated[0] - rated[1]) / unit, DIGITS)
        sides = [_side(counted, cells, pair) for pair in ((a, b), (b, a))]
        found = np.zeros(len(cells), np.int64)
        step = max(1, BLOCK // n_units)
        for start in range(0, len(pool), step):
            part = slice(start, start + step)
            sums = [(sum_units(columns, units[part]), places) for columns, places in sides]
            for k, cell in enumerate(cells):
                totals = [total[places[k]] for total, places in sums]
                first, second = (_scored(total, cell) for total in totals)
                m[k, part, place] = np.round(sign[part] * (first - second), DIGITS)
                found[k] += sum((t[: cell.order] <= 0).any(axis=0).sum() for t in totals)
        negative[:, number] = found / (2 * sign.size)

    if threads > 1:
        with ThreadPoolExecutor(threads) as workers:
            list(workers.map(one, range(len(own.pairs))))
    else:
        for number in range(len(own.pairs)):
            one(number)
    return Observations(m, q, signs, negative.mean(axis=1))


def _side(
    counted: Counted, cells: Sequence[Cell], pair: tuple[int, int]
) -> tuple[Array, list[list[int]]]:
    """The columns that make up the cells' scores, of the first system of a pair.

    Returns
    -------
    columns : (columns, contexts), those that are the same once: most metrics share lengths
    places : of each cell, the numbers of its columns: matches by order, then the smoothed score of
        sBLEU, or totals by order, length, closest
    """
    orders = counted.max_order
    known: dict[bytes, int] = {}
    columns: list[Array] = []
    places = []
    for cell in cells:
        n = cell.order
        wanted = [*range(orders, orders + n), 2 * orders, 2 * orders + 1]
        if cell.metric == "sbleu":
            wanted = [2 * orders + 1 + n]
        own = []
        for column in counted.rows(cell)[pair].T[[*range(n), *wanted]]:
            own.append(known.setdefault(column.tobytes(), len(columns)))
            if own[-1] == len(columns):
                columns.append(column)
        places.append(own)
    return np.array(columns), places


def _scored(total: Array, cell: Cell) -> Array:
    """Scores from sums of a cell's columns (see `_side`), shape (columns, ...)."""
    if cell.metric == "sbleu":
        return total[-1]
    n = cell.order
    return scores_by_order(total[:n], total[n : 2 * n], total[-2], total[-1], cell.rule)


def system_weights(own: Counted, draws: int, seed: int) -> Array:
    """How often each pair of systems counts when systems are drawn anew, (draws, pairs)."""
    n = len(own.dialogues.systems)
    generator = np.random.default_rng([seed, 0, n])  # another stream than that of any pair
    drawn = generator.multinomial(n, np.full(n, 1 / n), draws)
    a, b = np.array(own.dialogues.pairs).T
    return np.asarray(drawn[:, a] * drawn[:, b])


def correlations(
    m: Array, q: Array, weights: Sequence[Array | None] = (None,), threads: int = 1
) -> tuple[Array, Array]:
    """Spearman's rho and Kendall's tau-b of each cell and assignment.

    Parameters
    ----------
    weights : each (observations,) or (assignments, observations), or None; see `spearman_rows`

    Returns
    -------
    rho : (cells, weights, assignments)
    tau : (cells, assignments), all observations counting once
    """
    truth = ordered(q)

    def one(own: Array) -> tuple[list[Array], Array]:
        x = ordered(own)
        return [spearman_rows(x, truth, given) for given in weights], kendall_rows(x, truth)

    with ThreadPoolExecutor(threads) as workers:
        found = list(workers.map(one, m))
    return np.array([rho for rho, _ in found]), np.array([tau for _, tau in found])


def spearman_all(m: Array, q: Array, threads: int = 1) -> Array:
    """Spearman's rho of each cell and assignment: (cells, assignments)."""
    truth = ordered(q)
    with ThreadPoolExecutor(threads) as workers:
        return np.stack(list(workers.map(lambda own: spearman_rows(ordered(own), truth), m)))


def without_pair_means(values: Array, pairs: int) -> Array:
    """Differences in the fixed order of the systems (..., observations), less each pair's mean.

    Rounded, so that what is equal stays so.
    """
    shaped = values.reshape(*values.shape[:-1], pairs, -1)
    apart = shaped - shaped.mean(axis=-1, keepdims=True)
    return np.round(apart, DIGITS).reshape(values.shape)


def accuracy(m: Array, q: Array, weights: Array | None = None) -> Array:
    """Share of pairs of which metric and ratings say the same, of observations that are one unit
    a pair: (cells, assignments).

    ``weights`` : how often each pair counts, (assignments, pairs)
    """
    same = np.sign(np.round(m, DIGITS)) == np.sign(np.round(q, DIGITS))
    counted = np.ones(q.shape) if weights is None else weights
    with np.errstate(invalid="ignore"):  # a draw of one system, again and again
        return np.asarray((same * counted).sum(axis=-1) / counted.sum(axis=-1))


def _means(rows: Array, times: int = 1) -> Array:
    """Means over assignments, ``times`` in succession: (cells, assignments / times)."""
    grouped = rows.reshape(len(rows), -1, times)
    known = (~np.isnan(grouped)).sum(axis=2)
    with np.errstate(invalid="ignore"):
        return np.where(known > 0, np.nansum(grouped, axis=2) / known, np.nan)


# ---- the numbers ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """What is tried, and how much is drawn.

    gold : whether unrated gold references are tried as well
    unit : M of the table and of the figure's other panels
    assignments : of contexts to units, for the table; ``figure_assignments`` for the figure, fewer
        where they would make more than `MOST_OBSERVATIONS`
    draws, times : bootstrap samples of contexts, and assignments of each; ``figure_draws`` for the
        figure
    seeds : the first is that of the table; the means under all of them show how stable they are
    thresholds, units, orders : the figure's panels
    """

    gold: bool
    unit: int
    assignments: int
    figure_assignments: int
    draws: int
    figure_draws: int
    times: int
    seeds: Sequence[int]
    thresholds: Sequence[float]
    units: Sequence[int]
    orders: Sequence[int]


def write_units(
    path: str | Path,
    tests_path: str | Path,
    task: Task,
    gold: pd.DataFrame | None,
    settings: Mapping[str, Any],
    threads: int = 1,
) -> None:
    """Compute and write what table 2 and figure 2 show of a data set, and the tests.

    Parameters
    ----------
    task : its texts have the column ``context_id``
    gold : unrated references, columns ``context_id`` and ``text``
    settings : `Settings`, as the readers will ask for them

    Raises
    ------
    FormatError : see `read_dialogues`.
    SettingError : fewer contexts than a unit has.
    """
    # a system's outputs are its own, also where another says the same
    dialogues = read_dialogues(separate_items(task.texts, task.ratings), gold)
    counted = Counted(dialogues, Cell("bleu").order)
    asked = Settings(**settings)
    begin = time.perf_counter()
    table, tests = table_numbers(counted, asked, threads)
    log.info("table: %d rows in %.1f s", len(table), time.perf_counter() - begin)
    begin = time.perf_counter()
    figure = figure_numbers(counted, asked, threads)
    log.info("figure: %d points in %.1f s", len(figure), time.perf_counter() - begin)
    numbers = pd.concat([table, figure], ignore_index=True)
    first = [*NUMBER_COLUMNS, *(c for c in numbers.columns if c not in NUMBER_COLUMNS)]
    about: dict[str, Any] = {
        "of": {"task": task.name},
        "provenance": task.provenance,
        "settings": dict(settings),
        "made_from": task.rated_sums,
        "signatures": [
            sign(["experiments/delta_bleu/units.py"], text_sum([task.text_sum, *dialogues.texts]))
        ],
        "facts": {"humans": dialogues.human.shape[1]},
    }
    signed.write(path, numbers[first], {"kind": "units", **about})
    # the tests are of these units: one file from another run beside them is refused
    about["made_from"] = {
        **about["made_from"],
        "units": signed.identity(signed.record_of(path)),
    }
    signed.write(tests_path, tests[TEST_COLUMNS], {"kind": "unit tests", **about})


def main_cells() -> list[Cell]:
    """The paper's table, with more thresholds: each metric with each set of references."""
    return [Cell(metric, references) for metric in METRICS for references in REFERENCES]


def variant_cells(gold: bool) -> list[Cell]:
    """What the choices do: rules by weights for ΔBLEU, and single changes."""
    cells = [
        Cell("delta_bleu", rule=rule, centre=centre, gold=added)
        for added in ((False, True) if gold else (False,))
        for centre in ("scale", "mean")
        for rule in RULES
    ]
    cells += [Cell("delta_bleu", rule=rule, lacking="written") for rule in RULES]
    cells += [Cell(metric, "w>=0") for metric in METRICS]
    if gold:
        cells += [Cell(metric, gold=True) for metric in ("bleu", "sbleu")]
    cells += [replace(cell, tokens="blanks") for cell in main_cells()]
    cells += [cell for pair in without_fallback() for cell in pair]
    return [cell for cell in dict.fromkeys(cells) if cell not in main_cells()]


def table_numbers(
    counted: Counted, settings: Settings, threads: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of table 2 and of the tests, as data frames."""
    main = main_cells()
    cells = [*main, *variant_cells(counted.dialogues.gold.shape[1] > 0)]
    every = np.arange(len(counted.dialogues.output))
    drawn = _drawn(counted, cells, every, settings, threads)
    rows, rho, again = _measured(counted, cells, every, drawn, settings, threads)
    stable = _seed_means(counted, main, every, rho[: len(main)], settings, threads)
    for row, means in zip(rows, stable, strict=False):
        row |= {
            "seeds": len(settings.seeds),
            "spearman_seeds_low": means.min(),
            "spearman_seeds_high": means.max(),
        }
    tests = _tests(cells, drawn.plain, again, len(counted.dialogues.systems))
    fixed = [replace(cell, first="fixed") for cell in main]
    turned = Drawn(*(own.in_fixed_order(len(main)) for own in drawn))
    rows += _measured(counted, fixed, every, turned, settings, threads)[0]
    kept = every[~counted.lacking()]
    if 0 < len(kept) < len(every) and len(kept) >= settings.unit:
        left = [replace(cell, lacking="left_out") for cell in main]
        drawn = _drawn(counted, left, kept, settings, threads)
        rows += _measured(counted, left, kept, drawn, settings, threads)[0]
    return pd.DataFrame(rows), pd.DataFrame(tests)


class Drawn(NamedTuple):
    """Observations of the contexts as they are (plain) and of contexts drawn anew (again); whole:
    all contexts as one unit."""

    plain: Observations
    again: Observations
    whole: Observations
    whole_again: Observations


def _drawn(
    counted: Counted, cells: Sequence[Cell], contexts: Array, settings: Settings, threads: int
) -> Drawn:
    seed = settings.seeds[0]
    plain = (plain_pool(contexts, settings.assignments), plain_pool(contexts, 1))
    wording = counted.dialogues.wording[contexts]
    again = (
        bootstrap_pool(contexts, wording, settings.draws, times, seed)
        for times in (settings.times, 1)
    )
    units = (settings.unit, len(contexts))
    return Drawn(
        *(
            observations(counted, cells, pool, unit, seed, threads)
            for pools, unit in zip(zip(plain, again, strict=True), units, strict=True)
            for pool in pools
        )
    )


def _measured(
    counted: Counted,
    cells: Sequence[Cell],
    contexts: Array,
    drawn: Drawn,
    settings: Settings,
    threads: int,
) -> tuple[list[dict[str, Any]], Array, Again]:
    """Rows of the table, rho of each cell and assignment, and the mean rho of each draw."""
    pairs = counted.dialogues.pairs
    n_units = drawn.plain.q.shape[1] // len(pairs)
    without = [
        np.repeat([int(system not in pair) for pair in pairs], n_units)
        for system in range(len(counted.dialogues.systems))
    ]
    rho, tau = correlations(drawn.plain.m, drawn.plain.q, threads=threads)
    # of the paper's table alone, which comes first
    first = drawn.plain.m[: len(main_cells())]
    one_less = correlations(first, drawn.plain.q, without, threads)[0]
    m, q = (
        without_pair_means(values * drawn.plain.sign, len(pairs))
        for values in (drawn.plain.m, drawn.plain.q)
    )
    within = spearman_all(m, q, threads)
    by_pair = system_weights(counted, settings.draws, settings.seeds[0])
    systems = np.repeat(np.repeat(by_pair, n_units, axis=1), settings.times, axis=0)
    rho_boot, tau_boot = correlations(drawn.again.m, drawn.again.q, [None, systems], threads)
    again = Again(*(_means(rho_boot[:, k], settings.times) for k in range(2)))
    tau_again = _means(tau_boot, settings.times)
    right = accuracy(drawn.whole.m, drawn.whole.q)
    right_again = accuracy(drawn.whole_again.m, drawn.whole_again.q, by_pair)
    rows = []
    for k, cell in enumerate(cells):
        row = _row("table", cell, settings.unit, counted, contexts, drawn.plain.q)
        for name, values, draws in (
            ("spearman", rho[k, 0], again.contexts[k]),
            ("kendall", tau[k], tau_again[k]),
        ):
            row[name] = _mean(values)
            row[f"{name}_low"], row[f"{name}_high"] = interval(draws)
            row[f"{name}_spread_low"], row[f"{name}_spread_high"] = interval(values)
        ends = fisher_interval(row["spearman"], drawn.plain.q.shape[1])
        row["spearman_ci95_low"], row["spearman_ci95_high"] = ends
        row["spearman_systems_low"], row["spearman_systems_high"] = interval(again.systems[k])
        row["spearman_within_pairs"] = _mean(within[k])
        if k < len(one_less):
            extremes = [_mean(values) for values in one_less[k]]
            row["spearman_without_one_low"] = min(extremes)
            row["spearman_without_one_high"] = max(extremes)
        row["pairwise_accuracy"] = float(right[k, 0])
        row["pairwise_accuracy_low"], row["pairwise_accuracy_high"] = interval(right_again[k])
        row["negative"] = float(drawn.plain.negative[k])
        rows.append(row)
    return rows, rho[:, 0], again


class Again(NamedTuple):
    """Mean rho of each draw, (cells, draws): contexts drawn anew, and systems and contexts."""

    contexts: Array
    systems: Array


def _row(
    kind: str, cell: Cell, unit: int, counted: Counted, contexts: Array, q: Array
) -> dict[str, Any]:
    number, fallback = counted.references(cell, contexts)
    return {
        "kind": kind,
        **asdict(cell),
        "gold": int(cell.gold),
        "references_per_context": number,
        "fallback_share": fallback,
        "unit": unit,
        "n": q.shape[1],
        "systems": len(counted.dialogues.systems),
        "pairs": len(counted.dialogues.pairs),
        "contexts": len(contexts),
        "assignments": len(q),
    }


def _mean(rho: Array) -> float:
    return float(_means(rho[None], len(rho))[0, 0])


def _seed_means(
    counted: Counted,
    cells: Sequence[Cell],
    contexts: Array,
    first: Array,
    settings: Settings,
    threads: int,
) -> Array:
    """Mean rho under every seed, (cells, seeds); ``first``: rho under the first of them."""
    pool = plain_pool(contexts, settings.assignments)
    means = [_means(first, len(pool))[:, 0]]
    for seed in settings.seeds[1:]:
        own = observations(counted, cells, pool, settings.unit, seed, threads)
        means.append(_means(spearman_all(own.m, own.q, threads), len(pool))[:, 0])
    return np.stack(means, axis=1)


def without_fallback() -> list[tuple[Cell, Cell]]:
    """Tests of metrics against each other where contexts without a good reference are ignored."""
    return [
        (Cell(a, references, lacking=IGNORED), Cell(b, references, lacking=IGNORED))
        for references in REFERENCES
        for a, b in (("delta_bleu", "bleu"), ("delta_bleu", CONTROL), (CONTROL, "bleu"))
    ]


def compared(cells: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """Which cells are tested against which.

    With every set of references all metrics against each other, however tokens are cut; ΔBLEU
    against the others with w >= 0.6, where the paper has BLEU best; whatever was chosen for ΔBLEU
    with all references against BLEU with all and with w >= 0.6; and, what worse references do, a
    metric with all of them against itself with w >= 0.6, and ΔBLEU against itself with w >= 0.
    Last come those `without_fallback`.
    """
    pairs = [
        (Cell(a, references, tokens=tokens), Cell(b, references, tokens=tokens))
        for tokens in ("words", "blanks")
        for references in REFERENCES
        for a, b in (
            ("delta_bleu", "bleu"),
            ("delta_bleu", CONTROL),
            (CONTROL, "bleu"),
            ("delta_bleu", "sbleu"),
            ("sbleu", "bleu"),
        )
    ]
    pairs += [
        (Cell("delta_bleu", references), Cell(other, HIGH))
        for references in REFERENCES
        for other in ("bleu", "sbleu")
        if references != HIGH
    ]
    pairs += [
        (cell, Cell("bleu", references))
        for cell in cells
        for references in (ALL, HIGH)
        if (cell.metric, cell.references, cell.tokens) == ("delta_bleu", ALL, "words")
        and cell != Cell("delta_bleu")
        and cell.lacking != IGNORED
    ]
    pairs += [(Cell(metric), Cell(metric, HIGH)) for metric in METRICS]
    pairs.append((Cell("delta_bleu"), Cell("delta_bleu", "w>=0")))
    return pairs + without_fallback()


def _tests(
    cells: Sequence[Cell], plain: Observations, again: Again, systems: int
) -> list[dict[str, Any]]:
    """Differences of mean rho on the same units. A family are the tests of two metrics, with each
    set of references, by themselves, without fallback, or under other choices."""
    place = {cell: k for k, cell in enumerate(cells)}
    n = plain.q.shape[1]
    truth = ordered(plain.q)
    main = main_cells()
    rows, family = [], []
    for a, b in compared(cells):
        plainly = replace(a, tokens="words")
        if ignored := a.lacking == IGNORED:
            plainly = replace(plainly, lacking=Cell.lacking)
        family.append(f"{a.metric} {b.metric} {a.tokens} {ignored} {plainly in main}")
        sides = [ordered(plain.m[place[cell]]) for cell in (a, b)]
        r_a, r_b, r_ab = (
            float(np.nanmean(spearman_rows(x, y)))
            for x, y in ((sides[0], truth), (sides[1], truth), (sides[0], sides[1]))
        )
        contexts, anew = (draws[place[a]] - draws[place[b]] for draws in again)
        low, high = interval(contexts)
        systems_low, systems_high = interval(anew)
        t, p = williams(r_a, r_b, r_ab, n)
        least = least_detectable(anew)
        rows.append(
            {
                "metric_a": a.metric,
                "references_a": a.references,
                "rule_a": a.rule,
                "centre_a": a.centre,
                "gold_a": int(a.gold),
                "lacking_a": a.lacking,
                "metric_b": b.metric,
                "references_b": b.references,
                "tokens": a.tokens,
                "spearman_a": r_a,
                "spearman_b": r_b,
                "spearman_ab": r_ab,
                "difference": r_a - r_b,
                "difference_systems_low": systems_low,
                "difference_systems_high": systems_high,
                "p_systems": bootstrap_p_value(anew),
                "least_detectable": least,
                "systems": systems,
                "systems_needed": needed(r_a - r_b, least, systems),
                "difference_low": low,
                "difference_high": high,
                "p_bootstrap": bootstrap_p_value(contexts),
                "williams_t": t,
                "p_williams": p,
                "n": n,
            }
        )
    corrected = holm_by(np.array([row["p_systems"] for row in rows]), np.array(family))
    return [row | {"p_holm": float(p)} for row, p in zip(rows, corrected, strict=True)]


def figure_numbers(counted: Counted, settings: Settings, threads: int = 1) -> pd.DataFrame:
    """The three panels: Spearman's rho of each metric along one dimension, the others left alone.

    Over units and orders each metric has the references of w >= 0.6, with which the paper reports
    BLEU and sBLEU best, and ΔBLEU all references as well, with which it reports that best.
    """
    best = [*((metric, HIGH) for metric in METRICS), ("delta_bleu", ALL)]
    longest = Counted(counted.dialogues, max(settings.orders))
    panels: list[tuple[str, Counted, list[Cell], int]] = [
        (
            "threshold",
            counted,
            [Cell(metric, f"w>={value:g}") for value in settings.thresholds for metric in METRICS],
            settings.unit,
        ),
        (
            "order",
            longest,
            [Cell(*pair, order=n) for n in settings.orders for pair in best],
            settings.unit,
        ),
    ]
    panels += [("unit", counted, [Cell(*pair) for pair in best], unit) for unit in settings.units]
    deals: Deals = {}
    rows = [row for panel in panels for row in _points(*panel, settings, threads, deals)]
    return pd.DataFrame(rows)


Deals = dict[tuple[str, int], dict[int, Deal]]
"""By kind and size of a pool, then by pair: panels share their units as far as they can."""


def _points(
    kind: str,
    counted: Counted,
    cells: list[Cell],
    unit: int,
    settings: Settings,
    threads: int,
    deals: Deals,
) -> list[dict[str, Any]]:
    """Points of a panel that share their units."""
    every, seed = np.arange(len(counted.dialogues.output)), settings.seeds[0]
    n = max(1, len(every) // unit * len(counted.dialogues.pairs))
    assignments = min(settings.figure_assignments, max(1, MOST_OBSERVATIONS // n))
    times = min(settings.times, max(1, MOST_OBSERVATIONS // (n * settings.figure_draws)))
    pool = plain_pool(every, assignments)
    known = deals.setdefault(("plain", len(pool)), {})
    plain = observations(counted, cells, pool, unit, seed, threads, known)
    rho = spearman_all(plain.m, plain.q, threads)
    wording = counted.dialogues.wording
    again = bootstrap_pool(every, wording, settings.figure_draws, times, seed)
    known = deals.setdefault(("again", len(again)), {})
    drawn = observations(counted, cells, again, unit, seed, threads, known)
    rho_boot = _means(spearman_all(drawn.m, drawn.q, threads), times)
    rows = []
    for k, cell in enumerate(cells):
        low, high = interval(rho_boot[k])
        rows.append(
            _row(kind, cell, unit, counted, every, plain.q)
            | {"spearman": _mean(rho[k]), "spearman_low": low, "spearman_high": high}
        )
    return rows
