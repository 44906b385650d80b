"""Table 1 and section 5.3 of the BLEU Neighbors paper: models and annotators on each data set.

Stage: cell -> table. In: predictions of the tasks that are there. Out: in table 1 a row a (dataset,
model, kernel, ground_truth), in section 5.3 one a (dataset, model, kernel), beside the published
cells.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.neighbors import Predicted, read_predicted
from refless.experiments.published import merge_published
from refless.statistics import IntervalEstimate, covered_errors, evaluate
from refless.statistics.bootstrap import spread_scale, training_factor
from refless.statistics.measure import (
    TRAINING_FACTOR,
    Measure,
    measure_cells,
    measure_columns,
    number,
)

Array = np.ndarray
TableRows = list[dict[str, Any]]
TaskStyles = Mapping[str, Mapping[str, Any]]
"""Task -> how it is shown, all tasks in order; ``published`` is its name in the paper."""
Models = Mapping[str, Sequence[str]]
"""Model -> its kernels, the published one first."""

BEST = "human_best"
AVERAGE = "human_average"
ALL = "all"
"""The ground truth is the mean of all ratings of a text."""
OTHERS = "others"
"""The ground truth is, for each annotator, the mean of the other annotators' ratings of a text."""
TABLE1_KEYS = ["dataset", "model", "kernel", "ground_truth"]
SECTION53_KEYS = ["dataset", "model", "kernel"]
LAST_COLUMNS = ["p", "p_below_0.01", "paper_p_below_0.01", "substitute_encoder", "n"]
LAST_COLUMNS += ["provenance", "reason"]
LEAST_COVERAGE = 0.5
"""Below this coverage a note says whose thresholds are taken."""
OF_THE_PAPER = (
    "fewer than half of the texts are covered: the thresholds are the paper's, tuned on its data"
)
"""The note of a row whose data are not the paper's."""


def cells(
    estimate: Array,
    quality: Array,
    draws: int,
    seed: int,
    units: Array | None = None,
    training: int | None = None,
) -> dict[str, Any]:
    """Return the columns of a row that compares estimates with quality, by `evaluate`.

    estimate : float64 (n,), from 0 to 1, NaN where undefined
    quality : float64 (n,), from 0 to 1
    draws, seed : of the bootstrap
    units : (n,), what the bootstrap resamples whole; None: each text by itself
    training : the number of texts from which each estimate was learned; None: the estimates are
        held fixed
    """
    share = training / len(quality) if training else None
    scores = evaluate(estimate, quality, draws, seed, units, share)
    row = measure_cells(mse=scores.mse, spearman=scores.spearman, coverage=scores.coverage)
    row["p"] = scores.p_value
    row["p_below_0.01"] = int(scores.p_value < 0.01)
    row["n"] = scores.n
    row["n_covered"] = scores.covered
    row["reason"] = "" if scores.coverage.value else "no_neighbors"
    return row


def of_our_tasks(published: pd.DataFrame, styles: TaskStyles) -> pd.DataFrame:
    """Return published cells with our names of data sets in each column that ends in ``dataset``.

    A data set that is not configured gets a name that none of ours may have.
    """
    names = {style["published"]: dataset for dataset, style in styles.items() if style["published"]}

    def our_name(name: str) -> str:
        return names.get(name, f"{name} (not configured)")

    columns = [column for column in map(str, published) if column.endswith("dataset")]
    return published.assign(**{column: published[column].map(our_name) for column in columns})


def _of_our_kernels(published: pd.DataFrame, styles: TaskStyles, models: Models) -> pd.DataFrame:
    """Return published cells under our names of data sets, each with the published kernel of its
    model, ``""`` where the model is not configured."""
    kernels = [models[model][0] if model in models else "" for model in published["model"]]
    return of_our_tasks(published.assign(kernel=kernels), styles)


