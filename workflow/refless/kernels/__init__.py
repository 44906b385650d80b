"""Kernels: how similar is a candidate to a training text?

Stage: kernels. In: two lists of texts. Out: the matrix k(candidate, training text), or, without
the matrix, how many neighbors each candidate has at each tau and the sum of their quality.

A kernel is called ``family.variant``, and has an entry in `refless.kernel_registry.KERNELS`. The
module of the family has

    index(name, training, **options)    makes training texts ready (`refless.kernels._blocks`)
    resources(name, **files)            sums of the files that it needs, if it needs any

Nothing else knows of it.
"""

import importlib
import inspect
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from refless.compute.compiled import are_indices
from refless.errors import KernelError
from refless.kernel_registry import LEAST_READ, entry, lacking_package, names
from refless.kernels._blocks import Index, walk

__all__ = [
    "entry",
    "group_sums",
    "indexed",
    "kernel",
    "lacking_package",
    "names",
    "nearest",
    "neighbor_sums",
    "signature",
    "unread",
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

    Examples
    --------
    >>> kernel("rouge_l.plain", ["a good cat"], ["a cat", "no dog"]).tolist()
    [[0.8, 0.0]]
    """
    candidates = _checked(candidates)
    index = _index(name, training, options)
    out: Array = np.empty((len(candidates), index.size), dtype)

    def keep(values: Array, first: int, start: int) -> None:
        rows, columns = values.shape
        out[first : first + rows, start : start + columns] = values

    walk(index, candidates, keep, threads)
    return out


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
    quality : of the training texts, shape (training,)
    taus : shape (n_tau,), in any order
    exclude : the training row to leave out for each candidate (-1: none), shape (candidates,);
        for leave-one-out. It goes by row, so an equal text elsewhere stays.
    progress : called now and then with the number of candidates that the work done amounts to

    Returns
    -------
    counts : int64, shape (candidates, n_tau)
    sums : float64, the same shape; 0 where there is no neighbor

    Raises
    ------
    KernelError : as for `kernel`; or shapes do not fit.

    Examples
    --------
    >>> rated, quality = ["a cat", "a dog", "no"], [0.75, 0.25, 0.5]
    >>> counts, sums = neighbor_sums("rouge_l.plain", ["a good cat"], rated, quality, [0.3, 0.8])
    >>> counts.tolist(), sums.tolist()
    ([[2, 1]], [[1.0, 0.75]])
    """
    from refless.kernels._neighbors import add_neighbors

    candidates = _checked(candidates)
    index = _index(name, training, options)
    quality = _of_texts(quality, index.size)
    left_out = _left_out(exclude, len(candidates), index.size)
    ascending, ranks = np.unique(_taus(taus), return_inverse=True)
    counts = np.zeros((len(candidates), len(ascending)), np.int64)
    sums = np.zeros(counts.shape)

    def add(values: Array, first: int, start: int) -> None:
        add_neighbors(values, first, start, quality, ascending, counts, sums)

    walk(index, candidates, add, threads, left_out, progress)
    return counts[:, ranks], sums[:, ranks]


def group_sums(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str] | Index,
    quality: Numbers,
    taus: Numbers,
    groups: Sequence[Array],
    *,
    clusters: Sequence[tuple[Array, Array] | None] = (),
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> list[tuple[Array, Array]]:
    """`neighbor_sums` of each group of training texts, under several ways of grouping them, where
    each pair of texts is compared once: the folds of several splits, for example.

    taus : shape (n_tau,), ascending, one at least
    groups : of each way the group of each training text, 0, 1, ..., or -1: none; shape (training,)
    clusters : of each way the clusters of candidates and of training texts, int64 from 0: a
        training text of a candidate's cluster does not count for it; None, or nothing: all count
    Others, errors : as for `neighbor_sums`
    Returns list : of each way counts int64 and sums float64, shape (candidates, its groups, n_tau).
        A sum is not taken in training order, so its last bits differ from those of `neighbor_sums`.

    >>> rated, quality, folds = ["a cat", "a dog", "no"], [0.75, 0.25, 0.5], np.array([0, 1, 1])
    >>> [(counts, _)] = group_sums("rouge_l.plain", ["a good cat"], rated, quality, [0.3], [folds])
    >>> counts.tolist()
    [[[1], [1]]]
    """
    from refless.kernels._neighbors import add_levels

    candidates = _checked(candidates)
    index = _index(name, training, options)
    quality = _of_texts(quality, index.size)
    taus = _taus(taus)
    if len(taus) == 0 or (np.diff(taus) < 0).any():
        raise KernelError(f"taus are {taus.tolist()}", remedy="give one or more, ascending")
    ways = [_indices("groups", way, index.size, index.size) for way in groups]
    if not ways:
        raise KernelError("no way of grouping the training texts", remedy="give one or more")
    # without clusters, no training text is in that of any candidate
    apart = np.zeros(len(candidates), np.int64), np.full(index.size, -1)
    pairs = [pair or apart for pair in clusters] or [apart] * len(ways)
    if len(pairs) != len(ways):
        raise KernelError(f"{len(ways)} ways and clusters of {len(pairs)}", remedy="give each some")
    most = np.iinfo(np.int64).max
    of_candidates, of_training = (
        np.stack([_indices("clusters", pair[side], size, most) for pair in pairs])
        for side, size in enumerate((len(candidates), index.size))
    )
    ends = np.cumsum([0, *(int(way.max(initial=-1)) + 1 for way in ways)])
    numbered = np.stack(
        [np.where(way < 0, -1, way + end) for way, end in zip(ways, ends, strict=False)]
    )
    counts = np.zeros((len(candidates), int(ends[-1]), len(taus)), np.int64)
    sums = np.zeros(counts.shape)

    def add(values: Array, first: int, start: int) -> None:
        add_levels(
            values,
            first,
            start,
            quality,
            taus,
            numbered,
            of_candidates,
            of_training,
            counts,
            sums,
        )

    walk(index, candidates, add, threads, progress=progress)
    for totals in (counts, sums):  # who reaches a tau reaches those below
        np.cumsum(totals[:, :, ::-1], axis=2, out=totals[:, :, ::-1])
    return [(counts[:, start:end], sums[:, start:end]) for start, end in pairwise(ends)]


def nearest(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str] | Index,
    number: int,
    *,
    exclude: Array | Sequence[int] | None = None,
    threads: int | None = None,
    **options: Any,
) -> tuple[Array, Array]:
    """The training texts of the greatest values, greatest first; of equal ones the earlier.

    number : how many of each candidate, from 1
    Others, errors : as for `neighbor_sums`
    Returns rows : int64, shape (candidates, number), of the training texts; -1 where there are
        fewer
    values : float64, the same shape; -inf where there is none

    >>> rows, values = nearest("rouge_l.plain", ["a good cat"], ["no", "a dog", "a cat"], number=2)
    >>> rows.tolist(), values.tolist()
    ([[2, 1]], [[0.8, 0.4]])
    """
    from refless.kernels._neighbors import keep_nearest

    if not isinstance(number, int | np.integer) or number < 1:
        raise KernelError(f"number is {number!r}", remedy="ask for 1, 2, ... training texts")
    candidates = _checked(candidates)
    index = _index(name, training, options)
    left_out = _left_out(exclude, len(candidates), index.size)
    rows = np.full((len(candidates), number), -1, np.int64)
    best = np.full(rows.shape, -np.inf)

    def keep(values: Array, first: int, start: int) -> None:
        keep_nearest(values, first, start, rows, best)

    walk(index, candidates, keep, threads, left_out)
    return rows, best


