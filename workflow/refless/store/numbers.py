"""Files of numbers about candidates, with the signatures of the kernels that they came from.

Stage: prediction. In: arrays, and what they hang on. Out: one ``.npz`` that says so, and is refused
where it no longer fits the code or the settings. No text is in it, so it may be shipped.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from refless.errors import FormatError, StaleError
from refless.store.files import whole_file

REMEDY = "delete it and run again; for a shipped file: compute it from the data and `make ship`"


def write_numbers(arrays: Mapping[str, np.ndarray], about: Mapping[str, Any], path: Path) -> None:
    """Write arrays and ``about``; the same input gives the same bytes.

    ``about`` has ``task``, ``provenance``, ``settings`` and ``signatures``, a list of kernels'
    signatures, and whatever else JSON can hold.
    """
    named: dict[str, Any] = {**arrays, "about": json.dumps(about, sort_keys=True)}
    with whole_file(path) as partial:
        np.savez_compressed(partial, **named)


def read_numbers(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and ``about`` of a file by `write_numbers`; see `require_fresh`.

    Raises
    ------
    FormatError : the file is missing, truncated or no such file.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        about = dict(json.loads(str(arrays.pop("about"))))
        missing = {"task", "provenance", "settings", "signatures"} - set(about)
        if missing:
            raise ValueError(f"it does not state {', '.join(sorted(missing))}")
    except Exception as error:
        # Over broken bytes, numpy and zipfile pass on whatever their decoders raise.
        raise FormatError(
            f"is not a whole file of numbers: {error}", path=path, remedy="delete it and run again"
        ) from error
    return arrays, about


def require_fresh(about: Mapping[str, Any], settings: Mapping[str, Any], path: Path) -> None:
    """Make sure that numbers are those that the code would compute under these settings.

    Versions of packages that are not installed (torch, where shipped numbers stand in for it) are
    not compared.

    Raises
    ------
    StaleError : made by other code, by other versions, or under other settings.
    """
    from refless.kernels import matches_code

    reasons = {
        reason for signature in about["signatures"] for reason in matches_code(_here(signature))
    }
    if reasons:
        raise StaleError("is stale: " + "; ".join(sorted(reasons)), path=path, remedy=REMEDY)
    made = about["settings"]
    differ = sorted(key for key in {*made, *settings} if made.get(key) != settings.get(key))
    if differ:
        shown = "; ".join(f"{k}: {made.get(k)}, asked for: {settings.get(k)}" for k in differ)
        raise StaleError(f"was made under other settings ({shown})", path=path, remedy=REMEDY)


def require_same_texts(
    file: tuple[Mapping[str, np.ndarray], Mapping[str, Any]],
    beside: tuple[Mapping[str, np.ndarray], Mapping[str, Any]],
    path: Path,
) -> None:
    """Make sure that two files, as `read_numbers` gives them, are about the same rated texts.

    One may be shipped and the other computed, under another quality or from another file.

    Raises
    ------
    StaleError : ``file``, which lies at ``path``, is about other texts or ratings.
    """
    (arrays, about), (others, other) = file, beside
    texts = [one["signatures"][0]["data"] for one in (about, other)]
    if texts[0] != texts[1] or not np.array_equal(arrays["quality"], others["quality"]):
        raise StaleError("was computed from other texts or ratings", path=path, remedy=REMEDY)


def _here(signature: Mapping[str, Any]) -> dict[str, Any]:
    """A signature without the packages that are not installed."""
    packages = {
        name: version for name, version in signature["packages"].items() if _installed(name)
    }
    return {**signature, "packages": packages}


def _installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
