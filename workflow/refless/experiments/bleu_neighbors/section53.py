"""Section 5.3 of the BLEU Neighbors paper: are only the texts covered that are easy to score?

Stage: cell -> table. In: individual ratings and predictions of the tasks that are there. Out: a row
a (model, task): the mean over annotators of their MSE on all texts and on those that the model
covers, the difference with a permutation test over texts, and what the paper says beside it. The
first mean needs no kernel. A second row, with another kernel, where the published one is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.leave_one_out import apply_thresholds
from refless.experiments.bleu_neighbors.table1 import (
    KEYS,
    NOTES,
    Settings,
    TaskInput,
    without_verdicts,
)
from refless.experiments.bleu_neighbors.table2 import PAPER_TASKS
from refless.report.published import beside_published, markdown, number, with_interval
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
_ESTIMATES = ["mse_all", "mse_covered", "difference", "relative_difference", "above_bleu"]


def section53(
    order: Sequence[str],
    tasks: Mapping[str, TaskInput],
    absent: Mapping[str, str],
    missing_models: Mapping[str, str],
    published: pd.DataFrame,
    settings: Settings,
) -> pd.DataFrame:
    """One row a (model, task), with the published kernel of each model; parameters as in `table1`.

    Where that kernel is missing, its row says why, and the first of the model's kernels that has
    numbers gets a row under its own name.

    ``above_bleu`` is the model's ``mse_covered`` minus that of BLEU Neighbors, which the paper
    gives for ROUGE on dialogue; its interval draws the same texts for both.
    """
    rows: list[dict[str, Any]] = []
    for task in order:
        if task in absent:
            for model in (*settings.models, *missing_models):
                note = f"not available: {absent[task]}"
                rows.append({"model": model, "task": task, "note": note})
            continue
        data = tasks[task]
        truth = data.truths[READING]
        errors = annotator_errors(truth.candidate, truth.rater, truth.rating, truth.quality)
        everyone = np.ones(len(truth.id), bool)
        common = {
            "task": task,
            **_spread("mse_all", overall_error(errors, settings.draws, settings.seed)),
            "n": len(everyone),
            "annotators": errors.annotators(everyone),
        }
        pairs = [(m, k) for m, kernels in settings.models.items() for k in _shown(data, kernels)]
        made = {kernel: _row(data, errors, kernel, settings) for _, kernel in pairs}
        bleu = made[settings.models["bleu"][0]][1] if "bleu" in settings.models else None
        for model, kernel in pairs:
            row, found = made[kernel]
            if found is not None and bleu is not None and model != "bleu":
                gap = found.covered.value - bleu.covered.value
                low, high = interval(found.covered_draws - bleu.covered_draws)
                row = row | _spread("above_bleu", Estimate(gap, low, high))
            rows.append({"model": model, **common, **row})
        for model, why in missing_models.items():
            rows.append({"model": model, **common, "note": f"not available: {why}"})
    table = pd.DataFrame(rows)
    table["_ours"] = table["task"]
    table["task"] = table["task"].map(lambda task: PAPER_TASKS.get(task, task))
    table = beside_published(table, published, KEYS, VALUES)
    table["task"] = table.pop("_ours")
    shown = [*KEYS, "kernel"]
    for column in _ESTIMATES:
        shown += [column, f"{column}_low", f"{column}_high"]
        shown += [f"paper_{column}"] if column in VALUES else []
    shown += ["p_value", "p_below_0.01", "paper_p_below_0.01", "agreement"]
    shown += ["n", "n_covered", "annotators", "annotators_covered", "provenance", "note"]
    table = table.reindex(columns=shown)
    for column in ("kernel", "provenance", "note"):
        table[column] = table[column].astype(object).fillna("")
    table = without_verdicts(table)
    for column in ("p_below_0.01", "n", "n_covered", "annotators", "annotators_covered"):
        table[column] = table[column].astype("Int64")
    return table


def _shown(data: TaskInput, kernels: Sequence[str]) -> Iterator[str]:
    """The published kernel; and the first that has numbers, if that is another."""
    there = [kernel for kernel in kernels if (kernel, READING) in data.predictions]
    yield from dict.fromkeys([kernels[0], *there[:1]])


def _row(
    data: TaskInput, errors: AnnotatorErrors, kernel: str, settings: Settings
) -> tuple[dict[str, Any], CoveredErrors | None]:
    if (kernel, READING) not in data.predictions:
        return {"kernel": kernel, "note": data.why_not(kernel)}, None
    predictions = data.predictions[kernel, READING]
    covered = ~np.isnan(apply_thresholds(predictions, settings.a, settings.b))
    found = covered_errors(errors, covered, settings.draws, settings.seed)
    notes = [data.notes.get(kernel, ""), "" if covered.any() else "no text is covered"]
    row = {
        "kernel": kernel,
        **_spread("mse_covered", found.covered),
        **_spread("difference", found.difference),
        **_spread("relative_difference", found.relative),
        "p_value": found.p_value,
        "p_below_0.01": pd.NA if np.isnan(found.p_value) else int(found.p_value < 0.01),
        "n_covered": int(covered.sum()),
        "annotators_covered": errors.annotators(covered),
        "provenance": _provenance(data, kernel),
        "note": NOTES.join(filter(None, notes)),
    }
    return row, found


def _provenance(data: TaskInput, kernel: str) -> str:
    both = {data.provenance[kernel], data.ratings_provenance}
    return "shipped" if "shipped" in both else "computed"


def _spread(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def section53_markdown(table: pd.DataFrame) -> str:
    """The table for reading; reasons are listed below."""
    header = ["model", "task", "kernel", "MSE, all texts", "MSE, covered", "relative difference"]
    header += ["p", "above BLEU's", "covered", "annotators", "provenance"]
    lines = []
    for record in table[table["mse_all"].notna()].to_dict("records"):
        row = {str(key): value for key, value in record.items()}
        star = row["paper_p_below_0.01"]
        paper = {"1": " [< 0.01]", "0": " [not significant]"}.get(star, "")
        lines.append(
            [
                str(row["model"]),
                str(row["task"]),
                f"`{row['kernel']}`",
                with_interval(row, "mse_all", 4) + _paper(row, "mse_all"),
                with_interval(row, "mse_covered", 4),
                with_interval(row, "relative_difference") + _paper(row, "relative_difference"),
                number(row["p_value"]) + paper,
                with_interval(row, "above_bleu", 4) + _paper(row, "above_bleu"),
                _of(row, "n_covered", "n"),
                _of(row, "annotators_covered", "annotators"),
                str(row["provenance"]),
            ]
        )
    parts = [markdown(header, lines)]
    reasons: dict[str, list[str]] = {}
    for record in table[table["note"] != ""].to_dict("records"):
        name = f"`{record['kernel']}`" if record["kernel"] else record["model"]
        for note in record["note"].split(NOTES):
            reasons.setdefault(note, []).append(f"{name} on {record['task']}")
    if reasons:
        listed = "\n".join(f"- {', '.join(where)}: {why}" for why, where in reasons.items())
        parts += ["## Cells without a number, and stand-ins", listed]
    return "\n\n".join(parts)


def _of(row: Mapping[str, Any], part: str, whole: str) -> str:
    return number(None) if pd.isna(row[part]) else f"{row[part]} of {row[whole]}"


def _paper(row: Mapping[str, Any], column: str) -> str:
    printed = row[f"paper_{column}"]
    return f" [{printed}]" if printed else ""


def lead_text(settings: Settings) -> str:
    """What stands above the table for reading."""
    return (
        "The mean over annotators of each one's mean squared error, on all texts and on those that"
        f" the model covers (a = {settings.a}, b = {settings.b:g}), with 95% bootstrap intervals"
        f" over texts ({settings.draws} draws, seed {settings.seed}). An annotator who rated no"
        " covered text takes no part in the second mean. p is two-sided, from a permutation test:"
        f" the difference against that of {settings.draws} random subsets of as many texts, each"
        " text with all of its ratings. What the paper says stands in square brackets; which test"
        " it used it does not say."
    )
