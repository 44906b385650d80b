"""From verified raw files to the tidy tables of a data set. Stage: ratings."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from refless.data import sources
from refless.data.ratings import RatedTexts
from refless.data.raw_files import read_sources, source_tables, verify
from refless.data.task import read_with, write_task
from refless.errors import FormatError, SettingError, StaleError
from refless.store.files import file_sum, whole_file

log = logging.getLogger(__name__)


def read_raw(
    task: str,
    loader: str,
    files: Mapping[str, str],
    options: Mapping[str, Any],
    malformed: str,
    resources: str | Path = "resources",
    made_from: Mapping[str, str] | None = None,
) -> tuple[RatedTexts, dict[str, str]]:
    """Load a data set from raw files, each verified right before; parameters as of `normalize`.

    ``made_from`` has the sums of the files that its ratings were made from, where there are any.

    Returns
    -------
    The data, and name of a raw file -> its SHA-256.
    """
    sums = _verified(files, Path(resources), made_from)
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
    rated_for: Collection[str] = (),
) -> None:
    """Load a data set by `read_raw`, and write its tables.

    Parameters
    ----------
    files : the loader's name of a file -> its path; files below ``<resources>/data`` must be what
        the table of sources says, others are a user's own
    malformed : ``error`` to stop at rows that make no sense, ``skip`` to list them
    rated_for : the experiments that it takes part in and that need ratings

    Raises
    ------
    SourceError : a raw file is not what the table of sources says.
    FormatError : a raw file is not in its loader's format; no text is rated, and ratings are
        needed.
    """
    data, sums = read_raw(task, loader, files, options, malformed, resources)
    if rated_for and not data.texts["quality"].notna().any():
        raise FormatError(
            f"no text of {task} is rated, and {', '.join(sorted(rated_for))} needs ratings",
            path=next(iter(files.values())),
            remedy=f"take {task} out of these experiments in the configuration, or give it ratings",
        )
    out = Path(out)
    for problem in data.problems:
        log.warning("left out: %s", problem)
    with whole_file(out / "malformed.txt") as partial:
        partial.write_text("".join(f"{p}\n" for p in data.problems), encoding="utf-8")
    below = Path(resources) / "data"
    named = {
        name: Path(path).relative_to(below).as_posix() if Path(path).is_relative_to(below) else path
        for name, path in files.items()
    }
    write_task(task, data, out, sums, read_with(loader, options, named))
    log.info("%s: %d rated texts, %d ratings", task, len(data.texts), len(data.ratings))


def read_gold(
    loader: str,
    files: Mapping[str, str],
    resources: str | Path = "resources",
    made_from: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The unrated gold references in raw files, each verified right before.

    Parameters
    ----------
    loader, files, resources : as in `normalize`; the loader's module has a function ``gold`` that
        takes the files by name
    made_from : as of `read_raw`

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
    _verified(files, Path(resources), made_from)
    gold: pd.DataFrame = module.gold(**files)
    return gold


def _verified(
    files: Mapping[str, str], resources: Path, made_from: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Sums of raw files by their names (of equal names, by their paths), after a check of those
    that the table of sources has."""
    known = read_sources(*source_tables())
    below = resources / "data"
    sums = {}
    names = [Path(path).name for path in files.values()]
    for path in map(Path, files.values()):
        listed = path.relative_to(below).as_posix() if path.is_relative_to(below) else ""
        name = path.name if names.count(path.name) == 1 else path.as_posix()
        sums[name] = verify(path, known[listed]) if listed in known else file_sum(path)
        if made_from is not None and made_from.get(name) != sums[name]:
            raise StaleError(
                "is not the file that the ratings were made from",
                path=path,
                remedy="put that one back, or delete the data set's folder in results/ratings and"
                " run again",
            )
    return sums
