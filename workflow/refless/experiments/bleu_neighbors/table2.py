"""Table 2 of the BLEU Neighbors paper: trained on one task, scored on another.

Stage: prediction and cell -> table. In: rated texts of two tasks. Out: an estimate for each text of
the one from the texts of the other (numbers without text); a row a pair of tasks, with the
published rho beside ours.

On the diagonal a text is left out of its own training set, as in table 1; off it, all texts of the
source train. `BASELINES` are made from the same texts, but for ridge regression on the diagonal: it
is in table 1, by folds. Up to `DENSE_PAIRS` pairs, estimates are means as `numpy.mean` rounds them,
which orders ties as in the published numbers; beyond, sums are taken one number after the other,
without the matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task, read_task
from refless.data.wording import ASIDE, among, numbered
from refless.experiments.bleu_neighbors.baselines import CONSTANT, MAKE, ranks_nothing
from refless.experiments.bleu_neighbors.columns import tidy, with_intervals
from refless.experiments.bleu_neighbors.leave_one_out import (
    BY_SYSTEM,
    apply_thresholds,
    estimate_cells,
    model_cells,
    system_cells,
)
from refless.experiments.bleu_neighbors.table1 import Settings, beside_paper, quarter
from refless.kernels import signature
from refless.models.neighbors import neighbor_means
from refless.statistics import drawn_whole
from refless.store import signed
from refless.store.signatures import sign, signature_note, text_sum

Array = np.ndarray

KEYS = ["source_task", "target_task"]
VALUES = ["spearman"]
MODEL = "bleu"
BASELINES = (CONSTANT, "length", "lookup", "ridge_tfidf")
"""The last one is not there on the diagonal."""
DENSE_PAIRS = 4_000_000
DIGITS = 9
"""Of the baselines' estimates: ridge regression is solved step by step, with rounding."""


def cross_estimates(
    taus: Mapping[str, float],
    source: pd.DataFrame,
    target: pd.DataFrame,
    *,
    same: bool,
    threads: int | None = None,
    dense_pairs: int = DENSE_PAIRS,
) -> pd.DataFrame:
    """Estimates of the target's texts from the source's rated texts.

    Parameters
    ----------
    source, target : tables of rated texts (`refless.data.ratings`); unrated texts take no part
    taus : kernel -> from which similarity on a text is a neighbor
    same : they are one task, so each text is left out of its own training set
    dense_pairs : up to how many pairs the matrix is held

    Returns
    -------
    DataFrame : id, quality, then for each kernel ``neighbors_<kernel>`` and
        ``estimate_<kernel>`` (NaN without a neighbor), and ``estimate_<baseline>`` for each of
        `BASELINES` that is there (NaN where undefined); a row a rated text of the target

    Source: Ethayarajh & Sadigh (2020), section 5.4.
    """
    from refless.kernels import kernel, neighbor_sums

    source, target = source[source["quality"].notna()], target[target["quality"].notna()]
    quality = source["quality"].to_numpy(np.float64)
    candidates, training = target["text"].tolist(), source["text"].tolist()
    table = target[["id", "quality"]].reset_index(drop=True)
    for name, tau in taus.items():
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
    for name in BASELINES:
        if same and name == BASELINES[-1]:
            continue
        model = MAKE[name]().fit(training, quality)
        estimate = model.leave_one_out() if same else model.predict(candidates)
        table[f"estimate_{name}"] = estimate.round(DIGITS)
    return table


def write_cross_estimates(
    path: str | Path,
    source: Task,
    target: Task,
    taus: Mapping[str, float],
    threads: int | None = None,
) -> None:
    """Write the estimates of `cross_estimates`: numbers without text."""
    same = source.name == target.name
    given, asked = (one.texts["text"][one.texts["quality"].notna()] for one in (source, target))
    if same:
        often = np.bincount(numbered(asked))
        shared = int(often[often > 1].sum())
    else:
        shared = sum(among(asked, given))
    both = text_sum([source.text_sum, target.text_sum])
    signed.write(
        path,
        cross_estimates(taus, source.texts, target.texts, same=same, threads=threads),
        {
            "kind": "cross estimates",
            "of": {"source": source.name, "target": target.name},
            "settings": {"kernels": dict(taus)},
            "made_from": _by_role("source ", source) | _by_role("target ", target),
            "signatures": [
                *(signature(kernel, both) for kernel in taus),
                sign(
                    ["experiments/bleu_neighbors/table2.py", "models/baselines.py"],
                    both,
                    packages=["scikit-learn"],
                ),
            ],
            "facts": {
                "training": int(source.texts["quality"].notna().sum()) - same,
                "shared": shared,
            },
        },
    )


def _by_role(role: str, task: Task) -> dict[str, str]:
    return {f"{role}{name}": value for name, value in task.rated_sums.items()}


@dataclass(frozen=True)
class Pair:
    """Estimates of one pair of tasks.

    estimates : from `cross_estimates`
    training : number of texts that an estimate is made from
    provenance : ``computed`` or ``shipped``
    shared : how many texts of the target have an equal one among those that they are estimated from
    units : of each text of the target, as in `refless.statistics.evaluate`
    systems : who wrote each text of the target; none where that is not at hand
    """

    estimates: pd.DataFrame
    training: int
    provenance: str
    shared: int = 0
    units: Array | None = None
    systems: Sequence[str] = ()

    def of(self, kernel: str) -> pd.DataFrame:
        """The columns of one kernel as `leave_one_out` names them."""
        return pd.DataFrame(
            {
                "quality": self.estimates["quality"],
                "estimate": self.estimates[f"estimate_{kernel}"],
                "neighbors": self.estimates[f"neighbors_{kernel}"],
                "training": self.training,
            }
        )


