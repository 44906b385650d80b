"""Splits: which texts are left out together, so that a method is asked about what it has not seen.

Stage: prediction. In: rated texts. Out: the fold of each text, for each split that the data allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from refless.compare.read import Rated
from refless.models.folds import in_folds

Array = np.ndarray

FOLDS = 5
MOST = 10
"""Systems up to which each is a fold of its own; more are put into `FOLDS`."""
TEXTS = 10_000
"""Texts in all repeats together: with many, one repeat does what five do."""
FEWEST = 3
"""Groups without which there is no split: one is left out, one sets thresholds, one trains."""


@dataclass(frozen=True)
class Split:
    """One way of leaving texts out."""

    name: str  # texts: equal ones are in one fold; systems, contexts: all of one are
    fold: Array  # int64 (n,), from 0
    repeat: int = 0  # which assignment of groups to folds, from 0

    @property
    def folds(self) -> int:
        """Their number."""
        return int(self.fold.max()) + 1


def repeated(rated: Rated, seed: int, most: int) -> dict[str, list[Split]]:
    """Each split that the data allow, with folds made anew up to ``most`` times, each time with
    other texts together: where each system is a fold, there is one way."""
    ways: dict[str, dict[bytes, Split]] = {}
    for repeat in range(max(1, min(most, TEXTS // len(rated)))):
        for split in all_splits(rated, [seed, repeat] if repeat else seed):
            own = ways.setdefault(split.name, {})
            # the same for folds that differ in their numbers alone
            together = pd.factorize(split.fold)[0].tobytes()
            own.setdefault(together, replace(split, repeat=len(own)))
    return {name: list(own.values()) for name, own in ways.items()}


def all_splits(rated: Rated, seed: int | Sequence[int] = 0) -> list[Split]:
    """The splits that the data allow: by texts, systems, contexts."""
    generator = np.random.default_rng(seed)
    found = [Split("texts", in_folds(rated.same, FOLDS, generator))]
    if rated.system is not None and _parted(rated.system):
        systems = int(rated.system.max()) + 1
        fold = np.arange(systems) if systems <= MOST else generator.permutation(systems) % FOLDS
        found.append(Split("systems", fold.astype(np.int64)[rated.system]))
    if rated.group is not None and _parted(rated.group):
        found.append(Split("contexts", in_folds(rated.group, FOLDS, generator)))
    return found


def _parted(group: Array) -> bool:
    """Whether leaving groups out says more than leaving texts out."""
    sizes = np.bincount(group)
    return len(sizes) >= FEWEST and bool(sizes.max() > 1)
