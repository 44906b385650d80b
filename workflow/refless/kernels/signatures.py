"""The signature of a kernel's numbers: its module, packages, resources, options and texts.

Stage: kernels (helper). Paths, times and machines are not in it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from refless.errors import KernelError
from refless.kernels._registry import FOLDER, constants, load, module_path
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
    path = module_path(name)
    stated = constants(path)
    places = {key: options.pop(key) for key in stated.get("LOCATIONS", ()) if key in options}
    if resources is None:
        resources = _resources(name, places) if "LOCATIONS" in stated else {}
    try:
        options = json.loads(json.dumps(options, sort_keys=True))
    except (TypeError, ValueError) as error:
        raise KernelError(f"an option of {name} cannot be signed: {error}") from error
    packages = stated.get("PACKAGES", {})
    return sign(
        [f"{FOLDER.name}/{path.name}"],
        data_sum,
        packages=packages.get(name) or packages.get(name.partition(".")[0] + ".*", ()),
        kernel=name,
        resources=dict(resources),
        options=options,
    )


def _resources(name: str, places: Mapping[str, Any]) -> dict[str, str]:
    """Sums of a kernel's resources; which ones may hang on the kernel's name."""
    function = load(name).resources
    if "name" in inspect.signature(function).parameters:
        places = {"name": name, **places}
    sums: dict[str, str] = function(**places)
    return sums


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
