"""Kernels: how similar is a candidate to a training text?

Stage: kernels. In: two lists of texts. Out: the matrix k(candidate, training text), or, without
the matrix, how many neighbors each candidate has at each tau and the sum of their quality.

A kernel is called ``family.variant``; `refless.kernels._registry` lists them. Its module has
``index(name, training, **options)``, which makes training texts ready (`refless.kernels._plan`),
and, if files decide its values, ``resources(name, **places)``: the sums of their contents.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from refless.errors import KernelError
from refless.kernels import _blocks
from refless.kernels._plan import Index
from refless.kernels._registry import entry, highest, load, names
from refless.kernels.signatures import signature

__all__ = [
    "entry",
    "group_sums",
    "highest",
    "indexed",
    "kernel",
    "names",
    "nearest",
    "neighbor_sums",
    "option_names",
    "signature",
]

Array = np.ndarray
Numbers = Array | Sequence[float]


def kernel(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str] | Index,
    *,
    threads: int | None = None,
    dtype: type = np.float64,
    **options: Any,
) -> Array:
    """The kernel matrix, shape (candidates, training).

    Parameters
    ----------
    name : a kernel, see `names`
    candidates, training : texts; or ``training`` is the index that `indexed` made with this name
        and these options, and no option is given here
    threads : None for as many as the process may use
    dtype : of the matrix; values are computed in double precision
    options : of the kernel, e.g. ``wordnet=`` for METEOR

    Raises
    ------
    KernelError : unknown kernel or option, a text that is none, or a missing resource.
    """
    candidates, index = _checked(candidates, "candidates"), _index(name, training, options)
    return _blocks.dense(index.plan(candidates), threads, dtype)


def neighbor_sums(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str] | Index,
    quality: Numbers,
    taus: Numbers,
    *,
    exclude: Array | Sequence[int] | None = None,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> tuple[Array, Array]:
    """Number of neighbors and sum of their quality, without holding the matrix.

    Neighbors of x are the training texts s with k(x, s) >= tau (Ethayarajh & Sadigh 2020,
    section 3). Each sum is taken in training order, one number after the other, so it does not
    depend on threads or on which other taus are asked for.

    Parameters
    ----------
    name, candidates, training, threads, options : as for `kernel`
    quality : of the training texts, shape (training,), finite
    taus : shape (n_tau,), in any order
    exclude : the training row to leave out for each candidate (-1: none), shape (candidates,);
        for leave-one-out. It goes by row, so an equal text elsewhere stays.
    progress : see `refless.kernels._blocks.walk`

    Returns
    -------
    counts : int64, shape (candidates, n_tau)
    sums : float64, the same shape; 0 where there is no neighbor

    Raises
    ------
    KernelError : as for `kernel`; or shapes do not fit, or a number is not finite.
    """
    from refless.kernels._neighbors import add_neighbors

    candidates, index = _checked(candidates, "candidates"), _index(name, training, options)
    quality, taus = _numbers(quality, index.size), _numbers(taus)
    left_out = _excluded(exclude, len(candidates), index.size)
    order = np.argsort(taus, kind="stable")
    ascending = taus[order]
    counts = np.zeros((len(candidates), len(taus)), np.int64)
    sums = np.zeros(counts.shape)

    def add(values: Array, first: int, start: int) -> None:
        add_neighbors(values, first, start, quality, ascending, left_out, counts, sums)

    _blocks.walk(index.plan(candidates), add, threads, progress)
    back = np.argsort(order, kind="stable")
    return counts[:, back], sums[:, back]


def group_sums(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str] | Index,
    quality: Numbers,
    taus: Numbers,
    groups: Sequence[Array],
    *,
    threads: int | None = None,
    **options: Any,
) -> list[tuple[Array, Array]]:
    """`neighbor_sums` of each group of training texts, under several ways of grouping them, where
    each pair of texts is compared once: the folds of several splits, for example.

    Parameters
    ----------
    quality : of the training texts, shape (training,), finite
    taus : shape (n_tau,), ascending
    groups : of each way the group of each training text, 0, 1, ..., or -1: none; shape (training,)
    Others : as for `neighbor_sums`

    Returns
    -------
    list : of each way counts int64 and sums float64, shape (candidates, its groups, n_tau). A sum
        is not taken in training order, so its last bits differ from those of `neighbor_sums`.

    Raises
    ------
    KernelError : as for `neighbor_sums`.
    """
    from refless.kernels._neighbors import add_levels

    candidates, index = _checked(candidates, "candidates"), _index(name, training, options)
    quality, taus = _numbers(quality, index.size), _numbers(taus)
    ways = [np.asarray(way, np.int64) for way in groups]
    if any(way.shape != quality.shape for way in ways):
        raise KernelError(f"groups must have {index.size} entries, one a training text")
    if not len(taus) or (np.diff(taus) < 0).any():
        raise KernelError("taus must ascend")
    ends = np.cumsum([0, *(int(way.max(initial=-1)) + 1 for way in ways)])
    numbered = np.stack(
        [np.where(way < 0, -1, way + end) for way, end in zip(ways, ends, strict=False)]
    )
    counts = np.zeros((len(candidates), int(ends[-1]), len(taus)), np.int64)
    sums = np.zeros(counts.shape)

    def add(values: Array, first: int, start: int) -> None:
        add_levels(values, first, start, quality, taus, numbered, counts, sums)

    _blocks.walk(index.plan(candidates), add, threads)
    for found in (counts, sums):  # who reaches a tau reaches those below
        np.cumsum(found[:, :, ::-1], axis=2, out=found[:, :, ::-1])
    return [(counts[:, start:end], sums[:, start:end]) for start, end in pairwise(ends)]


def nearest(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str] | Index,
    number: int,
    *,
    exclude: Array | Sequence[int] | None = None,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> tuple[Array, Array]:
    """The training texts of the greatest values, greatest first; of equal ones the earlier.

    Parameters
    ----------
    number : how many of each candidate
    Others : as for `neighbor_sums`

    Returns
    -------
    rows : int64, shape (candidates, number), of the training texts; -1 where there are fewer
    values : float64, the same shape; -inf where there is none
    """
    from refless.kernels._neighbors import keep_nearest

    candidates, index = _checked(candidates, "candidates"), _index(name, training, options)
    if number < 1:
        raise KernelError(f"{number} nearest texts were asked for", remedy="ask for 1 or more")
    left_out = _excluded(exclude, len(candidates), index.size)
    rows = np.full((len(candidates), number), -1, np.int64)
    best = np.full(rows.shape, -np.inf)

    def keep(values: Array, first: int, start: int) -> None:
        keep_nearest(values, first, start, left_out, rows, best)

    _blocks.walk(index.plan(candidates), keep, threads, progress)
    return rows, best


def indexed(name: str, training: Sequence[str], **options: Any) -> Index:
    """Training texts made ready once, for any candidates that come later.

    Parameters, errors : as for `kernel`
    """
    texts, module = _checked(training, "training"), load(name)
    try:
        call = inspect.signature(module.index).bind(name, texts, **options)
    except TypeError as error:
        raise KernelError(
            f"{name} cannot be called so: {error}",
            remedy=f"its options are: {', '.join(option_names(name)) or 'none'}",
        ) from error
    index: Index = module.index(*call.args, **call.kwargs)
    return index


def option_names(name: str) -> list[str]:
    """The options that a kernel takes."""
    return list(inspect.signature(load(name).index).parameters)[2:]


def _index(name: str, training: Sequence[str] | Index, options: dict[str, Any]) -> Index:
    if not isinstance(training, Index):
        return indexed(name, training, **options)
    if options:
        raise KernelError("an index has its options", remedy="give them to indexed")
    return training


def _numbers(values: Numbers, n: int | None = None) -> Array:
    """A row of finite numbers, and of the right length if they are qualities of ``n`` texts."""
    # writeable, as the compiled code wants it: a table's column is not
    found = np.require(values, np.float64, ["C", "W"])
    if n is not None and found.shape != (n,):
        raise KernelError(f"{n} training texts have quality of shape {found.shape}")
    if found.ndim != 1 or not np.isfinite(found).all():
        raise KernelError(
            "quality and taus must be rows of finite numbers",
            remedy="leave out training texts that nobody rated",
        )
    return found


def _checked(texts: Sequence[str], what: str) -> list[str]:
    if isinstance(texts, str):
        raise KernelError(f"{what} is one text", remedy="give a list of texts")
    texts = list(texts)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise KernelError(f"{what}[{i}] is no text but {text!r}")
    return texts


def _excluded(exclude: Array | Sequence[int] | None, n_candidates: int, n_training: int) -> Array:
    rows = np.full(n_candidates, -1) if exclude is None else np.asarray(exclude)
    if rows.shape != (n_candidates,) or not (rows.dtype.kind in "iu" or rows.size == 0):
        raise KernelError(
            f"exclude must be {n_candidates} integers, one for each candidate; its shape is"
            f" {rows.shape}, its type {rows.dtype}"
        )
    if rows.size and not (rows.min() >= -1 and rows.max() < n_training):
        raise KernelError(
            f"exclude names training rows from {rows.min()} to {rows.max()}, but they are"
            f" 0 to {n_training - 1} (-1: none)"
        )
    return np.ascontiguousarray(rows, np.int64)
