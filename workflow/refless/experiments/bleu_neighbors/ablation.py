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
a baseline's       no kernel at all: see `BASELINES`
=================  ==============================================================================

Kernels have different scales, so each gets the tau, of a grid, at which the median candidate has
about as many neighbors as with plain. That looks at texts and at no quality. Where even the
least tau (any similarity above 0) gives fewer, it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task, read_task
from refless.errors import StaleError
from refless.experiments.bleu_neighbors.baselines import read_baselines
from refless.experiments.bleu_neighbors.columns import not_available, tidy, with_intervals
from refless.kernels import signature
from refless.models.neighbors import enough_evidence
from refless.statistics import between_and_within, drawn_whole, paired_bootstrap, spearman
from refless.store import signed
from refless.store.signatures import sign, signature_note

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
BASELINES = {
    "mean_other_systems": (("constant", "systems"), "mean rating of the other systems' texts"),
    "mean_own_system": (("system_mean", "texts"), "mean rating of the own system's other texts"),
    "length": (("length", "texts"), "length in characters"),
    "lookup": (("lookup", "texts"), "look-up of the text"),
    "ridge_tfidf": (("ridge_tfidf", "folds"), "ridge regression, TF-IDF (folds)"),
    "ridge_other_systems": (
        ("ridge_tfidf", "systems"),
        "ridge regression, own system's texts left out",
    ),
}
"""Variant -> its (baseline, split), and its label."""
SYSTEM_ALONE = ("mean_other_systems", "mean_own_system")
"""What knows nothing but who wrote a text. Within a system it only falls as the text's own quality
rises, which it leaves out: no share of its rho lies there."""
LABELS = TRAINING_VARIANTS | {name: label for name, (_, label) in BASELINES.items()}
ROWS = 256
"""Candidates whose similarities are held at a time."""
LEAST_TAU = 1e-9
MOST_SYSTEMS = 62
"""As many as fit into the bits of an integer."""
BY_SYSTEM = ("other_systems", "own_system", "shuffled_systems")


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
    provenance: str = "computed"

    def facts(self) -> dict[str, Any]:
        """What is a number or a name."""
        return {name: getattr(self, name) for name in ("kernel", "tau", "neighbors", "training")}


# ---- predictions ---------------------------------------------------------------------------------


def lacking(data: Rated) -> dict[str, str]:
    """Variants that the data do not allow, and why."""
    systems = len({name for row in data.system for name in row.split("+")})
    found: dict[str, str] = {}
    if systems < 2:
        found |= dict.fromkeys(BY_SYSTEM, "the data set does not tell systems apart")
    if systems > MOST_SYSTEMS:
        why = f"{systems} systems are more than the {MOST_SYSTEMS} that can be told apart"
        found |= dict.fromkeys(BY_SYSTEM, why)
    if len(set(data.context)) < 2:
        found["other_contexts"] = "the data set does not tell contexts apart"
    return found


def training_variants(
    data: Rated, settings: Settings, threads: int | None = None
) -> dict[str, Prediction]:
    """Plain BLEU Neighbors, and what changes with the training texts or their weights, but for
    what is `lacking`.

    The kernel is walked in blocks of candidates and never held whole. Means are `numpy.mean` over
    the neighbors in their order, as in table 1.
    """
    from refless.kernels import kernel

    n, quality = len(data.text), data.quality
    without = lacking(data)
    generator = np.random.default_rng(settings.seed)
    system = np.zeros(n, np.int64) if BY_SYSTEM[0] in without else system_bits(data.system)
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
    kept = {name: keep for name, keep in kept.items() if name not in without}
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
    sizes = {name: np.full(n, n - 1) for name in (PLAIN, "weighted")}
    for name, group in (("other_systems", system), ("shuffled_systems", shuffled)):
        alike = {bits: int(np.count_nonzero(group & bits)) for bits in np.unique(group)}
        sizes[name] = n - np.array([alike[bits] for bits in group])
    sizes["own_system"] = n - 1 - sizes["other_systems"]
    sizes["other_contexts"] = n - np.bincount(context)[context]
    counts["weighted"] = counts[PLAIN]
    half_sizes = halves.sum(axis=1)[:, None] - halves
    found = {name: _enough(settings, means[name], counts[name], sizes[name]) for name in means}
    found["halves"] = _mean_of_halves(settings, half_means, half_counts, half_sizes)
    found["one_half"] = _enough(settings, half_means[0], half_counts[0], half_sizes[0])
    return found


