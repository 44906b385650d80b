"""Files: whole or not at all; what is broken is refused by name."""

import errno
import os
from pathlib import Path

import pytest

from refless.errors import FormatError, OutputError
from refless.store.files import read_json, whole_file, write_together


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_the_new_file_takes_the_old_ones_place(tmp_path: Path) -> None:
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
def test_an_error_on_the_way_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")

    def write() -> None:
        with whole_file(path) as partial:
            partial.write_text("half of it")
            raise error("stop")

    with pytest.raises(error, match="stop"):
        write()
    assert names(tmp_path) == ["table.csv"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("obstacle", ["full", "file", "directory", "read-only", "nothing written"])
def test_a_place_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    path = tmp_path / "results" / "table.csv"

    def fail(number: int) -> None:
        raise OSError(number, os.strerror(number))

    if obstacle == "file":
        (tmp_path / "results").write_text("not a directory")
    elif obstacle == "directory":
        path.mkdir(parents=True)
    elif obstacle == "read-only":  # permissions do not stop root
        monkeypatch.setattr("refless.store.files.os.replace", lambda *_: fail(errno.EROFS))
    elif obstacle == "full":
        monkeypatch.setattr(Path, "write_text", lambda *_, **__: fail(errno.ENOSPC))

    def write() -> None:
        with whole_file(path) as partial:
            if obstacle != "nothing written":
                partial.write_text("new")

    with pytest.raises(OutputError, match="cannot be written") as caught:
        write()
    assert caught.value.path == str(path)
    assert "make room" in caught.value.remedy
    assert not path.is_file()
    assert [p for p in tmp_path.rglob("*") if "partial" in p.name] == []


@pytest.mark.parametrize("obstacle", [0, 1])
def test_of_files_that_belong_together_none_is_put_in_place_before_all_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obstacle: int
) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    write_together(dict.fromkeys(paths, "old"))
    write = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name.startswith(f".{paths[obstacle].stem}."):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match=paths[obstacle].name):
        write_together(dict.fromkeys(paths, "new"))
    assert [path.read_text() for path in paths] == ["old", "old"]
    assert names(tmp_path) == ["a.csv", "b.csv"]


@pytest.mark.parametrize("content", [None, b"", b'{"a": 1', b"\xff"])
def test_broken_json_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FormatError, match="cannot be read as JSON") as caught:
        read_json(path)
    assert caught.value.path == str(path)
