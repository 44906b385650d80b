"""Splits: which texts are left out together, so that a method is asked about what it has not seen.

Stage: prediction. In: rated texts. Out: the fold of each text, for each split that the data allow.

========  =========================================================================================
texts     new texts of known systems and contexts; equal texts are never on both sides
systems   new systems: all texts of a system are left out together
contexts  new contexts (or MRs): all texts of a context are left out together, and with it those of
          contexts of the same wording, or of MRs that differ in the values of slots alone
========  =========================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.compare.rated import Rated

Array = np.ndarray

NAMES = ("texts", "systems", "contexts")
FOLDS = 5
MOST = 10
"""Systems up to which each is a fold of its own; more are dealt to `FOLDS`."""
DEALT = 10_000
"""Texts that are dealt in all, over the deals."""
FEWEST = 3
"""Groups without which there is no split: one is left out, one sets thresholds, one trains."""


@dataclass(frozen=True)
class Split:
    """One way of leaving texts out.

    fold : int64 (n,), from 0; -1 for a text that belongs to several folds, which takes no part
    group : int64 (n,), texts of one number are in one fold
    repeated : how many candidates stand word for word in their training part
    deal : which deal of the groups to folds, from 0
    """

    name: str
    fold: Array
    group: Array
    repeated: int
    deal: int = 0

    @property
    def folds(self) -> int:
        """Their number."""
        return int(self.fold.max()) + 1

    @property
    def inside(self) -> Array:
        """Which texts take part, bool (n,)."""
        return self.fold >= 0


def deals_of(texts: int, most: int) -> int:
    """How often that many texts are dealt to folds: with many, one deal does what another does."""
    return max(1, min(most, DEALT // texts))


def dealt(rated: Rated, seed: int, deals: int) -> tuple[list[list[Split]], dict[str, str]]:
    """Each split that the data allow, dealt that often; and why there is no other.

    Where every deal is the same, as where each system is a fold of its own, there is one.
    """
    first, why = all_splits(rated, seed)
    again = [split for deal in range(1, deals) for split in all_splits(rated, [seed, deal])[0]]
    found = []
    for split in first:
        own = {_partition(split.fold): split}
        for other in again:
            if other.name == split.name:
                own.setdefault(_partition(other.fold), replace(other, deal=len(own)))
        found.append(list(own.values()))
    return found, why


def _partition(fold: Array) -> bytes:
    """The same for folds that differ in their numbers alone."""
    _, first, number = np.unique(fold, return_index=True, return_inverse=True)
    return (fold >= 0).tobytes() + np.argsort(np.argsort(first))[number.reshape(-1)].tobytes()


def all_splits(rated: Rated, seed: int | Sequence[int] = 0) -> tuple[list[Split], dict[str, str]]:
    """The splits that the data allow, in the order of `NAMES`; and why there is no other."""
    generator = np.random.default_rng(seed)
    found, why = [_split("texts", rated, rated.wording, generator)], {}
    if rated.systems is None:
        why["systems"] = "the texts are of one system, or there is no column system"
    else:
        names, wrote = rated.memberships()
        if len(names) < FEWEST:
            why["systems"] = f"there are {len(names)} systems, and {FEWEST} are needed"
        elif wrote.sum(axis=0).max() == 1:
            why["systems"] = "every text has a system of its own, so new texts are new systems"
        else:
            found.append(_by_system(rated, wrote, generator))
    if rated.context is None:
        why["contexts"] = "there are no contexts or MRs, or only one"
    else:
        apart = rated.apart
        assert apart is not None
        number = int(apart.max()) + 1
        if number < FEWEST:
            why["contexts"] = f"there are {number} contexts, and {FEWEST} are needed"
            if rated.alike is not None:
                why["contexts"] += (
                    " (those that differ in case, marks or values of slots alone are one)"
                )
        elif number == len(rated):
            why["contexts"] = "every text has a context of its own, so new texts are new contexts"
        else:
            found.append(_split("contexts", rated, apart, generator))
    return found, why


def _split(name: str, rated: Rated, group: Array, generator: np.random.Generator) -> Split:
    fold = deal(group, FOLDS, generator)
    return Split(name, fold, group, _repeated(rated.wording, fold))


def _by_system(rated: Rated, wrote: Array, generator: np.random.Generator) -> Split:
    systems = wrote.shape[1]
    of_system = (
        np.arange(systems) if systems <= MOST else generator.permutation(systems) % FOLDS
    ).astype(np.int64)
    fold = of_system[wrote.argmax(axis=1)]
    return Split("systems", fold, fold.copy(), _repeated(rated.wording, fold))


def deal(group: Array, folds: int, generator: np.random.Generator) -> Array:
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


def _repeated(wording: Array, fold: Array) -> int:
    """Texts in a fold whose wording also stands in another."""
    inside = np.flatnonzero(fold >= 0)
    pairs = np.unique(np.stack([wording[inside], fold[inside]]), axis=1)
    often = np.bincount(pairs[0], minlength=int(wording.max()) + 1) > 1
    return int(often[wording[inside]].sum())
