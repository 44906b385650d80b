"""The comparison on our data sets: every method on each, and the table of all.

Stage: prediction, cell -> table. In: rated texts of a data set. Out: the estimates of RNN-QE, whose
training needs torch; its rows, as a sealed file; the table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.compare.evaluate import Settings, compare
from refless.compare.predict import NETWORKS
from refless.compare.read import Rated, rated_of
from refless.compare.splits import Split, all_splits
from refless.data.ratings import separate_items
from refless.data.task import Task
from refless.errors import StaleError
from refless.statistics.bootstrap import packed
from refless.store import sealed
from refless.store.machine import processor, versions

Array = np.ndarray

DIGITS = 6
"""The last bits of a sum of squares hang on the machine."""
NAMES = ("method", "kernel", "split", "reason", "pearson_draws")
"""Columns of words, which may be empty."""
PUBLISHED = [
    *("task", "method", "kernel", "split"),
    *("pearson", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high"),
    *("mse", "coverage", "pairwise_accuracy", "ratings_saved"),
    *("difference", "difference_low", "difference_high", "p", "n", "source", "reason"),
    "pearson_draws",
]
"""Columns of the table, and draws; the difference is from the best trivial method."""


def write_networks(path: str | Path, task: Task, seed: int, threads: int | None = None) -> None:
    """Write RNN-QE's estimates under every split that a data set allows: numbers without text.

    Raises
    ------
    FormatError : too few rated texts, or an MR that cannot be read.
    """
    from refless.compare.networks import WORDS, estimates
    from refless.models.rnn_qe.own import How

    rated, how = rated_task(task), How(seed=seed)
    none = pd.DataFrame({"split": [""], "fold": [0], "estimate": [0.0]}).iloc[:0]
    parts = [none]
    for split in all_splits(rated, seed) if rated.answers is not None else []:
        found = estimates(rated, split, how, threads)
        parts.append(pd.DataFrame({"split": split.name, "fold": split.fold, "estimate": found}))
    sealed.write(
        path,
        pd.concat(parts, ignore_index=True).round(DIGITS),
        {
            "trained": {**asdict(how), "words": WORDS},
            "machine": processor(),
            "versions": versions(["refless", "torch", "numpy"]),
        },
    )


def read_networks(path: str | Path) -> Callable[[Rated, Split], Array]:
    """What `write_networks` wrote, as `refless.compare.evaluate.Settings` wants it.

    Raises
    ------
    FormatError, StaleError : as `refless.store.sealed.read`; the function that is returned raises
        StaleError for a split with other folds than those that the networks had.
    """
    file = sealed.read(path)

    def estimates(rated: Rated, split: Split) -> Array:
        own = file.content[file.content["split"] == split.name]
        if not np.array_equal(own["fold"], split.fold):
            raise StaleError(
                f"its networks were trained on other folds (split {split.name})",
                path=path,
                remedy="`comparison: {networks: run}` trains them anew (`make torch`)",
            )
        return own["estimate"].to_numpy(np.float64)

    return estimates


def rated_task(task: Task) -> Rated:
    return rated_of(separate_items(task.texts, task.ratings))


def compare_task(
    path: str | Path,
    task: Task,
    settings: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
    left_out: Sequence[tuple[str, str, str]],
    networks: str | Path | None = None,
    threads: int | None = None,
) -> None:
    """Compare every method on one data set, and write what was found.

    Parameters
    ----------
    settings : ``kernels``, ``draws``, ``seed`` and ``repeats``
    options : kernel -> its options
    left_out : method, kernel (may be empty), and why it is not tried
    networks : file by `write_networks`, if there is one

    Raises
    ------
    FormatError : too few rated texts.
    """
    rated = rated_task(task)
    told = Settings(
        kernels=tuple(settings["kernels"]),
        options=options,
        draws=settings["draws"],
        seed=settings["seed"],
        repeats=settings["repeats"],
        curve=False,
        left_out={(method, kernel): why for method, kernel, why in left_out},
        threads=threads,
        networks=None if networks is None else read_networks(networks),
    )
    found = compare(rated, told)
    sealed.write(
        path,
        found.table.round(DIGITS).assign(**_of_rows(found.table, found.draws, told.left_out)),
        {"networks": "" if networks is None else sealed.record_of(networks)["provenance"]},
    )


def _of_rows(
    table: pd.DataFrame,
    draws: Mapping[tuple[str, str, str], Mapping[str, Array]],
    left_out: Collection[tuple[str, str]],
) -> dict[str, list[str]]:
    """Of each row the draws of Pearson's r, and a word for why it has no numbers: ``left_out`` by
    the configuration or for what is not installed, or ``not_applicable`` to these texts."""
    found: dict[str, list[str]] = {"pearson_draws": [], "reason": []}
    for key in zip(table["split"], table["method"], table["kernel"], strict=True):
        there = key in draws
        found["pearson_draws"].append(packed(draws[key]["pearson"][1:]) if there else "")
        why = "left_out" if key[1:] in left_out else "not_applicable"
        found["reason"].append("" if there else why)
    return found


def read_comparisons(paths: Sequence[str | Path]) -> dict[str, pd.DataFrame]:
    """Data set -> its rows, with ``source``.

    Raises
    ------
    FormatError, StaleError : as `refless.store.sealed.read`.
    """
    found = {}
    for path in paths:
        task = Path(path).stem
        file = sealed.read(path)
        whole = file.content.reindex(columns=list(dict.fromkeys([*file.content, *NAMES])))
        rows = whole.astype(dict.fromkeys(NAMES, object))
        rows[list(NAMES)] = rows[list(NAMES)].fillna("")
        rows["source"] = file.about["provenance"]
        if by_networks := file.about["facts"]["networks"]:
            # trained elsewhere, where the rest is computed here
            rows.loc[rows["method"] == NETWORKS, "source"] = by_networks
        rows.loc[rows["coverage"].isna(), "source"] = ""
        found[task] = rows
    return found


def comparison_table(tasks: Sequence[str], found: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Every row of every data set, as `PUBLISHED`; one that is not there has an empty row."""
    absent = pd.DataFrame({"source": [""], "reason": "", **dict.fromkeys(NAMES, "")})
    parts = [found.get(task, absent).assign(task=task) for task in tasks]
    table = pd.concat(parts or [absent.iloc[:0]], ignore_index=True)
    return table.reindex(columns=PUBLISHED).astype({"n": "Int64"})
