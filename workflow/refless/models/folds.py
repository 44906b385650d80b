"""Folds of whole groups. Stage: prediction."""

import numpy as np


def in_folds(group: np.ndarray, folds: int, generator: np.random.Generator) -> np.ndarray:
    """The fold of each row, int64 (rows,), by the number of its group: of whole groups, the largest
    goes first, each to the fold that has least, in random order where they are equally large."""
    sizes = np.bincount(group)
    order = generator.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    filled = np.zeros(min(folds, len(sizes)), np.int64)
    fold_of = np.empty(len(sizes), np.int64)
    for number in order:
        fold_of[number] = int(np.argmin(filled))
        filled[fold_of[number]] += sizes[number]
    return fold_of[group]