def read_pairs(
    paths: Sequence[str | Path],
    folders: Sequence[str | Path],
    taus: Mapping[str, float],
) -> tuple[dict[tuple[str, str], Pair], list[str]]:
    """The pairs (source, target) that are there, and the notes for the table's footer.

    Parameters
    ----------
    paths : ``<source>.<target>.csv``, by `write_cross_estimates`
    folders : ratings of the tasks that are there; estimates must be made from these
    taus : kernel -> the tau that its estimates must have been made with; the signatures of these
        are noted

    Raises as `refless.store.signed.read`.
    """
    tasks = {Path(folder).name: read_task(folder) for folder in folders}
    pairs, notes = {}, []
    for path in paths:
        source, target = Path(path).stem.split(".")
        made_from: dict[str, str] = {}
        for role, name in (("source ", source), ("target ", target)):
            if name in tasks:
                made_from |= _by_role(role, tasks[name])
        made_with = signed.record_of(path)["settings"].get("kernels", {})
        file = signed.read(
            path,
            "cross estimates",
            of={"source": source, "target": target},
            settings={
                "kernels": {kernel: taus.get(kernel, tau) for kernel, tau in made_with.items()}
            },
            made_from=made_from,
            columns=["id", "quality"],
        )
        about = file.about
        pairs[source, target] = Pair(
            file.content,
            about["facts"]["training"],
            about["provenance"],
            about["facts"].get("shared", 0),
            drawn_whole(tasks[target].contexts) if target in tasks else None,
            _systems(tasks[target], file.content["id"]) if target in tasks else (),
        )
        signatures = [one for one in about["signatures"] if one.get("kernel") in taus]
        notes += [signature_note(one, about) for one in signatures]
    return pairs, notes


def _systems(task: Task, ids: pd.Series) -> list[str]:
    return list(task.texts.set_index("id")["system"].reindex(ids))


def table2(
    looks: Mapping[str, Mapping[str, Any]],
    pairs: Mapping[tuple[str, str], Pair],
    published: pd.DataFrame,
    settings: Settings,
) -> pd.DataFrame:
    """One row a (source, target, kernel), the published kernel first, then the baselines.

    Parameters
    ----------
    looks : task -> its entry of the configuration, all tasks in the order of the rows
    pairs : (source, target) -> estimates; the others get rows without numbers
    published : `refless.report.published.read_published`, tasks under the paper's names
    settings : ``models["bleu"]`` are the kernels
    """
    rows: list[dict[str, Any]] = []
    for source in looks:
        for target in looks:
            pair = pairs.get((source, target))
            own = {"source_task": source, "target_task": target}
            before = len(rows)
            for kernel in settings.models[MODEL]:
                row = {**own, "model": MODEL, "kernel": kernel}
                if pair is not None and f"estimate_{kernel}" in pair.estimates:
                    row |= _cells(pair, kernel, settings)
                rows.append(row)
            if pair is not None:
                for name in BASELINES if source != target else BASELINES[:-1]:
                    rows.append({**own, "model": name, **_baseline_cells(pair, name, settings)})
                if pair.shared:
                    said = (
                        f"{pair.shared} of {len(pair.estimates)} texts have an equal one ({ASIDE})"
                        " among those that they are estimated from, whose rating is at hand there"
                    )
                    for made in rows[before:]:
                        made["note"] = [*made.get("note", []), said]
    keys = ["model", *KEYS]
    table = beside_paper(rows, looks, published.assign(model=MODEL), keys, VALUES)
    shown = [*KEYS, "model", "kernel", *with_intervals("spearman"), "paper_spearman"]
    shown += [*with_intervals("coverage", "mse"), "p_value", "p_below_0.01", "agreement"]
    return tidy(table, [*shown, *BY_SYSTEM, "n", "n_covered", "n_train", "provenance", "note"])


def _cells(pair: Pair, kernel: str, settings: Settings) -> dict[str, Any]:
    own = pair.of(kernel)
    how = settings.a, settings.b, settings.draws, settings.seed
    cells = model_cells(own, *how, pair.units)
    cells |= _by_system(apply_thresholds(own, settings.a, settings.b), pair, settings)
    note = []
    if not cells["n_covered"]:
        note = [
            f"no text has from {settings.a} neighbors to {settings.b:g} of the {pair.training}"
            f" training texts ({own['neighbors'].min()} to {own['neighbors'].max()} are there)"
        ]
    elif np.isnan(cells["spearman"]):
        note = ["too few texts are covered, or all their estimates are alike"]
    return {**cells, "n_train": pair.training, "provenance": pair.provenance, "note": note}


def _by_system(estimate: Array, pair: Pair, settings: Settings) -> dict[str, Any]:
    if not len(pair.systems):
        return {}
    quality = pair.estimates["quality"].to_numpy(np.float64)
    how = {"draws": quarter(settings.draws), "seed": settings.seed}
    return system_cells(estimate, quality, pair.systems, units=pair.units, **how)


def _baseline_cells(pair: Pair, name: str, settings: Settings) -> dict[str, Any]:
    own = pair.estimates
    estimate, quality = (own[c].to_numpy(np.float64) for c in (f"estimate_{name}", "quality"))
    cells = estimate_cells(estimate, quality, settings.draws, settings.seed, pair.units)
    common = {"kernel": "", "n_train": pair.training, "provenance": pair.provenance}
    note = ["no text stands in the training texts word for word"] if not cells["n_covered"] else []
    cells |= ranks_nothing() if name == CONSTANT else _by_system(estimate, pair, settings)
    return {**common, **cells, "note": note}
