"""Signatures: are stored numbers still what the code would compute?

Stage: none. In: the code that decides numbers, the packages and resources behind it, the sum of
what went in. Out: a dictionary for JSON that is kept beside the numbers; later, the reasons why it
no longer fits. Paths, times and machines are not in it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Iterable, Mapping
from typing import Any

from refless.store.code import PACKAGE, decisive_sum


def sign(
    code: Iterable[str],
    data: str,
    *,
    packages: Iterable[str] = (),
    **facts: Any,
) -> dict[str, Any]:
    """What numbers depend on.

    Parameters
    ----------
    code : files of the package that compute them, relative to it: ``models/delta_bleu.py``. What
        they import counts as well.
    data : sum of what went in, e.g. `text_sum`
    packages : those whose version decides the numbers
    facts : whatever else is to be known: the kernel's name, its options, sums of its resources
    """
    code = sorted(code)
    return {
        "code": code,
        "fingerprint": decisive_sum(*code),
        "packages": {package: _version(package) for package in packages},
        "data": data,
        **facts,
    }


def reasons_against(signature: Mapping[str, Any], packages: bool = True) -> list[str]:
    """Reasons why a signature does not agree with today's code; empty if it does.

    Resources, options and data are for the caller to compare.

    Parameters
    ----------
    packages : whether versions count; one that was recorded counts only where the package is
        installed, for numbers that need torch may be used without it
    """
    code = signature["code"]
    gone = [name for name in code if not (PACKAGE / name).is_file()]
    if gone:
        return [f"{', '.join(gone)}, which computed it, is gone"]
    reasons = []
    if signature["fingerprint"] != decisive_sum(*code):
        what = signature.get("kernel") or ", ".join(code)
        reasons.append(f"the code of {what} has changed since it was computed")
    for package, before in sorted(signature["packages"].items()) if packages else ():
        now = _version(package)
        if now is not None and now != before:
            reasons.append(f"{package} {before} decided it, now it is {now}")
    return reasons


def text_sum(texts: Iterable[str]) -> str:
    """SHA-256 of texts in their order; where one ends and the next begins is part of it."""
    digest = hashlib.sha256()
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def _version(package: str) -> str | None:
    """The installed version, without the build: ``2.13.0`` for ``2.13.0+cpu``."""
    try:
        return importlib.metadata.version(package).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None
