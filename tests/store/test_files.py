"""Files: whole or not at all; what is broken is refused by name."""

import errno
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.errors import FormatError, OutputError
from refless.store.files import read_json, text_sum, whole_file, write_together


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def write(path: Path, content: str | None = "new", error: BaseException | None = None) -> None:
    with whole_file(path) as partial:
        if content is not None:
            partial.write_text(content)
        if error is not None:
            raise error


def test_the_new_file_takes_the_old_ones_place(tmp_path):
    path = tmp_path / "deep" / "er" / "table.csv"
    for content in ("old", "new"):
        with whole_file(path) as partial:
            # matplotlib and numpy read the format off the ending
            assert (partial.parent, partial.suffix) == (path.parent, ".csv")
            partial.write_text(content)
            assert not path.exists() or path.read_text() == "old"
        assert path.read_text() == content
        assert names(path.parent) == ["table.csv"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_on_the_way_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(error, match="stop"):
        write(path, error=error("stop"))
    assert names(tmp_path) == ["table.csv"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("obstacle", ["full", "file", "read-only", "nothing written"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, monkeypatch, obstacle):
    path = tmp_path / "results" / "table.csv"

    def fail(number: int) -> None:
        raise OSError(number, os.strerror(number))

    if obstacle == "file":
        (tmp_path / "results").write_text("not a directory")
    elif obstacle == "read-only":  # permissions do not stop root
        monkeypatch.setattr("refless.store.files.os.replace", lambda *_: fail(errno.EROFS))
    elif obstacle == "full":
        monkeypatch.setattr(Path, "write_text", lambda *_, **__: fail(errno.ENOSPC))

    with pytest.raises(OutputError) as caught:
        write(path, None if obstacle == "nothing written" else "new")
    assert caught.value.path == str(path)
    assert caught.value.remedy
    assert not path.is_file()
    assert [p for p in tmp_path.rglob("*") if "partial" in p.name] == []


@pytest.mark.parametrize("obstacle", [0, 1])
def test_files_that_belong_together_are_put_in_place_together(tmp_path, monkeypatch, obstacle):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    write_together(dict.fromkeys(paths, "old"))
    write_bytes = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name.startswith(f".{paths[obstacle].stem}."):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match=paths[obstacle].name):
        write_together(dict.fromkeys(paths, "new"))
    assert [path.read_text() for path in paths] == ["old", "old"]
    assert names(tmp_path) == ["a.csv", "b.csv"]


@pytest.mark.parametrize("content", [None, b"", b'{"a": 1', b"\xff"])
def test_broken_json_is_named(tmp_path, content):
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_json(path)
    assert caught.value.path == str(path)


def test_text_sum_by_hand():
    # 8 bytes of length, then UTF-8: \u00e9 is c3 a9; a lone surrogate d800 is ed a0 80.
    content = bytes([2, 0, 0, 0, 0, 0, 0, 0, 0xC3, 0xA9, 3, 0, 0, 0, 0, 0, 0, 0, 0xED, 0xA0, 0x80])
    assert text_sum(["\u00e9", "\ud800"]) == hashlib.sha256(content).hexdigest()


some = st.lists(st.text(alphabet="a\x00\x01\ud83d\ude00\U0001f600", max_size=3), max_size=4)


@given(one=some, other=some)
def test_text_sum_tells_lists_apart(one, other):
    assert (text_sum(one) == text_sum(other)) == (one == other)
