"""Compiled loops are kept, checked before use, and never in the way."""

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from refless.kernels._compiled import compiled
from refless.store import machine_code


def add(a: int, b: int) -> int:
    return a + b


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    machine_code._say_once.cache_clear()
    return tmp_path / "refless" / "loops"


def make() -> Callable:
    return compiled("int64(int64, int64)")(add)


def files(cache: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()}


def test_a_loop_is_kept_and_used_again(cache: Path) -> None:
    assert make()(2, 3) == 5
    kept = files(cache)
    assert {path.suffix for path in kept} == {".nbi", ".nbc", ".json"}
    assert make()(2, 3) == 5
    assert files(cache) == kept


def test_a_loop_hangs_on_code_of_other_files(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make()
    before = files(cache)
    monkeypatch.setattr(machine_code, "code_sum", lambda path: "of other code")
    assert make()(2, 3) == 5
    assert files(cache) != before
    assert len(files(cache)) == len(before)  # and no longer kept twice


@pytest.mark.parametrize("suffix", [".nbi", ".nbc", ".json"])
@pytest.mark.parametrize("damage", ["cut", "bit", "gone", "empty"])
def test_a_damaged_file_is_not_used(cache: Path, suffix: str, damage: str) -> None:
    make()
    kept = files(cache)
    [path] = [path for path in kept if path.suffix == suffix]
    whole = kept[path]
    if damage == "gone":
        path.unlink()
    else:
        middle = len(whole) // 2
        bit = whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :]
        path.write_bytes({"cut": whole[:middle], "bit": bit, "empty": b""}[damage])
    assert make()(2, 3) == 5
    assert {path.suffix for path in files(cache)} == {".nbi", ".nbc", ".json"}
    assert all(one != whole[: len(whole) // 2] for one in files(cache).values())


@pytest.mark.parametrize("fault", ["a file in the way", "full disk"])
def test_without_a_place_loops_are_compiled_in_memory_and_it_is_said_once(
    cache: Path,
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    if fault == "full disk":

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._save_data", full)
    else:
        cache.parent.mkdir(parents=True)
        cache.write_text("no folder")
    with caplog.at_level(logging.WARNING):
        assert make()(2, 3) == 5
        assert make()(2, 4) == 6
    assert len(caplog.records) == 1
    assert "XDG_CACHE_HOME" in caplog.text
    assert files(cache) == {} if cache.is_dir() else True


def test_processes_that_start_together_share_one_loop(cache: Path) -> None:
    code = "from refless.kernels._ngrams import slot_of"
    together = [subprocess.Popen([sys.executable, "-c", code], stderr=-1) for _ in range(3)]
    for process in together:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0
        assert said == b""
    assert len(list(cache.glob("slot_of-*"))) == 1
    assert not list(cache.glob(".*"))
