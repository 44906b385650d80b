"""The experiment of the ΔBLEU paper (Galley et al. 2015, section 5) on rated system outputs.

Stage: cell. In: rated responses of several systems to the same contexts, and the rated human ones.
Out: how well differences between metrics' scores follow differences between human ratings.

An observation is a unit of M contexts and a pair of systems: the difference of the two systems'
scores on these contexts, and the difference of their mean ratings. Contexts are assigned to units
at random, anew for each pair, and which of the two systems comes first is random for each unit (a
fixed order would let the mean difference of a pair count as agreement). Rank correlations are
averaged over assignments, which all metrics share.

The references of a pair are the rated human responses and the rated outputs of the systems outside
the pair, weighted by their own ratings, w = (mean rating - centre) / (half of the scale). So most
references are machine outputs, unlike those of the paper.

Choices that the paper leaves open, or that its data did not call for, are named (`Cell`):

========  =======================================================================================
rule      for numerators that are not positive, see `refless.models.delta_bleu`
centre    of the scale: ``scale``, its middle as in the paper; ``mean``, the data's mean rating
gold      whether unrated gold references are added, each at the human response's weight
lacking   what becomes of a context that has no reference of positive weight, which the paper
          assumes never to happen: ``raised``, the human response gets the weight `LEAST`;
          ``written``, the formula is followed, so that its share of the denominator is negative;
          ``left_out``, contexts where this happens to any pair are used for no metric
tokens    ``words``: lower case, marks apart from words; ``blanks``: what stands between blanks
========  =======================================================================================

Where no reference reaches a threshold on w, the human response is the reference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.errors import FormatError, SettingError
from refless.experiments._units import sum_units
from refless.models.delta_bleu import References, Statistics, Texts, scores, smoothed_scores
from refless.statistics import (
    fisher_interval,
    interval,
    kendall_rows,
    midranks,
    pearson_rows,
    williams,
)

Array = np.ndarray

METRICS = ("bleu", "sbleu", "delta_bleu")
SINGLE, HIGH, ALL = "single", "w>=0.6", "all"
LEAST = 0.1
"""Weight of the human response where no reference of a context has a positive one."""
GOLD = -1
"""Owner of gold references: no system, so they are never left out."""
CELL_KEYS = ["metric", "references", "rule", "order", "centre", "gold", "lacking", "tokens"]
NUMBER_COLUMNS = ["kind", *CELL_KEYS, "unit", "spearman", "n", "pairs", "contexts"]
TEST_COLUMNS = [
    *("metric_a", "references_a", "rule_a", "centre_a", "gold_a", "metric_b", "references_b"),
    *("spearman_a", "spearman_b", "spearman_ab", "difference", "difference_low"),
    *("difference_high", "p_bootstrap", "williams_t", "p_williams", "n"),
]
MODULES = (
    *("models/delta_bleu.py", "models/_weighted_matches.py"),
    *("experiments/delta_bleu.py", "experiments/_units.py"),
)
"""The code that decides the numbers, for their signature."""


def tokenize(text: str, tokens: str = "words") -> str:
    """The tokens of a text with blanks between them; see the module.

    Raises
    ------
    SettingError : neither ``words`` nor ``blanks``.
    """
    if tokens == "blanks":
        return text
    if tokens == "words":
        return " ".join(re.findall(r"\w+|[^\w\s]", text.lower()))
    raise SettingError(f"unknown tokens {tokens!r}; choose words or blanks")


@dataclass(frozen=True)
class Cell:
    """One metric under one set of choices; see the module. ``order``: n-grams of 1 to this many."""

    metric: str
    references: str = ALL
    rule: str = "smooth"
    order: int = 2
    centre: str = "scale"
    gold: bool = False
    lacking: str = "raised"
    tokens: str = "words"

    @property
    def regime(self) -> tuple[str, bool, str, bool, bool, str]:
        """What decides the statistics: cells that agree in it share them."""
        weighted = self.metric == "delta_bleu"
        return (
            self.references,
            weighted,
            self.centre,
            self.gold,
            weighted and self.lacking == "written",
            self.tokens,
        )


@dataclass(frozen=True)
class Dialogues:
    """Responses of the same systems to the same contexts.

    texts, quality : of every response, and after them the gold references (quality NaN)
    systems : their names
    output : int64 (contexts, systems), numbers of the texts
    human : int64 (contexts, humans); the first is the single reference
    gold : int64 (2, references): context and text of each gold reference
    """

    texts: list[str]
    quality: Array
    systems: list[str]
    output: Array
    human: Array
    gold: Array

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Each two systems."""
        return list(combinations(range(len(self.systems)), 2))


