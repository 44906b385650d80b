"""Members of archives are read in memory, and nothing odd is let through."""

from __future__ import annotations

import tarfile

import pytest

from refless.data.sources import _archive
from refless.errors import FormatError


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_wanted_members_whatever_their_folder(pack, mode, tmp_path):
    folder = _info("a.tsv", tarfile.DIRTYPE)  # no member
    path = pack({"top/a.tsv": "A", "top/other": "-", "b.tsv": "B"}, folder, mode=mode)
    assert _archive.read_members(path, ["a.tsv", "b.tsv"]) == {"a.tsv": b"A", "b.tsv": b"B"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["archive.tgz"]  # nothing was unpacked


def _info(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (_info("a.tsv", tarfile.SYMTYPE, "/etc/passwd"), "is a link"),
        (_info("x/b", tarfile.LNKTYPE, "a.tsv"), "is a link"),
        (_info("null", tarfile.CHRTYPE), "is a link or a device"),
        (_info("../a.tsv", tarfile.REGTYPE), "outside the archive"),
        (_info("x/../../y", tarfile.REGTYPE), "outside the archive"),
        (_info("/tmp/y", tarfile.REGTYPE), "outside the archive"),
        (_info("x\\..\\y", tarfile.REGTYPE), "outside the archive"),
    ],
)
def test_archives_with_odd_members_are_refused(pack, info, message):
    with pytest.raises(FormatError, match=message):
        _archive.read_members(pack({"a.tsv": "A"}, info), ["a.tsv"])


def test_missing_twice_and_too_large(pack, monkeypatch):
    with pytest.raises(FormatError, match=r"no member b.tsv, c.tsv"):
        _archive.read_members(pack({"a.tsv": "A"}), ["c.tsv", "a.tsv", "b.tsv"])
    with pytest.raises(FormatError, match=r"two members a.tsv"):
        _archive.read_members(pack([("x/a.tsv", "A"), ("y/a.tsv", "B")]), ["a.tsv"])
    monkeypatch.setattr(_archive, "LIMIT", 3)
    with pytest.raises(FormatError, match="4 bytes, more than 3"):
        _archive.read_members(pack({"a.tsv": "AAAA"}), ["a.tsv"])


@pytest.mark.parametrize(
    "content", [b"version https://git-lfs", b"\x1f\x8bnot gzip", b"<html>" * 99]
)
def test_no_archive(write, content):
    with pytest.raises(FormatError, match="cannot be read as a tar archive"):
        _archive.read_members(write(content), ["a.tsv"])


def test_an_archive_cut_short_anywhere(pack):
    path = pack({"a.tsv": "".join(f"line {n}\n" for n in range(3000))})
    whole = path.read_bytes()
    assert len(whole) > 1000
    for length in (1, 5, 20, 100, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError):
            _archive.read_members(path, ["a.tsv"])
    damaged = bytearray(whole)
    damaged[-6] ^= 1  # in the sum of the contents
    path.write_bytes(bytes(damaged))
    with pytest.raises(FormatError):
        _archive.read_members(path, ["a.tsv"])
    path.write_bytes(b"")
    with pytest.raises(FormatError, match="empty"):
        _archive.read_members(path, ["a.tsv"])
