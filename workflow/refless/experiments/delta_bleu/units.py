"""Table 2 and figure 2 of the ΔBLEU paper: units of contexts, and rank correlations over them.

Stage: cell. In: rated responses, and statistics of each (by
`refless.experiments.delta_bleu.dialogues`). Out: how well differences of metrics' scores follow
differences between human ratings, with intervals, and tests of metrics against each other; two
signed files.

An observation is a unit of M contexts and a pair of systems: the difference of the two systems'
scores on these contexts, and the difference of their mean ratings. Contexts are assigned to units
at random, anew for each pair, and rank correlations are averaged over assignments, which all
metrics share. Intervals (``_low``, ``_high``) are a bootstrap over contexts. Those of the paper's
form (``_ci95_``) take observations for independent, which they are not, since all pairs share the
contexts.
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
    HIGH,
    METRICS,
    SINGLE,
    Cell,
    Counted,
    read_dialogues,
)
from refless.experiments.delta_bleu.sum_units import sum_units
from refless.models.delta_bleu import Statistics, scores
from refless.statistics import (
    fisher_interval,
    interval,
    kendall_rows,
    midranks,
    pearson_rows,
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
CELL_KEYS = [field.name for field in fields(Cell)]
NUMBER_COLUMNS = [
    *("kind", *CELL_KEYS, "references_per_context", "fallback_share", "unit", "spearman", "n"),
    *("pairs", "contexts", "assignments"),
]
TEST_COLUMNS = [
    *("metric_a", "references_a", "rule_a", "centre_a", "gold_a", "lacking_a"),
    *("metric_b", "references_b", "tokens"),
    *("spearman_a", "spearman_b", "spearman_ab", "difference", "difference_low"),
    *("difference_high", "p_bootstrap", "williams_t", "p_williams", "n"),
]


def plain_pool(contexts: Array, assignments: int) -> Array:
    """The same contexts for every assignment, int32 (assignments, contexts)."""
    return np.broadcast_to(contexts.astype(np.int32), (assignments, len(contexts)))


def bootstrap_pool(contexts: Array, draws: int, times: int, seed: int) -> Array:
    """Contexts drawn with replacement, each draw ``times`` in succession."""
    drawn = np.random.default_rng(seed).choice(contexts, (draws, len(contexts)))
    return np.repeat(drawn, times, axis=0).astype(np.int32)


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
) -> Observations:
    """Differences of scores and of ratings for every assignment.

    Parameters
    ----------
    pool : int32 (assignments, contexts), what an assignment deals out to units; contexts that do
        not fill a unit are left over
    unit : M, contexts in a unit
    seed : an assignment hangs on it, on the pair and on its place among the assignments, and on
        nothing else

    Raises
    ------
    SettingError : fewer contexts than a unit has.
    """
    own = counted.dialogues
    n_units = pool.shape[1] // unit
    if n_units == 0:
        raise SettingError(
            f"a unit of {unit} contexts is larger than all {pool.shape[1]} that there are"
        )
    quality = own.quality[own.output].T[:, :, None]  # systems, contexts, 1
    m = np.empty((len(cells), len(pool), len(own.pairs) * n_units))
    q, signs = np.empty(m.shape[1:]), np.empty(m.shape[1:])
    negative = np.empty((len(cells), len(own.pairs)))
    for cell in cells:  # in this thread, so that no two make the same statistics
        counted.rows(cell)

    def one(number: int) -> None:
        a, b = own.pairs[number]
        generator = np.random.default_rng([seed, number])
        dealt = generator.permuted(pool, axis=1)[:, : n_units * unit]
        units = np.ascontiguousarray(dealt).reshape(len(pool), n_units, unit)
        sign = generator.choice(np.array([-1.0, 1.0]), (len(pool), n_units))
        place = slice(number * n_units, (number + 1) * n_units)
        rated = [sum_units(np.ascontiguousarray(quality[s]), units)[..., 0] for s in (a, b)]
        signs[:, place] = sign
        q[:, place] = sign * (rated[0] - rated[1]) / unit
        for regime in dict.fromkeys(cell.regime for cell in cells):
            members = [k for k, cell in enumerate(cells) if cell.regime == regime]
            rows = counted.rows(cells[members[0]])
            sums = [sum_units(rows[pair], units) for pair in ((a, b), (b, a))]
            for k in members:
                first, second = (_scored(total, cells[k], counted.max_order) for total in sums)
                m[k, :, place] = sign * (first - second)
                matches = np.stack([total[..., : cells[k].order] for total in sums])
                negative[k, number] = (matches <= 0).any(axis=-1).mean()

    if threads > 1:
        with ThreadPoolExecutor(threads) as workers:
            list(workers.map(one, range(len(own.pairs))))
    else:
        for number in range(len(own.pairs)):
            one(number)
    return Observations(m, q, signs, negative.mean(axis=1))


def _scored(total: Array, cell: Cell, orders: int) -> Array:
    if cell.metric == "sbleu":
        return total[..., 2 * orders + 1 + cell.order]
    statistics = Statistics(
        total[..., :orders],
        total[..., orders : 2 * orders],
        total[..., 2 * orders],
        total[..., 2 * orders + 1],
    )
    return scores(statistics, cell.rule, cell.order)


def spearman_rows(m: Array, q: Array) -> Array:
    """Spearman's rho of each cell and assignment: (cells, assignments)."""
    ranks = midranks(q)
    return np.stack([pearson_rows(midranks(own), ranks) for own in m])


