"""The signature of a kernel's numbers: its module, packages, resources, options and texts.

Stage: kernels (helper). Paths, times and machines are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from refless.errors import KernelError
from refless.kernels._registry import entry, load
from refless.store.code import code_sum


def signature(
    name: str, data_sum: str, *, resources: Mapping[str, str] | None = None, **options: Any
) -> dict[str, Any]:
    """What the numbers of a kernel depend on.

    Parameters
    ----------
    name : a kernel
    data_sum : sum of the texts (and of whatever else went in), e.g. from `text_sum`
    resources : sums of the kernel's resources as an earlier signature states them (its entry
        ``resources``); without it they are computed, so the resources must be at hand
    options : as given to the kernel. Those that say where a resource lies are not recorded; the
        resource's sum is.

    Raises
    ------
    KernelError : unknown kernel, a missing resource, or an option that JSON cannot hold.
    """
    known = entry(name)
    places = {key: options.pop(key) for key in known.places if key in options}
    if resources is None:
        resources = load(name).resources(name, **places) if known.places else {}
    try:
        options = json.loads(json.dumps(options, sort_keys=True))
    except (TypeError, ValueError) as error:
        raise KernelError(f"an option of {name} cannot be signed: {error}") from error
    return sign(
        [f"kernels/{known.module}.py"],
        data_sum,
        packages=known.packages,
        kernel=name,
        resources=dict(resources),
        options=options,
    )


def sign(
    code: Iterable[str], data: str, *, packages: Iterable[str] = (), **facts: Any
) -> dict[str, Any]:
    """What numbers depend on: files of the package that compute them (and what those import), the
    sum of what went in, the versions of packages, and whatever else is to be known."""
    return {
        "code": sorted(code),
        "fingerprint": code_sum(*code),
        "packages": {package: _version(package) for package in packages},
        "data": data,
        **facts,
    }


def _version(package: str) -> str | None:
    """The installed version, without the build: ``2.13.0`` for ``2.13.0+cpu``."""
    try:
        return version(package).partition("+")[0]
    except PackageNotFoundError:
        return None
