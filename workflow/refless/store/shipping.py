"""Shipped numbers: files of ``resources/shipped`` under the names that they have in ``results``.

Stage: none. `ship` renews them from computed results, without any text; `take` brings them to
their place in a run that does not compute them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from refless.errors import StaleError
from refless.store import signed
from refless.store.files import whole_file


def take(sources: Sequence[str | Path], results: Sequence[str | Path]) -> None:
    """Copy signed files, each after every byte of it and the code behind it was checked.

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.verify`; nothing is copied then.
    """
    for source in sources:
        signed.verify(source)
    for source, result in zip(sources, results, strict=True):
        with whole_file(result) as partial:
            shutil.copyfile(source, partial)


def ship(results: Iterable[str | Path], folder: str | Path, out: str | Path) -> None:
    """Copy computed files to where they are shipped from, marked as shipped.

    Parameters
    ----------
    results : signed files below ``folder``; tables of texts are blanked

    Raises
    ------
    StaleError : a file was not computed here.
    """
    from refless.data.task import blank_task

    for path in map(Path, results):
        target = Path(out) / path.relative_to(folder)
        kind = signed.verify(path)["kind"]
        if kind == "ratings":
            continue  # written with its texts
        if kind == "texts":
            blank_task(path.parent, target.parent)
            continue
        file = signed.read(path, kind)
        if file.about["provenance"] != "computed":
            raise StaleError("was not computed here", path=path, remedy="compute it, then ship")
        signed.write(target, file.content, {**file.about, "provenance": "shipped"})
