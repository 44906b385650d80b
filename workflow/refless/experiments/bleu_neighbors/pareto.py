"""Which thresholds? Coverage against Spearman over (tau, a, b), and what tuning them is worth.

Stage: prediction -> cell -> table. In: rated texts, then sums over their neighbors. Out: the Pareto
front of each published kernel; thresholds chosen for a floor of coverage; and the honest value of
that choice, from candidates that had no part in it.

The paper chose its thresholds for the highest Spearman at a coverage of at least 40%, on the data
that it reports (section 4). Here that is *tuned*. *Honest* is nested: candidates are dealt into
folds, equal texts into one; for each fold, thresholds are chosen with the other folds alone (their
candidates, and only their texts as training texts), and its candidates are then predicted under
them, leave-one-out from all other texts, as in table 1. All folds' predictions together give the
honest value.

Folds are dealt many times, and kernels are computed once: texts are dealt into parts, several to a
fold, and each deal joins parts to folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task, read_task
from refless.data.wording import numbered
from refless.errors import StaleError
from refless.experiments.bleu_neighbors.ablation import rated
from refless.experiments.bleu_neighbors.columns import not_available, tidy, with_intervals
from refless.kernels import signature
from refless.models.baselines import deal_folds
from refless.models.neighbors import enough_evidence, most_neighbors
from refless.statistics import (
    Compared,
    drawn_whole,
    paired_bootstrap,
    spearman,
    weighted_spearman,
)
from refless.store import signed
from refless.store.files import file_sum
from refless.store.signatures import sign, signature_note

Array = np.ndarray

ARRAYS = ["quality", "part", "counts", "sums"]
"""Of a file with the `Sums` of one kernel."""
LEAST_SHOWN = 0.1
"""Settings that cover less than this share of the candidates are no points of a front."""
DIGITS = 6
"""Of means of sums in single precision: those that are equal tie, though their texts differ."""
MASKS = 1 << 19
"""Entries of masks that are compared at a time: a few megabytes."""


@dataclass(frozen=True)
class Sums:
    """Neighbors of each candidate in each part's texts, at each tau, its own text left out.

    quality, part : shape (candidates,)
    taus : shape (n_tau,)
    counts, sums : shape (parts, candidates, n_tau)
    joined : the fold of each part, shape (parts,)
    """

    quality: Array
    part: Array
    taus: Array
    counts: Array
    sums: Array
    joined: Array

    @property
    def fold(self) -> Array:
        """Of each candidate."""
        return self.joined[self.part]

    def deals(self, number: int, seed: int) -> list[Sums]:
        """The same sums with parts joined to as many folds by several draws, the first as it is."""
        parts, folds = len(self.joined), int(self.joined.max()) + 1
        others = (deal_folds(parts, folds, seed + deal) for deal in range(1, number))
        return [self, *(replace(self, joined=joined) for joined in others)]


@dataclass(frozen=True)
class Choice:
    """Thresholds by their places in `Sums.taus` and in the lists of a and b."""

    tau: int
    a: int
    b: float


# ---- sums ----------------------------------------------------------------------------------------


def part_sums(
    kernel: str,
    texts: list[str],
    quality: Array,
    taus: Sequence[float],
    part: Array,
    threads: int | None = None,
    **options: Any,
) -> tuple[Array, Array]:
    """Counts and sums of `Sums` of one kernel, by `refless.kernels.neighbor_sums` on each part.

    Counts are kept in as few bytes as they need and sums in single precision, for the files, which
    `DIGITS` allows for.
    """
    from refless.kernels import neighbor_sums

    n = len(texts)
    counts, sums = [], []
    for k in range(int(part.max()) + 1):
        own = np.flatnonzero(part == k)
        itself = np.full(n, -1)
        itself[own] = np.arange(len(own))
        count, total = neighbor_sums(
            kernel,
            texts,
            [texts[i] for i in own],
            quality[own],
            taus,
            exclude=itself,
            threads=threads,
            **options,
        )
        counts.append(count.astype(np.min_scalar_type(n)))
        sums.append(total.astype(np.float32))
    return np.array(counts), np.array(sums)


def write_pareto_sums(
    path: str | Path,
    task: Task,
    kernel: str,
    options: Mapping[str, Any],
    settings: Mapping[str, Any],
    threads: int | None = None,
) -> None:
    """Write the `Sums` of one kernel: numbers without text.

    Parameters
    ----------
    options : of the kernel
    settings : ``taus``, ``folds``, ``parts`` (of each fold), ``seed``

    Raises
    ------
    KernelError : unknown kernel or option, or a missing resource.
    """
    data = rated(task.texts)
    # equal texts would choose thresholds for each other
    said = numbered(data.text)
    different = int(said.max(initial=-1)) + 1
    # the same number for each fold, so that the first deal does not hang on it
    parts = settings["folds"] * max(1, min(settings["parts"], different // settings["folds"]))
    part = deal_folds(different, parts, settings["seed"])[said]
    of = kernel, data.text, data.quality, settings["taus"], part
    counts, sums = part_sums(*of, threads, **options)
    signed.write(
        path,
        dict(zip(ARRAYS, (data.quality, part, counts, sums), strict=True)),
        {
            "kind": "pareto sums",
            "of": {"task": task.name, "kernel": kernel},
            "settings": dict(settings),
            "made_from": task.rated_sums,
            "signatures": [
                signature(kernel, task.text_sum, **options),
                sign(["experiments/bleu_neighbors/pareto.py"], task.text_sum),
            ],
        },
    )


# ---- choosing ------------------------------------------------------------------------------------


def search(
    data: Sums, a_values: Sequence[int], b_values: Sequence[float], without: int | None = None
) -> pd.DataFrame:
    """Spearman and coverage of every (tau, a, b).

    Parameters
    ----------
    without : a fold that is left out, as candidates and as training texts; None for none

    Returns
    -------
    DataFrame : columns tau (its place), a, b, spearman (NaN where undefined), coverage
    """
    kept = np.ones(len(data.quality), bool) if without is None else data.fold != without
    quality, training = data.quality[kept], int(kept.sum()) - 1
    settings = list(product(a_values, b_values))
    tables = []
    for t in range(len(data.taus)):
        means, counts = _means(data, t, without)
        means, counts = np.nan_to_num(means[kept]), counts[kept]
        least = np.array([a for a, _ in settings])[:, None]
        most = np.array([most_neighbors(b, training) for _, b in settings])[:, None]
        rho, covered = [], []
        step = max(1, MASKS // len(counts))
        for start in range(0, len(settings), step):
            part = slice(start, start + step)
            masks = ((counts >= least[part]) & (counts <= most[part])).astype(np.uint16)
            covered.append(masks.sum(axis=1))
            rho.append(weighted_spearman(means, quality, masks))
        number_covered = np.concatenate(covered)
        table = pd.DataFrame(settings, columns=["a", "b"])
        table.insert(0, "tau", t)
        table["spearman"] = np.where(number_covered < 3, np.nan, np.concatenate(rho))
        table["coverage"] = number_covered / len(counts)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def best(table: pd.DataFrame, floor: float) -> Choice | None:
    """The highest Spearman of the settings that cover at least ``floor``; None if none does.

    Of equals, the one with the higher coverage, then the first.
    """
    fit = table[(table["coverage"] >= floor) & table["spearman"].notna()]
    if fit.empty:
        return None
    row = fit.sort_values(["spearman", "coverage"], ascending=False, kind="stable").iloc[0]
    return Choice(int(row["tau"]), int(row["a"]), float(row["b"]))


def front(table: pd.DataFrame) -> pd.DataFrame:
    """The settings that no other beats in both coverage and Spearman, by falling coverage."""
    shown = table[(table["coverage"] >= LEAST_SHOWN) & table["spearman"].notna()]
    shown = shown.sort_values(["coverage", "spearman"], ascending=False, kind="stable")
    before = shown["spearman"].cummax().shift(fill_value=-np.inf)
    return shown[shown["spearman"] > before]


def predict(data: Sums, choice: Choice) -> Array:
    """Predictions of all candidates from all other texts; NaN where undefined."""
    means, counts = _means(data, choice.tau, None)
    return enough_evidence(means, counts, len(means) - 1, choice.a, choice.b)


def honest(
    data: Sums, searched: Sequence[pd.DataFrame], floor: float
) -> tuple[Array, list[Choice | None]]:
    """Predictions under thresholds that each fold's candidates had no part in choosing.

    ``searched`` has, for each fold, `search` without it. A fold for which no setting reaches the
    floor has no predictions.
    """
    out = np.full(len(data.quality), np.nan)
    choices = [best(table, floor) for table in searched]
    for k, choice in enumerate(choices):
        if choice is not None:
            own = data.fold == k
            out[own] = predict(data, choice)[own]
    return out, choices


def _means(data: Sums, t: int, without: int | None) -> tuple[Array, Array]:
    """Mean quality (NaN without any) and number of the neighbors at one tau."""
    parts = np.flatnonzero(data.joined != without) if without is not None else slice(None)
    counts = data.counts[parts, :, t].sum(axis=0, dtype=np.int64)
    with np.errstate(invalid="ignore"):
        means = data.sums[parts, :, t].sum(axis=0, dtype=np.float64) / counts
    return np.round(means, DIGITS), counts


# ---- the table -----------------------------------------------------------------------------------

DEFAULT = "default"
COLUMNS = [
    *("task", "model", "kernel", "rule", "tau", "a", "b", "tuned_spearman", "tuned_coverage"),
    *with_intervals("spearman", "coverage", "mse"),
    *("deals", "spearman_deviation", "spearman_least", "spearman_most"),
    *("optimism", *with_intervals("spearman_change", "coverage_change")),
    *("chosen_by_fold", "n", "n_covered", "provenance", "note"),
]
FRONT_COLUMNS = ["task", "model", "kernel", "tau", "a", "b", "coverage", "spearman"]


@dataclass(frozen=True)
class Settings:
    """The grid of a and b, floors of coverage, the paper's a and b, and the bootstrap."""

    a_values: Sequence[int]
    b_values: Sequence[float]
    floors: Sequence[float]
    a: int
    b: float
    draws: int
    seed: int


