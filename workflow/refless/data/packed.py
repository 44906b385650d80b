"""The content of a user's file: unpacked, where it is packed. Stage: ratings."""

import bz2
import gzip
import importlib
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from refless.errors import FormatError

PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst")
"""Endings of the name of one file that is packed."""
_MOST_LISTED = 5
"""A message names so many files of an archive at most."""


def read_content(path: str | Path, name: str) -> bytes:
    """What is in a file, ``-`` for standard input, unpacked by what it begins with; messages call
    it ``name``. Raises FormatError: it cannot be read or unpacked, or is an archive of files."""
    try:
        with open(0 if str(path) == "-" else path, "rb", closefd=str(path) != "-") as handle:
            content = handle.read()
        for magic, unpack in _UNPACK.items():
            if content.startswith(magic):
                content = unpack(content)
    except ImportError as error:
        remedy = "pip install zstandard, or unpack the file"
        raise FormatError("is packed by zstd", path=name, remedy=remedy) from error
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        message = f"cannot be read: {getattr(error, 'strerror', '') or error}"
        remedy = "look at its name and its folder"
        raise FormatError(message, path=name, remedy=remedy) from error
    if inside := _archived(content):
        listed = ", ".join(inside[:_MOST_LISTED]) + ", ..." * (len(inside) > _MOST_LISTED)
        message = f"is an archive of files: {listed}"
        raise FormatError(message, path=name, remedy="unpack it, and name the files with ratings")
    return content


def _unpack_zstd(content: bytes) -> bytes:
    zstandard = importlib.import_module("zstandard")
    unpacked = b""
    try:
        while content:  # a frame after the other
            frame = zstandard.ZstdDecompressor().decompressobj()
            unpacked += frame.decompress(content)
            if not frame.eof:
                raise EOFError("the file is cut")
            content = frame.unused_data
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    return unpacked


_UNPACK: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
    b"\x28\xb5\x2f\xfd": _unpack_zstd,
}


def _archived(content: bytes) -> list[str]:
    """The files in an archive; none if it is another file, such as Excel's."""
    names: list[str] = []
    if content.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                names = archive.namelist()
        except zipfile.BadZipFile:
            names = ["(a zip archive that is cut)"]
        return [] if "xl/workbook.xml" in names else names
    if content[257:262] == b"ustar":
        try:
            with tarfile.open(fileobj=io.BytesIO(content)) as archive_of_tar:
                names = archive_of_tar.getnames()
        except tarfile.TarError:
            names = ["(a tar archive that is cut)"]
    return names
