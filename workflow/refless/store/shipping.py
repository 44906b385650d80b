"""Renew what comes with refless: computed results without any text, and the list of them.

Stage: none. In: results. Out: ``resources/shipped`` with the names that they have in ``results``,
and its ``manifest.csv``: path, SHA-256 of the bytes, digest of the settings (`refless.plan`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from refless.plan import MANIFEST
from refless.store import sealed
from refless.store.files import file_sum, write_text


def ship(digests: Mapping[str, str], out: str | Path) -> list[Path]:
    """Copy computed files to where they are shipped from, marked as shipped.

    Parameters
    ----------
    digests : path in ``results`` of what may be shipped -> the digest of its settings; tables of
        texts are blanked. What is not there is left as it is.

    Returns
    -------
    The files that were written.

    Raises
    ------
    FormatError, StaleError : as `refless.store.sealed.read`.
    """
    from refless.data.task import blank_task

    out, written = Path(out), {}
    listed = out / MANIFEST
    kept = {}
    if listed.is_file():
        before = pd.read_csv(listed, dtype=str)
        kept = dict(zip(before["path"], before["digest"], strict=True))
    for path, digest in digests.items():
        source, below = Path(path), Path(path).relative_to("results")
        if not source.is_file():
            continue
        about = sealed.record_of(source)
        if about["kind"] == "texts":
            blank_task(source.parent, out / below.parent)
        elif about["kind"] != "ratings":  # which are written with their texts
            content = sealed.read(source, about["kind"]).content
            sealed.write(out / below, content, {**about, "provenance": "shipped"})
        written[below.as_posix()] = digest
    every = {path: digest for path, digest in kept.items() if (out / path).is_file()} | written
    table = [(path, file_sum(out / path), digest) for path, digest in sorted(every.items())]
    write_text(sealed.table_text(pd.DataFrame(table, columns=["path", "sha256", "digest"])), listed)
    return [out / path for path in written]