def pareto_rows(
    deals: Sequence[Sums], tau: float, settings: Settings, units: Array | None = None
) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """The rows of one kernel on one task, and its front.

    ``deals`` are the sums of several deals of folds of the same texts, and ``tau`` is the paper's,
    one of `Sums.taus`; ``units`` as in `refless.statistics.evaluate`. The first row has the paper's
    thresholds; then comes a row for each floor: means over the deals, and the spread of rho among
    them.
    """
    grid = settings.a_values, settings.b_values
    data = deals[0]
    every = search(data, *grid)
    default = Choice(int(np.argmin(np.abs(data.taus - tau))), settings.a, settings.b)
    of_deals: list[list[tuple[Array, list[Choice | None]]]] = [[] for _ in settings.floors]
    for one in deals:
        searched = [search(one, *grid, without=k) for k in range(int(one.joined.max()) + 1)]
        for floor, kept in zip(settings.floors, of_deals, strict=True):
            kept.append(honest(one, searched, floor))
    found = [
        (np.array([prediction for prediction, _ in kept]), [choices for _, choices in kept])
        for kept in of_deals
    ]
    baseline = predict(data, default)
    predictions = [baseline, *(each for each, _ in found)]
    how: dict[str, Any] = {"units": units, "draws": settings.draws, "seed": settings.seed}
    compared = paired_bootstrap(predictions, baseline, data.quality, **how)
    rows = [{"rule": DEFAULT, **_thresholds(data, default), **_measured(compared[0], baseline)}]
    for floor, (each, chosen), result in zip(settings.floors, found, compared[1:], strict=True):
        choices = [choice for of_deal in chosen for choice in of_deal]
        row: dict[str, Any] = {"rule": f"coverage >= {floor:g}"}
        tuned = best(every, floor)
        if tuned is not None:
            row |= _thresholds(data, tuned)
            same = every[["tau", "a", "b"]] == [tuned.tau, tuned.a, tuned.b]
            own = every[same.all(axis=1)].iloc[0]
            row |= {"tuned_spearman": own["spearman"], "tuned_coverage": own["coverage"]}
        row |= _measured(result, each) | _spread(each, data.quality)
        row["optimism"] = row.get("tuned_spearman", np.nan) - row["spearman"]
        row |= result.change.spearman.columns("spearman_change")
        row |= result.change.coverage.columns("coverage_change")
        row["chosen_by_fold"] = "; ".join(
            "none" if c is None else f"{data.taus[c.tau]:g}/{c.a}/{c.b:g}" for c in chosen[0]
        )
        notes: list[str] = []
        if None in choices:
            notes.append("no setting covers so much, in some folds or in all")
        ends = at_the_end(data, [c for c in [tuned, *choices] if c is not None], settings)
        if ends:
            notes.append(f"chosen at the end of the grid: {', '.join(ends)}")
        row["note"] = notes
        rows.append(row)
    points = front(every)
    points = points.assign(tau=data.taus[points["tau"].to_numpy()])
    return rows, points[["tau", "a", "b", "coverage", "spearman"]]


