"""From verified raw files to the tidy tables of a data set. Stage: ratings."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from refless.data import sources
from refless.data.ratings import RatedTexts
from refless.data.raw_files import read_sources, verify
from refless.data.task import write_task
from refless.errors import SettingError
from refless.store.files import file_sum, whole_file

log = logging.getLogger(__name__)


def read_raw(
    task: str,
    loader: str,
    files: Mapping[str, str],
    options: Mapping[str, Any],
    malformed: str,
    resources: str | Path = "resources",
) -> tuple[RatedTexts, dict[str, str]]:
    """Load a data set from raw files, each verified right before; parameters as of `normalize`.

    Returns
    -------
    The data, and name of a raw file -> its SHA-256.
    """
    sums = _verified(files, Path(resources))
    data = sources.load(loader, task, files, options)
    if malformed == "error":
        data.require_clean()
    return data, sums


def normalize(
    task: str,
    loader: str,
    files: Mapping[str, str],
    options: Mapping[str, Any],
    malformed: str,
    out: str | Path,
    resources: str | Path = "resources",
) -> None:
    """Load a data set by `read_raw`, and write its tables.

    Parameters
    ----------
    files : the loader's name of a file -> its path; files below ``<resources>/data`` must be what
        the table of sources says, others are a user's own
    malformed : ``error`` to stop at rows that make no sense, ``skip`` to list them

    Raises
    ------
    SourceError : a raw file is not what the table of sources says.
    FormatError : a raw file is not in its loader's format.
    """
    data, sums = read_raw(task, loader, files, options, malformed, resources)
    out = Path(out)
    for problem in data.problems:
        log.warning("left out: %s", problem)
    with whole_file(out / "malformed.txt") as partial:
        partial.write_text("".join(f"{p}\n" for p in data.problems), encoding="utf-8")
    write_task(task, data, out, sums, {"loader": loader, **options})
    log.info("%s: %d rated texts, %d ratings", task, len(data.texts), len(data.ratings))


def read_gold(
    loader: str, files: Mapping[str, str], resources: str | Path = "resources"
) -> pd.DataFrame:
    """The unrated gold references in raw files, each verified right before.

    Parameters
    ----------
    loader, files, resources : as in `normalize`; the loader's module has a function ``gold`` that
        takes the files by name

    Returns
    -------
    Columns ``context_id`` and ``text``.

    Raises
    ------
    SettingError : the loader knows of no gold references.
    SourceError, FormatError : as in `normalize`.
    """
    module = sources.module(loader)
    if not hasattr(module, "gold"):
        raise SettingError(
            f"`gold: true`, but the loader {loader} reads no gold references",
            remedy="set `gold: false` under `delta_bleu` of this data set",
        )
    _verified(files, Path(resources))
    gold: pd.DataFrame = module.gold(**files)
    return gold


def _verified(files: Mapping[str, str], resources: Path) -> dict[str, str]:
    """Sums of raw files by their names, after a check of those that the table of sources has."""
    known = read_sources(resources / "sources.csv", resources / "sources_members.csv")
    below = resources / "data"
    sums = {}
    for path in map(Path, files.values()):
        own = not path.is_relative_to(below)
        sums[path.name] = (
            file_sum(path) if own else verify(path, known[path.relative_to(below).as_posix()])
        )
    return sums
