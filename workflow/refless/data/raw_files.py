"""The raw files: the table that describes them, and whether a file is the one described.

Stage: fetch, and every stage that reads raw data, which calls `verify` right before.
In: ``resources/sources.csv`` and a file. Out: its rows; the file's sum, or an error.
"""

from __future__ import annotations

import csv
import hashlib
import logging
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import Any

from refless.errors import SourceError
from refless.store.files import file_sum

log = logging.getLogger(__name__)

_SUM = re.compile(r"[0-9a-f]{64}")
_PAGE = re.compile(rb"(\xef\xbb\xbf)?\s*<(!doctype\s+html|html)", re.IGNORECASE)


# ---- the table of sources ---------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """One raw file: where it can be had and how to know that it is the right one.

    ``sha256`` is empty where none was published, unless ``members`` names the sums of an archive's
    (or a folder's) members. Such a file is accepted with a warning if it is a CSV whose header has
    ``columns`` (names with blanks between them) and that has a row.
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
    columns: str = ""
    members: dict[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Where a person can get it."""
        return self.url or self.description


def read_sources(table: str | Path, members: str | Path | None = None) -> dict[str, Source]:
    """The table of sources, by path.

    Raises
    ------
    SourceError : a table cannot be read or lacks a column, or a row is malformed (the message
        names the row).
    """
    columns = [item.name for item in fields(Source) if item.name not in {"name", "members"}]
    found: dict[str, Source] = {}
    for line, row in _rows(table, ["source", *columns]):
        twice = f"path {row['path']!r} stands there twice" if row["path"] in found else ""
        fault = _fault(row) or twice
        if fault:
            raise SourceError(fault, path=table, line=line, remedy="mend this row")
        values: dict[str, Any] = {name: row[name] for name in columns}
        values["bytes"] = int(row["bytes"]) if row["bytes"] else None
        found[row["path"]] = Source(row["source"], **values)
    for line, row in _rows(members, ["path", "member", "sha256"]) if members else ():
        fault = "" if _SUM.fullmatch(row["sha256"]) else "sha256 must be 64 hexadecimal digits"
        if row["path"] not in found:
            # Unnoticed, a typing error would let the archive through unverified.
            fault = f"path {row['path']!r} is not in {table}"
        if fault:
            raise SourceError(fault, path=members, line=line, remedy="mend this row")
        found[row["path"]].members[row["member"]] = row["sha256"]
    return found


def source_tables() -> tuple[Path, Path]:
    """The tables of sources, for `read_sources`: beside the workflow (REFLESS_RESOURCES), wherever
    it runs, or else beside this library."""
    beside = os.environ.get("REFLESS_RESOURCES") or Path(__file__).parents[3] / "resources"
    return Path(beside, "sources.csv"), Path(beside, "sources_members.csv")


def read_source(path: str, table: str | Path, members: str | Path | None = None) -> Source:
    """One row of the table of sources; SourceError if there is none for this path."""
    sources = read_sources(table, members)
    if path not in sources:
        message = f"{path!r} is not in the table of sources"
        raise SourceError(message, path=table, remedy="add a row for it")
    return sources[path]


def _fault(row: Mapping[str, str]) -> str:
    """What is wrong with a row of the table of sources, or an empty string."""
    path = PurePosixPath(row["path"])
    # str(path) != path: other spellings of one path, such as a//b, would not be seen as one.
    if path.is_absolute() or ".." in path.parts or not path.parts or str(path) != row["path"]:
        return f"unusable path {row['path']!r}"
    if row["access"] not in {"url", "manual"}:
        return "access must be url or manual"
    if row["access"] == "url" and not row["url"]:
        return "access is url, but there is none"
    if row["url"] and not re.match("https?://", row["url"], re.IGNORECASE):
        return f"url is {row['url']!r}; it must begin with http:// or https://"
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


# ---- is it the right file? --------------------------------------------------------------------


def verify(path: str | Path, source: Source) -> str:
    """Return the sha256 of a raw file if it is the one that the table of sources describes.

    Of an archive or a folder that is known by its members, only these are compared; a folder's
    sum is that of its members' sums.

    Raises
    ------
    SourceError : it is missing or unreadable, is truncated, or has another sum; a member is
        missing or has another sum; or, where there is no sum, it is a page of HTML, lacks a column
        or has no row.
    """
    path = Path(path)
    again = f"delete it and fetch it again, or put the right one there ({source.origin})"

    def wrong(message: str) -> SourceError:
        return SourceError(message, path=path, remedy=again)

    try:
        sums = _member_sums(path, source.members) if source.members else {}
        if source.members and path.is_dir():
            found = hashlib.sha256(repr(sorted(sums.items())).encode()).hexdigest()
        else:
            found = file_sum(path)
        size = path.stat().st_size
    except OSError as error:
        raise wrong(f"cannot be read: {error.strerror or error}") from error
    except Exception as error:
        # Over broken bytes, zipfile passes on whatever its decompressors raise.
        raise wrong(f"is not a whole zip archive: {error}") from error
    for member, expected in source.members.items():
        if member not in sums:
            raise wrong(f"member {member} is missing")
        if sums[member] != expected:
            raise wrong(f"member {member} has sha256 {sums[member]} instead of {expected}")
    if source.members:
        return found
    if not source.sha256:
        if not is_html(source.path) and _begins_as_page(path):
            raise wrong(f"is not {source.path}, but a page of HTML")
        fault = _shape_fault(path, source.columns.split())
        if fault:
            raise wrong(f"is not {source.path}: {fault}")
        log.warning(
            "%s: no sum was ever published for it; accepted with sha256 %s", source.path, found
        )
    elif found != source.sha256:
        wanted = "" if source.bytes is None else f" ({source.bytes:,} bytes expected)"
        raise wrong(
            f"is not {source.path}: sha256 {found} instead of {source.sha256},"
            f" {size:,} bytes{wanted}"
        )
    return found


def _member_sums(path: Path, members: Iterable[str]) -> dict[str, str]:
    """sha256 of those members that are there, of a zip archive or a folder."""
    if path.is_dir():
        return {name: file_sum(path / name) for name in members if (path / name).is_file()}
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in set(members) & set(archive.namelist()):
            with archive.open(name) as handle:
                found[name] = hashlib.file_digest(handle, "sha256").hexdigest()  # type: ignore[arg-type]
    return found


def is_html(path: str) -> bool:
    """Whether the name of a file is that of a page of HTML."""
    return path.lower().endswith((".html", ".htm"))


def _shape_fault(path: Path, columns: list[str]) -> str:
    """Why a file is no CSV with these columns and a row, or an empty string."""
    if not columns:
        return ""
    try:
        with path.open(newline="", encoding="utf-8-sig") as handle:
            rows = (row for row in csv.reader(handle, strict=True) if row)
            header, row = next(rows, []), next(rows, [])
    except (UnicodeDecodeError, csv.Error) as error:
        return f"it cannot be read as a CSV: {error}"
    missing = sorted(set(columns) - {name.strip() for name in header})
    if missing:
        return f"its header has no column {', '.join(missing)}"
    return "" if row else "it has a header and no row"


def _begins_as_page(path: Path) -> bool:
    with path.open("rb") as handle:
        return _PAGE.match(handle.read(1024)) is not None
