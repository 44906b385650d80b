"""Table 1 and section 5.3 of the BLEU Neighbors paper: models and annotators on each data set.

Stage: cell -> table. In: predictions of the tasks that are there. Out: in table 1 a row a (dataset,
model, kernel, ground_truth), in section 5.3 one a (dataset, model, kernel), beside the published
cells.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.neighbors import Predicted
from refless.experiments.published import measure_columns, merge_published
from refless.statistics import Estimate, covered_errors, evaluate, human_rows
from refless.statistics.bootstrap import training_factor

Array = np.ndarray
TableRows = list[dict[str, Any]]
Styles = Mapping[str, Mapping[str, Any]]
"""Task -> how it is shown, all tasks in order; ``published`` is its name in the paper."""
Models = Mapping[str, Sequence[str]]
"""Model -> its kernels, the published one first."""

BEST, AVERAGE = "human_best", "human_average"
ALL, OTHERS = "all", "others"
"""What a text's quality is: the mean of all labels, or, of each annotator, that of the others'."""
_KEYS = ["dataset", "model", "kernel", "ground_truth"]
_SECTION_KEYS = ["dataset", "model", "kernel"]
LAST = [
    "p",
    "p_below_0.01",
    "paper_p_below_0.01",
    "substitute_encoder",
    "n",
    "provenance",
    "reason",
]


def columns_of(**found: Estimate) -> dict[str, Any]:
    """The columns of estimates, by name."""
    return {key: value for name, one in found.items() for key, value in one.columns(name).items()}


def cells(
    estimate: Array,
    quality: Array,
    draws: int,
    seed: int,
    units: Array | None = None,
    training: int | None = None,
) -> dict[str, Any]:
    """The columns of estimates (n,), NaN where undefined, against quality (n,): see `evaluate`.
    ``training`` is from how many examples each estimate was learned; None: it is held fixed."""
    share = training / len(quality) if training else None
    found = evaluate(estimate, quality, draws, seed, units, share)
    row = columns_of(mse=found.mse, spearman=found.spearman, coverage=found.coverage)
    row |= {"p": found.p_value, "p_below_0.01": int(found.p_value < 0.01), "n": found.n}
    return {**row, "reason": "" if found.coverage.value else "no_neighbors"}


def of_our_tasks(published: pd.DataFrame, styles: Styles) -> pd.DataFrame:
    """Published cells under our names of tasks; of a data set that is not configured, under no name
    that one of ours may have."""
    names = {style["published"]: dataset for dataset, style in styles.items() if style["published"]}
    roles = [name for name in map(str, published) if name.endswith("dataset")]
    ours = {
        role: published[role].map(lambda name: names.get(name, f"{name} (not configured)"))
        for role in roles
    }
    return published.assign(**ours)


def _of_our_kernels(published: pd.DataFrame, styles: Styles, models: Models) -> pd.DataFrame:
    kernels = [models[model][0] if model in models else "" for model in published["model"]]
    return of_our_tasks(published.assign(kernel=kernels, ground_truth=ALL), styles)


def table1(
    styles: Styles,
    tasks: Mapping[str, Predicted],
    published: pd.DataFrame,
    models: Models,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """The rows of every data set.

    tasks : those that are there; the others get rows without numbers
    published : by `refless.experiments.published.read_published`
    draws, seed : of the bootstrap
    """
    rows: TableRows = []
    for dataset, style in styles.items():
        data = tasks.get(dataset, Predicted())
        own = annotator_rows(data, draws, seed) + model_rows(data, models, draws, seed)
        # elsewhere the best annotator is one who rated very little
        kept = [row for row in own if style["published"] or row["model"] != BEST]
        rows += [{"dataset": dataset, "kernel": "", **row} for row in kept]
    columns = [*_KEYS, *measure_columns("mse", "spearman", "coverage"), *LAST]
    columns += ["mse_draws", "spearman_draws"]
    return merge_published(rows, _of_our_kernels(published, styles, models), _KEYS, columns)


def annotator_rows(data: Predicted, draws: int, seed: int) -> TableRows:
    """The best and the average annotator; one without a rho (labels all alike, or fewer than three)
    counts as 0, as in the paper."""
    if not data.annotated:
        reason = "no_annotators" if data.id else ""
        return [{"model": name, "ground_truth": ALL, "reason": reason} for name in (BEST, AVERAGE)]
    of_all, of_others = (
        human_rows(*data.panel, others=others, units=data.units, draws=draws, seed=seed)
        for others in (False, True)
    )
    common = {**columns_of(coverage=Estimate(1.0, 1.0, 1.0)), "provenance": data.provenance}
    several = int(rated_by_several(data).sum())
    return [
        {
            "model": model,
            "ground_truth": ground_truth,
            **columns_of(mse=mse, spearman=rho),
            **common,
            "n": n,
        }
        for model, ground_truth, mse, rho, n in (
            (BEST, ALL, of_all.best_mse, of_all.best_spearman, len(data.quality)),
            (AVERAGE, ALL, of_all.average_mse, of_all.average_spearman, len(data.quality)),
            (AVERAGE, OTHERS, of_others.average_mse, of_others.average_spearman, several),
        )
        if n
    ]


def rated_by_several(data: Predicted) -> Array:
    """Whether a text has two annotators or more, bool (n,)."""
    pairs = np.unique(np.array([data.panel[0], pd.factorize(data.panel[1])[0]]), axis=1)
    return np.bincount(pairs[0], minlength=len(data.quality)) > 1


def model_rows(data: Predicted, models: Models, draws: int, seed: int) -> TableRows:
    """A row a kernel that has numbers, and without any for a published one that has none; the
    first kernel of ``bleu`` against the other annotators, too."""
    rows: TableRows = []
    for model, kernels in models.items():
        there = [kernel for kernel in kernels if kernel in data.estimates]
        for kernel in dict.fromkeys([kernels[0], *there]):
            row: dict[str, Any] = {"model": model, "kernel": kernel, "ground_truth": ALL}
            rows.append(row)
            if kernel in there:
                row |= data.shown(kernel)
                estimate = data.estimates[kernel]
                if kernel == models["bleu"][0]:
                    others = against_others(data, estimate, max(1, draws // 4), seed)
                    rows += [{**row, **one} for one in others]
                training = len(data.quality) - 1  # each text is left out
                row |= cells(estimate, data.quality, draws, seed, data.units, training)
    return rows


def against_others(data: Predicted, estimate: Array, draws: int, seed: int) -> TableRows:
    """A model where each annotator's texts are measured against the other annotators' labels, and
    averaged over annotators; no row where nothing can be."""
    averages = human_rows(
        *data.panel, estimate=estimate, others=True, units=data.units, draws=draws, seed=seed
    )
    if np.isnan(averages.average_spearman.value):
        return []
    several = rated_by_several(data)
    coverage = float((several & ~np.isnan(estimate)).sum() / several.sum())
    factor = training_factor((len(estimate) - 1) / len(estimate))
    measures = columns_of(
        mse=averages.average_mse.with_spread(factor, 0, np.inf),
        spearman=averages.average_spearman.with_spread(factor, -1, 1),
    )
    return [{"ground_truth": OTHERS, **measures, "coverage": coverage, "n": int(several.sum())}]


# ---- section 5.3: are only the texts covered that are easy to score? -----------------------------


def section53(
    styles: Styles,
    tasks: Mapping[str, Predicted],
    published: pd.DataFrame,
    models: Models,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """The mean over annotators of their MSE on all texts and on those that a model covers.

    ``p`` is that of a permutation test over texts; ``difference_to_bleu`` the model's
    ``mse_covered`` minus that of BLEU, which the paper gives for ROUGE on dialogue. Parameters as
    in `table1`.
    """
    rows = [
        {"dataset": dataset, **row}
        for dataset in styles
        for row in covered_rows(tasks.get(dataset, Predicted()), models, draws, seed)
    ]
    columns = [*_SECTION_KEYS, *measure_columns("mse_all"), "mse_covered"]
    columns += [*measure_columns("relative_difference", "difference_to_bleu"), *LAST]
    own = _of_our_kernels(published, styles, models).drop(columns="ground_truth")
    return merge_published(rows, own, _SECTION_KEYS, columns)


def covered_rows(data: Predicted, models: Models, draws: int, seed: int) -> TableRows:
    """The rows of one data set: of each model the published kernel, and where that has no numbers
    the first that has."""
    absent = "no_annotators" if data.id and not data.annotated else ""
    rows: TableRows = []
    bleu: Estimate | None = None
    for model, kernels in models.items():
        there = [kernel for kernel in kernels if kernel in data.estimates][:1]
        for kernel in dict.fromkeys([kernels[0], *there]):
            row: dict[str, Any] = {"model": model, "kernel": kernel, "reason": absent}
            rows.append(row)
            if kernel not in there or not data.annotated:
                continue
            covered = ~np.isnan(data.estimates[kernel])
            found = covered_errors(*data.panel, covered, draws, seed, data.units)
            row |= data.shown(kernel)
            row |= columns_of(mse_all=found.overall, relative_difference=found.relative)
            row |= {"mse_covered": found.covered.value, "n": len(data.quality)}
            row |= {"p": found.p_value, "p_below_0.01": int(found.p_value < 0.01)}
            row["reason"] = "" if covered.any() else "no_neighbors"
            if kernel == models["bleu"][0]:
                bleu = found.covered
            elif bleu is not None:
                row |= columns_of(difference_to_bleu=found.covered - bleu)
    return rows
