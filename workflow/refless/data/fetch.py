"""Bring the raw data here, and let nothing wrong through.

Stage: fetch. In: one row of ``resources/sources.csv`` and the places to look. Out: the verified
file under the data directory, or an error that names every place that was tried.

Order of places: the data directory itself, the folder for files placed by hand, the mirror
(a directory or a base URL), the public URL. The sha256 decides in every case. Bytes are written
under a temporary name and moved into place only after the sum was right.
"""

from __future__ import annotations

import csv
import hashlib
import logging
import os
import re
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote

from refless.errors import SourceError
from refless.store.files import partial_path, remove_leftovers, remove_partial, writing

log = logging.getLogger(__name__)

CHUNK = 1 << 16
_SUM = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Source:
    """One raw file: where it can be had and how to know that it is the right one.

    ``sha256`` is empty where none was published: such a file is accepted as it is, with a
    warning, unless ``members`` names the sums of an archive's members.
    """

    name: str
    path: str
    url: str = ""
    sha256: str = ""
    bytes: int | None = None
    access: str = "url"
    licence: str = ""
    citation: str = ""
    description: str = ""
    members: dict[str, str] = field(default_factory=dict)


def read_sources(table: str | Path, members: str | Path | None = None) -> dict[str, Source]:
    """The table of sources, by path.

    Raises
    ------
    SourceError : a table cannot be read or lacks a column, or a row is malformed (the message
        names the row).
    """
    columns = [
        "source",
        "path",
        "url",
        "sha256",
        "bytes",
        "access",
        "licence",
        "citation",
        "description",
    ]
    found: dict[str, Source] = {}
    for line, row in _rows(table, columns):
        path = row["path"]
        fault = _fault(row) or (f"path {path!r} stands there twice" if path in found else "")
        if fault:
            raise SourceError(fault, path=table, line=line, remedy="mend this row")
        found[path] = Source(
            name=row["source"],
            path=path,
            url=row["url"],
            sha256=row["sha256"],
            bytes=int(row["bytes"]) if row["bytes"] else None,
            access=row["access"],
            licence=row["licence"],
            citation=row["citation"],
            description=row["description"],
        )
    if members is not None:
        for line, row in _rows(members, ["path", "member", "sha256"]):
            fault = "" if _SUM.fullmatch(row["sha256"]) else "sha256 must be 64 hexadecimal digits"
            if row["path"] not in found:
                # Unnoticed, a typing error would let the archive through unverified.
                fault = f"path {row['path']!r} is not in {table}"
            if fault:
                raise SourceError(fault, path=members, line=line, remedy="mend this row")
            found[row["path"]].members[row["member"]] = row["sha256"]
    return found


def _fault(row: dict[str, str]) -> str:
    """What is wrong with a row of the table of sources, or an empty string."""
    path = PurePosixPath(row["path"])
    # str(path) != path: other spellings of one path, such as a//b, would not be seen as one.
    if path.is_absolute() or ".." in path.parts or not path.parts or str(path) != row["path"]:
        return f"unusable path {row['path']!r}"
    if row["access"] not in {"url", "manual"}:
        return "access must be url or manual"
    if row["access"] == "url" and not row["url"]:
        return "access is url, but there is none"
    if row["sha256"] and not _SUM.fullmatch(row["sha256"]):
        return "sha256 must be 64 hexadecimal digits in lower case, or empty"
    if row["bytes"] and not re.fullmatch("[0-9]+", row["bytes"]):
        return f"bytes is {row['bytes']!r}; it must be a whole number, or empty"
    return ""


def _rows(path: str | Path, columns: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of a CSV file with the line that each ends on."""
    try:
        with open(path, newline="", encoding="utf-8") as handle:
            reader = csv.DictReader(handle, strict=True)
            missing = set(columns) - set(reader.fieldnames or [])
            if missing:
                raise SourceError(f"columns {sorted(missing)} are missing", path=path)
            for row in reader:
                # An unquoted comma would push every field behind it into the next column.
                if None in row or None in row.values():
                    message = f"the row does not have {len(reader.fieldnames or [])} fields"
                    remedy = "put double quotes around a field that contains a comma"
                    raise SourceError(message, path=path, line=reader.line_num, remedy=remedy)
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"cannot be read: {error}", path=path) from error


def file_sum(path: str | Path) -> str:
    """sha256 of a file's bytes, as hexadecimal digits."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def verify(path: str | Path, source: Source) -> str:
    """Return the file's sha256 if it is the file that the table of sources describes.

    Raises
    ------
    SourceError : the file is missing or unreadable, is truncated, or has another sum; for an
        archive that is known by its members, a member is missing or has another sum.
    """
    path = Path(path)
    origin = source.url or source.description
    again = f"delete it and run the fetch again, or put the right file there ({origin})"
    try:
        found = file_sum(path)
        size = path.stat().st_size
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path=path, remedy=again) from error
    if source.members:
        _verify_members(path, source, again)
        return found
    if not source.sha256:
        log.warning(
            "%s: no sum was ever published for it; accepted with sha256 %s", source.path, found
        )
        return found
    if found != source.sha256:
        expected = "" if source.bytes is None else f" ({source.bytes:,} bytes expected)"
        raise SourceError(
            f"is not {source.path}: sha256 {found} instead of {source.sha256},"
            f" {size:,} bytes{expected}",
            path=path,
            remedy=again,
        )
    return found