def kendall_all(m: Array, q: Array, threads: int = 1) -> Array:
    """Kendall's tau-b of each cell and assignment: (cells, assignments)."""
    with ThreadPoolExecutor(threads) as workers:
        return np.stack(list(workers.map(lambda own: kendall_rows(own, q), m)))


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
    FormatError : no context is answered by two systems and a human at least.
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
        "made_from": {"texts": task.text_sum},
        "signatures": [
            sign(["experiments/delta_bleu/units.py"], text_sum([task.text_sum, *dialogues.texts]))
        ],
        "facts": {"humans": dialogues.human.shape[1]},
    }
    signed.write(path, numbers[first], {"kind": "units", **about})
    # the tests are of these units: one file from another run beside them is refused
    about["made_from"] = {
        **about.get("made_from", {}),
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
    return [cell for cell in dict.fromkeys(cells) if cell not in main_cells()]


def table_numbers(
    counted: Counted, settings: Settings, threads: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of table 2 and of the tests, as data frames."""
    main = main_cells()
    cells = [*main, *variant_cells(counted.dialogues.gold.shape[1] > 0)]
    every = np.arange(len(counted.dialogues.output))
    drawn = _drawn(counted, cells, every, settings, threads)
    rows, boot = _measured(counted, cells, every, drawn, settings, threads)
    stable = _seed_means(counted, main, every, settings, threads)
    for row, means in zip(rows, stable, strict=False):
        row |= {
            "seeds": len(settings.seeds),
            "spearman_seeds_low": means.min(),
            "spearman_seeds_high": means.max(),
        }
    tests = _tests(cells, drawn[0], boot)
    fixed = [replace(cell, first="fixed") for cell in main]
    turned = [own.in_fixed_order(len(main)) for own in drawn]
    rows += _measured(counted, fixed, every, turned, settings, threads)[0]
    kept = every[~counted.lacking()]
    if 0 < len(kept) < len(every) and len(kept) >= settings.unit:
        left = [replace(cell, lacking="left_out") for cell in main]
        drawn = _drawn(counted, left, kept, settings, threads)
        rows += _measured(counted, left, kept, drawn, settings, threads)[0]
    return pd.DataFrame(rows), pd.DataFrame(tests)


def _drawn(
    counted: Counted, cells: Sequence[Cell], contexts: Array, settings: Settings, threads: int
) -> list[Observations]:
    """Observations of the contexts as they are, and of contexts drawn anew."""
    pools = (
        plain_pool(contexts, settings.assignments),
        bootstrap_pool(contexts, settings.draws, settings.times, settings.seeds[0]),
    )
    return [
        observations(counted, cells, pool, settings.unit, settings.seeds[0], threads)
        for pool in pools
    ]


def _measured(
    counted: Counted,
    cells: Sequence[Cell],
    contexts: Array,
    drawn: Sequence[Observations],
    settings: Settings,
    threads: int,
) -> tuple[list[dict[str, Any]], Array]:
    """Rows of the table, and the mean rho of each bootstrap sample, (cells, draws)."""
    (m, q, _, negative), (m_boot, q_boot, _, _) = drawn
    rho, tau = spearman_rows(m, q), kendall_all(m, q, threads)
    rho_boot = _means(spearman_rows(m_boot, q_boot), settings.times)
    tau_boot = _means(kendall_all(m_boot, q_boot, threads), settings.times)
    rows = []
    for k, cell in enumerate(cells):
        row = _row("table", cell, settings.unit, counted, contexts, q)
        for name, values, again in (
            ("spearman", rho[k], rho_boot[k]),
            ("kendall", tau[k], tau_boot[k]),
        ):
            row[name] = _mean(values)
            row[f"{name}_low"], row[f"{name}_high"] = interval(again)
            row[f"{name}_spread_low"], row[f"{name}_spread_high"] = interval(values)
        ends = fisher_interval(row["spearman"], q.shape[1])
        row["spearman_ci95_low"], row["spearman_ci95_high"] = ends
        row["negative"] = float(negative[k])
        rows.append(row)
    return rows, rho_boot


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
        "pairs": len(counted.dialogues.pairs),
        "contexts": len(contexts),
        "assignments": len(q),
    }


def _mean(rho: Array) -> float:
    return float(_means(rho[None], len(rho))[0, 0])


def _seed_means(
    counted: Counted, cells: Sequence[Cell], contexts: Array, settings: Settings, threads: int
) -> Array:
    """Mean rho under every seed, (cells, seeds)."""
    means = []
    pool = plain_pool(contexts, settings.assignments)
    for seed in settings.seeds:
        own = observations(counted, cells, pool, settings.unit, seed, threads)
        means.append(_means(spearman_rows(own.m, own.q), len(pool))[:, 0])
    return np.stack(means, axis=1)


def compared(cells: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """Which cells are tested against which.

    With every set of references all metrics against each other, however tokens are cut; ΔBLEU
    against the others with w >= 0.6, where the paper has BLEU best; and whatever was chosen for
    ΔBLEU with all references against BLEU with all and with w >= 0.6.
    """
    pairs = [
        (Cell(a, references, tokens=tokens), Cell(b, references, tokens=tokens))
        for tokens in ("words", "blanks")
        for references in REFERENCES
        for a, b in (("delta_bleu", "bleu"), ("delta_bleu", "sbleu"), ("sbleu", "bleu"))
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
    ]
    return pairs


def _tests(cells: Sequence[Cell], plain: Observations, boot: Array) -> list[dict[str, Any]]:
    """Differences of mean rho on the same units."""
    place = {cell: k for k, cell in enumerate(cells)}
    pairs = compared(cells)
    ranks = {cell: midranks(plain.m[place[cell]]) for pair in pairs for cell in pair}
    truth = midranks(plain.q)
    n = plain.q.shape[1]
    rows = []
    for a, b in pairs:
        r_a, r_b, r_ab = (
            float(np.nanmean(pearson_rows(x, y)))
            for x, y in ((ranks[a], truth), (ranks[b], truth), (ranks[a], ranks[b]))
        )
        difference = boot[place[a]] - boot[place[b]]
        low, high = interval(difference)
        decided = difference[~np.isnan(difference)]
        rarer = min((decided <= 0).sum(), (decided >= 0).sum())
        t, p = williams(r_a, r_b, r_ab, n)
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
                "difference_low": low,
                "difference_high": high,
                "p_bootstrap": min(1.0, float(2 * (1 + rarer) / (1 + len(decided)))),
                "williams_t": t,
                "p_williams": p,
                "n": n,
            }
        )
    return rows


def figure_numbers(counted: Counted, settings: Settings, threads: int = 1) -> pd.DataFrame:
    """The three panels: Spearman's rho of each metric along one dimension, the others left alone.

    Over units and orders each metric has the references of w >= 0.6, with which the paper reports
    BLEU and sBLEU best, and ΔBLEU all references as well, with which it reports that best.
    """
    best = [("bleu", HIGH), ("sbleu", HIGH), ("delta_bleu", HIGH), ("delta_bleu", ALL)]
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
    return pd.DataFrame([row for panel in panels for row in _points(*panel, settings, threads)])


def _points(
    kind: str, counted: Counted, cells: list[Cell], unit: int, settings: Settings, threads: int
) -> list[dict[str, Any]]:
    """Points of a panel that share their units."""
    every, seed = np.arange(len(counted.dialogues.output)), settings.seeds[0]
    n = max(1, len(every) // unit * len(counted.dialogues.pairs))
    assignments = min(settings.figure_assignments, max(1, MOST_OBSERVATIONS // n))
    times = min(settings.times, max(1, MOST_OBSERVATIONS // (n * settings.figure_draws)))
    plain = observations(counted, cells, plain_pool(every, assignments), unit, seed, threads)
    rho = spearman_rows(plain.m, plain.q)
    again = bootstrap_pool(every, settings.figure_draws, times, seed)
    drawn = observations(counted, cells, again, unit, seed, threads)
    rho_boot = _means(spearman_rows(drawn.m, drawn.q), times)
    rows = []
    for k, cell in enumerate(cells):
        low, high = interval(rho_boot[k])
        rows.append(
            _row(kind, cell, unit, counted, every, plain.q)
            | {"spearman": _mean(rho[k]), "spearman_low": low, "spearman_high": high}
        )
    return rows