def table1(
    ratings: Iterable[str | Path],
    predictions: Iterable[str | Path],
    published: pd.DataFrame,
    styles: TaskStyles,
    models: Models,
    thresholds: Mapping[str, Any],
    bootstrap: Mapping[str, int],
) -> pd.DataFrame:
    """Return table 1: the annotators and every kernel of every model on each data set, beside the
    paper's numbers.

    ratings, predictions : files of rated texts, and of their neighbors, see `read_predicted`; a
        data set that is not in these files gets rows without numbers
    published : by `refless.experiments.published.read_published`
    styles, models : see `TaskStyles` and `Models`
    thresholds : ``a`` and ``b``, see `read_predicted`
    bootstrap : ``draws`` and ``seed``
    Returns a row a (dataset, model, kernel, ground_truth): mse, spearman and coverage, each with
        its interval and the published value; p, by permutations where few texts are covered; n and
        n_covered; provenance, and a reason for missing numbers where one is known here, which the
        report adds of absent data sets and kernels; and a note
    """
    tasks = read_predicted(ratings, predictions, **thresholds)
    rows: TableRows = []
    for dataset, style in styles.items():
        data = tasks.get(dataset, Predicted())
        for row in annotator_rows(data, **bootstrap) + model_rows(data, models, **bootstrap):
            # the best values are of people who rated very little: shown where the paper does
            if style["published"] or row["model"] != BEST:
                note = "" if style["published"] else _note(row)
                rows.append({"dataset": dataset, "kernel": "", **row, "note": note})
    columns = [*TABLE1_KEYS, *measure_columns("mse", "spearman", "coverage"), *LAST_COLUMNS]
    columns.insert(columns.index("n") + 1, "n_covered")
    columns.append("note")
    columns += [Measure("mse").draws, Measure("spearman").draws, TRAINING_FACTOR]
    printed = _of_our_kernels(published.assign(ground_truth=ALL), styles, models)
    return merge_published(rows, printed, TABLE1_KEYS, columns)


def _note(row: Mapping[str, Any]) -> str:
    """Return the note of a row of somebody's own data: `OF_THE_PAPER` where few texts are covered,
    else nothing."""
    return OF_THE_PAPER if number(row.get("coverage")) < LEAST_COVERAGE else ""


def annotator_rows(data: Predicted, draws: int, seed: int) -> TableRows:
    """Return the rows of the best and of the average annotator, and that of the average annotator
    against the others, if a text has two annotators.

    An annotator without a rho (see `human_rows`) counts as 0, as in the paper. ``n`` counts all
    rated texts, and against the others those with two annotators or more.
    """
    if not data.annotated:
        reason = "no_annotators" if data.id else ""
        return [{"model": name, "ground_truth": ALL, "reason": reason} for name in (BEST, AVERAGE)]
    of_all = data.human_rows(draws=draws, seed=seed)
    of_others = data.human_rows(others=True, draws=draws, seed=seed)
    n = len(data.quality)
    rated_by_several = int(data.rated_by_several.sum())
    measured = [
        (BEST, ALL, of_all.best_mse, of_all.best_spearman, n),
        (AVERAGE, ALL, of_all.average_mse, of_all.average_spearman, n),
        (AVERAGE, OTHERS, of_others.average_mse, of_others.average_spearman, rated_by_several),
    ]
    whole = IntervalEstimate(1.0, 1.0, 1.0)
    rows: TableRows = []
    for model, ground_truth, mse, rho, texts in measured:
        if texts == 0:
            continue
        row = {"model": model, "ground_truth": ground_truth, "provenance": data.provenance}
        row |= measure_cells(mse=mse, spearman=rho, coverage=whole)
        rows.append({**row, "n": texts, "n_covered": texts})
    return rows


