"""From verified raw files to the tidy tables of a data set. Stage: ratings."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from refless.data import sources
from refless.data.fetch import read_sources, verify
from refless.data.task import read_with, write_task
from refless.errors import FormatError
from refless.store.files import file_sum

log = logging.getLogger(__name__)
DATA = Path("resources/data")


def normalize(
    task: str,
    loader: str,
    files: Mapping[str, str],
    options: Mapping[str, Any],
    out: str | Path,
    rated_for: Collection[str] = (),
) -> None:
    """Load a data set, and write its tables.

    Parameters
    ----------
    files : the loader's name of a file -> its path; those that were fetched must be what the table
        of sources says, others are a user's own
    rated_for : the experiments that it takes part in and that need ratings
    """
    known, sums, told = read_sources(), {}, {}
    names = [Path(path).name for path in files.values()]
    for name, path in files.items():
        fetched = Path(path).is_relative_to(DATA)
        told[name] = Path(path).relative_to(DATA).as_posix() if fetched else path
        source = known.get(told[name])
        key = Path(path).name if names.count(Path(path).name) == 1 else path
        sums[key] = verify(path, source) if fetched and source else file_sum(path)
    data = sources.load(loader, task, files, options)
    if rated_for and not data.texts["quality"].notna().any():
        raise FormatError(
            f"no text of {task} is rated, and {', '.join(sorted(rated_for))} needs ratings",
            path=next(iter(files.values())),
            remedy=f"take {task} out of these experiments in the configuration, or give it ratings",
        )
    write_task(task, data, out, sums, read_with(loader, options, told))
    log.info("%s: %d rated texts, %d ratings", task, len(data.texts), len(data.ratings))
