"""Sums in place of matrices: the same predictions, by shards, and refusals of what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refless.store.kernel_files import gather_kernel, read_kernel, write_arrays, write_kernel

from refless.errors import FormatError, SettingError, StaleError
from refless.experiments.bleu_neighbors.leave_one_out import (
    Truth,
    data_size_curve,
    matrix_neighbors,
    read_truths,
)
from refless.experiments.bleu_neighbors.stored import (
    quality_sums,
    read_predictions,
    streamed_neighbors,
    streamed_sums,
)
from refless.kernels import kernel, signature, text_sum
from tests.experiments.test_bleu_neighbors import made_up
from tests.workflow.small_data import sentences

KERNEL, TAU = "bleu.char", 0.4


@pytest.fixture(scope="module")
def task() -> tuple[list[str], dict[str, Truth]]:
    """Forty texts, the last two of which were sent out twice, in three readings."""
    table, ratings, _ = made_up()
    truths = read_truths(table, ratings, (0, 5))
    assert list(truths) == ["published", "exact", "item"]
    assert len(truths["item"].id) == 42
    texts = sentences(40, 3)
    texts[7] = texts[3]  # equal texts stay neighbors of each other
    texts[11] = "nothing like it"
    return texts, truths


def signed(texts: list[str], truths: dict[str, Truth], **more: Any) -> dict[str, Any]:
    facts = {"task": "t", "provenance": "computed", "tau": TAU, "quality": quality_sums(truths)}
    return signature(KERNEL, text_sum(texts)) | facts | more


@pytest.fixture
def files(tmp_path: Path, task: tuple[list[str], dict[str, Truth]]) -> tuple[Path, Path]:
    """A kernel file with the matrix and one with sums."""
    texts, truths = task
    matrix, sums = tmp_path / "matrix.npz", tmp_path / "sums.npz"
    write_kernel(kernel(KERNEL, texts, texts), signed(texts, truths), matrix)
    write_arrays(streamed_sums(KERNEL, texts, truths, TAU), signed(texts, truths), sums)
    return matrix, sums


def test_predictions_do_not_show_what_they_were_made_from(
    files: tuple[Path, Path], task: tuple[list[str], dict[str, Truth]]
) -> None:
    texts, truths = task
    read = [read_predictions(path, truths, {KERNEL: TAU}, text_sum(texts))[0] for path in files]
    for table in read:
        assert table["reading"].value_counts().to_dict() == {
            "published": 40,
            "exact": 40,
            "item": 42,
        }
        assert table["neighbors"].min() == 0
        assert table["neighbors"].max() > 10
    dense, streamed = read
    others = [name for name in dense.columns if name != "estimate"]
    pd.testing.assert_frame_equal(dense[others], streamed[others])
    exact = dense["reading"] == "exact"
    np.testing.assert_array_equal(dense["estimate"][exact], streamed["estimate"][exact])
    # elsewhere the order of summing is another
    np.testing.assert_allclose(dense["estimate"], streamed["estimate"], rtol=0, atol=1e-15)


def test_sums_are_those_of_the_definition(task: tuple[list[str], dict[str, Truth]]) -> None:
    texts, truths = task
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
def test_shards_put_together_are_the_whole_file_bit_for_bit(
    tmp_path: Path,
    files: tuple[Path, Path],
    task: tuple[list[str], dict[str, Truth]],
    parts: int,
) -> None:
    texts, truths = task
    paths = []
    for part in range(1, parts + 1):
        shard = f"{part}-of-{parts}"
        paths.append(tmp_path / shard / f"{KERNEL}.npz")
        arrays = streamed_sums(KERNEL, texts, truths, TAU, shard=shard, threads=2)
        write_arrays(arrays, signed(texts, truths, shard=shard), paths[-1])
    gather_kernel(paths, tmp_path / "whole.npz")
    assert (tmp_path / "whole.npz").read_bytes() == files[1].read_bytes()
    with pytest.raises(StaleError, match="is not shard 1"):
        gather_kernel(paths[::-1], tmp_path / "other.npz")


def test_sums_of_something_else_are_refused(
    tmp_path: Path, files: tuple[Path, Path], task: tuple[list[str], dict[str, Truth]]
) -> None:
    texts, truths = task
    path, known = files[1], text_sum(texts)
    with pytest.raises(StaleError, match=r"was summed at tau 0.4, not 0.2"):
        read_predictions(path, truths, {KERNEL: 0.2}, known)
    with pytest.raises(StaleError, match="other texts"):
        read_predictions(path, truths, {KERNEL: TAU}, text_sum(texts[1:]))
    with pytest.raises(FormatError, match="no matrix"):
        read_kernel(path)
    table, ratings, _ = made_up()
    other = table.assign(quality=table["quality"].to_numpy()[::-1])
    with pytest.raises(StaleError, match="other ratings"):
        read_predictions(path, read_truths(other, ratings, (0, 5)), {KERNEL: TAU}, known)
    partly = {reading: truths[reading] for reading in ("published", "exact")}
    write_arrays(
        streamed_sums(KERNEL, texts, partly, TAU), signed(texts, truths), tmp_path / "partly.npz"
    )
    with pytest.raises(FormatError, match="lacks the reading 'item'"):
        read_predictions(tmp_path / "partly.npz", truths, {KERNEL: TAU}, known)
    # a matrix serves any tau and any ratings
    read_predictions(files[0], read_truths(other, ratings, (0, 5)), {KERNEL: 0.2}, known)


def test_sums_and_shards_want_their_form(task: tuple[list[str], dict[str, Truth]]) -> None:
    texts, truths = task
    with pytest.raises(SettingError, match="2-of-8"):
        streamed_sums(KERNEL, texts, truths, TAU, shard="3-of-2")


@pytest.mark.parametrize("reading", ["exact", "item"])
def test_the_data_size_curve_is_the_same_from_texts_and_from_the_matrix(
    task: tuple[list[str], dict[str, Truth]], reading: str
) -> None:
    texts, truths = task
    truth, sizes = truths[reading], [10, 25, len(truths[reading].id)]
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