def unread(name: str, texts: Sequence[str]) -> tuple[int, str]:
    """How many of the texts a kernel cannot read, and a sentence of it; 0 and "" for a kernel that
    reads any text. Of an unread text it reads less than half of the letters, so that texts which
    have nothing but a name or a year in common may be equal to it.

    >>> unread("bleu.char", ["yes", "maybe"])[0], unread("rouge_l.plain", ["Москва 5", "a cat"])[0]
    (1, 1)
    """
    reads = entry(name).reads
    compares = entry(name).compares
    if reads is None:
        return 0, ""
    number = sum(reads(text) < LEAST_READ for text in texts)
    return number, f"{name} reads {number:,} of {len(texts):,} texts as empty: {compares}"


def signature(name: str, **options: Any) -> dict[str, Any]:
    """What decides a kernel's values besides its name and its module's code.

    options : of the kernel, as for `kernel`
    Returns dict : ``options``, and in ``resources`` the sums of its files, in the place of options
        that say where they lie
    Raises KernelError : unknown kernel, or a missing file.

    >>> signature("bleu.char")
    {'options': {}, 'resources': {}}
    """
    files = entry(name).files
    paths = {option: options.pop(option) for option in files if option in options}
    resources = _module(name).resources(name, **paths) if files else {}
    return {"options": options, "resources": resources}