def _verify_members(path: Path, source: Source, remedy: str) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            for member, wanted in source.members.items():
                try:
                    with archive.open(member) as handle:
                        found = hashlib.file_digest(handle, "sha256").hexdigest()  # type: ignore[arg-type]
                except KeyError:
                    raise SourceError(
                        f"member {member} is missing", path=path, remedy=remedy
                    ) from None
                if found != wanted:
                    raise SourceError(
                        f"member {member} has sha256 {found} instead of {wanted}",
                        path=path,
                        remedy=remedy,
                    )
    except SourceError:
        raise
    except Exception as error:
        # Over broken bytes, zipfile passes on whatever its decompressors raise.
        raise SourceError(
            f"is not a whole zip archive: {error}", path=path, remedy=remedy
        ) from error


@dataclass(frozen=True)
class Places:
    """Where to look for raw files.

    ``data``: where they end up; ``manual``: where a user puts files by hand; ``mirror``: a
    directory or a base URL with the files under the same relative paths, or empty;
    ``network``: whether public URLs may be asked at all.
    """

    data: Path
    manual: Path
    mirror: str = ""
    network: bool = True

    @classmethod
    def told(cls, data: Path, manual: Path) -> Places:
        """With the mirror and the network as the environment says (REFLESS_MIRROR,
        REFLESS_NETWORK)."""
        mirror = os.environ.get("REFLESS_MIRROR", "")
        return cls(data, manual, mirror, os.environ.get("REFLESS_NETWORK", "on") != "off")

    def mirror_directory(self) -> Path | None:
        """The mirror as a directory, or None if there is none or it is a URL."""
        if not self.mirror or self.mirror.startswith(("http://", "https://")):
            return None
        if self.mirror.startswith("file://"):
            return Path(unquote(self.mirror.removeprefix("file://").removeprefix("localhost")))
        return Path(self.mirror).expanduser()

    def by_hand(self, source: Source) -> list[Path]:
        """Where a user may place the file by hand: under its whole path, or only its name."""
        paths = (self.manual / source.path, self.manual / Path(source.path).name)
        return list(dict.fromkeys(paths))

    def mirror_address(self, path: str) -> str:
        """Where a mirror behind a URL would have a file; empty without such a mirror."""
        if not self.mirror or self.mirror_directory() is not None:
            return ""
        return self.mirror.rstrip("/") + "/" + path

    def at_hand(self, source: Source) -> bool:
        """Whether the file can be had without asking a public URL (existence only)."""
        if any(path.is_file() for path in (self.data / source.path, *self.by_hand(source))):
            return True
        directory = self.mirror_directory()
        if directory is not None:
            return (directory / source.path).is_file()
        # A mirror behind a URL is taken at its word for files that have a public source; for
        # others, `answers` can ask it for `mirror_address`.
        return bool(self.mirror) and source.access == "url"


