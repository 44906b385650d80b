"""The comparison on our data sets: every method on each, and the table of all.

Of each: the estimates of RNN-QE, whose training needs torch; its rows, as a sealed file."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.ratings import separate_items
from refless.data.task import Task
from refless.errors import StaleError
from refless.evaluation.evaluate import COLUMNS as COMPARED
from refless.evaluation.evaluate import compare
from refless.evaluation.predict import NEIGHBORS, NETWORKS, ComparisonSettings, by_networks
from refless.evaluation.read import CvSplit, Rated, all_splits, rated_of
from refless.experiments.published import with_types
from refless.machine import processor, versions
from refless.models.rnn_qe.meaning import WORDS
from refless.statistics.bootstrap import packed
from refless.store import sealed

Array = np.ndarray

DIGITS = 6
"""The last bits of a sum of squares hang on the machine."""
LEFT_OUT = "left_out"
DRAWN = ("pearson", "pearson_by_system")
"""Measures whose draws are kept."""
WITHIN = [name for name in COMPARED if name not in ("mse_of_mean", "ratings_saved", "reason")]
COLUMNS = ["dataset", *WITHIN, "provenance", "reason", *(f"{name}_draws" for name in DRAWN)]
"""Columns of the table, and draws; the difference is from the best trivial method."""


def rated_task(dataset: Task) -> Rated:
    """The texts of a data set, each system's outputs its own."""
    return rated_of(separate_items(dataset.texts, dataset.ratings))


def write_networks(path: str | Path, dataset: Task, seed: int, threads: int | None = None) -> None:
    """Write RNN-QE's estimates under every split that a data set allows: numbers without text.
    Raises FormatError: too few rated texts, or an MR that cannot be read."""
    rated = rated_task(dataset)
    parts = [pd.DataFrame(columns=["split", "fold", "estimate"])]
    splits = all_splits(rated, seed) if rated.prompts is not None else {}
    for (split,) in splits.values():
        found = by_networks(rated, split, seed, threads)
        parts.append(pd.DataFrame({"split": split.name, "fold": split.fold, "estimate": found}))
    sealed.write(
        path,
        pd.concat(parts[1:] or parts, ignore_index=True).round(DIGITS),
        {
            "trained": {"seed": seed, "words": WORDS},
            "machine": processor(),
            "versions": versions(["refless", "torch", "numpy"]),
        },
    )


def read_networks(path: str | Path) -> Callable[[Rated, CvSplit], Array]:
    """What `write_networks` wrote, as `refless.evaluation.predict.ComparisonSettings` wants it.
    Raises FormatError, StaleError: as `refless.store.sealed.read`; the function that is returned
    raises StaleError for a split with other folds than those that the networks had."""
    table = sealed.read(path).content

    def estimates(rated: Rated, split: CvSplit) -> Array:
        own = table[table["split"] == split.name]
        if not np.array_equal(own["fold"], split.fold):
            raise StaleError(
                f"its networks were trained on other folds (split {split.name})",
                path=path,
                remedy="`comparison: {networks: run}` trains them anew (`make torch`)",
            )
        return own["estimate"].to_numpy(np.float64)

    return estimates


def compare_task(
    path: str | Path,
    dataset: Task,
    settings: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
    networks: str | Path | None = None,
    threads: int | None = None,
) -> None:
    """Compare every method on one data set, and write its rows with the draws of Pearson's r, or a
    word for why there are none: left out by the configuration, or not applicable to these texts.

    settings : ``kernels``, ``draws``, ``seed`` and ``repeats``
    options : kernel -> its options; a kernel that is not here is left out
    networks : file by `write_networks`; without one, RNN-QE is left out
    Raises FormatError: too few rated texts.
    """
    left_out = [(NEIGHBORS, kernel) for kernel in settings["kernels"] if kernel not in options]
    if networks is None:
        left_out.append((NETWORKS, ""))
    found = compare(
        rated_task(dataset),
        ComparisonSettings(
            **{**settings, "kernels": options},
            left_out=dict.fromkeys(left_out, LEFT_OUT),
            threads=threads,
            networks=None if networks is None else read_networks(networks),
        ),
    )
    table = found.table.round(DIGITS)
    told = table["reason"].isin(["", LEFT_OUT])
    table["reason"] = table["reason"].where(told, "not_applicable")
    keys = zip(table["split"], table["method"], table["kernel"], strict=True)
    drawn = [found.draws.get(key, {}) for key in keys]
    for name in DRAWN:
        table[f"{name}_draws"] = [packed(of[name][1:]) if name in of else "" for of in drawn]
    origin = "" if networks is None else sealed.read_record(networks)["metadata"]["provenance"]
    sealed.write(path, table, {"networks": origin})


def comparison_table(tasks: Iterable[str], paths: Iterable[str | Path]) -> pd.DataFrame:
    """Every row of every data set (`COLUMNS`), from ``<dataset>.csv`` by `compare_task`; one that
    is not there has an empty row. Raises as `refless.store.sealed.read`."""
    found = {}
    for path in paths:
        file = sealed.read(path)
        # networks may be trained elsewhere, where the rest is computed here
        origin = {NETWORKS: file.metadata["networks"] or file.metadata["provenance"]}
        provenance = file.content["method"].map(origin).fillna(file.metadata["provenance"])
        there = file.content["coverage"].notna()
        found[Path(path).stem] = file.content.assign(provenance=provenance.where(there, ""))
    nothing = pd.DataFrame([{"provenance": ""}])
    parts = [found.get(dataset, nothing).assign(dataset=dataset) for dataset in tasks]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    return with_types(table, COLUMNS)
