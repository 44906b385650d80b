"""Named members of a tar archive, read in memory.

Stage: ratings. In: a tar file, compressed or not. Out: the bytes of the wanted members. Nothing is
ever written to disk, so an archive cannot put a file where it does not belong.
"""

from __future__ import annotations

import io
import lzma
import tarfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from refless.data.sources._reading import broken, read_bytes

LIMIT = 256 * 2**20  # bytes of one member, unpacked; the largest that is read has 3 MB


def read_members(path: str | Path, wanted: Collection[str]) -> dict[str, bytes]:
    """The wanted members by file name, in whichever folder of the archive they lie.

    Raises
    ------
    FormatError : not a tar archive, or cut short; any member has an absolute name, climbs out
        of the archive or is neither a file nor a folder; a wanted member is missing, stands
        twice or is larger than `LIMIT`.
    """
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(read_bytes(path)), mode="r:*") as archive:
            for member in archive:
                name = _safe(member, path)
                if name not in wanted or not member.isfile():
                    continue
                if name in found:
                    raise broken(f"the archive has two members {name}", path)
                if member.size > LIMIT:
                    message = f"member {name} has {member.size} bytes, more than {LIMIT}"
                    raise broken(message, path)
                content = archive.extractfile(member)
                found[name] = b"" if content is None else content.read()
            # To the very end, where a compressed file keeps the sum of its contents.
            while archive.fileobj is not None and archive.fileobj.read(2**20):
                pass
    except (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise broken(f"cannot be read as a tar archive: {error}", path) from error
    missing = sorted(set(wanted) - set(found))
    if missing:
        raise broken(f"the archive has no member {', '.join(missing)}", path)
    return found


def _safe(member: tarfile.TarInfo, path: str | Path) -> str:
    """The member's file name, if nothing is wrong with its whole name and its kind."""
    # tarfile's own filter is made for unpacking: it mends absolute names, and lets links inside
    # the archive and backslashes pass. Here the whole archive is refused.
    name = PurePosixPath(member.name.replace("\\", "/"))
    if name.is_absolute() or ".." in name.parts:
        raise broken(f"member {member.name!r} would lie outside the archive", path)
    if not (member.isfile() or member.isdir()):
        raise broken(f"member {member.name!r} is a link or a device, not a file", path)
    return name.name