def _spread(predictions: Array, quality: Array) -> dict[str, Any]:
    """How rho differs among deals, predictions of shape (deals, candidates)."""
    there = ~np.isnan(predictions)
    rho = np.array([spearman(p[t], quality[t])[0] for p, t in zip(predictions, there, strict=True)])
    return {
        "deals": len(rho),
        "spearman_deviation": float(rho.std(ddof=1)) if len(rho) > 1 else float("nan"),
        "spearman_least": float(rho.min()),
        "spearman_most": float(rho.max()),
    }


def at_the_end(data: Sums, choices: Sequence[Choice], settings: Settings) -> list[str]:
    """Which thresholds were chosen at an end of the grid beyond which others are possible.

    A grid of one value was nobody's choice; no less than one neighbor and no more than all can be
    asked for.
    """
    a_ends = {max(settings.a_values), min(settings.a_values)} - {1}
    b_ends = {min(settings.b_values), max(settings.b_values)} - {1}
    found = {
        "tau": len(data.taus) > 1 and any(c.tau in (0, len(data.taus) - 1) for c in choices),
        "a": len(settings.a_values) > 1 and any(c.a in a_ends for c in choices),
        "b": len(settings.b_values) > 1 and any(c.b in b_ends for c in choices),
    }
    return [name for name, there in found.items() if there]


