"""What the BLEU Neighbors paper names as future work, one change at a time (sections 3 and 6).

Stage: prediction -> cell -> table. In: rated texts. Out: predictions of every variant (numbers
without text), and a table of what each changes against plain BLEU Neighbors.

Plain is ``bleu.char`` at its tau with thresholds a and b, leave-one-out. The others:

=================  ==============================================================================
weighted           the same neighbors, their quality weighted by similarity:
                   sum of k(x, s) q(s) / sum of k(x, s)
other_systems      training texts of the candidate's own system left out: is it the same system's
                   outputs that help?
own_system         all others left out
shuffled_systems   as other_systems, with the systems' names dealt out at random: what it costs to
                   have so many training texts less
other_contexts     training texts in answer to the same context left out
halves             the mean of the predictions from random halves of the training texts, so that an
                   n-gram in one or two good training texts cannot be relied on; made where at
                   least half of the halves give one
one_half           the first of these halves alone
a kernel's name    another kernel, with its own tau
=================  ==============================================================================

Kernels have different scales, so each gets the tau, of a grid, at which the median candidate has
about as many neighbors as with plain. That looks at texts and at no quality. Where even the
least tau (any similarity above 0) gives fewer, it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from refless.errors import SettingError
from refless.models.neighbors import enough_evidence
from refless.report.published import markdown, number, with_interval
from refless.statistics import paired_bootstrap, spearman

Array = np.ndarray

PLAIN = "plain"
TRAINING_VARIANTS = {
    "weighted": "weighted by similarity",
    "other_systems": "own system's texts left out",
    "own_system": "own system's texts only",
    "shuffled_systems": "left out as many at random",
    "other_contexts": "same context's texts left out",
    "halves": "mean over random halves",
    "one_half": "one random half",
}
ROWS = 256
"""Candidates whose similarities are held at a time."""
LEAST_TAU = 1e-9


@dataclass(frozen=True)
class Rated:
    """The candidates, which are the training texts as well: one entry a rated text.

    system : who wrote it; several names, joined by ``+``, if several wrote the same
    """

    text: list[str]
    quality: Array
    system: list[str]
    context: list[str]


def rated(texts: pd.DataFrame) -> Rated:
    """The rated rows of a task's table of texts."""
    own = texts[texts["quality"].notna()]
    return Rated(
        own["text"].tolist(),
        own["quality"].to_numpy(np.float64, copy=True),
        own["system"].tolist(),
        own["context"].tolist(),
    )


@dataclass(frozen=True)
class Settings:
    """What the numbers hang on.

    kernel, tau, a, b : of plain BLEU Neighbors
    halves : how many random halves
    tau_step : of the grid of taus for other kernels, from LEAST_TAU to 1
    seed : of halves and shuffled systems
    """

    kernel: str
    tau: float
    a: int
    b: float
    halves: int
    tau_step: float
    seed: int


@dataclass(frozen=True)
class Prediction:
    """One variant's predictions.

    estimate : shape (candidates,), NaN where undefined
    neighbors, training : medians over the candidates
    """

    kernel: str
    tau: float
    estimate: Array
    neighbors: float
    training: float


# ---- predictions ---------------------------------------------------------------------------------