def require_systems_apart(context: pd.Series, system: pd.Series) -> None:
    """Make sure that no system answers a context twice.

    Raises
    ------
    FormatError : one does, as where contexts of one wording were taken for one.
    """
    twice = pd.MultiIndex.from_arrays([context, system]).duplicated()
    if twice.any():
        k = int(np.argmax(twice))
        raise FormatError(
            f"{system.iloc[k]} answers context {context.iloc[k]} twice",
            remedy="load the data with unit: pair or unit: output",
        )


def read_dialogues(texts: pd.DataFrame, gold: pd.DataFrame | None = None) -> Dialogues:
    """Bring a table of rated texts with the column ``context_id`` into shape.

    Contexts that a system or a human did not answer, or where somebody's answer is not rated, are
    left out: all metrics are compared on the same contexts. Outputs stay apart even where two
    systems wrote the same text in the same context (31 times in DSTC7).

    Parameters
    ----------
    gold : unrated references, columns ``context_id`` and ``text``

    Raises
    ------
    FormatError : no context is answered by two systems and a human at least.
    """
    texts = texts.reset_index(drop=True)
    rated = texts[texts["n_ratings"] > 0]
    # where there are two human responses, the one of the original dialogue comes first
    who = rated["model"] if "model" in rated else rated["system"]
    human = rated["system"] == "human"
    machines = sorted(set(who[~human]))
    humans = sorted(set(who[human]), key=lambda name: (not name.startswith("Original"), name))
    require_systems_apart(rated["context_id"], who)
    place = (
        rated.assign(who=who, row=rated.index)
        .pivot_table(index="context_id", columns="who", values="row", aggfunc="first", sort=False)
        .reindex(columns=[*humans, *machines])
        .dropna()
    )
    if len(machines) < 2 or not humans or place.empty:
        raise FormatError("no context is answered by a human and by two systems, all of them rated")
    rows = place.to_numpy(np.int64)
    added = np.empty((2, 0), np.int64)
    new: list[str] = []
    if gold is not None:
        number = {name: k for k, name in enumerate(place.index)}
        own = gold[gold["context_id"].isin(place.index)]
        new = own["text"].tolist()
        context = own["context_id"].map(number).to_numpy(np.int64)
        added = np.stack([context, np.arange(len(texts), len(texts) + len(new))])
    return Dialogues(
        [*texts["text"], *new],
        np.r_[texts["quality"].to_numpy(np.float64), np.full(len(new), np.nan)],
        machines,
        np.ascontiguousarray(rows[:, len(humans) :]),
        np.ascontiguousarray(rows[:, : len(humans)]),
        added,
    )


def weights(dialogues: Dialogues, centre: str) -> Array:
    """Weight of every text, NaN for gold: (quality - centre) over the longer side of the scale.

    Raises
    ------
    SettingError : unknown centre.
    """
    if centre == "scale":
        middle = 0.5
    elif centre == "mean":
        used = np.r_[dialogues.output.ravel(), dialogues.human.ravel()]
        middle = float(dialogues.quality[used].mean())
    else:
        raise SettingError(f"unknown centre {centre!r}; choose scale or mean")
    return (dialogues.quality - middle) / max(middle, 1 - middle)


def least_weight(references: str) -> float:
    """The threshold on w: of ``all`` minus infinity; ``w>=0.6`` is 0.6.

    Raises
    ------
    SettingError : neither of these, nor ``single``.
    """
    if references in (ALL, SINGLE):
        return float("-inf")
    try:
        return float(references.removeprefix("w>="))
    except ValueError as error:
        raise SettingError(f"{references!r} is no set of references") from error