def system_bits(systems: Sequence[str]) -> Array:
    """Systems as bits of an integer, int64, shape (texts,): texts of one system share a bit.

    There may be as many as MOST_SYSTEMS: see `lacking`.
    """
    split = [name.split("+") for name in systems]
    known = {name: i for i, name in enumerate(sorted({name for row in split for name in row}))}
    return np.array([sum(1 << known[name] for name in set(row)) for row in split], np.int64)


def _mean_of_halves(settings: Settings, means: Array, counts: Array, sizes: Array) -> Prediction:
    """Mean over the halves that give a prediction, where at least half of them do."""
    by_half = zip(means, counts, sizes, strict=True)
    each = np.array([_enough(settings, *one).estimate for one in by_half])
    there = (~np.isnan(each)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean = np.nansum(each, axis=0) / there
    mean[2 * there < len(each)] = np.nan
    return _prediction(settings, mean, counts, sizes)


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
    return replace(_enough(settings, means, counts[:, t], size), kernel=name, tau=float(grid[t]))


def tau_grid(step: float) -> Array:
    """LEAST_TAU, then ``step``, twice ``step``, ... up to 1."""
    return np.r_[LEAST_TAU, step * np.arange(1, round(1 / step) + 1)]


def matched_tau(counts: Array, wanted: Array) -> int:
    """The column whose median number of neighbors is nearest to the median of ``wanted``.

    ``counts`` has shape (candidates, n_tau), taus ascending; of equals, the least tau.
    """
    return int(np.argmin(np.abs(np.median(counts, axis=0) - np.median(wanted))))


def _enough(settings: Settings, means: Array, counts: Array, sizes: Array) -> Prediction:
    """Means with `enough_evidence`; each candidate has a training set of its own size."""
    out = np.full(len(means), np.nan)
    for size in np.unique(sizes):
        at = sizes == size
        out[at] = enough_evidence(means[at], counts[at], int(size), settings.a, settings.b)
    return _prediction(settings, out, counts, sizes)


def _prediction(settings: Settings, estimate: Array, counts: Array, sizes: Array) -> Prediction:
    medians = float(np.median(counts)), float(np.median(sizes))
    return Prediction(settings.kernel, settings.tau, estimate, *medians)


# ---- files ---------------------------------------------------------------------------------------


def write_ablation(
    path: str | Path,
    task: Task,
    kernels: Mapping[str, Mapping[str, Any]],
    settings: Settings,
    threads: int | None = None,
) -> None:
    """Predict with the variants of one part: numbers without text.

    Parameters
    ----------
    path : its name without ending is the part. ``plain`` has the training variants and the kernels
        that need texts alone; any other part is one kernel.
    kernels : the part's other kernels, each with its options

    Raises
    ------
    KernelError : unknown kernel or option, or a missing resource.
    """
    part, data = Path(path).stem, rated(task.texts)
    found = training_variants(data, settings, threads) if part == PLAIN else {}
    for name, options in kernels.items():
        found[name] = other_kernel(name, data, settings, threads, **options)
    signatures = {settings.kernel: signature(settings.kernel, task.text_sum)}
    signatures |= {name: signature(name, task.text_sum, **kernels[name]) for name in kernels}
    signed.write(
        path,
        {
            "quality": data.quality,
            "group": system_groups(data),
            "estimates": np.array([one.estimate for one in found.values()]),
        },
        {
            "kind": "ablation",
            "of": {"task": task.name},
            "settings": {"part": part, **asdict(settings)},
            "made_from": task.rated_sums,
            "signatures": [
                *signatures.values(),
                sign(["experiments/bleu_neighbors/ablation.py"], task.text_sum),
            ],
            "facts": {
                # in the order of the estimates
                "variants": [{"variant": name, **one.facts()} for name, one in found.items()],
                "lacking": lacking(data) if part == PLAIN else {},
            },
        },
    )


def read_ablations(
    folders: Sequence[str | Path],
    paths: Sequence[str | Path],
    kernels: Sequence[str],
    settings: Settings,
    baselines: Sequence[str | Path] = (),
    baseline_settings: Mapping[str, Any] | None = None,
) -> tuple[dict[str, TaskNumbers], list[str]]:
    """The numbers of the tasks that have plain ones, and the notes for the table's footer.

    Another kernel may be shipped while the rest is computed, from other ratings: its row then says
    why it has no numbers.

    Parameters
    ----------
    folders : of the tasks' ratings
    paths : ``<task>/<part>.npz``, by `write_ablation`
    kernels : all that there should be
    baselines, baseline_settings : ``<task>.npz`` by `write_baselines`, of those that are there

    Raises as `refless.store.signed.read`, but StaleError only for ``plain.npz``.
    """
    files = {Path(path).name.removesuffix(".npz"): path for path in baselines}
    parts: dict[str, dict[str, Path]] = {}
    for path in map(Path, paths):
        parts.setdefault(path.parent.name, {})[path.stem] = path
    found, notes = {}, []
    for folder in folders:
        task = read_task(folder)
        if PLAIN in parts.get(task.name, {}):
            numbers, own = _read_task_numbers(task, parts[task.name], kernels, settings)
            of_baselines = files.get(task.name), task, baseline_settings or {}
            found[task.name] = _with_baselines(numbers, *of_baselines)
            notes += own
    return found, notes


def _read_task_numbers(
    task: Task, parts: Mapping[str, Path], kernels: Sequence[str], settings: Settings
) -> tuple[TaskNumbers, list[str]]:
    predictions, notes = {}, {}
    absent: dict[str, list[str]] = {}
    plain: dict[str, Array] = {}
    for part in sorted(parts, key=lambda part: part != PLAIN):
        try:
            file = signed.read(
                parts[part],
                "ablation",
                of={"task": task.name},
                settings={"part": part, **asdict(settings)},
                made_from=task.rated_sums,
                columns=["quality", "group", "estimates"],
            )
        except StaleError as error:
            if part == PLAIN:
                raise
            absent[part] = [not_available(error)]
            continue
        plain = plain or file.content
        facts = file.about["facts"]
        for one, estimate in zip(facts["variants"], file.content["estimates"], strict=True):
            name = one.pop("variant")
            origin = file.about["provenance"]
            predictions[name] = Prediction(estimate=estimate, provenance=origin, **one)
        absent |= {name: [f"not available: {why}"] for name, why in facts["lacking"].items()}
        for signed_one in file.about["signatures"]:
            if "kernel" in signed_one:
                notes[signed_one["kernel"]] = signature_note(signed_one, file.about)
    absent |= {name: [] for name in kernels if name not in {*predictions, *absent}}
    authors = rated(task.texts).system, drawn_whole(task.contexts)
    numbers = TaskNumbers(plain["quality"], plain["group"], predictions, absent, *authors)
    return numbers, list(notes.values())


def _with_baselines(
    numbers: TaskNumbers, path: str | Path | None, task: Task, settings: Mapping[str, Any]
) -> TaskNumbers:
    """The numbers with the `BASELINES` that a file has; the others get a row that says why."""
    if path is None:
        return numbers
    try:
        estimates, origin = read_baselines(path, task, settings)
    except StaleError as error:
        why = [not_available(error)]
        return replace(numbers, absent={**numbers.absent, **dict.fromkeys(BASELINES, why)})
    nan, found, absent = float("nan"), dict(numbers.predictions), dict(numbers.absent)
    for name, (key, _) in BASELINES.items():
        if key in estimates:
            found[name] = Prediction("", nan, estimates[key], nan, nan, origin)
        else:
            absent[name] = ["not available: the data set does not tell systems apart"]
    return replace(numbers, predictions=found, absent=absent)


# ---- the table -----------------------------------------------------------------------------------

MEASURES = ("mse", "spearman", "coverage", "within")
COMMON = ("common_mse", "common_spearman")
COLUMNS = [
    *("task", "variant", "label", "kernel", "tau", "neighbors", "training"),
    *with_intervals(*MEASURES, "between_share", "within_spearman"),
    *("p_value", "n", "n_covered"),
    *with_intervals(*(f"{name}_change" for name in (*MEASURES, *COMMON))),
    *("n_common", "provenance", "note"),
]
FEWEST_OF_A_SYSTEM = 10


@dataclass(frozen=True)
class TaskNumbers:
    """What one task's rows are made of.

    quality, group : shape (candidates,); `system_groups`
    predictions : by variant, plain among them
    absent : variant -> notes; they get a row without numbers
    system : who wrote each candidate, as in `Rated`; empty where it is not known
    units : of each candidate, as in `refless.statistics.evaluate`
    """

    quality: Array
    group: Array
    predictions: Mapping[str, Prediction]
    absent: Mapping[str, list[str]] = field(default_factory=dict)
    system: Sequence[str] = ()
    units: Array | None = None


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
    bootstrap."""
    truth, plain = numbers.quality, numbers.predictions[PLAIN]
    estimates = [one.estimate for one in numbers.predictions.values()]
    how: dict[str, Any] = {"units": numbers.units, "seed": seed}
    compared = paired_bootstrap(
        estimates, plain.estimate, truth, groups=numbers.group, draws=draws, **how
    )
    rows = []
    for (name, one), result in zip(numbers.predictions.items(), compared, strict=True):
        covered = ~np.isnan(one.estimate)
        row: dict[str, Any] = {"task": task, "variant": name, **one.facts()}
        for measure in MEASURES:
            row |= getattr(result.own, measure).columns(measure)
        if numbers.system and name not in SYSTEM_ALONE:
            apart = between_and_within(
                one.estimate, truth, numbers.system, draws=max(1, draws // 4), **how
            )
            row |= apart.between_share.columns("between_share")
            row |= apart.within_spearman.columns("within_spearman")
        row["p_value"] = spearman(one.estimate[covered], truth[covered])[1]
        row |= {"n": len(truth), "n_covered": int(covered.sum())}
        if name != PLAIN:
            for measure in MEASURES:
                row |= getattr(result.change, measure).columns(f"{measure}_change")
            for measure in COMMON:
                row |= getattr(result, measure).columns(f"{measure}_change")
            row["n_common"] = result.n_common
        if covered.sum() < 3:  # two texts have no rho to speak of
            own = ("spearman", "spearman_change", "common_spearman_change", "within_change")
            row |= {k: np.nan for k in with_intervals(*own) if k in row}
        row |= {"provenance": one.provenance, "note": _notes(one, row["n_covered"])}
        rows.append(row)
    for name, notes in numbers.absent.items():
        kernel = plain.kernel if name in TRAINING_VARIANTS else "" if name in BASELINES else name
        rows.append({"task": task, "variant": name, "kernel": kernel, "note": notes})
    return rows


def ablation_table(
    looks: Sequence[str] | Mapping[str, Any],
    numbers: Mapping[str, TaskNumbers],
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """The rows of all tasks, with `COLUMNS`.

    Parameters
    ----------
    looks : tasks, in the order of the rows
    numbers : by task, of those that are there; the others get one row without numbers
    draws, seed : of the paired bootstrap
    """
    rows: list[dict[str, Any]] = []
    for task in looks:
        if task in numbers:
            rows += ablation_rows(task, numbers[task], draws, seed)
        else:
            rows.append({"task": task, "variant": PLAIN})
    table = tidy(rows, COLUMNS)
    table["label"] = [LABELS.get(name, name) for name in table["variant"]]
    return table


def _notes(one: Prediction, covered: int) -> list[str]:
    notes = []
    if one.tau == LEAST_TAU:
        notes.append("no tau gives as many neighbors as plain, so any similarity makes one")
    if covered == 0:
        notes.append("no candidate has enough neighbors, or few enough")
    return notes