def fetch(
    source: Source,
    places: Places,
    *,
    attempts: int = 3,
    timeout: tuple[float, float] = (10.0, 30.0),
    pause: float = 1.0,
    progress: bool = True,
) -> Path:
    """Bring one source into the data directory and return its path there.

    Parameters
    ----------
    attempts : tries for each URL; a plain refusal (4xx) is not tried again
    timeout : seconds to connect, and seconds without a byte
    pause : seconds before the second try, doubled for each further one

    Raises
    ------
    SourceError : a file that is already there, or was placed by hand under its whole path, has
        the wrong sum; or the file could be had nowhere: the message lists every place and what
        happened there.
    OutputError : the data directory cannot be written (disk full, read-only).
    """
    target = places.data / source.path
    if target.is_file():
        verify(target, source)
        return target
    tried = [f"{target}: not there"]
    files = places.by_hand(source)
    directory = places.mirror_directory()
    if directory is not None:
        files.append(directory / source.path)
    for path in files:
        if not path.exists():
            tried.append(f"{path}: not there")
            continue
        try:
            copy(path, target, source, progress)
            return target
        except SourceError as error:
            # Under its whole path the file was meant for this source; several sources may have
            # the same name, so under its name alone it may belong to another.
            if path == places.manual / source.path:
                raise
            log.warning("%s: %s", path, error.message)
            tried.append(f"{path}: {error.message}")
    urls = []
    if not places.mirror:
        tried.append("mirror: none is set (REFLESS_MIRROR, or mirror: in the configuration)")
    elif directory is None:
        urls.append(places.mirror_address(source.path))
    if source.url and places.network:
        urls.append(source.url)
    for url in urls:
        reason = download(url, target, source, attempts, timeout, pause, progress)
        if reason is None:
            return target
        tried.append(f"{url}: {reason}")
    if not source.url:
        tried.append("public address: there is none")
    elif not places.network:
        tried.append(f"{source.url}: not asked, the network is switched off in the settings")

    where = "\n  ".join(tried)
    origin = source.url or source.description
    raise SourceError(
        f"could not be had. Tried:\n  {where}",
        path=source.path,
        remedy=f"get it by hand ({origin}) and put it at {places.manual / source.path}, or point"
        " REFLESS_MIRROR at a directory that has it, and run the fetch again",
    )


def copy(path: Path, target: Path, source: Source, progress: bool) -> None:
    """Copy a local file; SourceError names it if it cannot be read or is the wrong one."""
    try:
        _bring(path.open("rb"), target, source, path.stat().st_size, progress)
    except SourceError as error:
        raise SourceError(error.message, path=path, remedy=error.remedy) from error
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise SourceError(message, path=path, remedy="make it readable, or remove it") from error


def _bring(
    stream: BinaryIO,
    target: Path,
    source: Source,
    size: int | None,
    progress: bool,
) -> None:
    """Copy a stream to a temporary name beside the target, verify, move into place.

    Errors of writing become OutputError; errors of the stream pass through.
    """
    from tqdm import tqdm

    remove_leftovers(target)
    partial = partial_path(target)
    try:
        with (
            stream,
            tqdm(
                total=size,
                unit="B",
                unit_scale=True,
                desc=source.path,
                # None: no bar where standard error is not a terminal
                disable=None if progress else True,
                leave=False,
            ) as bar,
        ):
            with writing(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                out = open(partial, "wb")  # noqa: SIM115
            try:
                while chunk := stream.read(CHUNK):
                    with writing(target):
                        out.write(chunk)
                    bar.update(len(chunk))
            finally:
                # A full disk may show only here, when the last bytes leave the buffer.
                with writing(target):
                    out.close()
        verify(partial, source)
        with writing(target):
            os.replace(partial, target)
    finally:
        remove_partial(partial)
    log.info("%s: %s bytes, verified", target, f"{target.stat().st_size:,}")


def download(
    url: str,
    target: Path,
    source: Source,
    attempts: int,
    timeout: tuple[float, float],
    pause: float,
    progress: bool,
) -> str | None:
    """Try one URL for one source: None if the file is in place, else why it is not."""
    import requests
    from urllib3.exceptions import HTTPError

    reason = "not tried"
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        length = ""
        try:
            with requests.get(url, stream=True, timeout=timeout) as answer:
                if 400 <= answer.status_code < 500 and answer.status_code != 429:
                    return f"the server said {answer.status_code} {answer.reason}"
                answer.raise_for_status()
                length = answer.headers.get("Content-Length", "")
                answer.raw.decode_content = True
                size = int(length) if length.isdigit() else None
                _bring(answer.raw, target, source, size, progress)  # type: ignore[arg-type]
                return None
        except SourceError as error:
            reason = error.message
            if length:
                # The answer was whole, and another one would bring the same bytes.
                return reason
        except (requests.RequestException, HTTPError, OSError) as error:
            # HTTPError: urllib3's own, when a body breaks off while it is being read
            reason = _short(error)
        log.warning("%s: attempt %d of %d failed: %s", url, attempt + 1, attempts, reason)
    return f"{reason} ({attempts} attempts)"


def answers(url: str, timeout: float = 5.0) -> bool:
    """Whether something can be had from an address, by its headers alone."""
    import requests

    try:
        with requests.head(url, timeout=timeout, allow_redirects=True) as answer:
            return answer.ok
    except requests.RequestException:
        return False


def _short(error: BaseException) -> str:
    """A network error's kind and its innermost cause, without the layers between."""
    kind, cause = type(error).__name__, error
    while True:
        inner = getattr(cause, "reason", None) or (cause.args[0] if cause.args else None)
        if not isinstance(inner, BaseException):
            break
        cause = inner
    # urllib3 puts the connection's repr before the reason
    return f"{kind}: {str(cause).split('): ', 1)[-1]}"
