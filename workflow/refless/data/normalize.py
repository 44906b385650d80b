"""From verified raw files to the tidy tables of a data set. Stage: ratings."""

import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from refless.data import sources
from refless.data.fetch import read_sources, verify
from refless.data.task import write_task
from refless.errors import FormatError
from refless.store.files import file_sum

log = logging.getLogger(__name__)


def normalize(
    task: str,
    loader: str,
    files: Mapping[str, str],
    known: Mapping[str, str],
    options: Mapping[str, Any],
    out: str | Path,
    rated_for: Collection[str] = (),
) -> None:
    """Load a data set, and write its tables.

    files : the loader's name of a file -> its path
    known : the same names -> the path in the configuration; what stands in the table of sources
        must be what that says
    rated_for : the experiments that it takes part in and that need ratings
    """
    table, sums = read_sources(), {}
    for name, path in files.items():
        source = table.get(known[name])
        sums[known[name]] = verify(path, source) if source else file_sum(path)
    data = sources.load(loader, task, files, options)
    if rated_for and not data.texts["quality"].notna().any():
        raise FormatError(
            f"no text of {task} is rated, and {', '.join(sorted(rated_for))} needs ratings",
            path=next(iter(files.values())),
            remedy=f"take {task} out of these experiments in the configuration, or give it ratings",
        )
    write_task(data, out, sums)
    log.info("%s: %d rated texts, %d ratings", task, len(data.texts), len(data.ratings))