def model_rows(data: Predicted, models: Models, draws: int, seed: int) -> TableRows:
    """Return a row for each kernel that has numbers, and one without numbers for each published
    kernel that has none. The published kernel of ``bleu`` has a second row, against the other
    annotators, if one of them has a rho there."""
    rows: TableRows = []
    for model, kernels in models.items():
        computed = [kernel for kernel in kernels if kernel in data.estimates]
        for kernel in dict.fromkeys([kernels[0], *computed]):
            row: dict[str, Any] = {"model": model, "kernel": kernel, "ground_truth": ALL}
            if kernel not in computed:
                rows.append(row)
                continue
            estimate = data.estimates[kernel]
            training = len(data.quality) - 1  # each text is left out
            row |= data.kernel_cells(kernel)
            row[TRAINING_FACTOR] = training_factor(training / len(data.quality))
            rows.append(row | cells(estimate, data.quality, draws, seed, data.units, training))
            if kernel == models["bleu"][0]:
                # a draw has a rho of each annotator, and takes long
                against = cells_against_others(data, estimate, max(1, draws // 4), seed)
                if against:
                    rows.append(row | against)
    return rows


def cells_against_others(data: Predicted, estimate: Array, draws: int, seed: int) -> dict[str, Any]:
    """Return the cells of a model that is measured, on each annotator's texts, against the other
    annotators' ratings, averaged over annotators; none where no annotator has a rho.

    estimate : float64 (n,), from 0 to 1, NaN where undefined
    draws, seed : of the bootstrap over texts
    """
    averages = data.human_rows(estimate=estimate, others=True, draws=draws, seed=seed)
    if np.isnan(averages.average_spearman.value):
        return {}
    rated_by_several = data.rated_by_several
    units = None if data.units is None else len(np.unique(data.units))
    scale = spread_scale(units, (len(estimate) - 1) / len(estimate), draws, seed)
    measures = measure_cells(
        mse=averages.average_mse.with_spread(scale, 0, np.inf),
        spearman=averages.average_spearman.with_spread(scale, -1, 1),
    )
    n = int(rated_by_several.sum())
    covered = int(rated_by_several[~np.isnan(estimate)].sum())
    return {
        "ground_truth": OTHERS,
        **measures,
        "coverage": covered / n,
        "n": n,
        "n_covered": covered,
    }


# ---- section 5.3: are only the texts covered that are easy to score? -----------------------------


def section53(
    ratings: Iterable[str | Path],
    predictions: Iterable[str | Path],
    published: pd.DataFrame,
    styles: TaskStyles,
    models: Models,
    thresholds: Mapping[str, Any],
    bootstrap: Mapping[str, int],
) -> pd.DataFrame:
    """Return the numbers of section 5.3: the mean over annotators of their MSE on all texts and on
    those that a model covers.

    ``p`` is that of a permutation test over texts. ``difference_to_bleu`` is the model's
    ``mse_covered`` minus that of BLEU, which the paper gives for ROUGE on dialogue. The parameters
    are those of `table1`.
    """
    tasks = read_predicted(ratings, predictions, **thresholds)
    rows: TableRows = []
    for dataset in styles:
        data = tasks.get(dataset, Predicted())
        for row in covered_rows(data, models, **bootstrap):
            rows.append({"dataset": dataset, **row})
    columns = [*SECTION53_KEYS, *measure_columns("mse_all"), "mse_covered"]
    columns += [*measure_columns("relative_difference", "difference_to_bleu"), *LAST_COLUMNS]
    printed = _of_our_kernels(published, styles, models)
    return merge_published(rows, printed, SECTION53_KEYS, columns)


def covered_rows(data: Predicted, models: Models, draws: int, seed: int) -> TableRows:
    """Return the rows of one data set: for each model that of the published kernel and, where this
    has no numbers, that of the first kernel that has some."""
    absent = "no_annotators" if data.id and not data.annotated else ""
    rows: TableRows = []
    bleu: IntervalEstimate | None = None
    for model, kernels in models.items():
        computed = [kernel for kernel in kernels if kernel in data.estimates][:1]
        for kernel in dict.fromkeys([kernels[0], *computed]):
            row: dict[str, Any] = {"model": model, "kernel": kernel, "reason": absent}
            rows.append(row)
            if kernel not in computed or not data.annotated:
                continue
            covered = ~np.isnan(data.estimates[kernel])
            errors = covered_errors(
                data.annotations,
                data.quality,
                covered,
                units=data.units,
                draws=draws,
                seed=seed,
            )
            row |= data.kernel_cells(kernel)
            row |= measure_cells(mse_all=errors.overall, relative_difference=errors.relative)
            row["mse_covered"] = errors.covered.value
            row["n"] = len(data.quality)
            row["p"] = errors.p_value
            row["p_below_0.01"] = int(errors.p_value < 0.01)
            row["reason"] = "" if covered.any() else "no_neighbors"
            if kernel == models["bleu"][0]:
                bleu = errors.covered
            elif bleu is not None:
                row |= measure_cells(difference_to_bleu=errors.covered - bleu)
    return rows
