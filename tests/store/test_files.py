"""Files: whole or not at all; what is broken is refused by name."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from refless.errors import FormatError, OutputError
from refless.store.files import (
    list_sums,
    partial_path,
    read_json,
    whole_file,
    whole_list,
    write_json,
    write_together,
)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


# ---- whole_file -------------------------------------------------------------------------------


def test_the_new_file_takes_the_old_ones_place(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "table.csv"
    for content in ("old", "new"):
        with whole_file(path) as partial:
            assert partial.parent == path.parent
            assert partial != path
            # matplotlib and numpy read the format off the ending
            assert partial.suffix == ".csv"
            partial.write_text(content)
            assert not path.exists() or path.read_text() == "old"
        assert path.read_text() == content
        assert names(path.parent) == ["table.csv"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("there", [True, False])
def test_an_error_on_the_way_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: type[BaseException], there: bool
) -> None:
    path = tmp_path / "table.csv"
    if there:
        path.write_text("old")

    def write() -> None:
        with whole_file(path) as partial:
            partial.write_text("half of it")
            raise error("stop")

    with pytest.raises(error, match="stop"):
        write()
    assert names(tmp_path) == (["table.csv"] if there else [])
    assert not there or path.read_text() == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, the full disk")
def test_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")

    def write() -> None:
        with whole_file(path) as partial:
            partial.symlink_to("/dev/full")
            partial.write_text("new")

    with pytest.raises(OutputError, match="No space left on device") as caught:
        write()
    assert caught.value.path == str(path)
    assert "make room" in caught.value.remedy
    assert names(tmp_path) == ["table.csv"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("obstacle", ["file", "directory", "read-only", "nothing written"])
def test_a_place_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    path = tmp_path / "results" / "table.csv"
    if obstacle == "file":
        (tmp_path / "results").write_text("not a directory")
    elif obstacle == "directory":
        path.mkdir(parents=True)
    elif obstacle == "read-only":
        # Permissions do not stop root, who may well run these tests.
        def read_only(*_: object) -> None:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        monkeypatch.setattr("refless.store.files.os.replace", read_only)

    def write() -> None:
        with whole_file(path) as partial:
            if obstacle != "nothing written":
                partial.write_text("new")

    with pytest.raises(OutputError, match="cannot be written") as caught:
        write()
    assert caught.value.path == str(path)
    assert not path.is_file()
    assert [p for p in tmp_path.rglob("*") if "partial" in p.name] == []


def test_writers_of_one_file_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    together = threading.Barrier(4)
    errors: list[BaseException] = []

    def write(letter: str) -> None:
        try:
            with whole_file(path) as partial, open(partial, "w") as out:
                for _ in range(4):
                    together.wait(60)
                    out.write(letter * 1000)
                    out.flush()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert path.read_text() in [letter * 4000 for letter in "abcd"]
    assert names(tmp_path) == ["table.csv"]


# ---- JSON -------------------------------------------------------------------------------------


def test_what_a_killed_process_left_is_removed_and_a_living_ones_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    living = partial_path(path)
    dead = Path(str(living).replace(f"-{os.getpid()}-", f"-{child.pid}-"))
    other = dead.with_name(dead.name.replace(".a.", ".b."))
    elsewhere = dead.with_name(dead.name.replace(".a.", ".a.another-host-"))
    for leftover in (living, dead, other, elsewhere):
        leftover.touch()
    with whole_file(path) as partial:
        partial.write_text("new")
    assert sorted(tmp_path.iterdir()) == sorted([path, living, other, elsewhere])


def test_json_round_trip_does_not_hang_on_the_order_of_keys(tmp_path: Path) -> None:
    path, again = tmp_path / "a.json", tmp_path / "b.json"
    write_json({"task": "Dušek", "n": [1, 2.5, None]}, path)
    write_json({"n": [1, 2.5, None], "task": "Dušek"}, again)
    assert read_json(path) == {"task": "Dušek", "n": [1, 2.5, None]}
    assert path.read_bytes() == again.read_bytes()
    assert "Dušek" in path.read_text(encoding="utf-8")


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

    with monkeypatch.context() as crowded:
        crowded.setattr(Path, "write_bytes", full)
        with pytest.raises(OutputError, match=paths[obstacle].name):
            write_together(dict.fromkeys(paths, "new"))
    assert [path.read_text() for path in paths] == ["old", "old"]
    assert names(tmp_path) == ["a.csv", "b.csv"]
    write_together(dict.fromkeys(paths, "new"))
    assert [path.read_text() for path in paths] == ["new", "new"]


def test_what_json_cannot_hold_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(1, path)
    with pytest.raises(TypeError):
        write_json({"path": tmp_path}, path)
    assert read_json(path) == 1
    assert names(tmp_path) == ["a.json"]


@pytest.mark.parametrize("content", [None, b"", b'{"a": 1', b"\xff"])
def test_broken_json_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FormatError, match="cannot be read as JSON") as caught:
        read_json(path)
    assert caught.value.path == str(path)
    assert caught.value.remedy


@pytest.mark.parametrize("change", ["edited", "missing", "added"])
def test_a_folder_that_comes_along_is_as_its_list_says(tmp_path: Path, change: str) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "one.csv").write_text("1\n", encoding="utf-8")
    (folder / "two.csv").write_text("2\n", encoding="utf-8")
    list_sums(folder, ".csv")
    assert whole_list(folder, ".csv") == (folder / "SHA256SUMS").read_text(encoding="utf-8")
    if change == "missing":
        (folder / "two.csv").unlink()
    else:
        name = "two.csv" if change == "edited" else "three.csv"
        (folder / name).write_text("3\n", encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        whole_list(folder, ".csv")
    assert caught.value.path is not None
    assert Path(caught.value.path).name == {"added": "three.csv"}.get(change, "two.csv")
    remedy = str(caught.value.remedy)
    told = remedy.partition("if the change is meant, `")[2].partition("`")[0]
    subprocess.run(told, shell=True, check=True, cwd="/")
    whole_list(folder, ".csv")