class Counted:
    """Dialogues whose n-grams are counted, and the statistics of regimes, each made once."""

    def __init__(self, dialogues: Dialogues, max_order: int) -> None:
        self.dialogues = dialogues
        self.max_order = max_order
        self._texts: dict[str, Texts] = {}
        self._rows: dict[tuple[Any, ...], Array] = {}

    def rows(self, cell: Cell) -> Array:
        """What adds up to a score, (systems, systems, contexts, columns): [a, b] is of the output
        of a in a pair with b. Columns: matches, totals, length, closest, and, without weights, the
        smoothed sentence score for each highest order."""
        if cell.regime not in self._rows:
            self._rows[cell.regime] = self._computed(cell)
        return self._rows[cell.regime]

    def lacking(self) -> Array:
        """Whether a context has, for some pair, no reference of positive weight: (contexts,)."""
        found = self._statistics(Cell("delta_bleu"), False)
        n = len(self.dialogues.systems)
        alone = ~(found.totals[..., 0] > 0) & (found.length > 0)
        alone = alone.reshape(-1, n, found.length.shape[1])[:, :, 1 : 1 + n]
        # leaving a system's own output out twice tells nothing of a pair
        pairs = alone & ~np.eye(n, dtype=bool)
        return np.asarray(pairs.any(axis=(1, 2)))

    def _computed(self, cell: Cell) -> Array:
        first = self._statistics(cell, False)
        if not (cell.metric == "delta_bleu" and cell.lacking == "written"):
            second = self._statistics(cell, True)
            missing = ~(first.totals[..., :1] > 0)
            # of hypotheses without any word, totals do not tell; they score 0 either way
            first = Statistics(
                np.where(missing, second.matches, first.matches),
                np.where(missing, second.totals, first.totals),
                first.length,
                np.where(missing[..., 0], second.closest, first.closest),
            )
        parts = [first.matches, first.totals, first.length[..., None], first.closest[..., None]]
        if cell.metric != "delta_bleu":
            orders = range(1, self.max_order + 1)
            parts.append(np.stack([smoothed_scores(first, order) for order in orders], axis=-1))
        n = len(self.dialogues.systems)
        columns = np.concatenate(parts, axis=-1)[:, 1 : 1 + n]
        shaped = columns.reshape(-1, n, n, columns.shape[-1])  # contexts, a, b, columns
        return np.ascontiguousarray(shaped.transpose(1, 2, 0, 3))

    def _statistics(self, cell: Cell, human_too: bool) -> Statistics:
        """Statistics of every output; ``human_too``: the human response is there in any case, at a
        weight of at least `LEAST`."""
        own = self.dialogues
        n_contexts, n = own.output.shape
        if cell.tokens not in self._texts:
            tokens = [tokenize(text, cell.tokens) for text in own.texts]
            self._texts[cell.tokens] = Texts(tokens, self.max_order)
        return self._texts[cell.tokens].statistics(
            own.output.ravel(),
            np.tile(np.arange(n), n_contexts),
            np.repeat(np.arange(n_contexts), n),
            self._references(cell, human_too),
            n,
        )

    def _references(self, cell: Cell, human_too: bool) -> References:
        own = self.dialogues
        n_contexts = len(own.output)
        weight = weights(own, cell.centre)
        single = own.human[:, 0]
        at_human = weight[single]
        if human_too:
            at_human = np.maximum(at_human, LEAST)
        least = least_weight(cell.references)
        kept = np.full(n_contexts, human_too) | (at_human >= least)
        every = np.arange(n_contexts)
        parts = [(every[kept], single[kept], np.full(kept.sum(), GOLD), at_human[kept])]
        if cell.references != SINGLE:
            for number, column in [
                *((GOLD, human) for human in own.human.T[1:]),
                *enumerate(own.output.T),
            ]:
                kept = weight[column] >= least
                parts.append(
                    (every[kept], column[kept], np.full(kept.sum(), number), weight[column][kept])
                )
            if cell.gold:
                context, text = own.gold
                kept = at_human[context] >= least
                context, text = context[kept], text[kept]
                parts.append((context, text, np.full(len(text), GOLD), at_human[context]))
        item, text, owner, value = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(item, kind="stable")
        if cell.metric != "delta_bleu":
            value = np.ones(len(value))
        return References(
            np.searchsorted(item[order], np.arange(n_contexts + 1)).astype(np.int64),
            text[order].astype(np.int64),
            owner[order].astype(np.int64),
            value[order],
        )


