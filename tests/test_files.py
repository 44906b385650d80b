"""Files: whole or not at all; what is broken, stale or another's is refused by name."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from refless.store.kernel_files import gather_kernel, read_kernel, shard_rows, write_kernel

from refless import kernels
from refless.errors import FormatError, OutputError, SettingError, StaleError
from refless.kernels import text_sum
from refless.store.files import partial_path, read_json, whole_file, write_json


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
                    together.wait(10)
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


# ---- kernel files -----------------------------------------------------------------------------

TEXTS = ["the cat sat", "the cat sat down", "a dog"]
MATRIX = np.array([[1.0, 0.5, 0.1 + 0.2], [0.0, 1.0, 1e-300], [0.25, 1 / 3, 1.0]])


def signed() -> dict[str, object]:
    return kernels.signature("bleu.char", text_sum(TEXTS))


def test_a_kernel_file_comes_back_bit_for_bit(tmp_path: Path) -> None:
    path, signature = tmp_path / "bleu.char.npz", signed()
    write_kernel(MATRIX, signature, path)
    matrix, said = read_kernel(path, data_sum=text_sum(TEXTS))
    assert matrix.dtype == np.float64
    assert matrix.tobytes() == MATRIX.tobytes()
    assert said == signature
    assert names(tmp_path) == ["bleu.char.npz"]


def test_values_of_single_precision_are_kept_as_such(tmp_path: Path) -> None:
    single = MATRIX.astype(np.float32).astype(np.float64)
    write_kernel(single, signed(), tmp_path / "single.npz")
    with np.load(tmp_path / "single.npz") as stored:
        assert stored["kernel"].dtype == np.float32
    matrix, _ = read_kernel(tmp_path / "single.npz")
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix, single)


def test_the_same_kernel_gives_the_same_bytes(tmp_path: Path) -> None:
    signature = signed()
    write_kernel(MATRIX, signature, tmp_path / "a.npz")
    write_kernel(MATRIX, dict(reversed(signature.items())), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_numbers_of_other_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bleu.char.npz"
    write_kernel(MATRIX, signed(), path)
    # the same words cut differently, and in another order
    for other in (["the cat", "sat", *TEXTS[1:]], TEXTS[::-1], TEXTS[:2]):
        with pytest.raises(StaleError, match="other texts") as caught:
            read_kernel(path, data_sum=text_sum(other))
        assert caught.value.path == str(path)
        assert "make ship" in caught.value.remedy


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fingerprint": "0" * 64}, "the code of bleu.char has changed"),
        ({"packages": {"nltk": "3.5"}}, "nltk 3.5"),
        ({"kernel": "bleu.sentence"}, "no kernel is called 'bleu.sentence'"),
    ],
)
def test_numbers_of_other_code_are_refused_unless_asked_for(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "bleu.char.npz"
    write_kernel(MATRIX, signed() | change, path)
    with pytest.raises(StaleError, match=message) as caught:
        read_kernel(path, data_sum=text_sum(TEXTS))
    assert caught.value.path == str(path)
    matrix, _ = read_kernel(path, data_sum=text_sum(TEXTS), check_code=False)
    assert matrix.tobytes() == MATRIX.tobytes()


def test_a_kernel_file_with_any_byte_broken_is_refused_or_still_right(tmp_path: Path) -> None:
    path, signature = tmp_path / "k.npz", signed()
    write_kernel(MATRIX, signature, path)
    whole = path.read_bytes()
    refused = 0
    for position in range(0, len(whole), 3):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :])
        try:
            matrix, said = read_kernel(path, check_code=False)
        except FormatError:
            refused += 1
            continue
        assert matrix.tobytes() == MATRIX.tobytes()
        assert said == signature
    assert refused > len(whole) / 6


def test_a_kernel_file_that_breaks_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.npz"
    write_kernel(MATRIX, signed(), path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 37):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError, match="not a whole kernel file") as caught:
            read_kernel(path, check_code=False)
        assert caught.value.path == str(path)


@pytest.mark.parametrize(
    "kind", ["missing", "directory", "array", "other archive", "no signature", "pickled"]
)
def test_what_is_no_kernel_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "k.npz"
    if kind == "directory":
        path.mkdir()
    elif kind == "array":
        np.save(tmp_path / "k.npy", MATRIX)
        (tmp_path / "k.npy").rename(path)
    elif kind == "other archive":
        np.savez(path, weights=MATRIX)
    elif kind == "no signature":
        np.savez(path, kernel=MATRIX, signature='"a string"')
    elif kind == "pickled":
        np.savez(path, kernel=np.array([{"a": 1}], dtype=object), signature="{}")
    with pytest.raises(FormatError, match="not a whole kernel file") as caught:
        read_kernel(path, check_code=False)
    assert caught.value.path == str(path)
    assert caught.value.remedy


# ---- shards -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 5, 8, 199])
@pytest.mark.parametrize("parts", [1, 2, 3, 8])
def test_shards_cut_the_candidates_into_nearly_equal_parts(n: int, parts: int) -> None:
    cut = [range(n)[shard_rows(f"{part}-of-{parts}", n)] for part in range(1, parts + 1)]
    assert [row for rows in cut for row in rows] == list(range(n))
    assert max(map(len, cut)) - min(map(len, cut)) <= 1


@pytest.mark.parametrize("shard", ["", "1", "0-of-2", "3-of-2", "1-of-0", "-1-of-2", "1-of-2 "])
def test_a_shard_that_is_none_is_named(shard: str) -> None:
    with pytest.raises(SettingError, match=f"like 2-of-8, not '{shard}'"):
        shard_rows(shard, 10)


def write_shards(directory: Path, parts: int, signature: dict[str, object]) -> list[Path]:
    paths = [directory / f"{part}.npz" for part in range(1, parts + 1)]
    for part, path in enumerate(paths, start=1):
        rows = shard_rows(f"{part}-of-{parts}", len(MATRIX))
        write_kernel(MATRIX[rows], signature | {"shard": f"{part}-of-{parts}"}, path)
    return paths


@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_gathered_shards_are_the_whole_kernels_bytes(tmp_path: Path, parts: int) -> None:
    signature = signed()
    write_kernel(MATRIX, signature, tmp_path / "whole" / "k.npz")
    gather_kernel(write_shards(tmp_path, parts, signature), tmp_path / "k.npz")
    assert (tmp_path / "k.npz").read_bytes() == (tmp_path / "whole" / "k.npz").read_bytes()


def test_shards_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    signature, out = signed(), tmp_path / "k.npz"
    first, second, third = write_shards(tmp_path, 3, signature)
    for wrong in ([first, second], [second, first, third], [first, first, third]):
        with pytest.raises(StaleError, match=r"is not shard \d of \d of the same kernel"):
            gather_kernel(wrong, out)
    write_kernel(MATRIX[2:], signature | {"data": "other texts", "shard": "3-of-3"}, third)
    with pytest.raises(StaleError, match="is not shard 3 of 3 of the same kernel") as caught:
        gather_kernel([first, second, third], out)
    assert caught.value.path == str(third)
    third.write_bytes(third.read_bytes()[:-10])
    with pytest.raises(FormatError, match="not a whole kernel file") as broken:
        gather_kernel([first, second, third], out)
    assert broken.value.path == str(third)
    assert not out.exists()
