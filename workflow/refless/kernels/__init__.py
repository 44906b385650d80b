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
``LOCATIONS`` and ``resources(**locations)``, if files decide the values
    the names of the options that say where the files are; ``{name: sum}`` of their contents

The constants are read from the source without importing it, so they are written out literally.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from refless.errors import KernelError
from refless.kernels import _blocks
from refless.kernels._plan import Plan
from refless.kernels._registry import load, module_path, names
from refless.kernels.signatures import signature
from refless.store.signatures import text_sum

__all__ = [
    "kernel",
    "module_path",
    "names",
    "neighbor_sums",
    "option_names",
    "signature",
    "text_sum",
]


def kernel(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str],
    *,
    rows: slice | None = None,
    threads: int | None = None,
    **options: Any,
) -> np.ndarray:
    """The kernel matrix, shape (candidates, training), float64.

    Parameters
    ----------
    name : a kernel, see `names`
    candidates, training : texts
    rows : compute only these candidates; they are the rows of the whole matrix, bit for bit
    threads : None for as many as the process may use
    options : of the kernel's module, e.g. ``wordnet=`` for METEOR

    Raises
    ------
    KernelError : unknown kernel or option, a text that is none, or a missing resource.
    """
    candidates, training = _checked(candidates, "candidates"), _checked(training, "training")
    if rows is not None:
        candidates = candidates[rows]
    return _blocks.dense(_prepared(name, candidates, training, options), threads)


def neighbor_sums(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str],
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
    candidates, training = _checked(candidates, "candidates"), _checked(training, "training")
    # writeable, as the compiled code wants it: a table's column is not
    quality = np.require(quality, np.float64, ["C", "W"])
    taus = np.require(taus, np.float64, ["C", "W"])
    left_out = _excluded(exclude, len(candidates), len(training))
    if quality.ndim not in (1, 2) or len(quality) != len(training):
        raise KernelError(f"{len(training)} training texts have quality of shape {quality.shape}")
    if taus.ndim != 1 or not np.isfinite(taus).all() or not np.isfinite(quality).all():
        raise KernelError(
            "quality and taus must be rows of finite numbers",
            remedy="leave out training texts that nobody rated",
        )
    if rows is not None:
        candidates, left_out = candidates[rows], np.ascontiguousarray(left_out[rows])
    plan = _prepared(name, candidates, training, options)
    order = np.argsort(taus, kind="stable")
    kinds = np.ascontiguousarray(quality.T if quality.ndim == 2 else quality[None])
    counts, sums = _blocks.sums(plan, kinds, taus[order], left_out, threads, progress)
    back = np.argsort(order, kind="stable")
    sums = sums[0] if quality.ndim == 1 else np.moveaxis(sums, 0, -1)
    return np.ascontiguousarray(counts[:, back]), np.ascontiguousarray(sums[:, back])


def option_names(name: str) -> list[str]:
    """The options that a kernel takes."""
    return list(inspect.signature(load(name).plan).parameters)[3:]


def _prepared(
    name: str, candidates: list[str], training: list[str], options: dict[str, Any]
) -> Plan:
    plan = load(name).plan
    try:
        call = inspect.signature(plan).bind(name, candidates, training, **options)
    except TypeError as error:
        raise KernelError(
            f"{name} cannot be called so: {error}",
            remedy=f"its options are: {', '.join(option_names(name)) or 'none'}",
        ) from error
    return plan(*call.args, **call.kwargs)


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
