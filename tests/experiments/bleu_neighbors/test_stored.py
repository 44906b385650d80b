"""Sums in place of matrices: the same predictions, by shards, and refusals of what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.data.ratings import RatedTexts
from refless.data.task import Task, read_task, write_task
from refless.errors import SettingError, StaleError
from refless.experiments.bleu_neighbors.kernel_files import gather, shard_rows, write_kernel
from refless.experiments.bleu_neighbors.leave_one_out import (
    Truth,
    data_size_curve,
    matrix_neighbors,
    read_truths,
)
from refless.experiments.bleu_neighbors.stored import (
    read_predictions,
    streamed_neighbors,
    streamed_sums,
    write_predictions,
)
from refless.experiments.bleu_neighbors.table1 import read_tasks
from refless.kernels import kernel
from refless.store import signed
from tests.experiments.bleu_neighbors.test_leave_one_out import made_up
from tests.workflow.small_data import sentences

KERNEL, TAU = "bleu.char", 0.4


def task_of(folder: Path, first: str = "", quality: slice = slice(None)) -> Task:
    """Forty texts, the last two of which were sent out twice; perhaps another text or quality."""
    table, ratings, _ = made_up()
    texts = sentences(40, 3)
    texts[7] = texts[3]  # equal texts stay neighbors of each other
    texts[11] = "nothing like it"
    texts[0] = first or texts[0]
    table = table.assign(text=texts, task="t", quality=table["quality"].to_numpy()[quality])
    write_task("t", RatedTexts(table, ratings, scale=(0, 5)), folder, {}, {})
    return read_task(folder)


def truths_of(task: Task) -> dict[str, Truth]:
    return read_truths(task.texts, task.ratings, task.scale)


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return task_of(tmp_path_factory.mktemp("ratings") / "t")


@pytest.fixture
def files(tmp_path: Path, task: Task) -> list[Path]:
    """A kernel file with the matrix and one with sums."""
    paths = [tmp_path / name / f"{KERNEL}.npz" for name in ("matrix", "sums")]
    write_kernel(paths[0], task, KERNEL, {})
    write_kernel(paths[1], task, KERNEL, {}, tau=TAU)
    return paths


def test_predictions_do_not_show_what_they_were_made_from(files: list[Path], task: Task) -> None:
    truths = truths_of(task)
    dense, streamed = (read_predictions(path, task, truths, {KERNEL: TAU})[0] for path in files)
    assert dense["reading"].value_counts().to_dict() == {"published": 40, "exact": 40, "item": 42}
    assert dense["neighbors"].min() == 0
    assert dense["neighbors"].max() > 10
    others = [name for name in dense.columns if name != "estimate"]
    pd.testing.assert_frame_equal(dense[others], streamed[others])
    exact = dense["reading"] == "exact"
    np.testing.assert_array_equal(dense["estimate"][exact], streamed["estimate"][exact])
    # elsewhere the order of summing is another
    np.testing.assert_allclose(dense["estimate"], streamed["estimate"], rtol=0, atol=1e-15)


def test_sums_are_those_of_the_definition(task: Task) -> None:
    texts, truths = task.texts["text"].tolist(), truths_of(task)
    matrix = kernel(KERNEL, texts, texts)
    arrays = streamed_sums(KERNEL, texts, truths, TAU)
    for reading, truth in truths.items():
        for i, row in enumerate(truth.row):
            near = [j for j, other in enumerate(truth.row) if j != i and matrix[row, other] >= TAU]
            assert arrays[f"{reading}.counts"][i] == len(near)
            total = 0.0
            for j in near:
                total += truth.points[j]
            assert arrays[f"{reading}.sums"][i] == total


@pytest.mark.parametrize("parts", [2, 5, 50])
@pytest.mark.parametrize("tau", [None, TAU])
def test_shards_put_together_are_the_whole_file_bit_for_bit(
    tmp_path: Path, files: list[Path], task: Task, tau: float | None, parts: int
) -> None:
    paths = []
    for part in range(1, parts + 1):
        shard = f"{part}-of-{parts}"
        paths.append(tmp_path / shard / f"{KERNEL}.npz")
        write_kernel(paths[-1], task, KERNEL, {}, tau=tau, shard=shard, threads=2)
    gather(paths, tmp_path / "whole.npz")
    whole = files[0 if tau is None else 1]
    assert (tmp_path / "whole.npz").read_bytes() == whole.read_bytes()
    with pytest.raises(StaleError, match="is not shard 1"):
        gather(paths[::-1], tmp_path / "other.npz")


def test_sums_of_something_else_are_refused_and_a_matrix_serves_any_ratings(
    tmp_path: Path, files: list[Path], task: Task
) -> None:
    other = task_of(tmp_path / "t", quality=slice(None, None, -1))
    changed = task_of(tmp_path / "changed/t", first="another text")
    for wrong, tau in ((task, 0.2), (other, TAU), (changed, TAU)):
        with pytest.raises(StaleError):
            read_predictions(files[1], wrong, truths_of(wrong), {KERNEL: tau})
    with pytest.raises(StaleError):
        read_predictions(files[0], changed, truths_of(changed), {KERNEL: TAU})
    read_predictions(files[0], other, truths_of(other), {KERNEL: 0.2})


@pytest.mark.parametrize("shard", ["3-of-2", "0-of-2", "2of8", ""])
def test_shards_want_their_form(shard: str) -> None:
    with pytest.raises(SettingError, match="2-of-8"):
        shard_rows(shard, 10)


@pytest.mark.parametrize("reading", ["exact", "item"])
def test_the_data_size_curve_is_the_same_from_texts_and_from_the_matrix(
    task: Task, reading: str
) -> None:
    texts, truth = task.texts["text"].tolist(), truths_of(task)[reading]
    sizes = [10, 25, len(truth.id)]
    settings: dict[str, Any] = {"a": 3, "b": 0.66, "subsets": 4, "seed": 9}
    matrix = kernel(KERNEL, texts, texts)
    dense = data_size_curve(matrix_neighbors(matrix, truth, TAU), truth, sizes, **settings)
    streamed = data_size_curve(
        streamed_neighbors(KERNEL, texts, truth, TAU), truth, sizes, **settings
    )
    assert dense["n_covered"].max() > 10
    pd.testing.assert_frame_equal(dense, streamed, check_exact=reading == "exact", atol=0.02)
    # of everything there is one subset
    assert len(streamed[streamed["size"] == len(truth.id)].drop_duplicates("n_covered")) == 1


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "Valid estimates of another tau, or a kernel with other options, lie in the right ones' place",
    "refused",
    "by what reads them",
)
def test_predictions_of_another_tau_or_kernel_options_are_refused(
    files: list[Path], task: Task, tmp_path: Path
) -> None:
    """Also when they lie, whole and valid, where the right ones should."""
    path = tmp_path / "t.csv"
    write_predictions(path, task, files[:1], {KERNEL: TAU})
    folder = tmp_path / "t"
    write_task("t", RatedTexts(task.texts, task.ratings, scale=(0, 5)), folder, {}, {})
    read_tasks([folder], [path], {KERNEL: TAU, "bleu.word": 0.1})
    with pytest.raises(StaleError, match="taus"):
        read_tasks([folder], [path], {KERNEL: 0.1})
    for file in files:
        with pytest.raises(StaleError, match="options"):
            write_predictions(path, task, [file], {KERNEL: TAU}, {KERNEL: {"layer": 2}})


def test_predictions_are_signed_by_their_kernel_and_code(files: list[Path], task: Task) -> None:
    path = files[0].with_name("t.csv")
    write_predictions(path, task, files[:1], {KERNEL: TAU})
    about = signed.verify(path)
    assert about["made_from"][f"kernel {KERNEL}"] == signed.record_of(files[0])["content"]
    assert {one.get("kernel") for one in about["signatures"]} == {KERNEL, None}