def _thresholds(data: Sums, choice: Choice) -> dict[str, Any]:
    return {"tau": float(data.taus[choice.tau]), "a": choice.a, "b": choice.b}


def _measured(result: Compared, prediction: Array) -> dict[str, Any]:
    own = result.own
    return {
        **own.spearman.columns("spearman"),
        **own.coverage.columns("coverage"),
        **own.mse.columns("mse"),
        "n": prediction.shape[-1],
        "n_covered": round(np.atleast_2d(~np.isnan(prediction)).sum(axis=1).mean()),
    }


def pareto_table(
    looks: Sequence[str] | Mapping[str, Any],
    folders: Sequence[str | Path],
    paths: Sequence[str | Path],
    models: Mapping[str, Mapping[str, Any]],
    settings: Settings,
    dealt: Mapping[str, Mapping[str, int]],
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """All rows with `COLUMNS`, the fronts with `FRONT_COLUMNS`, and notes for the table's footer.

    Numbers may be shipped while the ratings are computed, from others: such a row says why it has
    none.

    Parameters
    ----------
    looks : tasks, in the order of the rows
    folders : of the ratings of the tasks that are there
    paths : ``<task>/<kernel>.npz``, by `write_pareto_sums`; what has no file gets a row without
        numbers
    models : model -> ``kernel``, ``tau`` (the paper's) and ``settings`` of its sums
    dealt : by task, how many ``parts`` a fold has, and how many ``deals`` there are

    Raises FormatError as `refless.store.signed.read`.
    """
    tasks = {Path(folder).name: read_task(folder) for folder in folders}
    files = {(Path(p).parent.name, Path(p).name.removesuffix(".npz")): p for p in paths}
    rows: list[dict[str, Any]] = []
    fronts = [pd.DataFrame(columns=FRONT_COLUMNS)]
    notes: list[str] = []
    for task in looks:
        for model, of in models.items():
            row = {"task": task, "model": model, "kernel": of["kernel"]}
            if (task, of["kernel"]) not in files:
                rows.append(row)
                continue
            try:
                file = signed.read(
                    files[task, of["kernel"]],
                    "pareto sums",
                    of={"task": task, "kernel": of["kernel"]},
                    settings={**of["settings"], "parts": dealt[task]["parts"]},
                    made_from=tasks[task].rated_sums,
                    columns=ARRAYS,
                )
            except StaleError as error:
                rows.append(row | {"note": [not_available(error)]})
                continue
            own = of["settings"]
            # as they were dealt, so that the first deal is one of texts
            joined = np.arange(len(file.content["counts"])) % own["folds"]
            whole = Sums(taus=np.array(own["taus"]), joined=joined, **file.content)
            deals = whole.deals(dealt[task]["deals"], own["seed"])
            units = drawn_whole(tasks[task].contexts)
            found, front = pareto_rows(deals, of["tau"], settings, units)
            row["provenance"] = file.about["provenance"]
            rows += [{**row, **one} for one in found]
            fronts.append(front.assign(**row))
            notes.append(signature_note(file.about["signatures"][0], file.about))
    front = pd.concat(fronts[1:] or fronts, ignore_index=True).reindex(columns=FRONT_COLUMNS)
    return tidy(rows, COLUMNS), front, notes


def write_fronts(
    path: str | Path, fronts: pd.DataFrame, table: pd.DataFrame, published: str | Path
) -> None:
    """Write the fronts that belong to a table by `pareto_table`, which is at ``published``."""
    origins = [{"provenance": origin} for origin in table["provenance"]]
    about = {
        "kind": "pareto fronts",
        "provenance": signed.provenance(origins),
        "made_from": {"table": file_sum(published)},
    }
    signed.write(path, fronts, about)


def read_fronts(path: str | Path, published: str | Path) -> pd.DataFrame:
    """The fronts by `write_fronts`, of this table. Raises as `refless.store.signed.read`."""
    made_from = {"table": file_sum(published)}
    return signed.read(path, "pareto fronts", made_from=made_from, columns=FRONT_COLUMNS).content
