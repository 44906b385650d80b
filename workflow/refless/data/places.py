"""Where raw files may lie, and whether a run can have one.

Stage: planning. In: a row of the table of sources and the settings. Out: places in the order in
which they are tried, or the reason why a file cannot be had. Nothing is read or fetched here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from refless.availability import Reason
from refless.data.raw_files import Source
from refless.errors import SettingError

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Places:
    """Where to look for raw files.

    ``data``: where they end up; ``manual``: where a user puts files by hand; ``mirror``: a
    directory or a base URL with the files under the same relative paths, or empty;
    ``network``: whether public URLs may be asked at all.

    Raises
    ------
    SettingError : the mirror is a URL of a kind that cannot be asked.
    """

    data: Path
    manual: Path
    mirror: str = ""
    network: bool = True

    def __post_init__(self) -> None:
        if self._mirror_parts()[0] not in {"", "file", "http", "https"}:
            raise SettingError(
                f"the mirror {self.mirror} is neither a directory nor a URL of http or https",
                remedy="set REFLESS_MIRROR, or mirror: in the configuration, to one of these",
            )

    @classmethod
    def told(cls, data: Path, manual: Path) -> Places:
        """With the mirror and the network as the environment says (REFLESS_MIRROR,
        REFLESS_NETWORK)."""
        mirror = os.environ.get("REFLESS_MIRROR", "")
        return cls(data, manual, mirror, os.environ.get("REFLESS_NETWORK", "on") != "off")

    def _mirror_parts(self) -> tuple[str, str]:
        """The mirror's scheme in lower case (empty for a directory) and what follows it."""
        match = _SCHEME.fullmatch(self.mirror)
        return (match[1].lower(), match[2]) if match else ("", self.mirror)

    def mirror_directory(self) -> Path | None:
        """The mirror as a directory, or None if there is none or it is a URL."""
        scheme, rest = self._mirror_parts()
        if scheme == "file":
            return Path(unquote(rest.removeprefix("localhost")))
        return Path(rest).expanduser() if rest and not scheme else None

    def mirror_address(self, path: str) -> str:
        """Where a mirror behind a URL would have a file; empty without such a mirror."""
        scheme, rest = self._mirror_parts()
        return f"{scheme}://{rest.rstrip('/')}/{path}" if scheme in {"http", "https"} else ""

    def by_hand(self, source: Source) -> list[Path]:
        """Where a user may place the file by hand: under its whole path, or only its name."""
        paths = (self.manual / source.path, self.manual / Path(source.path).name)
        return list(dict.fromkeys(paths))

    def local(self, source: Source) -> list[Path]:
        """Files that may be the source, besides the one in the data directory, in their order."""
        directory = self.mirror_directory()
        mirrored = [] if directory is None else [directory / source.path]
        return self.by_hand(source) + mirrored

    def addresses(self, source: Source) -> list[str]:
        """URLs that may have the source, in their order: the mirror, the public address."""
        public = source.url if self.network else ""
        return [url for url in (self.mirror_address(source.path), public) if url]

    def silent_mirror(self, sources: Iterable[Source], answers: Callable[[str], bool]) -> str:
        """What is to be said of a mirror that has none of the files; empty where there is none.

        A name that was misspelt looks like that, and the run goes on without the mirror.

        Parameters
        ----------
        answers : whether an address answers
        """
        directory, sources = self.mirror_directory(), list(sources)
        if not self.mirror or not sources:
            return ""
        if directory is not None:
            if any((directory / source.path).is_file() for source in sources):
                return ""
            why = "has none of the raw files" if directory.is_dir() else "is no directory"
        elif any(answers(self.mirror_address(source.path)) for source in sources[:3]):
            return ""
        else:
            why = "did not answer"
        return (
            f"The mirror {self.mirror} {why}: nothing came from it. Is it spelt right"
            " (REFLESS_MIRROR, or mirror: in the configuration)?"
        )

    def at_hand(self, source: Source) -> bool:
        """Whether the file can be had without asking a public URL (existence only)."""
        if any(path.is_file() for path in (self.data / source.path, *self.local(source))):
            return True
        # A mirror behind a URL is taken at its word for files that have a public source.
        return bool(self.mirror_address(source.path)) and source.access == "url"


NOTHING_COMPUTED = Reason(
    "numbers_shipped",
    "it is not shipped, and the setting numbers: shipped computes nothing",
    "set numbers: computed, or auto",
)


def why_not(
    source: Source, places: Places, numbers: str, answers: Callable[[str], bool]
) -> Reason | None:
    """Why a run cannot have a raw file, at hand or fetched on the way; None if it can.

    Parameters
    ----------
    numbers : the setting of that name: ``computed``, ``auto`` (nothing is asked for at a public
        address) or ``shipped`` (nothing is computed)
    answers : whether an address answers; only a mirror is asked, for what has no public address
    """
    if numbers == "shipped":
        return NOTHING_COMPUTED
    if places.at_hand(source):
        return None
    if numbers == "computed":
        mirrored = places.mirror_address(source.path)
        if source.access == "url" or (mirrored and answers(mirrored)):
            return None
    origin = f" ({source.description})" if source.description else ""
    also = "" if places.network else " and `network: true`"
    fetching = f", or set `numbers: computed`{also}, which fetches it"
    return Reason(
        "raw_file_missing",
        f"the raw file {source.path} is missing",
        f"put it at {places.manual / source.path}{origin}"
        + (fetching if source.access == "url" else ""),
    )


def why_no_wordnet(
    source: Source, places: Places, numbers: str, answers: Callable[[str], bool]
) -> Reason | None:
    """Why METEOR cannot have WordNet; None if it can. Parameters as for `why_not`."""
    reason = why_not(source, places, numbers, answers)
    if reason is None or reason.code == "numbers_shipped":
        return reason
    return replace(
        reason,
        code="wordnet_missing",
        sentence=f"METEOR needs {source.path}, which is missing",
    )
