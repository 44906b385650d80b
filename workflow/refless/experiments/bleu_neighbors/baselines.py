"""Baselines on the texts of BLEU Neighbors: what an estimate should be compared with.

Stage: prediction. In: rated texts. Out: estimates of every baseline (numbers without text).

=======================  ========================================================================
constant                 the mean quality of all other texts
length                   a line on the number of characters
lookup                   the mean quality of equal texts; undefined without any
system_mean              the mean quality of the own system's other texts
ridge_tfidf              ridge regression on TF-IDF weights of character n-grams
=======================  ========================================================================

A split says what they are made from: ``texts``, all other texts (leave-one-out, as BLEU Neighbors);
``folds``, the texts of the other folds, with texts of one `wording` in one fold;
``systems``, the texts of other systems. Left out one by
one, texts of equal estimate but for their own quality are ordered upside down, so ``folds`` is the
fairer of the first two for what ties; ridge regression is fitted on folds alone, with its penalty
chosen within the training texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task
from refless.data.wording import numbered
from refless.experiments.bleu_neighbors.columns import with_intervals
from refless.models.baselines import (
    Baseline,
    Constant,
    Length,
    Lookup,
    RidgeTfidf,
    SystemMean,
    deal_folds,
    out_of_fold,
)
from refless.store import signed
from refless.store.signatures import sign, text_sum

Array = np.ndarray

CONSTANT = "constant"
LABELS = {
    CONSTANT: "constant: the mean rating",
    "length": "length in characters",
    "lookup": "look-up of the text",
    "system_mean": "mean of the own system",
    "ridge_tfidf": "ridge regression, TF-IDF",
}
SPLITS = {
    "texts": ("constant", "length", "lookup", "system_mean"),
    "folds": ("length", "system_mean", "ridge_tfidf"),
    "systems": ("constant", "length", "ridge_tfidf"),
}
"""Split -> its baselines, in the order of the rows."""
MAKE: dict[str, Callable[[], Baseline]] = {
    CONSTANT: Constant,
    "length": Length,
    "lookup": lambda: Lookup(unseen="nan"),
    "system_mean": lambda: SystemMean(unseen="nan"),
    "ridge_tfidf": RidgeTfidf,
}


def ranks_nothing() -> dict[str, None]:
    """The cells of a table that a constant has no number for."""
    return dict.fromkeys([*with_intervals("spearman"), "p_value", "p_below_0.01"])


@dataclass(frozen=True)
class Settings:
    """folds, seed : of the split ``folds``."""

    folds: int
    seed: int


def baseline_estimates(texts: pd.DataFrame, settings: Settings) -> dict[tuple[str, str], Array]:
    """The estimates by (baseline, split), each of shape (rated texts,), NaN where undefined.

    What asks for systems is not there if the texts have one alone, and folds not if there are fewer
    different texts than folds.
    """
    own = texts[texts["quality"].notna()]
    given = own["text"].tolist(), own["quality"].to_numpy(np.float64, copy=True)
    systems = own["system"].tolist()
    several = len({name for system in systems for name in system.split("+")}) > 1
    said = numbered(given[0])
    dealt = deal_folds(int(said.max(initial=-1)) + 1, settings.folds, settings.seed)[said]
    found = {}
    for split, names in SPLITS.items():
        if split == "systems" and not several:
            continue
        if split == "folds" and len(set(said)) < settings.folds:
            continue
        for name in names:
            if name == "system_mean" and not several:
                continue
            if split == "texts":
                one = MAKE[name]().fit(*given, systems=systems).leave_one_out()
            elif split == "folds":
                one = out_of_fold(MAKE[name], *given, dealt, systems=systems, groups=said.tolist())
            else:
                one = without_own_system(MAKE[name], *given, systems)
            found[name, split] = one
    return found


def without_own_system(
    make: Callable[[], Baseline], texts: list[str], quality: Array, systems: list[str]
) -> Array:
    """Predict the texts of each system from those that share no system with them; NaN without any.

    The penalty of ridge regression is chosen with whole systems held out, if there are several.
    """
    sets = [frozenset(name.split("+")) for name in systems]
    out = np.full(len(texts), np.nan)
    for names in dict.fromkeys(sets):
        rest = [i for i, one in enumerate(sets) if not one & names]
        rows = [i for i, one in enumerate(sets) if one == names]
        if rest:
            others = [systems[i] for i in rest]
            model = make().fit(
                [texts[i] for i in rest],
                quality[rest],
                groups=others if len(set(others)) > 1 else None,
            )
            out[rows] = model.predict([texts[i] for i in rows])
    return out


def write_baselines(path: str | Path, task: Task, settings: Settings) -> None:
    """Write the estimates of all baselines on a task: numbers without text."""
    found = baseline_estimates(task.texts, settings)
    signed.write(
        path,
        {"estimates": np.array(list(found.values()))},
        {
            "kind": "baselines",
            "of": {"task": task.name},
            "settings": asdict(settings),
            "made_from": task.rated_sums,
            "signatures": [
                sign(
                    ["models/baselines.py", "experiments/bleu_neighbors/baselines.py"],
                    text_sum(task.texts["id"]),
                    packages=["scikit-learn"],
                )
            ],
            # in the order of the estimates
            "facts": {"baselines": [{"baseline": name, "split": split} for name, split in found]},
        },
    )


def read_baselines(
    path: str | Path, task: Task, settings: Settings | Mapping[str, Any]
) -> tuple[dict[tuple[str, str], Array], str]:
    """Estimates by (baseline, split), and where they come from: ``computed`` or ``shipped``.

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    file = signed.read(
        path,
        "baselines",
        of={"task": task.name},
        settings=settings if isinstance(settings, Mapping) else asdict(settings),
        made_from=task.rated_sums,
        columns=["estimates"],
    )
    names = [(one["baseline"], one["split"]) for one in file.about["facts"]["baselines"]]
    estimates = dict(zip(names, file.content["estimates"], strict=True))
    return estimates, str(file.about["provenance"])
