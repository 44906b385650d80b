"""Table 1 and section 5.3 of the BLEU Neighbors paper: models and annotators on each task.

Stage: cell -> table. In: predictions of the tasks that are there. Out: in table 1 a row a (task,
model, kernel, against), in section 5.3 one a (task, model, kernel), with the published cells beside
ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.neighbors import Predicted, Rated
from refless.experiments.bleu_neighbors.rows import (
    Looks,
    Rows,
    beside_paper,
    cells,
    in_order,
    of_our_tasks,
    with_intervals,
)
from refless.statistics import (
    Estimate,
    covered_errors,
    human_rows,
)

Array = np.ndarray

HUMANS = ("human_best", "human_average")
ALL, OTHERS = "all", "others"
"""What a text's quality is: the mean of all labels, or, of each annotator, that of the others'."""
KEYS = ["task", "model", "kernel", "against"]
SECTION_KEYS = ["task", "model", "kernel"]


def table1(
    looks: Looks,
    tasks: Mapping[str, Predicted],
    published: pd.DataFrame,
    models: Mapping[str, list[str]],
    **how: Any,
) -> pd.DataFrame:
    """The rows of every task.

    Parameters
    ----------
    tasks : those that are there; the others get rows without numbers
    published : by `refless.report.published.read_published`
    models : model -> kernels, the published one first
    how : ``a`` and ``b``, the evidence thresholds; ``draws`` and ``seed`` of the bootstrap
    """
    rows: Rows = []
    for task in in_order(looks, tasks):
        if task in tasks:
            own = annotator_rows(tasks[task], how["draws"], how["seed"])
            own += model_rows(tasks[task], models, **how)
        else:
            own = [{"model": name, "against": ALL} for name in HUMANS]
            first = {name: kernels[0] for name, kernels in models.items()}
            own += [{"model": name, "kernel": k, "against": ALL} for name, k in first.items()]
        # elsewhere the best annotator is one who rated very little
        if not looks[task]["published"]:
            own = [row for row in own if row["model"] != HUMANS[0]]
        rows += [{"task": task, "kernel": "", **row} for row in own]
    shown = list(KEYS)
    for column in ("mse", "spearman", "coverage"):
        shown += [*with_intervals(column), f"paper_{column}"]
    shown += ["p", "p_below_0.01", "paper_p_below_0.01", "stand_in", "n", "source", "reason"]
    shown += ["mse_draws", "spearman_draws"]
    return beside_paper(rows, _named(published, looks, models).assign(against=ALL), KEYS, shown)


def _named(published: pd.DataFrame, looks: Looks, models: Mapping[str, list[str]]) -> pd.DataFrame:
    """Published cells with the kernel that the paper's model has."""
    first = [next(iter(models.get(model, [])), "") for model in published["model"]]
    return of_our_tasks(published.assign(kernel=first), looks)


def annotator_rows(data: Predicted, draws: int, seed: int) -> Rows:
    """The rows of `HUMANS`; an annotator without a rho (labels all alike, or fewer than three)
    counts as 0, as in the paper."""
    rated = data.rated
    if not len(rated.rater):
        return [{"model": HUMANS[1], "against": ALL, "reason": "no_annotators"}]
    rows: Rows = []
    for against in (ALL, OTHERS):
        people = human_rows(
            *(rated.candidate, rated.rater, rated.rating, rated.quality),
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
            rows.append({"model": HUMANS[0], **best, **common})
        rows.append({"model": HUMANS[1], **mean, **common})
    return rows


def model_rows(
    data: Predicted, models: Mapping[str, list[str]], a: int, b: float, draws: int, seed: int
) -> Rows:
    """A row a kernel that has numbers, and without any for a published one that has none; the
    first kernel of ``bleu`` against the other annotators, too."""
    rated, rows = data.rated, []
    for model, kernels in models.items():
        there = [kernel for kernel in kernels if kernel in data.means]
        for kernel in dict.fromkeys([kernels[0], *there]):
            row: dict[str, Any] = {"model": model, "kernel": kernel, "against": ALL}
            rows.append(row)
            if kernel not in there:
                continue
            estimate = data.estimates(kernel, a, b)
            if kernel == models["bleu"][0]:
                found = against_others(rated, estimate, max(1, draws // 4), seed)
                rows += [{**row, **data.kernels[kernel], **one} for one in found]
            row |= data.kernels[kernel]
            row |= cells(estimate, rated.quality, draws, seed, rated.units)
    return rows


def against_others(rated: Rated, estimate: Array, draws: int, seed: int) -> Rows:
    """A model where each annotator's texts are measured against the other annotators' labels, and
    averaged over annotators; no row where nothing can be."""
    found = human_rows(
        *(rated.candidate, rated.rater, rated.rating, rated.quality),
        estimate=estimate,
        others=True,
        units=rated.units,
        draws=draws,
        seed=seed,
    )
    if np.isnan(found.average_spearman.value):
        return []
    several = np.bincount(rated.candidate, minlength=len(rated.id)) > 1
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
    models: Mapping[str, list[str]],
    **how: Any,
) -> pd.DataFrame:
    """The mean over annotators of their MSE on all texts and on those that a model covers.

    ``p`` is that of a permutation test over texts; ``above_bleu`` the model's ``mse_covered`` minus
    that of BLEU, which the paper gives for ROUGE on dialogue. Parameters as in `table1`.
    """
    rows: Rows = []
    for task in in_order(looks, tasks):
        first = {name: kernels[0] for name, kernels in models.items()}
        own: Rows = [{"model": name, "kernel": kernel} for name, kernel in first.items()]
        if task in tasks:
            own = covered_rows(tasks[task], models, **how)
        rows += [{"task": task, **row} for row in own]
    shown = list(SECTION_KEYS)
    shown += [*with_intervals("mse_all"), "paper_mse_all", "mse_covered"]
    for column in ("relative_difference", "above_bleu"):
        shown += [*with_intervals(column), f"paper_{column}"]
    shown += ["p", "p_below_0.01", "paper_p_below_0.01", "stand_in", "n", "source", "reason"]
    return beside_paper(rows, _named(published, looks, models), SECTION_KEYS, shown)


def covered_rows(
    data: Predicted, models: Mapping[str, list[str]], a: int, b: float, draws: int, seed: int
) -> Rows:
    """The rows of one task: of each model the published kernel, and where that has no numbers the
    first that has."""
    rated = data.rated
    absent = "" if len(rated.rater) else "no_annotators"
    ratings = rated.candidate, rated.rater, rated.rating, rated.quality
    rows: Rows = []
    covered_by_bleu: Estimate | None = None
    for model, kernels in models.items():
        there = [kernel for kernel in kernels if kernel in data.means]
        for kernel in dict.fromkeys([kernels[0], *there[:1]]):
            row: dict[str, Any] = {"model": model, "kernel": kernel, "reason": absent}
            rows.append(row)
            if kernel not in there or absent:
                continue
            covered = ~np.isnan(data.estimates(kernel, a, b))
            found = covered_errors(*ratings, covered, draws, seed, rated.units)
            row |= {
                **found.overall.columns("mse_all"),
                "mse_covered": found.covered.value,
                **found.relative.columns("relative_difference"),
                "p": found.p_value,
                "p_below_0.01": int(found.p_value < 0.01),
                "n": len(rated.id),
                **data.kernels[kernel],
                "reason": "" if covered.any() else "no_neighbors",
            }
            if kernel == models["bleu"][0]:
                covered_by_bleu = found.covered
            elif covered_by_bleu is not None:
                row |= found.covered.less(covered_by_bleu).columns("above_bleu")
    return rows
