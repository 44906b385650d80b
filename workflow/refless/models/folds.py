"""Folds of whole groups. Stage: prediction."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from refless.data.wording import numbers


def together(*labels: Sequence[object] | np.ndarray) -> np.ndarray:
    """Number of each row's group, int64 (rows,), in the order of the rows: rows that share a label
    are in one, of labels of the same place; and so are rows that share none, but each one with a
    third row."""
    rows = len(labels[0])
    ends = np.concatenate([rows * place + numbers(own) for place, own in enumerate(labels, 1)])
    pairs = np.tile(np.arange(rows), len(labels)), ends
    graph = coo_array((np.ones(len(ends)), pairs), shape=(max(rows, 1) * (len(labels) + 1),) * 2)
    return connected_components(graph, directed=False)[1][:rows].astype(np.int64)


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
