"""Section 5.3 of the BLEU Neighbors paper: are only the texts covered that are easy to score?

Stage: cell -> table. In: individual ratings and predictions of the tasks that are there. Out: a row
a (model, task, reading): the mean over annotators of their MSE on all texts and on those that the
model covers, the difference with a permutation test over texts, and what the paper says beside it.
The first mean needs no kernel. A second row, with another kernel, where the published one is
missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.columns import tidy, with_intervals
from refless.experiments.bleu_neighbors.leave_one_out import apply_thresholds
from refless.experiments.bleu_neighbors.table1 import (
    KEYS,
    OTHERS,
    Settings,
    TaskInput,
    beside_paper,
    quarter,
    rows_of_lost_models,
)
from refless.statistics import (
    AnnotatorErrors,
    CoveredErrors,
    Estimate,
    annotator_errors,
    covered_errors,
    interval,
    overall_error,
)

VALUES = ["mse_all", "relative_difference", "above_bleu", "p_below_0.01"]
READING = "published"
READINGS = (READING, OTHERS)
"""An annotator's label against the mean of all labels, and against that of the others."""
_OF_TASK = [*with_intervals("mse_all"), "n", "annotators"]


def section53(
    looks: Mapping[str, Mapping[str, Any]],
    tasks: Mapping[str, TaskInput],
    published: pd.DataFrame,
    settings: Settings,
) -> pd.DataFrame:
    """One row a (model, task), with the published kernel of each model; parameters as in `table1`.

    Where that kernel is missing, the first of the model's kernels that has numbers gets a row of
    its own below.

    ``above_bleu`` is the model's ``mse_covered`` minus that of BLEU Neighbors, which the paper
    gives for ROUGE on dialogue; its interval draws the same texts for both.
    """
    rows: list[dict[str, Any]] = []
    for task in looks:
        own: list[dict[str, Any]] = [{"model": model} for model in settings.models]
        if task in tasks:
            own = [
                row for reading in READINGS for row in _task_rows(tasks[task], settings, reading)
            ]
        common = {name: own[0].get(name) for name in _OF_TASK} if own else {}
        own += [{**row, **common, "kernel": ""} for row in rows_of_lost_models(published, settings)]
        rows += [{**row, "task": task} for row in own]
    table = beside_paper(rows, looks, published, KEYS, VALUES)
    if "reading" in table:
        table["agreement"] = table["agreement"].mask(table["reading"] == OTHERS, "")
    shown = [*KEYS, "kernel", "reading"]
    for column in ("mse_all", "mse_covered", "difference", "relative_difference", "above_bleu"):
        shown += with_intervals(column)
        shown += [f"paper_{column}"] if column in VALUES else []
    shown += ["p_value", "p_below_0.01", "paper_p_below_0.01", "agreement", "stand_in"]
    shown += ["n", "n_covered", "annotators", "annotators_covered", "provenance", "note"]
    return tidy(table, shown)


def _task_rows(data: TaskInput, settings: Settings, reading: str) -> list[dict[str, Any]]:
    """The rows of one task under one of `READINGS`."""
    truth = data.truths[READING]
    pairs = [(m, k) for m, kernels in settings.models.items() for k in _shown(data, kernels)]
    if not len(truth.rater):
        note = ["not available: the data set has no ratings of single annotators"]
        own = pairs if reading == READING else []
        return [{"model": model, "kernel": kernel, "note": note} for model, kernel in own]
    if reading == OTHERS:
        settings = replace(settings, draws=quarter(settings.draws))
    ratings = truth.candidate, truth.rater, truth.rating, truth.quality
    errors = annotator_errors(*ratings, others=reading == OTHERS)
    everyone = np.ones(len(truth.id), bool)
    common = {
        **overall_error(errors, settings.draws, settings.seed, data.units()).columns("mse_all"),
        "n": len(everyone),
        "annotators": errors.annotators(everyone),
    }
    made = {kernel: _row(data, errors, kernel, settings) for _, kernel in pairs}
    bleu = made[settings.models["bleu"][0]][1]
    rows = []
    for model, kernel in pairs:
        row, found = made[kernel]
        if found is not None and bleu is not None and model != "bleu":
            gap = found.covered.value - bleu.covered.value
            low, high = interval(found.covered_draws - bleu.covered_draws)
            row = row | Estimate(gap, low, high).columns("above_bleu")
        rows.append({"model": model, "reading": reading, **common, **row})
    return rows


def _shown(data: TaskInput, kernels: Sequence[str]) -> Iterator[str]:
    """The published kernel; and the first that has numbers, if that is another."""
    there = [kernel for kernel in kernels if (kernel, READING) in data.predictions]
    yield from dict.fromkeys([kernels[0], *there[:1]])


def _row(
    data: TaskInput, errors: AnnotatorErrors, kernel: str, settings: Settings
) -> tuple[dict[str, Any], CoveredErrors | None]:
    if (kernel, READING) not in data.predictions:
        return {"kernel": kernel}, None
    predictions = data.predictions[kernel, READING]
    covered = ~np.isnan(apply_thresholds(predictions, settings.a, settings.b))
    found = covered_errors(errors, covered, settings.draws, settings.seed, data.units())
    row = {
        "kernel": kernel,
        **found.covered.columns("mse_covered"),
        **found.difference.columns("difference"),
        **found.relative.columns("relative_difference"),
        "p_value": found.p_value,
        "p_below_0.01": pd.NA if np.isnan(found.p_value) else int(found.p_value < 0.01),
        "n_covered": int(covered.sum()),
        "annotators_covered": errors.annotators(covered),
        **data.about(kernel),
        "note": [*data.notes(kernel), *([] if covered.any() else ["no text is covered"])],
    }
    return row, found
