"""Splits: which texts are left out together, so that a method is asked about what it has not seen.

Stage: prediction. In: rated texts. Out: the fold of each text, for each split that the data allow.

========  =========================================================================================
texts     new texts of known systems and contexts; texts that are equal once normalised are in one
          fold
systems   new systems: all texts of a system are left out together
contexts  new contexts: all texts of a context are left out together, and those of MRs that differ
          in the values of slots alone
========  =========================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.compare.read import Rated

Array = np.ndarray

FOLDS = 5
MOST = 10
"""Systems up to which each is a fold of its own; more are put into `FOLDS`."""
TEXTS = 10_000
"""Texts in all repeats together."""
FEWEST = 3
"""Groups without which there is no split: one is left out, one sets thresholds, one trains."""


@dataclass(frozen=True)
class Split:
    """One way of leaving texts out.

    fold : int64 (n,), from 0
    repeat : which assignment of groups to folds, from 0
    """

    name: str
    fold: Array
    repeat: int = 0

    @property
    def folds(self) -> int:
        """Their number."""
        return int(self.fold.max()) + 1


def repeats_of(texts: int, most: int) -> int:
    """How often folds are made anew: with many texts, once does what five times do."""
    return max(1, min(most, TEXTS // texts))


def repeated(
    rated: Rated, seed: int, repeats: int
) -> tuple[dict[str, list[Split]], dict[str, str]]:
    """Each split that the data allow, with folds made that often; and why there is no other.

    Where every repeat has the same folds, as where each system is one, there is one.
    """
    first, why = all_splits(rated, seed)
    ways = {split.name: {_partition(split.fold): split} for split in first}
    for repeat in range(1, repeats):
        for split in all_splits(rated, [seed, repeat])[0]:
            own = ways[split.name]
            own.setdefault(_partition(split.fold), replace(split, repeat=len(own)))
    return {name: list(own.values()) for name, own in ways.items()}, why


def _partition(fold: Array) -> bytes:
    """The same for folds that differ in their numbers alone."""
    _, first, number = np.unique(fold, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number].tobytes()


def all_splits(rated: Rated, seed: int | Sequence[int] = 0) -> tuple[list[Split], dict[str, str]]:
    """The splits that the data allow: texts, systems, contexts; and why there is no other."""
    generator = np.random.default_rng(seed)
    found, why = [Split("texts", assigned(rated.same, FOLDS, generator))], {}
    if rated.system is None:
        why["systems"] = "the texts are of one system, or there is no column system"
    elif reason := _too_few(rated.system, "systems"):
        why["systems"] = reason
    else:
        systems = int(rated.system.max()) + 1
        alone = systems <= MOST
        fold = np.arange(systems) if alone else generator.permutation(systems) % FOLDS
        found.append(Split("systems", fold.astype(np.int64)[rated.system]))
    if rated.group is None:
        why["contexts"] = "there are no contexts or MRs, or only one"
    elif reason := _too_few(rated.group, "contexts"):
        why["contexts"] = reason
    else:
        found.append(Split("contexts", assigned(rated.group, FOLDS, generator)))
    return found, why


def _too_few(number: Array, what: str) -> str:
    sizes = np.bincount(number)
    if len(sizes) < FEWEST:
        return f"there are {len(sizes)} {what}, and {FEWEST} are needed"
    return "" if sizes.max() > 1 else f"each text has its own, so new texts are new {what}"


def assigned(group: Array, folds: int, generator: np.random.Generator) -> Array:
    """Whole groups to folds of about equal size, shape (n,): the largest first, each to the fold
    that has least, in random order where they are equally large."""
    sizes = np.bincount(group)
    order = generator.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    filled = np.zeros(min(folds, len(sizes)), np.int64)
    fold_of = np.empty(len(sizes), np.int64)
    for number in order:
        fold_of[number] = int(np.argmin(filled))
        filled[fold_of[number]] += sizes[number]
    return fold_of[group]
