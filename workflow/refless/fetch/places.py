"""Which raw files there are, and where they may lie. Stage: fetch, planning."""

import csv
from dataclasses import dataclass
from pathlib import Path

from refless.resources import resources_folder


@dataclass(frozen=True)
class Source:
    """A raw file: a row of ``resources/sources.csv``.

    path : its name below the data directory
    url : a public address; empty where there is none
    sha256 : of the bytes, or of the contents of an archive's ``members`` one after the other (it
        may be packed anew); empty where none was published
    about : how to get it by hand
    """

    path: str
    url: str = ""
    sha256: str = ""
    members: tuple[str, ...] = ()
    about: str = ""


def read_sources() -> dict[str, Source]:
    """The table of raw files, by path."""
    with open(resources_folder() / "sources.csv", newline="", encoding="utf-8") as handle:
        return {
            row["path"]: Source(
                path=row["path"],
                url=row["url"],
                sha256=row["sha256"],
                members=tuple(row["members"].split()),
                about=row["description"],
            )
            for row in csv.DictReader(handle)
        }


@dataclass(frozen=True)
class Places:
    """Where to look for raw files and encoders.

    data : the data directory, to which they are fetched
    manual : the folder for those placed by hand
    mirror : a directory, or a base URL of http or https, or empty
    network : whether public URLs may be asked
    """

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
        """URLs that may have a raw file, in their order."""
        mirrored = [f"{self.mirror.rstrip('/')}/{source.path}"] if "://" in self.mirror else []
        return mirrored + ([source.url] if source.url and self.network else [])

    def read_path(self, path: str) -> Path:
        """Where a raw file is read: placed by hand, else fetched to the data directory."""
        return self.manual / path if (self.manual / path).is_file() else self.data / path

    def at_hand(self, path: str) -> Path | None:
        """Where a raw file lies on this machine; None if nowhere."""
        candidates = [self.read_path(path), *(folder / path for folder in self.folders)]
        return next(filter(Path.is_file, candidates), None)
