"""Shipped numbers: files of ``resources/shipped`` under the names that they have in ``results``.

Stage: none. `ship` renews them from computed results, without any text; `take` brings them to
their place in a run that does not compute them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from refless.availability import path_pattern
from refless.store import signed
from refless.store.files import list_sums, whole_file


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


DATA_SETS = "data sets"
"""Kind of the file that says how the data sets behind all shipped numbers were read."""


def ship(patterns: Iterable[str], results: str | Path, out: str | Path) -> list[Path]:
    """Copy computed files to where they are shipped from, marked as shipped.

    Parameters
    ----------
    patterns : paths in ``results``, with wildcards, of what may be shipped; tables of texts are
        blanked. What was shipped itself is left as it is.

    Returns
    -------
    The files that were written.

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.verify`.
    """
    from refless.data.task import blank_task

    results, out, done = Path(results), Path(out), []
    tasks: set[str] = set()
    wanted = [path_pattern(pattern) for pattern in patterns]
    for path in sorted(results.rglob("*.*")):
        below = path.relative_to(results)
        if not any(pattern.fullmatch(f"results/{below.as_posix()}") for pattern in wanted):
            continue
        about = signed.verify(path)
        if about["provenance"] != "computed" or about["kind"] == "ratings":
            continue  # ratings are written with their texts
        if about["kind"] == "texts":
            blank_task(path.parent, out / below.parent)
        else:
            content = signed.read(path, about["kind"]).content
            signed.write(out / below, content, {**about, "provenance": "shipped"})
        done.append(out / below)
        tasks |= {*map(str, about["of"].values()), *(key.split()[-1] for key in about["made_from"])}
    done.append(_ship_data_sets(results, out, tasks))
    list_sums(out, "")
    return done


def _ship_data_sets(results: Path, out: Path, tasks: set[str]) -> Path:
    """Say how each data set was read that something shipped was made from: most numbers are shipped
    without the ratings themselves."""
    import pandas as pd

    path = out / "data_sets.csv"
    read = signed.record_of(path)["facts"]["read"] if path.is_file() else {}
    for texts in sorted(results.glob("ratings/*/texts.csv")):
        about = signed.record_of(texts)
        if about["provenance"] == "computed" and texts.parent.name in tasks:
            read[texts.parent.name] = about["settings"]
    signed.write(
        path,
        pd.DataFrame({"task": sorted(read)}),
        {"kind": DATA_SETS, "provenance": "shipped", "facts": {"read": read}},
    )
    return path
