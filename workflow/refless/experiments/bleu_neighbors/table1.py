"""Table 1 of the BLEU Neighbors paper: models and annotators on each task.

Stage: cell -> table. In: ratings and predictions of the tasks that are there. Out: one row a
(model, task, kernel, reading), with the published cells beside ours, as a table and for reading.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task, read_task
from refless.data.wording import ASIDE, wording
from refless.errors import StaleError
from refless.experiments.bleu_neighbors.baselines import (
    CONSTANT,
    LABELS,
    ranks_nothing,
    read_baselines,
)
from refless.experiments.bleu_neighbors.columns import not_available, tidy, with_intervals
from refless.experiments.bleu_neighbors.leave_one_out import (
    BY_SYSTEM,
    PREDICTION_COLUMNS,
    Truth,
    annotators_of,
    apply_thresholds,
    estimate_cells,
    human_cells,
    model_cells,
    read_truths,
    system_cells,
)
from refless.report.published import beside_published
from refless.statistics import (
    Annotators,
    annotators_less,
    beside_annotators,
    drawn_whole,
    least_between,
    needed,
    paired_bootstrap,
    pairwise_accuracy,
    reliability,
)
from refless.store import signed

Array = np.ndarray

HUMANS = ("human_best", "human_average")
KEYS = ["model", "task"]
VALUES = ["mse", "spearman", "coverage", "p_below_0.01"]
OTHERS = "others"
APART = [
    *BY_SYSTEM,
    *(*with_intervals("pairwise_accuracy"), "pairs"),
]
"""A correlation over texts of several systems, taken apart; and over pairs of texts."""
BESIDE = [
    *with_intervals("human_spearman", "human_difference", "human_mse_difference"),
    *("difference_se", "least_detectable", "texts_needed"),
]
"""A model beside the annotators: `beside_annotators`; under the reading ``published``, the
annotators' rho and MSE less the model's: `annotators_less`."""
FIRST = with_intervals("bleu_difference")
"""The rho of the first kernel of `bleu` less that of this row, on the texts that both cover."""
READING_NOTES = {
    "published": "",
    "exact": "means of the ratings rounded once",
    "item": "rated items one by one, equal pairs apart",
    "others": "against the mean of the other annotators' labels, without the annotator's own",
    "folds": "from the texts of the other folds",
    "without undefined": "annotators without a rho left out, not counted as 0",
}


@dataclass(frozen=True)
class Settings:
    """What the configuration says about a table.

    a, b : evidence thresholds
    draws, seed : of the bootstrap
    models : model -> kernels, the published one first
    """

    a: int
    b: float
    draws: int
    seed: int
    models: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class TaskInput:
    """One task: truths by reading, predictions by (kernel, reading).

    kernels : kernel -> what the predictions' record says of it (``provenance``, ``signature``,
        ``tau``)
    systems, contexts : who wrote each candidate of the reading ``published``, and
        `refless.data.task.Task.contexts`
    baselines : estimates of these candidates by (baseline, split)
    no_baselines : why there are none, where a file of theirs was refused
    """

    truths: dict[str, Truth]
    predictions: dict[tuple[str, str], pd.DataFrame]
    kernels: dict[str, dict[str, Any]] = field(default_factory=dict)
    ratings_provenance: str = "computed"
    systems: list[str] = field(default_factory=list)
    contexts: Array | None = None
    baselines: dict[tuple[str, str], Array] = field(default_factory=dict)
    baselines_provenance: str = ""
    no_baselines: str = ""

    def units(self, reading: str = "published") -> Array | None:
        """What is drawn whole of the candidates of a reading: see `drawn_whole`."""
        if self.contexts is None:
            return None
        rows = self.truths["published"].row  # ascending
        return drawn_whole(self.contexts[np.searchsorted(rows, self.truths[reading].row)])

    def about(self, kernel: str) -> dict[str, Any]:
        """The columns ``stand_in`` (see `is_stand_in`) and ``provenance``."""
        known = self.kernels[kernel]
        return {
            "stand_in": int(is_stand_in(known["signature"])),
            "provenance": known["provenance"],
        }

    def notes(self, kernel: str) -> list[str]:
        """What is to be said of a kernel wherever its numbers stand; mostly nothing."""
        return kernel_notes(self.kernels[kernel]["signature"], self.kernels[kernel]["tau"])


def read_tasks(
    folders: Sequence[str | Path],
    predictions: Sequence[str | Path],
    taus: Mapping[str, float],
    kernels: Collection[str] | None = None,
    baselines: Sequence[str | Path] = (),
    baseline_settings: Mapping[str, Any] | None = None,
) -> tuple[dict[str, TaskInput], list[str]]:
    """The tasks that are there, and the notes for the table's footer.

    Parameters
    ----------
    folders : of the tasks' ratings
    predictions : by `write_predictions`, in the same order
    taus : kernel -> the tau that they must have been made with
    kernels : whose signatures are noted; None for all
    baselines, baseline_settings : ``<task>.npz`` by `write_baselines`, of those that are there

    Raises as `refless.store.signed.read`; rows of a stale file of baselines are empty and say why.
    """
    tasks: dict[str, TaskInput] = {}
    files = {Path(path).name.removesuffix(".npz"): path for path in baselines}
    notes: list[str] = []
    for folder, path in zip(folders, predictions, strict=True):
        task = read_task(folder)
        made_with = signed.record_of(path)["settings"].get("taus", {})
        file = signed.read(
            path,
            "predictions",
            of={"task": task.name},
            settings={"taus": {kernel: taus.get(kernel) for kernel in made_with}},
            made_from={"texts": signed.identity(task.about)},
            columns=PREDICTION_COLUMNS,
        )
        by_kernel = file.content.groupby(["kernel", "reading"])
        known = {one["kernel"]: one for one in file.about["facts"]["kernels"]}
        tasks[task.name] = TaskInput(
            read_truths(task.texts, task.ratings, task.scale),
            {(str(kernel), str(reading)): rows for (kernel, reading), rows in by_kernel},
            known,
            task.provenance,
            task.texts.loc[task.texts["quality"].notna(), "system"].tolist(),
            task.contexts,
        )
        if task.name in files:
            try:
                found = read_baselines(files[task.name], task, baseline_settings or {})
                tasks[task.name].baselines, tasks[task.name].baselines_provenance = found
            except StaleError as error:
                tasks[task.name].no_baselines = not_available(error)
        notes += task.notes
        notes += _repeats(task)
        notes += [o["note"] for k, o in known.items() if kernels is None or k in kernels]
    return tasks, notes


def _repeats(task: Task) -> list[str]:
    """How many rated texts stand there twice; nothing where the texts themselves do not, as in
    shipped numbers."""
    own = task.texts.loc[task.texts["quality"].notna(), "text"]
    again = len(own) - own.map(wording).nunique()
    if not again or own.eq("").all():
        return []
    one_by_one = drawn_whole(task.contexts) is None
    return [
        f"{again} of {len(own)} rated texts of {task.name} repeat an earlier one ({ASIDE});"
        " they are each other's neighbors"
        + (", and intervals, which draw them one by one, are too narrow" if one_by_one else "")
    ]


def table1(
    looks: Mapping[str, Mapping[str, Any]],
    tasks: Mapping[str, TaskInput],
    published: pd.DataFrame,
    settings: Settings,
) -> pd.DataFrame:
    """All rows, published variants first within a (model, task).

    Parameters
    ----------
    looks : task -> its entry of the configuration (``published``: its name in the paper, ``note``),
        all tasks in the order of the rows
    tasks : the tasks that are there; the others get a row a model, without numbers
    published : `refless.report.published.read_published`, tasks under the paper's names
    """
    rows: list[dict[str, Any]] = []
    for task, look in looks.items():
        own: list[dict[str, Any]] = []
        if task in tasks:
            people = _annotators(tasks[task], settings)
            own += _human_rows(tasks[task], people)
            for model, kernels in settings.models.items():
                for kernel in kernels:
                    found = _model_rows(kernel, tasks[task], settings, people)
                    own += [{"model": model, "kernel": kernel, **row} for row in found]
            own += _baseline_rows(tasks[task], settings)
        else:
            own += [{"model": model, "kernel": ""} for model in HUMANS]
            own += [{"model": m, "kernel": kernels[0]} for m, kernels in settings.models.items()]
        own += rows_of_lost_models(published, settings)
        about = [look["note"]] if look["note"] else []
        rows += [{**row, "task": task, "note": about + row.get("note", [])} for row in own]
    table = beside_paper(rows, looks, published, KEYS, VALUES)
    # what the paper has is against all labels
    if "reading" in table:
        table["agreement"] = table["agreement"].mask(table["reading"] == OTHERS, "")
    shown = [*KEYS, "kernel", "reading"]
    for column in VALUES[:3]:
        shown += [*with_intervals(column), f"paper_{column}"]
    shown += ["p_value", "p_below_0.01", "paper_p_below_0.01", "agreement", "stand_in"]
    shown += [*APART, *BESIDE, *FIRST]
    return tidy(table, [*shown, "n", "n_covered", "annotators", "provenance", "note"])


def rows_of_lost_models(published: pd.DataFrame, settings: Settings) -> list[dict[str, Any]]:
    """A row for each model of the paper that the configuration has no kernel for."""
    return [
        {
            "model": model,
            "kernel": model,
            "note": [
                f"not available: no kernel is configured for it (bleu_neighbors.models.{model})"
            ],
        }
        for model in dict.fromkeys(published["model"])
        if model not in {*HUMANS, *settings.models}
    ]


def beside_paper(
    rows: Sequence[Mapping[str, Any]],
    looks: Mapping[str, Mapping[str, Any]],
    published: pd.DataFrame,
    keys: Sequence[str],
    values: Sequence[str],
) -> pd.DataFrame:
    """`beside_published` with tasks under the paper's names; stand-ins get no ``agreement``.

    They are not the paper's kernel; and where tau is set by the paper's coverage, as the
    configuration has it, coverage agrees by construction.
    """
    table = pd.DataFrame(rows) if rows else pd.DataFrame(columns=list(keys))
    roles = [key for key in keys if key.endswith("task")]
    names = {task: look["published"] or task for task, look in looks.items()}
    ours = table[roles]
    table = beside_published(
        table.assign(**{role: table[role].map(names) for role in roles}), published, keys, values
    )
    table[roles] = ours.to_numpy()
    if "stand_in" in table:
        table["agreement"] = table["agreement"].mask(table["stand_in"] == 1, "")
    return table


def _annotators(data: TaskInput, settings: Settings) -> dict[str, Annotators]:
    """The annotators of each reading; none where ratings do not say who gave them."""
    if not len(data.truths["published"].rater):
        return {}
    how = settings.draws, settings.seed
    each = {
        reading: annotators_of(truth, *how, units=data.units(reading))
        for reading, truth in data.truths.items()
    }
    truth = data.truths["published"]
    each["without undefined"] = each["published"]
    each[OTHERS] = annotators_of(truth, *how, others=True, units=data.units())
    return each


def _human_rows(data: TaskInput, each: Mapping[str, Annotators]) -> list[dict[str, Any]]:
    """The rows of `HUMANS` by `_annotators`; one bootstrap serves the two."""
    if not each:
        note = ["not available: its ratings do not say who gave them (no column `rater`)"]
        return [{"model": model, "kernel": "", "note": note} for model in HUMANS]
    rows: dict[str, list[dict[str, Any]]] = {model: [] for model in HUMANS}
    for reading, of in each.items():
        undefined = float("nan") if reading == "without undefined" else 0.0
        truth = data.truths.get(reading, data.truths["published"])
        humans = human_cells(of, len(truth.id), undefined)
        notes = list(filter(None, [READING_NOTES[reading]]))
        lost, everyone = (humans["human_average"][name] for name in ("undefined", "annotators"))
        if lost and undefined == 0:
            notes.append(
                f"no rho, and so 0, for {lost} of {everyone} annotators (labels all alike, or"
                " fewer than 3)"
            )
        _, given = np.unique(truth.rater.astype(str), return_counts=True)
        fewest, most = (given.min(), given.max()) if len(given) else (0, 0)
        if fewest < 3:
            notes.append(
                f"annotators gave from {fewest} to {most} ratings: the best and the mean are also"
                " those of annotators of very few"
            )
        common = {"kernel": "", "reading": reading, "provenance": data.ratings_provenance}
        for model, cells in humans.items():
            rows[model].append({"model": model, **common, **cells, "note": notes})
    return [row for own in rows.values() for row in own]


def _model_rows(
    kernel: str,
    data: TaskInput,
    settings: Settings,
    people: Mapping[str, Annotators],
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for reading in data.truths:
        if (kernel, reading) not in data.predictions:
            continue
        predictions = data.predictions[kernel, reading]
        how = settings.a, settings.b, settings.draws, settings.seed
        cells = model_cells(predictions, *how, data.units(reading))
        notes = [*filter(None, [READING_NOTES[reading]]), *data.notes(kernel)]
        if cells["n_covered"] == 0:
            notes.append(
                f"no candidate has from {settings.a} neighbors to {settings.b:g} of the"
                f" training set (the most that any has is {predictions['neighbors'].max()})"
            )
        row = {"reading": reading, **cells, **data.about(kernel), "note": notes}
        if reading == "published":
            estimate = apply_thresholds(predictions, settings.a, settings.b)
            row |= apart_cells(estimate, data, settings)
            row |= _paired_cells(kernel, estimate, data, settings, people)
        rows.append(row)
    if rows and not np.isnan(estimate).all():
        beside = beside_cells(estimate, data, settings, data.notes(kernel))
        rows += [{**data.about(kernel), **row} for row in beside]
    return rows or [{}]  # a published cell must not vanish without a word


def _paired_cells(
    kernel: str,
    estimate: Array,
    data: TaskInput,
    settings: Settings,
    people: Mapping[str, Annotators],
) -> dict[str, Any]:
    """Estimates of the reading ``published`` beside the first kernel's and the annotators, on the
    same draws: the columns `FIRST`, and the differences of `BESIDE`."""
    quality, units = data.truths["published"].quality, data.units()
    cells: dict[str, Any] = {}
    first = next(iter(settings.models.get("bleu", [])), kernel)
    if kernel != first and (first, "published") in data.predictions:
        ahead = apply_thresholds(data.predictions[first, "published"], settings.a, settings.b)
        how: dict[str, Any] = {"units": units, "draws": quarter(settings.draws)}
        (found,) = paired_bootstrap([ahead], estimate, quality, **how, seed=settings.seed)
        cells |= found.common_spearman.columns("bleu_difference")
    if people:
        mse, rho = annotators_less(
            people["published"], estimate, quality, units=units, seed=settings.seed
        )
        cells |= {**rho.columns("human_difference"), **mse.columns("human_mse_difference")}
    return cells


def _baseline_rows(data: TaskInput, settings: Settings) -> list[dict[str, Any]]:
    """The baselines under the same split as the models, and under folds."""
    rows: list[dict[str, Any]] = []
    if data.no_baselines:
        empty = {"kernel": "", "reading": "published", "provenance": ""}
        note = [data.no_baselines]
        return [empty | {"model": name, "note": note} for name in LABELS]
    quality = data.truths["published"].quality
    for (name, split), estimate in data.baselines.items():
        if split == "systems":
            continue
        cells = estimate_cells(estimate, quality, settings.draws, settings.seed, data.units())
        reading = "published" if split == "texts" else split
        notes = list(filter(None, [READING_NOTES[reading]]))
        if name == CONSTANT:
            cells |= ranks_nothing()
            notes.append(
                "a constant ranks nothing; the mean of all other texts is the lower, the higher a"
                " text's own quality is, so that its rho would be -1"
            )
        else:
            cells |= apart_cells(estimate, data, settings)
        if name == "system_mean":
            cells |= dict.fromkeys(with_intervals("between_share", "within_spearman"))
            notes.append(
                "it knows nothing but the system: within one, it only falls as the text's own"
                " quality rises, which it leaves out"
            )
        common = {"model": name, "kernel": "", "provenance": data.baselines_provenance}
        rows.append({**common, "reading": reading, **cells, "note": notes})
        # one split of each; a constant ranks nothing
        if split == ("texts" if name == "lookup" else "folds"):
            rows += [{**common, **row} for row in beside_cells(estimate, data, settings, [])]
    order = list(LABELS)
    return sorted(rows, key=lambda row: order.index(row["model"]))


def apart_cells(estimate: Array, data: TaskInput, settings: Settings) -> dict[str, Any]:
    """The columns `APART` of estimates under the reading ``published``, where there are systems."""
    if len(data.systems) != len(estimate):
        return {}
    quality, draws = data.truths["published"].quality, quarter(settings.draws)
    how: dict[str, Any] = {"units": data.units(), "draws": draws, "seed": settings.seed}
    cells = system_cells(estimate, quality, data.systems, **how)
    if cells and data.contexts is not None:
        right, pairs = pairwise_accuracy(
            estimate, quality, data.contexts, draws=draws, seed=settings.seed
        )
        cells |= {**right.columns("pairwise_accuracy"), "pairs": pairs}
    return cells


def beside_cells(
    estimate: Array, data: TaskInput, settings: Settings, notes: Sequence[str]
) -> list[dict[str, Any]]:
    """The row of the reading `OTHERS`; none where no single annotators are known."""
    truth = data.truths["published"]
    if not len(truth.rater):
        return []
    found = beside_annotators(
        *(truth.candidate, truth.rater, truth.rating, estimate),
        units=data.units(),
        draws=quarter(settings.draws),
        seed=settings.seed,
    )
    if found.annotators in found.undefined:  # there is nothing to be compared
        return []
    several = np.bincount(truth.candidate, minlength=len(truth.id)) > 1
    covered = int((several & ~np.isnan(estimate)).sum())
    gap = found.difference
    least = least_between(gap.low, gap.high)
    said = [READING_NOTES[OTHERS], *notes]
    if found.undefined != (0, 0):
        human, model = found.undefined
        said.append(
            f"a rho that is undefined counts as 0: the annotator's own for {human} of"
            f" {found.annotators} annotators, the model's on the texts of {model}; over those with"
            f" both, the annotators' lead is {found.defined_difference:.3f}"
        )
    enough = needed(gap.value, least, covered) if gap.low <= 0 <= gap.high else float("nan")
    if not np.isnan(enough):
        said.append(
            "annotators and model cannot be told apart here: a difference below"
            f" {least:.2f} would mostly go unseen, and one of {abs(gap.value):.3f} takes about"
            f" {enough:,.0f} texts"
        )
    return [
        {
            "reading": OTHERS,
            **found.mse.columns("mse"),
            **found.spearman.columns("spearman"),
            "coverage": covered / several.sum() if several.any() else float("nan"),
            **found.human_spearman.columns("human_spearman"),
            **gap.columns("human_difference"),
            "difference_se": found.standard_error,
            "least_detectable": least,
            "texts_needed": enough,
            "n": int(several.sum()),
            "n_covered": covered,
            "annotators": found.annotators,
            "note": said,
        }
    ]


def quarter(draws: int) -> int:
    """Draws of what costs four times as much as a plain rho."""
    return max(1, draws // 4)


def reliability_table(
    looks: Mapping[str, Mapping[str, Any]], tasks: Mapping[str, TaskInput], settings: Settings
) -> pd.DataFrame:
    """How far the annotators of each task agree; parameters as in `table1`."""
    rows: list[dict[str, Any]] = []
    for task in looks:
        row: dict[str, Any] = {"task": task}
        if task in tasks:
            data = tasks[task]
            truth = data.truths["published"]
            row["provenance"] = data.ratings_provenance
            if not len(truth.rater):
                row |= {
                    "provenance": "",
                    "note": ["not available: no ratings of single annotators"],
                }
            else:
                found = reliability(
                    *(truth.candidate, truth.rating),
                    units=data.units(),
                    draws=settings.draws,
                    seed=settings.seed,
                )
                row |= {
                    **found.icc1.columns("icc1"),
                    **found.icck.columns("icck"),
                    **found.ceiling.columns("ceiling"),
                    "split_half": found.split_half,
                    "split_half_ceiling": max(found.split_half, 0.0) ** 0.5,
                    "n": found.n,
                    "ratings": found.ratings,
                    "annotators": len(set(truth.rater)),
                }
        rows.append(row)
    columns = [*with_intervals("icc1", "icck", "ceiling"), "split_half", "split_half_ceiling"]
    shown = ["task", *columns, "n", "ratings", "annotators", "provenance", "note"]
    return tidy(rows, shown)


def is_stand_in(signature: Mapping[str, Any]) -> bool:
    """Whether a kernel is BERTScore in another form than the paper's."""
    family, _, model = signature["kernel"].partition(".")
    other = model != "roberta-large" or bool({*signature["options"]} - {"prefix_space"})
    return family == "bertscore" and other


def kernel_notes(signature: Mapping[str, Any], tau: float) -> list[str]:
    """What is to be said of a stand-in: its tau is on another scale."""
    if not is_stand_in(signature):
        return []
    chosen = ", ".join(f"{name} {value}" for name, value in sorted(signature["options"].items()))
    model = signature["kernel"].partition(".")[2]
    return [
        f"a stand-in for the paper's BERTScore (roberta-large, layer 17, rescaled): {model}"
        f"{f' ({chosen})' if chosen else ''} has a scale of its own, and tau is {tau:g} on it"
    ]
