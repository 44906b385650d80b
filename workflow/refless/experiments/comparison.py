"""The comparison on our data sets: every method on each, and the table of all.

Stage: prediction, cell -> table. In: rated texts. Out: for each data set the estimates of RNN-QE,
whose training needs torch, and its rows of the comparison, as sealed files; the table."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.ratings import separate_items
from refless.data.task import Task
from refless.errors import SettingError, StaleError
from refless.evaluation.evaluate import COLUMNS as COMPARED
from refless.evaluation.evaluate import ComparisonSettings, compare
from refless.evaluation.networks import by_networks
from refless.evaluation.read import FOLDS, CvSplit, Rated, all_splits, rated_of
from refless.experiments.published import with_types
from refless.machine import processor, versions
from refless.methods import NEIGHBORS, NETWORKS, method
from refless.models.rnn_qe.meaning import CONTEXT_WORDS
from refless.statistics.bootstrap import packed, training_factor
from refless.statistics.measure import TRAINING_FACTOR, Measure
from refless.store import sealed
from refless.store.records import Destination, read_record

Array = np.ndarray
_log = logging.getLogger(__name__)

_DIGITS = 6
"""The last bits of a sum of squares hang on the machine."""
LEFT_OUT = "left_out"
OTHER_FOLDS = "other_folds"
DRAWN = ("pearson", "pearson_by_system")
"""Measures whose draws are kept."""
MACHINE = "_machine"
"""What the name of a split ends in where the texts are of machines alone."""
COMPARISON_COLUMNS = [
    "dataset",
    *(name for name in COMPARED if name not in ("mse_of_mean", "ratings_saved", "reason")),
    "provenance",
    "reason",
    *(Measure(name).draws for name in DRAWN),
    TRAINING_FACTOR,
]
"""Columns of the table, and draws; the difference is from the best text-blind method."""


def rated_task(dataset: Task, human_systems: Sequence[str] = (), machines: bool = False) -> Rated:
    """Return the rated texts of a data set, each system's outputs its own.

    human_systems : systems that are people; which texts they wrote, `Rated.human` says
    machines : only texts that no person wrote, among no others
    Raises FormatError: too few rated texts. Raises SettingError: no system is called so.
    """
    texts = separate_items(dataset.texts, dataset.ratings)
    if not human_systems:
        return rated_of(texts)
    writers = texts["system"].astype(str).str.split("+")
    people = set(human_systems)
    if unknown := people - set(writers.explode()):
        message = f"no system of {dataset.name} is called {min(unknown)}"
        raise SettingError(message, remedy="`human_systems` has names of its column system")
    human = np.array([not people.isdisjoint(names) for names in writers])
    if machines:
        return rated_of(texts[~human])
    return replace(rated_of(texts), human=human[texts["quality"].notna()])


def write_networks(path: Destination, dataset: Task, seed: int, threads: int | None = None) -> None:
    """Train RNN-QE, and write its estimates under every split that a data set allows, as a table
    without text: ``split``, and for each rated text its ``fold`` and the ``estimate``.

    seed : of the folds and of the networks
    threads : None for as many as the process may use
    Raises FormatError: too few rated texts, or an MR that cannot be read.
    """
    rated = rated_task(dataset)
    parts = [pd.DataFrame(columns=["split", "fold", "estimate"])]
    splits = all_splits(rated, seed) if rated.prompts is not None else {}
    for (split,) in splits.values():
        estimate = by_networks(rated, split, seed, threads)
        parts.append(pd.DataFrame({"split": split.name, "fold": split.fold, "estimate": estimate}))
    sealed.write(
        path,
        pd.concat(parts[1:] or parts, ignore_index=True).round(_DIGITS),
        {
            "trained": {"seed": seed, "words": CONTEXT_WORDS},
            "machine": processor(),
            "versions": versions(["refless", "torch", "numpy"]),
        },
    )


def read_networks(path: str | Path) -> Callable[[Rated, CvSplit], Array]:
    """Return what `write_networks` wrote, as `refless.evaluation.evaluate.ComparisonSettings` wants
    it: a function that returns the estimates of all rated texts under a split, float64 (n,).

    The function raises StaleError for a split with other folds than those that the networks had.
    Raises FormatError, StaleError: as `refless.store.sealed.read`.
    """
    table = sealed.read(path).content

    def estimates(rated: Rated, split: CvSplit) -> Array:
        part = table[table["split"] == split.name]
        if not np.array_equal(part["fold"], split.fold):
            raise StaleError(
                f"its networks were trained on other folds (split {split.name})",
                path=path,
                remedy="`comparison: {networks: run}` trains them anew (`make torch`)",
            )
        return part["estimate"].to_numpy(np.float64)

    return estimates


def compare_task(
    path: Destination,
    dataset: Task,
    settings: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
    networks: str | Path | None = None,
    threads: int | None = None,
    human_systems: Sequence[str] = (),
) -> None:
    """Compare every method on one data set, and write the rows of the comparison, with the draws of
    `DRAWN`. A row without numbers has a word for why: the method is left out by the configuration,
    is not applicable to these texts, or has networks that were trained on other folds.

    settings : ``kernels``, ``draws``, ``seed`` and ``repeats``
    options : kernel -> its options; a kernel that is not here is left out
    networks : file by `write_networks`; without one, RNN-QE is left out
    human_systems : systems that are people; if any, the comparison is made on the texts of machines
        as well, in splits that end in `MACHINE`
    Raises FormatError: too few rated texts. Raises SettingError: as `rated_task`.
    """
    kernels = [(NEIGHBORS, kernel) for kernel in settings["kernels"] if kernel not in options]
    left_out = dict.fromkeys(kernels, LEFT_OUT)
    all_settings = ComparisonSettings(
        **{**settings, "kernels": options},
        left_out=left_out if networks else {**left_out, (NETWORKS, ""): LEFT_OUT},
        threads=threads,
        networks=read_networks(networks) if networks else None,
    )
    _log.info("every method on the texts of all systems")
    table = _rows(rated_task(dataset, human_systems), all_settings)
    if human_systems:
        _log.info("every method on the texts of machines")
        why = OTHER_FOLDS if networks else LEFT_OUT
        machine_settings = replace(
            all_settings, networks=None, left_out={**left_out, (NETWORKS, ""): why}
        )
        rows = _rows(rated_task(dataset, human_systems, machines=True), machine_settings)
        table = pd.concat([table, rows.assign(split=rows["split"] + MACHINE)], ignore_index=True)
    origin = "" if networks is None else read_record(networks)["metadata"]["provenance"]
    sealed.write(path, table, {"networks": origin})


def _rows(rated: Rated, settings: ComparisonSettings) -> pd.DataFrame:
    """Compare the methods on some texts, and return the table with the draws of each row, those of
    `DRAWN`. The reason of a row is a word for why it has no numbers."""
    comparison = compare(rated, settings)
    table = comparison.table.round(_DIGITS)
    words = table["reason"].isin(["", LEFT_OUT, OTHER_FOLDS])
    table["reason"] = table["reason"].where(words, "not_applicable")
    keys = zip(table["split"], table["method"], table["kernel"], strict=True)
    rows = [comparison.draws.get(key, {}) for key in keys]
    for name in DRAWN:
        table[Measure(name).draws] = [packed(row[name][1:]) if name in row else "" for row in rows]
    return table


def comparison_table(tasks: Iterable[str], paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return every row of every data set, as `COMPARISON_COLUMNS`.

    tasks : names of data sets, in the table's order
    paths : ``<dataset>.csv`` by `compare_task`; a data set without a file has one empty row
    Raises FormatError, StaleError: as `refless.store.sealed.read`.
    """
    by_dataset = {}
    for path in paths:
        file = sealed.read(path)
        # networks may be trained elsewhere, where the rest is computed here
        origin = {NETWORKS: file.metadata["networks"] or file.metadata["provenance"]}
        provenance = file.content["method"].map(origin).fillna(file.metadata["provenance"])
        provenance = provenance.where(file.content["coverage"].notna(), "")
        by_dataset[Path(path).stem] = file.content.assign(provenance=provenance)
    nothing = pd.DataFrame([{"provenance": ""}])
    parts = [by_dataset.get(dataset, nothing).assign(dataset=dataset) for dataset in tasks]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    if "method" in table:
        keys = zip(table["method"], table["split"], strict=True)
        table[TRAINING_FACTOR] = [_training_factor(*key) for key in keys]
    return with_types(table, COMPARISON_COLUMNS)


def _training_factor(name: Any, split: Any) -> float:
    """Return by which factor the draws of a method's row spread further, for what other training
    texts would add.

    Where systems are left out, draws are of Student's t over systems, whose spread is no factor.
    They stay as they are, and the factor is 1.
    """
    split = str(split).removesuffix(MACHINE)
    if pd.isna(name) or split == "systems" or not method(str(name)).learns:
        return 1.0
    return training_factor(1 - 1 / FOLDS)
