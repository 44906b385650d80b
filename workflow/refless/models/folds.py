"""Folds of whole groups. Stage: prediction."""

import numpy as np


def in_folds(group: np.ndarray, folds: int, generator: np.random.Generator) -> np.ndarray:
    """The fold of each row, int64 (rows,), by the number of its group: of whole groups, the largest
    goes first, each to the fold that has least, in random order where they are equally large.

    >>> in_folds(np.array([0, 0, 0, 1, 1, 2]), folds=2, generator=np.random.default_rng(0))
    array([0, 0, 0, 1, 1, 1])
    """
    sizes = np.bincount(group)
    order = generator.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    rows = np.zeros(min(folds, len(sizes)), np.int64)
    fold = np.empty(len(sizes), np.int64)
    for number in order:
        fold[number] = int(np.argmin(rows))
        rows[fold[number]] += sizes[number]
    return fold[group]
