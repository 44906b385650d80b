"""The jobs that fetch: ``python -m refless.data.bring file|encoder <name> <log>``.

Stage: fetch. No script of Snakemake's, since an output that is older than its script is deleted
and made again: an update of refless would throw away what was downloaded or placed by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

from refless.data.encoders import fetch_encoder
from refless.data.fetch import fetch
from refless.data.places import Places
from refless.data.raw_files import read_source, source_tables
from refless.job import job


def bring(kind: str, name: str, resources: Path = Path("resources")) -> None:
    """Bring a raw file (its path in the table of sources) or an encoder into the data directory.

    The mirror comes with the environment.

    Raises
    ------
    SourceError : it cannot be had; every place that was tried is named.
    """
    places = Places.told(resources / "data", resources / "manual")
    if kind == "encoder":
        fetch_encoder(name, places)
    else:
        fetch(read_source(name, *source_tables()), places)


if __name__ == "__main__":
    with job(SimpleNamespace(log=[sys.argv[3]])):
        bring(sys.argv[1], sys.argv[2])
