"""Kernels: how similar is a candidate to a training text?

Stage: kernels. In: two lists of texts. Out: the matrix k(candidate, training text), or, without
the matrix, how many neighbors each candidate has at each tau and the sum of their quality; and
the signature by which stored numbers are known to be still valid.

A kernel is called ``family.variant`` and lives in the module ``refless.kernels.family``, which is
imported when it is asked for. Adding a family is adding that module, with

``NAMES``
    a tuple of the kernels' full names; ``family.*`` stands for any variant
``PACKAGES``
    kernel name (or ``family.*``) to a tuple of the packages whose version decides its values
``plan(name, candidates, training, **options)``
    the texts made ready: a `refless.kernels._plan.Plan`
``index`` and ``opened``, if training texts can be made ready without candidates
    see `refless.kernels._plan.Index`; without them, `indexed` keeps the texts
``HIGHEST``, if a kernel can be more than 1
    kernel name to its highest value
``LOCATIONS`` and ``resources(**locations)``, if files decide the values
    the names of the options that say where the files are; ``{name: sum}`` of their contents

The constants are read from the source without importing it, so they are written out literally.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np

from refless.errors import KernelError
from refless.kernels import _blocks
from refless.kernels._plan import Arrays, Index, Plan
from refless.kernels._registry import highest, load, module_path, names
from refless.kernels.signatures import signature
from refless.store.files import text_sum

__all__ = [
    "highest",
    "indexed",
    "kernel",
    "module_path",
    "names",
    "nearest",
    "neighbor_sums",
    "opened",
    "option_names",
    "signature",
    "text_sum",
]


def kernel(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str] | Index,
    *,
    rows: slice | None = None,
    threads: int | None = None,
    **options: Any,
) -> np.ndarray:
    """The kernel matrix, shape (candidates, training), float64.

    Parameters
    ----------
    name : a kernel, see `names`
    candidates, training : texts; or ``training`` is the index that `indexed` made with this name
        and these options, and no option is given here
    rows : compute only these candidates; they are the rows of the whole matrix, bit for bit
    threads : None for as many as the process may use
    options : of the kernel's module, e.g. ``wordnet=`` for METEOR

    Raises
    ------
    KernelError : unknown kernel or option, a text that is none, or a missing resource.
    """
    candidates = _checked(candidates, "candidates")
    if rows is not None:
        candidates = candidates[rows]
    return _blocks.dense(_index(name, training, options).plan(candidates), threads)


def neighbor_sums(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str] | Index,
    quality: np.ndarray | Sequence[float],
    taus: np.ndarray | Sequence[float],
    *,
    exclude: np.ndarray | Sequence[int] | None = None,
    rows: slice | None = None,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Number of neighbors and sum of their quality, without holding the matrix.

    Neighbors of x are the training texts s with k(x, s) >= tau (Ethayarajh & Sadigh 2020,
    section 3). Each sum is taken in training order, one number after the other, so it does not
    depend on threads, on ``rows`` or on which other taus are asked for.

    Parameters
    ----------
    name, candidates, training, threads, options : as for `kernel`
    quality : of the training texts, shape (training,), finite; or several kinds of quality at
        once, shape (training, kinds), which costs less than a call for each
    taus : shape (n_tau,), in any order
    exclude : the training row to leave out for each candidate (-1: none), shape (candidates,);
        for leave-one-out. It goes by row, so an equal text elsewhere stays.
    rows : only these candidates (and their entries of ``exclude``)
    progress : called now and then with the number of candidates done; as training texts are
        taken block by block, that is the number that the work done amounts to

    Returns
    -------
    counts : int64, shape (candidates, n_tau)
    sums : float64, shape (candidates, n_tau), or (candidates, n_tau, kinds); 0 where there is no
        neighbor

    Raises
    ------
    KernelError : as for `kernel`; or shapes do not fit, or a number is not finite.
    """
    candidates, found = _checked(candidates, "candidates"), _index(name, training, options)
    quality, taus = _numbers(quality), _numbers(taus)
    left_out = _excluded(exclude, len(candidates), found.size)
    if quality.ndim not in (1, 2) or len(quality) != found.size:
        raise KernelError(f"{found.size} training texts have quality of shape {quality.shape}")
    if taus.ndim != 1:
        raise KernelError("taus must be one row of numbers")
    if rows is not None:
        candidates, left_out = candidates[rows], np.ascontiguousarray(left_out[rows])
    order = np.argsort(taus, kind="stable")
    kinds = np.ascontiguousarray(quality.T if quality.ndim == 2 else quality[None])
    plan = found.plan(candidates)
    counts, sums = _blocks.sums(plan, kinds, taus[order], left_out, threads, progress)
    back = np.argsort(order, kind="stable")
    sums = sums[0] if quality.ndim == 1 else np.moveaxis(sums, 0, -1)
    return np.ascontiguousarray(counts[:, back]), np.ascontiguousarray(sums[:, back])