def training_variants(
    data: Rated, settings: Settings, threads: int | None = None
) -> dict[str, Prediction]:
    """Plain BLEU Neighbors, and what changes with the training texts or their weights.

    The kernel is walked in blocks of candidates and never held whole. Means are `numpy.mean` over
    the neighbors in their order, as in table 1.

    Raises
    ------
    SettingError : there are more than 62 systems.
    """
    from refless.kernels import kernel

    n, quality = len(data.text), data.quality
    generator = np.random.default_rng(settings.seed)
    system = system_bits(data.system)
    shuffled = generator.permutation(system)
    context = np.unique(np.array(data.context, dtype=object), return_inverse=True)[1]
    halves = np.array([generator.permutation(n) < n // 2 for _ in range(settings.halves)])
    kept: dict[str, Callable[[Array, int], Array]] = {
        PLAIN: lambda near, i: np.ones(len(near), bool),
        "other_systems": lambda near, i: (system[near] & system[i]) == 0,
        "own_system": lambda near, i: (system[near] & system[i]) != 0,
        "shuffled_systems": lambda near, i: (shuffled[near] & shuffled[i]) == 0,
        "other_contexts": lambda near, i: context[near] != context[i],
    }
    means = {name: np.full(n, np.nan) for name in [*kept, "weighted"]}
    counts = {name: np.zeros(n, np.int64) for name in kept}
    half_means = np.full((len(halves), n), np.nan)
    half_counts = np.zeros((len(halves), n), np.int64)
    for start in range(0, n, ROWS):
        rows = slice(start, min(start + ROWS, n))
        block = kernel(settings.kernel, data.text, data.text, rows=rows, threads=threads)
        for i, similar in enumerate(block, start):
            near = np.flatnonzero(similar >= settings.tau)
            near = near[near != i]
            for name, keep in kept.items():
                chosen = near[keep(near, i)]
                counts[name][i] = len(chosen)
                if len(chosen):
                    means[name][i] = np.mean(quality[chosen])
            if len(near):
                weight = similar[near]
                means["weighted"][i] = np.sum(weight * quality[near]) / np.sum(weight)
            inside = halves[:, near]
            half_counts[:, i] = inside.sum(axis=1)
            for h in np.flatnonzero(half_counts[:, i]):
                half_means[h, i] = np.mean(quality[near[inside[h]]])
    sizes = {name: np.full(n, n - 1) for name in kept}
    for name, group in (("other_systems", system), ("shuffled_systems", shuffled)):
        alike = {bits: int(np.count_nonzero(group & bits)) for bits in np.unique(group)}
        sizes[name] = n - np.array([alike[bits] for bits in group])
    sizes["own_system"] = n - 1 - sizes["other_systems"]
    sizes["other_contexts"] = n - np.bincount(context)[context]
    counts["weighted"], sizes["weighted"] = counts[PLAIN], sizes[PLAIN]
    found = {name: _prediction(settings, means[name], counts[name], sizes[name]) for name in means}
    half_sizes = halves.sum(axis=1)[:, None] - halves
    found["halves"] = _mean_of_halves(settings, half_means, half_counts, half_sizes)
    found["one_half"] = _prediction(settings, half_means[0], half_counts[0], half_sizes[0])
    return found


def system_bits(systems: Sequence[str]) -> Array:
    """Systems as bits of an integer, int64, shape (texts,): texts of one system share a bit."""
    split = [name.split("+") for name in systems]
    known = {name: i for i, name in enumerate(sorted({name for row in split for name in row}))}
    if len(known) > 62:
        raise SettingError(f"{len(known)} systems are more than the 62 that can be told apart")
    return np.array([sum(1 << known[name] for name in set(row)) for row in split], np.int64)


def _mean_of_halves(settings: Settings, means: Array, counts: Array, sizes: Array) -> Prediction:
    """Mean over the halves that give a prediction, where at least half of them do."""
    each = np.array(
        [_enough(*one, settings) for one in zip(means, counts, sizes, strict=True)], np.float64
    )
    there = (~np.isnan(each)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean = np.nansum(each, axis=0) / there
    mean[2 * there < len(each)] = np.nan
    return Prediction(
        settings.kernel, settings.tau, mean, float(np.median(counts)), float(np.median(sizes))
    )


def other_kernel(
    name: str, data: Rated, settings: Settings, threads: int | None = None, **options: Any
) -> Prediction:
    """BLEU Neighbors with another kernel, at the tau that gives as many neighbors as plain.

    ``options`` are those of the other kernel.

    Raises
    ------
    KernelError : as by `refless.kernels.neighbor_sums`.
    """
    from refless.kernels import neighbor_sums

    n = len(data.text)
    own = data.text, data.text, data.quality
    itself, size = np.arange(n), np.full(n, n - 1)
    plain, _ = neighbor_sums(settings.kernel, *own, [settings.tau], exclude=itself, threads=threads)
    grid = tau_grid(settings.tau_step)
    counts, sums = neighbor_sums(name, *own, grid, exclude=itself, threads=threads, **options)
    t = matched_tau(counts, plain[:, 0])
    with np.errstate(invalid="ignore"):
        means = sums[:, t] / counts[:, t]
    found = _prediction(settings, means, counts[:, t], size)
    return replace(found, kernel=name, tau=float(grid[t]))


def tau_grid(step: float) -> Array:
    """LEAST_TAU, then ``step``, twice ``step``, ... up to 1."""
    return np.r_[LEAST_TAU, step * np.arange(1, round(1 / step) + 1)]


def matched_tau(counts: Array, wanted: Array) -> int:
    """The column whose median number of neighbors is nearest to the median of ``wanted``.

    ``counts`` has shape (candidates, n_tau), taus ascending; of equals, the least tau.
    """
    return int(np.argmin(np.abs(np.median(counts, axis=0) - np.median(wanted))))


def _enough(means: Array, counts: Array, sizes: Array, settings: Settings) -> Array:
    """`enough_evidence` where each candidate has a training set of its own size."""
    out = np.full(len(means), np.nan)
    for size in np.unique(sizes):
        at = sizes == size
        out[at] = enough_evidence(means[at], counts[at], int(size), settings.a, settings.b)
    return out


def _prediction(settings: Settings, means: Array, counts: Array, sizes: Array) -> Prediction:
    return Prediction(
        settings.kernel,
        settings.tau,
        _enough(means, counts, sizes, settings),
        float(np.median(counts)),
        float(np.median(sizes)),
    )


# ---- the table -----------------------------------------------------------------------------------

MEASURES = ("mse", "spearman", "coverage", "within")
COMMON = ("common_mse", "common_spearman")
COLUMNS = [
    *("task", "variant", "kernel", "tau", "neighbors", "training"),
    *(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")),
    *("p_value", "n", "n_covered"),
    *(f"{name}_change{end}" for name in (*MEASURES, *COMMON) for end in ("", "_low", "_high")),
    *("n_common", "provenance", "note"),
]
FEWEST_OF_A_SYSTEM = 10


@dataclass(frozen=True)
class TaskNumbers:
    """What one task's rows are made of.

    quality, group : shape (candidates,); `system_groups`
    predictions : by variant, plain among them
    provenance : by variant; absent : variant -> why it has no numbers
    """

    quality: Array
    group: Array
    predictions: Mapping[str, Prediction]
    provenance: Mapping[str, str]
    absent: Mapping[str, str]


def system_groups(data: Rated) -> Array:
    """Each candidate's system by number, int64, shape (candidates,), for rhos within systems.

    -1 for a system of fewer than FEWEST_OF_A_SYSTEM texts, or whose texts are all alike: there is
    nothing to rank, and leave-one-out alone orders such texts, backwards: the better one is, the
    worse is the mean of the others.
    """
    names, group = np.unique(np.array(data.system, dtype=object), return_inverse=True)
    texts = np.array(data.text, dtype=object)
    for place in range(len(names)):
        own = group == place
        if own.sum() < FEWEST_OF_A_SYSTEM or len(set(texts[own])) < 2:
            group[own] = -1
    return group.astype(np.int64)


def ablation_rows(task: str, numbers: TaskNumbers, draws: int, seed: int) -> list[dict[str, Any]]:
    """One row a variant: measures with 95% intervals, and their change from plain by a paired
    bootstrap over candidates."""
    truth = numbers.quality
    compared = paired_bootstrap(
        [one.estimate for one in numbers.predictions.values()],
        numbers.predictions[PLAIN].estimate,
        truth,
        groups=numbers.group,
        draws=draws,
        seed=seed,
    )
    rows = []
    for (name, one), result in zip(numbers.predictions.items(), compared, strict=True):
        covered = ~np.isnan(one.estimate)
        row: dict[str, Any] = {"task": task, "variant": name, "kernel": one.kernel, "tau": one.tau}
        row |= {"neighbors": one.neighbors, "training": one.training}
        for measure in MEASURES:
            row |= getattr(result.own, measure).columns(measure)
        row["p_value"] = spearman(one.estimate[covered], truth[covered])[1]
        row |= {"n": len(truth), "n_covered": int(covered.sum())}
        if name != PLAIN:
            for measure in MEASURES:
                row |= getattr(result.change, measure).columns(f"{measure}_change")
            for measure in COMMON:
                row |= getattr(result, measure).columns(f"{measure}_change")
            row["n_common"] = result.n_common
        row |= {"provenance": numbers.provenance[name], "note": _note(name, one, row["n_covered"])}
        rows.append(row)
    for name, reason in numbers.absent.items():
        rows.append({"task": task, "variant": name, "kernel": name, "note": reason})
    return rows


def ablation_table(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """The rows of all tasks, with `COLUMNS`."""
    table = pd.DataFrame(rows).reindex(columns=COLUMNS)
    for column in ("kernel", "provenance", "note"):
        table[column] = table[column].fillna("")
    for column in ("n", "n_covered", "n_common"):
        table[column] = table[column].astype("Int64")
    return table


def absent_row(task: str, reason: str) -> dict[str, Any]:
    """The row of a task without numbers."""
    return {"task": task, "variant": PLAIN, "note": f"not available: {reason}"}


def _note(name: str, one: Prediction, covered: int) -> str:
    notes = []
    if one.tau == LEAST_TAU:
        notes.append("no tau gives as many neighbors as plain, so any similarity makes one")
    if covered == 0:
        notes.append("no candidate has enough neighbors, or few enough")
    return "; ".join(notes)


def label(variant: str) -> str:
    """A variant's name for tables and figures."""
    return PLAIN if variant == PLAIN else TRAINING_VARIANTS.get(variant, f"`{variant}`")


def ablation_markdown(table: pd.DataFrame) -> str:
    """The table for reading, two tables a task: measures, and their change from plain."""
    parts = []
    for task, own in table.groupby("task", sort=False):
        rows = [{str(k): v for k, v in row.items()} for row in own.to_dict("records")]
        parts += [
            f"## {task}",
            markdown(
                [
                    *("variant", "tau", "neighbors", "MSE", "Spearman", "coverage"),
                    *("Spearman within systems", "provenance", "note"),
                ],
                [_own(row) for row in rows],
            ),
            f"### {task}: change from plain",
            markdown(
                [
                    *("variant", "MSE", "Spearman", "coverage", "Spearman within systems"),
                    "Spearman on the candidates that both cover (their number)",
                ],
                [_change(row) for row in rows if pd.notna(row["n_common"])],
            ),
        ]
        if own["n"].isna().all():
            del parts[-2:]
    return "\n\n".join(parts)


def _own(row: dict[str, Any]) -> list[str]:
    return [
        label(row["variant"]),
        "> 0" if row["tau"] == LEAST_TAU else number(row["tau"], 4),
        number(row["neighbors"], 0),
        with_interval(row, "mse", 4),
        with_interval(row, "spearman"),
        with_interval(row, "coverage"),
        with_interval(row, "within"),
        row["provenance"],
        row["note"],
    ]


def _change(row: dict[str, Any]) -> list[str]:
    common = with_interval(row, "common_spearman_change")
    return [
        label(row["variant"]),
        with_interval(row, "mse_change", 4),
        with_interval(row, "spearman_change"),
        with_interval(row, "coverage_change"),
        with_interval(row, "within_change"),
        common if common == "–" else f"{common}; {row['n_common']}",
    ]


def lead_text(settings: Settings, draws: int, seed: int) -> str:
    """What stands above the table for reading."""
    return (
        f"Plain is `{settings.kernel}` at tau {settings.tau:g} with a = {settings.a}, b ="
        f" {settings.b:g}, leave-one-out, as in table 1. Every other row changes one thing. 95%"
        f" intervals by a bootstrap over candidates ({draws} draws, seed {seed}); a change is the"
        " row minus plain on the same draws (a paired bootstrap), each over the candidates that it"
        " covers. Other kernels have another scale: theirs is the tau, on a grid of steps of"
        f" {settings.tau_step:g}, at which the median candidate has about as many neighbors as with"
        " plain; no quality is looked at. `neighbors` is the median over candidates. The mean over"
        f" halves is that of the predictions from {settings.halves} random halves of the training"
        " texts, made where at least half of them give one. Spearman within systems is the mean of"
        " each system's rho (systems whose texts are all alike left out). It is the one to look at"
        " where a system's own texts are left out: a good system's texts are then estimated from"
        " worse systems' and a bad one's from better ones', which alone turns the rho over all"
        " systems negative."
    )


def as_settings(settings: Settings) -> dict[str, Any]:
    """The settings as JSON keeps them, for signatures."""
    return asdict(settings)
