"""Table 1 and section 5.3 of the BLEU Neighbors paper: models and annotators on each task.

Stage: cell -> table. In: predictions of the tasks that are there. Out: in table 1 a row a (task,
model, kernel, against), in section 5.3 one a (task, model, kernel), beside the published cells.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.neighbors import Predicted
from refless.experiments.published import beside_paper, with_intervals
from refless.statistics import Estimate, covered_errors, evaluate, human_rows

Array = np.ndarray
Rows = list[dict[str, Any]]
Looks = Mapping[str, Mapping[str, Any]]
"""Task -> how it is shown, all tasks in order; ``published`` is its name in the paper."""
Models = Mapping[str, Sequence[str]]
"""Model -> its kernels, the published one first."""

BEST, AVERAGE = "human_best", "human_average"
ALL, OTHERS = "all", "others"
"""What a text's quality is: the mean of all labels, or, of each annotator, that of the others'."""
KEYS = ["task", "model", "kernel", "against"]
SECTION_KEYS = ["task", "model", "kernel"]
LAST = ["p", "p_below_0.01", "paper_p_below_0.01", "stand_in", "n", "source", "reason"]


def cells(
    estimate: Array, quality: Array, draws: int, seed: int, units: Array | None = None
) -> dict[str, Any]:
    """The columns of estimates (n,), NaN where undefined, against quality (n,): see `evaluate`."""
    found = evaluate(estimate, quality, draws, seed, units)
    return {
        **found.mse.columns("mse"),
        **found.spearman.columns("spearman"),
        **found.coverage.columns("coverage"),
        "p": found.p_value,
        "p_below_0.01": int(found.p_value < 0.01),
        "n": found.n,
        "reason": "" if found.n_covered else "no_neighbors",
    }


def of_our_tasks(published: pd.DataFrame, looks: Looks) -> pd.DataFrame:
    """Published cells under our names of tasks, without those of tasks that are not configured."""
    names = {look["published"]: task for task, look in looks.items() if look["published"]}
    roles = [name for name in map(str, published) if name.endswith("task")]
    return published.assign(**{role: published[role].map(names) for role in roles}).dropna()


def _of_our_kernels(published: pd.DataFrame, looks: Looks, models: Models) -> pd.DataFrame:
    kernels = [models[model][0] if model in models else "" for model in published["model"]]
    return of_our_tasks(published.assign(kernel=kernels, against=ALL), looks)


def _shown(data: Predicted | None, kernels: Sequence[str]) -> list[str]:
    """The published kernel, and those that have numbers."""
    return [k for k in kernels if k == kernels[0] or (data is not None and k in data.estimates)]


def table1(
    looks: Looks,
    tasks: Mapping[str, Predicted],
    published: pd.DataFrame,
    models: Models,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """The rows of every task.

    tasks : those that are there; the others get rows without numbers
    published : by `refless.experiments.published.read_published`
    draws, seed : of the bootstrap
    """
    rows: Rows = []
    for task, look in looks.items():
        data = tasks.get(task)
        own = annotator_rows(data, draws, seed) + model_rows(data, models, draws, seed)
        # elsewhere the best annotator is one who rated very little
        kept = [row for row in own if look["published"] or row["model"] != BEST]
        rows += [{"task": task, "kernel": "", **row} for row in kept]
    columns = list(KEYS)
    for name in ("mse", "spearman", "coverage"):
        columns += [*with_intervals(name), f"paper_{name}"]
    columns += [*LAST, "mse_draws", "spearman_draws"]
    return beside_paper(rows, _of_our_kernels(published, looks, models), KEYS, columns)


def annotator_rows(data: Predicted | None, draws: int, seed: int) -> Rows:
    """The best and the average annotator; one without a rho (labels all alike, or fewer than three)
    counts as 0, as in the paper."""
    if data is None or not len(data.rated.labels[0]):
        reason = "" if data is None else "no_annotators"
        return [{"model": name, "against": ALL, "reason": reason} for name in (BEST, AVERAGE)]
    rated = data.rated
    rows: Rows = []
    for against in (ALL, OTHERS):
        people = human_rows(
            *(*rated.labels, rated.quality),
            others=against == OTHERS,
            units=rated.units,
            draws=draws,
            seed=seed,
        )
        common = {
            "against": against,
            **Estimate(1.0, 1.0, 1.0).columns("coverage"),
            "n": len(rated.id),
            "source": data.source,
        }
        best = people.best_mse.columns("mse") | people.best_spearman.columns("spearman")
        mean = people.average_mse.columns("mse") | people.average_spearman.columns("spearman")
        if against == ALL:
            rows.append({"model": BEST, **best, **common})
        rows.append({"model": AVERAGE, **mean, **common})
    return rows


def model_rows(data: Predicted | None, models: Models, draws: int, seed: int) -> Rows:
    """A row a kernel that has numbers, and without any for a published one that has none; the
    first kernel of ``bleu`` against the other annotators, too."""
    rows: Rows = []
    for model, kernels in models.items():
        for kernel in _shown(data, kernels):
            row: dict[str, Any] = {"model": model, "kernel": kernel, "against": ALL}
            rows.append(row)
            if data is None or kernel not in data.estimates:
                continue
            row |= data.shown(kernel)
            estimate, rated = data.estimates[kernel], data.rated
            if kernel == models["bleu"][0]:
                others = against_others(data, estimate, max(1, draws // 4), seed)
                rows += [{**row, **one} for one in others]
            row |= cells(estimate, rated.quality, draws, seed, rated.units)
    return rows


def against_others(data: Predicted, estimate: Array, draws: int, seed: int) -> Rows:
    """A model where each annotator's texts are measured against the other annotators' labels, and
    averaged over annotators; no row where nothing can be."""
    rated = data.rated
    found = human_rows(
        *(*rated.labels, rated.quality),
        estimate=estimate,
        others=True,
        units=rated.units,
        draws=draws,
        seed=seed,
    )
    if np.isnan(found.average_spearman.value):
        return []
    several = np.bincount(rated.labels[0], minlength=len(rated.id)) > 1
    return [
        {
            "against": OTHERS,
            **found.average_mse.columns("mse"),
            **found.average_spearman.columns("spearman"),
            "coverage": float((several & ~np.isnan(estimate)).sum() / several.sum()),
            "n": int(several.sum()),
        }
    ]


# ---- section 5.3: are only the texts covered that are easy to score? -----------------------------


def section53(
    looks: Looks,
    tasks: Mapping[str, Predicted],
    published: pd.DataFrame,
    models: Models,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """The mean over annotators of their MSE on all texts and on those that a model covers.

    ``p`` is that of a permutation test over texts; ``above_bleu`` the model's ``mse_covered`` minus
    that of BLEU, which the paper gives for ROUGE on dialogue. Parameters as in `table1`.
    """
    rows = [
        {"task": task, **row}
        for task in looks
        for row in covered_rows(tasks.get(task), models, draws, seed)
    ]
    columns = [*SECTION_KEYS, *with_intervals("mse_all"), "paper_mse_all", "mse_covered"]
    for name in ("relative_difference", "above_bleu"):
        columns += [*with_intervals(name), f"paper_{name}"]
    own = _of_our_kernels(published, looks, models).drop(columns="against")
    return beside_paper(rows, own, SECTION_KEYS, columns + LAST)


def covered_rows(data: Predicted | None, models: Models, draws: int, seed: int) -> Rows:
    """The rows of one task: of each model the published kernel, and where that has no numbers the
    first that has."""
    absent = "no_annotators" if data is not None and not len(data.rated.labels[0]) else ""
    rows: Rows = []
    bleu: Estimate | None = None
    for model, kernels in models.items():
        there = _shown(data, kernels)
        for kernel in there[: 1 if data is None or there[0] in data.estimates else 2]:
            row: dict[str, Any] = {"model": model, "kernel": kernel, "reason": absent}
            rows.append(row)
            if data is None or kernel not in data.estimates or absent:
                continue
            covered, rated = ~np.isnan(data.estimates[kernel]), data.rated
            found = covered_errors(*rated.labels, rated.quality, covered, draws, seed, rated.units)
            row |= {
                **found.overall.columns("mse_all"),
                "mse_covered": found.covered.value,
                **found.relative.columns("relative_difference"),
                "p": found.p_value,
                "p_below_0.01": int(found.p_value < 0.01),
                "n": len(rated.id),
                **data.shown(kernel),
                "reason": "" if covered.any() else "no_neighbors",
            }
            if kernel == models["bleu"][0]:
                bleu = found.covered
            elif bleu is not None:
                row |= found.covered.less(bleu).columns("above_bleu")
    return rows
