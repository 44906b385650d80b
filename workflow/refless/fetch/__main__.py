"""``python -m refless.fetch [--keep-going] NAME...`` brings raw files and encoders here.

Stage: fetch. A name is a path in ``resources/sources.csv``, or ``models/<encoder>``. With
``--keep-going`` each is tried, and the command fails in the end if a download was lost.
"""

import logging
import sys
from os import getenv
from types import SimpleNamespace

from refless.errors import ReflessError, SourceError
from refless.fetch.encoders import fetch_encoder
from refless.fetch.places import Places, Source, read_sources
from refless.fetch.raw_files import fetch
from refless.job import job

_log = logging.getLogger(__name__)


def main(*names: str) -> None:
    """Fetch what is named. Raises SourceError, KernelError, OutputError: as for one of them."""
    places = Places(mirror=getenv("REFLESS_MIRROR", ""), network=getenv("REFLESS_NETWORK") != "off")
    sources = read_sources()
    lost: list[str] = []
    with job(SimpleNamespace(log=[])):
        for name in names:
            try:
                if name.startswith("models/"):
                    fetch_encoder(name.removeprefix("models/"), places)
                elif name != "--keep-going":
                    fetch(sources[name], places)
            except ReflessError as error:
                if "--keep-going" not in names:
                    raise
                _log.warning("%s", error)
                lost += [name] if places.addresses(sources.get(name, Source(name))) else []
        if lost:
            raise SourceError(f"could not be fetched: {', '.join(lost)}", remedy="see above why")


if __name__ == "__main__":
    main(*sys.argv[1:])