def group_sums(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str] | Index,
    quality: np.ndarray | Sequence[float],
    taus: np.ndarray | Sequence[float],
    groups: Sequence[np.ndarray],
    *,
    threads: int | None = None,
    **options: Any,
) -> list[tuple[np.ndarray, np.ndarray]]:
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
    candidates, found = _checked(candidates, "candidates"), _index(name, training, options)
    quality, taus = _numbers(quality), _numbers(taus)
    ways = [np.asarray(way, np.int64) for way in groups]
    if {way.shape for way in ways} | {quality.shape} != {(found.size,)}:
        raise KernelError(f"quality and groups must have {found.size} entries, one a training text")
    if taus.ndim != 1 or not len(taus) or (np.diff(taus) < 0).any():
        raise KernelError("taus must ascend")
    ends = np.cumsum([0, *(int(way.max(initial=-1)) + 1 for way in ways)])
    numbered = [np.where(way < 0, -1, way + end) for way, end in zip(ways, ends, strict=False)]
    plan = found.plan(candidates)
    counts, sums = _blocks.group_sums(plan, quality, taus, np.stack(numbered), threads)
    return [(counts[:, start:end], sums[:, start:end]) for start, end in pairwise(ends)]


def nearest(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str] | Index,
    number: int,
    *,
    exclude: np.ndarray | Sequence[int] | None = None,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> tuple[np.ndarray, np.ndarray]:
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
    candidates, found = _checked(candidates, "candidates"), _index(name, training, options)
    if number < 1:
        raise KernelError(f"{number} nearest texts were asked for", remedy="ask for 1 or more")
    left_out = _excluded(exclude, len(candidates), found.size)
    return _blocks.nearest(found.plan(candidates), number, left_out, threads, progress)


def indexed(name: str, training: Sequence[str], **options: Any) -> Index:
    """Training texts made ready once, for any candidates that come later.

    Most is kept by ``bleu`` and the kernels built on it, whose index has all that does not hang
    on the candidates. For kernels without an index of their own, the texts are kept.

    Parameters, errors : as for `kernel`
    """
    module, texts = load(name), _checked(training, "training")
    if not hasattr(module, "index"):
        _bound(name, [], texts, options)
        return _TextIndex(name, texts, options)
    _bound(name, [], [], options)
    index: Index = module.index(name, texts, **options)
    return index


def opened(
    name: str, training: Sequence[str], arrays: Mapping[str, np.ndarray], **options: Any
) -> Index:
    """The index of which these are the ``arrays()``.

    Parameters
    ----------
    training : its texts, which are looked at where the kernel has no index of its own
    """
    module = load(name)
    if not hasattr(module, "opened"):
        return _TextIndex(name, training, options)
    index: Index = module.opened(name, arrays, **options)
    return index


class _TextIndex:
    """Training texts as they are, for a kernel that makes them ready together with candidates."""

    def __init__(self, name: str, training: Sequence[str], options: dict[str, Any]) -> None:
        self.size = len(training)
        self._name, self._training, self._options = name, training, options

    def plan(self, candidates: Sequence[str]) -> Plan:
        return _prepared(self._name, list(candidates), list(self._training), self._options)

    def arrays(self) -> Arrays:
        return {}


def _numbers(values: np.ndarray | Sequence[float]) -> np.ndarray:
    # writeable, as the compiled code wants it: a table's column is not
    found = np.require(values, np.float64, ["C", "W"])
    if not np.isfinite(found).all():
        raise KernelError(
            "quality and taus must be rows of finite numbers",
            remedy="leave out training texts that nobody rated",
        )
    return found


def _index(name: str, training: Sequence[str] | Index, options: dict[str, Any]) -> Index:
    if not hasattr(training, "plan"):
        return indexed(name, training, **options)
    if options:
        raise KernelError("an index has its options", remedy="give them to indexed")
    return cast(Index, training)


def option_names(name: str) -> list[str]:
    """The options that a kernel takes."""
    return list(inspect.signature(load(name).plan).parameters)[3:]


def _prepared(
    name: str, candidates: list[str], training: list[str], options: dict[str, Any]
) -> Plan:
    call = _bound(name, candidates, training, options)
    plan: Plan = load(name).plan(*call.args, **call.kwargs)
    return plan


def _bound(
    name: str, candidates: list[str], training: list[str], options: dict[str, Any]
) -> inspect.BoundArguments:
    """The call of a kernel's ``plan``, if it takes these options."""
    try:
        return inspect.signature(load(name).plan).bind(name, candidates, training, **options)
    except TypeError as error:
        raise KernelError(
            f"{name} cannot be called so: {error}",
            remedy=f"its options are: {', '.join(option_names(name)) or 'none'}",
        ) from error


def _checked(texts: Sequence[str], what: str) -> list[str]:
    if isinstance(texts, str):
        raise KernelError(f"{what} is one text", remedy="give a list of texts")
    texts = list(texts)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise KernelError(f"{what}[{i}] is no text but {text!r}")
    return texts


def _excluded(
    exclude: np.ndarray | Sequence[int] | None, n_candidates: int, n_training: int
) -> np.ndarray:
    if exclude is None:
        return np.full(n_candidates, -1, np.int64)
    rows = np.asarray(exclude)
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
