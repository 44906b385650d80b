"""What raw files there are, and where they may lie. Stage: fetch, planning."""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

WORDNET = "nltk/wordnet.zip"
"""What METEOR is computed with."""


@dataclass(frozen=True)
class Source:
    """A row of the table. ``sha256`` is that of the bytes, or of the contents of an archive's
    ``members`` one after the other (it may be packed anew); empty where none was published."""

    path: str
    url: str = ""
    sha256: str = ""
    members: tuple[str, ...] = ()
    about: str = ""


def read_sources() -> dict[str, Source]:
    """The table of sources, by path: in REFLESS_RESOURCES, or beside this library."""
    beside = os.environ.get("REFLESS_RESOURCES") or Path(__file__).parents[3] / "resources"
    found = {}
    with open(Path(beside, "sources.csv"), newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle):
            members = tuple(row["members"].split())
            told = row["path"], row["url"], row["sha256"], members, row["description"]
            found[row["path"]] = Source(*told)
    return found


@dataclass(frozen=True)
class Places:
    """Where to look for raw files: the data directory, the folder for those placed by hand, a
    mirror (a directory, or a base URL of http or https, or empty), and whether public URLs may be
    asked."""

    data: Path = Path("resources/data")
    manual: Path = Path("resources/manual")
    mirror: str = ""
    network: bool = True

    @property
    def folders(self) -> list[Path]:
        """Folders that may have what the data directory lacks, in their order."""
        local = self.mirror and "://" not in self.mirror
        return [self.manual, *([Path(self.mirror).expanduser()] if local else [])]

    def addresses(self, source: Source) -> list[str]:
        """URLs that may have the source, in their order."""
        mirrored = [f"{self.mirror.rstrip('/')}/{source.path}"] if "://" in self.mirror else []
        return mirrored + ([source.url] if source.url and self.network else [])
