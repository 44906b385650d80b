"""Table 2 of the BLEU Neighbors paper: trained on one task, scored on another.

Stage: prediction and cell -> table. In: rated texts of two tasks. Out: an estimate for each text of
the one from the texts of the other (numbers without text); a row a pair of tasks, with the
published rho beside ours.

On the diagonal a text is left out of its own training set, as in table 1; off it, all texts of the
source train. Up to `DENSE_PAIRS` pairs, estimates are means as `numpy.mean` rounds them, which
orders ties as in the published numbers; beyond, sums are taken one number after the other, without
the matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.leave_one_out import model_cells
from refless.experiments.bleu_neighbors.table1 import PUBLISHED_TASKS, Settings
from refless.models.neighbors import neighbor_means
from refless.report.published import beside_published, markdown, number, with_interval

Array = np.ndarray

KEYS = ["source_task", "target_task"]
VALUES = ["spearman"]
DENSE_PAIRS = 4_000_000
PAPER_TASKS = {ours: paper for paper, ours in PUBLISHED_TASKS.items()}


def cross_estimates(
    kernels: Sequence[str],
    source: pd.DataFrame,
    target: pd.DataFrame,
    tau: float,
    *,
    same: bool,
    threads: int | None = None,
    dense_pairs: int = DENSE_PAIRS,
) -> pd.DataFrame:
    """Estimates of the target's texts from the source's rated texts.

    Parameters
    ----------
    source, target : tables of rated texts (`refless.data.ratings`); unrated texts take no part
    tau : from which similarity on a text is a neighbor
    same : they are one task, so each text is left out of its own training set
    dense_pairs : up to how many pairs the matrix is held

    Returns
    -------
    DataFrame : id, quality, then for each kernel ``neighbors_<kernel>`` and
        ``estimate_<kernel>`` (NaN without a neighbor); a row a rated text of the target

    Source: Ethayarajh & Sadigh (2020), section 5.4.
    """
    from refless.kernels import kernel, neighbor_sums

    source, target = source[source["quality"].notna()], target[target["quality"].notna()]
    quality = source["quality"].to_numpy(np.float64)
    candidates, training = target["text"].tolist(), source["text"].tolist()
    table = target[["id", "quality"]].reset_index(drop=True)
    for name in kernels:
        if len(candidates) * len(training) <= dense_pairs:
            matrix = kernel(name, candidates, training, threads=threads)
            estimate, neighbors = neighbor_means(matrix, quality, tau, leave_one_out=same)
        else:
            exclude = np.arange(len(candidates)) if same else None
            counts, sums = neighbor_sums(
                name, candidates, training, quality, [tau], exclude=exclude, threads=threads
            )
            neighbors = counts[:, 0]
            with np.errstate(invalid="ignore"):
                estimate = sums[:, 0] / neighbors  # 0 / 0 is NaN: no neighbor, no estimate
        table[f"neighbors_{name}"], table[f"estimate_{name}"] = neighbors, estimate
    return table


@dataclass(frozen=True)
class Pair:
    """Estimates of one pair of tasks.

    estimates : from `cross_estimates`
    training : number of texts that an estimate is made from
    provenance : ``computed`` or ``shipped``
    """

    estimates: pd.DataFrame
    training: int
    provenance: str

    def of(self, kernel: str) -> pd.DataFrame:
        """The columns of one kernel as `refless.experiments.bleu_neighbors.leave_one_out` names them."""
        return pd.DataFrame(
            {
                "quality": self.estimates["quality"],
                "estimate": self.estimates[f"estimate_{kernel}"],
                "neighbors": self.estimates[f"neighbors_{kernel}"],
                "training": self.training,
            }
        )


def table2(
    tasks: Sequence[str],
    pairs: Mapping[tuple[str, str], Pair],
    missing: Mapping[tuple[str, str], Mapping[str, str]],
    published: pd.DataFrame,
    settings: Settings,
) -> pd.DataFrame:
    """One row a (source, target, kernel), the published kernel first; missing pairs say why.

    Parameters
    ----------
    tasks : in the order of the rows
    pairs : (source, target) -> estimates
    missing : (source, target) -> kernel -> why there are none
    published : `refless.report.published.read_published`, tasks under the paper's names
    settings : ``models["bleu"]`` are the kernels
    """
    rows: list[dict[str, Any]] = []
    for source in tasks:
        for target in tasks:
            for kernel in settings.models["bleu"]:
                row = {"source_task": source, "target_task": target, "kernel": kernel}
                pair = pairs.get((source, target))
                if pair is not None and f"estimate_{kernel}" in pair.estimates:
                    row |= _cells(pair, kernel, settings)
                else:
                    row["note"] = f"not available: {missing[source, target][kernel]}"
                rows.append(row)
    cells = pd.DataFrame(rows)
    for key in KEYS:
        cells[f"_{key}"] = cells[key]
        cells[key] = cells[key].map(lambda task: PAPER_TASKS.get(task, task))
    table = beside_published(cells, published, KEYS, VALUES)
    for key in KEYS:
        table[key] = table.pop(f"_{key}")
    shown = [*KEYS, "kernel"]
    for column in ("spearman", "coverage", "mse"):
        shown += [column, f"{column}_low", f"{column}_high"]
    shown.insert(shown.index("spearman_high") + 1, "paper_spearman")
    shown += ["p_value", "agreement", "n", "n_covered", "n_train", "provenance", "note"]
    table = table.reindex(columns=shown)
    for column in ("provenance", "note"):
        table[column] = table[column].astype(object).fillna("")
    for column in ("n", "n_covered", "n_train"):
        table[column] = table[column].astype("Int64")
    return table


def _cells(pair: Pair, kernel: str, settings: Settings) -> dict[str, Any]:
    own = pair.of(kernel)
    cells = model_cells(own, settings.a, settings.b, settings.draws, settings.seed)
    note = ""
    if not cells["n_covered"]:
        note = (
            f"no text has from {settings.a} neighbors to {settings.b:g} of the {pair.training}"
            f" training texts ({own['neighbors'].min()} to {own['neighbors'].max()} are there)"
        )
    elif np.isnan(cells["spearman"]):  # type: ignore[call-overload]
        note = "too few texts are covered, or all their estimates are alike"
    return {**cells, "n_train": pair.training, "provenance": pair.provenance, "note": note}


def table2_markdown(table: pd.DataFrame) -> str:
    """Three matrices of the published kernel; then rho with the others, and the reasons."""
    kernels = list(dict.fromkeys(table["kernel"]))
    parts = []
    for column, title, digits in (
        ("spearman", "Spearman's rho", 3),
        ("coverage", "Coverage", 3),
        ("mse", "Mean squared error", 4),
    ):
        parts += [f"## {title}", _matrix(table[table["kernel"] == kernels[0]], column, digits)]
    for kernel in kernels[1:]:
        parts += [
            f"## Spearman's rho with `{kernel}`",
            _matrix(table[table["kernel"] == kernel], "spearman", 3),
        ]
    reasons: dict[str, list[str]] = {}
    for row in table[table["note"] != ""].to_dict("records"):
        where = f"{row['source_task']} → {row['target_task']}"
        if not row["note"].startswith("not available"):
            where += f" (`{row['kernel']}`)"
        if where not in reasons.setdefault(row["note"], []):
            reasons[row["note"]].append(where)
    if reasons:
        listed = "\n".join(f"- {', '.join(where)}: {why}" for why, where in reasons.items())
        parts += ["## Cells without a number", listed]
    return "\n\n".join(parts)


def _matrix(table: pd.DataFrame, column: str, digits: int) -> str:
    """Sources down, targets across."""
    tasks = list(dict.fromkeys(table["source_task"]))
    cells = {
        (row["source_task"], row["target_task"]): _cell(row, column, digits)
        for row in table.to_dict("records")
    }
    lines = [[source, *(cells[source, target] for target in tasks)] for source in tasks]
    return markdown(["trained on", *(f"on {target}" for target in tasks)], lines)


def _cell(record: Mapping[Any, Any], column: str, digits: int) -> str:
    row = {str(key): value for key, value in record.items()}
    text = with_interval(row, column, digits)
    if column != "spearman":
        return text
    if text != "–" and row["p_value"] < 0.01:
        rho = number(row["spearman"], digits)
        text = text.replace(rho, f"{rho}*", 1)
    return f"{text} [{row['paper_spearman']}]" if row["paper_spearman"] else text


def lead_text(settings: Settings) -> str:
    """What stands above the table for reading."""
    return (
        "Trained on one task (down), scored on another (across); on the diagonal each text is left"
        " out of its own training set. 95% bootstrap intervals over the scored texts"
        f" ({settings.draws} draws, seed {settings.seed}); a = {settings.a}, b = {settings.b:g};"
        " the published value in square brackets; * is p < 0.01."
    )
