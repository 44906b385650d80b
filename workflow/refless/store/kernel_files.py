"""Kernel files: numbers about the candidates, and a signature.

A kernel file (``.npz``) holds arrays whose rows are candidates: the matrix (``kernel``), or, of a
task too large for it, numbers and sums of neighbors (``<reading>.counts``, ``<reading>.sums``). It
says which kernel, which code, which package versions, which texts. Whoever reads it says which
texts it expects; a file that was computed from others, or by other code, is refused.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from refless.errors import FormatError, SettingError, StaleError
from refless.store.files import read_json, whole_file

STALE = "delete it and run again; for a shipped file: compute it from the data and `make ship`"


def write_kernel(matrix: np.ndarray, signature: dict[str, Any], path: str | Path) -> None:
    """Write a kernel matrix and its signature; the same input gives the same bytes.

    Values that are numbers of single precision (BERTScore's, where not rescaled) are kept as such.
    """
    single = matrix.astype(np.float32)
    stored = single if np.array_equal(single, matrix) else matrix
    write_arrays({"kernel": stored}, signature, path)


def write_arrays(
    arrays: Mapping[str, np.ndarray], signature: dict[str, Any], path: str | Path
) -> None:
    """Write arrays whose rows are candidates, and their signature, as `write_kernel` does."""
    with whole_file(path) as partial:
        np.savez_compressed(partial, **arrays, signature=json.dumps(signature, sort_keys=True))  # type: ignore[arg-type]


def read_kernel(
    path: str | Path, *, data_sum: str | None = None, check_code: bool = True
) -> tuple[np.ndarray, dict[str, Any]]:
    """Read a kernel matrix (float64) and its signature: see `read_arrays`.

    Raises
    ------
    FormatError : as there, or the file holds sums of neighbors and no matrix.
    """
    arrays, signature = read_arrays(path, data_sum=data_sum, check_code=check_code)
    if "kernel" not in arrays:
        raise FormatError(
            "holds numbers and sums of neighbors, and no matrix",
            path=path,
            remedy="take the task off the list of those that are streamed",
        )
    return arrays["kernel"].astype(np.float64), signature


def read_arrays(
    path: str | Path, *, data_sum: str | None = None, check_code: bool = True
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read a kernel file's arrays and its signature.

    Parameters
    ----------
    data_sum : sum of the texts that the kernel is expected to stand for
    check_code : whether the signature must agree with the kernel's present code and versions

    Raises
    ------
    FormatError : the file is missing, truncated or not a kernel file.
    StaleError : the signature says other texts, other code or other package versions.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
            signature = dict(json.loads(str(arrays.pop("signature"))))
        if not arrays:
            raise ValueError("there are no numbers in it")
    except Exception as error:
        # Over broken bytes, numpy and zipfile pass on whatever their decoders raise.
        raise FormatError(
            f"is not a whole kernel file: {error}", path=path, remedy="delete it and run again"
        ) from error
    if data_sum is not None and signature.get("data") != data_sum:
        raise StaleError("was computed from other texts", path=path, remedy=STALE)
    if check_code:
        from refless.kernels import matches_code

        reasons = matches_code(signature)
        if reasons:
            raise StaleError("is stale: " + "; ".join(reasons), path=path, remedy=STALE)
    return arrays, signature


def shard_rows(shard: str, n: int) -> slice:
    """The candidates of one shard, e.g. ``2-of-8``: shards differ in size by one at most.

    Raises
    ------
    SettingError : not of the form ``i-of-k`` with i from 1 to k.
    """
    match = re.fullmatch(r"(\d+)-of-(\d+)", shard)
    part, parts = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part <= parts:
        raise SettingError(f"a shard is written like 2-of-8, not {shard!r}")
    return slice((part - 1) * n // parts, part * n // parts)


def gather_kernel(paths: Sequence[str | Path], out: str | Path) -> None:
    """Put the shards of one kernel together; the file is the one of an unsharded run, bit for bit.

    Parameters
    ----------
    paths : the shards, in order; each says in its signature which one it is

    Raises
    ------
    StaleError : a shard is missing, stands at the wrong place, or is of another kernel, other
        texts or other code.
    """
    parts: list[dict[str, np.ndarray]] = []
    first: dict[str, Any] = {}
    for number, path in enumerate(paths, start=1):
        arrays, signature = read_arrays(path, check_code=False)
        shard = signature.pop("shard", None)
        first = first or signature
        if shard != f"{number}-of-{len(paths)}" or signature != first:
            raise StaleError(
                f"is not shard {number} of {len(paths)} of the same kernel (it says {shard})",
                path=path,
                remedy="delete the shards and run again",
            )
        parts.append(arrays)
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    write_arrays(whole, first, out)


def check_resources(signed: dict[str, Any], verified: str | Path) -> None:
    """Refuse resources that are not those that were verified.

    Raises
    ------
    StaleError : a signature's resources have other sums than the file ``verified`` states.
    """
    if signed["resources"] != read_json(verified)["resources"]:
        raise StaleError(
            f"the files that {signed['kernel']} is computed with are not those that were verified",
            path=verified,
            remedy="delete it and run again, to verify them anew",
        )


def kernel_arguments(parser: argparse.ArgumentParser) -> None:
    """What scripts that compute kernels are told of what these need beside texts; see `sign`."""
    parser.add_argument("--wordnet", type=Path, help="WordNet 3.0 in nltk's layout, for METEOR")
    parser.add_argument("--options", default="{}", help="JSON: kernel -> its options")
    parser.add_argument("--verified", type=Path, help="JSON with the sums that resources must have")


def sign(
    name: str, about: Mapping[str, Any], arguments: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A kernel's options, and the signature of numbers that are computed with them.

    Parameters
    ----------
    about : of the task: its name (``task``) and the sum of its texts (``text_sum``)
    arguments : of `kernel_arguments`

    Raises
    ------
    KernelError : a resource is missing.
    StaleError : resources are not those that were verified.
    """
    from refless.kernels import signature

    options = json.loads(arguments.options).get(name, {})
    if name.startswith("meteor.") and arguments.wordnet is not None:
        options["wordnet"] = str(arguments.wordnet)
    signed = signature(name, about["text_sum"], **options)
    if arguments.verified is not None and signed["resources"]:
        check_resources(signed, arguments.verified)
    return options, signed | {"task": about["task"], "provenance": "computed"}
