"""The table of sources, and whether a file is the one that it describes."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import re
import zipfile
from pathlib import Path

import pytest

from refless.data.fetch import fetch
from refless.data.places import Places
from refless.data.raw_files import Source, read_source, read_sources, verify
from refless.errors import SourceError

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "resources/sources.csv", ROOT / "resources/sources_members.csv"
MIRROR = os.environ.get("REFLESS_MIRROR", "")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# ---- verifying --------------------------------------------------------------------------------


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


MEMBERS = {"wordnet/data.adj": b"adjectives " * 30, "wordnet/data.adv": b"adverbs"}
SUMS = {name: sha256(content) for name, content in MEMBERS.items()}
WORDNET = Source("wordnet", "nltk/wordnet.zip", members=SUMS)
UNKNOWN = Source("batch", "huse/batch.csv", access="manual", description="worksheet 0x88")


def test_a_raw_file_is_known_by_its_sum(tmp_path: Path) -> None:
    path = tmp_path / "batch.csv"
    path.write_bytes(b"content")
    wanted = Source("batch", "huse/batch.csv", sha256=sha256(b"content"), bytes=7, description="0x")
    assert verify(path, wanted) == wanted.sha256
    os.utime(path, (0, 0))  # whatever its time says, the bytes are looked at
    path.write_bytes(b"conten")
    with pytest.raises(SourceError, match=r"huse/batch\.csv") as caught:
        verify(path, wanted)
    assert caught.value.path == str(path)
    for told in (wanted.sha256, sha256(b"conten"), "6 bytes", "7 bytes"):
        assert told in caught.value.message
    assert "0x" in caught.value.remedy


def test_a_source_without_a_sum_is_accepted_with_a_warning_but_no_page(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "batch.csv"
    path.write_bytes(b"a,b\n")
    with caplog.at_level(logging.WARNING):
        assert verify(path, UNKNOWN) == sha256(b"a,b\n")
    (warning,) = [record.getMessage() for record in caplog.records]
    assert "huse/batch.csv" in warning
    assert sha256(b"a,b\n") in warning
    for page in (b"<!DOCTYPE html>\n", b"\n <HTML lang=en>", b"\xef\xbb\xbf<html>"):
        path.write_bytes(page)
        with pytest.raises(SourceError, match="HTML"):
            verify(path, UNKNOWN)
        verify(path, Source("page", "index.HTML"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"WorkerId,Other\nw,1\n", "no column Answer.0"),
        (b"WorkerId,Answer.0\n", "no row"),
        (b'{"error": "not found"}\n', "no column Answer.0, WorkerId"),
        (b'"WorkerId,Answer.0\n', "no column|cannot be read"),
        (b"\xff\xfeW\x00o\x00", "cannot be read"),
        (b"\x1f\x8b\x08\x00", "cannot be read|no column"),
        (b"", "no column"),
    ],
)
def test_a_source_without_a_sum_must_have_its_columns_and_a_row(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "batch.csv"
    wanted = Source("batch", "huse/batch.csv", access="manual", columns="WorkerId Answer.0")
    path.write_bytes(b'\xef\xbb\xbf"WorkerId",Approve,Answer.0\n"w, x",,3\n')
    verify(path, wanted)
    path.write_bytes(content)
    with pytest.raises(SourceError, match=said) as caught:
        verify(path, wanted)
    assert "put the right one there" in caught.value.remedy


def test_an_archive_is_known_by_its_members_however_it_was_packed(tmp_path: Path) -> None:
    again = dict(reversed(MEMBERS.items())) | {"wordnet/README": b"more than what is asked for"}
    path = tmp_path / "wordnet.zip"
    for content in (zipped(MEMBERS), zipped(again)):
        path.write_bytes(content)
        assert verify(path, WORDNET) == sha256(content)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (zipped(MEMBERS | {"wordnet/data.adv": b"adverb"}), r"data\.adv has sha256"),
        (zipped({"wordnet/data.adj": MEMBERS["wordnet/data.adj"]}), r"data\.adv is missing"),
        (zipped(MEMBERS)[:-1], "zip"),
        (b"<html>", "zip"),
        (b"", "zip"),
    ],
    ids=["wrong", "missing", "truncated", "page", "empty"],
)
def test_a_wrong_archive_is_refused(tmp_path: Path, content: bytes, named: str) -> None:
    path = tmp_path / "wordnet.zip"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=named):
        verify(path, WORDNET)


def test_an_archive_with_any_byte_broken_is_refused_or_still_has_the_right_members(
    tmp_path: Path,
) -> None:
    whole = zipped(MEMBERS)
    path = tmp_path / "wordnet.zip"
    refused = 0
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :])
        try:
            verify(path, WORDNET)
        except SourceError:
            refused += 1
            continue
        with zipfile.ZipFile(path) as archive:
            assert {name: archive.read(name) for name in MEMBERS} == MEMBERS
    assert refused > len(whole) / 2


def test_a_folder_is_known_by_its_members(tmp_path: Path) -> None:
    (tmp_path / "wordnet").mkdir()
    for name, content in MEMBERS.items():
        (tmp_path / name).write_bytes(content)
    before = verify(tmp_path, WORDNET)
    other = Source("wordnet", "x", members={"wordnet/data.adv": SUMS["wordnet/data.adv"]})
    assert verify(tmp_path, other) != before
    (tmp_path / "wordnet/data.adv").write_bytes(b"other")
    with pytest.raises(SourceError, match=r"data\.adv"):
        verify(tmp_path, WORDNET)
    (tmp_path / "wordnet/data.adv").unlink()
    with pytest.raises(SourceError, match=r"data\.adv is missing"):
        verify(tmp_path, WORDNET)


def test_verify_says_what_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(SourceError, match="cannot be read") as caught:
            verify(path, UNKNOWN)
        assert caught.value.path == str(path)


# ---- the table --------------------------------------------------------------------------------

ROW = {
    "source": "mr",
    "path": "a/b.csv",
    "url": "https://x.org/b",
    "sha256": "0" * 64,
    "bytes": "12",
    "access": "url",
    "licence": "MIT",
    "citation": '"Doe, J."',
    "description": "texts",
    "columns": "",
}


def changed(**values: str) -> str:
    return ",".join((ROW | values).values())


def table(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "sources.csv"
    path.write_text("\n".join([",".join(ROW), *rows, ""]), encoding="utf-8")
    return path


def test_a_table_of_sources(tmp_path: Path) -> None:
    members = tmp_path / "members.csv"
    members.write_text(f"path,member,sha256\nz.zip,in/side,{'1' * 64}\n")
    manual = changed(path="z.zip", url="", sha256="", bytes="", access="manual")
    path = table(tmp_path, changed(), manual)
    found = read_sources(path, members)
    values = ("https://x.org/b", "0" * 64, 12, "url", "MIT", "Doe, J.", "texts")
    assert found["a/b.csv"] == Source("mr", "a/b.csv", *values)
    assert found["z.zip"].bytes is None
    assert found["z.zip"].members == {"in/side": "1" * 64}
    assert list(found) == ["a/b.csv", "z.zip"]
    assert read_source("z.zip", path, members) == found["z.zip"]
    with pytest.raises(SourceError, match=r"b\.csv") as caught:
        read_source("b.csv", path, members)
    assert "row" in caught.value.remedy


@pytest.mark.parametrize(
    ("row", "named"),
    [
        *[
            (changed(path=path), f"path {path!r}")
            for path in ("../b.csv", "a/../../b.csv", "/etc/passwd", "", ".", "a//b.csv", "a/")
        ],
        (changed(access="ftp"), "access"),
        (changed(url=""), "access is url"),
        (changed(url="ftp://x.org/b"), "url is 'ftp://x.org/b'"),
        (changed(sha256="0" * 63), "sha256 must be 64"),
        (changed(sha256="A" * 64), "lower case"),
        (changed(bytes="1,2"), "10 fields"),
        (changed(bytes="12 kB"), "bytes is '12 kB'"),
        (changed(bytes="-1"), "bytes is '-1'"),
        (changed().rpartition(",")[0], "10 fields"),
        (changed(), "twice"),
    ],
)
def test_a_malformed_row_is_named_with_its_line(tmp_path: Path, row: str, named: str) -> None:
    """A citation may run over two lines, and an empty line is no row."""
    first = changed(citation='"Doe,\nJ."')
    path = table(tmp_path, first, "", row)
    with pytest.raises(SourceError, match=re.escape(named)) as caught:
        read_sources(path)
    assert (caught.value.path, caught.value.line) == (str(path), 5)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("row", "named"),
    [
        (f"a/c.csv,in/side,{'1' * 64}", "'a/c.csv'"),
        ("a/b.csv,in/side,123", "sha256"),
        ("a/b.csv,in/side", "3 fields"),
    ],
)
def test_a_malformed_member_is_named(tmp_path: Path, row: str, named: str) -> None:
    members = tmp_path / "members.csv"
    members.write_text(f"path,member,sha256\na/b.csv,x,{'1' * 64}\n{row}\n")
    with pytest.raises(SourceError, match=named) as caught:
        read_sources(table(tmp_path, changed()), members)
    assert (caught.value.path, caught.value.line) == (str(members), 3)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "columns"),
        (b"source,path\n", "'access', 'bytes'"),
        (",".join(ROW).encode() + b"\n\xff\n", "utf-8"),
        ((",".join(ROW) + "\n" + changed(citation='"Doe" J.')).encode(), "cannot be read"),
    ],
    ids=["empty", "other columns", "other encoding", "a stray quote"],
)
def test_a_table_that_is_none(tmp_path: Path, content: bytes, named: str) -> None:
    path = tmp_path / "sources.csv"
    with pytest.raises(SourceError, match="No such file"):
        read_sources(path)
    path.write_bytes(content)
    with pytest.raises(SourceError, match=named) as caught:
        read_sources(path)
    assert caught.value.path == str(path)


def test_the_real_table_of_sources() -> None:
    found = read_sources(*TABLES)
    assert [path for path, source in found.items() if source.members] == ["nltk/wordnet.zip"]
    assert len(found["nltk/wordnet.zip"].members) == 14
    for path, source in found.items():
        if source.access == "url" and not source.members:
            assert source.sha256, path
            assert source.bytes, path
            # pinned to a commit, so that the sum can stay right
            assert re.match(r"https://[^ ]+/[0-9a-f]{40}/", source.url), path
        assert source.licence, path
        assert source.citation, path
        # without a public address, a user needs to be told where to get it
        assert source.origin, path


@pytest.mark.slow
@pytest.mark.skipif(not MIRROR, reason="REFLESS_MIRROR is not set")
@pytest.mark.parametrize("path", [p for p, s in read_sources(*TABLES).items() if s.access == "url"])
def test_every_public_source_verifies_from_the_mirror(tmp_path: Path, path: str) -> None:
    places = Places(tmp_path / "data", tmp_path / "manual", MIRROR, network=False)
    assert fetch(read_source(path, *TABLES), places) == places.data / path
    assert (places.data / path).stat().st_size > 0
    assert [p.name for p in (places.data / path).parent.iterdir()] == [Path(path).name]