# ---- units ---------------------------------------------------------------------------------------


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
    negative : float64 (cells,), share of the scores with a numerator that is not positive
    """

    m: Array
    q: Array
    negative: Array


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
    q = np.empty(m.shape[1:])
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
    return Observations(m, q, negative.mean(axis=1))


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
    """How much is drawn.

    unit : M of the table and of the figure's other panels
    assignments : of contexts to units, for the table; ``figure_assignments`` for the figure
    draws, times : bootstrap samples of contexts, and assignments of each
    seeds : the first is that of the table; the means under all of them show how stable they are
    thresholds, units, orders : the figure's panels
    """

    unit: int
    assignments: int
    figure_assignments: int
    draws: int
    times: int
    seeds: tuple[int, ...]
    thresholds: tuple[float, ...]
    units: tuple[int, ...]
    orders: tuple[int, ...]


def main_cells() -> list[Cell]:
    """The paper's table: each metric with each set of references."""
    return [Cell(metric, references) for metric in METRICS for references in (SINGLE, HIGH, ALL)]


def variant_cells(rules: Sequence[str], gold: bool) -> list[Cell]:
    """What the choices do: rules by weights for ΔBLEU, and single changes."""
    cells = [
        Cell("delta_bleu", rule=rule, centre=centre, gold=added)
        for added in ((False, True) if gold else (False,))
        for centre in ("scale", "mean")
        for rule in rules
    ]
    cells += [Cell("delta_bleu", rule=rule, lacking="written") for rule in ("smooth", "floor")]
    cells += [Cell(metric, "w>=0") for metric in METRICS]
    if gold:
        cells += [Cell(metric, gold=True) for metric in ("bleu", "sbleu")]
    cells += [replace(cell, tokens="blanks") for cell in main_cells()]
    return [cell for cell in dict.fromkeys(cells) if cell not in main_cells()]


