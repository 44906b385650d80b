"""Kernel files: the matrix or the sums of neighbors, whole or in shards, and the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from refless.data import sources
from refless.data.task import Task, read_task, write_task
from refless.errors import FormatError, SettingError, StaleError
from refless.experiments.bleu_neighbors.kernel_files import gather, shard_rows, write_kernel
from refless.kernels import kernel
from refless.store import signed
from tests.workflow.small_data import write_table

TAUS = {"matrix": None, "sums": 0.1}


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("ratings")
    write_table(folder / "mine.tsv", texts=7)
    data = sources.load("table", "mine", {"path": folder / "mine.tsv"})
    write_task("mine", data, folder / "mine", {}, {})
    return read_task(folder / "mine")


def write_shards(task: Task, folder: Path, parts: int, tau: float | None) -> list[Path]:
    paths = [folder / f"{part}.npz" for part in range(1, parts + 1)]
    for part, path in enumerate(paths, start=1):
        write_kernel(path, task, "bleu.char", {}, tau=tau, shard=f"{part}-of-{parts}", threads=1)
    return paths


def test_a_kernel_file_holds_the_kernel(task: Task, tmp_path: Path) -> None:
    path = tmp_path / "bleu.char.npz"
    write_kernel(path, task, "bleu.char", {})
    of = {"task": "mine", "kernel": "bleu.char"}
    found = signed.read(path, "kernel", of=of, made_from={"texts": task.text_sum})
    texts = task.texts["text"].tolist()
    np.testing.assert_array_equal(found.content["kernel"], kernel("bleu.char", texts, texts))


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


@pytest.mark.parametrize("tau", TAUS.values(), ids=TAUS)
@pytest.mark.parametrize("parts", [1, 3, 9])
def test_gathered_shards_are_the_whole_kernels_bytes(
    task: Task, tmp_path: Path, parts: int, tau: float | None
) -> None:
    write_kernel(tmp_path / "whole.npz", task, "bleu.char", {}, tau=tau)
    gather(write_shards(task, tmp_path, parts, tau), tmp_path / "gathered.npz")
    assert (tmp_path / "gathered.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "A shard of a kernel is of another kernel, stands at the wrong place, or is missing",
    "refused",
    "no kernel is gathered from it",
)
def test_shards_that_do_not_fit_together_are_refused(task: Task, tmp_path: Path) -> None:
    out = tmp_path / "k.npz"
    first, second, third = write_shards(task, tmp_path, 3, None)
    for wrong in ([first, second], [second, first, third], [first, first, third]):
        with pytest.raises(StaleError, match=r"is not shard \d of \d of the same kernel"):
            gather(wrong, out)
    write_kernel(third, task, "bleu.word", {}, shard="3-of-3")
    with pytest.raises(StaleError, match="is not shard 3 of 3 of the same kernel") as caught:
        gather([first, second, third], out)
    assert caught.value.path == str(third)
    third.write_bytes(third.read_bytes()[:-10])
    with pytest.raises(FormatError, match="is no whole signed file") as broken:
        gather([first, second, third], out)
    assert broken.value.path == str(third)
    assert not out.exists()