def indexed(name: str, training: Sequence[str], **options: Any) -> Index:
    """Training texts made ready once, for any candidates that come later.

    Parameters, errors : as for `kernel`

    >>> index = indexed("rouge_l.plain", ["a cat", "no dog"])
    >>> kernel("rouge_l.plain", ["a good cat"], index).tolist()
    [[0.8, 0.0]]
    """
    accepted = list(inspect.signature(_module(name).index).parameters)[2:]
    if other := sorted(set(options) - set(accepted)):
        remedy = f"its options are: {', '.join(accepted) or 'none'}"
        raise KernelError(f"{name} has no option {other[0]!r}", remedy=remedy)
    index: Index = _module(name).index(name, _checked(training), **options)
    return index


def _module(name: str) -> ModuleType:
    """The module of a kernel, imported now if it was not before; KernelError as `entry`."""
    entry(name)
    return importlib.import_module(f"refless.kernels.{name.partition('.')[0]}")


def _index(name: str, training: Sequence[str] | Index, options: dict[str, Any]) -> Index:
    return training if isinstance(training, Index) else indexed(name, training, **options)


def _checked(texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise KernelError("candidates and training texts must be lists of texts")
    return list(texts)


def _numbers(name: str, values: Numbers) -> Array:
    """Numbers, writeable, as the compiled code wants them: a table's column is not."""
    try:
        return np.require(values, np.float64, ["C", "W"])
    except (TypeError, ValueError) as error:
        raise KernelError(f"{name}: {error}", remedy="give a list of numbers") from error


def _of_texts(quality: Numbers, n: int) -> Array:
    """The quality of each of n texts."""
    numbers = _numbers("quality", quality)
    if numbers.shape != (n,):
        message = f"quality: {n} texts and numbers of shape {numbers.shape}"
        raise KernelError(message, remedy="give one for each")
    return numbers


def _indices(name: str, values: Numbers, n: int, stop: int) -> Array:
    """Whole numbers from 0 to ``stop - 1``, or -1 for none, one for each of n texts."""
    if not are_indices(values, (n,), -1, stop):
        message = f"{name}: these are not {n} whole numbers from -1 to {stop - 1}"
        raise KernelError(message, remedy="give one for each text, from 0; -1 is for none")
    return np.require(values, np.int64, ["C", "W"])


def _left_out(exclude: Numbers | None, candidates: int, training: int) -> Array | None:
    """The training row that each candidate leaves out, -1 for none."""
    return None if exclude is None else _indices("exclude", exclude, candidates, training)


def _taus(taus: Numbers) -> Array:
    """Values of tau, shape (n_tau,)."""
    values = _numbers("taus", taus)
    if values.ndim != 1 or np.isnan(values).any():
        raise KernelError(f"taus are {taus}", remedy="give a list of numbers")
    return values
