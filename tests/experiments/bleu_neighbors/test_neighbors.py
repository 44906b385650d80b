"""Kernel matrices, what neighbors say, and the curves of figures 2 to 4: by the definition."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data.task import Task
from refless.errors import SettingError
from refless.experiments.bleu_neighbors import curves, matrices
from refless.experiments.bleu_neighbors import neighbors as module
from refless.experiments.bleu_neighbors.curves import (
    average_annotators,
    data_size_curve,
    published_points,
    threshold_curves,
    write_data_size_curve,
)
from refless.experiments.bleu_neighbors.matrices import read_kernel, write_kernel
from refless.experiments.bleu_neighbors.neighbors import (
    Predicted,
    read_predicted,
    with_quality,
    write_neighbors,
)
from refless.experiments.bleu_neighbors.table1 import annotator_rows
from refless.experiments.published import read_rows
from refless.kernels import kernel
from refless.statistics import evaluate
from refless.store import sealed
from tests.conftest import published
from tests.experiments.bleu_neighbors.written import annotated_task

KERNEL, TAU, LIMITS = "bleu.char", 0.3, (3, 0.3)
UNRATED = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ratings") / "t"


@pytest.fixture(scope="module")
def dataset(folder: Path) -> Task:
    return annotated_task(folder)


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory, dataset: Task) -> dict[int, list[Path]]:
    made = {}
    for number in (1, 3):
        folder = tmp_path_factory.mktemp("kernels") / "t" / KERNEL
        made[number] = [folder / f"{k}of{number}.npy" for k in range(1, number + 1)]
        for path in made[number]:
            write_kernel(path, dataset, KERNEL, {}, threads=1)
    return made


@pytest.mark.parametrize("number", [1, 3])
def test_blocks_hold_the_kernel_in_single_precision(dataset, blocks, number):
    texts = dataset.texts["text"].tolist()
    whole = kernel(KERNEL, texts, texts).astype(np.float32)
    # numpy alone reads them
    np.testing.assert_array_equal(np.concatenate(list(map(np.load, blocks[number]))), whole)
    rated = np.delete(np.arange(len(texts)), UNRATED)
    matrix = read_kernel(blocks[number], dataset)
    np.testing.assert_array_equal(matrix, whole[np.ix_(rated, rated)])
    assert matrix.dtype == np.float32


@pytest.mark.parametrize("many", [10**6, 0])
def test_neighbors_are_what_a_slow_loop_says(dataset, folder, blocks, tmp_path, many, monkeypatch):
    """Bit for bit: added up by numpy.mean or, of many texts, one after the other."""
    monkeypatch.setattr(module, "LARGE_DATASET", many)
    path = tmp_path / f"t/{KERNEL}.csv"
    write_neighbors(path, dataset, KERNEL, blocks[3], TAU, {})
    found = read_predicted([folder / "texts.csv"], [path], *LIMITS)["t"]
    texts, quality = dataset.texts["text"].tolist(), dataset.texts["quality"].to_numpy()
    matrix = kernel(KERNEL, texts, texts)
    rows = [i for i in range(len(texts)) if not np.isnan(quality[i])]
    near = [[j for j in rows if j != i and matrix[i, j] >= TAU] for i in rows]
    counts = [len(own) for own in near]
    # cumsum, since sum() rounds less from Python 3.12 on
    add = np.mean if many else lambda values: np.cumsum(values)[-1] / len(values)
    means = [add(quality[own].tolist()) if own else np.nan for own in near]
    assert min(counts) == 0
    assert max(counts) > 10
    assert found.files[KERNEL].content["neighbors"].tolist() == counts
    np.testing.assert_array_equal(found.files[KERNEL].content["mean"], means)
    most = 0.3 * (len(rows) - 1)
    expected = [m if 3 <= n <= most else np.nan for m, n in zip(means, counts, strict=True)]
    np.testing.assert_array_equal(found.estimates[KERNEL], expected)
    assert found.kernel_cells(KERNEL) == {"provenance": "computed", "substitute_encoder": 0}
    # what is shipped is called so, beside ratings that are not
    file = sealed.read(path)
    sealed.write(path, file.content, file.metadata | {"provenance": "shipped"})
    found = read_predicted([folder / "texts.csv"], [path], *LIMITS)["t"]
    assert (found.provenance, found.kernel_cells(KERNEL)["provenance"]) == ("computed", "shipped")


def test_a_large_data_set_is_refused(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr(matrices, "MAX_TEXTS", 39)
    with pytest.raises(SettingError, match="refless compare"):
        write_kernel(tmp_path / "1of1.npy", dataset, KERNEL, {})
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("options", [{}, {"layer": 24}])
def test_another_layer_of_bertscore_is_a_stand_in(dataset, blocks, tmp_path, options):
    path = tmp_path / "t/bertscore.csv"
    write_neighbors(path, dataset, "bertscore.roberta-large", blocks[1], TAU, options)
    assert sealed.read_record(path)["metadata"]["substitute_encoder"] == bool(options)


def point(means: Any, counts: Any, quality: np.ndarray, a: int, b: float) -> Any:
    inside = (counts >= a) & (counts <= b * (len(quality) - 1) + 1e-9)
    own = np.asarray(means)[inside]
    defined = len(own) > 2 and np.ptp(own) > 0
    return stats.spearmanr(own, quality[inside]).statistic if defined else np.nan, inside.mean()


def test_one_threshold_moves_and_the_other_stays(dataset, folder, blocks, tmp_path):
    path = tmp_path / f"t/{KERNEL}.csv"
    write_neighbors(path, dataset, KERNEL, blocks[1], TAU, {})
    tasks = read_predicted([folder / "texts.csv"], [path], 3, 0.5)
    bootstrap = {"draws": 20, "seed": 0}
    found = threshold_curves(tasks, KERNEL, {"a": 3, "b": 0.5}, **bootstrap)
    assert len(found) == 60 + 101
    table, quality = tasks["t"].files[KERNEL].content, tasks["t"].quality
    for row in found.itertuples():
        a, b = (row.value, 0.5) if row.threshold == "a" else (3, row.value)
        expected = point(table["mean"], table["neighbors"].to_numpy(), quality, a, b)
        assert (row.spearman, row.coverage) == pytest.approx(expected, nan_ok=True)
    assert found["coverage"].nunique() > 5
    at_defaults = found[(found["threshold"] == "a") & (found["value"] == 3)].iloc[0]
    share = (len(quality) - 1) / len(quality)
    whole = evaluate(tasks["t"].estimates[KERNEL], quality, 20, 0, tasks["t"].units, share)
    for name in ("spearman", "coverage"):
        interval = getattr(whole, name)
        ends = (interval.low, interval.high)
        assert (at_defaults[f"{name}_low"], at_defaults[f"{name}_high"]) == ends
    assert threshold_curves(tasks, "bleu.word", {"a": 3, "b": 0.5}, **bootstrap).empty


def test_each_size_has_its_own_subsets(dataset, blocks, monkeypatch):
    monkeypatch.setattr(curves, "SUBSETS", 4)
    matrix = read_kernel(blocks[1], dataset)
    quality, n = with_quality(dataset)["quality"].to_numpy(), len(matrix)
    how: dict[str, Any] = {"tau": TAU, "a": 3, "b": 0.66, "seed": 9}
    found = data_size_curve(matrix, quality, [10, 25, n], **how)
    assert found.groupby("size").size().to_dict() == {10: 4, 25: 4, n: 1}
    again = data_size_curve(matrix, quality, [25], **how)
    pd.testing.assert_frame_equal(again, found[found["size"] == 25].reset_index(drop=True))
    generator = np.random.default_rng([9, 25])
    for row in again.itertuples():
        chosen = np.sort(generator.choice(n, 25, replace=False))
        near = [[j for j in chosen if j != i and matrix[i, j] >= np.float32(TAU)] for i in chosen]
        counts = np.array(list(map(len, near)))
        means = [np.mean(quality[own]) if own else np.nan for own in near]
        expected = point(means, counts, quality[chosen], 3, 0.66)
        assert (row.spearman, row.coverage) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("many", "sizes"), [(1000, {10, 20, 30, 39}), (20, {20, 39})])
def test_a_curve_has_the_sizes_of_its_data_set(dataset, blocks, tmp_path, many, sizes, monkeypatch):
    monkeypatch.setattr(curves, "LARGE_DATASET", many)
    told = {"tau": TAU, "a": 3, "b": 0.66, "seed": 1}
    path = tmp_path / "curves/t/data_size.csv"
    write_data_size_curve(path, dataset, blocks[1], told)
    found = read_rows([path], curves.SIZE_COLUMNS)
    assert set(found["dataset"]) == {"t"}
    assert set(found["size"]) == sizes  # everything there is is the last one


def test_average_annotators_are_those_of_table_1(dataset, folder):
    tasks = read_predicted([folder / "texts.csv"], [], *LIMITS) | {"none": Predicted()}
    _, every, others = (row["spearman"] for row in annotator_rows(tasks["t"], 50, 1))
    assert average_annotators(tasks) == {"t": (others, every)}
    assert others < every


def test_published_points_are_those_of_bleu():
    styles = {"mine": {"published": ""}, "news": {"published": "summarization"}}
    printed = published("bleu_neighbors_table1")
    assert published_points(printed, styles)["spearman"]["news"] == 0.325
    assert "mine" not in published_points(printed, styles)["coverage"]