def table_numbers(
    counted: Counted, settings: Settings, threads: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of table 2 and of the tests, as data frames."""
    has_gold = counted.dialogues.gold.shape[1] > 0
    cells = [*main_cells(), *variant_cells(("smooth", "zero", "floor", "signed"), has_gold)]
    every = np.arange(len(counted.dialogues.output))
    rows, m, q, boot = _measured(counted, cells, every, settings, threads)
    stable = _seed_means(counted, main_cells(), every, settings, threads)
    for row, means in zip(rows, stable, strict=False):
        row |= {
            "seeds": len(settings.seeds),
            "spearman_seeds_low": means.min(),
            "spearman_seeds_high": means.max(),
        }
    tests = _tests(cells, m, q, boot)
    kept = every[~counted.lacking()]
    if 0 < len(kept) < len(every) and len(kept) >= settings.unit:
        left = [replace(cell, lacking="left_out") for cell in main_cells()]
        rows += _measured(counted, left, kept, settings, threads)[0]
    return pd.DataFrame(rows), pd.DataFrame(tests)


def _measured(
    counted: Counted, cells: Sequence[Cell], contexts: Array, settings: Settings, threads: int
) -> tuple[list[dict[str, Any]], Array, Array, Array]:
    unit, seed = settings.unit, settings.seeds[0]
    pool = plain_pool(contexts, settings.assignments)
    m, q, negative = observations(counted, cells, pool, unit, seed, threads)
    rho, tau = spearman_rows(m, q), kendall_all(m, q, threads)
    again = bootstrap_pool(contexts, settings.draws, settings.times, seed)
    m_boot, q_boot, _ = observations(counted, cells, again, unit, seed, threads)
    rho_boot = _means(spearman_rows(m_boot, q_boot), settings.times)
    tau_boot = _means(kendall_all(m_boot, q_boot, threads), settings.times)
    rows = []
    for k, cell in enumerate(cells):
        row = _row("table", cell, unit, counted, len(contexts), q.shape[1])
        for name, values, drawn in (
            ("spearman", rho[k], rho_boot[k]),
            ("kendall", tau[k], tau_boot[k]),
        ):
            mean = float(_means(values[None], len(values))[0, 0])
            row[name] = mean
            row[f"{name}_low"], row[f"{name}_high"] = interval(drawn)
            row[f"{name}_spread_low"], row[f"{name}_spread_high"] = interval(values)
        ends = fisher_interval(row["spearman"], q.shape[1])
        row["spearman_ci95_low"], row["spearman_ci95_high"] = ends
        row["negative"] = float(negative[k])
        rows.append(row)
    return rows, m, q, rho_boot


def _row(
    kind: str, cell: Cell, unit: int, counted: Counted, contexts: int, n: int
) -> dict[str, Any]:
    own = counted.dialogues
    settings = {**asdict(cell), "gold": int(cell.gold)}
    return {"kind": kind, **settings, "unit": unit, "n": n, "pairs": len(own.pairs)} | {
        "contexts": contexts
    }


def _seed_means(
    counted: Counted, cells: Sequence[Cell], contexts: Array, settings: Settings, threads: int
) -> Array:
    """Mean rho under every seed, (cells, seeds)."""
    means = []
    pool = plain_pool(contexts, settings.assignments)
    for seed in settings.seeds:
        m, q, _ = observations(counted, cells, pool, settings.unit, seed, threads)
        means.append(_means(spearman_rows(m, q), len(pool))[:, 0])
    return np.stack(means, axis=1)


def _tests(cells: Sequence[Cell], m: Array, q: Array, boot: Array) -> list[dict[str, Any]]:
    """ΔBLEU against BLEU and sBLEU on the same units: those with the same references, and those
    with the references that the paper reports them best with."""
    place = {cell: k for k, cell in enumerate(cells)}
    weighted = [cell for cell in main_cells() if cell.metric == "delta_bleu"]
    weighted += [Cell("delta_bleu", rule="floor"), Cell("delta_bleu", centre="mean")]
    if Cell("delta_bleu", gold=True) in place:
        weighted.append(Cell("delta_bleu", gold=True))
    others = [cell for cell in main_cells() if cell.metric != "delta_bleu"]
    ranks = {cell: midranks(m[place[cell]]) for cell in [*weighted, *others]}
    truth = midranks(q)
    rows = []
    for a in weighted:
        for b in others:
            if b.references not in (a.references, HIGH):
                continue
            r_a, r_b, r_ab = (
                float(np.nanmean(pearson_rows(x, y)))
                for x, y in ((ranks[a], truth), (ranks[b], truth), (ranks[a], ranks[b]))
            )
            difference = boot[place[a]] - boot[place[b]]
            low, high = interval(difference)
            decided = difference[~np.isnan(difference)]
            rarer = min((decided <= 0).sum(), (decided >= 0).sum())
            t, p = williams(r_a, r_b, r_ab, q.shape[1])
            rows.append(
                {
                    **{f"{name}_a": getattr(a, name) for name in CELL_KEYS[:3]},
                    "centre_a": a.centre,
                    "gold_a": int(a.gold),
                    **{f"{name}_b": getattr(b, name) for name in CELL_KEYS[:2]},
                    "spearman_a": r_a,
                    "spearman_b": r_b,
                    "spearman_ab": r_ab,
                    "difference": r_a - r_b,
                    "difference_low": low,
                    "difference_high": high,
                    "p_bootstrap": min(1.0, float(2 * (1 + rarer) / (1 + len(decided)))),
                    "williams_t": t,
                    "p_williams": p,
                    "n": q.shape[1],
                }
            )
    return rows


def figure_numbers(counted: Counted, settings: Settings, threads: int = 1) -> pd.DataFrame:
    """The three panels: Spearman's rho of each metric along one dimension, the others left alone.

    Over units and orders each metric has the references that the paper reports it best with,
    w >= 0.6 for BLEU and sBLEU and all for ΔBLEU; and ΔBLEU those of BLEU as well.
    """
    best = [("bleu", HIGH), ("sbleu", HIGH), ("delta_bleu", HIGH), ("delta_bleu", ALL)]
    every = np.arange(len(counted.dialogues.output))
    panels: list[tuple[str, list[Cell], int]] = [
        (
            "threshold",
            [Cell(metric, f"w>={value:g}") for value in settings.thresholds for metric in METRICS],
            settings.unit,
        ),
        (
            "order",
            [Cell(*pair, order=n) for n in settings.orders for pair in best],
            settings.unit,
        ),
    ]
    panels += [("unit", [Cell(*pair) for pair in best], unit) for unit in settings.units]
    rows = []
    for kind, cells, unit in panels:
        pool = plain_pool(every, settings.figure_assignments)
        m, q, _ = observations(counted, cells, pool, unit, settings.seeds[0], threads)
        for cell, rho in zip(cells, spearman_rows(m, q), strict=True):
            mean = float(_means(rho[None], len(rho))[0, 0])
            low, high = fisher_interval(mean, q.shape[1])
            rows.append(
                _row(kind, cell, unit, counted, len(every), q.shape[1])
                | {"spearman": mean, "spearman_ci95_low": low, "spearman_ci95_high": high}
            )
    return pd.DataFrame(rows)
